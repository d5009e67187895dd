"""Values of options: read from the command line or a settings file, and spelled in messages.

A parameter names the form that its option is read in (`Option.reads` in
`misfeat.parameters.declaration`); a plain form follows from what the parameter takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from misfeat.exceptions import MisfeatError, Setting

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Form:
    """How a value is written outside Python."""

    words: str
    """What a settings file may hold, for messages."""
    fits: Callable[[Any], bool]
    """Whether a value from a settings file is of this form."""
    hint: Any = str
    """What the command line reads: texts, where an option may be repeated."""
    read: Callable[[Any, str], Any] = lambda value, parameter: value  # noqa: ARG005
    """Makes the value for Python, given the parameter's name for messages."""
    spell: Callable[[Any], list[Any]] = lambda value: [value]
    """The inverse of `read`: a part for each time that the option stands on the command line."""
    names_columns: bool = False
    """Whether a shell completes names of columns."""
    is_path: bool = False
    """Whether it names a file; a settings file does so starting from its own folder."""

    @property
    def is_repeated(self) -> bool:
        """Whether the option may stand on the command line several times."""
        return bool(self.hint == list[str])


def is_text(value: Any) -> bool:
    """Whether a value is a text."""
    return isinstance(value, str)


def is_integer(value: Any) -> bool:
    """Whether a value is an integer; true and false are not."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether a value is a number; true and false are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def as_list(value: Any) -> list[Any]:
    """The parts of a list, or the single value."""
    return list(value) if isinstance(value, list | tuple) else [value]


def each(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Whether a value, or every part of a list, is of a kind."""
    return lambda value: all(map(fits, as_list(value)))


