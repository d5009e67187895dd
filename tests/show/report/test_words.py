from __future__ import annotations

from misfeat.completion.model import SUPPORT
from misfeat.show.report.words import rises, support_words


def worth(subgroup, feature, gain):
    return {"subgroup": subgroup, "feature": feature, "gain": gain, "before": 0.5}


def test_the_head_names_the_best_feature_of_each_cohort_and_no_other():
    contents = {
        "worth_collecting": [
            worth("a", "x", 0.4),
            worth("a", "y", 0.3),
            worth("b", "y", 0.2),
            worth("c", "x", 0.0),
        ],
    }
    found = [(rise["subgroup"], rise["feature"], rise["before"]) for rise in rises(contents)]
    assert found == [("a", "x", 0.5), ("b", "y", 0.5)]


def test_there_are_words_for_all_that_a_score_can_rest_on():
    assert len({support_words(one) for one in SUPPORT}) == len(SUPPORT)
