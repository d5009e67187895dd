from __future__ import annotations

import json
import re

import pytest

from misfeat.show.report import gather, page


@pytest.fixture
def few(monkeypatch):
    """As if two subgroups were very many."""
    monkeypatch.setattr(gather, "MOST_EXPLAINED", 2)
    monkeypatch.setattr(page, "MOST_LINES", 2)


@pytest.mark.usefixtures("few")
def test_of_very_many_subgroups_the_largest_are_explained(fitted):
    report = fitted.report(validate=False)
    held = json.loads(report.json())
    rows = {one["subgroup"]: one for one in held["subgroups"]}
    largest = sorted(rows, key=lambda name: -rows[name]["rows"])[:2]
    assert len(rows) > 2
    assert {name for name, one in rows.items() if one["why"] is not None} <= set(largest)
    assert any(one["why"] is not None for one in rows.values())
    assert all(one["best_sets"] for one in rows.values())
    assert "Only the 2 largest subgroups have their answers explained" in report.html()


@pytest.mark.usefixtures("few")
def test_the_map_shows_the_largest_of_very_many_subgroups(fitted):
    html = fitted.report(validate=False).html()
    table = re.search(r'id="feature-map".*?</table>', html, re.DOTALL).group()
    assert table.count("<tr data-subgroup") == 2
    assert "The 2 largest subgroups, of" in html
