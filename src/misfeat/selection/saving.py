"""What a fit found as a folder: JSON for settings, safetensors for arrays; nothing is unpickled.

``selection.json`` holds everything but arrays, the checksum of ``arrays.safetensors``, and one of
itself, so that a damaged file is noticed whatever happened to it.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass, fields
from errno import ENOENT
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.cohorts.model import Cohorts, ColumnAudit
from misfeat.cohorts.product_sums import ProductSums
from misfeat.estimation.estimates import Estimate
from misfeat.estimation.shortlist import Shortlist
from misfeat.exceptions import DamagedFileError, MisfeatError
from misfeat.information.count_tables import CountTables
from misfeat.information.grids import information_of
from misfeat.information.measures import SquaredCorrelation
from misfeat.information.tabled import TableInformation
from misfeat.runtime.atomic_files import real_path
from misfeat.selection.asked import Asked
from misfeat.selection.checking import (
    ContradictionError,
    check_asked,
    check_book,
    check_cohorts,
    check_estimate,
    check_held,
    check_scores,
    check_shortlist,
    demand,
)
from misfeat.selection.checking_tables import check_sums, check_tables
from misfeat.selection.encoding import decoded, decoded_completer, encoded, encoded_completer
from misfeat.selection.folders import (
    ARRAYS,
    MANIFEST,
    REPORT,
    SETTINGS,
    as_folder,
    read_parts,
    refuse_foreign,
    write_parts,
)
from misfeat.selection.scorebook import ScoreBook
from misfeat.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from misfeat.information.measures import Measure

    Arrays = dict[str, NDArray[Any]]

FORMAT, VERSION = "misfeat selection", 5
MALFORMED = (
    KeyError,
    TypeError,
    ValueError,
    AttributeError,
    IndexError,
    OverflowError,
    RecursionError,
)
"""What building on data of another form than expected raises."""
LONGEST_REASON = 200
"""Characters of what went wrong that a message repeats."""


@dataclass(frozen=True, eq=False)
class Saved:
    """All that a saved selection holds."""

    cohorts: Cohorts
    book: ScoreBook
    asked: Asked
    validation: str | None = None
    estimator: Mapping[str, Any] | None = None
    shortlist: Shortlist | None = None


def write_saved(
    saved: Saved, folder: str | Path, beside: Mapping[str, bytes] | None = None
) -> None:
    """Write what a fit found to a folder; an older one is replaced at once or not at all.

    `beside` are further parts of the same whole: a report, and the settings of a run.
    """
    from safetensors.numpy import save

    beside = beside or {}
    unknown = sorted(set(beside) - {REPORT, SETTINGS})
    if unknown:
        raise MisfeatError(
            "{name!r} is no part of a selection; {report} and {settings} are.",
            name=unknown[0],
            report=REPORT,
            settings=SETTINGS,
        )
    arrays: Arrays = {}
    manifest = _manifest_of(saved, arrays)
    packed = save({name: np.ascontiguousarray(array) for name, array in arrays.items()})
    manifest["arrays"] = hashlib.sha256(packed).hexdigest()
    manifest["checksum"] = _checksum(manifest)
    place = as_folder(folder)
    place = real_path(place) if os.path.islink(place) else place  # noqa: PTH114
    refuse_foreign(place)
    write_parts(place, {MANIFEST: _as_text(manifest), ARRAYS: packed, **beside})


def read_saved(folder: str | Path) -> Saved:
    """Read what `write_saved` wrote, and check all of it."""
    place = as_folder(folder)
    manifest, packed = _read(place)
    try:
        return _restored(manifest, _unpacked_arrays(packed))
    except ContradictionError as error:
        raise incomplete(place / error.part, error) from error
    except MALFORMED as error:
        raise incomplete(place, error) from error


def incomplete(file: Path, error: Exception) -> DamagedFileError:
    """The error for a file that does not hold what it should."""
    return DamagedFileError(
        "{file!r} is no complete selection ({error}); save it again.",
        file=str(file),
        error=str(error).partition("\n")[0][:LONGEST_REASON],
    )


def _manifest_of(saved: Saved, arrays: Arrays) -> dict[str, Any]:
    """Everything but arrays; these are put into a dict of their own."""
    book, measure = saved.book, saved.book.measure
    return {
        "format": FORMAT,
        "version": VERSION,
        "misfeat": __version__,
        "asked": _packed(saved.asked, "asked", arrays),
        "cohorts": _packed(saved.cohorts, "cohorts", arrays),
        "sums": _packed(measure.sums, "sums", arrays),
        "tables": _packed(measure.tables, "tables", arrays),
        "estimate": {"name": book.estimate.name, "confidence": book.estimate.confidence},
        "completer": encoded_completer(book.completer),
        "book": book.packed(arrays),
        "validation": saved.validation,
        "estimator": None if saved.estimator is None else dict(saved.estimator),
        "shortlist": None
        if saved.shortlist is None
        else _packed(saved.shortlist, "shortlist", arrays),
    }


def _restored(manifest: dict[str, Any], arrays: Arrays) -> Saved:
    """What a manifest and its arrays hold, each step checked before the next one builds on it."""
    kinds = {"cohorts", "book"}
    further = ("sums", "tables", "shortlist")
    kinds |= {name for name in further if manifest.get(name) is not None}
    demand({name.partition(".")[0] for name in arrays} <= kinds, "an unknown array", ARRAYS)
    held = _unpacked(manifest["cohorts"], "cohorts", arrays)
    audits = tuple(ColumnAudit(**audit) for audit in held.pop("columns"))
    cohorts = Cohorts(**held, columns=audits)
    check_cohorts(cohorts)
    completer = decoded_completer(manifest["completer"])
    demand(not isinstance(completer, str), "the completer")
    estimate = Estimate(completer=completer, **manifest["estimate"])
    check_estimate(estimate)
    measure: Any
    if manifest.get("tables") is not None:
        tables = CountTables(**_unpacked(manifest["tables"], "tables", arrays))
        check_tables(tables, cohorts)
        measure = TableInformation(tables, above_chance=estimate.above_chance)
    elif manifest["sums"] is None:
        measure = information_of(cohorts, above_chance=estimate.above_chance)
    else:
        sums = ProductSums(**_unpacked(manifest["sums"], "sums", arrays))
        check_sums(sums, cohorts)
        measure = SquaredCorrelation(sums, above_chance=estimate.above_chance)
    asked = Asked(**_unpacked(manifest["asked"], "asked", arrays))
    check_asked(asked, measure.features)
    book = _restored_book(manifest["book"], arrays, measure, estimate)
    validation, estimator = manifest["validation"], manifest["estimator"]
    demand(validation is None or isinstance(validation, str), "the validation")
    demand(estimator is None or isinstance(estimator, dict), "the estimator")
    shortlist = None
    if manifest.get("shortlist") is not None:
        shortlist = Shortlist(**_unpacked(manifest["shortlist"], "shortlist", arrays))
        check_shortlist(shortlist, cohorts)
    return Saved(cohorts, book, asked, validation, estimator, shortlist)


def _restored_book(held: Any, arrays: Arrays, measure: Measure, estimate: Estimate) -> ScoreBook:
    own = {name: array for name, array in arrays.items() if name.startswith("book.")}
    check_held(held, set(own), measure)
    check_scores(own, measure)
    book = ScoreBook.unpacked(held, own, measure, estimate)
    check_book(book)
    return book


def _packed(data: Any, name: str, arrays: Arrays) -> Any:
    """The fields of plain data, if there is any: arrays apart, the rest encoded."""
    if data is None:
        return None
    rest = {}
    for one in fields(data):
        value = getattr(data, one.name)
        if isinstance(value, np.ndarray):
            arrays[f"{name}.{one.name}"] = value
        elif one.name == "columns":
            rest[one.name] = encoded([asdict(audit) for audit in value], one.name)
        else:
            rest[one.name] = encoded(value, one.name)
    return rest


def _unpacked(saved: dict[str, Any], name: str, arrays: Arrays) -> dict[str, Any]:
    found = {key: decoded(value) for key, value in saved.items()}
    prefix = f"{name}."
    own = {key.removeprefix(prefix): a for key, a in arrays.items() if key.startswith(prefix)}
    return {**found, **own}


def _unpacked_arrays(packed: bytes) -> Arrays:
    """Arrays by name; what is no such file is told as a ValueError."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        arrays: Arrays = load(packed)
    except SafetensorError as error:
        raise ContradictionError(ARRAYS, str(error)) from error
    return arrays


