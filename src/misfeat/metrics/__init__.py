"""How close a ranking or a score is to the truth: pure arrays in, numbers out."""