def by_name(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Whether a value is a table of values of a kind, or texts that spell one."""
    return lambda value: (
        all(map(fits, value.values())) if isinstance(value, dict) else each(is_text)(value)
    )


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
    """Read ``COL`` and ``COL:cut,cut``; a colon that no number or date follows is part of a name.

    Examples
    --------
    >>> read_groups(["age:40,65", "site", "time:of day", "born:1980-01-01"], "groups")
    [{'age': ['40', '65']}, 'site', 'time:of day', {'born': ['1980-01-01']}]
    """
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


def spell_groups(value: Any) -> list[Any]:
    """What `read_groups` reads; what it cannot is spelled as Python would."""
    texts: list[Any] = []
    for part in as_list(value):
        if isinstance(part, dict):
            for column, cuts in part.items():
                plain = all(is_text(cut) or is_number(cut) for cut in as_list(cuts))
                texts.append(f"{column}:{_joined(cuts)}" if plain else str({column: cuts}))
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
    for text in as_list(value):
        column, equals, rule = text.rpartition("=")
        _check_new(column if equals else "*", bins, parameter)
        if "," in rule and equals:
            bins[column] = [point for point in rule.split(",") if point]
        else:
            setting = Setting(parameter, rule, column if equals else None)
            bins[column if equals else "*"] = _parsed(int, rule, setting)
    return bins


def spell_bins(value: Any) -> list[Any]:
    """What `read_bins` reads."""
    if not isinstance(value, dict):
        return [value]
    rules = {
        column: _joined(rule) + ("," if len(rule) < 2 else "") if isinstance(rule, list) else rule
        for column, rule in value.items()
    }
    return spell_by_name(rules)


def read_missing_values(value: Any, parameter: str) -> Any:  # noqa: ARG001
    """Read ``VALUE`` and ``COL=VALUE``; a name may hold an equals sign, a value after it may not.

    Examples
    --------
    >>> read_missing_values(["?", "chol=0", "a=b=9"], "missing_values")
    {'*': ['?'], 'chol': ['0'], 'a=b': ['9']}
    """
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


def spell_missing_values(value: Any) -> list[Any]:
    """What `read_missing_values` reads."""
    if not isinstance(value, dict):
        return as_list(value)
    parts = [(column, part) for column, values in value.items() for part in as_list(values)]
    return [text for column, part in parts for text in spell_by_name({column: part})]


def read_blocks(value: Any, parameter: str) -> dict[str, Any]:
    """Read ``NAME=COL,COL``."""
    if isinstance(value, dict):
        return value
    pairs = _pairs(value, parameter, "lipids=hdl,ldl")
    return {
        name: [member.strip() for member in members.split(",") if member.strip()]
        for name, members in pairs.items()
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
    pairs = [text.partition("=") for text in as_list(value)]
    for word, equals, column in pairs:
        if not (word and equals and column):
            raise _too_short(parameter, word, "strata=region")
    design = {word: column for word, _, column in pairs}
    if len(design) < len(pairs):
        raise MisfeatError(
            "{setting} names two columns of one kind; join them into one column.",
            setting=Setting(parameter, list(value)),
        )
    return design


def spell_by_name(value: Any) -> list[Any]:
    """A text ``COL=value`` for each column, or the values as they are."""
    if not isinstance(value, dict):
        return as_list(value)
    return [part if c == "*" else f"{c}={_joined(part)}" for c, part in value.items()]


def _pairs(value: Any, parameter: str, example: str) -> dict[str, str]:
    """Texts ``NAME=REST`` as a dictionary, each name once."""
    pairs: dict[str, str] = {}
    for text in as_list(value):
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


def _joined(value: Any) -> str:
    """Parts with commas between, numbers without digits that say nothing."""
    parts = [
        f"{part:g}" if isinstance(part, float) and f"{part:g}" == f"{part:.15g}" else str(part)
        for part in as_list(value)
    ]
    return ",".join(parts)


TEXT = Form("a text", is_text)
PATH = Form("a text", is_text, is_path=True)
NUMBER = Form("a number", is_number, hint=float)
FLAG = Form("true or false", lambda value: isinstance(value, bool), hint=bool)
COLUMN = Form("a text", is_text, names_columns=True)
COSTS = Form(
    "a table such as {mri = 400}, or a list of texts such as 'mri=400'",
    by_name(is_number),
    list[str],
    read_costs,
    spell_by_name,
    names_columns=True,
)
PLAIN = {str: TEXT, int: Form("an integer", is_integer, hint=int), float: NUMBER, bool: FLAG}
"""Forms of plain values, by their type in Python."""
FORMS = {
    "columns": Form(
        "a text or a list of texts",
        each(is_text),
        list[str],
        lambda value, parameter: as_list(value),  # noqa: ARG005
        as_list,
        names_columns=True,
    ),
    "groups": Form(
        "a text such as 'age:40,65', a table such as {age = [40, 65]}, or a list of these",
        each(lambda part: isinstance(part, str | dict)),
        list[str],
        read_groups,
        spell_groups,
        names_columns=True,
    ),
    "bins": Form(
        "an integer, a table such as {age = 3}, or a list of texts such as 'age=40,65'",
        lambda value: is_integer(value) or isinstance(value, dict) or each(is_text)(value),
        list[str],
        read_bins,
        spell_bins,
    ),
    "missing_values": Form(
        "a text, a number, a list of these, or a table such as {chol = [0]}",
        lambda value: (
            isinstance(value, dict) or each(lambda part: is_text(part) or is_number(part))(value)
        ),
        list[str],
        read_missing_values,
        spell_missing_values,
    ),
    "blocks": Form(
        "a table such as {lipids = ['hdl', 'ldl']}, or a list of texts such as 'lipids=hdl,ldl'",
        by_name(lambda part: isinstance(part, list)),
        list[str],
        read_blocks,
        spell_by_name,
    ),
    "ways": Form(
        "a table such as {zip = 'text'}, or a list of texts such as 'zip=text'",
        by_name(is_text),
        list[str],
        read_ways,
        spell_by_name,
        names_columns=True,
    ),
    "design": Form(
        "a table such as {strata = 'region'}, or a list of texts such as 'strata=region'",
        by_name(is_text),
        list[str],
        read_design,
        spell_by_name,
    ),
    "completer": TEXT,
    "size": Form(
        "an integer, or 'auto'",
        lambda value: is_integer(value) or value == "auto" or str(value).isdecimal(),
        str,
        read_size,
    ),
}
"""Forms of all other values, by the name that a parameter gives."""
