"""Answers for people: terminal, notebook, report and plots."""
