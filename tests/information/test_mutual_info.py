"""Scores of sets against references, for every path that the kernels can take."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misfeat import Coding, MisfeatError, MisfeatWarning
from misfeat.cohorts import Cohort, build_cohorts
from misfeat.information import joint_mutual_info, level_mutual_info, score_sums, target_entropy
from misfeat.information import mutual_info as module
from misfeat.information.mutual_info import compact_rows, entropy, influence, sampled_share
from misfeat.lattice.levels import level
from tests.information import generated
from tests.information.generated import (
    cohort_of,
    contingency,
    everything,
    plug_in,
    random_cohort,
    reference,
    reference_above_chance,
    with_gaps,
)


@st.composite
def cohorts(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_features, n_rows = draw(st.integers(1, 5)), draw(st.integers(1, 60))
    cardinality, n_classes = draw(st.integers(1, 40)), draw(st.integers(1, 12))
    return cohort_of(
        rng.integers(cardinality, size=(n_features, n_rows)),
        rng.integers(n_classes, size=n_rows),
        rng.integers(1, 5, size=n_rows),
    )


@settings(max_examples=40)
@given(cohorts())
def test_scores_equal_those_of_scikit_learn(cohort):
    for size in range(1, len(cohort.codes) + 1):
        subsets = level(len(cohort.codes), size)
        for above_chance, score in ((False, reference), (True, reference_above_chance)):
            expected = [score(cohort, subset) for subset in subsets]
            found = joint_mutual_info(cohort, subsets, above_chance=above_chance)
            assert found == pytest.approx(expected, abs=1e-12)


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_scores_equal_those_of_dit(seed):
    import dit  # takes a second, which only who runs this pays for

    rng = np.random.default_rng(seed)
    table = rng.dirichlet(np.ones(8)).reshape(2, 2, 2)
    weights = np.rint(table.ravel() * 1000).astype(np.int64)
    x1, x2, y = (axis.ravel() for axis in np.indices((2, 2, 2)))
    kept = weights > 0
    cohort = cohort_of(np.array([x1, x2])[:, kept], y[kept], weights[kept])
    outcomes = ["".join(map(str, o)) for o in zip(x1[kept], x2[kept], y[kept], strict=True)]
    distribution = dit.Distribution(outcomes, list(weights[kept] / weights.sum()))
    bits = dit.shannon.mutual_information(distribution, [0, 1], [2])
    assert joint_mutual_info(cohort, np.array([[0, 1]]))[0] == pytest.approx(bits * np.log(2))


@given(cohorts())
def test_scores_lie_between_zero_and_the_entropy_and_grow_with_the_set(cohort):
    sets = [np.arange(size)[None] for size in range(1, len(cohort.codes) + 1)]
    scores = [0.0, *(joint_mutual_info(cohort, members)[0] for members in sets)]
    assert (np.diff([*scores, target_entropy(cohort)]) >= -1e-12).all()


def test_the_papers_worked_example_in_nats_and_bits():
    cohorts = build_cohorts(str(Path(__file__).parent / "readmission.csv"), "readmission")
    family_history = [[cohorts.features.index("family_history")]]
    score = joint_mutual_info(cohorts["all rows"], np.array(family_history))[0]
    assert score == pytest.approx(0.1169, abs=5e-5)
    assert score / np.log(2) == pytest.approx(0.1686, abs=5e-5)


def test_unrecorded_features_leave_gaps_in_the_order_of_ranks():
    base = random_cohort(6, 300, 3)
    recorded = np.array([True, False, True, True, False, True])
    codes = base.codes.copy()
    codes[~recorded] = -1
    cohort = Cohort(**{**vars(base), "codes": codes, "recorded": recorded})
    for size in (1, 2, 5):
        (scores,) = level_mutual_info(cohort, size, size)
        computable = recorded[level(6, size)].all(axis=1)
        assert np.array_equal(~np.isnan(scores), computable)
        expected = [reference(cohort, subset) for subset in level(6, size)[computable]]
        assert scores[computable] == pytest.approx(expected, abs=1e-12)


def test_rows_that_lack_values_count_only_where_they_have_them():
    cohort = with_gaps()
    for size in range(1, 6):
        for above_chance, score in ((False, reference), (True, reference_above_chance)):
            expected = [score(cohort, subset) for subset in level(5, size)]
            (found,) = level_mutual_info(cohort, size, size, above_chance=above_chance)
            assert found == pytest.approx(expected, abs=1e-12)


def test_a_set_that_no_row_has_in_full_has_no_score():
    codes = np.array([[0, 1, -1, -1], [-1, -1, 0, 1]], dtype=np.int8)
    cohort = cohort_of(codes, np.array([0, 1, 0, 1]))
    for above_chance in (False, True):
        found = joint_mutual_info(cohort, np.array([[0, 1]]), above_chance=above_chance)
        assert np.isnan(found).all()


def test_a_set_with_one_value_alone_is_not_above_chance():
    for n_classes in (2, 3, 6):
        base = random_cohort(3, 90, 3, n_classes)
        with_constant = cohort_of(np.vstack([np.zeros(90, dtype=int), base.codes]), base.target)
        empty, singles, pairs = level_mutual_info(with_constant, 0, 2, above_chance=True)
        assert [*empty, singles[0]] == pytest.approx([0.0, 0.0], abs=1e-12)
        with_others = pairs[(level(4, 2) == 0).any(axis=1)]
        assert with_others == pytest.approx(singles[1:], abs=1e-12)


def test_the_power_set_is_scored_up_to_its_limit():
    cohort = random_cohort(10, 100, 2, 2)
    assert sum(map(len, level_mutual_info(cohort, 1, 10))) == 2**10 - 1
    with pytest.raises(MisfeatError, match="at most 22 features"):
        level_mutual_info(random_cohort(23, 50, 2, 2), 1, 23)


@pytest.mark.parametrize("above_chance", [False, True])
@pytest.mark.parametrize("cardinality", [2, 4, 30])
def test_a_weight_equals_that_many_copies(cardinality, above_chance):
    cohort = random_cohort(5, 200, cardinality, 3, 5)
    codes, target = (np.repeat(a, cohort.weights, axis=-1) for a in (cohort.codes, cohort.target))
    expected, found = (
        np.concatenate(level_mutual_info(rows, 1, 5, above_chance=above_chance))
        for rows in (cohort_of(codes, target), cohort)
    )
    assert found == pytest.approx(expected, abs=1e-12)


def test_a_cohort_that_recorded_nothing_scores_only_the_empty_set():
    base = random_cohort(3, 50, 2)
    nothing = {"codes": np.full_like(base.codes, -1), "recorded": np.zeros(3, dtype=bool)}
    cohort = Cohort(**{**vars(base), **nothing})
    empty, singles = level_mutual_info(cohort, 0, 1)
    assert empty.tolist() == [0.0]
    assert np.isnan(singles).all()


def test_a_constant_target_has_no_entropy_to_the_last_bit():
    assert all(entropy(np.array([0, rows])) == 0.0 for rows in range(1, 200))


def rows_of(table):
    return build_cohorts(table, "y")["all rows"]


@given(st.integers(0, 2**32 - 1), st.integers(5, 60))
def test_influences_are_of_length_1_or_nothing(seed, n_rows):
    rng = np.random.default_rng(seed)
    table = {name: rng.integers(0, 3, n_rows) for name in "aby"}
    table["a"][0], table["b"][0], table["y"][:2] = 1 - table["a"][1] % 2, 2, (0, 1)
    rows = rows_of(table)
    for members in range(len(rows.codes)):
        found = influence(rows, [members])
        assert np.sum(found**2) == pytest.approx(1.0) or not found.any()


def test_a_copy_errs_as_its_original_does_and_cells_may_be_numbered_anew(monkeypatch):
    rng = np.random.default_rng(1)
    a, b, y = rng.integers(0, 3, (3, 200))
    rows = rows_of({"a": a, "b": b, "copy": 2 - a, "y": y})
    assert influence(rows, [0]) @ influence(rows, [2]) == pytest.approx(1.0)
    before = influence(rows, [0, 1, 2])
    monkeypatch.setattr(module, "MOST_CELLS", 2)
    np.testing.assert_array_equal(influence(rows, [0, 1, 2]), before)


def table(n_rows, right, seed):
    """A feature of three values that names the class as often as `right` says."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    told = np.where(rng.random(n_rows) < right, y, rng.integers(0, 3, n_rows))
    return {"a": told, "y": y}


