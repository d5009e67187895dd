"""Ways to predict scores that are here for comparison alone, beside those of misfeat."""

from __future__ import annotations

from typing import Any

from benchmarks.completers.from_scores import AddCompleter, DropCompleter, GainCompleter
from benchmarks.completers.imputing import IterativeCompleter, ModeCompleter
from misfeat.completion import registry

COMPLETERS: dict[str, type[Any]] = {
    "gain": GainCompleter,
    "add": AddCompleter,
    "drop": DropCompleter,
    "mode": ModeCompleter,
    "iterative": IterativeCompleter,
}
"""Those for comparison, by name."""


def completer_names() -> tuple[str, ...]:
    """All names that `completer_of` knows."""
    return (*registry.COMPLETERS, *COMPLETERS)


def completer_of(name: str, **settings: Any) -> Any:
    """A completer of misfeat's or of these by name, with settings as a selector gives them."""
    return registry.completer_of(COMPLETERS[name]() if name in COMPLETERS else name, **settings)
