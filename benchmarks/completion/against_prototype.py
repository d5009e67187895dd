"""The transfer beside the prototype that it grew from, on the same masks.

    python -m benchmarks.completion.against_prototype --prototypes FOLDER

FOLDER holds transfer_prototype.py and transfer_proxy_prototype.py. Printed for every table and
share of hidden features: the largest difference of scores of sizes 1 to 3, without and with
proxies, the mean nDCG@5 and nDCG@10 of both (ours after upward closure), and the seconds a mask.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks.common.tables import TABLES
from benchmarks.completion.hiding import Truth, ranking_figures
from misfeat.completion import TransferCompleter
from misfeat.completion.transfer.transfer_model import TransferModel, records_of_rows
from misfeat.datasets.population import random_mask
from misfeat.lattice.levels import level
from misfeat.runtime.threads import Work

SEEDS = range(1, 11)
SHARES = (0.2, 0.5)


def rows_of(cohorts):
    """Every row of the table once, as the prototype takes them."""
    cohort = np.repeat(np.arange(len(cohorts)), np.diff(cohorts.offsets))
    rows = np.repeat(np.arange(len(cohort)), cohorts.weights)
    codes = np.ascontiguousarray(cohorts.codes.T[rows]).astype(np.int64)
    return codes, cohorts.target_codes[rows].astype(np.int64), cohort[rows]


def one_mask(truth, tables, share, seed, prototype):
    n_cohorts, n_features = truth.exact.missing.shape
    mask = random_mask(n_cohorts, n_features, share, np.random.default_rng(seed))
    rows = records_of_rows(truth.cohorts)
    places = {size: [tables.ix[tuple(s)] for s in level(n_features, size).tolist()]
              for size in (1, 2, 3)}  # fmt: skip
    largest = {}
    for proxies in (False, True):
        theirs = prototype.predict(tables, mask, proxy=proxies)
        start = time.perf_counter()
        model = TransferModel(rows, mask, Work(-1), proxies=proxies)
        model.predict(3)
        seconds = time.perf_counter() - start
        largest[proxies] = max(
            float(np.nanmax(np.abs(model.predict(size).score - theirs[:, places[size]])))
            for size in (1, 2, 3)
        )
    true = truth.exact.by_size[3]
    tested = mask[:, level(n_features, 3)].any(axis=2)
    ours = TransferCompleter(confidence=None).complete(truth.hidden(mask, -1), 3).score
    figures = [ranking_figures(true, guess, tested) for guess in (theirs[:, places[3]], ours)]
    return [
        largest[False],
        largest[True],
        *(f[name] for name in ("ndcg_5", "ndcg_10") for f in figures),
        seconds,
    ]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--prototypes", required=True)
    sys.path.insert(0, parser.parse_args().prototypes)
    import transfer_prototype
    import transfer_proxy_prototype

    names = ["difference", "difference with proxies", "prototype nDCG@5", "ours nDCG@5",
             "prototype nDCG@10", "ours nDCG@10", "seconds a mask"]  # fmt: skip
    lines = []
    for table, load in TABLES.items():
        for share in SHARES:
            found = []
            for seed in SEEDS:
                truth = Truth.of(load(seed).cohorts, 3, -1)
                tables = transfer_prototype.prep(*rows_of(truth.cohorts))
                found.append(one_mask(truth, tables, share, seed, transfer_proxy_prototype))
            found = np.array(found)
            summary = [*found[:, :2].max(axis=0), *found[:, 2:].mean(axis=0)]
            shown = [f"{x:.1e}" for x in summary[:2]] + [f"{x:.4f}" for x in summary[2:]]
            lines.append([table, share, *shown])
            print(*lines[-1], flush=True)
    with Path(__file__).with_suffix(".csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([["table", "hidden", *names], *lines])


if __name__ == "__main__":
    main()
