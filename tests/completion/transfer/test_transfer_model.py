from itertools import pairwise

import numpy as np
import pytest

from benchmarks.completion.hiding import Truth, exact_scores
from misfeat import Coding
from misfeat.cohorts import build_cohorts
from misfeat.cohorts.feature_removal import hide_features
from misfeat.completion import TransferCompleter
from misfeat.completion.transfer import contingency_tables, transfer_model
from misfeat.completion.transfer.set_completion import expected_score, poisson_table
from misfeat.completion.transfer.transfer_model import TransferModel, records_of_rows
from misfeat.datasets.population import random_mask
from misfeat.lattice.levels import level
from misfeat.runtime.threads import Work
from tests.completion.coded import drawn_cohorts
from tests.completion.transfer.reference import Reference
from tests.information.generated import plug_in


def predicted(cohorts, mask, size, **settings):
    return TransferModel(records_of_rows(cohorts), mask, Work(1), **settings).predict(size)


def handed_out(model, size, n_features):
    """Scores above chance, and the tables of every set by cohort."""
    subsets = level(n_features, size)
    kept = model._completed.get(size)
    if kept is None:
        one_by_one = (
            model._complete(subset[None].astype(np.int64), model._evidence(size))
            for subset in subsets
        )
        return model.predict(size).above, [one.tables for one in one_by_one]
    tables = [kept.tables[:, first:last] for first, last in pairwise(kept.starts)]
    return model.predict(size).above, tables


@pytest.mark.parametrize("proxies", [False, True])
@pytest.mark.parametrize(
    ("seed", "share", "shape"),
    [
        (0, 0.2, {}),
        (1, 0.5, {"n_classes": 3}),
        (2, 0.5, {"n_values": 4, "n_cohorts": 2}),
        (3, 0.4, {"n_rows": 60, "n_cohorts": 4}),
    ],
)
def test_predictions_are_those_of_the_formulas(seed, share, shape, proxies):
    cohorts = drawn_cohorts(seed, **shape)
    mask = random_mask(*cohorts.missing.shape, share, np.random.default_rng(seed))
    reference = Reference(cohorts, mask, proxies)
    for size in (1, 2, 3):
        subsets = level(len(cohorts.features), size)
        ours = predicted(cohorts, mask, size, proxies=proxies).score
        lacking = mask[:, subsets].any(axis=2)
        assert np.array_equal(np.isnan(ours), ~lacking)
        for i, s in zip(*np.nonzero(lacking), strict=True):
            # E[n log n] is tabulated here and summed there.
            assert ours[i, s] == pytest.approx(reference.score(i, tuple(subsets[s])), abs=2e-6)


@pytest.mark.parametrize(
    ("seed", "share", "shape"), [(0, 0.2, {}), (1, 0.5, {"n_classes": 3, "n_rows": 90})]
)
def test_scores_above_chance_and_tables_are_those_of_the_formulas(seed, share, shape):
    cohorts = drawn_cohorts(seed, **shape)
    mask = random_mask(*cohorts.missing.shape, share, np.random.default_rng(seed))
    reference = Reference(cohorts, mask)
    model = TransferModel(records_of_rows(cohorts), mask, Work(1), above_chance=True)
    for size in (1, 2, 3):
        subsets = level(len(cohorts.features), size)
        found, tables = handed_out(model, size, len(cohorts.features))
        assert np.array_equal(np.isnan(found), ~mask[:, subsets].any(axis=2))
        for s, subset in enumerate(map(tuple, subsets)):
            for i, table in enumerate(tables[s]):
                if np.isnan(found[i, s]):
                    counts = reference.counts(i, subset).reshape(table.shape)
                    assert np.array_equal(table, counts)
                else:
                    wanted = reference.above_chance(i, subset)
                    assert found[i, s] == pytest.approx(wanted, abs=5e-6)
                    assert table == pytest.approx(reference.expected(i, subset), abs=1e-9)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_asking_for_scores_above_chance_moves_no_bit_of_the_others(size):
    cohorts = drawn_cohorts()
    mask = random_mask(*cohorts.missing.shape, 0.4, np.random.default_rng(1))
    plain, both = (predicted(cohorts, mask, size, above_chance=asked) for asked in (False, True))
    assert plain.above.shape[1] == 0
    assert both.above.shape == both.score.shape
    assert np.array_equal(plain.score, both.score, equal_nan=True)
    assert np.array_equal(plain.variance, both.variance, equal_nan=True)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_stretches_change_no_table_and_leave_out_none(size, monkeypatch):
    cohorts = drawn_cohorts(n_features=6)
    mask = random_mask(*cohorts.missing.shape, 0.4, np.random.default_rng(1))
    rows = records_of_rows(cohorts)
    found, tables = handed_out(TransferModel(rows, mask, Work(1), above_chance=True), size, 6)
    monkeypatch.setattr(transfer_model, "LARGEST_STRETCH", 1)
    one_by_one = TransferModel(rows, mask, Work(3), above_chance=True)
    one_by_one.predict(4)  # keeps the tables of triples
    found_again, tables_again = handed_out(one_by_one, size, 6)
    assert np.array_equal(found, found_again, equal_nan=True)
    assert all(map(np.array_equal, tables, tables_again))
    n_rows = np.array([cohort.size for cohort in cohorts])
    for of_set in tables:
        assert of_set.sum(axis=(1, 2)) == pytest.approx(n_rows)


