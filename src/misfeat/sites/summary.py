"""What a site shares: counts by the codebook, exact or rounded; its file; and what it discloses.

The first line of a file is a sealed document (`signed_documents`): the codebook, what is shared,
and the checksum of the counts that follow, compressed. How many these are follows from it, so that
no more is ever unpacked.
"""

import hashlib
import zlib
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np

from misfeat.information.count_tables import table_starts
from misfeat.lattice.levels import level, rank
from misfeat.number_formatting import joined
from misfeat.runtime.array_types import Flags, Integers
from misfeat.runtime.file_system import as_path, write_file
from misfeat.sites import signed_documents as documents
from misfeat.sites.codebook import Codebook, check_site
from misfeat.sites.signed_documents import SHORT

TABLES = {"tables2": 2, "tables3": 3}  # What may be shared: tables of all sets of so many features
KIND = "misfeat summary"
LARGEST_FILE, LARGEST_COUNTS = 2**28, 2**29
"""Bytes of a file, and of the counts in it once they are unpacked."""
FEW = 10  # Counts below this are reported as small
MOST_ROWS = 2**52  # Rows of a site; counts stay whole numbers whatever is done with them


@dataclass(frozen=True, eq=False)
class Summary:
    """The counts of one site."""

    site: str
    codebook: Codebook
    """How its columns were coded."""
    share: str
    """What is shared: ``"tables2"`` or ``"tables3"``."""
    recorded: Flags
    """Which features of the codebook the site recorded."""
    by_class: Integers
    tables: Integers
    """The tables of all sets of `size` recorded features, of shape (n_lines, n_classes), laid end
    to end in the order of ranks."""
    smaller: tuple[Integers, ...] = ()
    """Of rounded counts, the tables of smaller sets, from single features on; those of exact ones
    follow from `tables`."""
    min_cell: int = 1
    """Counts are multiples of this."""
    signed_by: str | None = None
    """The public key of whoever signed the file that it was read from."""
    misfeat: str = ""
    """The version that made it."""

    @property
    def exact(self) -> bool:
        """Whether counts are shared as they are."""
        return self.min_cell == 1

    @property
    def rows(self) -> int:
        """How many rows the site counted."""
        return int(self.by_class.sum())

    @property
    def size(self) -> int:
        """Features of the sets whose tables are shared; fewer where fewer were recorded."""
        return min(TABLES[self.share], int(self.recorded.sum()))

    @property
    def features(self) -> tuple[str, ...]:
        """The features that the site recorded."""
        return tuple(compress((one.column for one in self.codebook.features), self.recorded))

    @property
    def cards(self) -> Integers:
        """How many codes each recorded feature has, the one for missing values included."""
        return np.array(self.codebook.cards, dtype=np.int64)[self.recorded]

    def of_sizes(self) -> list[Integers]:
        """The tables of all sets of 1, 2, … recorded features as they were shared."""
        if not self.exact:
            return [*self.smaller, self.tables]
        found = [self.tables]
        for size in range(self.size, 1, -1):
            found.append(margins(found[-1], self.cards, size))
        return found[::-1]


def margins(tables: Integers, cards: Integers, size: int, within: float = 1e-6) -> Integers:
    """The tables of all sets of one feature less; a ValueError where larger ones disagree."""
    subsets = level(len(cards), size)
    starts, ends = (table_starts(level(len(cards), m), cards) for m in (size, size - 1))
    found = np.full((int(ends[-1]), tables.shape[1]), -1, dtype=tables.dtype)
    for number, subset in enumerate(subsets):
        table = tables[starts[number] : starts[number + 1]].reshape(*cards[subset], -1)
        for member in range(size):
            place = int(rank(np.delete(subset, member)[None])[0])
            summed = table.sum(axis=member).reshape(-1, tables.shape[1])
            before = found[ends[place] : ends[place + 1]]
            if (before < 0).all():  # not summed before
                before[:] = summed
            elif (np.abs(before - summed) > within).any():
                raise ValueError("its tables do not agree with each other")
    return found


def write_summary(summary: Summary, file: str | Path, key: Any = None) -> int:
    """Write a summary to a file, signed with the key that the site proposed with.

    Returns how many bytes the file has.
    """
    wide = "<u8" if summary.tables.max(initial=0) >= 2**32 else "<u4"
    held = np.concatenate([*summary.smaller, summary.tables])
    body = zlib.compress(held.astype(wide).tobytes(), 9)
    contents = {
        "site": summary.site,
        "codebook": summary.codebook.as_plain(),
        "share": summary.share,
        "recorded": summary.recorded.tolist(),
        "by_class": summary.by_class.tolist(),
        "min_cell": summary.min_cell,
        "counts": wide,
        "body": hashlib.sha256(body).hexdigest(),
        "misfeat": summary.misfeat,
    }
    whole = documents.sealed(KIND, contents, key) + b"\n" + body
    write_file(as_path(file, "out"), whole)
    return len(whole)


def read_summary(file: str | Path) -> Summary:
    """Read a summary, and check all of it: form, checksums, signature, and that tables agree."""
    place = as_path(file, "summaries")
    head, newline, body = documents.read_within(place, LARGEST_FILE).partition(b"\n")
    if not newline or len(head) > documents.LARGEST_DOCUMENT:
        raise documents.not_whole(str(place), "it is cut off, or no summary")
    held = documents.unsealed(head, KIND, str(place))
    if held.get("body") != hashlib.sha256(body).hexdigest():
        raise documents.not_whole(str(place), "its counts are cut off or changed")
    codebook = Codebook.from_plain(held.get("codebook"), str(place))
    try:
        return _summary(held, codebook, body)
    except (KeyError, TypeError, ValueError, OverflowError, zlib.error) as error:
        raise documents.not_whole(str(place), str(error)[:200]) from error


