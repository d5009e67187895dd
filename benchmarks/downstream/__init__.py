"""Models on chosen features, beside those of other ways to choose."""
