"""Values of options: read from texts of the command line or a settings file, and spelled again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from misfeat.exceptions import MisfeatError, Setting

if TYPE_CHECKING:
    from collections.abc import Callable


def as_list(value: Any) -> list[Any]:
    """The parts of a list, or the single value."""
    return list(value) if isinstance(value, list | tuple) else [value]


def read_size(value: Any, parameter: str) -> Any:
    """Read ``3`` and ``auto``."""
    if not isinstance(value, str) or value == "auto":
        return value
    if not value.lstrip("-").isdecimal():
        raise MisfeatError(
            "{setting}: {text!r} is not an integer; give one, or {auto!r}.",
            setting=Setting(parameter),
            text=value,
            auto="auto",
        )
    return int(value)


def read_groups(value: Any, parameter: str) -> list[Any]:
    """Read ``COL`` and ``COL:cut,cut``; a colon without a number or date after it is in a name."""
    from misfeat.cohorts.coding import cut_points

    groups: list[Any] = []
    for part in as_list(value):
        column, colon, cuts = part.rpartition(":") if isinstance(part, str) else ("", "", "")
        points = cuts.split(",")
        try:
            cut_points(sorted(set(points)), parameter)
        except MisfeatError:
            colon = ""
        groups.append({column: points} if colon else part)
    return groups


def read_bins(value: Any, parameter: str) -> Any:
    """Read ``5``, ``COL=3`` and ``COL=40,65``; one cut point is ``COL=40,``."""
    if not isinstance(value, list | tuple | str):
        return value
    bins: dict[str, Any] = {}
    for text in map(str, as_list(value)):
        column, equals, rule = text.rpartition("=")
        _check_new(column if equals else "*", bins, parameter)
        if "," in rule and equals:
            bins[column] = [point for point in rule.split(",") if point]
        else:
            setting = Setting(parameter, rule, column if equals else None)
            bins[column if equals else "*"] = _parsed(int, rule, setting)
    return bins


def read_missing_values(value: Any, parameter: str) -> Any:  # noqa: ARG001
    """Read ``VALUE`` and ``COL=VALUE``; a column may hold an equals sign, a value may not."""
    if not isinstance(value, list | tuple):
        return value
    missing: dict[str, list[Any]] = {}
    for part in value:
        column, equals, named = part.rpartition("=") if isinstance(part, str) else ("", "", "")
        if equals and column:
            missing.setdefault(column, []).append(named)
        else:
            missing.setdefault("*", []).append(part)
    return missing


def read_blocks(value: Any, parameter: str) -> dict[str, Any]:
    """Read ``NAME=COL,COL``."""
    if isinstance(value, dict):
        return value
    return {
        name: [member.strip() for member in members.split(",") if member.strip()]
        for name, members in _pairs(value, parameter, "lipids=hdl,ldl").items()
    }


def read_costs(value: Any, parameter: str) -> dict[str, float]:
    """Read ``COL=5``."""
    if isinstance(value, dict):
        return value
    pairs = _pairs(value, parameter, "mri=400")
    return {c: _parsed(float, cost, Setting(parameter, cost, c)) for c, cost in pairs.items()}


def read_ways(value: Any, parameter: str) -> dict[str, str]:
    """Read ``COL=text``."""
    return value if isinstance(value, dict) else _pairs(value, parameter, "zip=text")


def read_design(value: Any, parameter: str) -> dict[str, Any]:
    """Read ``strata=COL`` and ``cluster=COL``; a column's name may hold an equals sign."""
    if isinstance(value, dict):
        return value
    design: dict[str, str] = {}
    for text in map(str, as_list(value)):
        word, equals, column = text.partition("=")
        if not (word and equals and column):
            raise _too_short(parameter, word, "strata=region")
        if word in design:
            raise MisfeatError(
                "{setting} names two columns of one kind; join them into one column.",
                setting=Setting(parameter, list(value)),
            )
        design[word] = column
    return design


READERS: dict[str, Callable[[Any, str], Any]] = {
    "by": read_groups,
    "size": read_size,
    "include": lambda value, parameter: as_list(value),  # noqa: ARG005
    "exclude": lambda value, parameter: as_list(value),  # noqa: ARG005
    "design": read_design,
    "block": read_blocks,
    "bins": read_bins,
    "missing": read_missing_values,
    "read": read_ways,
    "cost": read_costs,
}
"""What makes the value for Python, given the parameter's name for messages; others are as given."""


def spelled_parts(option: str, value: Any) -> list[Any]:
    """The inverse of a reader: a part for each time that the option stands on the command line."""
    if isinstance(value, list | tuple):
        return [text for part in value for text in spelled_parts(option, part)]
    if not isinstance(value, dict):
        return [value]
    parts: list[Any] = []
    for column, rule in value.items():
        if isinstance(rule, dict):  # merged values, which only Python and a settings file can say
            parts.append(str({column: rule}))
            continue
        for part in as_list(rule) if option == "missing" else [rule]:
            one_cut = option == "bins" and isinstance(part, list) and len(part) < 2
            text = ",".join(map(_digits, as_list(part))) + ("," if one_cut else "")
            sign = ":" if option == "by" else "="
            parts.append(part if column == "*" else f"{column}{sign}{text}")
    return parts


def _digits(part: Any) -> str:
    """A value as text, a number without digits that say nothing."""
    short = isinstance(part, float) and f"{part:g}" == f"{part:.15g}"
    return f"{part:g}" if short else str(part)


def _pairs(value: Any, parameter: str, example: str) -> dict[str, str]:
    """Texts ``NAME=REST`` as a dictionary, each name once."""
    pairs: dict[str, str] = {}
    for text in map(str, as_list(value)):
        name, equals, rest = text.rpartition("=")
        if not (name and equals and rest):
            raise _too_short(parameter, text, example)
        _check_new(name, pairs, parameter)
        pairs[name] = rest
    return pairs


def _too_short(parameter: str, text: str, example: str) -> MisfeatError:
    return MisfeatError(
        "{setting} says too little; write it as {example}.",
        setting=Setting(parameter, text),
        example=example,
    )


def _check_new(name: str, known: dict[str, Any], parameter: str) -> None:
    """Raise where a name was given before; the second would silently replace the first."""
    if name in known:
        raise MisfeatError(
            "{setting} is given twice{where}; give it once.",
            setting=Setting(parameter),
            where="" if name == "*" else f" for {name!r}",
        )


def _parsed(kind: type, text: str, setting: Setting) -> Any:
    try:
        return kind(text)
    except ValueError:
        raise MisfeatError(
            "{setting}: {text!r} is not {kind}.",
            setting=setting,
            text=text,
            kind="an integer" if kind is int else "a number",
        ) from None
