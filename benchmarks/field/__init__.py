"""Choosing features beside the field: models on what was chosen, gaps, and planted sets."""
