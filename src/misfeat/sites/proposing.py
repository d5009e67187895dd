"""A site's proposal: its columns, what they hold, common values and rounded cut points.

Nothing else leaves the house with it: no counts, no rare value, no value to the last digit.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from math import floor, log10
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.cohorts.coding import NEVER_RECORDED, feature_coder, learned_quantiles, profile_column
from misfeat.cohorts.rules import CohortRules
from misfeat.cohorts.targets import MAX_CLASSES, check_target
from misfeat.exceptions import MisfeatError
from misfeat.reading.coders import Kind
from misfeat.reading.inputs import open_table
from misfeat.reading.values import MISSING_LABEL, canonical
from misfeat.sites.codebook import (
    ANY_OTHER,
    CATEGORY,
    FLAG,
    LONGEST,
    MOST_FEATURES,
    MOST_VALUES,
    NUMBER,
    check_site,
    plain_of,
)
from misfeat.sites.sealing import not_whole, public_key, read_document, sealed, write_document

if TYPE_CHECKING:
    from pathlib import Path

    from misfeat.cohorts.coding import Coding
    from misfeat.cohorts.profiles import Profile
    from misfeat.reading.table import Table

KIND = "misfeat proposal"
LEAST_ROWS = 10
"""A value that fewer rows hold is not named, and so many lie between two cut points."""


@dataclass(frozen=True)
class ProposedColumn:
    """What a site says of one column.

    Attributes
    ----------
    column : str
        Its name.
    kind : {"number", "category", "flag"}
        What it holds.
    edges : tuple of float
        Of numbers: rounded cut points of bins that are about equally full, with at least ten rows.
    values : tuple
        The values that at least ten rows hold, where there are few; of categories, the most
        frequent ones.
    """

    column: str
    kind: str
    edges: tuple[float, ...] = ()
    values: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Proposal:
    """What a site proposes for the codebook.

    Attributes
    ----------
    site : str
        Its name.
    target : ProposedColumn
        The target.
    features : tuple of ProposedColumn
        What it recorded.
    left_out : dict of str to str
        Columns that are no features, and why; told to the site alone.
    key : str or None
        The site's public key, where it signs.
    """

    site: str
    target: ProposedColumn
    features: tuple[ProposedColumn, ...]
    left_out: dict[str, str]
    key: str | None = None

    def write(self, file: str | Path, key: Any = None) -> None:
        """Write the proposal to a file.

        Parameters
        ----------
        file : str or Path
            Where to.
        key : Ed25519PrivateKey, default=None
            What signs it; the codebook will ask for the same one under the site's summary.
        """
        contents = {
            "site": self.site,
            "target": plain_of(self.target),
            "features": [plain_of(one) for one in self.features],
        }
        write_document(file, sealed(KIND, contents, key))


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
                check_target(profile, rules)
                of_target = _proposed(table, profile, rules, most=MAX_CLASSES)
            elif column in exclude:
                left_out[column] = "excluded"
            elif len(column) > LONGEST:
                left_out[column[:LONGEST]] = f"its name has more than {LONGEST} characters"
            else:
                kept = rules.is_kept(column)
                coder, audit = feature_coder(table, profile, rules.bins, rules.coding, kept=kept)
                why = _why_not(profile, rules, audit.treatment if coder is None else "")
                if why:
                    left_out[column] = why
                else:
                    features.append(_proposed(table, profile, rules))
    public = None if key is None else public_key(key)
    return Proposal(check_site(site), of_target, tuple(features), left_out, public)


def read_proposal(file: str | Path) -> Proposal:
    """Read a proposal, and check all of it.

    Parameters
    ----------
    file : str or Path
        What `Proposal.write` wrote.
    """
    held = read_document(file, KIND, "proposals")
    try:
        features = held["features"]
        if not isinstance(features, list) or len(features) > MOST_FEATURES:
            raise ValueError("too many features")
        proposed = tuple(_column(one) for one in features)
        names = [one.column for one in proposed]
        if len(set(names)) < len(names):
            raise ValueError("a column that is there twice")
        site, target = check_site(held["site"]), _column(held["target"])
    except (KeyError, TypeError, ValueError) as error:
        raise not_whole(str(file), f"it holds no proposal ({str(error)[:100]})") from error
    return Proposal(site, target, proposed, {}, held.get("signed_by"))


def rounded(edges: list[float]) -> tuple[float, ...]:
    """Cut points rounded to a power of ten well below their spread, so that none is a row's value.

    Examples
    --------
    >>> rounded([204.0, 231.0, 254.0, 285.0]), rounded([0.13, 0.84, 1.52])
    ((200, 230, 250, 280), (0.1, 0.8, 1.5))
    """
    if len(edges) == 0:
        return ()
    spread = (edges[-1] - edges[0]) or abs(edges[0]) or 1.0
    digits = -floor(log10(spread / 2.0))
    found = {canonical(float(round(edge, digits))) for edge in edges}
    return tuple(sorted(found))


def _why_not(profile: Profile, rules: CohortRules, left_out: str) -> str:
    """Why a column is not proposed; empty where it is."""
    if left_out:
        return left_out
    if profile.missing >= rules.coding.missing_threshold * profile.rows:
        return NEVER_RECORDED
    if profile.kind is Kind.TIME:
        return "a date; make a number of it, such as days since some event"
    return ""


def _proposed(
    table: Table, profile: Profile, rules: CohortRules, most: int | None = None
) -> ProposedColumn:
    """What is said of a column."""
    most = rules.coding.max_categories if most is None else most
    if profile.kind is Kind.FLAG:
        return ProposedColumn(profile.column, FLAG)
    if profile.kind.ordered:
        rule = rules.bins.by_column.get(profile.column, rules.bins.bins)
        if isinstance(rule, tuple):
            return ProposedColumn(profile.column, NUMBER, rule)
        few = profile.distinct <= most and profile.column not in rules.bins.by_column
        values = _common(profile, most) if few else ()
        bins = min(rule, (profile.rows - profile.missing) // LEAST_ROWS)
        edges = learned_quantiles(table, profile, bins) if bins > 1 else ()
        return ProposedColumn(profile.column, NUMBER, rounded(list(edges)), values)
    texts = (str(value) for value in _common(profile, most))
    named = tuple(text for text in texts if _can_be_named(text))
    return ProposedColumn(profile.column, CATEGORY, (), named)


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


def _can_be_named(text: str) -> bool:
    return 0 < len(text) <= LONGEST and text not in (ANY_OTHER, MISSING_LABEL)


def _column(held: Any) -> ProposedColumn:
    """A proposed column from plain values; a ValueError says what is wrong with them."""
    column, kind, edges, values = (held[name] for name in ("column", "kind", "edges", "values"))
    if not isinstance(column, str) or not 0 < len(column) <= LONGEST:
        raise ValueError("the name of a column")
    if not isinstance(edges, list) or not isinstance(values, list):
        raise ValueError(f"no lists of {column[:50]!r}")
    if len(edges) > MOST_VALUES or len(values) > MOST_VALUES:
        raise ValueError(f"too many values of {column[:50]!r}")
    numbers = edges if kind != NUMBER else [*edges, *values]
    if not all(isinstance(n, int | float) and not isinstance(n, bool) for n in numbers):
        raise ValueError(f"a cut point of {column[:50]!r}")
    if kind == CATEGORY and not all(isinstance(v, str) and _can_be_named(v) for v in values):
        raise ValueError(f"a value of {column[:50]!r}")
    if kind not in (NUMBER, CATEGORY, FLAG) or not np.isfinite(np.array(numbers, float)).all():
        raise ValueError(f"the kind of {column[:50]!r}")
    return ProposedColumn(column, kind, tuple(edges), tuple(values))
