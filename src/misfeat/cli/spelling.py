"""What is said outside Python, read into values, and values spelled as one would say them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from misfeat.exceptions import MisfeatError, Setting

if TYPE_CHECKING:
    from collections.abc import Callable


def is_text(value: Any) -> bool:
    """Whether a value is a text."""
    return isinstance(value, str)


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number; true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether a value is a number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_flag(value: Any) -> bool:
    """Whether a value is true or false."""
    return isinstance(value, bool)


def listed(value: Any) -> list[Any]:
    """The parts of a list, or the one value that there is."""
    return list(value) if isinstance(value, list | tuple) else [value]


def each(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Whether a value, or every part of a list, is of a kind."""
    return lambda value: all(map(fits, listed(value)))


def by_name(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Whether a value is a table of things of a kind, or says the same in texts."""
    return lambda value: (
        all(map(fits, value.values())) if isinstance(value, dict) else each(is_text)(value)
    )


def read_columns(value: Any, parameter: str) -> list[Any]:  # noqa: ARG001
    """Names as a list, also where there is only one."""
    return listed(value)


def read_size(value: Any, parameter: str) -> Any:
    """Read ``3`` and ``auto``.

    Examples
    --------
    >>> read_size("3", "size"), read_size("auto", "size"), read_size(2, "size")
    (3, 'auto', 2)
    """
    if not isinstance(value, str) or value == "auto":
        return value
    if not value.lstrip("-").isdecimal():
        raise MisfeatError(
            "{setting}: {text!r} is no integer; give one, or {auto!r}.",
            setting=Setting(parameter),
            text=value,
            auto="auto",
        )
    return int(value)


def read_groups(value: Any, parameter: str) -> list[Any]:
    """Read ``COL`` and ``COL:cut,cut``; a colon that no number or date follows is part of a name.

    Examples
    --------
    >>> read_groups(["age:40,65", "site", "time:of day", "born:1980-01-01"], "groups")
    [{'age': ['40', '65']}, 'site', 'time:of day', {'born': ['1980-01-01']}]
    """
    from misfeat.cohorts.coding import cut_points

    groups: list[Any] = []
    for part in listed(value):
        column, colon, cuts = part.rpartition(":") if isinstance(part, str) else ("", "", "")
        points = cuts.split(",")
        try:
            cut_points(sorted(set(points)), parameter)
        except MisfeatError:
            colon = ""
        groups.append({column: points} if colon else part)
    return groups


def spell_groups(value: Any) -> list[Any]:
    """What `read_groups` reads; what it cannot is spelled as Python would.

    Examples
    --------
    >>> spell_groups(["site", {"age": [40, 65]}])
    ['site', 'age:40,65']
    """
    texts: list[Any] = []
    for part in listed(value):
        if isinstance(part, dict):
            texts += [f"{c}:{_joined(v)}" if _is_plain(v) else str({c: v}) for c, v in part.items()]
        else:
            texts.append(part)
    return texts


def read_bins(value: Any, parameter: str) -> Any:
    """Read ``5``, ``COL=3`` and ``COL=40,65``; one cut point is ``COL=40,``.

    Examples
    --------
    >>> read_bins(["4", "age=40,65", "income=3"], "bins")
    {'*': 4, 'age': ['40', '65'], 'income': 3}
    """
    if not isinstance(value, list | tuple | str):
        return value
    bins: dict[str, Any] = {}
    for text in listed(value):
        column, equals, rule = text.rpartition("=")
        _once(column if equals else "*", bins, parameter)
        if "," in rule and equals:
            bins[column] = [point for point in rule.split(",") if point]
        else:
            setting = Setting(parameter, rule, column if equals else None)
            bins[column if equals else "*"] = _whole(rule, setting)
    return bins


def spell_bins(value: Any) -> list[Any]:
    """What `read_bins` reads.

    Examples
    --------
    >>> spell_bins({"*": 4, "age": ["40"], "income": 3})
    [4, 'age=40,', 'income=3']
    """
    if not isinstance(value, dict):
        return [value]
    rules = {
        column: _joined(rule) + ("," if len(rule) < 2 else "") if isinstance(rule, list) else rule
        for column, rule in value.items()
    }
    return _with_columns(rules)


def read_codes(value: Any, parameter: str) -> Any:  # noqa: ARG001
    """Read ``CODE`` and ``COL=CODE``; a name may hold an equals sign, a code after it may not.

    Examples
    --------
    >>> read_codes(["?", "chol=0", "a=b=9"], "missing_values")
    {'*': ['?'], 'chol': ['0'], 'a=b': ['9']}
    """
    if not isinstance(value, list | tuple):
        return value
    codes: dict[str, list[Any]] = {}
    for code in value:
        column, equals, named = code.rpartition("=") if isinstance(code, str) else ("", "", "")
        if equals and column:
            codes.setdefault(column, []).append(named)
        else:
            codes.setdefault("*", []).append(code)
    return codes


def spell_codes(value: Any) -> list[Any]:
    """What `read_codes` reads.

    Examples
    --------
    >>> spell_codes({"*": ["?"], "chol": [0, 9]})
    ['?', 'chol=0', 'chol=9']
    """
    if not isinstance(value, dict):
        return listed(value)
    return [
        said
        for column, codes in value.items()
        for code in listed(codes)
        for said in _with_columns({column: code})
    ]


def read_blocks(value: Any, parameter: str) -> dict[str, Any]:
    """Read ``NAME=COL,COL``.

    Examples
    --------
    >>> read_blocks(["lipids=hdl,ldl"], "blocks")
    {'lipids': ['hdl', 'ldl']}
    """
    if isinstance(value, dict):
        return value
    pairs = _pairs(value, parameter, "lipids=hdl,ldl")
    return {name: split(members, ",") for name, members in pairs.items()}


def read_costs(value: Any, parameter: str) -> dict[str, float]:
    """Read ``COL=5``.

    Examples
    --------
    >>> read_costs(["mri=400"], "costs")
    {'mri': 400.0}
    """
    if isinstance(value, dict):
        return value
    pairs = _pairs(value, parameter, "mri=400")
    return {c: _number(cost, Setting(parameter, cost, c)) for c, cost in pairs.items()}


def read_ways(value: Any, parameter: str) -> dict[str, str]:
    """Read ``COL=text``.

    Examples
    --------
    >>> read_ways(["zip=text", "opened=day first"], "read")
    {'zip': 'text', 'opened': 'day first'}
    """
    return value if isinstance(value, dict) else _pairs(value, parameter, "zip=text")


def read_design(value: Any, parameter: str) -> dict[str, Any]:
    """Read ``strata=COL`` and ``cluster=COL``.

    Examples
    --------
    >>> read_design(["strata=region", "cluster=school"], "design")
    {'strata': 'region', 'cluster': 'school'}
    """
    if isinstance(value, dict):
        return value
    pairs = [text.partition("=") for text in listed(value)]
    for word, equals, column in pairs:
        if not (word and equals and column):
            raise MisfeatError(
                "{setting} says too little; write it as {example}.",
                setting=Setting(parameter, word),
                example="strata=region",
            )
    found = {word: column for word, _, column in pairs}
    if len(found) < len(pairs):
        raise MisfeatError(
            "{setting} names two columns of one kind; join them into one column.",
            setting=Setting(parameter, list(value)),
        )
    return found


def spell_by_name(value: Any) -> list[Any]:
    """A text a column, or the values as they are."""
    return _with_columns(value) if isinstance(value, dict) else listed(value)


def split(text: str, separator: str) -> list[str]:
    """The parts of a text, without spaces around them.

    Examples
    --------
    >>> split("gain, add", ",")
    ['gain', 'add']
    """
    return [part.strip() for part in text.split(separator) if part.strip()]


def _pairs(value: Any, parameter: str, example: str) -> dict[str, str]:
    """What texts such as ``NAME=REST`` say, each name once."""
    pairs: dict[str, str] = {}
    for text in listed(value):
        name, equals, rest = text.rpartition("=")
        if not (name and equals and rest):
            raise MisfeatError(
                "{setting} says too little; write it as {example}.",
                setting=Setting(parameter, text),
                example=example,
            )
        _once(name, pairs, parameter)
        pairs[name] = rest
    return pairs


def _once(name: str, said: dict[str, Any], parameter: str) -> None:
    """Raise where a name was said before; the second would silently replace the first."""
    if name in said:
        raise MisfeatError(
            "{setting} is given twice{where}; give it once.",
            setting=Setting(parameter),
            where="" if name == "*" else f" for {name!r}",
        )


def _whole(text: str, setting: Setting) -> int:
    try:
        return int(text)
    except ValueError:
        raise MisfeatError(
            "{setting}: {text!r} is no integer.", setting=setting, text=text
        ) from None


def _number(text: str, setting: Setting) -> float:
    try:
        return float(text)
    except ValueError:
        raise MisfeatError(
            "{setting}: {text!r} is no number.", setting=setting, text=text
        ) from None


def _is_plain(value: Any) -> bool:
    return not isinstance(value, dict) and each(lambda part: is_text(part) or is_number(part))(
        value
    )


def _joined(value: Any) -> str:
    return ",".join(map(_tidy, listed(value)))


def _tidy(value: Any) -> str:
    """A number without digits that say nothing."""
    return (
        f"{value:g}" if isinstance(value, float) and f"{value:g}" == f"{value:.15g}" else str(value)
    )


def _with_columns(values: dict[str, Any]) -> list[Any]:
    return [v if c == "*" else f"{c}={_joined(v)}" for c, v in values.items()]
