"""Completers by name, as users ask for them, and settings that they take over from a selector.

Importing this imports no completer and nothing heavy: a shell that completes names waits for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal

from misfeat.exceptions import InPython, MisfeatError, Setting

if TYPE_CHECKING:
    from collections.abc import Iterator


Inherit = Literal["inherit"]
Confidence = float | Inherit | None
Seed = int | Inherit | None

INHERIT: Final = "inherit"
"""The value of a setting that was left to the selector."""
USUAL: Final[dict[str, Any]] = {"confidence": 0.9, "device": "auto", "random_state": None}
"""What such a setting is where there is no selector."""


def resolved(name: str, value: Any) -> Any:
    """The value of a setting, or the usual one where it was left to a selector.

    Examples
    --------
    >>> resolved("confidence", "inherit"), resolved("confidence", 0.5), resolved("confidence", None)
    (0.9, 0.5, None)
    """
    return USUAL[name] if is_inherited(value) else value


def is_inherited(value: object) -> bool:
    """Whether a setting was left to the selector."""
    return isinstance(value, str) and value == INHERIT


def confidence_of(completer: object) -> float | None:
    """The target coverage of a completer's intervals; None where it gives certain bounds.

    A completer of one's own without a ``confidence`` is taken to give certain bounds.

    Examples
    --------
    >>> from misfeat.completion import TransferCompleter, PaperCompleter
    >>> confidence_of(TransferCompleter()), confidence_of(TransferCompleter(confidence=0.5))
    (0.9, 0.5)
    >>> confidence_of(PaperCompleter())
    """
    confidence: float | None = resolved("confidence", getattr(completer, "confidence", None))
    return confidence


HOMES = {
    "auto": "misfeat.completion.auto:AutoCompleter",
    "transfer": "misfeat.completion.transfer:TransferCompleter",
    "interactions": "misfeat.completion.interactions:InteractionsCompleter",
    "knn": "misfeat.completion.baselines.knn:KNNCompleter",
    "markov_blanket": "misfeat.completion.baselines.markov_blanket:MarkovBlanketCompleter",
    "mlp": "misfeat.completion.baselines.mlp:MLPCompleter",
    "multiplex": "misfeat.completion.multiplex:MultiplexCompleter",
    "paper": "misfeat.completion.paper:PaperCompleter",
}
"""The module and the class of every completer. A new one needs its file and a line here."""
_METHODS = ("reach", "memory_needed", "complete")


class _Completers(Mapping[str, type[Any]]):
    """Classes by name; each is imported when it is first read."""

    def __getitem__(self, name: str) -> type[Any]:
        module, _, kind = HOMES[name].partition(":")
        found: type[Any] = getattr(import_module(module), kind)
        return found

    def __contains__(self, name: object) -> bool:
        return name in HOMES

    def __iter__(self) -> Iterator[str]:
        return iter(HOMES)

    def __len__(self) -> int:
        return len(HOMES)


COMPLETERS = _Completers()
"""The class of every completer by its name."""


def completer_names() -> tuple[str, ...]:
    """The names that `completer_of` knows.

    Examples
    --------
    >>> completer_names()[:3]
    ('auto', 'transfer', 'interactions')
    """
    return tuple(HOMES)


def completer_classes() -> dict[str, str]:
    """The name of every completer by that of its class.

    Examples
    --------
    >>> completer_classes()["KNNCompleter"]
    'knn'
    """
    return {home.partition(":")[2]: name for name, home in HOMES.items()}


def completer_of(
    wanted: Any,
    *,
    confidence: float | None = USUAL["confidence"],
    device: str = USUAL["device"],
    random_state: int | None = USUAL["random_state"],
) -> Any:
    """The completer that a name or an instance stands for.

    Of an instance a fresh copy is made. The settings are for completers that left them at
    ``"inherit"``; one that was given its own keeps that.

    Examples
    --------
    >>> completer_of("paper", device="cpu", random_state=1)
    PaperCompleter(device='cpu', random_state=1)
    >>> from misfeat.completion import TransferCompleter
    >>> completer_of(TransferCompleter(confidence=0.9), confidence=0.5).confidence
    0.9
    """
    from sklearn.base import BaseEstimator, clone

    if isinstance(wanted, str) and wanted in COMPLETERS:
        completer = COMPLETERS[wanted]()
    elif not isinstance(wanted, type) and all(callable(getattr(wanted, m, None)) for m in _METHODS):
        completer = clone(wanted, safe=False)
    else:
        raise MisfeatError(
            "{setting} is unknown; use {names}{or_instance}.",
            setting=Setting("completer", wanted.__name__ if isinstance(wanted, type) else wanted),
            names=", ".join(map(repr, completer_names())),
            or_instance=InPython(f", or an instance with methods {', '.join(_METHODS)}"),
        )
    if isinstance(completer, BaseEstimator):
        given = {"confidence": confidence, "device": device, "random_state": random_state}
        own = completer.get_params(deep=False)
        completer.set_params(**{k: v for k, v in given.items() if is_inherited(own.get(k))})
    return completer
