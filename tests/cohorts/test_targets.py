from __future__ import annotations

import polars as pl
import pytest

from misfeat import MisfeatError, SubgroupSelector
from misfeat.cohorts import Coding, build_cohorts
from misfeat.cohorts.targets import MOST_CLASSES
from tests.cohorts.holders import HOLDERS


def table(n_classes):
    towns = [f"town {i}" for i in range(n_classes)] * 3
    return pl.DataFrame({"x": [0, 1, 2] * n_classes, "town": towns})


@pytest.mark.parametrize("holder", HOLDERS)
def test_hundreds_of_classes_are_refused_whatever_holds_the_table(holder):
    held = HOLDERS[holder](table(MOST_CLASSES + 1))
    with pytest.raises(MisfeatError, match="'town' has 101 classes; at most 100") as refused:
        build_cohorts(held, "town")
    assert refused.value.column == "town"
    assert refused.value.remedy.startswith("Merge classes")


def test_they_are_refused_before_other_columns_are_read():
    read = []

    def progress(what, done, total):
        read.append((what, done))

    with pytest.raises(MisfeatError, match="at most 100"):
        build_cohorts(table(200), "town", progress=progress)
    assert read == [("Reading columns", 0)]


def test_as_many_as_are_allowed_are_not():
    assert len(build_cohorts(table(MOST_CLASSES), "town").classes) == MOST_CLASSES


def test_numbers_are_cut_into_bins_and_no_more_of_them_than_that():
    numbers = {"z": [0, 1] * 300, "y": list(range(600))}
    assert len(build_cohorts(numbers, "y").classes) == 5
    with pytest.raises(MisfeatError, match="'y' has 150 classes") as refused:
        SubgroupSelector(size=1, coding=Coding(bins={"y": 150})).fit(numbers, "y")
    assert "bins={'y': 5}" in refused.value.remedy
    few = {"z": [0, 1] * 300, "y": [n % 30 for n in range(600)]}
    assert len(build_cohorts(few, "y", coding=Coding(bins=250)).classes) == 30
