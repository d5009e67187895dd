"""The rules by which a table becomes cohorts: groups, settings, and the notes taken on the way."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.cohorts.binning import BinRules, cut_points, interval_labels
from misfeat.cohorts.coding import Coding, as_it_is, check_cut_points
from misfeat.cohorts.model import natural_order
from misfeat.cohorts.parsed_text import TEXT, parse_ways
from misfeat.cohorts.profiles import IDENTIFIER_SHARE, Profile
from misfeat.cohorts.weights import WeightRules
from misfeat.exceptions import InPython, Message, MisfeatError, Setting, listed, shortened, warn
from misfeat.parameters.declaring import check_parameters
from misfeat.reading.coders import CategoryCoder, Coder, EdgeCoder, Kind, Predicate, PredicateCoder
from misfeat.reading.dataframes import names_held
from misfeat.reading.values import (
    LARGEST_INTEGER,
    MissingCodes,
    Value,
    canonical,
    check_named,
    label,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


MAX_VALUES = 5000
"""A column with more distinct values than this must be cut or merged before it makes subgroups."""
OTHERS = "*"
AUTO = "auto"
"""Asks for columns to be chosen, where no column has that name."""


@dataclass(frozen=True)
class _ByColumn:
    """Subgroups by a single column."""

    column: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it reads."""
        return (self.column,)


@dataclass(frozen=True)
class ByValue(_ByColumn):
    """One subgroup per value of a column, some values merged under one name."""

    merged: Mapping[str, str]
    """From the label of a value to the name it goes under; ``"*"`` names all other values."""


@dataclass(frozen=True)
class ByCuts(_ByColumn):
    """Subgroups between cut points of an ordered column."""

    points: tuple[Value, ...]


@dataclass(frozen=True)
class ByPredicate:
    """Two subgroups: where a named predicate holds, and where it does not."""

    name: str
    predicate: Predicate

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it reads."""
        return self.predicate.columns


GroupRule = ByValue | ByCuts | ByPredicate


@dataclass(frozen=True)
class Grouping:
    """A rule made ready: how to code it, and the term that each code adds to a cohort's name."""

    coder: Coder
    term_of: NDArray[np.int64]
    """From a raw code, the one for missing included, to a term; missing comes last."""
    terms: tuple[str, ...]


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
    if parts is None:
        raise _values_of_rows(groups) if isinstance(groups, Sized) else _not_a_group(groups)
    if not isinstance(groups, Sequence) and not all(isinstance(part, str) for part in parts):
        raise _values_of_rows(groups)
    rules = tuple(rule for part in parts for rule in _parse_part(part))
    _refuse_repeats(rules)
    return rules


def _refuse_repeats(rules: Sequence[GroupRule]) -> None:
    seen = set()
    for rule in rules:
        match rule:
            case ByPredicate(name=name):
                key = name, "predicate"
            case ByCuts(column=name, points=points):
                key = name, repr(points)
            case ByValue(column=name, merged=merged):
                key = name, repr(merged)
        if key in seen:
            raise MisfeatError(
                "{groups} names {name!r} twice; name it once.",
                remedy="{elsewhere}",
                elsewhere=InPython(
                    "The subgroup of every row, where no column says it, goes to "
                    "fit(X, y, groups=...)."
                ),
                groups=Setting("groups"),
                name=name,
            )
        seen.add(key)


def _parse_part(part: object) -> tuple[GroupRule, ...]:
    if isinstance(part, str | Mapping):
        return parse_groups(part)
    raise _not_a_group(part)


def _parse_rule(name: object, rule: object) -> GroupRule:
    if not isinstance(name, str):
        raise _not_a_group({name: rule})
    if rule is None:
        return ByValue(name, {})
    check_named(name, Setting("groups"))
    if isinstance(rule, str):
        return ByPredicate(name, Predicate(rule))
    if isinstance(rule, Mapping):
        merged = {label(canonical(v)): str(under) for v, under in rule.items()}
        for under in merged.values():
            check_named(under, Setting("groups"))
        return ByValue(name, merged)
    return ByCuts(name, cut_points(rule, "groups", name))


def _not_a_group(part: object) -> MisfeatError:
    return MisfeatError(
        "{setting} defines no subgroups; use a column name, {cuts} for cut points, {merged} to "
        "merge values, or {predicate} for a predicate.",
        remedy="{elsewhere}",
        elsewhere=InPython("The subgroup of every row goes to fit(X, y, groups=...)."),
        setting=Setting("groups", part),
        cuts=Setting("groups", [40], column="age"),
        merged=Setting("groups", {"B": "B", "*": "other"}, column="grade"),
        predicate=Setting("groups", "age > 65", column="senior"),
    )


def _values_of_rows(groups: object) -> MisfeatError:
    return MisfeatError(
        "{groups} is {kind}, and takes names of columns; pass the subgroup of every row to "
        "fit(X, y, groups=...).",
        groups=Setting("groups"),
        kind=shortened(groups, most=0),
    )


