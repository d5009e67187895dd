"""Statistics under test against known populations, with tolerances from their own laws of chance.

P-values are not part of misfeat yet, so that none is tested here.
"""
