"""From rows to scores of populations, for feature sets of every size.

- `moments`: second moments of one-hot (or numeric) columns in every subgroup, and one covariance
  that all subgroups share, completed where features were never recorded;
- `interactions`: pairs and triples that explain more together, as further columns;
- `additive`: what the columns of a set explain of the target, from a covariance;
- `scale`: from explained variance to information;
- `pooling`: every subgroup's score, shrunk towards what all subgroups share, with its variance;
- `population`: all of it, one after the other;
- `set_scores`: estimates of listed sets with intervals, and `search`, which finds sets to list;
- `estimates`: which of these scales answers are on.
"""
