from __future__ import annotations

import pickle

from misfeat.exceptions import Message, MisfeatError, Setting


def told(setting):
    return f"<{setting.parameter}>"


def test_a_message_is_told_with_other_words_for_its_parameters():
    message = Message("{size} is more than {n}.", size=Setting("size", 9), n=2)
    assert message == "size=9 is more than 2."
    assert message.told(told) == "<size> is more than 2."


def test_a_parameter_in_an_f_string_stays_one():
    message = Message(f"{Setting('size', 9)} is more than {2}; lower {Setting('size')}.")
    assert message == "size=9 is more than 2; lower size."
    assert message.told(told) == "<size> is more than 2; lower <size>."
    assert message.settings == (Setting("size", 9), Setting("size"))


def test_values_that_cannot_be_written_down_are_shown():
    message = Message(f"{Setting('costs', [object()] * 99)} is odd, {Setting('k', float('nan'))}.")
    assert message == "costs=a list of 99 is odd, k=nan."


def test_private_characters_of_others_are_text():
    assert Message("\ue000x\ue001 and \ue000") == "x and \ue000"


def test_messages_within_messages_are_told_too():
    inner = Message("Lower {size}.", size=Setting("size"))
    outer = Message("Not shown. {why}", why=inner) + inner
    assert outer == "Not shown. Lower size.Lower size."
    assert outer.told(told) == "Not shown. Lower <size>.Lower <size>."


def test_names_in_braces_are_text():
    message = Message("{column!r} is {{unknown}}; use {size}.", column="{x}", size=Setting("size"))
    assert message == "'{x}' is {unknown}; use size."


def test_an_error_carries_what_it_is_about():
    bins = Setting("bins", 1, "age")
    error = MisfeatError(f"{bins} is too few.", remedy="Raise it.")
    assert (error.parameter, error.column, error.value) == ("bins", "age", 1)
    assert str(error) == "bins={'age': 1} is too few. Raise it."
    assert error.remedy == "Raise it."


def test_a_message_can_be_pickled():
    message = Message("{size} is odd.", size=Setting("size", 9))
    again = pickle.loads(pickle.dumps(message))  # noqa: S301
    assert again == message
    assert again.told(told) == "<size> is odd."


def test_a_very_long_name_does_not_make_a_very_long_message():
    message = Message("There is no {column!r}; {why}", column="x" * 10**6, why=Message("Look."))
    assert len(message) < 2000
    assert message.startswith("There is no 'xxx")
    assert message.endswith("xxx…'; Look.")
