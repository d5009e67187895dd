"""Completers by name, as users ask for them."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, clone

from misfeat.completion.auto import AutoCompleter
from misfeat.completion.baselines.add import AddCompleter
from misfeat.completion.baselines.drop import DropCompleter
from misfeat.completion.baselines.gain import GainCompleter
from misfeat.completion.baselines.iterative import IterativeCompleter
from misfeat.completion.baselines.knn import KNNCompleter
from misfeat.completion.baselines.markov_blanket import MarkovBlanketCompleter
from misfeat.completion.baselines.mlp import MLPCompleter
from misfeat.completion.baselines.mode import ModeCompleter
from misfeat.completion.interactions import InteractionsCompleter
from misfeat.completion.multiplex import MultiplexCompleter
from misfeat.completion.paper import PaperCompleter
from misfeat.completion.transfer import TransferCompleter
from misfeat.exceptions import MisfeatError

COMPLETERS = {
    "auto": AutoCompleter,
    "transfer": TransferCompleter,
    "interactions": InteractionsCompleter,
    "gain": GainCompleter,
    "add": AddCompleter,
    "drop": DropCompleter,
    "mode": ModeCompleter,
    "knn": KNNCompleter,
    "iterative": IterativeCompleter,
    "markov_blanket": MarkovBlanketCompleter,
    "mlp": MLPCompleter,
    "multiplex": MultiplexCompleter,
    "paper": PaperCompleter,
}
_METHODS = ("reach", "memory_needed", "complete")


def completer_of(wanted: Any, **shared: Any) -> Any:
    """The completer that a name or an instance stands for.

    Parameters
    ----------
    wanted : str or Completer
        A name, or an instance, of which a fresh copy is made.
    **shared
        Settings that a completer takes over where it has them and they were left as they are by
        default, as ``device``.

    Examples
    --------
    >>> completer_of("paper", device="cpu", random_state=1)
    PaperCompleter(device='cpu', random_state=1)
    """
    if isinstance(wanted, str) and wanted in COMPLETERS:
        completer = COMPLETERS[wanted]()
    elif not isinstance(wanted, type) and all(callable(getattr(wanted, m, None)) for m in _METHODS):
        completer = clone(wanted, safe=False)
    else:
        raise MisfeatError(
            f"completer={wanted!r} is unknown; use one of {tuple(COMPLETERS)}, or an instance of a "
            f"completer, with methods {', '.join(_METHODS)}."
        )
    if isinstance(completer, BaseEstimator):
        own, usual = completer.get_params(deep=False), type(completer)().get_params(deep=False)
        untouched = {k: v for k, v in shared.items() if k in own and own[k] == usual[k]}
        completer.set_params(**untouched)
    return completer
