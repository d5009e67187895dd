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


def shown(text, lines):
    """How many of some measured lines a page shows; one that was edited is not among them."""
    return sum(f"| {' | '.join(cells)} |" in text for cells in lines)


def rounded(share, digits):
    return f"{float(share) + 1e-9:.{digits}f}".lstrip("0")


def without_zero(share):
    return share.replace("0.", ".", 1) if float(share) < 1 else share


def test_differences_and_pairs_of_features_are_those_measured():
    text = page("answers/features")
    differences = [
        [c.lstrip("0") if "." in c else c for c in (similarity, n_rows, *held)]
        for similarity, n_rows, _, *held in measured("population/differences")
    ]
    pairs = [
        [f"{int(n_rows):,}", f"{int(n):,}", *(c.lstrip("0") if "." in c else c for c in told)]
        for n_rows, n, *told in measured("population/clear_pairs")
    ]
    assert (shown(text, differences), shown(text, pairs)) == (2, 2)


def test_tests_against_chance_are_those_measured():
    text = page("answers/chance")
    null = [
        [table, f"{int(tests):,}", *(rounded(one, 3) for one in shares), permutations]
        for table, tests, *shares, permutations in measured("answers/chance")
    ]
    power = [[one, *(rounded(s, 2) for s in found)] for _, one, *found in measured("answers/power")]
    enough = [
        [f"{int(rows):,}", informative, *(share.lstrip("0") for share in shares)]
        for rows, informative, *shares in measured("answers/enough")
    ]
    assert shown(text, null) == 3
    assert shown(text, power) == 4
    assert shown(page("answers/enough"), enough) == 4


def test_changes_are_named_as_often_as_was_measured():
    assert min(float(line[3]) for line in measured("answers/changes")) >= 0.91
    planted = [
        [table, kind, *map(without_zero, shares[:3])]
        for table, kind, *shares in measured("answers/planted")
    ]
    assert shown(page("answers/changes"), planted) == 4


def test_the_best_sets_of_a_number_are_found_as_often_as_was_measured():
    path = ROOT / "benchmarks" / "numbers" / "five_best_means.csv"
    means = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    assert {one["rows"] for one in means} == {"500", "5000"}
    lines = [
        [score, *(m["found"].lstrip("0") for m in means if m["score"] == score)]
        for score in {one["score"] for one in means}
    ]
    assert shown(page("explanation/numbers"), lines) == 4


def test_weights_hold_as_well_as_was_measured():
    null = {(scheme, rows): share for scheme, rows, _, share in measured("weights/null")}
    found = {tuple(line[:3]): line[3:5] for line in measured("weights/coverage")}
    lines = []
    for scheme, rows in null:
        size, weighted = found[scheme, rows, "True"]
        cells = [scheme, f"{int(rows):,}", size, weighted, found[scheme, rows, "False"][1]]
        lines.append([*cells, null[scheme, rows]])
    assert shown(page("how_to/weights"), lines) == 3