def test_nothing_of_a_hidden_feature_is_read():
    cohorts = drawn_cohorts()
    mask = random_mask(*cohorts.missing.shape, 0.4, np.random.default_rng(1))
    plain = predicted(cohorts, mask, 3)
    gone = predicted(hide_features(cohorts, mask), mask, 3)
    assert np.array_equal(plain.score, gone.score, equal_nan=True)
    assert np.array_equal(plain.variance, gone.variance, equal_nan=True)


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_a_prediction_is_at_least_the_recorded_part_and_at_most_the_entropy(size):
    cohorts = drawn_cohorts(n_features=6, n_rows=900)
    mask = random_mask(*cohorts.missing.shape, 0.4, np.random.default_rng(2))
    exact = exact_scores(cohorts, size).hidden(mask)
    ours = predicted(cohorts, mask, size)
    low, high = exact.bounds(size)
    lacking = ~np.isnan(ours.score)
    assert (ours.score >= low - 2e-3)[lacking].all()
    assert (ours.score <= high + 1e-9)[lacking].all()
    assert (ours.variance[lacking] >= 0).all()


def test_an_unrecorded_feature_of_many_categories_is_guessed_from_scores():
    rng = np.random.default_rng(0)
    n = 6000
    value, site = rng.integers(0, 100, n), rng.integers(0, 3, n)
    other = rng.integers(0, 3, n)
    y = (rng.random(n) < 0.8 * rng.random(100)[value] + 0.05 * other).astype(int)
    columns = {"many": [f"v{v}" for v in value], "other": other, "y": y, "site": site}
    cohorts = build_cohorts(columns, "y", groups="site", coding=Coding(max_categories=200))
    truth = Truth.of(cohorts, 2)
    mask = np.zeros((3, 2), dtype=bool)
    mask[0, 0] = True
    for size in (1, 2):
        completed = TransferCompleter(confidence=None).complete(truth.hidden(mask), size)
        assert completed.score[0] == pytest.approx(truth.exact.by_size[size][0], rel=0.15)


def test_rare_categories_are_merged_and_gaps_become_one():
    rng = np.random.default_rng(0)
    codes = np.minimum(rng.geometric(0.05, size=4000), 60)
    columns = {"many": [f"v{c}" for c in codes], "y": codes % 2, "site": np.arange(4000) % 2}
    cohorts = build_cohorts(columns, "y", groups="site", coding=Coding(max_categories=60))
    rows = records_of_rows(cohorts, most=8)
    assert rows.rows.cards.tolist() == [8]
    assert not rows.as_scored
    assert set(np.unique(rows.rows.codes)) == set(range(8))
    assert records_of_rows(cohorts, most=100).as_scored
    columns["some"] = np.where(rng.random(4000) < 0.1, np.nan, codes % 3)
    with_gaps = build_cohorts(columns, "y", groups="site", coding=Coding(sporadic="available"))
    place = with_gaps.features.index("some")
    assert records_of_rows(with_gaps).rows.cards[place] == 4


