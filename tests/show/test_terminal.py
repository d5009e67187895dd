import io
import re

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from sklearn.exceptions import NotFittedError

from misfeat import MisfeatError, SubgroupSelector
from misfeat.answers.recommendation import answer_of, most_informative
from misfeat.answers.recording_gains import feature_worths
from misfeat.answers.top_sets import best_sets
from misfeat.cli.errors import in_options
from misfeat.datasets import make_cohorts
from misfeat.number_formatting import percent, percent_between, score_words
from misfeat.show.answer_with_map import first_screen
from misfeat.show.terminal import MOST_SENTENCES, print_sentences, print_trust

HOSTILE = ("\x1b[31mred\x1b]0;title\x07", "\u202eright to left", "[bold]markup[/]", "n" * 300)


@pytest.fixture(scope="module")
def selector():
    data = make_cohorts(3, 300, 5, hide=0.3, random_state=0)
    made = SubgroupSelector(data.groups, size=2, k=3, random_state=0)
    return made.fit(pd.DataFrame(data.columns), data.target)


@pytest.fixture(scope="module")
def screen(selector):
    return first_screen(selector.selection_)


@pytest.fixture(scope="module")
def overturned():
    """A screen whose answer may be overturned: a feature tells all about the target."""
    table = {"a": [0, 0, 1, 1] * 30, "paid": [2, 9] * 60, "y": [0, 1] * 60}
    return first_screen(SubgroupSelector(size=1).fit(table, "y").selection_)


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


def test_another_size_number_or_a_single_subgroup_is_shown(selector, capsys):
    text = shown(capsys, selector, k=1, size=3, subgroup="cohort=c2")
    (best,) = best_sets(selector.selection_, size=3, k=1, subgroup="cohort=c2")
    assert "".join(f"{f}*, " if f in best.missing else f"{f}, " for f in best.features)[:-2] in text
    assert "cohort=c1" not in text
    assert "cohort=c3" not in text
    tables = text.split("Which unrecorded feature")
    assert tables[0].count("\n     1   ") == 1
    assert "\n     2   " not in text
    assert "cohort=c2 " in tables[1]


def test_what_cannot_be_shown_is_refused_before_anything_is_printed(selector, capsys):
    for asked in ({"subgroup": "c9"}, {"size": 99}, {"k": 0}):
        with pytest.raises(MisfeatError):
            selector.show(**asked)
    with pytest.raises(NotFittedError):
        SubgroupSelector().show()
    assert capsys.readouterr().out == ""


def printed(screen, width=120, is_terminal=True, validation=None, **asked):
    console = Console(
        file=io.StringIO(), width=width, force_terminal=is_terminal, color_system=None
    )
    print_sentences(screen, console, **asked)
    print_trust(screen, console, validation=validation, **asked)
    return console.file.getvalue()


def on_one_line(text):
    return " ".join(text.split())


def test_the_whole_comes_first_then_every_subgroup_then_what_to_record_then_trust(screen):
    text = on_one_line(printed(screen, validation="It held."))
    parts = [str(screen.sentence), *(f"• {one.sentence}" for one in screen.subgroups)]
    parts += ["Worth recording", *screen.recording, "How far to trust it", "• It held."]
    parts += [one.words for one in screen.other_cautions]
    places = [text.index(on_one_line(part)) for part in parts]
    assert places == sorted(places)
    assert places[0] == 0


def test_what_may_overturn_the_answer_stands_above_it_in_the_words_of_its_reader(overturned):
    screen = overturned
    text = on_one_line(printed(screen))
    assert {one.severity for one in screen.overturning} == {"overturns"}
    assert "overturns" not in {one.severity for one in screen.other_cautions}
    assert text.startswith(f"Caution: {screen.overturning[0].words} ")
    assert text.index("paid explains") > len(screen.overturning[0].words)
    assert text.count(str(screen.overturning[0].sentence)) == 1
    assert "exclude=['paid']" in printed(screen)
    assert "--exclude 'paid'" in printed(screen, spell=in_options)


def test_a_single_subgroup_is_said_once():
    table = {"a": [0, 1] * 60, "y": [0, 0, 1, 1] * 30}
    screen = first_screen(SubgroupSelector(size=1).fit(table, "y").selection_)
    assert screen.sentence == screen.subgroups[0].sentence
    assert printed(screen).count("no evidence that any feature explains y") == 1


def test_lines_fit_a_narrow_terminal_and_in_a_pipe_every_sentence_is_one_line(screen):
    for width in (40, 60):
        lines = printed(screen, width).splitlines()
        assert max(map(len, lines)) <= width
        number = next(number for number, line in enumerate(lines) if line.startswith("• "))
        assert lines[number + 1].startswith("  ")
    lines = printed(screen, 60, is_terminal=False).splitlines()
    assert {f"• {one.sentence}" for one in screen.subgroups} <= set(lines)


def test_of_many_subgroups_the_most_informative_are_shown_and_the_others_counted():
    data = make_cohorts(MOST_SENTENCES + 5, 60, 3, random_state=0)
    selection = SubgroupSelector(data.groups, size=1).fit(data.columns, data.target).selection_
    screen = first_screen(selection)
    kept = most_informative(screen.subgroups, MOST_SENTENCES)
    left = [one for one in screen.subgroups if one not in kept]
    told = [one.share for one in kept if one.verdict == "explained"]
    assert all(one.verdict != "explained" or one.share <= min(told) for one in left)
    text = printed(screen, 1000)
    for one in kept:
        assert f"• {one.sentence}\n" in text
    for one in left:
        assert f"• {one.sentence}" not in text
    assert "and 5 more subgroups, with less explained; 'misfeat ask DIR" in text
    assert "'misfeat ask DIR answer --subgroup NAME'" in printed(screen, 1000, spell=in_options)


def test_a_screen_of_one_subgroup_is_about_that_one(selector):
    selection = selector.selection_
    for name in selection.subgroup_names():
        screen = answer_of(selection, name)
        text = printed(screen)
        assert text.startswith(f"{name}: ")
        others = {*selection.subgroup_names()} - {name}
        for one in screen.recording:
            assert not any(str(one).startswith(f"{other}:") for other in others)


def test_hostile_names_are_text():
    rng = np.random.default_rng(0)
    table = {name: rng.integers(0, 2, 200) for name in HOSTILE}
    table["\x1b[2Jy"] = table[HOSTILE[0]] ^ (rng.random(200) < 0.1)
    table["site"] = np.where(rng.random(200) < 0.5, "\x07a", "\u2067b")
    selector = SubgroupSelector("site", size=2).fit(table, "\x1b[2Jy")
    for width in (40, 120):
        text = printed(first_screen(selector.selection_), width)
        assert not {"\x1b", "\x07", "\u202e", "\u2067"} & set(text)
        assert max(map(len, text.splitlines())) <= width
    assert "\\x1b[31mred" in text