def _summary(held: dict[str, Any], codebook: Codebook, body: bytes) -> Summary:
    """What a file holds; a ValueError says what is wrong with it."""
    n_classes = len(codebook.target.labels)
    recorded, rows, least = held["recorded"], held["by_class"], held["min_cell"]
    made_by, wide = held["misfeat"], held["counts"]
    plain = isinstance(rows, list) and all(type(n) is int and n >= 0 for n in rows)
    flags = isinstance(recorded, list) and all(type(flag) is bool for flag in recorded)
    for holds, what in (
        (held["share"] in TABLES, "what is shared is not known"),
        (flags and len(recorded) == len(codebook.features), "which features were recorded"),
        (plain and len(rows) == n_classes and sum(rows) <= MOST_ROWS, "rows by class"),
        (flags and plain and any(recorded) and any(rows), "it has no rows, or no feature"),
        (type(least) is int and 0 < least < MOST_ROWS, "the fewest rows of a count"),
        (isinstance(made_by, str) and len(made_by) <= 100, "the version that made it"),
        (wide in ("<u4", "<u8"), "the type of its counts"),
    ):
        if not holds:
            raise ValueError(what)
    head = Summary(
        site=check_site(held["site"]),
        codebook=codebook,
        share=held["share"],
        recorded=np.array(recorded, dtype=bool),
        by_class=np.array(rows, dtype=np.int64),
        tables=np.zeros((0, n_classes), dtype=np.int64),
        min_cell=least,
        signed_by=held.get("signed_by"),
        misfeat=made_by,
    )
    cards, size, by_class = head.cards, head.size, head.by_class
    if (by_class % least).any():
        raise ValueError("a count that was not rounded as it says")
    sizes = range(size if head.exact else 1, size + 1)
    lines = [int(table_starts(level(len(cards), m), cards)[-1]) for m in sizes]
    counts = _unpacked(body, str(wide), sum(lines) * n_classes).reshape(-1, n_classes)
    *smaller, tables = np.split(counts, np.cumsum(lines)[:-1])
    starts = table_starts(level(len(cards), size), cards)[:-1]
    if not head.exact:
        if (counts % least).any():
            raise ValueError("a count that was not rounded as it says")
        begin, cells = 0, 1
        for m in sizes:
            *firsts, end = table_starts(level(len(cards), m), cards)
            cells += int(np.diff([*firsts, end]).max())  # each went up by less than the multiple
            told = np.add.reduceat(counts[begin : begin + end], firsts, axis=0)
            if (told > by_class + least * cells).any():
                raise ValueError("its tables have more rows than it says")
            begin += int(end)
    elif not (np.add.reduceat(tables, starts, axis=0) == by_class).all():
        raise ValueError("its tables do not add up to its rows")
    elif size > 1:
        margins(tables, cards, size)  # which must agree
    return replace(head, tables=tables, smaller=tuple(smaller))


def _unpacked(body: bytes, wide: str, many: int) -> Integers:
    expected = many * int(wide[-1])
    if expected > LARGEST_COUNTS:
        raise ValueError(f"its counts would take {expected:,} bytes")
    unpacking = zlib.decompressobj()
    raw = unpacking.decompress(body, expected + 1)
    if len(raw) != expected or unpacking.unconsumed_tail or unpacking.unused_data:
        raise ValueError("it has more or fewer counts than its codebook says")
    counts = np.frombuffer(raw, dtype=wide)
    if counts.max(initial=0) > MOST_ROWS:
        raise ValueError("a count that is too large")
    return counts.astype(np.int64)


def disclosed(summary: Summary) -> list[str]:
    """Exactly what leaves your site, and what could be worked out from it, line by line."""
    from jinja2 import Template

    book, target, tables = summary.codebook, summary.codebook.target, summary.tables
    counts = tables if summary.exact else np.concatenate(summary.of_sizes())
    rows, held = tables.sum(axis=1), counts[counts > 0]
    kind = {1: "feature", 2: "pair of features", 3: "three features"}[summary.size]
    classes = zip(target.labels, summary.by_class.tolist(), strict=True)
    lacking = [one.column for one in book.features if one.column not in summary.features]
    key = summary.signed_by
    numbers = {
        "n_sets": len(table_starts(level(len(summary.cards), summary.size), summary.cards)) - 1,
        "n_counts": counts.size,
        "least": held.min(initial=summary.rows),
        "n_few": (held < FEW).sum(),
        "n_single": (held == 1).sum(),
        "alone": (rows == 1).sum(),
        "certain": ((rows > 1) & (tables.max(axis=1) == rows)).sum(),
    }
    text = (files("misfeat.sites") / "templates" / "disclosed.txt").read_text(encoding="utf-8")
    lines: str = Template(text, trim_blocks=True, lstrip_blocks=True).render(
        {name: f"{int(number):,}" for name, number in numbers.items()},
        site=repr(summary.site),
        signed="by nobody" if key is None else f"with the key {key[:SHORT]}…",
        edition=book.edition,
        fingerprint=book.fingerprint[:SHORT],
        rows=f"{'' if summary.exact else 'about '}{summary.rows:,}",
        target=target.column,
        classes=", ".join(f"{label}: {count:,}" for label, count in classes),
        features=joined(list(summary.features), most=len(summary.features)),
        lacking=joined(lacking, most=len(lacking)),
        kind=kind if summary.exact or summary.size == 1 else f"{kind}, and those of smaller sets",
        few=FEW,
        n=summary.min_cell,
    )
    return lines.split("\n")
