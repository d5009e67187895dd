"""Scores that cannot be computed in a subgroup, predicted from the subgroups that can.

The names load on first use, so that listing the completers stays fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from misfeat.completion.named import COMPLETERS, completer_classes

if TYPE_CHECKING:
    from misfeat.completion.base import BaseCompleter as BaseCompleter
    from misfeat.completion.model import SUPPORT as SUPPORT
    from misfeat.completion.model import CompletedScores as CompletedScores
    from misfeat.completion.model import Completer as Completer
    from misfeat.completion.model import ExactScores as ExactScores
    from misfeat.completion.model import Guess as Guess
    from misfeat.completion.model import Known as Known

_HOMES = {
    "BaseCompleter": "misfeat.completion.base",
    "CompletedScores": "misfeat.completion.model",
    "Completer": "misfeat.completion.model",
    "ExactScores": "misfeat.completion.model",
    "Guess": "misfeat.completion.model",
    "Known": "misfeat.completion.model",
    "SUPPORT": "misfeat.completion.model",
}

__all__ = sorted([*_HOMES, *completer_classes()])


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if (known_as := completer_classes().get(name)) is not None:
        return COMPLETERS[known_as]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