def deviation(found):
    return np.sqrt(found.spread / found.n_rows + found.chance)


def test_the_share_is_the_score_above_chance_over_the_entropy_of_the_target():
    rows = rows_of(table(300, 0.4, 0))
    score = joint_mutual_info(rows, np.array([[0]]), above_chance=True)[0]
    assert sampled_share(rows, [0]).share == pytest.approx(score / target_entropy(rows))


@pytest.mark.parametrize("right", [0.0, 0.15, 0.5, 0.9])
def test_shares_of_new_samples_vary_as_much_as_is_said(right):
    found = [sampled_share(rows_of(table(400, right, seed)), [0]) for seed in range(300)]
    seen = np.std([one.share for one in found])
    said = np.sqrt(np.mean([deviation(one) ** 2 for one in found]))
    assert 0.85 < said / seen < (1.15 if right else 1.6)  # chance alone looks like a small share


def test_rows_that_lack_a_value_do_not_count():
    columns = table(300, 0.5, 0)
    gaps = {**columns, "a": [None if row < 100 else int(v) for row, v in enumerate(columns["a"])]}
    rows = build_cohorts(gaps, "y", coding=Coding(sporadic="available"))["all rows"]
    assert sampled_share(rows, [0]).n_rows == 200
    lacking = rows.codes[0] < 0
    assert lacking.any()
    assert not influence(rows, [0])[lacking].any()
    assert influence(rows, [0]).any()


