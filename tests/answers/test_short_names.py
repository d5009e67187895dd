"""Everything that is asked about a subgroup knows it by its value, too."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import misfeat
from misfeat import SubgroupSelector
from misfeat.answers.feature_contributions import shapley_values
from misfeat.exceptions import MisfeatError

SET = {"features": ["f1", "f2"]}


@pytest.fixture(scope="module")
def selector():
    rng = np.random.default_rng(0)
    table = {f"f{i}": rng.integers(2, size=240) for i in (1, 2, 3)}
    table["y"] = table["f1"] ^ (rng.random(240) < 0.2)
    table["site"] = np.repeat(["va", "ch"], 120)
    table["f3"] = np.where(table["site"] == "va", np.nan, table["f3"])
    return SubgroupSelector("site", size=2, k=2, random_state=0).fit(table, "y")


QUESTIONS = {
    **{name: {} for name in ("top_k", "scores", "features", "interactions", "enough", "answer")},
    **dict.fromkeys(("score_of", "why", "alternatives"), SET),
    "worth_collecting": {},
    "stability": {"resamples": 4},
    "difference": {"features": ["f1"], "others": ["f2"]},
}
PLOTS = ("interactions", "size_curve", "stability", "top_k", "worth_collecting")


def test_the_answer_is_that_of_the_whole_name(selector):
    def ask(question, name):
        if question == "shapley":
            return str(shapley_values(selector.selection_, name, **SET))
        if question == "for_subgroup":
            return selector.for_subgroup(name).features
        return str(getattr(selector, question)(subgroup=name, **QUESTIONS[question]))

    for question in (*QUESTIONS, "shapley", "for_subgroup"):
        assert ask(question, "va") == ask(question, "site=va"), question
        with pytest.raises(MisfeatError, match="no subgroup 'vaa'; did you mean 'site=va'"):
            ask(question, "vaa")


def test_what_is_shown_is_that_of_the_whole_name(selector, capsys):
    selector.show(subgroup="VA", tables=True)
    short = capsys.readouterr().out
    selector.show(subgroup="site=va", tables=True)
    assert short == capsys.readouterr().out
    assert "site=va" in short
    assert "site=ch" not in short.split("recorded")[0]


def test_plots_are_titled_with_the_whole_name(selector):
    for plot in PLOTS:
        draw = getattr(misfeat.plot, plot)
        titles = [draw(selector, subgroup=name).get_title() for name in ("va", "site=va")]
        assert titles[0] == titles[1], plot
    plt.close("all")
