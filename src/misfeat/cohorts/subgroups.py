"""Subgroups: how users define them, which rows belong to which, and what becomes of small ones.

Subgroups with too few rows are merged with others that recorded the same, or left out;
`sufficient_rows` says from how many rows on a subgroup is not small.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from decimal import Decimal
from math import ceil, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.cohorts.coding import Coding, as_it_is, check_cut_points, cut_points, interval_labels
from misfeat.cohorts.column_profiles import IDENTIFIER_SHARE, Profile
from misfeat.cohorts.model import BETWEEN_TERMS
from misfeat.cohorts.weights import weighed_sizes
from misfeat.exceptions import Message, MisfeatError, Setting, listed, shortened
from misfeat.reading.coders import CategoryCoder, Coder, EdgeCoder, Kind, Predicate, PredicateCoder
from misfeat.reading.inputs import names_held
from misfeat.reading.values import LARGEST_INTEGER, Value, canonical, check_text, label

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from misfeat.cohorts.build import Notes
    from misfeat.reading.coders import CodedRows
    from misfeat.reading.table_answers import Weighing


MAX_VALUES = 5000  # A column of more values must be cut or merged before it makes subgroups
OTHERS = "*"


@dataclass(frozen=True)
class ByValue:
    """One subgroup per value of a column, some values merged under one name."""

    column: str
    merged: Mapping[str, str]  # From the label of a value to its name; "*" names all other values


@dataclass(frozen=True)
class ByCuts:
    """Subgroups between cut points of an ordered column."""

    column: str
    points: tuple[Value, ...]


@dataclass(frozen=True)
class ByPredicate:
    """Two subgroups: where a named predicate holds, and where it does not."""

    name: str
    predicate: Predicate


GroupRule = ByValue | ByCuts | ByPredicate


def parse_groups(groups: object) -> tuple[GroupRule, ...]:
    """Read the ``groups`` parameter.

    A string names a column, and an array or an index of strings several. In a mapping
    ``{"age": [40]}`` cuts a column, ``{"grade": {"B": "B", "*": "other"}}`` merges values and
    ``{"senior": "age > 65"}`` names a predicate. A list may hold strings and mappings.
    """
    if groups is None:
        return ()
    if isinstance(groups, str):
        return (ByValue(groups, {}),)
    if isinstance(groups, Mapping):
        return tuple(_parse_rule(name, rule) for name, rule in groups.items())
    parts = names_held(groups)
    if parts is None and not isinstance(groups, Sized):
        raise _not_a_group(groups)
    texts = parts is not None and all(isinstance(part, str) for part in parts)
    if parts is None or not (texts or isinstance(groups, Sequence)):
        raise MisfeatError(
            f"{Setting('groups')} is {shortened(groups, most=0)}, and takes names of columns; "
            "pass the subgroup of every row to fit(X, y, groups=...)."
        )
    rules: list[GroupRule] = []
    for part in parts:
        if not isinstance(part, str | Mapping):
            raise _not_a_group(part)
        for rule in parse_groups(part):
            name = rule.name if isinstance(rule, ByPredicate) else rule.column
            predicates = [before.name for before in rules if isinstance(before, ByPredicate)]
            if rule in rules or (isinstance(rule, ByPredicate) and name in predicates):
                raise MisfeatError(f"{Setting('groups')} names {name!r} twice; name it once.")
            rules.append(rule)
    return tuple(rules)


def goes_by_text(rule: GroupRule, column: str) -> bool:
    """Whether a rule tells subgroups apart by the texts of a column as they stand."""
    if isinstance(rule, ByPredicate):
        compared = rule.predicate.comparisons
        return any(name == column and isinstance(value, str) for name, value in compared)
    return isinstance(rule, ByValue) and rule.column == column


def _parse_rule(name: object, rule: object) -> GroupRule:
    if not isinstance(name, str):
        raise _not_a_group({name: rule})
    if rule is None:
        return ByValue(name, {})
    check_text([name], Setting("groups"))
    if isinstance(rule, str):
        return ByPredicate(name, Predicate(rule))
    if isinstance(rule, Mapping):
        merged = {label(canonical(v)): str(under) for v, under in rule.items()}
        check_text(merged.values(), Setting("groups"))
        return ByValue(name, merged)
    return ByCuts(name, cut_points(rule, "groups", name))


def _not_a_group(part: object) -> MisfeatError:
    merged = Setting("groups", {"B": "B", "*": "other"}, column="grade")
    predicate = Setting("groups", "age > 65", column="senior")
    return MisfeatError(
        f"{Setting('groups', part)} defines no subgroups; use a column name, "
        f"{Setting('groups', [40], column='age')} for cut points, {merged} to merge values, or "
        f"{predicate} for a predicate.",
        remedy="The subgroup of every row goes to fit(X, y, groups=...).",
    )


@dataclass(frozen=True)
class Grouping:
    """A rule made ready: how to code it, and the term that each code adds to a cohort's name."""

    coder: Coder
    term_of: NDArray[np.int64]  # From a code, the one for missing included, to a term
    terms: tuple[str, ...]


