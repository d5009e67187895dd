from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from misfeat.show.costs import ALONE, MEASURED, Shape, passing

MODEL = Path(__file__).parents[2] / "benchmarks" / "sizing" / "model.json"
SHAPE = Shape(20_000, 30, 8, 3, unrecorded=0.2, tested=3, deals=199, enough=4, redrawn=True)


def all_of_it(shape):
    return [
        MEASURED.coding(shape),
        MEASURED.scoring(shape, shape.size),
        MEASURED.estimating(shape, shape.size),
        MEASURED.dealing(shape, shape.tested),
        MEASURED.seeing_enough(shape),
        MEASURED.validating(shape),
        MEASURED.redrawing(shape),
        MEASURED.reporting(shape),
        MEASURED.memory(shape),
    ]


def test_constants_are_those_that_were_fitted():
    fitted = json.loads(MODEL.read_text(encoding="utf-8"))
    assert asdict(MEASURED) == fitted["costs"]
    assert fitted["alone"] == ALONE


@pytest.mark.parametrize("more", [{"rows": 200_000}, {"features": 40}, {"subgroups": 16}])
def test_no_step_of_a_larger_table_takes_less(more):
    before, after = all_of_it(SHAPE), all_of_it(replace(SHAPE, **more))
    # of very many sets only some are judged
    assert all(a >= b for n, (b, a) in enumerate(zip(before, after, strict=True)) if n != 5)
    assert sum(after) > sum(before)


def test_rows_with_gaps_are_dealt_one_by_one():
    gaps = replace(SHAPE, gaps=True)
    assert MEASURED.dealing(gaps, 2) > MEASURED.dealing(SHAPE, 2)


def test_a_numeric_target_is_scored_once_a_grid():
    grids = replace(SHAPE, grids=4)
    assert MEASURED.fitting(grids) == pytest.approx(4 * MEASURED.fitting(SHAPE))


def test_more_cores_never_take_longer():
    for step in ALONE:
        assert passing(step, 10.0, 1) == pytest.approx(10.0)
        assert passing(step, 10.0, 16) <= passing(step, 10.0, 2)


def test_the_first_step_of_enough_is_known_where_pairs_are_tested():
    pairs = replace(SHAPE, tested=2)
    first = MEASURED.seeing_enough(replace(pairs, first_known=False))
    assert MEASURED.seeing_enough(pairs) < first == MEASURED.seeing_enough(SHAPE)
    assert MEASURED.seeing_enough(replace(SHAPE, step_deals=99)) < first