def read_as_text(rule: GroupRule, column: str) -> bool:
    """Whether a rule tells rows apart by the texts of a column, whatever they stand for."""
    match rule:
        case ByValue():
            return rule.column == column
        case ByPredicate(predicate=predicate):
            return any(
                name == column and isinstance(constant, str)
                for name, constant in predicate.comparisons
            )
    return False


def prepare(rule: GroupRule, profiles: Mapping[str, Profile], whole: bool = True) -> Grouping:
    """Make a rule ready for a table whose columns were profiled.

    A table that is not the whole one, such as a few rows to transform, need not hold every value
    that the rule names, and its few rows may all differ.
    """
    match rule:
        case ByCuts(column=column, points=points):
            coder = _cut_coder(profiles[column], points)
            return _one_term_a_code(coder, _cut_terms(column, points), column)
        case ByPredicate(name=name, predicate=predicate):
            coder = _predicate_coder(predicate, profiles)
            return _one_term_a_code(coder, (f"not {name}", name), name)
        case ByValue(column=column, merged=merged):
            return _by_value(profiles[column], merged, whole)


def _cut_coder(profile: Profile, points: tuple[Value, ...]) -> Coder:
    labels = interval_labels(points)
    if profile.distinct == 0:
        return CategoryCoder(profile.reading, (), labels)
    check_cut_points(profile, points, "groups")
    return EdgeCoder(profile.reading, points, labels)


def _predicate_coder(predicate: Predicate, profiles: Mapping[str, Profile]) -> Coder:
    """What tells where a predicate holds; nowhere, if a column that it reads has no value at all.

    Such a column has whatever type its library gives to nothing, so types are not compared.
    """
    labels = ("no", "yes")
    read = [profiles[column] for column in predicate.columns]
    empty = next((profile for profile in read if profile.distinct == 0), None)
    if empty is not None:
        return CategoryCoder(empty.reading, (), labels)
    _check_types(predicate, profiles)
    _check_pairs(predicate, profiles)
    return PredicateCoder(tuple(profile.reading for profile in read), predicate, labels)


def _by_value(profile: Profile, merged: Mapping[str, str], whole: bool) -> Grouping:
    _check_groupable(profile, apart=whole and not merged)
    column = profile.column
    coder = as_it_is(profile)
    unknown = [v for v in merged if v != OTHERS and v not in coder.labels]
    if whole and unknown:
        raise MisfeatError(
            "{setting} names the value {value!r}, which does not occur; the values are {values}.",
            setting=Setting("groups", dict(merged), column=column),
            value=unknown[0],
            values=listed(coder.labels),
        )
    names = [merged.get(value, merged.get(OTHERS, value)) for value in coder.labels]
    order = {name: position for position, name in enumerate(_name_order(names, merged, profile))}
    term_of = np.array([*(order[name] for name in names), len(order)], dtype=np.int64)
    terms = tuple(f"{column}={name}" for name in order)
    return Grouping(coder, term_of, (*terms, f"{column} is missing"))


def _check_groupable(profile: Profile, apart: bool) -> None:
    """Refuse a column whose values make no subgroups, or too many; `apart`, one for each row."""
    column, cuts = profile.column, Setting("groups", [40, 65], column=profile.column)
    if profile.kind is Kind.UNSUPPORTED:
        raise MisfeatError(
            "Column {column!r} has a type that cannot define subgroups; take it out of {groups}.",
            column=column,
            groups=Setting("groups"),
        )
    if apart and 1 < profile.distinct >= IDENTIFIER_SHARE * profile.recorded:
        raise MisfeatError(
            "The group column {column!r} has a different value in nearly every row, so every "
            "subgroup would be one row; give cut points such as {cuts}, or another column.",
            column=column,
            cuts=cuts,
        )
    if profile.distinct > MAX_VALUES:
        raise MisfeatError(
            "The group column {column!r} has more than {most:,} distinct values; give cut points "
            "such as {cuts}, or group its values first.",
            column=column,
            most=MAX_VALUES,
            cuts=cuts,
        )


def _name_order(names: list[str], merged: Mapping[str, str], profile: Profile) -> list[str]:
    """Names in the order of the mapping, then the values that it does not mention in theirs."""
    present = set(names)
    by_name = profile.kind is Kind.TEXT and not profile.in_order
    values = [names[at] for at in natural_order(names)] if by_name else names
    return list(dict.fromkeys([*(n for n in merged.values() if n in present), *values]))


def _one_term_a_code(coder: Coder, terms: Sequence[str], subject: str) -> Grouping:
    return Grouping(
        coder, np.arange(len(terms) + 1, dtype=np.int64), (*terms, f"{subject} is missing")
    )


