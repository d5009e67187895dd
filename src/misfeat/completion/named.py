"""Completers by name, as users ask for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.base import clone

from misfeat.completion.gain import GainCompleter
from misfeat.completion.paper import PaperCompleter
from misfeat.exceptions import MisfeatError

if TYPE_CHECKING:
    from misfeat.completion.model import Completer

COMPLETERS = {"auto": GainCompleter, "gain": GainCompleter, "paper": PaperCompleter}
_METHODS = ("reach", "memory_needed", "complete")


def completer_of(wanted: Any, **shared: Any) -> Completer:
    """The completer that a name or an instance stands for.

    Parameters
    ----------
    wanted : str or Completer
        A name, or an instance, of which a fresh copy is made.
    **shared
        Settings that a named completer takes over where it has them, as ``device``.

    Examples
    --------
    >>> completer_of("paper", device="cpu", random_state=1)
    PaperCompleter(device='cpu', random_state=1)
    """
    if isinstance(wanted, str) and wanted in COMPLETERS:
        completer = COMPLETERS[wanted]()
        known = completer.get_params()
        fresh: Completer = completer.set_params(**{k: v for k, v in shared.items() if k in known})
        return fresh
    if isinstance(wanted, type) or not all(callable(getattr(wanted, m, None)) for m in _METHODS):
        raise MisfeatError(
            f"completer={wanted!r} is unknown; use one of {tuple(COMPLETERS)}, or an instance of a "
            f"completer, with methods {', '.join(_METHODS)}."
        )
    copy: Completer = clone(wanted, safe=False)
    return copy
