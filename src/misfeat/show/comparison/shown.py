"""ShownComparison: a comparison of two runs that prints itself and makes its page."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from misfeat.answers.comparison import Comparison, compare_selections
from misfeat.exceptions import MisfeatError, Setting
from misfeat.selection import Selection
from misfeat.show.pages import framed, open_page, write_page
from misfeat.visible import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

USUAL_NAMES = ("first", "second")


class ShownComparison(Comparison):
    """Two runs, side by side; `misfeat.compare` makes it.

    Examples
    --------
    >>> import misfeat
    >>> from misfeat.datasets import make_cohorts
    >>> tables = [make_cohorts(2, 500, 4, hide=0.0, random_state=seed) for seed in (0, 1)]
    >>> runs = [misfeat.SubgroupSelector("cohort", size=2).fit(t.columns, "target") for t in tables]
    >>> misfeat.compare(*runs)
    <Comparison: ... Use .show(), .open() or .write_html('changes.html').>
    """

    def show(self) -> None:
        """Print what changed, as `misfeat compare` does."""
        from misfeat.show.comparison.terminal import print_comparison

        print_comparison(self)

    def html(self) -> str:
        """What changed as one page that needs no network."""
        from misfeat.show.comparison.page import page

        return page(self)

    def write_html(self, path: str | Path) -> None:
        """Write the page to a file, at once or not at all.

        Parameters
        ----------
        path : str or Path
            Where to; an older file is replaced, a link is followed.
        """
        write_page(path, self.html())

    def open(self) -> None:
        """Show the page in the browser, from a file in the folder for temporary ones."""
        open_page(self.html(), "comparison")

    def _repr_html_(self) -> str:
        return framed(self.html(), "What changed")

    def __repr__(self) -> str:
        said = visible(self.summary())
        return f"<Comparison: {said} Use .show(), .open() or .write_html('changes.html').>"


def compare(
    first: Any,
    second: Any,
    *,
    size: int | None = None,
    subgroup: str | None = None,
    names: Sequence[str] | None = None,
) -> ShownComparison:
    """Which answers of two runs differ by more than their uncertainty.

    This year against last, another target, another coding. In every subgroup of both runs it holds
    what each feature tells alone against what it told, and the best set of either run against what
    it tells in the other.

    Parameters
    ----------
    first, second : SubgroupSelector, Selection, str or Path
        Fitted estimators, what they found, or the folders that they were saved to.
    size : int, default=None
        Features of the best sets. Defaults to the smaller `size` of the two runs.
    subgroup : str, default=None
        One subgroup only.
    names : sequence of str, default=None
        What the two runs are called. Defaults to the names of their folders, else "first" and
        "second".

    Returns
    -------
    Comparison
        With ``sentences()``, ``to_frame()``, ``subgroups_to_frame()``, ``show()``,
        ``write_html(path)`` and ``open()``; ``changes``, ``subgroups`` and ``notes`` hold the same
        as plain objects.

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
    found = compare_selections(
        _selection(first, "first"),
        _selection(second, "second"),
        size=size,
        subgroup=subgroup,
        names=_names((first, second), names),
    )
    return ShownComparison(**{field.name: getattr(found, field.name) for field in fields(found)})


def _selection(run: Any, parameter: str) -> Selection:
    """What was found, from whatever holds it."""
    if isinstance(run, str | Path):
        return Selection.load(run)
    found = getattr(run, "selection_", run)
    if isinstance(found, Selection):
        return found
    raise MisfeatError(
        "{setting} is neither a fitted SubgroupSelector nor a Selection nor the folder of a run.",
        remedy="Fit it first, or name the folder that it was saved to.",
        setting=Setting(parameter, run),
    )


def _names(runs: tuple[Any, Any], names: Sequence[str] | None) -> tuple[str, str]:
    """What runs are called: as asked for, else as their folders are."""
    if names is not None:
        given = [names] if isinstance(names, str) else list(names)
        if len(given) != 2:
            raise MisfeatError(
                "{setting}; give two names, one for each run.", setting=Setting("names", names)
            )
        return str(given[0]), str(given[1])
    folders = [Path(run).resolve().name if isinstance(run, str | Path) else "" for run in runs]
    if all(folders) and folders[0] != folders[1]:
        return folders[0], folders[1]
    return USUAL_NAMES
