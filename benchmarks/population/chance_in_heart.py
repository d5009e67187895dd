"""Does chance look telling? heart.csv with a target shuffled within sites, or with noise columns.

    python -m benchmarks.population.chance_in_heart

Prints, and writes beside this file, for sets of three: the share of the entropy of the target that
the best set of a site seems to tell when the target is shuffled within sites (means and largest
over sites and 20 shuffles), and how many of the five best sets of a site hold one of five columns
of noise (over 20 draws of noise), for every `estimate`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.common.output import write_csv
from misfeat import SubgroupSelector
from misfeat.answers.top_sets import best_sets
from misfeat.datasets import load_heart

SHUFFLES = 20
NOISE = [f"noise {i}" for i in range(1, 6)]


def shuffled(target, site, rng):
    """The values of a target, dealt out anew within every site."""
    found = np.array(target)
    for one in np.unique(site):
        places = np.flatnonzero(site == one)
        found[places] = found[rng.permutation(places)]
    return found


def best(columns, target, k, estimate):
    selector = SubgroupSelector("site", size=3, k=k, estimate=estimate)
    return best_sets(selector.fit(columns, target).selection_)


def figures(estimate):
    heart = load_heart()
    site = np.asarray(heart.columns["site"])
    shares, noisy = [], []
    for seed in range(SHUFFLES):
        rng = np.random.default_rng(seed)
        dealt = shuffled(heart.columns[heart.target], site, rng)
        columns = {**heart.columns, heart.target: dealt}
        shares += [one.share for one in best(columns, heart.target, 1, estimate)]
        noise = {name: rng.integers(5, size=len(site)) for name in NOISE}
        sets = best({**heart.columns, **noise}, heart.target, 5, estimate)
        noisy += [bool(set(one.features) & set(NOISE)) for one in sets]
    return {
        "estimate": estimate,
        "share of the best, target shuffled": round(float(np.mean(shares)), 4),
        "largest": round(float(np.max(shares)), 4),
        "of the five best with noise": round(float(np.mean(noisy)), 3),
    }


def main():
    rows = [figures(estimate) for estimate in ("population", "above_chance", "sample")]
    for row in rows:
        print(row)
    write_csv(rows, Path(__file__).with_suffix(".csv"))


if __name__ == "__main__":
    main()
