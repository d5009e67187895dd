from __future__ import annotations

from math import comb

import numpy as np

import misfeat


def cells(ax):
    return [text.get_text() for text in ax.texts]


def test_shares_look_as_before(sampled, assert_looks_as_before):
    assert_looks_as_before(misfeat.plot.sampling(sampled), "sampling")


def test_cells_count_scores_of_recorded_features(sampled):
    expected = []
    for cohort, name in enumerate(sampled.cohorts_.names):
        n_recorded = int((~sampled.cohorts_.missing[cohort]).sum())
        for size in (1, 2, 3):
            exact = (sampled.scores(size=size, subgroup=name)["source"] == "recorded").sum()
            expected.append(f"{exact} of {comb(n_recorded, size)}")
    ax = misfeat.plot.sampling(sampled)
    assert cells(ax) == expected
    scored, computable = np.array([cell.split(" of ") for cell in expected], dtype=int).T
    shares = np.reshape(scored / computable, (4, 3))
    np.testing.assert_allclose(ax.images[0].get_array(), shares)


def test_labels_say_how_the_sampler_spread_over_sizes(sampled):
    ax = misfeat.plot.sampling(sampled)
    n = np.array([cell.split(" of ") for cell in cells(ax)], dtype=int).reshape(4, 3, 2).sum(axis=0)
    of_scored, of_computable = (100 * n / n.sum(axis=0)).T
    for place, label in enumerate(ax.get_xticklabels()):
        size, first, second = label.get_text().split("\n")
        assert size == str(place + 1)
        assert first == f"{of_computable[place]:.0f} % of computable"
        assert second == f"{of_scored[place]:.0f} % of scored"


def test_the_title_says_budget_and_sampler(sampled, selector):
    assert misfeat.plot.sampling(sampled).get_title().endswith("(budget 30 %, randwalk)")
    title = misfeat.plot.sampling(selector).get_title()
    assert title.startswith("100 % of ")
    assert title.endswith("(budget 100 %)")


def test_sizes_that_a_cohort_cannot_have_are_left_blank():
    table = {
        "g": ["a"] * 4 + ["b"] * 4,
        "x": [0, 0, 1, 1] * 2,
        "z": [0, 1, 0, 1] + [None] * 4,
        "y": [0, 0, 1, 1, 1, 0, 1, 0],
    }
    selector = misfeat.SubgroupSelector("g", size=2).fit(table, "y")
    ax = misfeat.plot.sampling(selector)
    assert cells(ax) == ["2 of 2", "1 of 1", "1 of 1"]
    assert ax.images[0].get_array().mask.sum() == 1
