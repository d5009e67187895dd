"""Statistics held against known populations, with tolerances from their own laws of chance."""
