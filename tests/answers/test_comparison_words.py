from __future__ import annotations

from dataclasses import replace

from misfeat.answers.comparison import Change, SubgroupChange
from misfeat.answers.comparison_words import (
    ALONE,
    BEST_OF_FIRST,
    changes_in_words,
    points_in_words,
    subgroup_in_words,
    summary_of,
)
from misfeat.exceptions import Message

SAME = ("y", "y")
LINE = Change(
    "site=b", ("mri",), ALONE, 0.03, 0.01, 0.05, 0.12, 0.08, 0.16, 0.09, 0.04, 0.14, 0.001, True,
    0.02, 0.08, "recorded",
)  # fmt: skip
QUIET = SubgroupChange(
    "site=a", 100, 100, 5, 0, 0.8, 1.0, ("mri",), ("mri",), False, Message("quiet")
)
LOUD = replace(QUIET, subgroup="site=b", changed=1, p_value=0.001, sentence=Message("loud"))


PAIR = replace(LINE, features=("age", "mri"), asked=BEST_OF_FIRST)


def test_changes_are_told_with_both_intervals_the_clearest_single_features_first():
    assert changes_in_words([LINE], SAME) == "mri tells 12 % (8–16 %) where it told 3 % (1–5 %)"
    assert changes_in_words([PAIR], SAME).startswith("age and mri tell 12 % (8–16 %) where they ")
    predicted = replace(LINE, source="predicted")
    assert changes_in_words([predicted], SAME).startswith("mri (predicted) tells")
    clear = replace(LINE, features=("age",), p_value=1e-5)
    said = changes_in_words([LINE, replace(PAIR, p_value=1e-9), clear], SAME)
    assert said.startswith("age tells")
    assert "age and mri" not in said
    many = [replace(LINE, features=(f"f{i}",), p_value=i / 1000) for i in range(6)]
    said = changes_in_words(many, SAME)
    assert said.endswith("and 3 more features changed")
    assert "f3" not in said


def test_another_target_is_no_change():
    said = changes_in_words([LINE], ("died", "readmitted"))
    assert said == "mri tells 3 % (1–5 %) about died and 12 % (8–16 %) about readmitted"
    assert "nothing changed" not in summary_of([QUIET, QUIET], [], ("died", "readmitted"))


def test_best_sets_of_different_targets_are_told_side_by_side():
    other = replace(QUIET, second_best=("age",))
    said = subgroup_in_words(other, [LINE], ("died", "readmitted"), [])
    assert said.endswith("; mri tells most about died, age about readmitted.")
    assert subgroup_in_words(other, [], SAME, []).endswith(
        "; age tells most, before it was mri, but which of the two tells more cannot be told."
    )
    assert subgroup_in_words(replace(other, told_apart=True), [], SAME, []).endswith(
        "; age tells most, before it was mri."
    )


def test_the_whole_is_told_in_one_sentence():
    others = [replace(QUIET, subgroup=f"site={name}") for name in "acd"]
    assert summary_of([*others, LOUD], [LINE], SAME) == (
        "Nothing changed by more than its uncertainty in 3 of 4 subgroups; "
        "in site=b, mri tells 12 % (8–16 %) where it told 3 % (1–5 %)."
    )
    assert summary_of(others, [], SAME) == (
        "Nothing changed by more than its uncertainty in any of 3 subgroups."
    )
    assert summary_of([LOUD, replace(LOUD, subgroup="site=c", p_value=0.01)], [LINE], SAME) == (
        "In site=b, mri tells 12 % (8–16 %) where it told 3 % (1–5 %), "
        "the clearest of 2 such subgroups."
    )


def test_sentences_claim_no_more_than_is_known():
    silent = replace(LINE, second=0.0, second_low=0.0)
    said = subgroup_in_words(LOUD, [silent, silent], SAME, [])
    assert said.endswith("; nothing tells anything there any more.")
    assert "any more" not in subgroup_in_words(LOUD, [silent, LINE], SAME, [])
    said = subgroup_in_words(LOUD, [LINE], SAME, [], among=8)
    assert "(1–5 %), which chance may do in one of 8 subgroups; mri" in said
    assert "by chance" not in subgroup_in_words(QUIET, [], SAME, [], among=8)
    assert summary_of([LOUD], [LINE], SAME) == "loud"
    assert summary_of([replace(QUIET, sets=0)], [], SAME) == "No subgroup could be compared."
    assert points_in_words(-0.02, -0.0399, -0.0001) == "-2.00 (-3.99 to -0.01)"
    assert points_in_words(0.02, -0.01, 0.05) == "+2 (-1 to +5)"
