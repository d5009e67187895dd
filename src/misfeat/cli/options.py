"""The options of `misfeat run`, and everything that it was told by them.

There is one for each parameter that has one, and there are the command line's own.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from misfeat.cli.option_values import COLUMN, COSTS, FLAG, FORMS, NUMBER, PATH, PLAIN, TEXT, Form
from misfeat.cli.shell_completion import complete_column, complete_names
from misfeat.exceptions import UNSAID, shortened
from misfeat.parameters.coding import CodingParameters
from misfeat.parameters.declaration import COLUMNS, OUTPUT, PREDICTIONS, TABLE, parameters_of
from misfeat.selector_parameters import SelectorParameters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from misfeat.exceptions import Setting
    from misfeat.parameters.declaration import Parameter
    from misfeat.selector import SubgroupSelector

    Names = Callable[[], Iterable[str]]

PANELS = (TABLE, COLUMNS, PREDICTIONS, OUTPUT, None)
"""Headings in the order of ``--help``; options without one stand apart."""
LONGEST = 60
"""Characters of a value in a message; a longer one is left out."""
NO_NOTES, TRACEBACK = "No notes and no progress.", "Show the traceback of an error."
"""Help of options that every command has."""


@dataclass(frozen=True)
class RunOption:
    """One option of `misfeat run`."""

    name: str
    """As in a settings file, with underscores."""
    form: Form
    """How its value is said."""
    help: str
    """One line for ``--help``."""
    panel: str | None = None
    """The heading it stands under."""
    default: Any = None
    """What holds where it is not given; None where that is the parameter's to say."""
    parameter: str | None = None
    """The name in Python, where it is another."""
    owner: type | None = None
    """Whose parameter it is; None for the command line's own."""
    flags: tuple[str, ...] = ()
    """Its spellings, where they do not follow from the name."""
    metavar: str | None = None
    """What help calls it, where it is an argument without a flag."""
    names: Names | None = None
    """The values to choose from."""
    in_file: bool = True
    """Whether a settings file may hold it."""
    kept: bool = True
    """Whether it is saved with a run: not what only says how and where answers are shown."""

    @property
    def key(self) -> str:
        """The name in a settings file."""
        return self.name.replace("_", "-")

    @property
    def python_name(self) -> str:
        """The name in Python."""
        return self.parameter or self.name

    def argument(self) -> inspect.Parameter:
        """The argument of a function that typer makes the option from."""
        hint = self.form.hint if self.default is not None else self.form.hint | None
        return inspect.Parameter(
            self.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=self.default,
            annotation=Annotated[hint, self._option()],
        )

    def spelled(self, setting: Setting) -> str:
        """The option as it would stand on the command line."""
        flag = self.metavar or f"--{self.key}"
        if setting.column is None and not setting.has_value:
            return flag
        value = setting.value if setting.has_value else "VALUE"
        if self.form.is_path:
            return f"{flag} {value!r}"
        said = self.form.spell(value if setting.column is None else {setting.column: value})
        text = " ".join(f"{flag} {shortened(part)}" for part in said)
        return text if 0 < len(text) <= LONGEST + len(flag) else flag

    def _option(self) -> Any:
        if self.metavar is not None:
            return typer.Argument(metavar=self.metavar, help=self.help)
        complete: Callable[..., list[str]] | None = None
        if self.names is not None:
            complete = complete_names(self.names)
        elif self.form.names_columns:
            complete = complete_column
        return typer.Option(
            *self.flags, help=self.help, rich_help_panel=self.panel, autocompletion=complete
        )


def _completers() -> Iterable[str]:
    from misfeat.completion.registry import completer_names

    return completer_names()


def _said_by(owner: type) -> list[RunOption]:
    """The options of the parameters of an estimator."""
    return [
        _of_parameter(one, owner) for one in parameters_of(owner).values() if one.option is not None
    ]


def _of_parameter(one: Parameter, owner: type) -> RunOption:
    said: Any = one.option
    form = PLAIN[one.takes.kind] if said.reads == "plain" else FORMS[said.reads]
    default = one.default if said.default is UNSAID else said.default
    option = RunOption(
        name=one.option_name,
        form=form,
        help=said.help,
        panel=said.panel,
        default=None if form.is_repeated else default,
        parameter=one.name,
        owner=owner,
    )
    if said.reads == "completer":
        return replace(option, names=_completers)
    return replace(option, names=lambda: one.takes.choices) if one.takes.choices else option


