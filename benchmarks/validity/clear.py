"""Does recording a feature raise the best score where `worth_collecting` calls that clear?

    python -m benchmarks.validity.clear [--tables 60]

The tables of `intervals` (six flags in six subgroups of 300 rows), and kinds in which a feature
informs in a subgroup or not by lot. ``clear.csv`` has how many unrecorded features were said to
raise the best score with 90 % and more, how many were called clear, and how often either was true;
``clear_said.csv``, over all kinds, how often what was said with some probability was. In ``half``
and ``few`` it is known in how many subgroups a feature informs: where it does in all others, it
does not here, which no table shows.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from itertools import combinations
from pathlib import Path

import numpy as np

from benchmarks.validity.intervals import BY_LOT, drawn, true_score
from misfeat import SubgroupSelector
from misfeat.answers.recording_gains import feature_worths
from misfeat.exceptions import MisfeatWarning

KINDS = ("alike", *BY_LOT, "half", "few", "unlike")
SIZES, FIRST_SEED = (1, 2), 74_000  # other tables than those that settings were chosen on
HEAD = ("kind", "size", "features", "rose", "said 90 %", "true", "clear", "true")
TENTHS = ("said", "features", "mean", "true")


def told(kind: str, size: int, seed: int) -> list[tuple[bool, float, bool]]:
    """Of every unrecorded feature: whether it raises, how likely it is said to, and is clear."""
    table, odds, base, shares, hidden = drawn(kind, seed)
    selector = SubgroupSelector("site", size=size, k=1, n_jobs=1).fit(table, "y")
    found = []
    for one in feature_worths(selector.selection_):
        g, feature = int(one.subgroup[-1]), int(one.feature[1:])
        own = np.flatnonzero(~hidden[g]).tolist()

        def best(sizes: range, *more: int, g: int = g, own: list[int] = own) -> float:
            sets = [[*part, *more] for m in sizes for part in combinations(own, m)]
            return max(true_score(odds[g][s], base[s], shares[g]) for s in sets)

        before = best(range(1, size + 1)) if own else 0.0
        rose = best(range(size), feature) > before + 1e-12
        found.append((rose, one.probability, one.clear))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tables", type=int, default=60)
    seeds, lines, every = range(FIRST_SEED, FIRST_SEED + parser.parse_args().tables), [HEAD], []
    warnings.simplefilter("ignore", MisfeatWarning)
    for kind in KINDS:
        for size in SIZES:
            found = np.array([one for seed in seeds for one in told(kind, size, seed)])
            rose, said, clear = found[:, 0], found[:, 1] >= 0.9, found[:, 2] > 0
            shares = [f"{rose[held].mean():.2f}" if held.any() else "" for held in (said, clear)]
            counts = (len(rose), f"{rose.mean():.2f}", said.sum(), shares[0], clear.sum())
            lines.append((kind, size, *counts, shares[1]))
            every.append(found)
            print(*lines[-1], sep="\t", flush=True)
    rose, said, _ = np.concatenate(every).T
    tenths: list[tuple] = [TENTHS]
    for tenth in range(10):
        own = np.minimum(said * 10, 9).astype(int) == tenth
        means = (f"{one[own].mean():.3f}" for one in (said, rose))
        tenths.append((f"{tenth / 10} to {(tenth + 1) / 10}", own.sum(), *means))
        print(*tenths[-1], sep="\t")
    for rows, name in ((lines, "clear.csv"), (tenths, "clear_said.csv")):
        with Path(__file__).with_name(name).open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(rows)


if __name__ == "__main__":
    main()
