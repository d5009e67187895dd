"""Everything that is asked about a subgroup knows it by its value, too."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

import misfeat
from misfeat import SubgroupSelector
from misfeat.answers.features import shapley_values
from misfeat.exceptions import MisfeatError

ABOUT_A_SET = ("f1", "f2")


@pytest.fixture(scope="module")
def selector():
    rng = np.random.default_rng(0)
    table = {f"f{i}": rng.integers(2, size=240) for i in (1, 2, 3)}
    table["y"] = table["f1"] ^ (rng.random(240) < 0.2)
    table["site"] = np.repeat(["va", "ch"], 120)
    table["f3"] = np.where(table["site"] == "va", np.nan, table["f3"])
    return SubgroupSelector("site", size=2, k=2, random_state=0).fit(table, "y")


QUESTIONS = {
    "top_k": lambda found, name: found.top_k(subgroup=name),
    "scores": lambda found, name: found.scores(subgroup=name),
    "score_of": lambda found, name: found.score_of(name, ABOUT_A_SET),
    "why": lambda found, name: found.why(name, ABOUT_A_SET),
    "features": lambda found, name: found.features(name),
    "shapley": lambda found, name: shapley_values(found.selection_, name, ABOUT_A_SET),
    "difference": lambda found, name: found.difference(name, ["f1"], ["f2"]),
    "alternatives": lambda found, name: found.alternatives(name, ABOUT_A_SET),
    "interactions": lambda found, name: found.interactions(name),
    "enough": lambda found, name: found.enough(name),
    "stability": lambda found, name: found.stability(subgroup=name, resamples=4),
    "worth": lambda found, name: found.worth_collecting(name),
    "for_subgroup": lambda found, name: found.for_subgroup(name).features,
    "compare": lambda found, name: misfeat.compare(found, found, subgroup=name).sentences(),
}
PLOTS = ("interactions", "lattice", "size_curve", "stability", "top_k", "worth_collecting")


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_answer_is_that_of_the_whole_name(selector, question):
    ask = QUESTIONS[question]
    assert str(ask(selector, "va")) == str(ask(selector, "site=va"))
    with pytest.raises(MisfeatError, match="There is no subgroup 'vaa'; did you mean 'site=va'"):
        ask(selector, "vaa")


def test_what_is_shown_is_that_of_the_whole_name(selector, capsys):
    selector.show(subgroup="VA", tables=True)
    short = capsys.readouterr().out
    selector.show(subgroup="site=va", tables=True)
    assert short == capsys.readouterr().out
    assert "site=va" in short
    assert "site=ch" not in short.split("recorded")[0]


@pytest.mark.parametrize("plot", PLOTS)
def test_plots_are_titled_with_the_whole_name(selector, plot):
    draw = getattr(misfeat.plot, plot)
    titles = [draw(selector, subgroup=name).get_title() for name in ("va", "site=va")]
    assert titles[0] == titles[1]
    plt.close("all")


def test_a_short_name_must_mean_the_same_in_both_runs(selector):
    rng = np.random.default_rng(1)
    table = {"f1": rng.integers(2, size=80), "f2": rng.integers(2, size=80)}
    table |= {"y": rng.integers(2, size=80), "place": np.repeat(["va", "ch"], 40)}
    other = SubgroupSelector("place", size=1).fit(table, "y")
    with pytest.raises(MisfeatError, match="'va' means 'site=va' in the first run and 'place=va'"):
        misfeat.compare(selector, other, subgroup="va")
