from __future__ import annotations

import json

import pytest

from misfeat.exceptions import Message
from misfeat.safe_text import visible, visible_json


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Süd-Ost, 東, \N{GRINNING FACE}", "Süd-Ost, 東, \N{GRINNING FACE}"),
        ("\N{MAN}\N{ZERO WIDTH JOINER}\N{WOMAN}", "\N{MAN}\N{ZERO WIDTH JOINER}\N{WOMAN}"),
        ("a\N{NO-BREAK SPACE}b", "a\N{NO-BREAK SPACE}b"),
        ("\x1b[2J", r"\x1b[2J"),
        ("a\r\nb\tc", r"a\r\nb\tc"),
        ("\x9b1m\x7f", r"\x9b1m\x7f"),
        ("\u202eabc\u2028", r"\u202eabc\u2028"),
        ("\ud800", r"\ud800"),
    ],
)
def test_what_a_terminal_would_obey_is_shown(text, shown):
    assert visible(text) == shown


def test_json_stays_the_same_data():
    held = {"a\x9b": "\u202e\ud800\U000e0041", "b": "\N{GRINNING FACE}"}
    line = visible_json(json.dumps(held, ensure_ascii=False))
    assert line.isprintable()
    assert json.loads(line) == held


def test_messages_show_what_they_are_about():
    message = Message("{name} and {column!r}.", name="\x1b[1m", column="\x1b[2m")
    assert message == r"\x1b[1m and '\x1b[2m'."
    assert message.told(str) == message
