from __future__ import annotations

import re

import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from misfeat import MisfeatError, SubgroupSelector
from misfeat.answers.collecting import feature_worths
from misfeat.answers.top import best_sets
from misfeat.datasets import make_cohorts
from misfeat.words.numbers import percent, percent_between, score_words


@pytest.fixture(scope="module")
def selector():
    data = make_cohorts(3, 300, 5, hide=0.3, random_state=0)
    made = SubgroupSelector(data.groups, size=2, k=3, random_state=0)
    return made.fit(pd.DataFrame(data.columns), data.target)


def shown(capsys, selector, **asked):
    selector.show(tables=True, **asked)
    return capsys.readouterr().out


def wholes(selector):
    return dict(
        zip(selector.cohorts_.names, selector.selection_.set_scores.measure.whole, strict=True)
    )


def cells(line):
    return re.split(r"\s{2,}", line.strip())


def test_all_answers_are_shown_whole(selector, capsys):
    lines = [cells(line) for line in shown(capsys, selector).splitlines()]
    for best in best_sets(selector.selection_):
        names = ", ".join(f"{f}*" if f in best.missing else f for f in best.features)
        whole = wholes(selector)[best.subgroup]
        low, high = best.low / whole, best.high / whole
        told = [percent(best.share, low, high), percent_between(low, high)]
        nats = score_words(best.score, best.low, best.high)
        assert [str(best.rank), names, *told, best.source, nats] in lines
    for worth in feature_worths(selector.selection_):
        whole = wholes(selector)[worth.subgroup]
        gain = percent(*(value / whole for value in (worth.gain, worth.low, worth.high)))
        assert any(line[:3] == [worth.subgroup, worth.feature, gain] for line in lines)
    for name in selector.cohorts_.names:
        assert [name] in lines


def test_shares_come_before_nats(selector, capsys):
    heads = [line for line in shown(capsys, selector).splitlines() if " nats" in line]
    assert heads
    for head in heads:
        assert head.rstrip().endswith("nats") or head.startswith("Shares are of")


def test_another_size_number_or_a_single_subgroup_is_shown(selector, capsys):
    text = shown(capsys, selector, k=1, size=3, subgroup="cohort=c2")
    (best,) = best_sets(selector.selection_, size=3, k=1, subgroup="cohort=c2")
    assert "".join(f"{f}*, " if f in best.missing else f"{f}, " for f in best.features)[:-2] in text
    assert "cohort=c1" not in text
    assert "cohort=c3" not in text
    tables = text.split("Worth collecting")
    assert tables[0].count("\n     1   ") == 1
    assert "\n     2   " not in text
    assert tables[1].count("cohort=c2 ") == 1


def test_what_cannot_be_shown_is_refused_before_anything_is_printed(selector, capsys):
    for asked in ({"subgroup": "c9"}, {"size": 99}, {"k": 0}):
        with pytest.raises(MisfeatError):
            selector.show(**asked)
    with pytest.raises(NotFittedError):
        SubgroupSelector().show()
    assert capsys.readouterr().out == ""
