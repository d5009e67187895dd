"""Every code block of the README and of all pages runs, and prints what the page says.

After a change that is meant, renew what pages show with ``MISFEAT_RENEW_SNAPSHOTS=1 pytest
tests/docs/test_blocks.py`` and read the difference before committing it.
"""

from __future__ import annotations

import os
from pathlib import Path
from shutil import copy

import pytest

from misfeat.datasets import heart_csv
from tests.docs.blocks import blocks_of, printed_by

ROOT = Path(__file__).parents[2]
PAGES = [
    page for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if blocks_of(page)
]
MOST_NOT_RUN = 12
"""Blocks that need what tests do not have: a server, a cluster, a network."""
SLOW = {
    "README.md",
    "command_line.md",
    "export.md",
    "from_table_to_decision.md",
    "paper_model.md",
    "report.md",
}
WITH_HOSPITALS = {"sites.md"}
"""Its walk through starts from folders of its own: tests/cli/test_site.py runs it."""


def marked(page):
    name = str(page.relative_to(ROOT))
    return pytest.param(page, id=name, marks=[pytest.mark.slow] if page.name in SLOW else [])


@pytest.mark.parametrize("page", [marked(one) for one in PAGES if one.name not in WITH_HOSPITALS])
def test_the_blocks_of_a_page_print_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setattr("webbrowser.open", lambda _: True)
    monkeypatch.chdir(tmp_path)
    copy(heart_csv(), tmp_path)
    names: dict = {"__name__": "__main__"}
    found = [
        (block, printed_by(block, names, page))
        for block in blocks_of(page)
        if block.remark != "not run"
    ]
    told = [(block, out) for block, out in found if block.remark != "prints more than is shown"]
    if os.environ.get("MISFEAT_RENEW_SNAPSHOTS"):
        renew(page, told)
        return
    for block, out in told:
        assert out.split() == (block.shown or "").split(), f"{page.name}, line {block.line}"


def renew(page, told):
    text = page.read_text(encoding="utf-8")
    for block, out in reversed(told):
        begin, end = block.span
        if block.shown is not None:
            lines = "\n".join(line.rstrip() for line in out.strip("\n").splitlines())
            text = f"{text[:begin]}{lines}\n{text[end:]}"
    page.write_text(text, encoding="utf-8")


def test_few_blocks_are_not_run_and_each_says_why():
    left = [b for page in PAGES for b in blocks_of(page) if b.remark == "not run"]
    assert all(block.words for block in left)
    assert len(left) <= MOST_NOT_RUN
