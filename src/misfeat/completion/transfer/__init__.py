"""The closed-form transfer between cohorts."""
