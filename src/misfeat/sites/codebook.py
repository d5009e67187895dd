"""The codebook: how every site codes every column, agreed on before anything is counted.

Each site proposes how to code its columns, and one codebook is made of all proposals. Nothing
leaves a site with its proposal but its columns, what they hold, common values and rounded cut
points: no counts, no rare value, no value to the last digit.
"""

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from math import floor, log10
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from misfeat.cohorts import column_coding, target_coding
from misfeat.cohorts.cohort_building import CohortRules
from misfeat.cohorts.column_coding import Coding, feature_coder, interval_labels
from misfeat.cohorts.column_profiles import Profile, profile_column
from misfeat.exceptions import MisfeatError
from misfeat.messages import listed, shortened
from misfeat.reading.coders import Kind
from misfeat.reading.inputs import Table, open_table
from misfeat.reading.values import MISSING_LABEL, canonical, label
from misfeat.sites import signed_documents as documents

KIND, PROPOSAL = "misfeat codebook", "misfeat proposal"
NUMBER, CATEGORY, FLAG = "number", "category", "flag"
KINDS = (NUMBER, CATEGORY, FLAG)  # Numbers in an order, texts, or true and false
ANY_OTHER = "any other"  # The category of values that a codebook does not name
MOST_FEATURES, MOST_VALUES, MOST_CLASSES, LONGEST = 200, 30, 30, 500
"""A codebook holds at most so many features, values of each, and classes; and texts are so long."""
LEAST_ROWS = 10  # A value that fewer rows hold is not named, and so many lie between two cut points
MOST_EXACT = 9  # Numbers with at most so many values are coded value by value
MOST_EXACT_CLASSES = 20  # The same of the target
MOST_CATEGORIES = 12  # Texts that have a code of their own; the most widely used ones
LARGEST = float(2**63)  # Numbers that edges and values stay below


@dataclass(frozen=True)
class ColumnCode:
    """How one column is coded.

    Examples
    --------
    >>> ColumnCode("age", "number", edges=(40, 65)).labels
    ('<=40', '(40, 65]', '>65')
    >>> ColumnCode("sex", "category", values=("f", "m")).labels
    ('f', 'm', 'any other')
    """

    column: str
    kind: str
    """``"number"``, ``"category"`` or ``"flag"``."""
    edges: tuple[float, ...] = ()
    """Of numbers: ascending; a value equal to an edge belongs to the bin below it."""
    values: tuple[Any, ...] = ()
    """Of categories: the texts that have a code of their own."""
    exact: bool = False
    """Of numbers: whether edges are the values themselves, but for the last one of `values`."""

    @property
    def labels(self) -> tuple[str, ...]:
        """What the codes mean, the one for missing values left out."""
        if self.kind == NUMBER:
            return tuple(map(label, self.values)) if self.exact else interval_labels(self.edges)
        if self.kind == FLAG:
            return ("False", "True")
        return (*self.values, ANY_OTHER)

    @property
    def n_codes(self) -> int:
        """How many codes there are, the one for missing values included."""
        return len(self.labels) + 1


