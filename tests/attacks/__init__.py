"""Attacks on what docs/guarantees.md promises: scripts that count, and tests of a few cases each."""