def _why_not(folder: Path) -> str:
    if folder.is_dir():
        return f"holds no {MANIFEST}"
    return "is a file, not a folder" if folder.exists() else "does not exist"


def _read(folder: Path) -> tuple[dict[str, Any], bytes]:
    """The manifest and the packed arrays, of one save, with the checksums that they should have."""
    try:
        parts = read_parts(folder, [MANIFEST, ARRAYS])
    except OSError as error:
        raise _unreadable(Path(error.filename or folder), error) from error
    if MANIFEST not in parts:
        raise MisfeatError(
            "There is no selection in {folder!r}: it {why}.",
            folder=str(folder),
            why=_why_not(folder),
        )
    try:
        manifest = _manifest_in(parts[MANIFEST], folder / MANIFEST)
    except (ValueError, RecursionError) as error:
        if isinstance(error, MisfeatError):
            raise
        raise _damaged(folder / MANIFEST) from error
    file = folder / ARRAYS
    if ARRAYS not in parts:
        raise _unreadable(file, FileNotFoundError(ENOENT, os.strerror(ENOENT)))
    if hashlib.sha256(parts[ARRAYS]).hexdigest() != manifest.get("arrays"):
        raise _damaged(file)
    return manifest, parts[ARRAYS]


def _manifest_in(text: bytes, file: Path) -> dict[str, Any]:
    manifest = json.loads(text, parse_constant=_no_number)
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise MisfeatError("{file!r} is no selection of misfeat.", file=str(file))
    version = manifest.get("version")
    if version != VERSION:
        raise DamagedFileError(
            "{file!r} was written by another misfeat ({misfeat}, format {version}); use that "
            "version to read it, or fit and save again.",
            file=str(file),
            misfeat=str(manifest.get("misfeat"))[:LONGEST_REASON],
            version=str(version)[:LONGEST_REASON],
        )
    if _checksum(manifest) != manifest.get("checksum") or _as_text(manifest) != text:
        raise _damaged(file)
    return manifest


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no number")


def _unreadable(file: Path, error: OSError) -> MisfeatError:
    return MisfeatError("{file!r} cannot be read: {why}.", file=str(file), why=error.strerror)


def _damaged(file: Path) -> DamagedFileError:
    return DamagedFileError("{file!r} is damaged; save the selection again.", file=str(file))


def _as_text(manifest: dict[str, Any]) -> bytes:
    """The one way to write a manifest, so that no changed byte goes unnoticed."""
    return json.dumps(manifest, indent=1).encode()


def _checksum(manifest: dict[str, Any]) -> str:
    rest = {name: value for name, value in manifest.items() if name != "checksum"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()
