"""Some cases of every attack; `make reliability` has them all."""

import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import numpy as np
import pytest

from misfeat import SubgroupSelector
from misfeat.datasets import make_cohorts
from misfeat.sites import rounding
from tests.attacks import (
    faults,
    forged,
    fuzz,
    interrupts,
    kills,
    names,
    site_cells,
    terminal,
    threads,
)
from tests.attacks.tally import Tally

QUICK = {forged: 60, threads: 2, terminal: 6, site_cells: 2}
SLOW = {faults: 3, fuzz: 200, interrupts: 6, kills: 20, names: 100}
"""How many cases of each attack are tried: all kinds of each."""
ON_LINUX = (faults, forged, interrupts, kills, threads)
"""Attacks that fork and limit processes."""
MEANINGFUL = ("*", "^.*$", "^a.*$", "a.b", "`", '"', "NA", "SITE", "\ud800", "")


def short_name(module):
    return module.__name__.rpartition(".")[2]


def end_well(module, cases):
    if module in ON_LINUX and sys.platform != "linux":
        pytest.skip("forks and limits processes")
    tally = module.attack(cases, 3)
    assert tally.n_cases >= cases
    assert tally.n_wrong == 0, tally.wrong
    return tally


@pytest.mark.parametrize("module", QUICK, ids=short_name)
def test_a_few_cases_of_quick_attacks_end_as_they_may(module):
    tally = end_well(module, QUICK[module])
    assert module is not forged or tally.outcomes["refused when loaded"] > 20


@pytest.mark.attack
@pytest.mark.parametrize("module", SLOW, ids=short_name)
def test_a_few_cases_of_slow_attacks_end_as_they_may(module):
    end_well(module, SLOW[module])


def test_the_attack_works_counts_out_where_they_are_not_rounded(monkeypatch):
    def as_they_are(counts, _chance, _least):
        return np.rint(np.asarray(counts)).astype(np.int64)

    monkeypatch.setattr(rounding, "rounded_by", as_they_are)
    assert site_cells.attack(3, seed=11).n_wrong == 3


def try_names(tally, engine, hold, roles):
    for number, role in enumerate(roles):
        expected = names.ask(hold, role, names.PLAIN[role])
        for name in MEANINGFUL[number % 2 :: 2]:
            names.try_name(tally, engine, hold, role, name, expected)


@pytest.mark.slow
def test_names_with_a_meaning_are_only_names(tmp_path):
    engines = names.quick_engines(tmp_path)
    tally = Tally("names", "")
    for engine in ("polars", "polars-lazy", "duckdb", "csv", "parquet"):
        try_names(tally, engine, engines[engine], ("feature", "target"))
    assert not tally.wrong
    assert tally.outcomes["same answer"] >= 25


@pytest.mark.heavy
def test_names_with_a_meaning_are_only_names_in_heavy_engines():
    tally = Tally("names", "")
    with ExitStack() as stack:
        for engine, hold in names.heavy_engines(stack).items():
            try_names(tally, engine, hold, names.PLAIN)
    assert not tally.wrong


@pytest.mark.slow
def test_fits_at_once_in_threads_answer_as_one_does():
    def answer(seed):
        data = make_cohorts(n_rows=150, n_features=5, hide=0.3, random_state=seed)
        selector = SubgroupSelector(data.groups, size=2, random_state=0)
        return selector.fit(data.columns, data.target).top_k().to_string()

    seeds = [0, 1, 2] * 4
    with ThreadPoolExecutor(len(seeds)) as pool:
        assert list(pool.map(answer, seeds)) == [answer(seed) for seed in (0, 1, 2)] * 4
