"""Files that a stranger might send: random bytes, and whole files with a few bytes changed."""

import gzip
import io
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given
from hypothesis import strategies as st

from misfeat import SubgroupSelector
from misfeat.answers.top_sets import ScoredSet
from misfeat.cli.settings_file import read_config
from tests.attacks.tally import Tally
from tests.fuzz.cases import a_case
from tests.fuzz.promises import check_same, check_sets, sets_of

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


def _fit(file: Path, content: bytes) -> list[ScoredSet]:
    file.write_bytes(content)
    return check_sets(SubgroupSelector(size=1).fit(str(file), "y"))


def _read_settings(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    read_config(str(file))


def _load(file: Path, answers: list[ScoredSet], whole: bytes, content: bytes) -> None:
    """Load a run with another content of one of its files: refused, or the same answers."""
    file.write_bytes(content)
    try:
        check_same(answers, sets_of(SubgroupSelector.load(file.parent)), "loaded")
    finally:
        file.write_bytes(whole)


def _fit_packed(file: Path, answers: list[ScoredSet], content: bytes) -> None:
    """Fit on a packed file, whose checksum shows every changed value: refused, or the same."""
    check_same(answers, _fit(file, content), "packed")


def loaders(folder: Path) -> dict[str, tuple[bytes, Callable[[bytes], object]]]:
    """For every format, and every file of a saved run, a whole file, and what reads it."""
    selector = SubgroupSelector("s", size=1).fit(TABLE, "y")
    selector.save(folder / "run")
    packed = gzip.compress(a_csv(), mtime=0)
    answers = _fit(folder / "table.csv.gz", packed)
    found: dict[str, tuple[bytes, Callable[[bytes], object]]] = {
        "csv": (a_csv(), partial(_fit, folder / "table.csv")),
        "packed csv": (packed, partial(_fit_packed, folder / "table.csv.gz", answers)),
        "parquet": (a_parquet_file(), partial(_fit, folder / "table.parquet")),
        "settings": (CONFIG, partial(_read_settings, folder / "run.toml")),
    }
    for file in sorted((folder / "run").iterdir()):
        whole = file.read_bytes()
        found[file.name] = whole, partial(_load, file, sets_of(selector), whole)
    return found


def drawn_loading(
    name: str, whole: bytes, load: Callable[[bytes], object], tally: Tally | None = None
) -> Callable[[], None]:
    """A test of Hypothesis: whatever a file holds, it is read or refused."""

    @given(content=contents(whole))
    def tried(content: bytes) -> None:
        with a_case(f"load {name}", tally, repr(content)):
            load(content)

    return tried
