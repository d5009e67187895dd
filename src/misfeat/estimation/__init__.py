"""From rows to scores of populations, for feature sets of every size.

- `covariance_sources`: rows, count tables or sums of products as covariances of columns;
- `covariance_scores`: one covariance that all subgroups share, what the columns of a set explain of
  the target in it, and how much information that is;
- `interaction_search`: pairs and triples that explain more together, as further columns;
- `pooling`: every subgroup's score, shrunk towards what all subgroups share, with its variance;
- `population_model`: all of it, one after the other;
- `estimates`: which scale answers are on, and listed sets with intervals; `search` finds sets;
- `scores`: all scores of a table; `shortlist` of a wide one; `significance` of the best.
"""
