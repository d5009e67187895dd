"""What a site shares: counts by the codebook, exact or rounded; its file; and what it discloses.

The first line of a file is a sealed document (`signed_documents`): the codebook, what is shared,
and the checksum of the counts that follow, compressed. How many these are follows from it, so that
no more is ever unpacked.
"""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.information.count_tables import table_starts
from misfeat.lattice import level, rank
from misfeat.runtime.atomic_files import as_path, write_file
from misfeat.sites import signed_documents as documents
from misfeat.sites.codebook import Codebook, check_site
from misfeat.sites.signed_documents import SHORT
from misfeat.words import joined

if TYPE_CHECKING:
    from misfeat.runtime.arrays import Flags, Integers


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
        return size_shared(self.share, self.recorded)

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


def size_shared(share: str, recorded: Flags) -> int:
    """Features of the sets whose tables are shared."""
    return min(TABLES[share], int(recorded.sum()))


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
    head = documents.sealed(KIND, contents, key)
    whole = head + b"\n" + body
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
        _check_rounded(counts, head, sizes)
    elif not (np.add.reduceat(tables, starts, axis=0) == by_class).all():
        raise ValueError("its tables do not add up to its rows")
    elif size > 1:
        margins(tables, cards, size)  # which must agree
    return replace(head, tables=tables, smaller=tuple(smaller))


def _check_rounded(counts: Integers, head: Summary, sizes: range) -> None:
    """Raise unless rounded tables can be those of the rows that the head describes."""
    if (counts % head.min_cell).any():
        raise ValueError("a count that was not rounded as it says")
    cards, begin, cells = head.cards, 0, 1
    for size in sizes:
        *starts, end = table_starts(level(len(cards), size), cards)
        cells += int(np.diff([*starts, end]).max())  # each went up by less than the multiple
        rows = np.add.reduceat(counts[begin : begin + end], starts, axis=0)
        if (rows > head.by_class + head.min_cell * cells).any():
            raise ValueError("its tables have more rows than it says")
        begin += int(end)


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
    """Exactly what leaves the house, line by line."""
    book = summary.codebook
    classes = ", ".join(
        f"{label}: {count:,}"
        for label, count in zip(book.target.labels, summary.by_class.tolist(), strict=True)
    )
    lacking = [one.column for one in book.features if one.column not in summary.features]
    signed = "by nobody"
    if summary.signed_by is not None:
        signed = f"with the key {summary.signed_by[:SHORT]}…"
    about = "" if summary.exact else "about "
    lines = [
        f"Site {summary.site!r}, signed {signed}; codebook of edition {book.edition}, "
        f"{book.fingerprint[:SHORT]}….",
        f"Rows: {about}{summary.rows:,}, by {book.target.column}: {classes}.",
        f"Features: {joined(list(summary.features), most=len(summary.features))}.",
    ]
    if lacking:
        lines.append(f"Never recorded: {joined(lacking, most=len(lacking))}.")
    counts = summary.tables if summary.exact else np.concatenate(summary.of_sizes())
    held = counts[counts > 0]
    n_sets = len(table_starts(level(len(summary.cards), summary.size), summary.cards)) - 1
    of = {1: "feature", 2: "pair of features", 3: "three features"}[summary.size]
    if not summary.exact and summary.size > 1:
        of += ", and those of smaller sets"
    lines += [
        f"Tables: {n_sets:,}, one for every {of}, with rows by "
        f"combination of values and {book.target.column}: {counts.size:,} counts.",
        "No row, no identifier and no value beyond the categories and bins of the codebook.",
        f"Smallest count: {int(held.min(initial=summary.rows)):,}. Counts of fewer than {FEW} "
        f"rows: {int((held < FEW).sum()):,}; of a single row: {int((held == 1).sum()):,}.",
    ]
    return lines + (_of_exact(summary) if summary.exact else _of_rounded(summary.min_cell))


def _of_exact(summary: Summary) -> list[str]:
    """What could be worked out from counts as they are."""
    target, rows = summary.codebook.target.column, summary.tables.sum(axis=1)
    alone = int((rows == 1).sum())
    certain = int(np.sum((rows > 1) & (summary.tables.max(axis=1) == rows)))
    return [
        "What could be worked out:",
        f"• {alone:,} combinations of values are those of one row. Whoever knows such values of a "
        f"person learns {target}, and from other tables further features.",
        f"• In {certain:,} combinations of values all of several rows have the same {target}: "
        "whoever knows the values learns it.",
        "• Tables overlap, so that sums and differences of counts can be formed, also with those "
        "of another release of the same rows. Counts are exact: nothing was rounded or suppressed.",
    ]


def _of_rounded(n: int) -> list[str]:
    """What could be worked out from counts rounded to multiples."""
    return [
        f"All counts are multiples of {n}, rounded up or down at random; 0 stands for anything "
        f"from 0 to {n - 1} rows, and {n} for anything from 1 to {2 * n - 1}.",
        "What could be worked out:",
        f"• Not that a combination of values is that of one row, nor any count below {n}: larger "
        "tables were fitted to the rounded smaller ones before they were rounded, so that sums and "
        "differences of counts reveal nothing new.",
        "• What is common: shares and associations that hold for many rows.",
        "• Another release of other rows of the same people adds to it; one of the same rows does "
        "not, since they are rounded in the same way every time.",
    ]
