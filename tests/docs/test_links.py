"""Links of the README and of all pages lead to files and headings that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md"))]
LINK = re.compile(r"\]\((?!https?://|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)")
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.M | re.S)


def headings(page):
    """The anchors of a page, as MkDocs and GitHub both make them of plain headings."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    lines = re.findall(r"^#+ (.*)$", text, re.M)
    plain = [re.sub(r"[^\w\s-]", "", line.replace("`", "")).strip().lower() for line in lines]
    return {re.sub(r"\s+", "-", line) for line in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for link, anchor in LINK.findall(CODE.sub("", page.read_text(encoding="utf-8"))):
        target = (page.parent / link).resolve() if link else page
        assert target.exists(), link
        if anchor and target.suffix == ".md":
            assert anchor in headings(target), f"{link}#{anchor}"
