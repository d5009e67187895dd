"""The closed-form transfer between cohorts: tables, scores of sets, and what is predicted."""
