"""Heat maps without inline styles: a value becomes one of ten shades."""

from __future__ import annotations

N_SHADES = 10


def shade_of(value: float | None, top: float) -> int:
    """The shade of a value between 0 and the top of its scale; 0 is the palest.

    Examples
    --------
    >>> shade_of(0.0, 0.5), shade_of(0.26, 0.5), shade_of(0.5, 0.5), shade_of(None, 0.5)
    (0, 5, 9, 0)
    """
    if value is None or top <= 0:
        return 0
    return min(N_SHADES - 1, max(0, int(N_SHADES * value / top)))