FIRST = [
    RunOption(
        "table",
        PATH,
        "A CSV, TSV or Parquet file, folder or glob, postgresql://... or s3://...",
        TABLE,
        metavar="TABLE",
    ),
    RunOption("target", COLUMN, "The target column.", TABLE),
]
CONFIG = RunOption(
    "config",
    PATH,
    "A TOML file with any of these options; the command line wins over it.",
    TABLE,
    in_file=False,
)
LAST = [
    RunOption(
        "weight",
        COLUMN,
        "A column that says how much every row counts.",
        TABLE,
        parameter="sample_weight",
    ),
    RunOption(
        "memory_limit",
        NUMBER,
        "The share of the free memory that scores may take, 0.6 if not given.",
        PREDICTIONS,
    ),
    RunOption(
        "worth", FLAG, "Say what unrecorded features are worth collecting.", OUTPUT, default=True
    ),
    RunOption(
        "cost",
        COSTS,
        "What recording a feature costs, COL=5 (else 1). May be repeated.",
        OUTPUT,
        parameter="costs",
    ),
    RunOption(
        "validate",
        FLAG,
        "Leave features and rows out to say how far answers can be trusted.",
        OUTPUT,
        default=False,
        flags=("--validate",),
    ),
    RunOption("out", PATH, "Save the run, its settings and its report here.", OUTPUT, kept=False),
    RunOption("title", TEXT, "The title of the report.", OUTPUT),
    RunOption(
        "tables",
        FLAG,
        "Print tables of the best sets, too.",
        OUTPUT,
        default=False,
        flags=("--tables",),
        kept=False,
    ),
    RunOption(
        "json",
        FLAG,
        "Print JSON lines instead of sentences.",
        OUTPUT,
        default=False,
        flags=("--json",),
        kept=False,
    ),
    RunOption("quiet", FLAG, NO_NOTES, default=False, flags=("--quiet", "-q"), kept=False),
    RunOption("debug", FLAG, TRACEBACK, default=False, flags=("--debug",), in_file=False),
]


def _every_option() -> dict[str, RunOption]:
    groups, *others = _said_by(SelectorParameters)
    options = [*FIRST, groups, CONFIG, *others, *_said_by(CodingParameters), *LAST]
    options.sort(key=lambda option: PANELS.index(option.panel))
    return {option.name: option for option in options}


OPTIONS = _every_option()
"""The options of `misfeat run` by name, in the order of its help."""
_BY_PARAMETER = {option.python_name: option for option in OPTIONS.values()}


_OF_QUESTIONS = {
    "subgroup": "--subgroup",
    "feature": "--feature",
    "features": "--feature",
    "questions": "--question",
}
"""What `misfeat ask` and `misfeat export` are told about questions, and `misfeat run` is not."""


def as_option(setting: Setting) -> str:
    """A parameter of a message in the words of the command line.

    Examples
    --------
    >>> from misfeat.exceptions import Setting
    >>> as_option(Setting("k", 0)), as_option(Setting("min_rows"))
    ('--top 0', '--min-rows')
    >>> as_option(Setting("bins", [40, 65], column="age"))
    "--bins 'age=40,65'"
    >>> as_option(Setting("missing_values", column="chol"))
    "--missing 'chol=VALUE'"
    """
    if setting.parameter in _OF_QUESTIONS and not setting.has_value:
        return _OF_QUESTIONS[setting.parameter]
    option = _BY_PARAMETER.get(setting.parameter)
    return str(setting) if option is None else option.spelled(setting)


@dataclass(frozen=True)
class RunSettings:
    """What was said to `misfeat run`, else what is usual.

    Examples
    --------
    >>> settings = RunSettings({"by": ["site", "age:40"], "bins": ["age=3"], "top": 5})
    >>> settings["top"], settings["size"]
    (5, 3)
    >>> settings.selector()
    SubgroupSelector(coding=Coding(bins={'age': 3}),
                     groups=['site', {'age': ['40']}], k=5, n_jobs=-1, verbose=1)
    """

    said: Mapping[str, Any] = field(default_factory=dict)
    """Values by the names of options: texts as they stand on the command line, or what a file may
    say instead.
    """

    def __getitem__(self, name: str) -> Any:
        return self.said.get(name, OPTIONS[name].default)

    def selector(self) -> SubgroupSelector:
        """The selector that these settings ask for."""
        from misfeat.cohorts.coding import Coding
        from misfeat.selector import SubgroupSelector

        coding = Coding(**self._parameters_of(CodingParameters))
        asked = self._parameters_of(SelectorParameters)
        return SubgroupSelector(**asked, coding=coding, verbose=int(not self["quiet"]))

    def costs(self) -> dict[str, float]:
        """What recording features costs, by feature."""
        from misfeat.answers.options import check_costs

        return check_costs(self._value("cost") or {})

    def blocks(self) -> Mapping[str, Any]:
        """Features that enter sets together, by the name they go under."""
        return self._value("block") or {}

    def _parameters_of(self, owner: type) -> dict[str, Any]:
        """Values for Python by parameter; those left to their own defaults are not among them."""
        values = {
            option.python_name: self._value(option.name)
            for option in OPTIONS.values()
            if option.owner is owner
        }
        return {name: value for name, value in values.items() if value is not None}

    def _value(self, name: str) -> Any:
        option = OPTIONS[name]
        if name not in self.said:
            return option.default
        return option.form.read(self.said[name], option.python_name)
