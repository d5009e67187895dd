"""From rows to scores of populations, for feature sets of every size.

Which module does which step is in docs/explanation/population.md (what is done); besides these,
`estimate` says which scale answers are on, `set_scores` keeps all scores of a table, `shortlist` is
for wide ones, and `significance` tests the best.
"""
