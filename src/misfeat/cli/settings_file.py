"""Settings of a run as a TOML file: read and checked, and written beside a saved run."""

from __future__ import annotations

import datetime as dt
import json
import os
import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomli_w

from misfeat.cli.options import OPTIONS, RunSettings
from misfeat.exceptions import MisfeatError, Setting
from misfeat.reading.addresses import is_address, without_secrets
from misfeat.runtime.atomic_files import as_path
from misfeat.saving.run_folder import SETTINGS, as_folder, read_parts

if TYPE_CHECKING:
    from misfeat.cli.options import RunOption

IN_FILE = {name: option for name, option in OPTIONS.items() if option.in_file}
"""The options that a settings file may hold."""
LARGEST_FILE = 2**20
"""Bytes of a settings file."""


def read_config(file: str, asked: bool = True) -> dict[str, Any]:
    """Options by their names with underscores, paths from the folder of the file.

    Keys are the options of `misfeat run`, with ``-`` or ``_``. `asked` says whether ``--config``
    named the file, for messages.
    """
    place = as_path(file, "config")
    config = Setting("config", file) if asked else repr(file)
    held = _parsed(_content(place, config), config)
    options: dict[str, Any] = {}
    for key, value in held.items():
        option = _known(key, file)
        if option.name in options:
            raise MisfeatError(f"{file!r} says {option.key!r} twice; leave one of them out.")
        options[option.name] = _checked(option, value, key, place)
    return options


def saved_settings(folder: str) -> RunSettings:
    """The settings that a run was saved with; the usual ones where it was saved by other means."""
    place = as_folder(folder)
    known = SETTINGS in read_parts(place, [SETTINGS])
    return RunSettings(read_config(str(place / SETTINGS), asked=False) if known else {})


def _content(file: Path, config: Setting | str) -> bytes:
    """What a file holds, as the last save left it where it is a part of a saved run."""
    try:
        parts = read_parts(file.parent, [file.name]) if file.name == SETTINGS else {}
        if parts:
            return parts[file.name]
        with file.open("rb") as opened:  # it may be a device that never ends
            content = opened.read(LARGEST_FILE + 1)
    except OSError as error:
        raise MisfeatError(
            "{config} cannot be read: {why}.", config=config, why=error.strerror
        ) from error
    if len(content) > LARGEST_FILE:
        raise MisfeatError(
            "{config} is larger than {limit:,} bytes, too large for settings.",
            config=config,
            limit=LARGEST_FILE,
        )
    return content


def _parsed(content: bytes, config: Setting | str) -> dict[str, Any]:
    try:
        return tomllib.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise MisfeatError(
            "{config} is no TOML file: {why}.", config=config, why=str(error)
        ) from error


def _known(key: str, file: str) -> RunOption:
    name = key.replace("-", "_")
    if name in IN_FILE:
        return IN_FILE[name]
    keys = [option.key for option in IN_FILE.values()]
    near = get_close_matches(key.replace("_", "-"), keys, n=1, cutoff=0.5)
    raise MisfeatError(
        "{file!r} has a key {key!r}, which is no option of misfeat run; {hint}",
        file=file,
        key=key,
        hint=f"did you mean {near[0]!r}?" if near else f"the options are {', '.join(keys)}.",
    )


def _checked(option: RunOption, value: Any, key: str, file: Path) -> Any:
    if not option.form.fits(value):
        raise MisfeatError(
            "{file!r}: {key} = {value} must be {words}.",
            file=str(file),
            key=key,
            value=_shown(value),
            words=option.form.words,
        )
    if not option.form.is_path or is_address(value):
        return value
    return str(file.parent / as_path(value, option.name))


def _shown(value: Any) -> str:
    """A value on one line, for a message."""
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    return json.dumps(value, ensure_ascii=False, default=str)


def as_config(run: RunSettings, folder: Path) -> str:
    """The settings of a run as a TOML file that repeats it, paths from the file's folder on."""
    held: dict[str, Any] = {}
    for name, option in IN_FILE.items():
        value = run[name]
        if option.kept and value is not None and value not in ([], ()):
            held[option.key] = _from(folder, value) if option.form.is_path else value
    return f"# misfeat run --config run.toml repeats this run.\n{tomli_w.dumps(held)}"


def _from(folder: Path, path: str) -> str:
    if is_address(path):
        return without_secrets(path)
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # on another drive
        return str(Path(path).absolute())
