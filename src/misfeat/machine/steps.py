"""Finished steps of long work, kept in a folder until all of it is done.

Work that is stopped, by a kill or an interrupt, goes on where it stopped when the same is asked for
again. A step is known by what it was made from: the fingerprint of the table, of the settings and
of the version, and its name. Anything else in the folder is not looked at, and what was cut off or
changed is made anew. Nothing is unpickled.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from uuid import uuid4

import numba
import numpy as np

from misfeat.exceptions import MisfeatError, NotWrittenError, Setting
from misfeat.machine.packing import UnpackableError, packed, unpacked
from misfeat.machine.paths import as_path, real_path
from misfeat.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

Result = TypeVar("Result")

UNFINISHED = ".unfinished"
"""The folder of steps, within the one that was given."""
_NAMES = re.compile(r"[0-9a-f]{48}|\d+-[0-9a-f]{32}")
"""Of finished steps, and of those that are being written."""
DIGEST = 32
"""Bytes of the checksum that a file begins with."""
SAME_BITS = (__version__, np.__version__, numba.__version__, platform.machine())
"""Whoever differs in one of these may compute other bits."""


@contextmanager
def checkpoint(folder: str | Path) -> Iterator[None]:
    """Keep finished steps of a long fit, and of what is asked of it, while a block runs.

    If the process is killed or interrupted, the same block goes on from the last finished step when
    it is run again: the coded table (of files), the scores of every subgroup, predictions, tests
    against chance, validation, draws of rows. The answer is the same as without a stop. Steps of
    another table, other settings or another version are never used. When the block is done, or
    fails with a `MisfeatError`, they are removed, unless it fails because something cannot be
    written. With ``min_cell`` above 1 nothing is kept.

    Parameters
    ----------
    folder : str or Path
        Where to; a folder ``.unfinished`` is made in it.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import misfeat
    >>> from misfeat.datasets import load_heart
    >>> heart = load_heart()
    >>> with TemporaryDirectory() as folder, misfeat.checkpoint(folder):
    ...     selector = misfeat.SubgroupSelector("site", size=2).fit(heart.columns, heart.target)
    """
    kept = _Kept(real_path(as_path(folder, "folder", what="folder")))
    token = _kept.set(kept)
    try:
        yield
    except NotWrittenError as error:  # there is nothing wrong with the work that was done
        raise kept.told(error) from error
    except MisfeatError:
        kept.remove()
        raise
    else:
        kept.remove()
    finally:
        kept.is_open = False
        _kept.reset(token)


def keeps_steps() -> bool:
    """Whether finished steps are kept here and now."""
    return _kept.get() is not None


def remove_left(folder: Path) -> None:
    """Remove what work that was stopped has left in a folder, unless it is being gone on with."""
    kept = _kept.get()
    if kept is None or kept.folder != real_path(folder):
        _remove_steps(folder / UNFINISHED)


def _remove_steps(place: Path) -> None:
    with suppress(OSError):  # it is not there, or is no folder
        if place.is_symlink():
            return
        for entry in list(place.iterdir()):
            if _NAMES.fullmatch(entry.name):
                with suppress(OSError):
                    entry.unlink()
        place.rmdir()


class _Kept:
    """The folder of a checkpoint."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.place = folder, folder / UNFINISHED
        self.is_new = not folder.exists()
        self.is_open = True
        if self.place.is_symlink() or (self.place.exists() and not self.place.is_dir()):
            raise MisfeatError(
                "{place!r} was not made by misfeat; remove it, or use another {folder}.",
                place=str(self.place),
                folder=Setting("folder"),
            )

    def told(self, error: NotWrittenError) -> NotWrittenError:
        """The error, with what is kept in spite of it."""
        if not (self.place.is_dir() and any(self.place.iterdir())):
            return error
        return NotWrittenError(
            "{error}",
            remedy="What was worked out is kept in {place!r}: make room, and do the same again.",
            error=error.message,
            place=str(self.place),
        )

    def remove(self) -> None:
        _remove_steps(self.place)
        if self.is_new:
            with suppress(OSError):  # something is in it
                self.folder.rmdir()


_kept: ContextVar[_Kept | None] = ContextVar("checkpoint", default=None)


@dataclass(frozen=True)
class Form(Generic[Result]):
    """What a step gives, so that it can be read back and checked."""

    kinds: tuple[type, ...] = ()
    fits: Callable[[Result], bool] | None = None
    """Whether something that was read is what the step gives; what it raises is a no."""


