from __future__ import annotations

import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from misfeat import MisfeatError, SubgroupSelector
from misfeat.datasets import make_cohorts


@pytest.fixture(scope="module")
def selector():
    data = make_cohorts(3, 300, 5, hide=0.3, random_state=0)
    made = SubgroupSelector(data.groups, size=2, k=3, random_state=0)
    return made.fit(pd.DataFrame(data.columns), data.target)


def shown(capsys, selector, **asked):
    selector.show(**asked)
    return capsys.readouterr().out


def test_all_answers_are_shown_whole(selector, capsys):
    text = shown(capsys, selector)
    for best in selector.best_sets():
        names = ", ".join(f"{f}*" if f in best.missing else f for f in best.features)
        assert any(names in line and f"{best.score:.4f}" in line for line in text.splitlines())
    for worth in selector.worths():
        assert any(
            line.split()[:3] == [worth.subgroup, worth.feature, f"{worth.gain:.4f}"]
            for line in text.splitlines()
        )
    for name in selector.cohorts_.names:
        assert f"\n{name}\n" in text


def test_another_size_number_or_a_single_subgroup_is_shown(selector, capsys):
    text = shown(capsys, selector, k=1, size=3, subgroup="cohort=c2")
    (best,) = selector.best_sets(size=3, k=1, subgroup="cohort=c2")
    assert f"{best.score:.4f}" in text
    assert "cohort=c1" not in text
    assert "cohort=c3" not in text
    tables = text.split("Worth collecting")
    assert tables[0].count("\n     1   ") == 1
    assert "\n     2   " not in text
    ranked_first = selector.worths("cohort=c2", size=3)[0]
    assert tables[1].count("cohort=c2 ") == 1
    assert f"{ranked_first.gain:.4f}" in tables[1]


def test_what_cannot_be_shown_is_refused_before_anything_is_printed(selector, capsys):
    for asked in ({"subgroup": "c9"}, {"size": 99}, {"k": 0}):
        with pytest.raises(MisfeatError):
            selector.show(**asked)
    with pytest.raises(NotFittedError):
        SubgroupSelector().show()
    assert capsys.readouterr().out == ""
