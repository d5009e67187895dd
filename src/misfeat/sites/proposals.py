"""Proposals: how each site could code its columns, and one codebook made of all of them.

Nothing leaves a site with its proposal but its columns, what they hold, common values and rounded
cut points: no counts, no rare value, no value to the last digit.
"""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from math import floor, log10
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.cohorts.build import CohortRules
from misfeat.cohorts.coding import (
    MAX_CLASSES,
    NEVER_RECORDED,
    check_target,
    feature_coder,
    learned_quantiles,
)
from misfeat.cohorts.column_profiles import profile_column
from misfeat.exceptions import MisfeatError, listed
from misfeat.reading.coders import Kind
from misfeat.reading.inputs import open_table
from misfeat.reading.values import MISSING_LABEL, canonical
from misfeat.sites import signed_documents as documents
from misfeat.sites.codebook import (
    ANY_OTHER,
    CATEGORY,
    FLAG,
    LONGEST,
    MOST_FEATURES,
    MOST_VALUES,
    NUMBER,
    Codebook,
    ColumnCode,
    check_site,
    column_of,
    listed_within,
    plain_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from misfeat.cohorts.coding import Coding
    from misfeat.cohorts.column_profiles import Profile
    from misfeat.reading.inputs import Table


KIND = "misfeat proposal"
LEAST_ROWS = 10  # A value that fewer rows hold is not named, and so many lie between two cut points
MOST_EXACT = 9  # Numbers with at most so many values are coded value by value
MOST_EXACT_CLASSES = 20  # The same of the target
MOST_CATEGORIES = 12
"""Texts that have a code of their own; the most widely used ones where sites propose more."""


@dataclass(frozen=True)
class Proposal:
    """What a site proposes for the codebook."""

    site: str
    target: ColumnCode
    features: tuple[ColumnCode, ...]
    """What it recorded: rounded cut points of bins, and values that at least ten rows hold."""
    left_out: dict[str, str]
    """Columns that are no features, and why; told to the site alone."""
    key: str | None = None
    """The site's public key, where it signs."""

    def write(self, file: str | Path, key: Any = None) -> None:
        """Write the proposal to a file, signed where there is a key.

        The codebook will ask for the same key under the site's summary.
        """
        contents = {
            "site": self.site,
            "target": plain_of(self.target),
            "features": [plain_of(one) for one in self.features],
        }
        documents.write_document(file, documents.sealed(KIND, contents, key))


def propose(
    X: Any,
    y: str,
    site: str,
    *,
    coding: Coding | None = None,
    exclude: tuple[str, ...] = (),
    key: Any = None,
) -> Proposal:
    """What a site proposes for the codebook.

    Parameters
    ----------
    X : dataframe, lazy frame, relation, mapping of columns, or path
        The site's table.
    y : str
        The target, a column of it.
    site : str
        The site's name.
    coding : Coding, default=None
        How its columns are read and binned.
    exclude : tuple of str, default=()
        Columns that are no features.
    key : Ed25519PrivateKey, default=None
        What the site signs with.

    Examples
    --------
    >>> ages = list(range(30, 80)) * 2
    >>> table = {"age": ages, "sex": ["f", "m"] * 50, "ill": [False, True] * 50}
    >>> found = propose(table, "ill", "north")
    >>> [(one.column, one.edges or one.values) for one in found.features]
    [('age', (40, 50, 60, 70)), ('sex', ('f', 'm'))]
    """
    rules = CohortRules.parse(None, coding)
    table, target = open_table(X, y, rules.codes)
    features, left_out = [], {}
    with closing(table):
        n_rows = table.n_rows()
        for column in table.names:
            profile = profile_column(table, column, rules.codes, n_rows, rules.way(column))
            if column == target:
                check_target(profile, rules.bins, rules.coding.target)
                of_target = _proposed(table, profile, rules, most=MAX_CLASSES)
            elif why := "excluded" if column in exclude else _why_not(table, profile, rules):
                left_out[column[:LONGEST]] = why
            else:
                features.append(_proposed(table, profile, rules))
    public = None if key is None else documents.public_key(key)
    return Proposal(check_site(site), of_target, tuple(features), left_out, public)


def read_proposal(file: str | Path) -> Proposal:
    """Read a proposal that `Proposal.write` wrote, and check all of it."""
    held = documents.read_document(file, KIND, "proposals")
    try:
        features = listed_within(held["features"], MOST_FEATURES)
        target, *proposed = [column_of(one, proposed=True) for one in (held["target"], *features)]
        if len({one.column for one in proposed}) < len(proposed):
            raise ValueError("a column that is there twice")
        site = check_site(held["site"])
    except (KeyError, TypeError, ValueError) as error:
        raise documents.not_whole(
            str(file), f"it holds no proposal ({str(error)[:100]})"
        ) from error
    return Proposal(site, target, tuple(proposed), {}, held.get("signed_by"))


def _why_not(table: Table, profile: Profile, rules: CohortRules) -> str:
    """Why a column cannot be a feature; empty where it can."""
    if len(profile.column) > LONGEST:
        return f"its name has more than {LONGEST} characters"
    kept = rules.is_kept(profile.column)
    coder, audit = feature_coder(table, profile, rules.bins, rules.coding, kept=kept)
    if coder is None:
        return audit.treatment
    if profile.missing >= rules.coding.missing_threshold * profile.rows:
        return NEVER_RECORDED
    is_date = profile.kind is Kind.TIME
    return "a date; make a number of it, such as days since some event" if is_date else ""


def rounded(edges: list[float]) -> tuple[float, ...]:
    """Cut points rounded well below their spread, so that none is the value of a row."""
    if not edges:
        return ()
    spread = (edges[-1] - edges[0]) or abs(edges[0]) or 1.0
    digits = -floor(log10(spread / 2.0))
    return tuple(sorted({canonical(float(round(edge, digits))) for edge in edges}))


def _proposed(
    table: Table, profile: Profile, rules: CohortRules, most: int | None = None
) -> ColumnCode:
    """What is said of a column."""
    most = rules.coding.max_categories if most is None else most
    if profile.kind is Kind.FLAG:
        return ColumnCode(profile.column, FLAG)
    if profile.kind.ordered:
        rule = rules.bins.by_column.get(profile.column, rules.bins.bins)
        if isinstance(rule, tuple):
            return ColumnCode(profile.column, NUMBER, rule)
        few = profile.distinct <= most and profile.column not in rules.bins.by_column
        values = _common(profile, most) if few else ()
        bins = min(rule, (profile.rows - profile.missing) // LEAST_ROWS)
        edges = learned_quantiles(table, profile, bins) if bins > 1 else ()
        return ColumnCode(profile.column, NUMBER, rounded(list(edges)), values)
    texts = [str(value) for value in _common(profile, most)]
    reserved = (ANY_OTHER, MISSING_LABEL)
    named = tuple(text for text in texts if 0 < len(text) <= LONGEST and text not in reserved)
    return ColumnCode(profile.column, CATEGORY, (), named)


def _common(profile: Profile, most: int) -> tuple[Any, ...]:
    """The most frequent values, in their own order, none that few rows hold."""
    counts = profile.counts
    if counts is None:
        raise MisfeatError(
            "Column {column!r} has too many different values to propose any; exclude it, or group "
            "its values first.",
            column=profile.column,
        )
    order = np.argsort(-counts.counts, kind="stable")[:most]
    held = [p for p in np.sort(order) if counts.counts[p] >= LEAST_ROWS]
    return tuple(canonical(counts.values[p]) for p in held)


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
    >>> from misfeat.sites.proposals import propose
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
            f"Several proposals are of the site {twice[0]!r}; give one of each site."
        )
    targets = {proposal.target.column for proposal in proposals}
    if len(targets) > 1:
        raise MisfeatError(f"The sites propose different targets: {listed(sorted(targets))}.")
    by_site = {proposal.site: proposal.target for proposal in proposals}
    if said := _disagreement(by_site):
        raise MisfeatError(f"The target {said}.")
    target = _agreed(list(by_site.values()), MOST_EXACT_CLASSES)
    features, disagreements = [], []
    by_column: dict[str, dict[str, ColumnCode]] = {}
    for proposal in proposals:
        for one in proposal.features:
            if one.column != target.column:
                by_column.setdefault(one.column, {})[proposal.site] = one
    for column, held in by_column.items():
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
            f"The sites propose {len(features)} features, and a codebook holds at most "
            f"{MOST_FEATURES}; exclude some."
        )
    keys = {proposal.site: proposal.key for proposal in proposals}
    return Codebook(target, tuple(features), keys, edition), disagreements


def _disagreement(by_site: dict[str, ColumnCode]) -> str:
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


def _agreed(proposed: list[ColumnCode], most: int) -> ColumnCode:
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
    cut = [one.edges for one in proposed if one.edges]
    if not cut:
        return ColumnCode(column, NUMBER)
    # The median of the first cut points, of the second ones, and so on.
    many = max(Counter(map(len, cut)).items(), key=lambda item: (item[1], item[0]))[0]
    alike = [edges for edges in cut if len(edges) == many]
    medians = {canonical(float(median(points))) for points in zip(*alike, strict=True)}
    return ColumnCode(column, NUMBER, tuple(sorted(medians))[:MOST_VALUES])
