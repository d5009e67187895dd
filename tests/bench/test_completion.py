from __future__ import annotations

import csv

import pytest
from typer.testing import CliRunner

from misfeat import MisfeatError
from misfeat.bench.completion import CEILING, CompletionBench, means
from misfeat.bench.tables import TABLES
from misfeat.cli.app import app
from misfeat.cohorts import Coding, build_cohorts
from misfeat.datasets import as_in_paper, load_attrition, load_loan, load_mobile


@pytest.mark.slow
def test_rows_hold_every_completer_table_share_and_seed():
    bench = CompletionBench(
        completers=("transfer", "gain"),
        tables=("generated, 4 cohorts",),
        shares=(0.2, 0.5),
        seeds=(1, 2),
        size=2,
    )
    told = []
    rows = list(bench.run(lambda *done: told.append(done)))
    assert len(rows) == 2 * 2 * 3
    assert {row["completer"] for row in rows} == {"transfer", "gain", CEILING}
    assert all(0 <= row["ndcg_5"] <= 1 for row in rows)
    assert [done for _, done, _ in told] == [0, 1, 2, 3]
    averages = means(rows)
    assert len(averages) == 2 * 3
    pair = [r["ndcg_5"] for r in rows if r["completer"] == "gain" and r["hidden"] == 0.2]
    found = next(r for r in averages if r["completer"] == "gain" and r["hidden"] == 0.2)
    assert found["ndcg_5"] == pytest.approx(sum(pair) / 2)


def test_the_command_writes_figures_and_a_plot(tmp_path):
    out = tmp_path / "bench"
    table = "generated, 4 cohorts"
    arguments = ["--completers", "gain,add", "--tables", table, "--seeds", "1", "--size", "2"]
    result = CliRunner().invoke(app, ["bench", "completion", *arguments, "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert "nDCG@5" in result.stdout
    with (out / "means.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["completer"] for row in rows] == [CEILING, "gain", "add"] * 2
    assert (out / "by_seed.csv").exists()
    assert (out / "ndcg.svg").read_text().startswith("<?xml")


def test_unknown_names_are_refused():
    with pytest.raises(MisfeatError, match="tables: 'moon' is unknown"):
        CompletionBench(tables=("moon",))
    with pytest.raises(MisfeatError, match="completers: 'magic' is unknown"):
        CompletionBench(completers=("magic",))
    result = CliRunner().invoke(app, ["bench", "completion", "--tables", "moon"])
    assert result.exit_code == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--seeds", "0"], "seeds: give one at least"),
        (["--hidden", "0"], "hidden: 0.0; a share must lie between 0 and 1"),
        (["--hidden", "nan"], "a share must lie between 0 and 1"),
        (["--hidden", "some"], "--hidden: 'some' is no number"),
        (["--hidden", ""], "shares: give one at least"),
        (["--size", "0"], "--size 0"),
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
    result = CliRunner().invoke(app, ["bench", "completion", *usual, *options])
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


SHAPES = {"mobile": (2, 15), "attrition": (8, 19), "loan": (3, 9)}
"""Cohorts and features of the paper's tables."""


@pytest.mark.slow
def test_the_papers_tables_are_as_it_prepared_them(data_folder):
    assert {name: TABLES[name](0).cohorts.missing.shape for name in SHAPES} == SHAPES


@pytest.mark.parametrize("load", [load_mobile, load_attrition, load_loan])
def test_tables_are_prepared_as_the_paper_did(stand_in_folder, load):
    data = as_in_paper(load())
    coding = Coding(bins=data.bins)
    cohorts = build_cohorts(data.columns, data.target, groups=data.groups, coding=coding)
    assert cohorts.missing.shape == SHAPES[data.name]
