"""Tables that examples are run with where the real ones may not be shipped."""
