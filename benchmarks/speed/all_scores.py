"""A default fit with the scores of all sets of up to five features, against counting with NumPy.

The workload is A of joint_mutual_info.py: 12,500 rows, 15 features of 4 values, a target of 4
classes, 4,943 sets of one to five features. misfeat is timed from a dict of arrays to scores with
intervals for all of them (`SubgroupSelector(size=5).fit(...)`, which prepares all sizes); NumPy
scores the same sets from coded columns by `np.bincount` and entropies, without chance or intervals.

    python benchmarks/speed/all_scores.py [--rounds 3]
"""

from __future__ import annotations

import argparse
import time
from itertools import combinations
from pathlib import Path

import numpy as np

from misfeat import SubgroupSelector

ROWS, FEATURES, VALUES, CLASSES, LARGEST = 12_500, 15, 4, 4, 5
OUTPUT = Path(__file__).with_suffix(".txt")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    rng = np.random.default_rng(0)
    table = {f"f{i}": rng.integers(VALUES, size=ROWS) for i in range(FEATURES)}
    table["y"] = rng.integers(CLASSES, size=ROWS)
    _fit(table)  # compiles
    ours, theirs = [], []
    for _ in range(parser.parse_args().rounds):
        began = time.perf_counter()
        n_sets = _fit(table)
        ours.append(time.perf_counter() - began)
        began = time.perf_counter()
        assert _plug_in(table) == n_sets
        theirs.append(time.perf_counter() - began)
    words = (
        f"{n_sets:,} sets: misfeat {min(ours):.3f} s, np.bincount {min(theirs):.3f} s, "
        f"{min(theirs) / min(ours):.1f} times\n"
    )
    print(words, end="")
    OUTPUT.write_text(words)


def _fit(table: dict[str, np.ndarray]) -> int:
    selection = SubgroupSelector(size=LARGEST, n_jobs=-1).fit(table, "y").selection_
    return sum(len(selection.completed(size).subsets) for size in range(1, LARGEST + 1))


def _plug_in(table: dict[str, np.ndarray]) -> int:
    columns, target = [table[f"f{i}"] for i in range(FEATURES)], table["y"]
    entropy = _entropy(np.bincount(target))
    scores = []
    for size in range(1, LARGEST + 1):
        for members in combinations(range(FEATURES), size):
            key = columns[members[0]]
            for feature in members[1:]:
                key = key * VALUES + columns[feature]
            joint = np.bincount(key * CLASSES + target, minlength=VALUES**size * CLASSES)
            scores.append(
                _entropy(joint.reshape(-1, CLASSES).sum(axis=1)) + entropy - _entropy(joint)
            )
    return len(scores)


def _entropy(counts: np.ndarray) -> float:
    shares = counts[counts > 0] / ROWS
    return float(-(shares * np.log(shares)).sum())


if __name__ == "__main__":
    main()
