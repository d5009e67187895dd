"""Rows drawn from large tables: are the sets that look best the best in the population?"""
