"""The pictures that are taken to be looked at."""

from __future__ import annotations

import pytest

from tests.browsers.screenshots import place_of, take_pictures, take_prints

pytestmark = pytest.mark.browser


def test_an_address_becomes_a_part_of_a_name():
    assert [place_of(one) for one in ("", "#explorer", "#subgroup=a/../b c")] == [
        "top",
        "explorer",
        "subgroup-a-b-c",
    ]


def test_a_place_is_taken_wide_and_narrow_light_and_dark_and_on_paper(browser, tmp_path, capsys):
    path = tmp_path / "page.html"
    path.write_text('<!doctype html><p id="a" style="width: 500px">text</p>', encoding="utf-8")
    taken = [*take_pictures(browser, path, tmp_path, "#a"), *take_prints(browser, path, tmp_path)]
    windows = [f"a-{width}-{colours}" for width in (1280, 390) for colours in ("light", "dark")]
    expected = [
        f"{one}-{part}-{browser.name}.png" for one in windows for part in ("first", "whole")
    ]
    expected += [f"top-print-{browser.name}.pdf", f"top-print-1-{browser.name}.png"]
    assert [one.name for one in taken] == expected
    assert all(one.stat().st_size > 0 for one in taken)
    assert "a-390-dark" in capsys.readouterr().err
