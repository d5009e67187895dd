from __future__ import annotations

import numpy as np
import pytest

from misfeat.cohorts.parsed_text import SAMPLED, parse_text, parse_ways
from misfeat.reading.coders import Kind
from misfeat.reading.table import ValueCounts


def counted(texts: list[str]) -> ValueCounts:
    values, counts = np.unique(np.array(texts, dtype=object), return_counts=True)
    return ValueCounts(values, counts, missing=0)


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["$1,200", "$90"], "number ($)"),
        (["1,5 kg", "2 kg"], "number (kg, decimal comma)"),
        (["< 1 year", "3 years"], "number, some of them bounds"),
        (["2019-03-02", "2020-01-01"], "date"),
        (["28/02/2019"], "date, day first"),
        (["14:05", "9:30"], "time of day, in hours"),
    ],
)
def test_what_texts_stand_for_is_found(texts, words):
    found, share = parse_text(counted(texts))
    assert (found.words, share) == (words, 1.0)


@pytest.mark.parametrize("texts", [[], ["yes", "no"], ["n/a", "-"], ["02134", "10001"]])
def test_other_texts_stand_for_themselves(texts):
    assert parse_text(counted(texts)) == (None, 0.0)


def test_words_for_nothing_do_not_count():
    found, share = parse_text(counted(["5%", "n/a", "unknown", "-"]))
    assert (found.kind, share) == (Kind.NUMBER, 1.0)
    assert found.counted(counted(["5%", "n/a"])).missing == 1


def test_what_is_written_in_a_rare_way_among_many_texts_is_read_too():
    many = [f"{number:,} months" for number in range(2, 3 * SAMPLED)]
    found, share = parse_text(counted([*many, "1 month", "(1) months"]))
    assert share == 1.0
    assert found.values["1 month"] == 1
    assert found.values["(1) months"] == -1


def test_one_code_among_many_numbers_makes_them_codes():
    many = [str(number) for number in range(10_000, 10_000 + 3 * SAMPLED)]
    assert parse_text(counted([*many, "00123"]))[0] is None


def test_many_texts_that_do_not_read_are_given_up_early():
    assert parse_text(counted([f"patient {number}" for number in range(3 * SAMPLED)])) == (
        None,
        0.0,
    )


def test_ways_are_checked():
    assert parse_ways({"a": "day first"}) == {"a": "day first"}
    assert parse_ways(None) == {}
