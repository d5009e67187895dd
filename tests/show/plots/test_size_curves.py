import pytest
from matplotlib.collections import PathCollection

import misfeat
from misfeat.answers.number_of_features import enough_features
from misfeat.show.plots.drawing import FADED


def points(ax):
    """Shares by size, and whether they are faded."""
    drawn = [box.lines[0] for box in ax.containers]
    return {
        int(size): (share, line.get_alpha() == FADED)
        for line in drawn
        for size, share in line.get_xydata()
    }


def rings(ax):
    drawn = [one for one in ax.collections if isinstance(one, PathCollection)]
    return [tuple(one.get_offsets()[0]) for one in drawn]


def test_points_are_shares_faded_beyond_the_size_that_is_enough_which_has_a_ring(heart):
    panels = misfeat.plot.size_curve(heart)
    for ax, one in zip(panels, enough_features(heart.selection_), strict=True):
        found = points(ax)
        assert sorted(found) == [step.size for step in one.steps]
        for step in one.steps:
            share, faded = found[step.size]
            assert share == pytest.approx(step.share)
            assert faded == (one.settled and step.size > one.size)
        enough = [(one.size, one.steps[one.size - 1].share)] if one.settled and one.size else []
        assert rings(ax) == [pytest.approx(ring) for ring in enough]


def test_titles_say_what_is_enough(heart):
    titles = [ax.get_title(loc="left").split("\n")[1] for ax in misfeat.plot.size_curve(heart)]
    assert titles == [
        "more may help: cp, ca",
        "more may help: cp, oldpeak",
        "enough: cp",
        "enough: cp, oldpeak",
    ]
    one = misfeat.plot.size_curve(heart, "site=switzerland")
    assert one.get_title() == "site=switzerland: enough: cp"


def test_a_target_with_one_value_is_said(half_constant):
    ax = misfeat.plot.size_curve(half_constant, "g=b")
    assert ax.get_title() == "g=b: nothing to explain"
    panels = misfeat.plot.size_curve(half_constant)
    assert panels[1].get_title(loc="left") == "g=b\nnothing to explain"
