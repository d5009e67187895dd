"""The options of `misfeat run`: one field each, from which Typer makes the command line."""

import inspect
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_origin, get_type_hints

import typer

from misfeat.exceptions import MisfeatError
from misfeat.messages import Setting, shortened
from misfeat.parameters.coding_parameters import CodingParameters
from misfeat.parameters.declaration import parameters_of
from misfeat.selector_parameters import SelectorParameters

if TYPE_CHECKING:
    from misfeat.selector import SubgroupSelector


def as_list(value: Any) -> list[Any]:
    """The parts of a list, or the single value."""
    return list(value) if isinstance(value, list | tuple) else [value]


def read_size(value: Any) -> Any:
    """Read ``3`` and ``auto``."""
    if not isinstance(value, str) or value == "auto":
        return value
    if not value.lstrip("-").isdecimal():
        raise MisfeatError(f"{Setting('size')}: {value!r} is not an integer; give one, or 'auto'.")
    return int(value)


def read_groups(value: Any) -> list[Any]:
    """Read ``COL`` and ``COL:cut,cut``; a colon without a number or date after it is in a name."""
    from misfeat.cohorts.column_coding import cut_points

    groups: list[Any] = []
    for part in as_list(value):
        column, colon, cuts = part.rpartition(":") if isinstance(part, str) else ("", "", "")
        points = cuts.split(",")
        try:
            cut_points(sorted(set(points)), "groups")
        except MisfeatError:
            colon = ""
        groups.append({column: points} if colon else part)
    return groups


def read_bins(value: Any) -> Any:
    """Read ``5``, ``COL=3`` and ``COL=40,65``; one cut point is ``COL=40,``."""
    if not isinstance(value, list | tuple | str):
        return value
    bins: dict[str, Any] = {}
    for text in map(str, as_list(value)):
        column, equals, rule = text.rpartition("=")
        _check_new(column if equals else "*", bins, "bins")
        if "," in rule and equals:
            bins[column] = [point for point in rule.split(",") if point]
        else:
            setting = Setting("bins", rule, column if equals else None)
            bins[column if equals else "*"] = _parsed(int, rule, setting)
    return bins


def read_missing_values(value: Any) -> Any:
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


def read_blocks(value: Any) -> dict[str, Any]:
    """Read ``NAME=COL,COL``."""
    if isinstance(value, dict):
        return value
    return {
        name: [member.strip() for member in members.split(",") if member.strip()]
        for name, members in _pairs(value, "blocks", "lipids=hdl,ldl").items()
    }


def read_costs(value: Any) -> dict[str, float]:
    """Read ``COL=5``."""
    if isinstance(value, dict):
        return value
    pairs = _pairs(value, "costs", "mri=400").items()
    return {column: _parsed(float, cost, Setting("costs", cost, column)) for column, cost in pairs}


# What makes the value for Python; others are as given.
READERS: dict[str, Callable[[Any], Any]] = {
    "by": read_groups,
    "size": read_size,
    "include": as_list,
    "exclude": as_list,
    # A column's name may hold an equals sign.
    "design": lambda value: _pairs(value, "design", "strata=region", str.partition),
    "block": read_blocks,
    "bins": read_bins,
    "missing": read_missing_values,
    "read": lambda value: _pairs(value, "read", "zip=text"),
    "cost": read_costs,
}


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


def _pairs(
    value: Any, parameter: str, example: str, parted: Callable[..., Any] = str.rpartition
) -> dict[str, str]:
    """Texts ``NAME=REST`` as a dictionary, each name once; a dictionary as it is."""
    if isinstance(value, dict):
        return value
    pairs: dict[str, str] = {}
    for text in map(str, as_list(value)):
        name, equals, rest = parted(text, "=")
        if not (name and equals and rest):
            raise MisfeatError(
                f"{Setting(parameter, text)} says too little; write it as {example}."
            )
        _check_new(name, pairs, parameter)
        pairs[name] = rest
    return pairs


def _check_new(name: str, known: dict[str, Any], parameter: str) -> None:
    """Raise where a name was given before; the second would silently replace the first."""
    if name in known:
        where = "" if name == "*" else f" for {name!r}"
        raise MisfeatError(f"{Setting(parameter)} is given twice{where}; give it once.")


def _parsed(kind: type, text: str, setting: Setting) -> Any:
    try:
        return kind(text)
    except ValueError:
        words = "an integer" if kind is int else "a number"
        raise MisfeatError(f"{setting}: {text!r} is not {words}.") from None


Several = list[str] | None
LONGEST = 60  # characters of a value in a message; a longer one is left out


