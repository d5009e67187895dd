"""Files that a stranger might send: random bytes, and whole files with a few bytes changed."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

from misfeat import SubgroupSelector
from misfeat.cli.settings_file import read_config
from tests.fuzz.promises import check_same, check_sets, sets_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_RNG = np.random.default_rng(5)
TABLE = {
    "a": _RNG.integers(0, 3, 40),
    "b": _RNG.normal(size=40).round(3),
    "s": _RNG.choice(["u", "v", "w"], 40),
    "y": _RNG.integers(0, 2, 40),
}
CONFIG = (
    b'table = "t.csv"\ntarget = "y"\nby = ["s"]\nsize = 2\ntop = 3\nseed = 1\nconfidence = 0.8\n'
)


def a_csv() -> bytes:
    """A CSV file of the table."""
    lines = [
        ",".join(TABLE),
        *(",".join(map(str, row)) for row in zip(*TABLE.values(), strict=True)),
    ]
    return "\n".join(lines).encode()


def a_parquet_file() -> bytes:
    """The same as Parquet, with checksums of its pages."""
    out = io.BytesIO()
    pq.write_table(pa.table(TABLE), out, write_page_checksum=True)
    return out.getvalue()


@st.composite
def changed(draw: Any, whole: bytes) -> bytes:
    """A file with some bytes changed, left out, put in, repeated, or its end cut off."""
    held = bytearray(whole)
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, max(len(held) - 1, 0)))
        match draw(st.sampled_from(("change", "cut", "leave out", "put in", "repeat"))):
            case "change" if held:
                held[place] ^= draw(st.integers(1, 255))
            case "cut":
                del held[place:]
            case "leave out":
                del held[place : place + draw(st.integers(1, 20))]
            case "put in":
                held[place:place] = draw(st.binary(min_size=1, max_size=8))
            case "repeat":
                held[place:place] = held[place : place + draw(st.integers(1, 40))]
    return bytes(held)


def contents(whole: bytes) -> st.SearchStrategy[bytes]:
    """What a file of a format may hold instead."""
    return changed(whole) | changed(whole) | st.binary(max_size=200)


def fit_csv(content: bytes, folder: Path) -> None:
    """Fit on a CSV file."""
    _fit(content, folder / "table.csv")


def fit_parquet(content: bytes, folder: Path) -> None:
    """Fit on a Parquet file."""
    _fit(content, folder / "table.parquet")


def _fit(content: bytes, file: Path) -> None:
    file.write_bytes(content)
    check_sets(SubgroupSelector(size=1).fit(str(file), "y"))


def read_settings(content: bytes, folder: Path) -> None:
    """Read the settings of a run."""
    (folder / "run.toml").write_bytes(content)
    read_config(str(folder / "run.toml"))


class Run:
    """A saved run, of which one file at a time is replaced."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        selector = SubgroupSelector("s", size=1).fit(TABLE, "y")
        selector.save(folder)
        self.answers = sets_of(selector)
        files = sorted(file for file in folder.rglob("*") if file.is_file())
        self.held = {file: file.read_bytes() for file in files}

    def load(self, file: Path, content: bytes) -> None:
        """Load it with another content of one of its files: refused, or the same answers."""
        file.write_bytes(content)
        try:
            check_same(self.answers, sets_of(SubgroupSelector.load(self.folder)), "loaded")
        finally:
            file.write_bytes(self.held[file])


def loaders() -> dict[str, tuple[bytes, Callable[[bytes, Path], None]]]:
    """For every format a whole file, and what reads it."""
    return {
        "csv": (a_csv(), fit_csv),
        "parquet": (a_parquet_file(), fit_parquet),
        "settings": (CONFIG, read_settings),
    }
