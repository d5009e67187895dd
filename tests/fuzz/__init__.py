"""Drawn tables, drawn questions and drawn files, and what holds whatever they are."""
