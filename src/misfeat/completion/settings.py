"""Settings that a completer takes over from the selector unless it was given its own."""

from __future__ import annotations

from typing import Any, Final, Literal

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