def test_nothing_is_known_of_a_target_with_a_single_class():
    columns = {"a": [0, 1] * 20, "y": [0] * 20 + [0, 1] * 10, "g": ["x"] * 20 + ["z"] * 20}
    with pytest.warns(MisfeatWarning, match="single value"):
        rows = build_cohorts(columns, "y", groups="g", coding=Coding(min_rows=1))
    assert sampled_share(rows["g=x"], [0]) is None
    assert sampled_share(rows["g=z"], [0]) is not None


# All of them run with bounds checks; every value of each stands among the others.
@pytest.mark.parametrize("n_classes", [1, 2, 3, 4, 5, 8, 12])
@pytest.mark.parametrize("heaviest", [1, 7])
def test_every_way_of_scoring_above_chance_equals_scikit_learn(n_classes, heaviest, monkeypatch):
    base = random_cohort(6, 250, 3, n_classes, heaviest)
    target = np.random.default_rng(n_classes).integers(n_classes, size=250)
    cohort = cohort_of(base.codes, target, base.weights)
    expected = [everything(cohort, 6, score) for score in (reference, reference_above_chance)]
    for dense_to in (0, 3, 6):
        monkeypatch.setattr(score_sums, "largest_dense_size", lambda *_, to=dense_to: to)
        for less_chance, scores in zip((False, True), expected, strict=True):
            found = level_mutual_info(cohort, 1, 6, above_chance=less_chance)
            assert np.concatenate(found) == pytest.approx(scores, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("total", [2**16 + 5, 2**20 + 5, 2**32 + 5])
@pytest.mark.parametrize(("n_classes", "dense_to"), product([2, 4, 5], [0, 4]))
def test_counts_too_large_for_short_integers_are_exact(total, n_classes, dense_to, monkeypatch):
    monkeypatch.setattr(score_sums, "largest_dense_size", lambda *_: dense_to)
    base = random_cohort(4, 150, 3, n_classes)
    weights = base.weights.copy()
    weights[:3] = total // np.array([1, 2, 3])
    cohort = cohort_of(base.codes, base.target, weights)
    tables = [contingency(cohort, s) for size in range(1, 5) for s in level(4, size)]
    found = np.concatenate(level_mutual_info(cohort, 1, 4))
    # The reference itself is exact to about 1e-11 for counts this uneven.
    assert found == pytest.approx([plug_in(cells) for cells in tables], abs=1e-10)
    if total < 2**32:
        found = np.concatenate(level_mutual_info(cohort, 1, 4, above_chance=True))
        assert found == pytest.approx(
            [generated.above_chance(cells) for cells in tables], abs=1e-12
        )


@pytest.mark.parametrize("cardinality", [3, 12])
@pytest.mark.parametrize("above_chance", [False, True])
def test_any_number_of_threads_gives_the_same_bits(cardinality, above_chance):
    cohort = random_cohort(10, 500, cardinality)
    alone = level_mutual_info(cohort, 1, 6, above_chance=above_chance, n_jobs=1)
    for n_jobs in (2, 3, 5):
        together = level_mutual_info(cohort, 1, 6, above_chance=above_chance, n_jobs=n_jobs)
        assert all(np.array_equal(a, b) for a, b in zip(alone, together, strict=True))


def test_listed_subsets_equal_those_of_whole_levels():
    cohort = random_cohort(12, 600, 3)
    whole = level_mutual_info(cohort, 4, 4)[0]
    ranks = np.random.default_rng(1).choice(len(whole), 20, replace=False)
    for listed in (ranks, np.arange(len(whole))):
        found = joint_mutual_info(cohort, level(12, 4)[listed])
        assert found == pytest.approx(whole[listed], abs=1e-12)


def test_progress_counts_up_and_can_stop_the_work():
    cohort = random_cohort(12, 300, 3)
    for n_jobs in (1, 2):
        seen = []
        level_mutual_info(
            cohort, 1, 4, n_jobs=n_jobs, progress=lambda *s, seen=seen: seen.append(s)
        )
        total = seen[-1][1]
        assert [done for done, _ in seen] == list(range(1, total + 1))

        def stop(done, total):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            level_mutual_info(cohort, 1, 4, n_jobs=n_jobs, progress=stop)


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize(("n", "rows", "size"), [(500, 60, 2), (90, 60, 3), (40, 2000, 3)])
def test_many_features_are_scored_in_pairs_and_triples(n, rows, size, n_classes):
    cohort = random_cohort(n, rows, 2 if rows > 60 else 3, n_classes)
    assert (score_sums.largest_dense_size(compact_rows(cohort), 1, size) == size) == (rows > 60)
    (scores,) = level_mutual_info(cohort, size, size, n_jobs=2)
    subsets = level(n, size)
    assert len(scores) == len(subsets)
    picked = np.random.default_rng(0).choice(len(scores), 30, replace=False)
    expected = [reference(cohort, subset) for subset in subsets[picked]]
    assert scores[picked] == pytest.approx(expected, abs=1e-12)


def test_tables_too_large_for_short_keys_are_searched(rng):
    rows = 9000
    wide = [rng.integers(values, size=rows) for values in (300, 300, 110)]
    codes = np.array([*wide, *rng.integers(2, size=(27, rows))])
    cohort = cohort_of(codes, rng.integers(2, size=rows))
    (found,) = level_mutual_info(cohort, 3, 3)
    assert found[0] == pytest.approx(reference(cohort, np.array([0, 1, 2])), abs=1e-12)
