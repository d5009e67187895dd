import numpy as np
import pandas as pd
import pytest

from misfeat import MisfeatError, SubgroupSelector
from misfeat.answers.number_of_features import enough_features
from misfeat.answers.top_sets import best_sets


def table(telling, together=False, n_rows=600, seed=0):
    """Eight features, of which some tell: each by itself, or the first two only together."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 2, (8, n_rows))
    odds = sum((2.0 * values[j] - 1.0 for j in range(telling)), np.zeros(n_rows))
    if together:
        odds = 2.0 * (values[0] ^ values[1]) - 1.0
    y = (rng.random(n_rows) < 1 / (1 + np.exp(-1.5 * odds))).astype(int)
    return pd.DataFrame({**{f"f{j}": line for j, line in enumerate(values)}, "y": y})


def asked(columns, largest, **at):
    selector = SubgroupSelector(size=largest, random_state=0).fit(columns, "y")
    (found,) = enough_features(selector.selection_, **at)
    return selector, found


@pytest.mark.parametrize("telling", [1, 2, 3])
def test_as_many_are_enough_as_tell(telling):
    selector, found = asked(table(telling), 3)
    assert (found.size, found.settled) == (telling, True)
    assert set(found.steps[telling - 1].features) == {f"f{j}" for j in range(telling)}
    frame = selector.enough()
    assert frame["size"].tolist() == [1, 2, 3]
    assert frame["enough"].tolist() == [m == telling for m in (1, 2, 3)]
    assert (frame["p_value"][:telling] <= 0.05).all()
    assert found.further(telling) > 0.05
    assert frame["p_value"][telling + 1 :].isna().all()
    assert frame["adds"].sum() == pytest.approx(frame["score"].iloc[-1])


def test_features_that_tell_only_together_are_found():
    _, found = asked(table(0, together=True), 3)
    assert found.size == 2
    assert found.steps[1].features == ("f0", "f1")


@pytest.mark.parametrize("telling", [0, 2])
@pytest.mark.parametrize("permutations", [99, 999])
def test_a_test_of_all_pairs_before_changes_no_p_value(telling, permutations):
    fresh, tested = (
        SubgroupSelector(size=2, random_state=0).fit(table(telling), "y") for _ in range(2)
    )
    tested.significance(permutations=permutations)
    (found,), (alone,) = (enough_features(one.selection_) for one in (tested, fresh))
    np.testing.assert_array_equal(
        [step.p_value for step in found.steps], [step.p_value for step in alone.steps]
    )
    assert found.size == alone.size


def test_what_is_enough_is_settled_or_said_not_to_be():
    columns = {name: table(3)[name] for name in ("f0", "f1", "f2", "y")}
    columns["f3"] = columns["f0"]
    selector, found = asked(columns, 2, size=2)
    assert not found.settled
    assert not selector.enough(size=2)["enough"].any()
    selector, found = asked(table(0), 2)
    assert found.size == 0
    answer = selector.answer("all rows")
    assert answer.verdict == "no evidence"
    assert "no evidence that any feature explains y (p = " in answer.sentence
    assert not selector.enough()["enough"].any()
    selector, found = asked(table(3), 3, size=2)
    assert (found.size, found.settled) == (2, False)
    smaller = selector.answer("all rows", size=2).sentence
    assert smaller.endswith("would help (p ≤ 0.005): size=3 looks for it.")
    settled = selector.answer("all rows").sentence
    assert "f0, f1 and f2 explain" in settled
    assert "no evidence that a further feature helps (p = " in settled
    selector, found = asked(table(2)[["f0", "f1", "y"]], 2)
    assert (found.size, found.settled) == (2, True)
    assert selector.answer("all rows").sentence.endswith("no other feature was recorded.")


@pytest.mark.parametrize("telling", [0, 1, 2])
def test_the_size_can_be_left_to_be_chosen(telling):
    selector = SubgroupSelector(size="auto", random_state=0).fit(table(telling), "y")
    assert selector.selection_.size == max(telling, 1)
    assert {len(one.features) for one in best_sets(selector.selection_)} == {max(telling, 1)}


def test_a_chosen_size_is_kept_with_a_saved_run(tmp_path):
    selector = SubgroupSelector(size="auto", random_state=0).fit(table(2), "y")
    selector.save(tmp_path / "run")
    again = SubgroupSelector.load(tmp_path / "run")
    assert (again.size, again.selection_.size) == ("auto", 2)


def test_another_word_is_refused():
    with pytest.raises(MisfeatError, match="or 'auto'"):
        SubgroupSelector(size="best").fit(table(1), "y")
