"""Every code block of the README and of all pages runs, and prints what the page says.

The blocks of a page run from top to bottom, with the same names, in a folder that holds nothing but
heart.csv. A block of Python or of commands that prints something is followed by a block without a
language that shows it. Comments in front of a block say what cannot be seen in it:

    <!-- not run: it needs a PostgreSQL server -->
    <!-- prints more than is shown -->
    <!-- first: code that a reader would have in place -->

After a change that is meant, renew what pages show with ``MISFEAT_RENEW_SNAPSHOTS=1 pytest
tests/docs/test_blocks.py`` and read the difference before committing it.
"""

import contextlib
import io
import os
import re
import shlex
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from shutil import copy
from typing import Any

import pytest

from misfeat.datasets import heart_csv
from tests.cli.commands import run

FENCE = re.compile(
    r"^(?P<fence>```+)(?P<language>[\w-]*)[^\n]*\n(?P<code>.*?)^(?P=fence)$", re.M | re.S
)
COMMENT = re.compile(
    r"<!-- (not run|prints more than is shown|first)(?:: ((?:(?!-->).)*?))? ?-->\s*\Z", re.S
)
RUN = ("python", "bash")
OUTPUT = ""


@dataclass(frozen=True)
class Block:
    """Code of a page."""

    language: str
    """``"python"`` or ``"bash"``."""
    code: str
    line: int
    """Its first line in the page."""
    shown: str | None
    """What the page says it prints, where it does."""
    span: tuple[int, int]
    """Where `shown` lies in the page."""
    remark: str | None
    words: str
    """What the comment in front of it says, and how that goes on."""


def blocks_of(page: Path) -> list[Block]:
    """All blocks that can be run, marked ones included."""
    text = page.read_text(encoding="utf-8")
    fences = list(FENCE.finditer(text))
    found = []
    for fence, after in pairwise([*fences, None]):
        if fence["language"] not in RUN:
            continue
        comment = COMMENT.search(text[: fence.start()])
        follows = (
            after and after["language"] == OUTPUT and not text[fence.end() : after.start()].strip()
        )
        shown, span = (after["code"], after.span("code")) if follows else (None, (0, 0))
        remark, words = comment.groups() if comment else (None, None)
        line = text.count("\n", 0, fence.start("code"))
        found.append(
            Block(fence["language"], fence["code"], line, shown, span, remark, words or "")
        )
    return found


def printed_by(block: Block, names: dict[str, Any], page: Path) -> str:
    """Run a block and return what it prints."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        if block.remark == "first":
            exec(compile(block.words, f"{page.name}, in a comment", "exec"), names)  # noqa: S102
        if block.language == "python":
            exec(compile("\n" * block.line + block.code, str(page), "exec"), names)  # noqa: S102
        else:
            for command in block.code.replace("\\\n", " ").splitlines():
                out.write(_told(command, page))
    return out.getvalue()


def _told(command: str, page: Path) -> str:
    words = shlex.split(command, comments=True)
    if not words:
        return ""
    assert words[0] == "misfeat", f"{page.name}: only misfeat is run, not {command!r}; mark it"
    found = run(*words[1:])
    assert found.exit_code == 0, (command, found.stderr)
    return found.stdout


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
    "stability.md",
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
