"""Tables of measurements in pages are what was measured; tests/docs runs the code of pages."""

from __future__ import annotations

import csv
from pathlib import Path

ROOT = Path(__file__).parent.parent


def measured(name):
    """The lines of a table of measurements, without its head."""
    path = ROOT / "benchmarks" / f"{name}.csv"
    return list(csv.reader(path.read_text(encoding="utf-8").splitlines()))[1:]


def page(name):
    return (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")


def check(text, cells):
    assert f"| {' | '.join(cells)} |" in text, cells


def rounded(share, digits):
    return f"{float(share) + 1e-9:.{digits}f}".lstrip("0")


def without_zero(share):
    return share.replace("0.", ".", 1) if float(share) < 1 else share


def test_differences_and_pairs_of_features_are_those_measured():
    text = page("answers/features")
    for similarity, n_rows, _, *held in measured("population/differences"):
        check(text, [c.lstrip("0") if "." in c else c for c in (similarity, n_rows, *held)])
    for *counts, synergy, right, redundancy, right_too in measured("population/clear_pairs"):
        shares = [c.lstrip("0") if "." in c else c for c in (synergy, right, redundancy, right_too)]
        check(text, [*(f"{int(count):,}" for count in counts), *shares])


def test_tests_against_chance_are_those_measured():
    text = page("answers/chance")
    for table, tests, *shares, deals in measured("answers/chance"):
        check(text, [table, f"{int(tests):,}", *(rounded(one, 3) for one in shares), deals])
    for _, strength, *found in measured("answers/power"):
        check(text, [strength, *(rounded(share, 2) for share in found)])
    for rows, telling, *shares in measured("answers/enough"):
        shown = [share.lstrip("0") for share in shares]
        check(page("answers/enough"), [f"{int(rows):,}", telling, *shown])


def test_changes_are_named_as_often_as_was_measured():
    text = page("answers/changes")
    for table, size, subgroups, *shares in measured("answers/changes"):
        check(text, [table, size, f"{int(subgroups):,}", *map(without_zero, shares)])
        assert float(shares[0]) >= 0.9
    for table, planted, *shares in measured("answers/planted"):
        check(text, [table, planted, *map(without_zero, shares)])


def test_the_best_sets_of_a_number_are_found_as_often_as_was_measured():
    text = page("explanation/numbers")
    for name in ("five_best", "tuned"):
        path = ROOT / "benchmarks" / "numbers" / f"{name}_means.csv"
        means = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
        assert {one["rows"] for one in means} == {"500", "5000"}
        for score in {one["score"] for one in means}:
            check(text, [score, *(m["found"].lstrip("0") for m in means if m["score"] == score)])


def test_weights_hold_as_well_as_was_measured():
    lines = [line for line in page("how_to/weights").splitlines() if line.startswith("| by ")]
    found = [line.strip("| ").split(" | ") for line in lines]
    told = {(cells[0], cells[1].replace(",", "")): cells[2:] for cells in found}
    for scheme, rows, weighted, size, coverage, _ in measured("weights/coverage"):
        cells = told[scheme, rows]
        assert coverage == cells[1 if weighted == "True" else 2]
        assert weighted != "True" or size == cells[0]
    for scheme, rows, _, share in measured("weights/null"):
        assert told[scheme, rows][3] == share
