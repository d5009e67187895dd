import numpy as np
import pytest

from misfeat.cohorts import Coding, build_cohorts
from misfeat.estimation import covariance_sources
from misfeat.estimation.covariance_scores import additive_scores, set_columns, whitened
from misfeat.estimation.covariance_sources import CodedRowSource, CountTableSource, ProductSumSource
from misfeat.estimation.moments import Term
from tests.cohorts.tables import build_product_sums
from tests.completion.coded import drawn_cohorts
from tests.estimation.generated import counted, with_missing


def one_hot(cohorts, position):
    """The columns of one subgroup, a line a row of the table."""
    cohort = cohorts.at(position)
    rows = np.repeat(np.arange(len(cohort.target)), cohort.weights)
    table = CodedRowSource(cohorts)
    codes = table.codes[:, cohorts.offsets[position] + rows]
    columns = [np.eye(card)[line][:, 1:] for card, line in zip(table.cards, codes, strict=True)]
    return np.hstack([*columns, (cohort.target[rows, None] == table.classes_shown) * 1.0])


def test_moments_are_covariances_of_one_hot_columns():
    cohorts = drawn_cohorts()
    moments = CodedRowSource(cohorts).moments()
    for position in range(len(cohorts)):
        expected = np.cov(one_hot(cohorts, position).T, bias=True)
        assert moments.own[position] == pytest.approx(expected, abs=1e-12)


def test_terms_are_columns_of_cells_less_their_optimism():
    cohorts = drawn_cohorts()
    table = CodedRowSource(cohorts)
    effects = np.linspace(-1.0, 1.0, int(table.cards[0] * table.cards[2]))[:, None]
    optimism = np.full((1, 1), 0.01)
    plain = table.moments((Term((0, 2), effects, np.zeros((1, 1))),))
    less = table.moments((Term((0, 2), effects, optimism),))
    (column,) = plain.columns[-1]
    cohort = cohorts.at(1)
    own = table.codes[[0, 2], slice(*cohorts.offsets[1:3])]
    cells = np.ravel_multi_index(tuple(own), table.cards[[0, 2]])
    values = np.repeat(effects[cells, 0], cohort.weights)
    assert plain.own[1, column, column] == pytest.approx(values.var())
    assert less.own[1, column, -1] == pytest.approx(plain.own[1, column, -1] - 0.01)
    assert less.own[1, column, column] == plain.own[1, column, column]


def test_values_missing_here_and_there_leave_out_their_rows_alone(monkeypatch):
    values = [0, 1, None, 1, 0, 1, 0, None] * 6
    table = {"a": values, "b": [0, 0, 1, 1] * 12, "y": [0, 1, 0, 1, 1, 0, 1, 0] * 6}
    cohorts = build_cohorts(table, "y", coding=Coding(sporadic="available", missing_threshold=0.9))
    assert (cohorts.codes < 0).any()
    moments = CodedRowSource(cohorts).moments()
    # Some stretches of rows lack nothing.
    monkeypatch.setattr(covariance_sources, "ROWS_AT_ONCE", 3)
    assert CodedRowSource(cohorts).moments().own == pytest.approx(moments.own, abs=1e-12)
    there = np.array([value is not None for value in values])
    a = np.array([value for value in values if value is not None], dtype=float)
    (column,) = moments.columns[cohorts.features.index("a")]
    assert moments.own[0, column, column] == pytest.approx(a.var())
    y = np.array(table["y"], dtype=float)[there]
    expected = abs(np.mean(a * y) - a.mean() * y.mean())
    assert abs(moments.own[0, column, -1]) == pytest.approx(expected)


def test_numbers_are_columns_of_unit_variance(rng):
    x = rng.normal(size=(50, 2)) * [1.0, 1000.0]
    sums = build_product_sums({"a": x[:, 0], "b": x[:, 1], "y": x.sum(axis=1)}, "y")
    moments = ProductSumSource(sums).moments()
    assert moments.own[0] == pytest.approx(np.corrcoef(np.c_[x, x.sum(axis=1)].T))


def test_tables_give_the_moments_of_rows():
    rng = np.random.default_rng(3)
    codes, target = rng.integers(3, size=(4, 300)).astype(np.int32), rng.integers(2, size=300)
    missing = np.zeros((3, 4), dtype=bool)
    missing[1, 2] = True
    cohorts = with_missing(codes, target, missing)
    effects = rng.normal(size=(9, 1))
    terms = (Term((0, 1), effects, np.zeros((1, 1))),)
    tables = CountTableSource(counted(cohorts)).moments(terms)
    # Categories of rows are numbered by how frequent they are, those of tables as they come.
    plain = CodedRowSource(cohorts)
    order = [np.argsort(-np.bincount(line, minlength=3), kind="stable") for line in codes]
    cells = np.array([[order[0][i] * 3 + order[1][j] for j in range(3)] for i in range(3)]).ravel()
    rows = plain.moments((Term((0, 1), effects[cells], np.zeros((1, 1))),))
    assert tables.own.shape == rows.own.shape
    (column,) = rows.columns[-1]
    assert tables.own[:, column, column] == pytest.approx(rows.own[:, column, column])
    assert tables.own[:, column, -1] == pytest.approx(rows.own[:, column, -1])

    subsets = np.array([[0, 1, 3], [0, 1, 2]])
    for k, chosen in ((0, subsets), (1, subsets[:1])):
        scores = [
            additive_scores(whitened(m.own[k], 1), set_columns(m, chosen), 3, 1e-9).score
            for m in (rows, tables)
        ]
        assert scores[0] == pytest.approx(scores[1], abs=1e-6)


def test_rounded_tables_of_pairs_become_a_covariance_with_their_variances() -> None:
    odd = np.array([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]])
    near = covariance_sources.nearest_covariance(odd)
    assert near == pytest.approx(np.array([[1.0, 0.5, -0.5], [0.5, 1.0, 0.5], [-0.5, 0.5, 1.0]]))
