"""Compiled parts of what sites share."""
