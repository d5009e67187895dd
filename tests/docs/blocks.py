"""The code blocks of a page, and what running them prints.

The blocks of a page run from top to bottom, with the same names, in a folder that holds nothing but
heart.csv. A block of Python or of commands that prints something is followed by a block without a
language that shows it. Comments in front of a block say what cannot be seen in it:

    <!-- not run: it needs a PostgreSQL server -->
    <!-- prints more than is shown -->
    <!-- first: code that a reader would have in place -->
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tests.cli.commands import run

if TYPE_CHECKING:
    from pathlib import Path

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
