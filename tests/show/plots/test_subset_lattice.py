from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PathCollection

import misfeat
from misfeat import MisfeatError
from misfeat.lattice import edges_beside, edges_between

FOUR = ["glucose", "ecg", "weight", "smoking"]


def nodes(ax):
    return {c.get_label(): c for c in ax.collections if isinstance(c, PathCollection)}


def edges(ax):
    return {c.get_label(): c for c in ax.collections if isinstance(c, LineCollection)}


def test_nodes_are_subsets_in_levels_coloured_by_their_scores_and_starred(selector):
    absent = set(selector.cohorts_.missing_features("clinic=East")) & set(FOUR)
    assert absent
    ax = misfeat.plot.lattice(selector, "clinic=East", FOUR)
    labels = [text.get_text().split("\n") for text in ax.texts]
    drawn = np.concatenate([group.get_array() for group in nodes(ax).values()])
    plain = [[name.rstrip("*") for name in label] for label in labels]
    expected = [selector.score_of("clinic=East", label) for label in plain]
    np.testing.assert_allclose(sorted(drawn), sorted(expected))
    lacking = [label for label in labels if any(name.endswith("*") for name in label)]
    assert {name[:-1] for label in lacking for name in label if name[-1] == "*"} == absent
    assert len(nodes(ax)["predicted"].get_offsets()) == len(lacking)
    sizes = np.concatenate([group.get_offsets()[:, 1] for group in nodes(ax).values()])
    assert np.bincount(sizes.astype(int)).tolist() == [0, 4, 6, 4, 1]
    assert ax.get_yticks().tolist() == [1, 2, 3, 4]


def test_both_kinds_of_edges_differ_and_larger_subsets_can_be_left_out(selector):
    drawn = edges(misfeat.plot.lattice(selector, "clinic=East", FOUR))
    between, beside = drawn["one feature more"], drawn["one feature swapped"]
    assert len(between.get_segments()) == edges_between(4, 1, 4).shape[1]
    assert len(beside.get_segments()) == edges_beside(4, 1, 4).shape[1]
    assert all(segment[1, 1] - segment[0, 1] == 1 for segment in between.get_segments())
    for segment in beside.get_segments():
        assert segment[0, 1] == segment[-1, 1] < segment[:, 1].max()  # an arc within a level
    assert between.get_linestyle() != beside.get_linestyle()
    ax = misfeat.plot.lattice(selector, "clinic=East", FOUR, largest=2)
    assert len(ax.texts) == 4 + 6
    assert ax.get_title() == "10 subsets of 4 features in clinic=East"


def test_features_that_cannot_be_drawn_are_refused(selector):
    refused = {
        None: r"1 to 6 features, but the table has 7; choose",
        selector.cohorts_.features: r"but features= has 7",
        (): r"but features= has 0",
        ("glucos",): "did you mean 'glucose'",
    }
    for features, message in refused.items():
        with pytest.raises(MisfeatError, match=message):
            misfeat.plot.lattice(selector, "clinic=East", features)