def prepare(rule: GroupRule, profiles: Mapping[str, Profile], whole: bool = True) -> Grouping:
    """Make a rule ready; a table that is not the whole one need not hold every value it names."""
    coder: Coder
    match rule:
        case ByValue(column=column, merged=merged):
            return _by_value(profiles[column], merged, whole)
        case ByCuts(column=subject, points=points):
            profile, labels = profiles[subject], interval_labels(points)
            coder = CategoryCoder(profile.reading, (), labels)
            if profile.distinct:
                check_cut_points(profile, points, "groups")
                coder = EdgeCoder(profile.reading, points, labels)
            cuts = [label(point) for point in points]
            inner = [f"{a}<{subject}<={b}" for a, b in itertools.pairwise(cuts)]
            terms = (f"{subject}<={cuts[0]}", *inner, f"{subject}>{cuts[-1]}")
        case ByPredicate(name=subject, predicate=predicate):
            coder = _predicate_coder(predicate, profiles)
            terms = (f"not {subject}", subject)
    codes = np.arange(len(terms) + 1, dtype=np.int64)
    return Grouping(coder, codes, (*terms, f"{subject} is missing"))


def _by_value(profile: Profile, merged: Mapping[str, str], whole: bool) -> Grouping:
    column, problem = profile.column, ""
    cuts = Setting("groups", [40, 65], column=column)
    if profile.kind is Kind.UNSUPPORTED:
        problem = "has a type that cannot define subgroups; take it out."
    elif whole and not merged and 1 < profile.distinct >= IDENTIFIER_SHARE * profile.recorded:
        problem = "has a different value in nearly every row, so every subgroup would be one row; "
        problem += f"give cut points such as {cuts}, or another column."
    elif profile.distinct > MAX_VALUES:
        problem = f"has more than {MAX_VALUES:,} distinct values; give cut points such as {cuts}, "
        problem += "or group its values first."
    if problem:
        raise MisfeatError(f"The group column {column!r} {problem}", column=column)
    coder = as_it_is(profile)
    unknown = [v for v in merged if v != OTHERS and v not in coder.labels]
    if whole and unknown:
        setting = Setting("groups", dict(merged), column=column)
        raise MisfeatError(
            f"{setting} names the value {unknown[0]!r}, which does not occur; the values are "
            f"{listed(coder.labels)}.",
            value=unknown[0],
        )
    names = [merged.get(value, merged.get(OTHERS, value)) for value in coder.labels]
    # In the order of the mapping, then the values that it does not mention in theirs.
    by_name = profile.kind is Kind.TEXT and not profile.in_order
    values = [names[at] for at in natural_order(names)] if by_name else names
    terms = list(dict.fromkeys([*(n for n in merged.values() if n in names), *values]))
    number = {name: position for position, name in enumerate(terms)}
    return Grouping(
        coder,
        np.array([*(number[name] for name in names), len(terms)], dtype=np.int64),
        (*(f"{column}={name}" for name in terms), f"{column} is missing"),
    )


