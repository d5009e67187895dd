"""What a person would say of the answers: what to measure where."""

from __future__ import annotations

from typing import TYPE_CHECKING

from misfeat.selection.collecting import WORTH_SAYING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from misfeat.selection.collecting import Worth
    from misfeat.selection.selection import Selection


def worth_measuring(selection: Selection) -> Iterator[str]:
    """What each subgroup would gain most by recording, then where there is hardly any gain."""
    confidence = selection.confidence
    little: dict[str, list[str]] = {}
    for worth in selection.worths():
        if worth.rank == 1:
            if worth.gain > WORTH_SAYING * worth.before:
                yield _rise(worth, selection.cohorts.target, confidence)
            else:
                little.setdefault(worth.feature, []).append(worth.subgroup)
    if little:
        named = "; ".join(f"{feature} in {', '.join(where)}" for feature, where in little.items())
        yield f"Hardly worth recording, though the best of what was not: {named}."


def _rise(worth: Worth, target: str, confidence: float | None) -> str:
    """One sentence.

    Examples
    --------
    >>> from misfeat.selection.collecting import Worth
    >>> worth = Worth("site=b", "mri", 1, 0.02, 0.0, 0.05, ("age", "mri"), 0.01, "joint", before=0.1)
    >>> _rise(worth, "ill", 0.9)
    'site=b: mri would be most worth recording. The best set, likely age and mri, is then expected to tell 20 % more about ill than the best recorded one (by 0.020 nats; 90 % interval: nothing to 0.050).'
    """  # noqa: E501
    share = f"{worth.gain / worth.before * 100:.0f} %" if worth.before > 0 else "something"
    interval = "bounds" if confidence is None else f"{confidence * 100:.0f} % interval"
    return (
        f"{worth.subgroup}: {worth.feature} would be most worth recording. The best set, likely "
        f"{_listed(worth.best_set)}, is then expected to tell {share} more about {target} than the "
        f"best recorded one (by {_nats(worth.gain)} nats; {interval}: {_nats(worth.low)} to "
        f"{_nats(worth.high)})."
    )


def _nats(rise: float) -> str:
    return f"{rise:.3f}" if round(rise, 3) > 0 else "nothing"


def _listed(names: tuple[str, ...]) -> str:
    """Names as a person lists them.

    Examples
    --------
    >>> _listed(("a",)), _listed(("a", "b")), _listed(("a", "b", "c"))
    ('a', 'a and b', 'a, b and c')
    """
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
