"""What a fit left as a folder: JSON for settings, safetensors for arrays; nothing is unpickled.

``selection.json`` holds everything but arrays, the checksum of ``arrays.safetensors``, and one of
itself, so that a damaged file is noticed whatever happened to it.
"""

import base64
import datetime as dt
import hashlib
import json
import math
import os
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from errno import ENOENT
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np

from misfeat.answers.number_of_features import Enough
from misfeat.answers.performance import Performance
from misfeat.answers.recording_gains import Worth
from misfeat.answers.recording_plan import PlanStep
from misfeat.answers.stability import Stability
from misfeat.answers.subgroup_significance import SignificanceTests
from misfeat.answers.validation import Trust
from misfeat.cohorts.cohort_data import Cohorts, ColumnAudit
from misfeat.cohorts.product_sums import ProductSums
from misfeat.completion.registry import completer_class, completer_classes
from misfeat.estimation.score_estimate import Estimate
from misfeat.estimation.shortlist import Shortlist
from misfeat.exceptions import DamagedFileError, MisfeatError
from misfeat.information import measures
from misfeat.information.count_tables import CountTables
from misfeat.messages import Setting
from misfeat.reading.dataframe_libraries import names_held
from misfeat.runtime.array_types import Array
from misfeat.runtime.file_system import real_path, unreadable
from misfeat.saving import run_folder, schema_checks
from misfeat.saving.run_folder import ANSWERS, ARRAYS, MANIFEST, REPORT, SETTINGS
from misfeat.saving.schema_checks import ContradictionError, demand
from misfeat.version import __version__

Arrays = dict[str, Array]
FORMAT, VERSION = "misfeat selection", 6
MALFORMED = (
    *(LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError),
    zlib.error,
)
"""What building on data of another form than expected raises."""
LONGEST_REASON = 200  # Characters of what went wrong that a message repeats


@dataclass(frozen=True, eq=False)
class SavedRun:
    """All that a saved run holds, as plain data; names of `score_arrays` begin with ``book.``."""

    cohorts: Cohorts
    measure: measures.Measure
    estimate: Estimate
    options: Mapping[str, Any]
    scores: Mapping[str, Any]
    score_arrays: Arrays
    validation: str | None = None
    estimator: Mapping[str, Any] | None = None
    shortlist: Shortlist | None = None
    answers: Mapping[tuple[Any, ...], Any] | None = None
    place: tuple[Path, bytes] | None = None  # the folder it was read from, and the manifest there


def write_run(run: SavedRun, folder: str | Path, beside: Mapping[str, bytes] | None = None) -> None:
    """Write what a fit left to a folder; an older run is replaced at once or not at all."""
    # `beside` are further parts of the same whole: a report, and the settings of a run.
    from safetensors.numpy import save

    beside = beside or {}
    unknown = sorted(set(beside) - {REPORT, SETTINGS})
    if unknown:
        why = f"{unknown[0]!r} is no part of a selection; {REPORT} and {SETTINGS} are."
        raise MisfeatError(why)
    arrays = dict(run.score_arrays)
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "misfeat": __version__,
        "asked": {name: encoded(value, name) for name, value in run.options.items()},
        "cohorts": _packed(run.cohorts, "cohorts", arrays),
        "sums": _packed(run.measure.sums, "sums", arrays),
        "tables": _packed(run.measure.tables, "tables", arrays),
        "estimate": {"name": run.estimate.name, "confidence": run.estimate.confidence},
        "completer": encoded_completer(run.estimate.completer),
        "book": dict(run.scores),
        "validation": run.validation,
        "estimator": None if run.estimator is None else dict(run.estimator),
        "shortlist": _packed(run.shortlist, "shortlist", arrays),
    }
    packed = save({name: np.ascontiguousarray(array) for name, array in arrays.items()})
    manifest["arrays"] = hashlib.sha256(packed).hexdigest()
    manifest["checksum"] = _checksum(manifest)
    path = run_folder.as_folder(folder)
    path = real_path(path) if os.path.islink(path) else path  # noqa: PTH114
    run_folder.refuse_foreign(path, repr(str(path)), "a selection")
    text = _as_text(manifest)
    own = {MANIFEST: text, ARRAYS: packed}
    if run.answers:
        own[ANSWERS] = pack_answers(run.answers, text)
    run_folder.write_parts(path, {**own, **beside})