@dataclass(frozen=True)
class Codebook:
    """How all columns are coded, and which sites take part.

    Examples
    --------
    >>> book = Codebook(ColumnCode("ill", "flag"), (ColumnCode("age", "number", edges=(40,)),), {})
    >>> len(book.fingerprint)
    64
    """

    target: ColumnCode
    features: tuple[ColumnCode, ...]
    sites: Mapping[str, str | None] = field(default_factory=dict)
    """The sites that agreed, and their public keys; None for a site that does not sign."""
    edition: int = 1
    """Which edition it is, where a study agrees anew."""
    signed_by: str | None = None
    """The public key of whoever signed it."""

    @property
    def fingerprint(self) -> str:
        """The checksum of what was agreed, by which everybody sees that theirs is the same."""
        return hashlib.sha256(documents.as_text(self.as_plain())).hexdigest()

    @property
    def cards(self) -> list[int]:
        """How many codes each feature has, the one for missing values included."""
        return [feature.n_codes for feature in self.features]

    @property
    def labels(self) -> list[tuple[str, ...]]:
        """What the codes of each feature mean, the last being missing values."""
        return [(*feature.labels, MISSING_LABEL) for feature in self.features]

    def as_plain(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "edition": self.edition,
            "target": asdict(self.target),
            "features": [asdict(feature) for feature in self.features],
            "sites": dict(self.sites),
        }

    @classmethod
    def from_plain(cls, held: Any, file: str) -> "Codebook":
        """The codebook of plain values that a stranger may have written, all of them checked."""
        try:
            features = tuple(map(column_of, listed_within(held["features"], MOST_FEATURES)))
            sites = {
                _text(name): None if key is None else _text(key)
                for name, key in dict(held["sites"]).items()
            }
            target, edition = column_of(held["target"]), held["edition"]
            if type(edition) is not int or not 0 < edition < 2**31:
                raise ValueError("the edition")
        except (KeyError, TypeError, ValueError) as error:
            raise documents.not_whole(file, f"it holds no codebook ({str(error)[:100]})") from error
        names = [target.column, *(feature.column for feature in features)]
        if len(set(names)) < len(names) or len(target.labels) > MOST_CLASSES:
            why = "its codebook names a column twice, or has too many classes"
            raise documents.not_whole(file, why)
        return cls(target, features, sites, edition)

    def write(self, file: str | Path, key: Any = None) -> None:
        """Write the codebook to a file, signed where there is a key."""
        documents.write_document(file, KIND, self.as_plain(), key)


def read_codebook(file: str | Path) -> Codebook:
    """Read a codebook that `Codebook.write` wrote, and check all of it."""
    held = documents.read_document(file, KIND, "codebook")
    return replace(Codebook.from_plain(held, str(file)), signed_by=held.get("signed_by"))


def check_site(name: object) -> str:
    """The name of a site, checked."""
    if (
        not isinstance(name, str)
        or not 0 < len(name) <= LONGEST
        or not name.isprintable()
        or name != unicodedata.normalize("NFC", name.strip())
    ):
        raise MisfeatError(
            f"The site has the name {shortened(name)}; give it a short text, such as 'cleveland'."
        )
    return name


def column_of(held: Any, *, proposed: bool = False) -> ColumnCode:
    """A column's code from plain values; a ValueError says what is wrong with them."""
    # A proposal may name values of numbers beside the edges of bins.
    column, kind, exact = _text(held["column"]), held["kind"], held.get("exact", False)
    edges = tuple(map(_number, listed_within(held["edges"], MOST_VALUES)))
    values = tuple(map(_text if kind == CATEGORY else _number, listed_within(held["values"])))
    sound = kind in KINDS and isinstance(exact, bool) and all(a < b for a, b in pairwise(edges))
    if kind == NUMBER and exact:
        sound &= bool(values) and values[:-1] == edges and values[-1:] > edges[-1:]
    elif kind == NUMBER:
        sound &= proposed or not values
    else:
        sound &= not edges and not exact and (kind == CATEGORY or not values)
        sound &= len(set(values)) == len(values) and not {ANY_OTHER, MISSING_LABEL} & set(values)
    if not sound:
        raise ValueError(f"the coding of {column[:50]!r}")
    return ColumnCode(column, kind, edges, values, exact)


def listed_within(held: Any, most: int = MOST_VALUES) -> list[Any]:
    """A list that is not too long; a ValueError for anything else."""
    if not isinstance(held, list) or len(held) > most:
        raise ValueError(f"no list of at most {most}")
    return held


def _text(held: Any) -> str:
    if not isinstance(held, str) or not 0 < len(held) <= LONGEST:
        raise ValueError("a text that is none, or too long")
    return held


def _number(held: Any) -> float:
    if isinstance(held, bool) or not isinstance(held, int | float) or not abs(held) < LARGEST:
        raise ValueError("a number that is none, or too large")
    return held


