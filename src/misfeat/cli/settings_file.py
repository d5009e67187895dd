"""Settings of a run as a TOML file: read and checked, and written beside a saved run."""

import datetime as dt
import json
import os
import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_type_hints

import tomli_w

from misfeat.cli.run_options import NAMES, PATHS, RunSettings
from misfeat.exceptions import MisfeatError
from misfeat.messages import Setting
from misfeat.reading.addresses import is_address, without_secrets
from misfeat.runtime.file_system import as_path
from misfeat.saving.run_folder import SETTINGS, as_folder, read_parts

IN_FILE = tuple(name for name in NAMES if name != "config")
"""The options that a settings file may hold."""
NOT_KEPT = ("out", "tables", "timings", "json", "quiet")
"""Options that only say how and where answers are shown; they are not saved with a run."""
LARGEST_FILE = 2**20  # bytes of a settings file
WORDS = {str: "a text", int: "an integer", float: "a number", bool: "true or false"}
"""What a plain option takes, for messages."""


def read_config(file: str, asked: bool = True) -> dict[str, Any]:
    """Options by their names with underscores, paths from the folder of the file."""
    # Keys are the options of `misfeat run`, with ``-`` or ``_``. `asked` says whether ``--config``
    # named the file, for messages.
    path = as_path(file, "config")
    config = Setting("config", file) if asked else repr(file)
    try:
        content = tomllib.loads(_content(path, config).decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise MisfeatError(f"{config} is not a TOML file: {error!s}.") from error
    options: dict[str, Any] = {}
    for key, value in content.items():
        name = key.replace("-", "_")
        if name not in IN_FILE:
            keys = [_key(name) for name in IN_FILE]
            near = get_close_matches(_key(key), keys, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]!r}?" if near else f"the options are {', '.join(keys)}."
            raise MisfeatError(
                f"{file!r} has a key {key!r}, which is not an option of misfeat run; {hint}"
            )
        if name in options:
            raise MisfeatError(f"{file!r} says {_key(name)!r} twice; leave one of them out.")
        if words := _expected(name, value):
            shown = _shown(value)
            raise MisfeatError(f"{str(path)!r}: {key} = {shown} must be {words}.", value=shown)
        is_path = name in PATHS and not is_address(value)
        options[name] = str(path.parent / as_path(value, name)) if is_path else value
    return options


def saved_settings(folder: str) -> RunSettings:
    """The settings that a run was saved with; the usual ones where it was saved by other means."""
    path = as_folder(folder)
    known = SETTINGS in read_parts(path, [SETTINGS])
    return RunSettings(**(read_config(str(path / SETTINGS), asked=False) if known else {}))


def _content(file: Path, config: Setting | str) -> bytes:
    """The content of a file, as the last save left it where it is a part of a saved run."""
    try:
        parts = read_parts(file.parent, [file.name]) if file.name == SETTINGS else {}
        if parts:
            return parts[file.name]
        with file.open("rb") as opened:  # it may be a device that never ends
            content = opened.read(LARGEST_FILE + 1)
    except OSError as error:
        raise MisfeatError(f"{config} cannot be read: {error.strerror}.") from error
    if len(content) > LARGEST_FILE:
        raise MisfeatError(
            f"{config} is larger than {LARGEST_FILE:,} bytes, too large for settings."
        )
    return content


def _expected(name: str, value: Any) -> str:
    """What an option takes instead of a value, in words; empty where it takes the value."""
    hint = get_type_hints(RunSettings)[name]
    kind = next((kind for kind in WORDS if hint in (kind, kind | None)), None)
    if name == "size":
        fits = type(value) is int or value == "auto" or (type(value) is str and value.isdecimal())
        return "" if fits else "an integer, or 'auto'"
    if kind is None:
        parts = value if isinstance(value, list) else [value]
        fits = all(type(part) in (str, int, float, dict) for part in parts)
        return "" if fits else "a text, a number, a table, or a list of these"
    fits = type(value) is kind or (kind is float and type(value) is int)
    return "" if fits else WORDS[kind]


def _key(name: str) -> str:
    return name.replace("_", "-")


def _shown(value: Any) -> str:
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    return json.dumps(value, ensure_ascii=False, default=str)


def as_config(run: RunSettings, folder: Path) -> str:
    """The settings of a run as a TOML file that repeats it, paths from the file's folder on."""
    settings: dict[str, Any] = {}
    for name in IN_FILE:
        value = getattr(run, name)
        if name not in NOT_KEPT and value is not None and value not in ([], ()):
            settings[_key(name)] = _relative(folder, value) if name in PATHS else value
    return f"# misfeat run --config run.toml repeats this run.\n{tomli_w.dumps(settings)}"


def _relative(folder: Path, path: str) -> str:
    if is_address(path):
        return without_secrets(path)
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # on another drive
        return str(Path(path).absolute())
