"""A summary as a file: a line that says what it is, and counts, compressed; all of it checked.

The first line is a sealed document (`sealing`): the codebook, what is shared, and the checksum of
the counts that follow. How many these are follows from it, so that no more is ever unpacked.
"""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import asdict, replace
from math import isclose, isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.exceptions import MisfeatError
from misfeat.information.count_tables import table_starts
from misfeat.lattice import level
from misfeat.machine.paths import as_path, write_file
from misfeat.sites.codebook import Codebook, check_site
from misfeat.sites.ledger import LARGEST_RHO
from misfeat.sites.noise import rho_spent, with_classes
from misfeat.sites.sealing import LARGEST_DOCUMENT, not_whole, read_within, sealed, unsealed
from misfeat.sites.spending import (
    LARGEST_DELTA,
    LARGEST_EPSILON,
    LEAST_DELTA,
    LEAST_EPSILON,
    Noise,
    epsilon_of,
)
from misfeat.sites.summary import TABLES, Summary, agree_in_margins

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

KIND = "misfeat summary"
SCORES = "scores"
"""What older versions could share in place of tables."""
LARGEST_FILE, LARGEST_COUNTS = 2**28, 2**29
"""Bytes of a file, and of the counts in it once they are unpacked."""
MOST_ROWS = 2**52
"""Rows of a site; counts stay whole numbers whatever is done with them."""
MOST_RELEASES = 10**9
TOLERANCE = 1e-6
"""By which share an epsilon may differ from what its noise promises."""


def write_summary(summary: Summary, file: str | Path, key: Any = None) -> int:
    """Write a summary to a file; returns how many bytes it has.

    Parameters
    ----------
    summary : Summary
        What the site shares.
    file : str or Path
        Where to.
    key : Ed25519PrivateKey, default=None
        What signs it: the one that the site proposed with.
    """
    wide = "<u8" if summary.tables.max(initial=0) >= 2**32 else "<u4"
    held = np.concatenate([*summary.smaller, summary.tables])
    if summary.noise is not None:
        wide = "<i8" if np.abs(held).max(initial=0) >= 2**31 else "<i4"
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
    if summary.noise is not None:
        contents["noise"] = noise_as_plain(summary.noise)
        contents["by_class"] = list(summary.noise.classes)
    head = sealed(KIND, contents, key)
    whole = head + b"\n" + body
    write_file(as_path(file, "out"), whole)
    return len(whole)


def read_summary(file: str | Path) -> Summary:
    """Read a summary, and check all of it: form, checksums, signature, and that tables agree.

    Parameters
    ----------
    file : str or Path
        What `write_summary` wrote, or somebody says it did.
    """
    place = as_path(file, "summaries")
    head, newline, body = read_within(place, LARGEST_FILE).partition(b"\n")
    if not newline or len(head) > LARGEST_DOCUMENT:
        raise not_whole(str(place), "it is cut off, or no summary")
    held = unsealed(head, KIND, str(place))
    if held.get("body") != hashlib.sha256(body).hexdigest():
        raise not_whole(str(place), "its counts are cut off or changed")
    if held.get("share") == SCORES:
        raise MisfeatError(
            "{file!r} holds scores alone, and such summaries are no longer read; ask the site to "
            "share tables of pairs, with counts rounded to multiples of 5 or more.",
            file=str(place),
        )
    codebook = Codebook.from_plain(held.get("codebook"), str(place))
    try:
        return _summary(held, codebook, body)
    except (KeyError, TypeError, ValueError, OverflowError, zlib.error) as error:
        raise not_whole(str(place), str(error)[:200]) from error


def _summary(held: dict[str, Any], codebook: Codebook, body: bytes) -> Summary:
    """What a file holds; a ValueError says what is wrong with it."""
    n_classes = len(codebook.target.labels)
    recorded = _flags(held["recorded"], len(codebook.features))
    share = held["share"]
    if share not in TABLES:
        raise ValueError("what is shared is not known")
    with_noise = "noise" in held
    by_class = _counts(held["by_class"], n_classes, least=-MOST_ROWS if with_noise else 0)
    if not recorded.any() or (by_class.sum() == 0 and not with_noise):
        raise ValueError("it has no rows, or no feature")
    min_cell = held["min_cell"]
    if isinstance(min_cell, bool) or not isinstance(min_cell, int) or not 0 < min_cell < MOST_ROWS:
        raise ValueError("the fewest rows that a count tells of")
    if min_cell > 1 and (by_class % min_cell).any():
        raise ValueError("a count that was not rounded as it says")
    made_by = held["misfeat"]
    if not isinstance(made_by, str) or len(made_by) > 100:
        raise ValueError("the version that made it")
    head = Summary(
        site=check_site(held["site"]),
        codebook=codebook,
        share=share,
        recorded=recorded,
        by_class=by_class,
        tables=np.zeros((0, n_classes), dtype=np.int64),
        min_cell=min_cell,
        signed_by=held.get("signed_by"),
        misfeat=made_by,
    )
    if "noise" in held:
        head = _with_noise(head, held["noise"])
    return _with_tables(head, held["counts"], body)