@dataclass(frozen=True)
class Proposal:
    """What a site proposes for the codebook."""

    site: str
    target: ColumnCode
    features: tuple[ColumnCode, ...]
    """What it recorded: rounded cut points of bins, and values that at least ten rows hold."""
    left_out: dict[str, str]
    """Columns that are not features, and why; shown to the site alone."""
    key: str | None = None
    """The site's public key, where it signs."""

    def write(self, file: str | Path, key: Any = None) -> None:
        """Write the proposal to a file, signed where there is a key.

        The codebook will ask for the same key under the site's summary.
        """
        target, *features = [asdict(one) for one in (self.target, *self.features)]
        contents = {"site": self.site, "target": target, "features": features}
        documents.write_document(file, PROPOSAL, contents, key)


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
    table, target = open_table(X, y, rules.codes, rules.ways)
    features, left_out = [], {}
    with closing(table):
        n_rows = table.n_rows()
        for column in table.names:
            profile = profile_column(table, column, rules.codes, n_rows, rules.way(column))
            if column == target:
                target_coding.check_target(profile, rules.bins, rules.coding.target)
                of_target = _proposed(table, profile, rules, most=target_coding.MAX_CLASSES)
            elif why := "excluded" if column in exclude else _why_not(table, profile, rules):
                left_out[column[:LONGEST]] = why
            else:
                features.append(_proposed(table, profile, rules))
    public = None if key is None else documents.public_key(key)
    return Proposal(check_site(site), of_target, tuple(features), left_out, public)


def read_proposal(file: str | Path) -> Proposal:
    """Read a proposal that `Proposal.write` wrote, and check all of it."""
    held = documents.read_document(file, PROPOSAL, "proposals")
    try:
        features = listed_within(held["features"], MOST_FEATURES)
        target, *proposed = [column_of(one, proposed=True) for one in (held["target"], *features)]
        if len({one.column for one in proposed}) < len(proposed):
            raise ValueError("a column that is there twice")
        site = check_site(held["site"])
    except (KeyError, TypeError, ValueError) as error:
        why = f"it holds no proposal ({str(error)[:100]})"
        raise documents.not_whole(str(file), why) from error
    return Proposal(site, target, tuple(proposed), {}, held.get("signed_by"))


def _why_not(table: Table, profile: Profile, rules: CohortRules) -> str:
    """Why a column cannot be a feature; empty where it can."""
    if len(profile.column) > LONGEST:
        return f"its name has more than {LONGEST} characters"
    coder, audit = feature_coder(table, profile, rules)
    if coder is None or audit.treatment in column_coding.UNREAD:
        return audit.treatment
    if profile.missing >= rules.coding.missing_threshold * profile.rows:
        return column_coding.NEVER_RECORDED
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
    most = column_coding.most_categories(rules.coding, 0, 1) if most is None else most
    if profile.kind is Kind.FLAG:
        return ColumnCode(profile.column, FLAG)
    if profile.kind.ordered:
        rule = rules.bins.by_column.get(profile.column, rules.bins.bins)
        if isinstance(rule, tuple):
            return ColumnCode(profile.column, NUMBER, rule)
        few = profile.distinct <= most and profile.column not in rules.bins.by_column
        values = _common(profile, most) if few else ()
        bins = min(rule, (profile.rows - profile.missing) // LEAST_ROWS)
        edges = column_coding.learned_quantiles(table, profile, bins) if bins > 1 else ()
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
            f"Column {profile.column!r} has too many different values to propose any; exclude it, "
            "or group its values first.",
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
    >>> from misfeat.sites.codebook import propose
    >>> same = {"b": [0, 0, 1, 1] * 10, "ill": [False, True] * 20}
    >>> one = propose({"a": [0, 1] * 20, **same}, "ill", "north")
    >>> other = propose({"a": ["x", "y"] * 20, **same}, "ill", "south")
    >>> agree([one, other])[1]
    ["'a' holds numbers at 'north' and texts at 'south'; it is left out"]
    """
    if not proposals:
        raise MisfeatError("There is no proposal; give the file of every site.")
    for site, many in Counter(proposal.site for proposal in proposals).items():
        if many > 1:
            raise MisfeatError(
                f"Several proposals are of the site {site!r}; give one of each site."
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
