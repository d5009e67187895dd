"""Settings of a run as a TOML file: read and checked, and written beside a saved run."""

from __future__ import annotations

import datetime as dt
import json
import os
import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import tomli_w

from misfeat.cli import settings
from misfeat.cli.settings import KINDS, RunSettings
from misfeat.exceptions import MisfeatError

PATHS = ("table", "out")
"""Options that name files; in a file they are taken from the folder that the file is in."""
ABOUT_SHOWING = ("out", "json", "quiet")
"""Options that change nothing in the answer, and are not saved with it."""


def read_config(file: str) -> dict[str, Any]:
    """Options by their names with underscores, paths from the folder of the file.

    Parameters
    ----------
    file : str
        A TOML file; its keys are the options of `misfeat run`, with ``-`` or ``_``.
    """
    place = Path(file).expanduser()
    try:
        held = tomllib.loads(place.read_text(encoding="utf-8"))
    except OSError as error:
        raise MisfeatError(f"--config {file!r} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise MisfeatError(f"--config {file!r} is no TOML file: {error}.") from error
    options: dict[str, Any] = {}
    for key, value in held.items():
        name = _known(key, file)
        if name in options:
            raise MisfeatError(f"{file!r} says {_spelled(name)!r} twice; leave one of them out.")
        options[name] = _checked(name, value, key, file)
    for name in PATHS:
        if name in options:
            options[name] = str(place.parent / Path(options[name]).expanduser())
    return options


def _known(key: str, file: str) -> str:
    name = key.replace("-", "_")
    if name in KINDS:
        return name
    names = [_spelled(option) for option in KINDS]
    near = get_close_matches(key.replace("_", "-"), names, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"the options are {', '.join(names)}."
    raise MisfeatError(f"{file!r} has a key {key!r}, which is no option of misfeat run; {hint}")


def _spelled(name: str) -> str:
    return name.replace("_", "-")


def _checked(name: str, value: Any, key: str, file: str) -> Any:
    kind = KINDS[name]
    if not _fits(kind, value):
        raise MisfeatError(f"{file!r}: {key} = {_shown(value)} must be {kind}.")
    return value


def _shown(value: Any) -> str:
    """A value on one line, for a message."""
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    return json.dumps(value, ensure_ascii=False, default=str)


def _fits(kind: str, value: Any) -> bool:
    whole = isinstance(value, int) and not isinstance(value, bool)
    number = whole or isinstance(value, float)
    parts = value if isinstance(value, list) else [value]
    match kind:
        case settings.TEXT:
            return isinstance(value, str)
        case settings.WHOLE:
            return whole
        case settings.NUMBER:
            return number
        case settings.FLAG:
            return isinstance(value, bool)
        case settings.TEXTS:
            return all(isinstance(part, str) for part in parts)
        case settings.GROUPS:
            return all(isinstance(part, str | dict) for part in parts)
        case settings.BINS:
            return whole or isinstance(value, dict) or _fits(settings.TEXTS, value)
        case settings.CODES:
            return isinstance(value, dict) or all(
                isinstance(part, str | int | float) and not isinstance(part, bool) for part in parts
            )
        case settings.COSTS:
            return _fits(settings.TEXTS, value) or _holds_only(value, int | float)
        case _:
            return _fits(settings.TEXTS, value) or _holds_only(value, list)


def _holds_only(value: Any, kind: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(part, kind) and not isinstance(part, bool) for part in value.values()
    )


def as_config(run: RunSettings, folder: Path) -> str:
    """The settings of a run as a TOML file that repeats it, paths from the file's folder on."""
    held: dict[str, Any] = {}
    for name in KINDS:
        value = getattr(run, name)
        if name in ABOUT_SHOWING or value is None or value in ([], ()):
            continue
        held[_spelled(name)] = _from(folder, value) if name in PATHS else value
    return f"# misfeat run --config run.toml repeats this run.\n{tomli_w.dumps(held)}"


def as_title(title: str) -> str:
    """The settings of a run that came from no file: only what its report is called.

    Examples
    --------
    >>> print(as_title("Four clinics").splitlines()[-1])
    title = "Four clinics"
    """
    return f"# misfeat report reads this.\n{tomli_w.dumps({'title': title})}"


def _from(folder: Path, path: str) -> str:
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # on another drive
        return str(Path(path).absolute())
