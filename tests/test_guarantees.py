"""Every promise names the test that holds it, and that test is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "reference" / "guarantees.md"
NAMED = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")
PROMISE = re.compile(r"^\| \d+ \|.*\|$", re.MULTILINE)


def named_tests():
    return sorted(set(NAMED.findall(PAGE.read_text(encoding="utf-8"))))


@pytest.mark.parametrize(("file", "name"), named_tests())
def test_a_test_that_a_promise_names_is_there(file, name):
    text = (ROOT / file).read_text(encoding="utf-8")
    assert not name or re.search(rf"^(async )?def {name}\(|^class {name}\b", text, re.MULTILINE)


def test_every_promise_names_a_test():
    promises = PROMISE.findall(PAGE.read_text(encoding="utf-8"))
    assert 20 < len(promises) <= 25
    assert [promise for promise in promises if not NAMED.search(promise)] == []


def test_promises_are_numbered_in_order():
    numbers = [int(promise.split("|")[1]) for promise in PROMISE.findall(PAGE.read_text("utf-8"))]
    assert numbers == list(range(1, len(numbers) + 1))
