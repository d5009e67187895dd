import io
import re

import numpy as np
import pytest
from rich.console import Console

from misfeat import SubgroupSelector
from misfeat.answers.top_sets import best_sets
from misfeat.number_formatting import percent, percent_between, score_words
from misfeat.show.question_output import MOST_LINES, QUESTIONS, About, print_answer

SITE = "site=the hospital of a rather long name in the north"


@pytest.fixture(scope="module")
def selection():
    rng = np.random.default_rng(0)
    n = 300
    table = {f"measurement {i}": rng.integers(0, 3, n) for i in range(9)}
    table["y"] = ((table["measurement 0"] + table["measurement 1"]) > 2).astype(int)
    table["site"] = np.where(rng.random(n) < 0.5, SITE.removeprefix("site="), "b")
    hidden = table["measurement 1"].astype(float)
    hidden[table["site"] == "b"] = np.nan
    table["measurement 1"] = hidden
    return SubgroupSelector("site", size=2, k=3).fit(table, "y").selection_


def about(question, subgroup=None):
    if QUESTIONS[question].of_a_set:
        return About(SITE, ("measurement 0", "measurement 1"))
    return About(subgroup)


def printed(selection, question, asked, width=80):
    console = Console(file=io.StringIO(), width=width)
    print_answer(selection, question, asked, console)
    return console.file.getvalue()


def test_lines_fit_80_columns(selection):
    for question in QUESTIONS:
        lines = printed(selection, question, about(question)).splitlines()
        assert max(map(len, lines)) <= 80, question


def test_shares_have_the_digits_that_their_intervals_leave(selection):
    wholes = dict(zip(selection.cohorts.names, selection.set_scores.measure.whole, strict=True))
    shown = printed(selection, "top", About(SITE), 160)
    for best in best_sets(selection, subgroup=SITE):
        whole = wholes[SITE]
        share = percent(best.share, best.low / whole, best.high / whole)
        between = percent_between(best.low / whole, best.high / whole)
        nats = score_words(best.score, best.low, best.high)
        assert re.search(rf"{share} +{between} .*{re.escape(nats)} *\n", shown)
    shown = printed(selection, "interactions", About(SITE), 160)
    assert re.search(r"-\d[\d.]* to -?\d[\d.]* %", shown)
    assert "–-" not in shown


def test_a_wider_terminal_shows_more_columns(selection):
    heads = [
        printed(selection, "features", About(SITE), width).splitlines()[3]
        for width in (60, 80, 140)
    ]
    assert "between" not in heads[0]
    assert all("mean share" in head for head in heads)
    assert heads[2].count("between") == 2


def test_cells_have_whole_rows_shares_and_intervals_unless_predicted(selection):
    shown = printed(selection, "why", about("why"), 160)
    rows, share = re.search(r"measurement 1 = 2 +(\S+) +1 +(\S+ %)", shown).groups()
    assert rows.isdigit()
    assert re.fullmatch(r"\d+ %", share)
    predicted = About("site=b", ("measurement 0", "measurement 1"))
    assert "between" in printed(selection, "why", about("why"), 160)
    shown = printed(selection, "why", predicted, 160)
    assert "predicted" in shown
    assert "between" not in shown


def test_of_several_subgroups_the_first_lines_are_shown_and_of_one_all(selection):
    several = printed(selection, "interactions", About())
    alone = printed(selection, "interactions", About(SITE), 140)
    assert "26 more; ask about this subgroup to see all." in several
    assert several.count("measurement 8") < alone.count("measurement 8") == 8
    assert "more;" not in alone
    assert MOST_LINES == 36 - 26


def test_unrecorded_features_have_a_star(selection):
    shown = printed(selection, "top", About("site=b"))
    assert "measurement 1*" in shown
    assert "A star marks" in shown
    assert "measurement 1*" in printed(selection, "worth", About("site=b"), 140)
    assert "A star marks" not in printed(selection, "subgroups", About(), 140)


def test_sentences_are_about_the_subgroup_that_was_asked_about(selection):
    shown = printed(selection, "stability", About("site=b"))
    assert "site=b: the best set" in shown
    assert "hospital" not in shown