def keep_answers(folder: Path, manifest: bytes, answers: Mapping[tuple[Any, ...], Any]) -> None:
    """Keep answers beside the run that they are about, where its folder can be written."""
    with suppress(MisfeatError):
        run_folder.add_part(folder, ANSWERS, pack_answers(answers, manifest), manifest)


def read_run(folder: str | Path) -> SavedRun:
    """Read what `write_run` wrote, and check all of it."""
    path = run_folder.as_folder(folder)
    manifest, parts = _read(path)
    try:
        run = _unpacked_run(manifest, parts[ARRAYS])
    except ContradictionError as error:
        raise incomplete(path / error.part, error) from error
    except MALFORMED as error:
        raise incomplete(path, error) from error
    answers = unpack_answers(parts.get(ANSWERS), parts[MANIFEST])
    return replace(run, answers=answers, place=(path, parts[MANIFEST]))


def incomplete(file: Path, error: Exception) -> DamagedFileError:
    """The error for a file that does not hold what it should."""
    reason = str(error).partition("\n")[0][:LONGEST_REASON]
    return DamagedFileError(f"{str(file)!r} is no complete selection ({reason}); save it again.")


def _packed(data: Any, name: str, arrays: Arrays) -> dict[str, Any] | None:
    """The fields of a dataclass, if there is any: arrays apart, the rest encoded."""
    if data is None:
        return None
    rest = {}
    for field in fields(data):
        value = getattr(data, field.name)
        if isinstance(value, np.ndarray):
            arrays[f"{name}.{field.name}"] = value
        elif field.name == "columns":
            rest[field.name] = encoded([asdict(audit) for audit in value], field.name)
        else:
            rest[field.name] = encoded(value, field.name)
    return rest


def _unpacked(saved: dict[str, Any], name: str, arrays: Arrays) -> dict[str, Any]:
    values = {key: decoded(value) for key, value in saved.items()}
    prefix = f"{name}."
    own = {key.removeprefix(prefix): a for key, a in arrays.items() if key.startswith(prefix)}
    return {**values, **own}


def _unpacked_run(manifest: dict[str, Any], packed: bytes) -> SavedRun:
    """What a manifest and its arrays hold, each step checked before the next one builds on it."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        arrays: Arrays = load(packed)
    except SafetensorError as error:
        raise ContradictionError(ARRAYS, str(error)) from error
    further = ("sums", "tables", "shortlist")
    kinds = {"cohorts", "book", *(name for name in further if manifest.get(name) is not None)}
    demand({name.partition(".")[0] for name in arrays} <= kinds, "an unknown array", ARRAYS)
    values = _unpacked(manifest["cohorts"], "cohorts", arrays)
    audits = tuple(ColumnAudit(**audit) for audit in values.pop("columns"))
    cohorts = Cohorts(**values, columns=audits)
    schema_checks.check_cohorts(cohorts)
    completer = decoded_completer(manifest["completer"])
    demand(not isinstance(completer, str), "the completer")
    estimate = Estimate(completer=completer, **manifest["estimate"])
    schema_checks.check_estimate(estimate)
    measure: measures.Measure
    if manifest.get("tables") is not None:
        tables = CountTables(**_unpacked(manifest["tables"], "tables", arrays))
        schema_checks.check_tables(tables, cohorts)
        measure = measures.TableInformation(tables, above_chance=estimate.above_chance)
    elif manifest["sums"] is not None:
        sums = ProductSums(**_unpacked(manifest["sums"], "sums", arrays))
        schema_checks.check_sums(sums, cohorts)
        measure = measures.SquaredCorrelation(sums, above_chance=estimate.above_chance)
    else:
        measure = measures.information_of(cohorts, above_chance=estimate.above_chance)
    options = {name: decoded(value) for name, value in manifest["asked"].items()}
    schema_checks.check_options(options, measure.features)
    scores = {name: array for name, array in arrays.items() if name.startswith("book.")}
    schema_checks.check_scores(manifest["book"], scores, measure)
    validation, estimator = manifest["validation"], manifest["estimator"]
    demand(validation is None or isinstance(validation, str), "the validation")
    demand(estimator is None or isinstance(estimator, dict), "the estimator")
    shortlist = None
    if manifest.get("shortlist") is not None:
        shortlist = Shortlist(**_unpacked(manifest["shortlist"], "shortlist", arrays))
        schema_checks.check_shortlist(shortlist, cohorts)
    about = (manifest["book"], scores, validation, estimator, shortlist)
    return SavedRun(cohorts, measure, estimate, options, *about)


def _read(folder: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The manifest, and the parts of one save, with the checksums that they should have."""
    try:
        parts = run_folder.read_parts(folder, [MANIFEST, ARRAYS, ANSWERS])
    except OSError as error:
        raise unreadable(Path(error.filename or folder), error) from error
    if MANIFEST not in parts:
        why = "is a file, not a folder" if folder.exists() else "does not exist"
        raise MisfeatError(
            f"There is no selection in {str(folder)!r}: it "
            f"{f'holds no {MANIFEST}' if folder.is_dir() else why}."
        )
    file, arrays = folder / MANIFEST, folder / ARRAYS
    try:
        manifest = parse_json(parts[MANIFEST])
        sound = isinstance(manifest, dict) and _as_text(manifest) == parts[MANIFEST]
    except (ValueError, RecursionError) as error:
        raise _damaged(file) from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise MisfeatError(f"{str(file)!r} is no selection of misfeat.")
    version = manifest.get("version")
    if version != VERSION:
        raise DamagedFileError(
            f"{str(file)!r} was written by another misfeat "
            f"({str(manifest.get('misfeat'))[:LONGEST_REASON]}, format "
            f"{str(version)[:LONGEST_REASON]}); use that version to read it, or fit and save "
            "again."
        )
    if not sound or _checksum(manifest) != manifest.get("checksum"):
        raise _damaged(file)
    if ARRAYS not in parts:
        raise unreadable(arrays, FileNotFoundError(ENOENT, os.strerror(ENOENT)))
    if hashlib.sha256(parts[ARRAYS]).hexdigest() != manifest.get("arrays"):
        raise _damaged(arrays)
    return manifest, parts