def _cut_terms(column: str, points: Sequence[Value]) -> list[str]:
    cuts = [label(point) for point in points]
    inner = [f"{a}<{column}<={b}" for a, b in itertools.pairwise(cuts)]
    return [f"{column}<={cuts[0]}", *inner, f"{column}>{cuts[-1]}"]


def _check_types(predicate: Predicate, profiles: Mapping[str, Profile]) -> None:
    for column, constant in predicate.comparisons:
        kind = profiles[column].kind
        if kind is Kind.TIME or kind is Kind.UNSUPPORTED:
            raise MisfeatError(
                "The predicate {predicate!r} reads {column!r}, which holds {kind} values; give cut "
                "points for dates instead.",
                predicate=predicate.shown,
                column=column,
                kind=kind.value,
                groups=Setting("groups"),
            )
        if isinstance(constant, int | float) and not abs(constant) <= LARGEST_INTEGER:
            raise MisfeatError(
                "The predicate {predicate!r} compares {column!r} with {constant}, beyond what a "
                "64-bit integer holds; write a constant between -2**63 and 2**63.",
                predicate=predicate.shown,
                column=column,
                constant=shortened(constant),
                groups=Setting("groups"),
            )
        if _fits(constant, kind):
            continue
        raise MisfeatError(
            "The predicate {predicate!r} compares {column!r}, which holds {kind} values, with "
            "{constant!r}; write a constant of the same kind.",
            predicate=predicate.shown,
            column=column,
            kind=kind.value,
            constant=constant,
            groups=Setting("groups"),
        )


def _check_pairs(predicate: Predicate, profiles: Mapping[str, Profile]) -> None:
    for left, right in predicate.compared_columns:
        kinds = [_comparable(profiles[column].kind) for column in (left, right)]
        if kinds[0] != kinds[1]:
            raise MisfeatError(
                "The predicate {predicate!r} compares {column!r}, which holds {kind} values, with "
                "{other!r}, which holds {other_kind} values; compare columns of one kind.",
                predicate=predicate.shown,
                column=left,
                kind=kinds[0],
                other=right,
                other_kind=kinds[1],
                groups=Setting("groups"),
            )


def _comparable(kind: Kind) -> str:
    return "number" if kind is Kind.INTEGER else kind.value


def _fits(constant: Any, kind: Kind) -> bool:
    if isinstance(constant, bool):
        return kind is Kind.FLAG
    return isinstance(constant, str) == (kind is Kind.TEXT) and kind is not Kind.FLAG


_log = logging.getLogger("misfeat")


@dataclass(frozen=True)
class CohortRules:
    """By what rules a table becomes cohorts, parsed and checked once."""

    groups: tuple[GroupRule, ...]
    bins: BinRules
    codes: MissingCodes
    ways: Mapping[str, str]
    """How columns of text are to be read, where the user says so."""
    coding: Coding
    """All other settings, as users give them."""
    auto: bool = False
    """Whether columns that tell subgroups apart are chosen by what is missing where."""
    weights: WeightRules = field(default_factory=WeightRules)

    @classmethod
    def parse(
        cls,
        groups: object,
        coding: Coding | None = None,
        weights: WeightRules | None = None,
    ) -> CohortRules:
        """Read and check the parameters as users write them."""
        coding = Coding() if coding is None else coding
        check_parameters(coding)
        auto = isinstance(groups, str | list | tuple) and groups in (AUTO, [AUTO], (AUTO,))
        return cls(
            groups=() if auto else parse_groups(groups),
            bins=BinRules.parse(coding.bins, coding.binning),
            codes=MissingCodes.parse(coding.missing_values),
            ways=parse_ways(coding.read),
            coding=coding,
            auto=auto,
            weights=WeightRules() if weights is None else weights,
        )

    def way(self, column: str) -> str | None:
        """How a column is to be read; subgroups are told apart by its texts as they stand."""
        by_text = any(read_as_text(rule, column) for rule in self.groups)
        return self.ways.get(column, TEXT if by_text else None)

    def is_kept(self, column: str) -> bool:
        """Whether the user asks for the texts of a column, whatever they look like."""
        return self.ways.get(column) == TEXT

    @property
    def group_columns(self) -> tuple[str, ...]:
        """The columns that tell the subgroups apart, each once."""
        return tuple(dict.fromkeys(column for rule in self.groups for column in rule.columns))


@dataclass
class Notes:
    """Collects what happened to rows and columns, and says it in the log or as a warning."""

    texts: list[str] = field(default_factory=list)

    def add(self, template: str, **about: Any) -> None:
        """Note something that was expected; the words are those of `Message`."""
        self.say(Message(template, **about))

    def say(self, text: Message) -> None:
        """Note what is in words already."""
        self.texts.append(text)
        _log.info(text)

    def warn(self, template: str, **about: Any) -> None:
        """Note something that the user should look at."""
        text = Message(template, **about)
        self.texts.append(text)
        warn(text)
