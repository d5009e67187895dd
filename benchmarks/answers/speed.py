"""How long 200 deals take beside scikit-learn's one look at the same sets.

    python benchmarks/answers/speed.py

Workload A: 12,500 rows, 15 features of 4 values, 4 classes, all 575 sets of up to 3 features, one
thread. scikit-learn's `mutual_info_score` is given the codes of every set ready made. Also how many
deals stopping early saves where nothing tells. Prints to the screen and writes speed.txt beside
this file.
"""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

import numpy as np
from sklearn.metrics import mutual_info_score

from misfeat.cohorts import build_cohorts
from misfeat.estimation.significance import PERMUTATIONS, PILOTS, max_test
from misfeat.information.permuted_scores import permutations_of
from misfeat.runtime.threads import Work

DEALS, REPEATS = 200, 5


def workload(seed):
    """The cohort of workload A."""
    rng = np.random.default_rng(seed)
    table = {f"f{j}": rng.integers(0, 4, 12_500) for j in range(15)}
    return next(iter(build_cohorts({**table, "y": rng.integers(0, 4, 12_500)}, "y")))


def seconds(work):
    """The least of some repeats."""
    found = []
    for _ in range(REPEATS):
        began = perf_counter()
        work()
        found.append(perf_counter() - began)
    return min(found)


def main():
    cohort = workload(0)
    deals = permutations_of(cohort, 3, seed=np.random.SeedSequence(0))
    deals.scores(0, 2, Work(1))  # compiles
    ours = seconds(lambda: deals.scores(1, 1 + DEALS, Work(1)))
    codes = [
        np.ravel_multi_index([cohort.codes[f] for f in members], [4] * len(members))
        for subsets in deals.subsets
        for members in subsets
    ]
    theirs = seconds(lambda: [mutual_info_score(code, cohort.target) for code in codes])
    tests = [
        max_test(permutations_of(workload(s), 3, seed=np.random.SeedSequence(s)), Work(1))
        for s in range(20)
    ]
    dealt = np.mean([PILOTS + len(test.maxima) for test in tests])
    lines = [
        f"{DEALS} deals of {len(codes)} sets: {ours:.2f} s",
        f"scikit-learn, the sets once: {theirs:.2f} s, {theirs / ours:.1f} times as long",
        f"deals where nothing tells, mean of 20 tables: {dealt:.0f} of {PILOTS + PERMUTATIONS}",
    ]
    print("\n".join(lines))
    Path(__file__).with_suffix(".txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
