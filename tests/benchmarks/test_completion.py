import csv
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from benchmarks.__main__ import app
from benchmarks.common.datasets import load_attrition, load_loan, load_mobile
from benchmarks.common.tables import TABLES, as_in_paper
from benchmarks.completers import GainCompleter
from benchmarks.completion.experiment import CEILING
from benchmarks.completion.hiding import (
    Truth,
    bootstrap_ceiling,
    outcome_of,
    population_ceiling,
    sampled,
    sets_to_test,
)
from misfeat.cohorts import Coding, build_cohorts
from misfeat.completion import CompletedScores, TransferCompleter
from misfeat.completion.completer_data import support_of
from misfeat.datasets.population import random_mask
from misfeat.lattice.levels import level
from tests.completion.coded import drawn_cohorts


@pytest.mark.slow
def test_the_command_writes_figures_and_a_plot(tmp_path):
    out = tmp_path / "bench"
    table = "generated, 4 cohorts"
    arguments = ["--completers", "gain,add", "--tables", table, "--seeds", "1", "--size", "2"]
    result = CliRunner().invoke(app, ["completion", *arguments, "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert "nDCG@5" in result.stdout
    with (out / "means.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["completer"] for row in rows] == [CEILING, "gain", "add"] * 2
    assert (out / "by_seed.csv").exists()
    assert (out / "ndcg.svg").read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--seeds", "0"], "seeds: give one at least"),
        (["--hidden", "0"], "hidden: 0.0; a share must lie between 0 and 1"),
        (["--hidden", "some"], "--hidden: 'some' is no number"),
        (["--size", "11"], "--size 11 is more than a table's 10 features"),
        (["--device", "tpu"], "--device 'tpu' is unknown"),
        (["--out", "{file}"], "is a file; give a folder"),
    ],
)
def test_settings_that_make_no_sense_are_refused_in_one_line(options, message, tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    options = [option.replace("{file}", str(file)) for option in options]
    usual = ["--tables", "generated, 4 cohorts", "--completers", "add", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, ["completion", *usual, *options])
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


SHAPES = {"mobile": (2, 15), "attrition": (8, 19), "loan": (3, 9)}
"""Cohorts and features of the paper's tables."""


@pytest.mark.parametrize("load", [load_mobile, load_attrition, load_loan])
def test_tables_are_prepared_as_the_paper_did(stand_in_folder, load):
    data = as_in_paper(load())
    coding = Coding(bins=data.bins)
    cohorts = build_cohorts(data.columns, data.target, groups=data.groups, coding=coding)
    assert cohorts.missing.shape == SHAPES[data.name]


class Fixed:
    """Predicts given scores, as they are."""

    confidence = None

    def __init__(self, by_size):
        self._by_size = by_size

    def complete(self, known, size):
        exact = known.exact.by_size[size]
        predicted = np.isnan(exact)
        score = np.where(predicted, self._by_size[size], exact)
        low, high = known.exact.bounds(size)
        subsets = level(known.exact.missing.shape[1], size)
        support = support_of(known.exact.missing, subsets)
        return CompletedScores(subsets, score, low, high, predicted, support)


@pytest.fixture(scope="module")
def truth():
    return Truth.of(drawn_cohorts(n_features=6, n_rows=600), 3)


@pytest.fixture(scope="module")
def mask(truth):
    return random_mask(3, 6, 0.4, np.random.default_rng(0))


def test_one_who_knows_the_truth_gets_full_marks(truth, mask):
    figures = outcome_of(Fixed(truth.exact.by_size), truth, mask, 3)
    for name in ("ndcg_5", "ndcg_10", "precision_5", "captured_5", "coverage", "closure"):
        assert figures[name] == pytest.approx(1)
    assert figures["relative_error"] == 0


def test_tested_are_sets_with_a_missing_feature_and_sets_that_were_not_sampled():
    # Four features; cohort 0 lacks the last, cohort 1 the first two.
    truth = Truth.of(drawn_cohorts(n_cohorts=2, n_features=4), 3)
    mask = np.array([[False, False, False, True], [True, True, False, False]])
    known = truth.hidden(mask)
    named = [{"".join("abcd"[f] for f in s) for s in level(4, 2)[t]}
             for t in sets_to_test(truth, known, 2)]  # fmt: skip
    assert named == [{"ad", "bd", "cd"}, {"ab", "ac", "ad", "bc", "bd"}]
    # Half of the seven sets that cohort 0 has, and of the three that cohort 1 has, are sampled.
    some = replace(known, exact=sampled(known.exact, 0.5, "arbitrary", np.random.default_rng(3)))
    kept = [
        {"".join("abcd"[f] for f in s) for m in (1, 2, 3)
         for s in level(4, m)[~np.isnan(some.exact.by_size[m][cohort])]}
        for cohort in (0, 1)
    ]  # fmt: skip
    assert [len(sets) for sets in kept] == [4, 2]
    assert kept[0] <= {"a", "b", "c", "ab", "ac", "bc", "abc"}
    assert kept[1] <= {"c", "d", "cd"}
    pairs = {"ab", "ac", "ad", "bc", "bd", "cd"}
    for cohort, tested in enumerate(sets_to_test(truth, some, 2)):
        found = {"".join("abcd"[f] for f in s) for s in level(4, 2)[tested]}
        assert found == pairs - kept[cohort]


@pytest.mark.slow
def test_completers_stay_below_an_oracle_that_knows_the_population():
    found = {"transfer": [], "gain": [], "population": [], "bootstrap": []}
    for seed in range(5):
        table = TABLES["generated, 4 cohorts"](seed)
        truth = Truth.of(table.cohorts, 3)
        mask = random_mask(4, 10, 0.4, np.random.default_rng(seed))
        for name, completer in (("transfer", TransferCompleter()), ("gain", GainCompleter())):
            completer.set_params(confidence=None)
            found[name].append(outcome_of(completer, truth, mask, 3)["ndcg_10"])
        rng = np.random.default_rng(seed)
        known = population_ceiling(truth, mask, 3, rng, table.redraw)
        found["population"].append(known["ndcg_10"])
        found["bootstrap"].append(bootstrap_ceiling(truth, mask, 3, rng)["ndcg_10"])
    means = {name: np.mean(values) for name, values in found.items()}
    assert means["gain"] < means["transfer"] < means["bootstrap"] < means["population"] < 1
