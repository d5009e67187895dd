"""Completers by name, and settings that they take over from a selector.

Importing this imports no completer and nothing heavy: a shell that completes names waits for it.
"""

from importlib import import_module
from typing import Any, Final, Literal

from misfeat.exceptions import MisfeatError
from misfeat.messages import Setting

Inherit = Literal["inherit"]
Confidence = float | Inherit | None
Seed = int | Inherit | None

INHERIT: Final = "inherit"  # the value of a setting that was left to the selector
# What such a setting is where there is no selector, and where every completer is.
DEFAULTS: Final[dict[str, Any]] = {"confidence": 0.9, "device": "auto", "random_state": None}
COMPLETERS = {
    "auto": "misfeat.completion.transfer_completer:AutoCompleter",
    "transfer": "misfeat.completion.transfer_completer:TransferCompleter",
    "interactions": "misfeat.completion.interactions_completer:InteractionsCompleter",
    "knn": "misfeat.completion.nearest_neighbours:KNNCompleter",
    "markov_blanket": "misfeat.completion.markov_blanket:MarkovBlanketCompleter",
    "mlp": "misfeat.completion.neural_completers:MLPCompleter",
    "multiplex": "misfeat.completion.neural_completers:MultiplexCompleter",
    "paper": "misfeat.completion.neural_completers:PaperCompleter",
}


def inherited(name: str, value: Any) -> Any:
    """The value of a setting, or its default where it was left to a selector."""
    return DEFAULTS[name] if isinstance(value, str) and value == INHERIT else value


def confidence_of(completer: object) -> float | None:
    """The target coverage of a completer's intervals; None where it gives certain bounds."""
    confidence: float | None = inherited("confidence", getattr(completer, "confidence", None))
    return confidence


def completer_classes() -> dict[str, str]:
    """The name of every completer by that of its class."""
    return {home.partition(":")[2]: name for name, home in COMPLETERS.items()}


def completer_class(name: str) -> type[Any]:
    """The class of a completer, imported when it is asked for."""
    module, _, kind = COMPLETERS[name].partition(":")
    found: type[Any] = getattr(import_module(module), kind)
    return found


def completer_of(
    wanted: Any,
    *,
    confidence: float | None = DEFAULTS["confidence"],
    device: str = DEFAULTS["device"],
    random_state: int | None = DEFAULTS["random_state"],
) -> Any:
    """A new completer of a name or like an instance; settings replace ``"inherit"``."""
    if isinstance(wanted, str) and wanted in COMPLETERS:
        completer = completer_class(wanted)()
    elif hasattr(wanted, "guess") and not isinstance(wanted, type):  # a BaseCompleter
        from sklearn.base import clone

        completer = clone(wanted)
    else:
        given_one = wanted.__name__ if isinstance(wanted, type) else wanted
        raise MisfeatError(
            f"{Setting('completer', given_one)} is unknown; use an instance of BaseCompleter, or "
            f"one of {', '.join(map(repr, COMPLETERS))}."
        )
    given = {"confidence": confidence, "device": device, "random_state": random_state}
    own = completer.get_params(deep=False)
    left_open = {k for k, v in own.items() if isinstance(v, str) and v == INHERIT}
    return completer.set_params(**{k: v for k, v in given.items() if k in left_open})