def _predicate_coder(predicate: Predicate, profiles: Mapping[str, Profile]) -> Coder:
    """Codes where a predicate holds; nowhere, if a column that it reads has no value at all."""
    labels = ("no", "yes")
    read = [profiles[column] for column in predicate.columns]
    empty = next((profile for profile in read if profile.distinct == 0), None)
    if empty is not None:
        return CategoryCoder(empty.reading, (), labels)
    for column, constant in predicate.comparisons:
        kind = profiles[column].kind
        is_flag, is_text = isinstance(constant, bool), isinstance(constant, str)
        if kind is Kind.TIME or kind is Kind.UNSUPPORTED:
            problem = f"reads {column!r}, which holds {kind.value} values; give cut points for "
            problem += "dates instead."
        elif isinstance(constant, int | float) and not abs(constant) <= LARGEST_INTEGER:
            problem = f"compares {column!r} with {shortened(constant)}, beyond what a 64-bit "
            problem += "integer holds; write a constant between -2**63 and 2**63."
        elif is_flag != (kind is Kind.FLAG) or is_text != (kind is Kind.TEXT):
            problem = f"compares {column!r}, which holds {kind.value} values, with "
            problem += f"{shortened(constant)}; write a constant of the same kind."
        else:
            continue
        problem = f"The predicate {predicate.shown!r} {problem}"
        raise MisfeatError(problem, parameter="groups", column=column)
    for left, right in predicate.compared_columns:
        kinds = [profiles[column].kind.value for column in (left, right)]
        kinds = ["number" if kind == Kind.INTEGER.value else kind for kind in kinds]
        if kinds[0] != kinds[1]:
            raise MisfeatError(
                f"The predicate {predicate.shown!r} compares {left!r}, which holds {kinds[0]} "
                f"values, with {right!r}, which holds {kinds[1]} values; compare columns of one "
                "kind.",
                parameter="groups",
                column=left,
            )
    return PredicateCoder(tuple(profile.reading for profile in read), predicate, labels)


_DIGITS = re.compile(r"([0-9]+)")
_START = re.compile(
    r"[\[(]?\s*(?:(?P<below><=?|≤|under|below|less than|up to)"
    r"|(?P<above>>=?|≥|over|above|more than)|from)?\s*"
    r"(?P<number>[+-]?(?:[0-9]+(?:\.[0-9]+)?|inf(?:inity)?))(?!\.?[0-9])"
    r"(?P<open>\s*(?:\+|(?:and|or) (?:over|older|more|above))[\])]?$)?",
    re.IGNORECASE,
)  # Where a number or a range starts, and on which side of the number it lies


def natural_order(labels: Sequence[str]) -> list[int]:
    """Positions in the order that people expect: ranges by where they lie, digits as numbers."""
    starts = [_START.match(label.strip()) for label in labels]
    are_ranges = all(starts)
    keys: list[Any] = []
    for text, start in zip(labels, starts, strict=True):
        # Text and digits in turn; digits are compared by how many there are first.
        parts: list[Any] = _DIGITS.split(text)
        parts[1::2] = [(len(digits), digits) for digits in (d.lstrip("0") for d in parts[1::2])]
        number, side = Decimal(0), 0
        if start is not None and are_ranges:
            number, side = Decimal(start["number"]), bool(start["above"] or start["open"])
            side -= start["below"] is not None
        keys.append((number, side, parts, text))
    return sorted(range(len(labels)), key=keys.__getitem__)


EVERYTHING = "all rows"  # The name of the only cohort where no groups are given
DROPPED = -1


