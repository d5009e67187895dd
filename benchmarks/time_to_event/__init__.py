"""Times to an event: scores, tests and choices against known populations and peers."""
