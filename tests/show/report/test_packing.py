from __future__ import annotations

import pytest

from misfeat.answers.top import best_sets
from misfeat.answers.why import explanation
from misfeat.show.report.contents import contents
from misfeat.show.report.gather import gather
from misfeat.show.report.packing import packed


@pytest.fixture(scope="module")
def findings(fitted):
    return gather(fitted.selection_, validate=False)


@pytest.fixture(scope="module")
def data(findings):
    return packed(contents(findings), findings.cells)


def test_sets_are_numbers_of_features(data, fitted):
    for row, name in zip(data["subgroups"], fitted.cohorts_.names, strict=True):
        best = best_sets(fitted.selection_, subgroup=name)
        found = [tuple(data["features"][f] for f in one["set"]) for one in row["sets"]]
        assert found == [one.features for one in best]


def test_cells_hold_every_row_of_singles_and_pairs(data, fitted):
    tables, n = data["cells"]["tables"], len(data["features"])
    for cohort, name in enumerate(fitted.cohorts_.names):
        for first in range(n):
            for second in range(first + 1, n):
                lines = tables[f"{cohort}:{first},{second}"]
                rows = sum(sum(line[2:]) for line in lines)
                assert rows == pytest.approx(fitted.cohorts_[name].size, rel=0.01)


def test_labels_are_those_of_the_cells(data, fitted):
    name, (first, second) = fitted.cohorts_.names[0], fitted.cohorts_.features[:2]
    cells = explanation(fitted.selection_, name, [first, second]).cells
    labels = data["cells"]["labels"]
    found = {tuple(labels[at] for at in line[:2]) for line in data["cells"]["tables"]["0:0,1"]}
    assert found == {cell.values for cell in cells}


def test_numbers_have_few_digits(data):
    numbers = list(floats_in(data["subgroups"]))
    assert numbers
    assert all(number == float(f"{number:.6g}") for number in numbers)


def floats_in(value):
    if isinstance(value, float):
        yield value
    elif isinstance(value, dict | list):
        for held in value.values() if isinstance(value, dict) else value:
            yield from floats_in(held)


def test_intervals_reach_as_far_as_the_confidence_says(data):
    assert data["z"] == pytest.approx(1.64485, abs=1e-5)
