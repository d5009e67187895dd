"""Scores that cannot be computed in a subgroup, predicted from the subgroups that can.

The names load on first use, so that listing the completers stays fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from misfeat.completion.registry import completer_class, completer_classes

if TYPE_CHECKING:
    from misfeat.completion.base import BaseCompleter as BaseCompleter
    from misfeat.completion.completer_data import SUPPORT as SUPPORT
    from misfeat.completion.completer_data import CompletedScores as CompletedScores
    from misfeat.completion.completer_data import ExactScores as ExactScores
    from misfeat.completion.completer_data import Guess as Guess
    from misfeat.completion.completer_data import Known as Known

_MODEL = ("SUPPORT", "CompletedScores", "ExactScores", "Guess", "Known")
_HOMES = {"BaseCompleter": "base", **dict.fromkeys(_MODEL, "completer_data")}

__all__ = sorted([*_HOMES, *completer_classes()])


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"misfeat.completion.{_HOMES[name]}"), name)
    if (known_as := completer_classes().get(name)) is not None:
        return completer_class(known_as)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
