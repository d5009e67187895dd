"""From rows to scores of populations, for feature sets of every size.

Which module does which step is in docs/explanation/population.md (what is done); besides these,
`score_estimate` says which scale answers are on, `set_scores` keeps all scores, `shortlist` is
for wide ones, and `significance` tests the best.
"""