class Steps:
    """The finished steps of one piece of work; none are kept outside of `checkpoint`.

    `made_from` is what all results depend on: plain data and arrays. Without any, nothing is kept.
    """

    def __init__(self, *made_from: Any) -> None:
        self._kept = _kept.get() if made_from else None
        self._fingerprint = "" if self._kept is None else fingerprint(*SAME_BITS, *made_from)

    @property
    def are_kept(self) -> bool:
        """Whether steps are kept here and now."""
        return self._kept is not None and self._kept.is_open

    def __reduce__(self) -> tuple[Any, ...]:
        return Steps, ()  # elsewhere, nothing is kept

    def one(
        self, name: str, make: Callable[[], Result], form: Form[Result] | None = None
    ) -> Result:
        """What a step gives, made now or kept from before; see `each`."""
        return self.each([name], lambda _: iter([(0, make())]), form)[0]

    def each(
        self,
        names: Sequence[str],
        make: Callable[[list[int]], Iterator[tuple[int, Result]]],
        form: Form[Result] | None = None,
    ) -> list[Result]:
        """What several steps give, each of them kept as soon as it is done.

        Names tell the steps of one piece of work apart. `make` takes the numbers of the steps that
        are left to do, and gives, step by step, the place in this list and the result; where the
        time is up it may end before all are done. Without a form, steps give values and arrays of
        any kind. The results come in the order of the names.
        """
        form = form or Form()
        found: dict[int, Result] = {}
        if self.are_kept:
            for number, name in enumerate(names):
                with suppress(_NotKeptError):
                    found[number] = self._read(name, form)
        left = [number for number in range(len(names)) if number not in found]
        if left:
            for at, result in make(left):
                found[left[at]] = result
                if self.are_kept:
                    self._write(names[left[at]], result, form)
        return [found[number] for number in sorted(found)]

    def _place(self, name: str) -> Path:
        assert self._kept is not None  # noqa: S101 (asked only where steps are kept)
        return self._kept.place / fingerprint(self._fingerprint, name)[:48]

    def _sum(self, name: str, content: bytes) -> bytes:
        told = f"{self._fingerprint} {name} ".encode()
        return hashlib.sha256(told + hashlib.sha256(content).digest()).digest()

    def _read(self, name: str, form: Form[Result]) -> Result:
        try:
            held = self._place(name).read_bytes()
        except OSError as error:
            raise _NotKeptError from error
        content = held[DIGEST:]
        if held[:DIGEST] != self._sum(name, content):
            raise _NotKeptError
        try:
            found: Result = unpacked(content, form.kinds)
            fits = form.fits is None or form.fits(found)
        except (UnpackableError, *MALFORMED) as error:
            raise _NotKeptError from error
        if not fits:
            raise _NotKeptError
        return found

    def _write(self, name: str, result: Result, form: Form[Result]) -> None:
        """Keep a step; where the disk is full or the result is no plain data, it is not kept."""
        try:
            content = packed(result, form.kinds)
        except UnpackableError:
            return
        place = self._place(name)
        beside = place.with_name(f"{os.getpid()}-{uuid4().hex}")
        with suppress(OSError):
            place.parent.mkdir(parents=True, exist_ok=True)
            try:
                beside.write_bytes(self._sum(name, content) + content)
                beside.replace(place)
            finally:
                beside.unlink(missing_ok=True)


MALFORMED = (ValueError, TypeError, KeyError, AttributeError, IndexError, OverflowError)
"""What checking data of another form than expected raises."""


class _NotKeptError(Exception):
    """A step is not there, or is not what it should be."""


def fingerprint(*parts: Any) -> str:
    """Tells data apart: text, bytes, plain values that JSON can hold, and arrays."""
    found = hashlib.sha256()
    for part in parts:
        if isinstance(part, bytes):
            found.update(hashlib.sha256(part).digest())
        elif isinstance(part, np.ndarray):
            told = f"{part.dtype.str}{part.shape}".encode()
            found.update(hashlib.sha256(told + np.ascontiguousarray(part).tobytes()).digest())
        else:
            told = json.dumps(part, sort_keys=True, default=str).encode()
            found.update(hashlib.sha256(told).digest())
    return found.hexdigest()
