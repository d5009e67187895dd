"""The forms of a value: on the command line, in a settings file, and back in a message.

A parameter names the form that the command line reads it in (`misfeat.parameters.Option.reads`); a
plain one follows from what the parameter takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from misfeat.exceptions import MisfeatError, Setting

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Form:
    """How a value is said outside Python.

    Attributes
    ----------
    words : str
        What a settings file may say, for messages.
    fits : callable
        Whether a value from a settings file is of this form.
    hint : type
        What the command line reads: texts, where an option may be repeated.
    read : callable
        Makes the value for Python from what was said, given the parameter's name for messages.
    spell : callable
        Makes what would be said on the command line from the value for Python; a part for each time
        that the option stands there.
    names_columns : bool
        Whether a shell completes names of columns.
    is_path : bool
        Whether it names a file; a settings file does so starting from its own folder.
    """

    words: str
    fits: Callable[[Any], bool]
    hint: Any = str
    read: Callable[[Any, str], Any] = lambda value, parameter: value  # noqa: ARG005
    spell: Callable[[Any], list[Any]] = lambda value: [value]
    names_columns: bool = False
    is_path: bool = False

    @property
    def is_repeated(self) -> bool:
        """Whether the option may stand on the command line several times."""
        return bool(self.hint == list[str])


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _each(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Whether a value, or every part of a list, is of a kind."""
    return lambda value: all(map(fits, _listed(value)))


def _by_name(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Whether a value is a table of things of a kind, or says the same in texts."""
    return lambda value: (
        all(map(fits, value.values())) if isinstance(value, dict) else _each(_is_text)(value)
    )


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def read_columns(value: Any, parameter: str) -> list[Any]:  # noqa: ARG001
    """Names as a list, also where there is only one."""
    return _listed(value)


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
    from misfeat.cohorts.binning import cut_points

    groups: list[Any] = []
    for part in _listed(value):
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
    for part in _listed(value):
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
    for text in _listed(value):
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
        return _listed(value)
    return [
        said
        for column, codes in value.items()
        for code in _listed(codes)
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
    pairs = [text.partition("=") for text in _listed(value)]
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


def _spell_by_name(value: Any) -> list[Any]:
    return _with_columns(value) if isinstance(value, dict) else _listed(value)


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
    for text in _listed(value):
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
    return not isinstance(value, dict) and _each(lambda part: _is_text(part) or _is_number(part))(
        value
    )


def _joined(value: Any) -> str:
    return ",".join(map(_tidy, _listed(value)))


def _tidy(value: Any) -> str:
    """A number without digits that say nothing."""
    return (
        f"{value:g}" if isinstance(value, float) and f"{value:g}" == f"{value:.15g}" else str(value)
    )


def _with_columns(values: dict[str, Any]) -> list[Any]:
    return [v if c == "*" else f"{c}={_joined(v)}" for c, v in values.items()]


TEXT = Form("a text", _is_text)
PATH = Form("a text", _is_text, is_path=True)
WHOLE = Form("an integer", _is_whole, hint=int)
NUMBER = Form("a number", _is_number, hint=float)
FLAG = Form("true or false", _is_flag, hint=bool)
COLUMN = Form("a text", _is_text, names_columns=True)
COSTS = Form(
    "a table such as {mri = 400}, or a list of texts such as 'mri=400'",
    _by_name(_is_number),
    list[str],
    read_costs,
    _spell_by_name,
    names_columns=True,
)
PLAIN = {str: TEXT, int: WHOLE, float: NUMBER, bool: FLAG}
"""Forms of plain values, by their type in Python."""
FORMS = {
    "columns": Form(
        "a text or a list of texts",
        _each(_is_text),
        list[str],
        read_columns,
        _listed,
        names_columns=True,
    ),
    "groups": Form(
        "a text such as 'age:40,65', a table such as {age = [40, 65]}, or a list of these",
        _each(lambda part: isinstance(part, str | dict)),
        list[str],
        read_groups,
        spell_groups,
        names_columns=True,
    ),
    "bins": Form(
        "an integer, a table such as {age = 3}, or a list of texts such as 'age=40,65'",
        lambda value: _is_whole(value) or isinstance(value, dict) or _each(_is_text)(value),
        list[str],
        read_bins,
        spell_bins,
    ),
    "codes": Form(
        "a text, a number, a list of these, or a table such as {chol = [0]}",
        lambda value: (
            isinstance(value, dict) or _each(lambda part: _is_text(part) or _is_number(part))(value)
        ),
        list[str],
        read_codes,
        spell_codes,
    ),
    "blocks": Form(
        "a table such as {lipids = ['hdl', 'ldl']}, or a list of texts such as 'lipids=hdl,ldl'",
        _by_name(lambda part: isinstance(part, list)),
        list[str],
        read_blocks,
        _spell_by_name,
    ),
    "ways": Form(
        "a table such as {zip = 'text'}, or a list of texts such as 'zip=text'",
        _by_name(_is_text),
        list[str],
        read_ways,
        _spell_by_name,
        names_columns=True,
    ),
    "design": Form(
        "a table such as {strata = 'region'}, or a list of texts such as 'strata=region'",
        _by_name(_is_text),
        list[str],
        read_design,
        _spell_by_name,
    ),
    "completer": TEXT,
    "size": Form(
        "an integer, or 'auto'",
        lambda value: _is_whole(value) or value == "auto" or str(value).isdecimal(),
        str,
        read_size,
    ),
}
"""Forms of all other values, by the name that a parameter gives."""
