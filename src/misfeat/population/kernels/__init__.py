"""Compiled parts of the step from samples to populations."""
