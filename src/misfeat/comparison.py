"""Two runs side by side: `misfeat.compare`, in a terminal and as JSON lines."""

from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from misfeat.answers.run_comparison import (
    Comparison,
    compare_selections,
    points_in_words,
    share_in_words,
)
from misfeat.exceptions import MisfeatError
from misfeat.messages import Setting, visible
from misfeat.number_formatting import p_words
from misfeat.selection import Selection
from misfeat.show import terminal as tables
from misfeat.show.question_output import as_json
from misfeat.show.terminal import TableColumn, fitting_table, new_console, plain_text

USUAL_NAMES = ("first", "second")


class ShownComparison(Comparison):
    """Two runs, side by side; `misfeat.compare` makes it."""

    def show(self) -> None:
        """Print what changed, as `misfeat compare` does."""
        print_comparison(self)

    def __repr__(self) -> str:
        return f"<Comparison: {visible(self.summary())} Use .show() or .to_frame().>"


def compare(
    first: Any, second: Any, *, size: int | None = None, names: tuple[str, str] | None = None
) -> ShownComparison:
    """Which answers of two runs differ by more than their uncertainty.

    This year against last, or another coding. Compared are, in every subgroup of both
    runs, what each feature explains alone, and what the best set of either run explains in the
    other.

    Parameters
    ----------
    first, second : SubgroupSelector, Selection, str or Path
        Fitted estimators, what they found, or the folders that they were saved to.
    size : int, default=None
        Features of the best sets. Defaults to the smaller `size` of the two runs.
    names : tuple of two str, default=None
        What the two runs are called. Defaults to the names of their folders, else "first" and
        "second".

    Returns
    -------
    Comparison
        With ``sentences()``, ``to_frame()``, ``subgroups_to_frame()`` and ``show()``; ``changes``,
        ``subgroups`` and ``notes`` hold the same as plain objects.

    Examples
    --------
    >>> import numpy as np
    >>> import misfeat
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 1000)
    >>> before = {"a": np.where(rng.random(1000) < 0.8, y, 1 - y), "b": rng.integers(0, 3, 1000)}
    >>> now = {"a": rng.permutation(before["a"]), "b": before["b"]}
    >>> runs = [misfeat.SubgroupSelector(size=1).fit(table, y) for table in (before, now)]
    >>> print(misfeat.compare(*runs).to_frame()[["features", "changed"]])
      features  changed
    0     (a,)     True
    1     (b,)    False
    """
    runs = _selection(first, "first"), _selection(second, "second")
    if names is None:
        paths = [one for one in (first, second) if isinstance(one, str | Path)]
        folders = [Path(one).resolve().name for one in paths]
        names = (folders[0], folders[1]) if len(folders) == 2 and all(folders) else USUAL_NAMES
    return ShownComparison(**vars(compare_selections(*runs, size=size, names=names)))


def _selection(run: Any, parameter: str) -> Selection:
    if isinstance(run, str | Path):
        return Selection.load(run)
    selection = getattr(run, "selection_", run)
    if isinstance(selection, Selection):
        return selection
    raise MisfeatError(
        f"{Setting(parameter, run)} is neither a fitted SubgroupSelector nor a Selection nor the "
        "folder of a run.",
        remedy="Fit it first, or name the folder that it was saved to.",
    )


def print_comparison(
    found: Comparison, console: Console | None = None, spell: Callable[[str], str] = str
) -> None:
    """Print what changed: one sentence for the whole, one a subgroup, then tables and notes."""

    def interval(words: Callable[..., str], *names: str) -> Callable[[dict[str, Any]], str]:
        return lambda line: words(*(line[name] for name in names))

    # Heads are read as markup.
    first, second = (escape(visible(name)) for name in found.names)
    shares = [interval(share_in_words, run, f"{run}_low", f"{run}_high") for run in USUAL_NAMES]
    columns = (
        tables.names("features", "set"),
        TableColumn(first, shares[0], spare=2),
        TableColumn(second, shares[1], spare=1),
        TableColumn("difference", interval(points_in_words, "difference", "low", "high")),
        TableColumn("", interval(p_words, "p_value"), spare=3),
        tables.text("asked", "looked at as", spare=4),
        TableColumn("", lambda line: line["source"] * (line["source"] == "predicted"), False, 1),
    )
    console = console or new_console()
    summary = spell(found.summary())
    console.print(plain_text(summary, style="bold"))
    for one in found.subgroups:
        if one.sentence != summary:
            console.print(visible(spell(one.sentence)), highlight=False, markup=False)
    for one in found.subgroups:
        lines = [asdict(line) for line in found.changed if line.subgroup == one.subgroup]
        if lines:
            console.print(plain_text(one.subgroup, style="bold"))
            console.print(fitting_table(lines, columns, console))
    for note in found.notes:
        console.print(visible(spell(note)), style="dim", highlight=False, markup=False)


def comparison_as_json(found: Comparison) -> Iterator[str]:
    """What changed as lines of JSON: the whole, subgroups, sets and notes, each with its kind."""
    parts = ("names", "target", "unit", "size", "confidence")
    whole = {name: getattr(found, name) for name in parts}
    yield as_json("comparison", whole | {"sentence": found.summary()})
    for subgroup in found.subgroups:
        yield as_json("subgroup", asdict(subgroup))
    for change in found.changes:
        yield as_json("change", asdict(change))
    for note in found.notes:
        yield as_json("note", {"sentence": note})
