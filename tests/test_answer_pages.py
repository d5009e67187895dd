"""Tables of measurements in pages are what was measured; tests/docs runs the code of pages."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NAMES = ("features", "chance", "changes", "enough")
PAGES = {name: ROOT / "docs" / "answers" / f"{name}.md" for name in NAMES}
PAGES["numbers"] = ROOT / "docs" / "explanation" / "numbers.md"
PAGES["weights"] = ROOT / "docs" / "how_to" / "weights.md"


def measured(name):
    path = ROOT / "benchmarks" / "population" / f"{name}.csv"
    _, *rows = csv.reader(path.read_text(encoding="utf-8").splitlines())
    return rows


def in_page(cells):
    shown = [cell.lstrip("0") if "." in cell else cell for cell in cells]
    return f"| {' | '.join(shown)} |" in PAGES["features"].read_text(encoding="utf-8")


def test_coverage_is_what_was_measured():
    for similarity, n_rows, _, *held in measured("differences"):
        assert in_page([similarity, n_rows, *held])


def test_how_many_clear_pairs_are_right_is_what_was_measured():
    for *counts, synergy, right, redundancy, right_too in measured("clear_pairs"):
        cells = [f"{int(count):,}" for count in counts]
        assert in_page([*cells, synergy, right, redundancy, right_too])


def answers(name):
    path = ROOT / "benchmarks" / "answers" / f"{name}.csv"
    _, *rows = csv.reader(path.read_text(encoding="utf-8").splitlines())
    return rows


def test_shares_of_p_values_are_those_measured():
    page = PAGES["chance"].read_text(encoding="utf-8")
    for table, tests, *shares, deals in answers("chance"):
        shown = " | ".join(f"{float(share) + 1e-9:.3f}".lstrip("0") for share in shares)
        assert f"| {table} | {int(tests):,} | {shown} | {deals} |" in page


def test_how_often_effects_are_found_is_what_was_measured():
    page = PAGES["chance"].read_text(encoding="utf-8")
    for _, strength, *found in answers("power"):
        shown = " | ".join(f"{float(share) + 1e-9:.2f}".lstrip("0") for share in found)
        assert f"| {strength} | {shown} |" in page


def test_sizes_are_those_measured():
    page = PAGES["enough"].read_text(encoding="utf-8")
    for rows, telling, *shares in answers("enough"):
        shown = " | ".join(share.lstrip("0") for share in shares)
        assert f"| {int(rows):,} | {telling} | {shown} |" in page


def without_zero(share):
    return share.replace("0.", ".", 1) if float(share) < 1 else share


def test_how_often_nothing_changed_is_what_was_measured():
    page = PAGES["changes"].read_text(encoding="utf-8")
    for table, size, subgroups, *shares in answers("changes"):
        shown = " | ".join(map(without_zero, shares))
        assert f"| {table} | {size} | {int(subgroups):,} | {shown} |" in page
        assert float(shares[0]) >= 0.9


def test_how_often_planted_changes_are_named_is_what_was_measured():
    page = PAGES["changes"].read_text(encoding="utf-8")
    for table, planted, *shares in answers("planted"):
        assert f"| {table} | {planted} | {' | '.join(map(without_zero, shares))} |" in page


@pytest.mark.parametrize("name", ["five_best", "tuned"])
def test_how_well_the_best_sets_of_a_number_are_found_is_what_was_measured(name):
    text = PAGES["numbers"].read_text(encoding="utf-8")
    path = ROOT / "benchmarks" / "numbers" / f"{name}_means.csv"
    means = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    assert {one["rows"] for one in means} == {"500", "5000"}
    for score in {one["score"] for one in means}:
        own = [one for one in means if one["score"] == score]
        found = [one["found"].lstrip("0") for one in own]
        assert f"| {score} | {' | '.join(found)} |" in text, score


def test_how_well_weights_hold_is_what_was_measured():
    page = PAGES["weights"].read_text(encoding="utf-8")
    found = [
        line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| by ")
    ]
    told = {(cells[0], cells[1].replace(",", "")): cells[2:] for cells in found}
    _, *covered = _lines("coverage")
    for scheme, rows, weighted, size, coverage, _ in covered:
        cells = told[scheme, rows]
        assert coverage == cells[1 if weighted == "True" else 2]
        assert weighted != "True" or size == cells[0]
    _, *null = _lines("null")
    assert all(told[scheme, rows][3] == share for scheme, rows, _, share in null)


def _lines(name):
    path = ROOT / "benchmarks" / "weights" / f"{name}.csv"
    return list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
