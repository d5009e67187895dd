"""What a person would say of the answers: what only looked telling, and what to measure where."""

from __future__ import annotations

from math import comb, isnan
from typing import TYPE_CHECKING

from misfeat.selection.collecting import WORTH_SAYING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from misfeat.selection.collecting import Worth
    from misfeat.selection.ranking import ScoredSet
    from misfeat.selection.selection import Selection


def mostly_chance(selection: Selection) -> Iterator[str]:
    """Of the sets that look best in a subgroup's own rows, the one that falls furthest."""
    every = comb(len(selection.feature_names), selection.size)
    fallen: list[ScoredSet] = []
    for name in selection.subgroup_names():
        sets = selection.best_sets(k=every, subgroup=name)
        seen = [one for one in sets if one.source == "recorded"]
        if seen:
            fallen.append(max(seen, key=lambda one: one.observed or 0.0))
    furthest = max(fallen, key=lambda one: one.rank or 0, default=None)
    if furthest is not None and furthest.rank != 1 and furthest.score > 0:
        yield _fall(furthest, every)


def _fall(one: ScoredSet, every: int) -> str:
    """One sentence.

    Examples
    --------
    >>> from misfeat.selection.ranking import ScoredSet
    >>> score, seen = (0.01, 0.0, 0.02, 0.1), (0.05, None)
    >>> seen = ScoredSet("site=b", 7, ("age", "sex"), *score, *seen, "recorded", (), "own rows")
    >>> _fall(seen, 28)
    'site=b: by its own rows alone, age and sex would look best, with 50.0 % of all there is to tell. Little of that is expected to hold in the population: 10.0 %, number 7 of 28 sets.'
    """  # noqa: E501
    observed = one.observed or 0.0
    seen = one.share * observed / one.score
    little = "Little" if one.score < observed / 2 else "Not all"
    return (
        f"{one.subgroup}: by its own rows alone, {_listed(one.features)} would look best, with "
        f"{100 * seen:.1f} % of all there is to tell. {little} of that is expected to hold in the "
        f"population: {100 * one.share:.1f} %, number {one.rank} of {every} sets."
    )


def worth_measuring(selection: Selection) -> Iterator[str]:
    """What each subgroup would gain most by recording, as clearly as it is known.

    Gains that are clear have a sentence each, those that are not one for every feature, and all
    that are hardly to be expected one together. Last come pairs that no subgroup recorded together.
    """
    first = [worth for worth in selection.worths() if worth.rank == 1]
    likely = [worth for worth in first if _worth_saying(worth, selection.confidence)]
    for worth in likely:
        if worth.clear:
            yield _rise(worth, selection.cohorts.target, selection.confidence)
    for own in _by_feature([worth for worth in likely if not worth.clear]):
        yield _not_clear(own)
    little = _by_feature([worth for worth in first if worth not in likely])
    if little:
        named = "; ".join(f"{own[0].feature} in {_places(own)}" for own in little)
        yield f"Hardly worth recording, though the best of what was not: {named}."
    for pair, where in dict.fromkeys((one.unsettled, one.settled_by) for one in first):
        if pair:
            yield (
                f"No subgroup recorded {_listed(pair)} together, so nobody knows what they tell "
                f"together; recording both in {where} would settle most."
            )


def _worth_saying(worth: Worth, confidence: float | None) -> bool:
    """Whether a rise is neither next to nothing nor clearly not to be expected."""
    unlikely = confidence is not None and worth.probability <= 1 - confidence
    return worth.gain > WORTH_SAYING * worth.before and not unlikely


def _by_feature(worths: Sequence[Worth]) -> list[list[Worth]]:
    found: dict[str, list[Worth]] = {}
    for worth in worths:
        found.setdefault(worth.feature, []).append(worth)
    return list(found.values())


def _rise(worth: Worth, target: str, confidence: float | None) -> str:
    """One sentence on a gain that is clear.

    Examples
    --------
    >>> from misfeat.selection.collecting import Worth
    >>> worth = Worth(
    ...     "site=b", "mri", 0.02, 0.0, 0.05, 0.93, 0.8, True, 1, 0.1, ("age", "mri"), 0.01, "joint"
    ... )
    >>> _rise(worth, "ill", 0.9)
    'site=b: mri is worth recording. The best set, likely age and mri, is then expected to tell 20 % more about ill than the best recorded one (by 0.020 nats; 90 % interval: nothing to 0.050), and tells more at all with a probability of 93 %.'
    """  # noqa: E501
    interval = "bounds" if confidence is None else f"{confidence * 100:.0f} % interval"
    likely = (
        ""
        if isnan(worth.probability)
        else f", and tells more at all with a probability of {_percent(worth.probability)}"
    )
    more = _percent(_relative(worth)) if worth.before > 0 else "something"
    return (
        f"{worth.subgroup}: {worth.feature} is worth recording. The best set, likely "
        f"{_listed(worth.best_set)}, is then expected to tell {more} more about {target} than the "
        f"best recorded one (by {_nats(worth.gain)} nats; {interval}: {_nats(worth.low)} to "
        f"{_nats(worth.high)}){likely}."
    )


def _not_clear(worths: Sequence[Worth]) -> str:
    """One sentence on a feature whose gain is not clear in some subgroups.

    Examples
    --------
    >>> from misfeat.selection.collecting import Worth
    >>> facts = ("mri", 0.01, 0.0, 0.05, 0.4, 0.3, False, 1, 0.1, ("age", "mri"), 0.01, "joint")
    >>> _not_clear([Worth("site=b", *facts)])
    'Not clear: mri in site=b. Recording it raises the best score with a probability of 40 %, and by 10 % on the mean.'
    """  # noqa: E501
    chances = [worth.probability for worth in worths if not isnan(worth.probability)]
    rises = [_relative(worth) for worth in worths if worth.before > 0]
    likely = f" with a probability of {_span(chances)}, and" if chances else ""
    mean = f"by {_span(rises)} on the mean" if rises else "from nothing"
    return (
        f"Not clear: {worths[0].feature} in {_places(worths)}. Recording it raises the best score"
        f"{likely} {mean}."
    )


def _places(worths: Sequence[Worth]) -> str:
    return _listed([worth.subgroup for worth in worths])


def _relative(worth: Worth) -> float:
    return worth.gain / worth.before


def _percent(share: float) -> str:
    return f"{share * 100:.0f} %"


def _span(shares: Sequence[float]) -> str:
    """The least and the most of some shares.

    Examples
    --------
    >>> _span([0.3, 0.48]), _span([0.301, 0.302])
    ('30 to 48 %', '30 %')
    """
    least, most = _percent(min(shares)), _percent(max(shares))
    return most if least == most else f"{least.removesuffix(' %')} to {most}"


def _nats(rise: float) -> str:
    return f"{rise:.3f}" if round(rise, 3) > 0 else "nothing"


def _listed(names: Sequence[str]) -> str:
    """Names as a person lists them.

    Examples
    --------
    >>> _listed(("a",)), _listed(("a", "b")), _listed(("a", "b", "c"))
    ('a', 'a and b', 'a, b and c')
    """
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