@pytest.mark.parametrize("n_rows", [1, 500])
def test_tables_hold_the_weights_of_their_rows(n_rows):
    rng = np.random.default_rng(0)
    cards = np.array([2, 3, 4])
    rows = contingency_tables.Rows(
        codes=np.stack([rng.integers(c, size=2 * n_rows) for c in cards]).astype(np.uint16),
        target=rng.integers(2, size=2 * n_rows),
        weights=rng.integers(1, 5, size=2 * n_rows).astype(float),
        offsets=np.array([0, n_rows, 2 * n_rows]),
        missing=np.zeros((2, 3), dtype=bool),
        cards=cards,
        by_class=np.zeros((2, 2)),
        sizes=np.zeros(2),
    )
    layout = contingency_tables.Layout(np.array([[0, 2], [1, 2]]), np.array([0, 8, 20]))
    tables = np.zeros((2, 20, 2))
    contingency_tables.count_level(rows, layout, tables, 0, 2)
    subset, strides = np.array([0, 2]), np.empty(2, np.int64)
    counts = np.zeros((contingency_tables.strides_of(cards[subset], strides), 2))
    contingency_tables.count_cells(rows, 1, subset, strides, counts)
    expected = np.zeros((2, 4, 2))
    own = slice(n_rows, None)
    np.add.at(expected, (*rows.codes[subset][:, own], rows.target[own]), rows.weights[own])
    assert np.array_equal(counts.reshape(2, 4, 2), expected)
    assert np.array_equal(tables[1, :8], counts)
    assert tables.sum() == 2 * rows.weights.sum()


def test_where_every_row_is_certain_the_score_is_that_of_the_counts():
    rows = np.array([[30.0, 10.0], [5.0, 25.0]])
    certain = np.zeros((2, 2, 2))
    certain[0, 1] = certain[1, 0] = 1.0
    score, variance, _ = expected_score(certain, rows, poisson_table(), False)
    assert score == pytest.approx(plug_in(rows))
    assert variance == pytest.approx(0.0)


def test_the_mean_and_spread_are_those_of_drawn_rows():
    rng = np.random.default_rng(0)
    rows = np.array([[300.0, 200.0]])
    shares = rng.dirichlet(np.ones(4), size=2).T[None]
    drawn = []
    for _ in range(2000):
        of_class = [rng.multinomial(int(n), shares[0, :, y]) for y, n in enumerate(rows[0])]
        drawn.append(plug_in(np.column_stack(of_class).astype(float)))
    known = np.ascontiguousarray(shares), rows, poisson_table()
    score, variance, _ = expected_score(*known, False)
    assert score == pytest.approx(np.mean(drawn), abs=2e-3)
    assert variance == pytest.approx(np.var(drawn), rel=0.2)


def test_what_chance_gives_is_what_rows_with_shuffled_classes_score():
    rng = np.random.default_rng(0)
    rows = np.array([[40.0, 25.0], [10.0, 45.0]])
    shares = rng.dirichlet(np.ones(3), size=(2, 2)).transpose(0, 2, 1)
    target = np.repeat([0, 1], rows.sum(axis=0).astype(int))
    differences = []
    for _ in range(3000):
        of_o = [
            np.column_stack([rng.multinomial(int(rows[o, y]), shares[o, :, y]) for y in (0, 1)])
            for o in (0, 1)
        ]
        table = np.concatenate(of_o)
        cells = np.repeat(np.arange(len(table)), table.sum(axis=1))
        shuffled = np.zeros(table.shape)
        np.add.at(shuffled, (cells, rng.permutation(target)), 1)
        differences.append(plug_in(table.astype(float)) - plug_in(shuffled))
    known = np.ascontiguousarray(shares), rows, poisson_table()
    above = expected_score(*known, True)[2]
    # A class is drawn for each row by itself there, and they are permuted here.
    one_by_one = 1 / (2 * rows.sum())
    assert above + one_by_one == pytest.approx(np.mean(differences), abs=1e-3)