@dataclass(frozen=True)
class RunSettings:
    """The options of `misfeat run`: texts as on the command line, or values of a settings file."""

    table: str | None = None
    target: str | None = None
    event: str | None = None
    by: list[str] | None = None
    config: str | None = None
    size: str = "3"
    top: int = 10
    estimate: str = "population"
    measure: str = "mutual_info"
    weights: str = "sampling"
    design: Several = None
    weight: str | None = None
    include: Several = None
    exclude: Several = None
    exclude_suspects: bool = False
    block: Several = None
    bins: list[str] | None = None
    max_categories: int | None = None
    target_kind: str = "auto"
    missing: Several = None
    read: Several = None
    missing_threshold: float = 0.95
    sporadic: str = "category"
    min_rows: int | None = None
    small_groups: str = "merge"
    missing_groups: str = "own"
    max_sets: int = 1_000_000
    max_rows: int | None = None
    completer: str = "auto"
    confidence: float = 0.9
    budget: float = 1.0
    sampler: str = "randwalk"
    seed: int | None = None
    device: str = "auto"
    jobs: int = -1
    memory_limit: float | None = None
    worth: bool = True
    cost: Several = None
    validate: bool = False
    out: str | None = None
    title: str | None = None
    tables: bool = False
    timings: bool = False
    json: bool = False
    quiet: bool = False

    def selector(self) -> "SubgroupSelector":
        """The selector that these settings ask for."""
        from misfeat.cohorts.column_coding import Coding
        from misfeat.selector import SubgroupSelector

        coding = Coding(**self._parameters_of(CodingParameters))
        params = self._parameters_of(SelectorParameters)
        if self.exclude_suspects:
            params["exclude"] = [*params.get("exclude", ()), "suspects"]
        return SubgroupSelector(**params, coding=coding, verbose=int(not self.quiet))

    def costs(self) -> dict[str, float]:
        """What recording features costs, by feature."""
        from misfeat.answers.recording_gains import checked_cost

        return {name: checked_cost(name, c) for name, c in (self.value("cost") or {}).items()}

    @property
    def outcome(self) -> str | tuple[str | None, ...] | None:
        """The target as `fit` takes it: a column, or a time and an event."""
        if self.event is None:
            return self.target
        column, _, value = self.event.partition("=")
        return (self.target, column, value) if value else (self.target, column)

    def value(self, name: str) -> Any:
        """The value of an option for Python."""
        value, read = getattr(self, name), READERS.get(name)
        return value if value is None or read is None else read(value)

    def _parameters_of(self, owner: type) -> dict[str, Any]:
        """Values by parameter; those left to their own defaults are not among them."""
        names = [name for name in parameters_of(owner) if name in _OPTIONS]
        values = {name: self.value(_OPTIONS[name]) for name in names}
        return {name: value for name, value in values.items() if value is not None}


@cache
def _about(file: str) -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name(file).read_text(encoding="utf-8"))


_OF_RUN = _about("run_options.toml")
PARAMETERS = {name: said["parameter"] for name, said in _OF_RUN.items() if "parameter" in said}
"""Parameters in Python by option, where they have another name."""
NAMES = tuple(one.name for one in fields(RunSettings))
_OPTIONS = {PARAMETERS.get(name, name): name for name in NAMES}
"""Options by parameter; `target` is that of Coding."""
PATHS = ("table", "config", "out")
"""Options that name a file; a settings file does so starting from its own folder."""
_OF_OTHERS = {name: f"--{name}" for name in ("subgroup", "feature", "site", "own", "key", "rows")}
_OF_OTHERS |= {"features": "--feature", "questions": "--question"}
"""Parameters that are options of other commands than `misfeat run`."""


def as_option(setting: Setting) -> str:
    """A parameter of a message in the words of the command line."""
    if setting.parameter in _OF_OTHERS:
        flag = _OF_OTHERS[setting.parameter]
        return f"{flag} {shortened(setting.value)}" if setting.has_value else flag
    if setting.parameter not in _OPTIONS:
        return str(setting)
    name = _OPTIONS[setting.parameter]
    flag = "TABLE" if name == "table" else f"--{name.replace('_', '-')}"
    if setting.column is None and not setting.has_value:
        return flag
    value = setting.value if setting.has_value else "VALUE"
    if name == "exclude" and value == "suspects":
        return "--exclude-suspects"
    if name in PATHS:
        return f"{flag} {value!r}"
    parts = spelled_parts(name, value if setting.column is None else {setting.column: value})
    text = " ".join(f"{flag} {shortened(part)}" for part in parts)
    return text if 0 < len(text) <= LONGEST + len(flag) else flag


def run_arguments() -> Iterable[inspect.Parameter]:
    """The arguments of a function that Typer makes the options of `misfeat run` from."""
    hints = get_type_hints(RunSettings)
    for one in fields(RunSettings):
        yield inspect.Parameter(
            one.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=one.default,
            annotation=Annotated[hints[one.name], _option(_OF_RUN[one.name])],
        )


def with_help(argument: inspect.Parameter, command: str) -> inspect.Parameter:
    """An argument of a command with what command_options.toml says about it, if anything."""
    about = _about("command_options.toml")
    words = about.get(command, {}).get(argument.name) or about["every"].get(argument.name)
    if words is None or get_origin(argument.annotation) is Annotated:
        return argument
    return argument.replace(annotation=Annotated[argument.annotation, _option(words)])


def _option(about: dict[str, Any]) -> Any:
    said = {name: value for name, value in about.items() if name != "parameter"}
    make: Any = typer.Argument if said.pop("argument", False) else typer.Option
    return make(*said.pop("flags", ()), **said)
