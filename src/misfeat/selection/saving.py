"""A fitted selector as a folder: JSON for settings, safetensors for arrays; nothing is unpickled.

``selection.json`` holds everything but arrays, the checksum of ``arrays.safetensors``, and one of
itself, so that a damaged file is noticed whatever happened to it.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.cohorts.model import Cohorts, ColumnReport
from misfeat.cohorts.moments import Moments
from misfeat.completion.named import COMPLETERS
from misfeat.exceptions import DamagedFileError, MisfeatError, listed
from misfeat.information.measures import MutualInformation, SquaredCorrelation
from misfeat.selection.encoding import decoded, encoded
from misfeat.selection.scorebook import ScoreBook

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.selector import SubgroupSelector

    Arrays = dict[str, NDArray[Any]]

FORMAT, VERSION = "misfeat selection", 1
PLAIN_CLASS = "SubgroupSelector"
MANIFEST, ARRAYS = "selection.json", "arrays.safetensors"
REPORT, SETTINGS = "report.html", "run.toml"
"""What the command line writes beside a selection; they go with the one they tell about."""


def save_selector(selector: SubgroupSelector, folder: str | Path) -> None:
    """Write a fitted selector to a folder; an old one is replaced at once or not at all."""
    from safetensors.numpy import save

    arrays: Arrays = {}
    about = _about(selector, arrays)
    packed = save({name: np.ascontiguousarray(array) for name, array in arrays.items()})
    about["arrays"] = hashlib.sha256(packed).hexdigest()
    about["checksum"] = _checksum(about)
    place = Path(folder).expanduser()
    place = place.resolve() if place.is_symlink() else place
    _write_folder(place, {MANIFEST: _as_text(about), ARRAYS: packed})


def load_selector(kind: type[SubgroupSelector], folder: str | Path) -> SubgroupSelector:
    """Read what `save_selector` wrote."""
    from safetensors.numpy import load

    place = Path(folder).expanduser()
    about = _manifest(place)
    try:
        packed = (place / ARRAYS).read_bytes()
    except OSError as error:
        raise MisfeatError(f"{str(place / ARRAYS)!r} cannot be read: {error.strerror}.") from error
    if hashlib.sha256(packed).hexdigest() != about.get("arrays"):
        raise DamagedFileError(f"{str(place / ARRAYS)!r} is damaged; save the selection again.")
    _check_class(kind, about, place)
    try:
        return _restored(kind, about, load(packed))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise DamagedFileError(
            f"{str(place)!r} is no complete selection ({error}); save it again."
        ) from error


def _about(selector: SubgroupSelector, arrays: Arrays) -> dict[str, Any]:
    """Everything but arrays; these are put into a dict of their own."""
    from misfeat.version import __version__

    params = selector.get_params(deep=False)
    params.pop("completer", None)  # a class of one's own may choose it itself
    return {
        "format": FORMAT,
        "version": VERSION,
        "misfeat": __version__,
        "class": type(selector).__qualname__,
        "params": {name: encoded(value, name) for name, value in params.items()},
        "completer": _encoded_completer(selector.completer),
        "fitted_completer": _encoded_completer(selector.completer_),
        "chosen": getattr(selector.completer_, "chosen_", None),
        "backend": selector._backend,
        "n_features_in": selector.n_features_in_,
        "feature_names_in": _names_in(selector),
        "validation": getattr(selector, "validation_", None),
        "cohorts": _packed(selector.cohorts_, "cohorts", arrays),
        "seen": list(selector.cohorts_.seen),
        "moments": _packed_moments(selector, arrays),
        "book": selector._book.packed(arrays),
    }


def _names_in(selector: SubgroupSelector) -> list[str] | None:
    names = getattr(selector, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _packed(data: Cohorts | Moments, name: str, arrays: Arrays) -> dict[str, Any]:
    """The fields of plain data: arrays apart, the rest encoded."""
    rest = {}
    for field in fields(data):
        value = getattr(data, field.name)
        if field.name == "seen":
            continue  # apart, where a misfeat that does not know it passes over it
        if isinstance(value, np.ndarray):
            arrays[f"{name}.{field.name}"] = value
        elif field.name == "columns":
            rest[field.name] = [encoded(asdict(report), "columns") for report in value]
        else:
            rest[field.name] = encoded(value, field.name)
    return rest


def _packed_moments(selector: SubgroupSelector, arrays: Arrays) -> dict[str, Any] | None:
    measure = selector._book.measure
    if isinstance(measure, SquaredCorrelation):
        return _packed(measure.moments, "moments", arrays)
    return None


def _encoded_completer(completer: Any) -> Any:
    """A name, or a completer of ours with its settings."""
    if isinstance(completer, str):
        return completer
    names = [name for name, kind in COMPLETERS.items() if type(completer) is kind]
    if not names:
        raise MisfeatError(
            f"completer={completer!r} cannot be saved; only those that misfeat comes with can."
        )
    params = completer.get_params(deep=False)
    return {"name": names[0], "params": {k: encoded(v, k) for k, v in params.items()}}


def _decoded_completer(saved: Any) -> Any:
    if isinstance(saved, str):
        return saved
    params = {name: decoded(value) for name, value in saved["params"].items()}
    return COMPLETERS[saved["name"]](**params)


def _restored(
    kind: type[SubgroupSelector], about: dict[str, Any], arrays: Arrays
) -> SubgroupSelector:
    params = {name: decoded(value) for name, value in about["params"].items()}
    if "completer" in kind._get_param_names():
        params["completer"] = _decoded_completer(about["completer"])
    selector = kind(**params)
    columns = about["cohorts"].pop("columns")
    cohorts = Cohorts(
        **_unpacked(about["cohorts"], "cohorts", arrays),
        columns=tuple(ColumnReport(**decoded(report)) for report in columns),
    )
    cohorts = replace(cohorts, seen=tuple(about.get("seen", cohorts.names)))
    completer = _decoded_completer(about["fitted_completer"])
    if about["chosen"] is not None:
        completer.chosen_ = about["chosen"]
    measure: Any = MutualInformation(cohorts)
    if about["moments"] is not None:
        measure = SquaredCorrelation(Moments(**_unpacked(about["moments"], "moments", arrays)))
    selector.cohorts_, selector.completer_ = cohorts, completer
    selector._backend = about["backend"]
    selector._book = ScoreBook(
        measure,
        completer,
        budget=selector.budget,
        sampler=selector.sampler,
        n_jobs=selector.n_jobs,
    )
    selector._book.unpack(about["book"], arrays)
    selector.n_features_in_ = about["n_features_in"]
    if about["feature_names_in"] is not None:
        selector.feature_names_in_ = np.array(about["feature_names_in"], dtype=object)
    if about["validation"] is not None:
        selector.validation_ = about["validation"]
    return selector


def _check_class(kind: type[SubgroupSelector], about: dict[str, Any], place: Path) -> None:
    """Refuse to make a selector of another class than the one that was saved."""
    saved_by = about.get("class", PLAIN_CLASS)
    unknown = sorted(set(about.get("params", ())) - set(kind._get_param_names()))
    if saved_by != kind.__qualname__ and (unknown or saved_by != PLAIN_CLASS):
        raise MisfeatError(
            f"{str(place)!r} was saved by the class {saved_by}, not by {kind.__qualname__}; load "
            f"it with {saved_by}.load."
        )
    if unknown:
        raise MisfeatError(
            f"{str(place)!r} was saved with parameters that this {kind.__qualname__} does not have "
            f"({listed(unknown)}), by misfeat {about.get('misfeat')}; load it with that version."
        )


def _unpacked(saved: dict[str, Any], name: str, arrays: Arrays) -> dict[str, Any]:
    found = {field: decoded(value) for field, value in saved.items()}
    prefix = f"{name}."
    own = {key.removeprefix(prefix): a for key, a in arrays.items() if key.startswith(prefix)}
    return {**found, **own}


def _manifest(folder: Path) -> dict[str, Any]:
    file = folder / MANIFEST
    try:
        text = file.read_bytes()
        about = json.loads(text)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise MisfeatError(
            f"There is no selection in {str(folder)!r}: it holds no {MANIFEST}."
        ) from error
    except OSError as error:
        raise MisfeatError(f"{str(file)!r} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise DamagedFileError(f"{str(file)!r} is damaged; save the selection again.") from error
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise MisfeatError(f"{str(file)!r} is no selection of misfeat.")
    version = about.get("version")
    if isinstance(version, int) and version > VERSION:
        raise DamagedFileError(
            f"{str(file)!r} was written by a newer misfeat ({about.get('misfeat')}, format "
            f"{version}); upgrade misfeat to read it."
        )
    if _checksum(about) != about.get("checksum") or _as_text(about) != text:
        raise DamagedFileError(f"{str(file)!r} is damaged; save the selection again.")
    return about


def _as_text(about: dict[str, Any]) -> bytes:
    """The one way to write a manifest, so that no changed byte goes unnoticed."""
    return json.dumps(about, indent=1).encode()


def _checksum(about: dict[str, Any]) -> str:
    rest = {name: value for name, value in about.items() if name != "checksum"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def _write_folder(folder: Path, files: dict[str, bytes]) -> None:
    """Write files into a new folder that takes the place of an old one of the same kind."""
    foreign = foreign_entries(folder)
    if foreign:
        raise MisfeatError(
            f"{str(folder)!r} holds {foreign[0]!r}, which is no part of a selection and would be "
            "lost; give another folder."
        )
    if is_current(folder):
        _write_into(folder, files)
        return
    unfinished = folder.with_name(f".{folder.name}.{os.getpid()}.part")
    replaced = folder.with_name(f".{folder.name}.{os.getpid()}.old")
    try:
        unfinished.mkdir(parents=True)
        for name, content in files.items():
            (unfinished / name).write_bytes(content)
        if folder.exists():
            folder.rename(replaced)
        unfinished.rename(folder)
    except OSError as error:
        raise MisfeatError(f"{str(folder)!r} cannot be written: {error.strerror}.") from error
    finally:
        for left in (unfinished, replaced):
            shutil.rmtree(left, ignore_errors=True)


def is_current(folder: Path) -> bool:
    """Whether a folder is the current one, which a shell would lose if another took its place."""
    try:
        return folder.samefile(Path.cwd())
    except OSError:  # one of them does not exist
        return False


def _write_into(folder: Path, files: dict[str, bytes]) -> None:
    """Replace the files of a selection one by one; checksums tell of one that was left half way."""
    unfinished = {name: folder / f".{name}.{os.getpid()}.part" for name in files}
    try:
        for name, content in files.items():
            unfinished[name].write_bytes(content)
        for told_about in (REPORT, SETTINGS):
            (folder / told_about).unlink(missing_ok=True)
        for name, file in unfinished.items():
            file.replace(folder / name)
    except OSError as error:
        raise MisfeatError(f"{str(folder)!r} cannot be written: {error.strerror}.") from error
    finally:
        for file in unfinished.values():
            file.unlink(missing_ok=True)


def foreign_entries(folder: Path) -> list[str]:
    """What is in the place of a selection, and no part of one."""
    if not folder.exists():
        return []
    if not folder.is_dir():
        raise MisfeatError(f"{str(folder)!r} is a file; give a folder.")
    known = (folder / MANIFEST).exists()
    ours = {MANIFEST, ARRAYS, REPORT, SETTINGS} if known else set()
    return sorted(entry.name for entry in folder.iterdir() if entry.name not in ours)
