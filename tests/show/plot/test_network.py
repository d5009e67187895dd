from __future__ import annotations

import numpy as np
import pytest
from matplotlib.patches import PathPatch

import misfeat
from misfeat.answers.interactions import pair_interactions
from misfeat.show.plot.network import LOOKS, WIDEST


def edges(ax):
    return [patch for patch in ax.patches if isinstance(patch, PathPatch)]


@pytest.fixture(scope="module")
def xor():
    """Two features that tell together only, and two that tell the same."""
    rng = np.random.default_rng(0)
    a, b, c = rng.integers(0, 2, (3, 600))
    table = {"a": a, "b": b, "c": c, "copy of c": c, "noise": rng.integers(0, 2, 600)}
    return misfeat.SubgroupSelector(size=2).fit(table, 2 * (a ^ b) + c)


def test_the_network_looks_as_before(heart, assert_looks_as_before):
    ax = misfeat.plot.synergy_network(heart, "site=cleveland")
    assert_looks_as_before(ax, "synergy_network")


def test_synergy_and_redundancy_look_as_before(xor, assert_looks_as_before):
    assert_looks_as_before(misfeat.plot.synergy_network(xor), "synergy_network_of_both")


def test_edges_are_the_clear_interactions(heart):
    pairs = pair_interactions(heart.selection_, "site=cleveland")
    ax = misfeat.plot.synergy_network(heart, "site=cleveland")
    assert len(edges(ax)) == sum(pair.kind != "unclear" for pair in pairs) > 0


def test_both_kinds_differ_in_colour_and_dash(xor):
    kinds = sorted(
        pair.kind for pair in pair_interactions(xor.selection_) if pair.kind != "unclear"
    )
    assert kinds == ["redundancy", "synergy"]
    looks = {
        (edge.get_edgecolor()[:3], edge.get_linestyle())
        for edge in edges(misfeat.plot.synergy_network(xor))
    }
    assert len({colour for colour, _ in looks}) == len({dash for _, dash in looks}) == 2


def test_widths_are_as_the_interactions(xor):
    sizes = sorted(
        abs(p.interaction) for p in pair_interactions(xor.selection_) if p.kind != "unclear"
    )
    widths = sorted(edge.get_linewidth() for edge in edges(misfeat.plot.synergy_network(xor)))
    np.testing.assert_allclose(widths, WIDEST * np.array(sizes) / sizes[-1])


def test_labels_say_what_features_tell_alone(xor):
    ax = misfeat.plot.synergy_network(xor)
    share = xor.score_of("all rows", ["c"]) / xor.subgroups_["target_entropy"][0]
    assert f"c {100 * share:.0f} %" in [text.get_text() for text in ax.texts]


def test_unrecorded_features_are_hollow_diamonds(heart):
    ax = misfeat.plot.synergy_network(heart, "site=hungarian")
    drawn = {one.get_label(): one for one in ax.collections}
    n_missing = len(heart.cohorts_.missing_features("site=hungarian"))
    assert len(drawn["predicted"].get_offsets()) == n_missing
    assert (drawn["predicted"].get_facecolor() == 1).all()


def test_the_legend_says_how_large_interactions_are(xor):
    legend = [
        text.get_text() for text in misfeat.plot.synergy_network(xor).get_legend().get_texts()
    ]
    whole = xor.subgroups_["target_entropy"][0]
    most = max(pair.interaction for pair in pair_interactions(xor.selection_)) / whole
    assert f"{LOOKS['synergy'][2]}, by up to {100 * most:.0f} %" in legend


def test_one_feature_has_no_pair(smallest):
    (text,) = misfeat.plot.synergy_network(smallest).texts
    assert "no pair" in text.get_text()
