"""Subgroups: how users define them, which rows belong to which, and what becomes of small ones.

Those with too few rows (`sufficient_rows`) are merged with their neighbours where a column orders
them, else with others that recorded the same, or left out.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from misfeat.cohorts import column_coding
from misfeat.cohorts.column_coding import Coding
from misfeat.cohorts.column_profiles import IDENTIFIER_SHARE, Profile
from misfeat.cohorts.ordered_text import RANGE_START, natural_order
from misfeat.cohorts.subgroup_lookup import BETWEEN_TERMS
from misfeat.cohorts.weights import weighed_sizes, weighed_sums
from misfeat.exceptions import MisfeatError, Notes
from misfeat.messages import Message, Setting, first_of, listed, shortened
from misfeat.reading.coders import CategoryCoder, CodedRows, Coder, EdgeCoder, Kind
from misfeat.reading.dataframe_libraries import names_held
from misfeat.reading.table_statistics import Weighing
from misfeat.reading.values import Value, canonical, check_text, label
from misfeat.runtime.array_types import Flags, Floats, Indices, Integers

Part = Sequence[int] | Indices

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


GroupRule = ByValue | ByCuts


def parse_groups(groups: object) -> tuple[GroupRule, ...]:
    """Read the ``groups`` parameter."""
    # A string names a column, and an array or an index of strings several. In a mapping ``{"age":
    # [40]}`` cuts a column, and ``{"grade": {"B": "B", "*": "other"}}`` merges values. A list may
    # hold strings and mappings.
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
            if rule in rules:
                raise MisfeatError(
                    f"{Setting('groups')} names {rule.column!r} twice; name it once."
                )
            rules.append(rule)
    return tuple(rules)


def _parse_rule(name: object, rule: object) -> GroupRule:
    if not isinstance(name, str):
        raise _not_a_group({name: rule})
    if rule is None:
        return ByValue(name, {})
    check_text([name], Setting("groups"))
    if isinstance(rule, str):
        raise _not_a_group({name: rule})
    if isinstance(rule, Mapping):
        merged = {label(canonical(v)): str(under) for v, under in rule.items()}
        check_text(merged.values(), Setting("groups"))
        return ByValue(name, merged)
    return ByCuts(name, column_coding.cut_points(rule, "groups", name))


def _not_a_group(part: object) -> MisfeatError:
    merged = Setting("groups", {"B": "B", "*": "other"}, column="grade")
    return MisfeatError(
        f"{Setting('groups', part)} defines no subgroups; use a column name, "
        f"{Setting('groups', [40], column='age')} for cut points, or {merged} to merge values.",
        remedy="The subgroup of every row goes to fit(X, y, groups=...).",
    )


@dataclass(frozen=True)
class Grouping:
    """A rule made ready: how to code it, and the term that each code adds to a cohort's name."""

    coder: Coder
    term_of: Integers  # From a code, the one for missing included, to a term
    terms: tuple[str, ...]
    column: str | None = None  # What orders all terms but the last, for missing; None: nothing
    cuts: tuple[str, ...] = ()  # The labels of its cut points, where it was cut

    def term(self, first: int, last: int) -> str:
        """The term of a code, or of neighbours in the order from the first to the last."""
        if first == last or self.column is None:
            return self.terms[first]
        if self.cuts:
            ends = ("", *self.cuts, "")
            return _between(self.column, ends[first], ends[last + 1])
        return f"{self.terms[first]} to {self.terms[last].removeprefix(f'{self.column}=')}"


def _between(column: str, low: str, high: str) -> str:
    if low and high:
        return f"{low}<{column}<={high}"
    return f"{column}>{low}" if low else f"{column}<={high}" if high else f"any {column}"


