from __future__ import annotations

import pytest

import misfeat
from misfeat.answers.stability import stability_of
from tests.show.plots.drawing import texts

DRAWS = 12  # as in the picture


def test_bars_are_how_often_sets_and_features_come_again(selector):
    found = stability_of(selector.selection_, resamples=DRAWS)
    sets = [one for one in found.sets if one.subgroup == "clinic=North"]
    held = [one for one in found.features if one.subgroup == "clinic=North" and one.in_top_k]
    ax = misfeat.plot.stability(selector, "clinic=North", resamples=DRAWS)
    again, features = ([bar.get_width() for bar in bars] for bars in ax.containers)
    assert again == [one.frequency for one in sets]
    assert features == sorted((one.in_top_k for one in held), reverse=True)
    labels = texts(ax.get_yticklabels())
    assert labels[: len(sets)] == [f"{one.rank}. {', '.join(one.features)}" for one in sets]
    assert set(labels[len(sets) + 1 :]) == {one.feature for one in held}
    marks = [segment[0, 0] for segment in ax.collections[0].get_segments()]
    assert sorted(marks) == sorted(one.in_best for one in held if one.in_best)


def test_a_target_with_one_value_has_no_best_set(half_constant):
    with pytest.raises(misfeat.MisfeatError, match="single value in 'g=b'"):
        misfeat.plot.stability(half_constant, "g=b", resamples=2)