@dataclass(frozen=True)
class Runs:
    """Stretches of sorted rows that belong to one cohort each."""

    bounds: NDArray[np.int64]  # Run r holds the rows ``bounds[r]:bounds[r + 1]``
    cohort: NDArray[np.int64]  # The cohort of each run, `DROPPED` for rows that belong to none
    codes: NDArray[np.integer]  # (n_groupings, n_runs): the codes of the groupings in a run
    rows: NDArray[np.int64]  # Of shape (n_runs,): how many rows of the table each run holds
    without: NDArray[np.int64]  # Of shape (n_features, n_runs): how many of them lack each feature

    def of(self, cohort: int) -> list[slice]:
        """The stretches of rows that belong to a cohort."""
        runs = np.flatnonzero(self.cohort == cohort)
        return [slice(self.bounds[run], self.bounds[run + 1]) for run in runs]

    def in_cohorts(self, by_run: NDArray[np.int64]) -> NDArray[np.int64]:
        """Add up what was counted in every run, along the last axis, over those of a cohort."""
        totals = np.zeros((self.cohort.max() + 1, *by_run.shape[:-1]), dtype=np.int64)
        kept = self.cohort != DROPPED
        np.add.at(totals, self.cohort[kept], by_run.T[kept])
        return totals.T

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many rows of the table each cohort holds."""
        return self.in_cohorts(self.rows)

    def never_recorded(self, threshold: float) -> NDArray[np.bool_]:
        """Which features, by cohort, are missing in at least this share of a cohort's rows."""
        return np.asarray(threshold <= (self.in_cohorts(self.without) / self.sizes).T)

    def cohort_of(self, codes: NDArray[np.integer]) -> NDArray[np.int64]:
        """The cohort of each column of grouping codes, `DROPPED` where no run has them."""
        known = dict(zip(map(tuple, self.codes.T.tolist()), self.cohort.tolist(), strict=True))
        found = [known.get(tuple(column), DROPPED) for column in codes.T.tolist()]
        return np.array(found, dtype=np.int64)


def find_cohorts(
    rows: CodedRows,
    groupings: Sequence[Grouping],
    features: Mapping[str, int],
    coding: Coding,
    notes: Notes,
    floor: int = 1,
    weighing: Weighing | None = None,
) -> tuple[Runs, list[str]]:
    """Find the minterms that occur, from rows sorted by their first codes, those of the groupings.

    `features` has the number of codes of each; `floor` says from how many rows on a subgroup is not
    small, where the coding does not. Weighed rows count by their effective size.
    """
    starts, terms, absent = _stretches(rows, groupings)
    n_rows = np.add.reduceat(rows.weights, starts)
    kept = np.ones(len(starts), dtype=bool)
    if absent.any():
        fate = "form subgroups of their own"
        if coding.missing_groups == "drop":
            kept, fate = ~absent, "are dropped"
        notes.add(f"{int(n_rows[absent].sum()):,} rows with a missing group value {fate}.")
    if not kept.any():
        missing = " or ".join(f"{grouping.terms[-1]!r}" for grouping in groupings)
        raise MisfeatError(
            f"Every row has a missing group value ({missing}); use "
            f"{Setting('missing_groups', 'own')}, or other groups."
        )
    minterms, number = np.unique(terms[:, kept], axis=1, return_inverse=True)
    cohort = np.full(len(starts), DROPPED, dtype=np.int64)
    cohort[kept] = number.ravel()
    lines = rows.codes[len(groupings) : -1]
    without = np.zeros((len(lines), len(starts)), dtype=np.int64)
    for feature, (line, cardinality) in enumerate(zip(lines, features.values(), strict=True)):
        lacks = line == cardinality
        if lacks.any():
            without[feature] = np.add.reduceat(np.where(lacks, rows.weights, 0), starts)
    runs = Runs(
        bounds=np.append(starts, len(rows.weights)),
        cohort=cohort,
        codes=rows.codes[: len(groupings), starts],
        rows=n_rows,
        without=without,
    )
    names = _names(minterms, groupings)
    sizes = runs.sizes
    if weighing is not None:
        sizes = weighed_sizes(rows, runs, weighing).astype(np.int64)
    runs, names = _without_small(runs, names, list(features), sizes, coding, floor, notes)
    return runs, _unique(names)


def subgroups_in(
    rows: CodedRows, groupings: Sequence[Grouping], missing_groups: str
) -> tuple[str, ...]:
    """The names of all subgroups that rows belong to, however small they are."""
    _, terms, absent = _stretches(rows, groupings)
    kept = ~absent if missing_groups == "drop" else np.ones(len(absent), dtype=bool)
    return tuple(_unique(_names(np.unique(terms[:, kept], axis=1), groupings)))


