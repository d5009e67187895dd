"""ShownSelection: a selection that prints itself and makes its report.

It stands apart from `Selection`, which knows nothing of how it is shown, so that imports run one
way: what shows a selection imports it, never the other way round.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from misfeat.selection.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Mapping

    from misfeat.show.report import Report


class ShownSelection(Selection):
    """What was found in a table: every answer, its report, and saving.

    `SubgroupSelector.fit` makes it and keeps it as ``selection_``. It knows nothing of the
    estimator. All methods that answer are those of the estimator.

    Parameters
    ----------
    cohorts : Cohorts
        The coded rows of every subgroup, and how every column was treated.
    book : ScoreBook
        Scores of feature sets, computed and predicted when they are asked for.
    asked : Asked
        What was asked for: the size of sets, how many of them, which features to include.
    verbose : int, default=0
        1 shows progress.

    Examples
    --------
    >>> from misfeat import SubgroupSelector
    >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
    >>> selection = SubgroupSelector(size=1).fit(table, "y").selection_
    >>> selection.report(title="Four rows")
    <Report: Four rows. Use .open() or .write_html('report.html').>
    """

    def show(
        self,
        k: int | None = None,
        size: int | None = None,
        subgroup: str | None = None,
        tables: bool = False,
    ) -> None:
        """Print the answer in sentences, one a subgroup, as `misfeat run` does.

        Parameters
        ----------
        k : int, default=None
            Sets and unrecorded features per subgroup in tables. Defaults to the estimator's `k`.
        size : int, default=None
            Features per set. Defaults to the estimator's `size`.
        subgroup : str, default=None
            One subgroup only.
        tables : bool, default=False
            Print tables before the sentences: subgroups, their best sets, and what is worth
            collecting.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1] * 9, "b": [0, 1, 0, 1] * 9, "y": [0, 0, 1, 1] * 9}
        >>> SubgroupSelector(size=1).fit(table, "y").show()
        Caution: Feature 'a' tells 82 % of the target 'y' by itself in 'all rows': it may be ...
        <BLANKLINE>
        all rows: a tells 99 % of what there is to tell about y (53–100 %); one more feature adds...
        <BLANKLINE>
        Worth recording
        • Every subgroup recorded every feature: there is nothing to collect.
        ...
        """
        from misfeat.machine.progress import progress_shown
        from misfeat.show.console import new_console
        from misfeat.show.sentences import print_sentences, screen_of
        from misfeat.show.terminal import print_tables

        self.best_sets(size, k, subgroup)  # what cannot be shown is refused first
        with progress_shown(self.verbose > 0):
            screen = screen_of(self, size, subgroup)
        if tables:
            print_tables(self, size=size, k=k, subgroup=subgroup)
            new_console().print()
        print_sentences(screen, validation=self.validation)

    def report(
        self,
        title: str | None = None,
        *,
        size: int | None = None,
        k: int | None = None,
        costs: Mapping[str, float] | None = None,
        validate: bool = True,
    ) -> Report:
        """Everything that was found, as one page that needs no network.

        Parameters
        ----------
        title : str, default=None
            The heading of the page.
        size : int, default=None
            Features per set. Defaults to the estimator's `size`.
        k : int, default=None
            Sets per subgroup. Defaults to the estimator's `k`.
        costs : mapping of str to float, default=None
            What recording a feature costs, as in `worth_collecting`.
        validate : bool, default=True
            Whether parts of the table are left out on purpose, to tell how far answers hold.

        Returns
        -------
        misfeat.show.report.Report
            With ``write_html(path)``, ``open()``, ``html()``, ``html_snippet()`` and ``json()``; a
            notebook shows it.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
        >>> SubgroupSelector(size=1).fit(table, "y").report()
        <Report: What tells most about y. Use .open() or .write_html('report.html').>
        """
        from misfeat.show.report import Report
        from misfeat.show.report.gather import gather

        return Report(gather(self, size, k, costs, validate), title)

    def _repr_html_(self) -> str:
        from misfeat.show.notebook import subgroups_as_html

        return subgroups_as_html(self.cohorts)
