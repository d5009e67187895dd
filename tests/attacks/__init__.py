"""Attacks on what docs/guarantees.md promises: scripts that count, tests of a few cases each."""
