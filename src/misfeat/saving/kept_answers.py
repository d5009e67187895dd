"""Answers that were worked out are kept beside a run, so that nobody waits for them twice.

``answers.json`` is a memory and no part of what was found: where it is not there, damaged, or of
another run or version, questions are answered anew.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import is_dataclass
from functools import cache
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np

from misfeat.answers.enough_features import Enough
from misfeat.answers.features import Worth
from misfeat.answers.performance import Performance
from misfeat.answers.plan import PlanStep
from misfeat.answers.significance import SignificanceTests
from misfeat.answers.stability import Stability
from misfeat.answers.validation import Trust
from misfeat.version import __version__

Question = tuple[Any, ...]  # its name and options
KINDS: dict[str, Any] = {
    "above chance": list[float],
    "contradictions": list[np.ndarray],
    "enough": dict[str, Enough],
    "performance": Performance | None,
    "plan": list[PlanStep],
    "significance": SignificanceTests,
    "stability": Stability,
    "validation": list[Trust],
    "worth": list[Worth],
}
MALFORMED = (LookupError, TypeError, ValueError, AttributeError, RecursionError, zlib.error)


def pack_answers(answers: Mapping[Question, Any], manifest: bytes) -> bytes:
    """The answers to the questions that take long, bound to the manifest of their run."""
    kept = [
        [list(question), _plain(answer)]
        for question, answer in answers.items()
        if question[0] in KINDS
    ]
    text = json.dumps(kept)
    return json.dumps({"belongs_to": _seal(text, manifest), "answers": text}).encode()


def unpack_answers(packed: bytes | None, manifest: bytes) -> dict[Question, Any]:
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
        return _array(*value)
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
    """The types of the fields of a dataclass."""
    return get_type_hints(kind, localns={"Floats": np.ndarray, "Flags": np.ndarray})


def _array(dtype: str, shape: list[int], content: str) -> np.ndarray[Any, Any]:
    kind = np.dtype(dtype)
    if kind.kind not in "bf":
        raise TypeError(f"{dtype} is no type of an answer")
    return np.frombuffer(zlib.decompress(base64.b64decode(content)), kind).reshape(shape).copy()


def _question(plain: Any) -> Any:
    """A question as it was asked: with tuples in place of lists."""
    return tuple(map(_question, plain)) if isinstance(plain, list) else plain