def prepare(rule: GroupRule, profiles: Mapping[str, Profile], whole: bool = True) -> Grouping:
    """Make a rule ready; a table that is not the whole one need not hold every value it names."""
    profile = profiles[rule.column]
    if isinstance(rule, ByValue):
        return _by_value(profile, rule.merged, whole)
    labels = column_coding.interval_labels(rule.points)
    coder: Coder = CategoryCoder(profile.reading, (), labels)
    if profile.distinct:
        column_coding.check_cut_points(profile, rule.points, "groups")
        coder = EdgeCoder(profile.reading, rule.points, labels)
    cuts = tuple(map(label, rule.points))
    terms = [_between(rule.column, *pair) for pair in itertools.pairwise(["", *cuts, ""])]
    terms.append(f"{rule.column} is missing")
    return Grouping(coder, np.arange(len(terms)), tuple(terms), rule.column, cuts)


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
    coder = column_coding.as_it_is(profile)
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
    ordered = profile.kind.ordered or profile.in_order or all(map(RANGE_START.match, names))
    return Grouping(
        coder,
        np.array([*(number[name] for name in names), len(terms)], dtype=np.int64),
        (*(f"{column}={name}" for name in terms), f"{column} is missing"),
        column if ordered and not merged else None,
    )


EVERYTHING = "all rows"  # The name of the only cohort where no groups are given
DROPPED = -1