def _with_tables(head: Summary, wide: object, body: bytes) -> Summary:
    """A summary with the tables that a file holds; noisy ones tell of the classes, too."""
    cards, size = head.cards, head.size
    sizes = range(size if head.exact else 1, size + 1)
    lines = [int(table_starts(level(len(cards), m), cards)[-1]) for m in sizes]
    if wide not in (("<u4", "<u8") if head.noise is None else ("<i4", "<i8")):
        raise ValueError("the type of its counts")
    n_classes = len(head.by_class)
    counts = _unpacked(body, str(wide), sum(lines) * n_classes).reshape(-1, n_classes)
    *smaller, tables = np.split(counts, np.cumsum(lines)[:-1])
    if head.exact:
        _check_exact(tables, head.by_class, cards, size)
    elif head.noise is None:
        _check_rounded(counts, head, sizes)
    return with_classes(replace(head, tables=tables, smaller=tuple(smaller)))


def _with_noise(head: Summary, held: Any) -> Summary:
    """A summary with the noise that a file says it has."""
    if head.min_cell > 1:
        raise ValueError("counts that are both rounded and noisy")
    classes = tuple(head.by_class.tolist())
    return replace(head, noise=noise_read(held, classes, len(head.cards), head.size))


def _check_exact(
    tables: NDArray[np.int64], by_class: NDArray[np.int64], cards: NDArray[np.int64], size: int
) -> None:
    """Raise unless exact tables are those of the same rows."""
    starts = table_starts(level(len(cards), size), cards)
    if not (np.add.reduceat(tables, starts[:-1], axis=0) == by_class).all():
        raise ValueError("its tables do not add up to its rows")
    if size > 1 and not agree_in_margins(tables, cards, size):
        raise ValueError("its tables do not agree with each other")


def _check_rounded(counts: NDArray[np.int64], head: Summary, sizes: range) -> None:
    """Raise unless rounded tables can be those of the rows that the head tells of."""
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


def _unpacked(body: bytes, wide: str, many: int) -> NDArray[np.int64]:
    expected = many * int(wide[-1])
    if expected > LARGEST_COUNTS:
        raise ValueError(f"its counts would take {expected:,} bytes")
    unpacking = zlib.decompressobj()
    raw = unpacking.decompress(body, expected + 1)
    if len(raw) != expected or unpacking.unconsumed_tail or unpacking.unused_data:
        raise ValueError("it has more or fewer counts than its codebook says")
    counts = np.frombuffer(raw, dtype=wide)
    if counts.max(initial=0) > MOST_ROWS or counts.min(initial=0) < -MOST_ROWS:
        raise ValueError("a count that is too large")
    return counts.astype(np.int64)


def _flags(held: Any, many: int) -> NDArray[np.bool_]:
    if not isinstance(held, list) or len(held) != many:
        raise ValueError("which features were recorded")
    if not all(isinstance(flag, bool) for flag in held):
        raise ValueError("which features were recorded")
    return np.array(held, dtype=bool)


def _counts(held: Any, many: int, least: int = 0) -> NDArray[np.int64]:
    if not isinstance(held, list) or len(held) != many:
        raise ValueError("rows by class")
    whole = all(isinstance(n, int) and not isinstance(n, bool) and n >= least for n in held)
    if not whole or sum(map(abs, held)) > MOST_ROWS:
        raise ValueError("rows by class")
    return np.array(held, dtype=np.int64)


def noise_as_plain(noise: Noise) -> dict[str, Any]:
    """Plain values for JSON; the classes are told beside them."""
    return {name: value for name, value in asdict(noise).items() if name != "classes"}


def noise_read(
    held: Mapping[str, Any], classes: tuple[int, ...], n_features: int, size: int
) -> Noise:
    """The noise that a file says it has, checked; a ValueError says what is wrong with it.

    `classes` are rows by class as they were told.
    """
    epsilon = _within(held["epsilon"], LEAST_EPSILON, LARGEST_EPSILON, "epsilon")
    delta = _within(held["delta"], LEAST_DELTA, LARGEST_DELTA, "delta")
    rho = _within(held["rho"], 0.0, LARGEST_RHO, "rho")
    all_rho = _within(held["all_rho"], rho * (1.0 - TOLERANCE), LARGEST_RHO, "what was spent")
    scales = _numbers(held["scales"], size + 1, "the scales of its noise")
    releases = held["releases"]
    if type(releases) is not int or not 0 <= releases < MOST_RELEASES:
        raise ValueError("how many releases there were")
    if not isclose(rho_spent(scales, n_features), rho, rel_tol=TOLERANCE):
        raise ValueError("its noise does not spend what it says")
    if not isclose(epsilon_of(rho, delta), epsilon, rel_tol=TOLERANCE):
        raise ValueError("its noise does not promise the epsilon that it says")
    return Noise(epsilon, delta, rho, scales, classes, releases, all_rho)


def _numbers(held: Any, many: int, what: str) -> tuple[float, ...]:
    if not isinstance(held, list) or len(held) != many:
        raise ValueError(what)
    return tuple(_within(one, 1e-6, MOST_ROWS, what) for one in held)


def _within(held: Any, least: float, most: float, what: str) -> float:
    if type(held) not in (int, float) or not isfinite(held) or not least <= held <= most:
        raise ValueError(what)
    return float(held)