def _stretches(
    rows: CodedRows, groupings: Sequence[Grouping]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Where rows of one minterm start, its terms, and whether a group value is missing in it."""
    group_codes = rows.codes[: len(groupings)]
    changes = np.any(group_codes[:, 1:] != group_codes[:, :-1], axis=0)
    starts = np.concatenate([[0], np.flatnonzero(changes) + 1])
    terms = np.array(
        [g.term_of[codes] for g, codes in zip(groupings, group_codes[:, starts], strict=True)],
        dtype=np.int64,
    ).reshape(len(groupings), len(starts))
    last = np.array([len(grouping.terms) - 1 for grouping in groupings], dtype=np.int64)
    return starts, terms, (terms == last[:, None]).any(axis=0)


def _names(minterms: NDArray[np.int64], groupings: Sequence[Grouping]) -> list[str]:
    return [
        BETWEEN_TERMS.join(g.terms[term] for g, term in zip(groupings, minterm, strict=True))
        or EVERYTHING
        for minterm in minterms.T
    ]


def _unique(names: list[str]) -> list[str]:
    """Number equal names, as values such as "A & q=B" can bring about."""
    unique: dict[str, None] = {}
    for name in names:
        numbered = (f"{name} ({number})" for number in itertools.count(2))
        unique[next(n for n in itertools.chain([name], numbered) if n not in unique)] = None
    return list(unique)


SMALL = "other"  # The name of the cohort that small subgroups are merged into
MOST_FEATURES = 3  # So many features are named in the name of a merged cohort
MOST_NAMED = 10  # So many subgroups are named in a message
PART_OF_A_COHORT = 10  # Fewer rows may record a feature, or lack it, by chance
_KEPT_BY = Message(
    " So few could not tell a pair of features from chance; {keep} keeps them.",
    keep=Setting("min_rows", 1),
)


def _without_small(
    runs: Runs,
    names: list[str],
    features: Sequence[str],
    sizes: NDArray[np.int64],
    coding: Coding,
    floor: int,
    notes: Notes,
) -> tuple[Runs, list[str]]:
    """Merge or drop the subgroups with too few rows, where that is of any use, and say which."""
    merging, fewest = coding.small_groups == "merge", coding.min_rows
    if fewest is None:
        few = int((sizes < floor).sum())
        fewest = 1 if few == len(sizes) or (few == 1 and merging) else floor
    small, large = np.flatnonzero(sizes < fewest), np.flatnonzero(sizes >= fewest)
    if not len(small):
        return runs, names
    least = Setting("min_rows", int(fewest))
    shown = ", ".join(f"{names[i]} ({sizes[i]:,})" for i in small[:MOST_NAMED])
    if len(small) > MOST_NAMED:
        shown = f"{shown} and {len(small) - MOST_NAMED:,} more"
    if not merging and not len(large):
        raise MisfeatError(
            f"Every subgroup has fewer than {least} rows: {shown}.", remedy="Lower it."
        )
    parts: list[NDArray[np.int64]] = []
    others: list[str] = []
    if merging:
        parts, never = _merged(runs, sizes, small, coding.missing_threshold, int(fewest))
        # By what they lack, where others of them recorded it.
        for lacks in never & ~never.all(axis=0):
            lacking = [feature for feature, lacked in zip(features, lacks, strict=True) if lacked]
            more = len(lacking) - MOST_FEATURES
            without = ", ".join(lacking[:MOST_FEATURES])
            without += f" and {more:,} more" if more > 0 else ""
            others.append(f"{SMALL} without {without}" if lacking else SMALL)
    notes.add(
        "Subgroups with fewer than {least} rows {fate}: {shown}.{remedy}",
        least=least,
        fate=f"are merged into {listed(others)}" if merging else "are left out",
        shown=shown,
        remedy=_KEPT_BY if coding.min_rows is None else "",
    )
    renumbered = np.full(len(names) + 1, DROPPED, dtype=np.int64)
    renumbered[large] = np.arange(len(large))
    for number, part in enumerate(parts, len(large)):
        renumbered[part] = number
    return replace(runs, cohort=renumbered[runs.cohort]), [*(names[i] for i in large), *others]


def _merged(
    runs: Runs, sizes: NDArray[np.int64], small: NDArray[np.int64], threshold: float, least: int
) -> tuple[list[NDArray[np.int64]], NDArray[np.bool_]]:
    """Small subgroups put together where they recorded the same, and what each never recorded.

    What has still too few rows joins those that recorded most nearly the same.
    """
    rows, without = runs.sizes, runs.in_cohorts(runs.without).T

    def never_recorded(parts: Sequence[NDArray[np.int64]]) -> NDArray[np.bool_]:
        lacking = np.array([without[part].sum(axis=0) for part in parts], dtype=np.int64)
        held = np.array([[rows[part].sum()] for part in parts])
        return np.asarray(lacking / held >= threshold)

    patterns, number = np.unique(never_recorded(list(small[:, None])), axis=0, return_inverse=True)
    parts = [small[number.ravel() == pattern] for pattern in range(len(patterns))]
    enough = max(least, PART_OF_A_COHORT)
    while len(parts) > 1:
        joined = [int(sizes[part].sum()) for part in parts]
        few = int(np.argmin(joined))
        if joined[few] >= enough:
            break
        never = never_recorded(parts)
        apart = (never != never[few]).sum(axis=1)
        apart[few] = never.shape[1] + 1
        nearest = min(range(len(parts)), key=lambda part: (apart[part], -joined[part]))
        parts[nearest] = np.sort(np.concatenate([parts[nearest], parts[few]]))
        del parts[few]
    never = never_recorded(parts)
    order = np.argsort(never.sum(axis=1), kind="stable")
    return [parts[part] for part in order], never[order]


def joined_recordings(
    runs: Runs, names: Sequence[str], features: Sequence[str], threshold: float
) -> tuple[tuple[str, str], ...]:
    """Cohorts made of several parts, with a feature that some recorded and others did not.

    Parts of fewer than `PART_OF_A_COHORT` rows may record or lack a feature by chance.
    """
    if (runs.cohort != DROPPED).sum() == len(names):
        return ()
    many = runs.rows >= PART_OF_A_COHORT
    never = runs.without / runs.rows >= threshold
    parts = [many & (runs.cohort == cohort) for cohort in range(len(names))]
    return tuple(
        (name, feature)
        for feature, lacks in zip(features, never, strict=True)
        for name, part in zip(names, parts, strict=True)
        if len(np.unique(lacks[part])) == 2
    )


EXPLAINED_SHARE = 0.2  # A pair that explains this share of the entropy must be clear of chance
DEVIATIONS = 2.0  # So many standard deviations of chance


def sufficient_rows(cardinalities: Sequence[int], by_class: ArrayLike) -> int:
    """The rows that tell a pair of usual features from chance; 1 where there is nothing to tell.

    If two features tell nothing, the score of their pair in N rows is about chi-squared over 2 N,
    with (cells - 1)(classes - 1) degrees of freedom, d: what it exceeds its mean by has the
    standard deviation sqrt(2 d) / (2 N). A pair that explains a fifth of the target is clear of
    that by two standard deviations from

        N = 2 sqrt(2 d) / (2 * 0.2 * H)

    rows on, H being the entropy of the target. With two features of five values and two classes
    that are equally common it is 50 rows; with two values each, 18; with five values and 1 % of
    cases, 619. The pair is one of two features with the median number of values; `by_class` are
    the rows of each class in the whole table.
    """
    counts = np.asarray(by_class, dtype=np.float64)
    shares = counts[counts > 0] / max(counts.sum(), 1.0)
    entropy = float(-(shares * np.log(shares)).sum())
    if not len(cardinalities) or len(shares) < 2:
        return 1
    cells = float(np.median(cardinalities)) ** 2
    freedom = max(cells - 1, 1.0) * (len(shares) - 1)
    return max(ceil(DEVIATIONS * sqrt(2 * freedom) / (2 * EXPLAINED_SHARE * entropy)), 1)
