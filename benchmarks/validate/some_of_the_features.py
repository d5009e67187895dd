"""What validation says from sets of some of the features, beside what it says from all of them.

    python benchmarks/validate/some_of_the_features.py

Generated tables of 24 features, 6 subgroups of 400 rows, sets of two; validation of all 276 sets
(`captured`, `coverage`, `error` on the mean over subgroups) and of those of about half of the
features, chosen as `Selection.validate` chooses them where sets are too many.
"""

from __future__ import annotations

import numpy as np

from misfeat import SubgroupSelector
from misfeat.answers.validation import features_to_judge, trust, with_features
from misfeat.datasets import make_cohorts

COHORTS, FEATURES, SIZE, K, ROUNDS = 6, 24, 2, 10, 4
JUDGED = 13
SEEDS = range(100, 112)


def figures(found):
    return np.mean([(one.captured, one.coverage, one.error) for one in found], axis=0)


def main():
    differences = []
    print("seed  captured: all, some   coverage: all, some   error: all, some")
    for seed in SEEDS:
        data = make_cohorts(COHORTS, 400, FEATURES, n_values=4, hide=0.2, random_state=seed)
        selector = SubgroupSelector(data.groups, size=SIZE, n_jobs=2).fit(data.columns, data.target)
        selection = selector.selection_
        known, estimate = selection.set_scores.known(SIZE), selection.set_scores.estimate
        most = COHORTS * JUDGED * (JUDGED - 1) // 2
        rng = np.random.default_rng(seed)
        kept = features_to_judge(selection.completed(SIZE), FEATURES, rng, most)
        assert len(kept) == JUDGED
        all_of_them = figures(trust(known, estimate, SIZE, K, ROUNDS, seed))
        some = figures(trust(with_features(known, kept), estimate, SIZE, K, ROUNDS, seed))
        differences.append(some - all_of_them)
        pairs = "".join(f"{a:12.3f} {b:.3f}" for a, b in zip(all_of_them, some, strict=True))
        print(f"{seed:4}  {pairs}", flush=True)
    mean, deviation = np.mean(differences, axis=0), np.std(differences, axis=0, ddof=1)
    for name, m, d in zip(("captured", "coverage", "error"), mean, deviation, strict=True):
        print(f"{name}: some less all {m:+.3f} on the mean, deviation {d:.3f} a table")


if __name__ == "__main__":
    main()
