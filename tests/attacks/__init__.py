"""Attacks on what docs/reference/guarantees.md promises: scripts that count and tests."""
