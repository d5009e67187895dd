"""The documentation stays short enough to be read, and every page asks a question."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
MOST_WORDS = 30_000
MOST_IN_README = 900
WIDEST_IN_README = 4


def words_of(page):
    """As ``wc -w`` counts, tables and code included."""
    return len(page.read_text(encoding="utf-8").split())


def test_all_pages_together_have_few_words():
    assert sum(map(words_of, PAGES)) <= MOST_WORDS


def test_the_readme_is_a_screen_and_a_half():
    assert words_of(ROOT / "README.md") < MOST_IN_README
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert all(line.count("|") <= WIDEST_IN_README + 1 for line in lines if line.startswith("|"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT / "docs")))
def test_the_title_of_a_page_is_a_question(page):
    if page.parent.name == "python":
        return  # named after the objects that it describes
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    (title,) = re.findall(r"^# (.+)$", text, re.M)
    assert title.endswith(("?", "…?"))
