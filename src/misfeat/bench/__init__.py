"""Benchmarks: predictions held against a known truth."""
