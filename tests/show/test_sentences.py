from __future__ import annotations

import io

import numpy as np
import pytest
from rich.console import Console

from misfeat import SubgroupSelector
from misfeat.cli.errors import in_options
from misfeat.datasets import make_cohorts
from misfeat.show.first_screen import first_screen
from misfeat.show.sentences import MOST_SENTENCES, most_telling, print_sentences, screen_of

HOSTILE = ("\x1b[31mred\x1b]0;title\x07", "\u202eright to left", "[bold]markup[/]", "n" * 300)


@pytest.fixture(scope="module")
def selection():
    data = make_cohorts(3, 300, 5, hide=0.3, random_state=0)
    return SubgroupSelector(data.groups, size=2).fit(data.columns, data.target).selection_


def printed(screen, width=120, is_terminal=True, **asked):
    console = Console(
        file=io.StringIO(), width=width, force_terminal=is_terminal, color_system=None
    )
    print_sentences(screen, console, **asked)
    return console.file.getvalue()


def on_one_line(text):
    return " ".join(text.split())


def test_the_whole_comes_first_then_every_subgroup_then_what_to_record_then_trust(selection):
    screen = first_screen(selection)
    text = on_one_line(printed(screen, validation="It held."))
    parts = [str(screen.whole), *(f"• {one.sentence}" for one in screen.subgroups)]
    parts += ["Worth recording", *screen.collecting, "How far to trust it", "• It held."]
    parts += [one.words for one in screen.other_cautions]
    places = [text.index(on_one_line(part)) for part in parts]
    assert places == sorted(places)
    assert places[0] == 0


def test_what_may_overturn_the_answer_stands_above_it():
    table = {"a": [0, 0, 1, 1] * 30, "paid": [2, 9] * 60, "y": [0, 1] * 60}
    screen = first_screen(SubgroupSelector(size=1).fit(table, "y").selection_)
    text = on_one_line(printed(screen))
    assert screen.overturning
    assert text.startswith(f"Caution: {screen.overturning[0].words} ")
    assert text.index("paid tells") > len(screen.overturning[0].words)
    assert text.count(str(screen.overturning[0].sentence)) == 1


def test_advice_is_in_the_words_of_its_reader():
    table = {"a": [0, 0, 1, 1] * 30, "paid": [2, 9] * 60, "y": [0, 1] * 60}
    screen = first_screen(SubgroupSelector(size=1).fit(table, "y").selection_)
    assert "exclude=['paid']" in printed(screen)
    assert "--exclude 'paid'" in printed(screen, spell=in_options)


def test_a_single_subgroup_is_said_once():
    table = {"a": [0, 1] * 60, "y": [0, 0, 1, 1] * 30}
    screen = first_screen(SubgroupSelector(size=1).fit(table, "y").selection_)
    assert printed(screen).count("tells more about y") == 1


@pytest.mark.parametrize("width", [40, 60])
def test_lines_fit_a_narrow_terminal_and_are_set_in(selection, width):
    lines = printed(first_screen(selection), width).splitlines()
    assert max(map(len, lines)) <= width
    place = next(number for number, line in enumerate(lines) if line.startswith("• "))
    assert lines[place + 1].startswith("  ")


def test_in_a_pipe_every_sentence_is_one_line(selection):
    screen = first_screen(selection)
    lines = printed(screen, 60, is_terminal=False).splitlines()
    for one in screen.subgroups:
        assert f"• {one.sentence}" in lines


def test_of_many_subgroups_the_most_telling_are_shown_and_the_others_counted():
    data = make_cohorts(MOST_SENTENCES + 5, 60, 3, random_state=0)
    selection = SubgroupSelector(data.groups, size=1).fit(data.columns, data.target).selection_
    screen = first_screen(selection)
    kept = most_telling(screen.subgroups, MOST_SENTENCES)
    left = [one for one in screen.subgroups if one not in kept]
    told = [one.share for one in kept if one.verdict == "told"]
    assert all(one.verdict != "told" or one.share <= min(told) for one in left)
    text = printed(screen, 1000)
    for one in kept:
        assert f"• {one.sentence}\n" in text
    for one in left:
        assert f"• {one.sentence}" not in text
    assert "and 5 more subgroups, in which less is told; show(subgroup=...) tells" in text
    assert "'misfeat ask DIR enough --subgroup NAME'" in printed(screen, 1000, spell=in_options)


def test_a_screen_of_one_subgroup_is_about_that_one(selection):
    for name in selection.subgroup_names():
        screen = screen_of(selection, subgroup=name)
        text = printed(screen)
        assert text.startswith(f"{name}: ")
        others = {*selection.subgroup_names()} - {name}
        for one in screen.collecting:
            assert not any(str(one).startswith(f"{other}:") for other in others)


def test_what_is_worth_recording_can_be_left_out(selection):
    assert "Worth recording" not in printed(first_screen(selection), collecting=False)


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
