"""What is kept beside the benchmarks is what they write: no figure is edited, none is stale."""

from __future__ import annotations

import csv
import re
import shutil
from pathlib import Path

import pytest

from benchmarks.common.output import mean_rows
from benchmarks.downstream import experiment as downstream
from benchmarks.paper import experiment as paper
from benchmarks.population import experiment as population

ROOT = Path(__file__).parents[2]
KEPT, DOCS = ROOT / "benchmarks", ROOT / "docs" / "benchmarks"
ROUNDED = 1.01e-4
"""Draws are kept to four digits, and so are their means."""
NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?")
"""In a page the last digit may differ, where a mean of rounded means lies between two."""


def rows_of(path):
    with path.open(encoding="utf-8") as file:
        return [
            {name: value_of(text) for name, text in row.items()} for row in csv.DictReader(file)
        ]


def value_of(text):
    if not text:
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def test_the_paper_s_figures_are_those_of_the_kept_work(tmp_path, monkeypatch):
    monkeypatch.setattr(paper, "draw_figures", lambda *_: None)
    shutil.copy(KEPT / "paper" / "work.jsonl", tmp_path)
    paper.PaperBench().run(tmp_path, lambda _: None)
    written = [path for path in tmp_path.iterdir() if path.name != "work.jsonl"]
    assert len(written) == 8
    for path in written:
        assert path.read_text() == (KEPT / "paper" / path.name).read_text(), path.name


@pytest.mark.parametrize(
    ("bench", "keys"),
    [
        (population, ("table", "rows", "hidden", "size", "method")),
        (downstream, ("table", "rows", "size", "method")),
    ],
)
def test_kept_means_are_those_of_the_kept_draws(bench, keys):
    folder = KEPT / bench.__name__.split(".")[1]
    found = mean_rows(rows_of(folder / "draws.csv"), keys, bench.FIGURES)
    kept = rows_of(folder / "means.csv")
    assert [{key: row[key] for key in keys} for row in found] == [
        {key: row[key] for key in keys} for row in kept
    ]
    for name in bench.FIGURES:
        wanted = [row[name] for row in kept]
        assert [row[name] for row in found] == pytest.approx(wanted, abs=ROUNDED), name


@pytest.mark.parametrize("bench", [population, downstream])
def test_kept_pages_tell_the_kept_means(bench):
    folder = KEPT / bench.__name__.split(".")[1]
    seeds = {row["seed"] for row in rows_of(folder / "draws.csv")}
    written = bench.page(rows_of(folder / "means.csv"), len(seeds))
    kept = (folder / "page.md").read_text(encoding="utf-8")
    assert NUMBER.sub("#", written) == NUMBER.sub("#", kept)
    for new, old in zip(NUMBER.findall(written), NUMBER.findall(kept), strict=True):
        last = 10.0 ** -len(old.partition(".")[2]) if "." in old else 0
        assert abs(float(new.replace(",", "")) - float(old.replace(",", ""))) <= 1.01 * last


@pytest.mark.parametrize("name", ["population", "downstream", "paper"])
def test_pages_of_the_documentation_are_the_kept_ones(name):
    kept = (KEPT / name / "page.md").read_text(encoding="utf-8")
    shown = (DOCS / f"{name}_results.md").read_text(encoding="utf-8")
    assert shown == kept.replace("](", f"](../../benchmarks/{name}/")
