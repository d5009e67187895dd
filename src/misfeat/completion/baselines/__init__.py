"""Simple and well-known ways to predict a score, for comparison."""
