"""A script of the gallery as cells: text from comments, code, and what running the code showed.

A script begins with a docstring, whose first line is the title. A line ``# %%`` begins a cell; the
comment lines that follow are its text, in Markdown, the rest is code. A call to `plt.show` is not
needed: figures that a cell leaves open are its pictures.
"""

from __future__ import annotations

import ast
import io
import sys
import time
from contextlib import chdir, contextmanager, redirect_stdout
from dataclasses import dataclass
from itertools import pairwise
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib import pyplot as plt

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MARK = "# %%"
DOTS_AN_INCH = 110


@dataclass(frozen=True)
class Cell:
    """A piece of a script.

    Attributes
    ----------
    text : str
        What its comment says.
    code : str
        What is run.
    line : int
        The line of the script that the code begins in.
    """

    text: str
    code: str
    line: int


@dataclass(frozen=True)
class Shown:
    """What running a cell showed: printed text and pictures (PNG)."""

    printed: str
    pictures: tuple[bytes, ...]


@dataclass(frozen=True)
class Script:
    """A script with its title, what its docstring goes on to say, and its cells."""

    title: str
    words: str
    cells: tuple[Cell, ...]


def read_script(path: Path) -> Script:
    """The script of a file."""
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    first, _, words = (ast.get_docstring(tree) or "").partition("\n")
    lines = source.splitlines()
    starts = [0, *(n for n, line in enumerate(lines) if line.startswith(MARK)), len(lines)]
    after = tree.body[0].end_lineno or 0  # the docstring is no code
    cells = [_cell(lines, max(begin, after), end) for begin, end in pairwise(starts)]
    return Script(
        first.rstrip("."), words.strip(), tuple(cell for cell in cells if cell is not None)
    )


def _cell(lines: list[str], begin: int, end: int) -> Cell | None:
    marked = begin < end and lines[begin].startswith(MARK)
    at = begin + marked
    text = []
    while marked and at < end and lines[at].startswith("#"):
        text.append(lines[at].removeprefix("#").removeprefix(" "))
        at += 1
    code = "\n".join(lines[at:end]).strip("\n")
    if not code and not text:
        return None
    blank = next((n for n in range(at, end) if lines[n]), at)
    return Cell("\n".join(text), code, blank)


def run_script(script: Script, path: Path) -> tuple[list[Shown], float]:
    """What each cell shows, run one after the other in an empty folder, and the CPU seconds."""
    mpl.use("Agg")
    plt.close("all")  # what was open before is none of its pictures
    names: dict[str, Any] = {"__name__": "__main__", "__file__": str(path)}
    shown, begun = [], time.process_time()
    with TemporaryDirectory() as folder, chdir(folder), _modules_beside(path):
        for cell in script.cells:
            printed = io.StringIO()
            # Blank lines in front, so that a traceback names the line of the script.
            code = compile("\n" * cell.line + cell.code, str(path), "exec")
            with redirect_stdout(printed):
                exec(code, names)  # noqa: S102
            shown.append(Shown(printed.getvalue(), _pictures()))
    return shown, time.process_time() - begun


@contextmanager
def _modules_beside(path: Path) -> Iterator[None]:
    """Modules beside a script can be imported, as where Python itself runs it."""
    sys.path.insert(0, str(path.parent))
    try:
        yield
    finally:
        sys.path.remove(str(path.parent))


def _pictures() -> tuple[bytes, ...]:
    pictures = []
    for number in plt.get_fignums():
        held = io.BytesIO()
        plt.figure(number).savefig(held, format="png", dpi=DOTS_AN_INCH, bbox_inches="tight")
        pictures.append(held.getvalue())
    plt.close("all")
    return tuple(pictures)
