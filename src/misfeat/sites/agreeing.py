"""From the proposals of all sites to one codebook, disagreements named."""

from __future__ import annotations

from collections import Counter
from statistics import median
from typing import TYPE_CHECKING, Any

from misfeat.exceptions import MisfeatError, listed
from misfeat.reading.values import canonical
from misfeat.sites.codebook import (
    CATEGORY,
    FLAG,
    MOST_FEATURES,
    MOST_VALUES,
    NUMBER,
    Codebook,
    ColumnCode,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from misfeat.sites.proposing import Proposal, ProposedColumn

MOST_EXACT = 9
"""Numbers with at most so many values are coded value by value."""
MOST_EXACT_CLASSES = 20
"""The same of the target."""
MOST_CATEGORIES = 12
"""Texts that have a code of their own; the most widely used ones where sites propose more."""


def agree(proposals: Sequence[Proposal], edition: int = 1) -> tuple[Codebook, list[str]]:
    """One codebook for all sites.

    Numbers with few values are coded value by value, others by the median of the proposed cut
    points; texts by all that were proposed. A column that sites hold in different ways is left out.

    Parameters
    ----------
    proposals : sequence of Proposal
        One a site.
    edition : int, default=1
        Which edition of the codebook it is.

    Returns
    -------
    codebook : Codebook
        How everybody codes.
    disagreements : list of str
        What sites did not agree on, in words.

    Examples
    --------
    >>> from misfeat.sites.proposing import propose
    >>> same = {"b": [0, 0, 1, 1] * 10, "ill": [False, True] * 20}
    >>> one = propose({"a": [0, 1] * 20, **same}, "ill", "north")
    >>> other = propose({"a": ["x", "y"] * 20, **same}, "ill", "south")
    >>> agree([one, other])[1]
    ["'a' holds numbers at 'north' and texts at 'south'; it is left out"]
    """
    if not proposals:
        raise MisfeatError("There is no proposal; give the file of every site.")
    sites = [proposal.site for proposal in proposals]
    twice = [name for name, many in Counter(sites).items() if many > 1]
    if twice:
        raise MisfeatError(
            "Several proposals are of the site {site!r}; give one of each site.", site=twice[0]
        )
    targets = {proposal.target.column for proposal in proposals}
    if len(targets) > 1:
        raise MisfeatError(
            "The sites propose different targets: {names}.", names=listed(sorted(targets))
        )
    by_site = {proposal.site: proposal.target for proposal in proposals}
    if said := _disagreement(by_site):
        raise MisfeatError("The target {said}.", said=said)
    target = _agreed(list(by_site.values()), MOST_EXACT_CLASSES)
    features, disagreements = [], []
    for column in _columns(proposals, target.column):
        held = {
            proposal.site: one
            for proposal in proposals
            for one in proposal.features
            if one.column == column
        }
        if said := _disagreement(held):
            disagreements.append(f"{said}; it is left out")
            continue
        code = _agreed(list(held.values()), MOST_EXACT)
        if len(code.labels) < 2:
            why = "has one value everywhere, or too few rows to cut it"
            disagreements.append(f"{column!r} {why}; it is left out")
        else:
            features.append(code)
    if not features:
        raise MisfeatError("The sites agree on no feature; compare what their columns hold.")
    if len(features) > MOST_FEATURES:
        raise MisfeatError(
            "The sites propose {n} features, and a codebook holds at most {most}; exclude some.",
            n=len(features),
            most=MOST_FEATURES,
        )
    keys = {proposal.site: proposal.key for proposal in proposals}
    return Codebook(target, tuple(features), keys, edition), disagreements


def _columns(proposals: Sequence[Proposal], target: str) -> list[str]:
    """All features, in the order in which they first come."""
    names = (one.column for proposal in proposals for one in proposal.features)
    return [name for name in dict.fromkeys(names) if name != target]


def _disagreement(by_site: dict[str, ProposedColumn]) -> str:
    """What sites do not agree on, in words; empty where they do."""
    held: dict[str, list[str]] = {}
    for site, one in by_site.items():
        held.setdefault(one.kind, []).append(site)
    if len(held) == 1:
        return ""
    words = {NUMBER: "numbers", CATEGORY: "texts", FLAG: "true and false"}
    column = next(iter(by_site.values())).column
    told = [f"{words[kind]} at {' and '.join(map(repr, sites))}" for kind, sites in held.items()]
    return f"{column!r} holds {' and '.join(told)}"


def _agreed(proposed: list[ProposedColumn], most: int) -> ColumnCode:
    """How a column is coded that all sites hold in the same way."""
    column, kind = proposed[0].column, proposed[0].kind
    if kind == FLAG:
        return ColumnCode(column, FLAG)
    if kind == CATEGORY:
        named = Counter(value for one in proposed for value in one.values)
        widest = sorted(named, key=lambda value: (-named[value], value))[:MOST_CATEGORIES]
        return ColumnCode(column, CATEGORY, values=tuple(sorted(widest)))
    values = sorted({canonical(value) for one in proposed for value in one.values})
    saying = [one for one in proposed if one.values or one.edges]  # others have too few rows
    if saying and all(one.values for one in saying) and len(values) <= most:
        return ColumnCode(column, NUMBER, tuple(values[:-1]), tuple(values), exact=True)
    return ColumnCode(column, NUMBER, _median_edges([one.edges for one in proposed]))


def _median_edges(proposed: list[tuple[Any, ...]]) -> tuple[float, ...]:
    """The median of the first cut points, of the second ones, and so on."""
    proposed = [edges for edges in proposed if edges]
    if not proposed:
        return ()
    many = max(Counter(map(len, proposed)).items(), key=lambda item: (item[1], item[0]))[0]
    alike = [edges for edges in proposed if len(edges) == many]
    found = {canonical(float(median(points))) for points in zip(*alike, strict=True)}
    return tuple(sorted(found))[:MOST_VALUES]