@dataclass(frozen=True)
class Runs:
    """Stretches of sorted rows that belong to one cohort each."""

    bounds: Integers  # Run r holds the rows ``bounds[r]:bounds[r + 1]``
    cohort: Integers  # The cohort of each run, `DROPPED` for rows that belong to none
    codes: Indices  # (n_groupings, n_runs): the codes of the groupings in a run
    rows: Integers  # Of shape (n_runs,): how many rows of the table each run holds
    without: Integers  # Of shape (n_features, n_runs): how many of them lack each feature

    def of(self, cohort: int) -> list[slice]:
        """The stretches of rows that belong to a cohort."""
        runs = np.flatnonzero(self.cohort == cohort)
        return [slice(self.bounds[run], self.bounds[run + 1]) for run in runs]

    def in_cohorts(self, by_run: Integers) -> Integers:
        """Add up what was counted in every run, along the last axis, over those of a cohort."""
        totals = np.zeros((self.cohort.max() + 1, *by_run.shape[:-1]), dtype=np.int64)
        kept = self.cohort != DROPPED
        np.add.at(totals, self.cohort[kept], by_run.T[kept])
        return totals.T

    @property
    def sizes(self) -> Integers:
        """How many rows of the table each cohort holds."""
        return self.in_cohorts(self.rows)

    def never_recorded(self, threshold: float) -> Flags:
        """Which features, by cohort, are missing in at least this share of a cohort's rows."""
        return np.asarray(threshold <= (self.in_cohorts(self.without) / self.sizes).T)

    def cohort_of(self, codes: Indices) -> Integers:
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
    floor: int,
    weighing: Weighing | None,
    classes: Indices,
) -> tuple[Runs, list[str]]:
    """Find the minterms that occur, from rows sorted by their first codes, those of the groupings.

    `features` has the number of codes of each; `floor` says from how many rows on a subgroup is not
    small, where the coding does not. Weighed rows count by their effective size, from `classes`.
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
    names = _names(groupings, minterms, minterms)
    held = _Held(names, runs, weighed_sums(rows, runs, classes), weighing, coding, floor, notes)
    _propose_cuts(held, groupings, minterms)
    runs, names = _with_neighbours(held, groupings, minterms)
    held = replace(held, names=names, runs=runs, sums=weighed_sums(rows, runs, classes))
    runs, names = _without_small(held, list(features))
    return runs, _unique(names)


def subgroups_in(
    rows: CodedRows, groupings: Sequence[Grouping], missing_groups: str
) -> tuple[str, ...]:
    """The names of all subgroups that rows belong to, however small they are."""
    _, terms, absent = _stretches(rows, groupings)
    kept = ~absent if missing_groups == "drop" else np.ones(len(absent), dtype=bool)
    minterms = np.unique(terms[:, kept], axis=1)
    return tuple(_unique(_names(groupings, minterms, minterms)))


def _stretches(rows: CodedRows, groupings: Sequence[Grouping]) -> tuple[Integers, Integers, Flags]:
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


def _names(groupings: Sequence[Grouping], first: Integers, last: Integers) -> list[str]:
    """Names of minterms, or of neighbours from the first to the last."""
    return [
        BETWEEN_TERMS.join(g.term(*ends) for g, *ends in zip(groupings, *pair, strict=True))
        or EVERYTHING
        for pair in zip(first.T.tolist(), last.T.tolist(), strict=True)
    ]


def _unique(names: list[str]) -> list[str]:
    """Number equal names, as values such as "A & q=B" can bring about."""
    unique: dict[str, None] = {}
    for name in names:
        numbered = (f"{name} ({number})" for number in itertools.count(2))
        unique[next(n for n in itertools.chain([name], numbered) if n not in unique)] = None
    return list(unique)


SMALL = "small subgroups"
"""The name of the cohort that small subgroups without an order are merged into; terms differ."""
MOST_FEATURES = 3  # So many features are named in the name of a merged cohort
MOST_NAMED = 10  # So many subgroups are named in a message
PART_OF_A_COHORT = 10  # Fewer rows may record a feature, or lack it, by chance
FEW_VALUES = 12  # A number with more makes many subgroups, if some of them are small
MANY_VALUES = 30  # With more it does so in any case
_KEPT_BY = Message(
    " So few could not distinguish a pair of features from chance; {keep} keeps them.",
    keep=Setting("min_rows", 1),
)


@dataclass(frozen=True)
class _Held:
    """What cohorts hold, and parts that are made of several; a part lists their numbers."""

    names: list[str]
    runs: Runs
    sums: Integers  # As `weighed_sums` has them
    weighing: Weighing | None
    coding: Coding
    floor: int  # From how many rows on a subgroup is not small, where the coding does not say
    notes: Notes

    @cached_property
    def sizes(self) -> Floats:
        """How many rows of equal weight each cohort has."""
        return weighed_sizes(self.sums, self.weighing)

    @cached_property
    def _without(self) -> Integers:
        return self.runs.in_cohorts(self.runs.without)

    def sizes_of(self, parts: Iterable[Part]) -> Floats:
        """How many rows of equal weight each part has: at times fewer than one of its cohorts."""
        sums = np.stack([self.sums[:, part].sum(axis=1) for part in parts], axis=1)
        return weighed_sizes(sums, self.weighing)

    def never_recorded(self, parts: Iterable[Part]) -> Flags:
        """Which features, by part, are missing in nearly all of its rows."""
        lacking = [self._without[:, p].sum(axis=1) / self.sums[0, p].sum() for p in parts]
        return np.array(lacking) >= self.coding.missing_threshold

    def small(self, fewest: int, cohorts: Sequence[int]) -> dict[str, Any]:
        """For messages: what is few, and small cohorts with their rows and what these are worth."""
        shown = []
        for at in cohorts:
            rows, worth = int(self.sums[0, at]), round(self.sizes[at])
            equal = f" rows, worth {worth:,} of equal weight" if worth < rows else ""
            shown.append(f"{self.names[at]} ({rows:,}{equal})")
        return {
            "least": Setting("min_rows", fewest),
            "rows": "rows of equal weight" if len(self.sums) > 1 else "rows",
            "shown": first_of(shown, MOST_NAMED),
            "remedy": _KEPT_BY if self.coding.min_rows is None else "",
        }


def _with_neighbours(
    held: _Held, groupings: Sequence[Grouping], minterms: Integers
) -> tuple[Runs, list[str]]:
    """Merge small subgroups with a neighbour in the order of a column, and say which."""
    # It is the neighbour that recorded most nearly the same, of two alike the smaller one; of
    # several ordered columns the one with most values. Where no `min_rows` is given, two subgroups
    # are left, and all where none is large enough.
    least, fewest = held.coding.min_rows, int(held.coding.min_rows or held.floor)
    ordered = [at for at, grouping in enumerate(groupings) if grouping.column is not None]
    all_small = least is None and held.sizes.max() < fewest
    if not ordered or held.coding.small_groups != "merge" or all_small:
        return held.runs, held.names
    axis = max(ordered, key=lambda at: len(groupings[at].terms))
    lines: dict[tuple[int, ...], list[list[int]]] = {}  # Parts that are neighbours, in their order
    for cohort, terms in enumerate(minterms.T.tolist()):
        lacks = terms.pop(axis) == len(groupings[axis].terms) - 1
        lines.setdefault((lacks, *terms), []).append([cohort])
    to_spare = len(held.names) - (2 if least is None else 1)
    for parts in lines.values():
        sizes = held.sizes_of(parts)
        while len(parts) > 1 and to_spare > 0 and sizes.min() < fewest:
            few = int(np.argmin(sizes))
            near = [at for at in (few - 1, few + 1) if 0 <= at < len(parts)]
            never = held.never_recorded([parts[few], *(parts[at] for at in near)])
            apart = (never[1:] != never[0]).sum(axis=1).tolist()
            low = min(few, min(zip(apart, sizes[near].tolist(), near, strict=True))[-1])
            parts[low : low + 2] = [parts[low] + parts[low + 1]]
            sizes = np.delete(sizes, low + 1)
            sizes[low] = held.sizes_of([parts[low]])[0]
            to_spare -= 1
    spans = sorted(itertools.chain.from_iterable(lines.values()))
    first, last = ([span[end] for span in spans] for end in (0, -1))
    names = _names(groupings, minterms[:, first], minterms[:, last])
    made = [name for name, span in zip(names, spans, strict=True) if len(span) > 1]
    if not made:
        return held.runs, held.names
    merged = [at for span in spans if len(span) > 1 for at in span if held.sizes[at] < fewest]
    held.notes.add(
        "Subgroups with fewer than {least} {rows} are merged with their neighbours, into {made}: "
        "{shown}.{remedy}",
        made=listed(made, MOST_FEATURES),
        **held.small(fewest, merged),
    )
    return _renumbered(held.runs, spans), names


def _renumbered(runs: Runs, parts: Iterable[Part]) -> Runs:
    """The same with a cohort a part; those that are in none are dropped."""
    numbers = np.full(runs.cohort.max() + 2, DROPPED, dtype=np.int64)  # the last: of none before
    for number, part in enumerate(parts):
        numbers[part] = number
    return replace(runs, cohort=numbers[runs.cohort])


def _propose_cuts(held: _Held, groupings: Sequence[Grouping], minterms: Integers) -> None:
    """Say how a number that makes many subgroups could be cut in three instead."""
    fewest = held.coding.min_rows or held.floor
    most = FEW_VALUES if held.sizes.min() < fewest else MANY_VALUES
    for terms, grouping in zip(minterms, groupings, strict=True):
        values = getattr(grouping.coder, "edges", ())  # all but the last
        numbers = all(isinstance(value, int | float) for value in values)
        if grouping.column is None or grouping.cuts or not numbers or len(values) < most:
            continue
        rows = np.bincount(terms, held.sums[0], len(values) + 2)[:-1]
        shares = np.cumsum(rows)[:-1] / max(rows.sum(), 1)
        thirds = np.minimum(np.searchsorted(shares, (1 / 3, 2 / 3)), len(values) - 1)
        cuts = sorted(set(np.array(values)[thirds].tolist()))
        side = np.searchsorted(cuts, [*values, np.inf, np.inf])[terms]
        parts = [np.flatnonzero(side == at) for at in range(len(cuts) + 1)]
        if held.sizes_of(parts).min() >= fewest:
            held.notes.add(
                "Column {column!r} has {n:,} values, which make many subgroups; {cuts} makes "
                "{parts}.",
                column=grouping.column,
                n=len(values) + 1,
                cuts=Setting("groups", cuts, column=grouping.column),
                parts=len(parts),
            )


def _without_small(held: _Held, features: Sequence[str]) -> tuple[Runs, list[str]]:
    """Merge or drop the subgroups with too few rows, where that is of any use, and say which."""
    merging, fewest, sizes = held.coding.small_groups == "merge", held.coding.min_rows, held.sizes
    if fewest is None:
        few = int((sizes < held.floor).sum())
        fewest = 1 if few == len(sizes) or (few == 1 and merging) else held.floor
    small, large = np.flatnonzero(sizes < fewest), np.flatnonzero(sizes >= fewest)
    if not len(small):
        return held.runs, held.names
    about = held.small(int(fewest), small.tolist())
    if not merging and not len(large):
        fewer = f"fewer than {about['least']} {about['rows']}"
        raise MisfeatError(f"Every subgroup has {fewer}: {about['shown']}.", remedy="Lower it.")
    parts: list[Integers] = []
    others: list[str] = []
    if merging:
        parts, never = _merged(held, small, int(fewest))
        # By what they lack, where others of them recorded it.
        for lacks in never & ~never.all(axis=0):
            lacking = [feature for feature, lacked in zip(features, lacks, strict=True) if lacked]
            without = first_of(lacking, MOST_FEATURES)
            others.append(f"{SMALL} without {without}" if lacking else SMALL)
    fate = f"are merged into {listed(others)}" if merging else "are left out"
    words = "Subgroups with fewer than {least} {rows} {fate}: {shown}.{remedy}"
    held.notes.add(words, fate=fate, **about)
    names = [*(held.names[i] for i in large), *others]
    return _renumbered(held.runs, [*large[:, None], *parts]), names


def _merged(held: _Held, small: Integers, least: int) -> tuple[list[Integers], Flags]:
    """Small subgroups put together where they recorded the same, and what each never recorded."""
    # What has still too few rows joins those that recorded most nearly the same.
    never = held.never_recorded(list(small[:, None]))
    patterns, number = np.unique(never, axis=0, return_inverse=True)
    parts = [small[number.ravel() == pattern] for pattern in range(len(patterns))]
    enough = max(least, PART_OF_A_COHORT)
    while len(parts) > 1:
        joined = held.sizes_of(parts).tolist()
        few = int(np.argmin(joined))
        if joined[few] >= enough:
            break
        never = held.never_recorded(parts)
        apart = (never != never[few]).sum(axis=1)
        apart[few] = never.shape[1] + 1
        nearest = min(range(len(parts)), key=lambda part: (apart[part], -joined[part]))
        parts[nearest] = np.sort(np.concatenate([parts[nearest], parts[few]]))
        del parts[few]
    never = held.never_recorded(parts)
    order = np.argsort(never.sum(axis=1), kind="stable")
    return [parts[part] for part in order], never[order]


def joined_recordings(
    runs: Runs, names: Sequence[str], features: Sequence[str], threshold: float
) -> tuple[tuple[str, str], ...]:
    """Cohorts made of several parts, with a feature that some recorded and others did not."""
    # Parts of fewer than `PART_OF_A_COHORT` rows may record or lack a feature by chance.
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
    """The rows that distinguish a pair of usual features from chance; 1 where none are needed.

    The formula is in docs/answers/cautions.md (floors). If two features explain nothing, the score
    of their pair in N rows is about chi-squared over 2 N, so that it exceeds its mean by sqrt(2 d)
    / (2 N), its standard deviation. `by_class` are the rows of each class in the whole table.
    """
    counts = np.asarray(by_class, dtype=np.float64)
    shares = counts[counts > 0] / max(counts.sum(), 1.0)
    entropy = float(-(shares * np.log(shares)).sum())
    if not len(cardinalities) or len(shares) < 2:
        return 1
    cells = float(np.median(cardinalities)) ** 2
    freedom = max(cells - 1, 1.0) * (len(shares) - 1)
    return max(ceil(DEVIATIONS * sqrt(2 * freedom) / (2 * EXPLAINED_SHARE * entropy)), 1)
