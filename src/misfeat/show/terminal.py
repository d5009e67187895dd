"""A terminal: standard output, tables in which no name commands anything, and a run in it."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, NoReturn

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from misfeat.answers.recommendation import Answer, most_informative
from misfeat.answers.recording_gains import feature_worths
from misfeat.answers.recording_plan import LEAST_SHARE
from misfeat.answers.subgroup_significance import STEP_PERMUTATIONS, USUAL_PERMUTATIONS
from misfeat.messages import visible
from misfeat.number_formatting import p_words, percent, percent_between, score_words
from misfeat.selection import Selection

Line = dict[str, Any]
Spell = Callable[[str], str]

NARROW = 72  # a terminal with fewer columns than this gets fewer columns of a table
UNKNOWN = "–"
BETWEEN = "between"  # the head of intervals, each behind what it is about
UNIT = "nats"  # the head of a column of scores; `print_answer` puts another unit there
WHOLE = " whole"  # the entropy of the target in the subgroup of a line, beside the answer
UNRECORDED = " unrecorded"  # what the subgroup of a line never recorded
STAR = "A star marks a feature that the subgroup never recorded."
ABOUT = {
    "population": ", estimated for the population",
    "above_chance": ", less what chance alone would score",
    "sample": ", of the rows as they are",
}
WORTH = f"Worth recording (if {100 * LEAST_SHARE:.0f} % more is explained, at the usual cost)"
MOST_SENTENCES = 20  # under one heading; of more subgroups the most informative ones are shown


class _StandardOutput(Console):
    def on_broken_pipe(self) -> NoReturn:
        """Let the command line end in its own way where somebody stops reading."""
        raise BrokenPipeError


def new_console() -> Console:
    """Standard output, wide enough for whole names where it is not a terminal."""
    console = _StandardOutput()
    return console if console.is_terminal else _StandardOutput(width=120)


def new_table(title: str | None = None, narrow: bool = False) -> Table:
    """A table in the style of all of them; the title is text, whatever it holds."""
    text = None if title is None else plain_text(title, style="bold")
    padding = (0, 0) if narrow else (0, 1)
    return Table(title=text, title_justify="left", box=box.SIMPLE, padding=padding)


def plain_text(text: str, style: str = "") -> Text:
    """Text as rich prints it, neither markup nor anything that a terminal obeys."""
    return Text(visible(text), style=style)


def print_lines(console: Console, text: Text, first: str = "", then: str = "") -> None:
    """Print a text in lines that fit; outside a terminal it stays on one line."""
    room = console.width - max(len(first), len(then))
    fits = console.is_terminal or console.is_jupyter
    lines = text.wrap(console, room, overflow="fold") if fits else [text]
    for number, line in enumerate(lines):
        line.rstrip()
        console.print(Text(then if number else first) + line, soft_wrap=True)


@dataclass(frozen=True)
class TableColumn:
    """A column of an answer as a terminal shows it."""

    title: str
    text: Callable[[Line], str]  # the cell of a line, from the columns of the answer by name
    number: bool = True  # whether it stands on the right, and is never broken
    spare: int = 0  # without room, those with the greatest number are left out first; 0 never
    starred: str = ""  # the column whose names get a star in this one


def score_share(
    name: str, title: str = "", low: str | None = None, high: str | None = None, spare: int = 0
) -> TableColumn:
    """A score, or a difference of scores, as a share of the uncertainty."""

    def share(line: Line) -> str:
        value = _share(line[name], line)
        if value is None:
            return UNKNOWN
        ends = (None if end is None else _share(line[end], line) for end in (low, high))
        return percent(value, *ends)

    return TableColumn(title or name, share, spare=spare)


def score_share_interval(low: str = "low", high: str = "high", spare: int = 0) -> TableColumn:
    """An interval of scores as shares of the uncertainty; empty where there is none."""

    def shares(line: Line) -> str:
        least, most = _share(line[low], line), _share(line[high], line)
        if least is None or most is None or least == most:
            return ""
        words = percent_between(least, most)
        return words.replace("–", " to ") if least < 0 else words

    return TableColumn(BETWEEN, shares, spare=spare)


def _share(value: float | None, line: Line) -> float | None:
    """A score as a share of the uncertainty in the subgroup of a line."""
    whole = line[WHOLE]
    if value is None or whole is None or math.isnan(value) or not whole > 0:
        return None
    return float(value / whole)


def score(
    name: str, low: str | None = None, high: str | None = None, spare: int = 0
) -> TableColumn:
    """A score as it is, under its unit."""
    if low is None or high is None:
        return number(name, "{:.4f}", UNIT, spare)
    return TableColumn(
        UNIT, lambda line: score_words(line[name], line[low], line[high]), spare=spare
    )


def number(
    name: str, form: str | Callable[[float], str], title: str = "", spare: int = 0
) -> TableColumn:
    """A number in a form of its own."""
    words = form.format if isinstance(form, str) else form

    def cell(line: Line) -> str:
        value = line[name]
        return UNKNOWN if value is None or math.isnan(value) else words(value)

    return TableColumn(title or name, cell, spare=spare)


def p_value(name: str = "p_value", spare: int = 0, of_steps: bool = False) -> TableColumn:
    """A p-value, with ≤ where no permutation reached the score."""

    def cell(line: Line) -> str:
        if line[name] is None or math.isnan(line[name]):
            return UNKNOWN
        usual = STEP_PERMUTATIONS if of_steps else USUAL_PERMUTATIONS
        most = line.get("permutations", usual)
        words = p_words(line[name], most, unadjusted=line["p_value"])
        return words.removeprefix("p ").removeprefix("= ")

    return TableColumn(name.replace("_", " "), cell, spare=spare)


def count(name: str, title: str = "", spare: int = 0) -> TableColumn:
    """A whole number; expected rows are rounded."""
    return number(name, "{:,.0f}", title, spare)


def per_cent(name: str, title: str = "", spare: int = 0) -> TableColumn:
    """A share or a probability."""
    return number(name, lambda share: f"{share:.0%}".replace("%", " %"), title, spare)


def per_cent_between(spare: int = 0) -> TableColumn:
    """An interval of shares."""

    def words(line: Line) -> str:
        least, most = line["low"], line["high"]
        if least == most or math.isnan(least) or math.isnan(most):
            return ""
        return f"{least:.0%} – {most:.0%}".replace("%", " %")

    return TableColumn(BETWEEN, words, spare=spare)


def flag(name: str, title: str = "") -> TableColumn:
    """Whether something holds."""
    return TableColumn(title or name, lambda line: "yes" if line[name] else "no")


def text(name: str, title: str = "", spare: int = 0) -> TableColumn:
    """A text."""
    return TableColumn(title or name, lambda line: str(line[name]), number=False, spare=spare)


def names(name: str, title: str = "", missing: str = "", spare: int = 0) -> TableColumn:
    """Several names, a star behind those that the column called `missing` names too."""
    return TableColumn(
        title or name,
        lambda line: in_a_row(line[name], line[missing] if missing else ()),
        number=False,
        spare=spare,
        starred=missing,
    )


def in_a_row(names: Sequence[str], starred: Sequence[str] = ()) -> str:
    """Names one after the other, ``a, b*, c``, quoted where a reader of CSV needs it."""
    shown = []
    for name in names:
        plain = name and name == name.strip() and not set(name) & set(',"')
        doubled = name.replace('"', '""')
        shown.append((name if plain else f'"{doubled}"') + "*" * (name in starred))
    return ", ".join(shown)


def fitting_table(lines: Sequence[Line], columns: Sequence[TableColumn], console: Console) -> Table:
    """The table of lines, without empty columns and those that a console has no room for."""
    kept = [one for one in columns if {one.text(line) for line in lines} - {"", UNKNOWN}]
    endless = console.options.update(width=100_000)
    while True:
        table = new_table(narrow=console.width < NARROW)
        for one in kept:
            justify: Any = "right" if one.number else "left"
            table.add_column(one.title, justify=justify, overflow="fold", no_wrap=one.number)
        for line in lines:
            # Numbers hold no text of strangers.
            table.add_row(
                *(one.text(line) if one.number else plain_text(one.text(line)) for one in kept)
            )
        spare = max((one.spare for one in kept), default=0)
        if not spare or console.measure(table, options=endless).maximum <= console.width:
            return table
        kept = [one for one in kept if one.spare != spare]


def likely() -> TableColumn:
    """How likely recording a feature raises the best score at all."""

    def cell(line: Line) -> str:
        if math.isnan(line["probability"]):
            return ""
        return f"{100 * line['probability']:.0f} %{', clear' if line['clear'] else ''}"

    return TableColumn("rises at all", cell)


def cost(spare: int) -> TableColumn:
    """What recording a feature costs; empty where it costs as much as usual."""
    return TableColumn(
        "cost", lambda line: "" if line["cost"] == 1 else f"{line['cost']:g}", spare=spare
    )


def rows_and_worth() -> TableColumn:
    """How many rows a subgroup has, and how many of equal weight they are worth."""

    def cell(line: Line) -> str:
        effective = line.get("effective_rows")
        return f"{line['rows']:,}" + ("" if effective is None else f" (worth {effective:,.0f})")

    return TableColumn("rows", cell)


def worth_lines(selection: Selection, costs: Mapping[str, float] | None = None) -> list[Line]:
    """What unrecorded features would be worth; nothing is computed where all were recorded."""
    if not costs and not selection.cohorts.missing.any():
        return []
    return [vars(worth) for worth in feature_worths(selection, costs=costs)]


def with_wholes(selection: Selection, lines: Iterable[Mapping[str, Any]]) -> list[Line]:
    """Lines, each with the entropy of its subgroup and what that never recorded."""
    measure, subgroups = selection.set_scores.measure, selection.cohorts.names
    wholes = dict(zip(subgroups, measure.whole.tolist(), strict=True))
    missing = {
        name: tuple(compress(measure.features, lacking))
        for name, lacking in zip(subgroups, measure.missing, strict=True)
    }
    return [
        {**line, WHOLE: wholes.get(name), UNRECORDED: missing.get(name, ())}
        for line in lines
        for name in [line.get("subgroup", "")]
    ]


def print_sentences(
    screen: Answer, console: Console | None = None, *, spell: Spell = str, collecting: bool = True
) -> None:
    """Print the answer, and before it what may overturn it."""
    console = console or new_console()
    for caution in screen.overturning:
        words = plain_text("Caution: " + spell(caution.words))
        words.stylize("bold red", 0, len("Caution: "))
        print_lines(console, words)
    if screen.overturning:
        console.print()
    print_lines(console, plain_text(spell(screen.sentence), style="bold"))
    shown = most_informative(screen.subgroups, MOST_SENTENCES)
    if len(screen.subgroups) > 1:
        console.print()
        for one in shown:
            sentence, name = plain_text(spell(one.sentence)), visible(one.subgroup)
            if sentence.plain.startswith(name):
                sentence.stylize("bold", 0, len(name))
            print_lines(console, sentence, "• ", "  ")
    reached = [spell(one.model_sentence) for one in shown if one.model_sentence is not None]
    _print_headed(console, "What a model would reach", reached)
    if len(shown) < len(screen.subgroups):
        others = f"and {len(screen.subgroups) - len(shown):,} more subgroups, with less explained"
        more = f"{others}; 'misfeat ask DIR answer --subgroup NAME' shows one."
        print_lines(console, plain_text(more), "• ", "  ")
    if collecting:
        _print_headed(console, WORTH, map(spell, screen.recording))


def print_trust(
    screen: Answer,
    console: Console | None = None,
    *,
    spell: Spell = str,
    validation: str | None = None,
) -> None:
    """Print how far to trust an answer: what validation says, and what may mislead."""
    trust = [] if validation is None else [validation]
    trust += [one.words for one in screen.other_cautions]
    _print_headed(console or new_console(), "How far to trust it", map(spell, trust))


def _print_headed(console: Console, heading: str, sentences: Iterable[str]) -> None:
    """Sentences under a heading; nothing where there are none."""
    lines = list(sentences)
    if not lines:
        return
    console.print()
    console.print(plain_text(heading, style="bold"))
    more = len(lines) - MOST_SENTENCES
    for line in [*lines[:MOST_SENTENCES], *([f"and {more:,} more."] if more > 0 else [])]:
        print_lines(console, plain_text(line), "• ", "  ")
