"""What a fit with intervals costs beside a prediction without them.

    python benchmarks/speed/fit_with_intervals.py [--threads 2]

20,000 rows, 40 features, 8 subgroups, sets of three, a fifth of the features hidden. In turns, the
fastest of three: the default (scores of the population with intervals), predictions without
intervals (`estimate="sample"`, certain bounds), and predictions with intervals learned by hiding.
"""

from __future__ import annotations

import argparse
import time

from misfeat import SubgroupSelector
from misfeat.datasets import make_cohorts

WAYS = {
    "population, with intervals (the default)": {},
    "predictions without intervals": {"estimate": "sample", "confidence": None},
    "predictions with intervals, by hiding": {"estimate": "sample"},
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=2)
    threads = parser.parse_args().threads
    data = make_cohorts(n_cohorts=8, n_rows=2500, n_features=40, hide=0.2, random_state=0)
    small = make_cohorts(n_cohorts=2, n_rows=50, n_features=4, hide=0.2, random_state=0)
    fastest = dict.fromkeys(WAYS, float("inf"))
    for table in (small, data, data, data):  # the small one compiles
        for way, settings in WAYS.items():
            selector = SubgroupSelector(data.groups, size=3, n_jobs=threads, **settings)
            begun = time.perf_counter()
            selector.fit(table.columns, table.target)
            if table is data:
                fastest[way] = min(fastest[way], time.perf_counter() - begun)
    least = fastest["predictions without intervals"]
    for way, seconds in fastest.items():
        print(f"{way:45}{seconds:8.2f} s {seconds / least:6.2f} times")


if __name__ == "__main__":
    main()
