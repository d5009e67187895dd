"""Files with a bit flipped or an end cut off: the right answer, or an error that names the file.

Parquet of both versions, and CSV, plain and packed. A bit of a value that changes another number
into a number cannot be seen where nothing says what was there; in a packed file it must be.
"""

from __future__ import annotations

import gzip
import io
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from misfeat.cohorts import build_cohorts
from tests.attacks.tally import Tally, run_script, without_notes

if TYPE_CHECKING:
    from collections.abc import Callable


def make_table(rows: int = 300) -> pa.Table:
    """A column of each physical type, with gaps."""
    random = np.random.default_rng(8)
    site = random.choice(["north", "south", "west"], rows)
    return pa.table(
        {
            "site": pa.array(site),
            "age": pa.array(random.integers(20, 90, rows), mask=random.random(rows) < 0.1),
            "lab": pa.array(np.round(random.normal(size=rows), 2)),
            "ill": pa.array(random.random(rows) < 0.3),
            "y": pa.array(random.integers(0, 3, rows), pa.int32()),
        }
    )


def _parquet(**options: Any) -> bytes:
    held = io.BytesIO()
    pq.write_table(make_table(), held, **options)
    return held.getvalue()


def _csv() -> bytes:
    held = io.BytesIO()
    make_table().to_pandas().to_csv(held, index=False)
    return held.getvalue()


FILES: dict[str, tuple[str, Callable[[], bytes], bool]] = {
    "parquet": ("parquet", _parquet, False),
    "parquet, version 2": ("parquet", lambda: _parquet(data_page_version="2.0"), False),
    "csv": ("csv", _csv, False),
    "csv.gz": ("csv.gz", lambda: gzip.compress(_csv(), mtime=0), True),
}
"""The ending, the bytes, and whether a changed value must be seen."""


def damaged(content: bytes, random: np.random.Generator) -> tuple[bytes, int]:
    """Content with a bit flipped, or cut off; and where."""
    place = int(random.integers(len(content)))
    if random.random() < 0.15:
        return content[:place], place
    flipped = content[place] ^ (1 << int(random.integers(8)))
    return content[:place] + bytes([flipped]) + content[place + 1 :], place


def answer(path: Path) -> tuple[Any, ...]:
    """What can be compared of an answer."""
    with without_notes():
        cohorts = build_cohorts(path, "y", groups="site")
    return (
        cohorts.names,
        cohorts.features,
        cohorts.codes.tolist(),
        cohorts.target_codes.tolist(),
        cohorts.weights.tolist(),
        cohorts.categories,
    )


def try_file(
    tally: Tally, kind: str, content: bytes, place: int, path: Path, expected: Any
) -> None:
    """Read a damaged file, and count what came of it."""
    case = f"{kind}, byte {place:,}"
    path.write_bytes(content)
    found = tally.answer_to(case, lambda: answer(path))
    if found is None:
        return
    if found == expected:
        tally.well("same answer")
    elif FILES[kind][2]:
        tally.wrongly("changed unseen in spite of a checksum", case)
    else:
        tally.well("changed unseen, no checksum")


def attack(cases: int, seed: int) -> Tally:
    """Damage files of every kind in turn."""
    tally = Tally("parquet_flips", "A damaged file is refused by name, or read as it was.")
    random = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        whole: dict[str, tuple[bytes, Any]] = {}
        for kind, (ending, write, _) in FILES.items():
            path = Path(folder) / f"whole.{ending}"
            path.write_bytes(write())
            whole[kind] = path.read_bytes(), answer(path)
        for number in range(cases):
            kind = list(FILES)[number % len(FILES)]
            content, expected = whole[kind]
            changed, place = damaged(content, random)
            path = Path(folder) / f"damaged.{FILES[kind][0]}"
            try_file(tally, kind, changed, place, path, expected)
    return tally


if __name__ == "__main__":
    sys.exit(run_script(attack, cases=1000))