def _damaged(file: Path) -> DamagedFileError:
    return DamagedFileError(f"{str(file)!r} is damaged; save the selection again.")


def _as_text(manifest: dict[str, Any]) -> bytes:
    """The one way to write a manifest, so that no changed byte goes unnoticed."""
    return json.dumps(manifest, indent=1).encode()


def _checksum(manifest: dict[str, Any]) -> str:
    rest = {name: value for name, value in manifest.items() if name != "checksum"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def decoded(value: Any) -> Any:
    """The value that `encoded` was given; a ValueError for anything else."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case list():
            return [decoded(member) for member in value]
        case {"tuple": list(members)}:
            return tuple(decoded(member) for member in members)
        case {"dict": list(pairs)}:
            return {decoded(key): decoded(member) for key, member in pairs}
        case {"float": str(text)}:
            return float(text)
        case {"datetime": str(text)}:
            return dt.datetime.fromisoformat(text)
        case {"date": str(text)}:
            return dt.date.fromisoformat(text)
    raise ValueError(f"{type(value).__name__} is no plain data")


def encoded_completer(completer: Any) -> Any:
    """A completer's name, or a completer of ours with its settings, as JSON can hold it."""
    if isinstance(completer, str):
        return completer
    name = completer_classes().get(type(completer).__name__)
    if name is None or type(completer) is not completer_class(name):
        raise MisfeatError(
            f"{Setting('completer', completer)} cannot be saved; only those that misfeat comes "
            "with can."
        )
    params = completer.get_params(deep=False)
    return {"name": name, "params": {k: encoded(v, k) for k, v in params.items()}}


def decoded_completer(saved: Any) -> Any:
    """What `encoded_completer` was given."""
    if isinstance(saved, str):
        return saved
    params = {name: decoded(value) for name, value in saved["params"].items()}
    return completer_class(saved["name"])(**params)


def parse_json(text: bytes) -> Any:
    """What JSON holds; a ValueError also for what Python alone takes for a number, as NaN."""
    return json.loads(text, parse_constant=int)  # which no such word is


def encoded(value: Any, name: str) -> Any:
    """What JSON can hold for a value, which messages call by a name."""

    def part(member: Any) -> Any:
        return encoded(member, name)

    match value:  # other collections are written as the plain one that is nearest
        case np.generic() | np.ndarray():
            return part(value.tolist())
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else {"float": str(value)}
        case dt.datetime():
            return {"datetime": value.isoformat()}
        case dt.date():
            return {"date": value.isoformat()}
        case list():
            return [part(member) for member in value]
        case tuple():
            return {"tuple": [part(member) for member in value]}
        case Mapping():
            return {"dict": [[part(key), part(member)] for key, member in value.items()]}
        case set() | frozenset():
            return [part(member) for member in sorted(value, key=repr)]
    if (names := names_held(value)) is None:
        raise MisfeatError(
            f"{Setting(name, value)} cannot be saved; only text, numbers, dates, and lists, "
            "tuples and mappings of these can."
        )
    return part(names)


KINDS: dict[str, Any] = {
    "above chance": list[float],
    "contradictions": list[np.ndarray],
    "enough": dict[str, Enough],
    "order of subgroups": list[int],
    "performance": Performance | None,
    "plan": list[PlanStep],
    "significance": SignificanceTests,
    "stability": Stability,
    "validation": list[Trust],
    "worth": list[Worth],
}


def pack_answers(answers: Mapping[tuple[Any, ...], Any], manifest: bytes) -> bytes:
    """The answers to the questions that take long, bound to the manifest of their run."""
    kept = [
        [list(question), _plain(answer)]
        for question, answer in answers.items()
        if question[0] in KINDS
    ]
    text = json.dumps(kept)
    return json.dumps({"belongs_to": _seal(text, manifest), "answers": text}).encode()


def unpack_answers(packed: bytes | None, manifest: bytes) -> dict[tuple[Any, ...], Any]:
    """What `pack_answers` was given; nothing where that cannot be said."""
    if packed is None:
        return {}
    try:
        whole = json.loads(packed)
        if whole["belongs_to"] != _seal(whole["answers"], manifest):
            return {}
        return {
            _question(question): _typed(KINDS[question[0]], answer)
            for question, answer in json.loads(whole["answers"])
        }
    except MALFORMED:
        return {}


def _seal(text: str, manifest: bytes) -> str:
    """Changes with the answers, with the run, and with the version that works them out."""
    whole = b"\0".join([__version__.encode(), manifest, text.encode()])
    return hashlib.sha256(whole).hexdigest()


def _plain(value: Any) -> Any:
    """What JSON can hold; `_typed` reads it by the type that it should have."""
    if is_dataclass(value) and not isinstance(value, type):
        return {name: _plain(member) for name, member in vars(value).items()}
    if isinstance(value, np.ndarray):
        content = base64.b64encode(zlib.compress(np.ascontiguousarray(value).tobytes()))
        return [value.dtype.str, list(value.shape), content.decode()]
    if isinstance(value, dict):
        return [[_plain(key), _plain(member)] for key, member in value.items()]
    if isinstance(value, list | tuple):
        return [_plain(member) for member in value]
    return value.item() if isinstance(value, np.generic) else value


def _typed(kind: Any, value: Any) -> Any:
    """A value of a type, from what `_plain` made of it; a TypeError for anything else."""
    origin, of = get_origin(kind) or kind, get_args(kind)
    if is_dataclass(kind):
        hints = _hints(origin)
        return origin(**{name: _typed(hints[name], value[name]) for name in hints})
    if origin is np.ndarray:
        dtype, shape, content = np.dtype(value[0]), value[1], base64.b64decode(value[2])
        if dtype.kind not in "bf":
            raise TypeError(f"{value[0]} is no type of an answer")
        return np.frombuffer(zlib.decompress(content), dtype).reshape(shape).copy()
    if origin is dict:
        return {_typed(of[0], key): _typed(of[1], member) for key, member in value}
    if origin in (list, tuple):
        return origin(_typed(of[0], member) for member in value)
    if origin is UnionType:
        return None if value is None else _typed(of[0], value)
    allowed = (int, float) if kind is float else (kind,)
    if type(value) not in allowed:
        raise TypeError(f"{value!r} is not of type {kind}")
    return kind(value)


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind, localns={"Floats": np.ndarray, "Flags": np.ndarray})


def _question(plain: Any) -> Any:
    """A question as it was asked: with tuples in place of lists."""
    return tuple(map(_question, plain)) if isinstance(plain, list) else plain
