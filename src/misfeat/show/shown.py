"""ShownSelection: a selection that prints itself and makes its report.

It stands apart from `Selection`, which knows nothing of how it is shown, so that imports run one
way: what shows a selection imports it, never the other way round.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from misfeat.selection.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

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
    shortlist : Shortlist, default=None
        What a search through a wide table left out; None where every feature was kept.

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
        all rows: a tells 98 % of what there is to tell about y (90–100 %); one more feature adds...
        <BLANKLINE>
        Worth recording
        • Every subgroup recorded every feature: there is nothing to collect.
        ...
        """
        from misfeat.runtime.progress import progress_shown
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

    def export(
        self,
        path: str | Path,
        questions: Sequence[str] | str | None = None,
        *,
        size: int | None = None,
        k: int | None = None,
        costs: Mapping[str, float] | None = None,
    ) -> None:
        """Write all answers to an Excel workbook or to CSV files, a table a question.

        Parameters
        ----------
        path : str or Path
            ``"answers.xlsx"`` for a workbook (``pip install 'misfeat[excel]'``), ``"answers/"`` or
            a path without a suffix for a folder of CSV files, ``"answers.zip"`` for the same in an
            archive, ``"answers.csv"`` for one question. An older export is replaced.
        questions : sequence of str, default=None
            Some of ``"subgroups"``, ``"top"``, ``"features"``, ``"enough"``, ``"significance"``,
            ``"stability"``, ``"worth"``, ``"alternatives"``, ``"why"``, ``"interactions"``,
            ``"cautions"`` and ``"columns"``. Defaults to all; ``"enough"``, ``"significance"`` and
            ``"stability"`` take longest.
        size : int, default=None
            Features per set. Defaults to the estimator's `size`.
        k : int, default=None
            Sets per subgroup. Defaults to the estimator's `k`.
        costs : mapping of str to float, default=None
            What recording a feature costs, as in `worth_collecting`.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
        >>> selector = SubgroupSelector(size=1, k=1).fit(table, "y")
        >>> with TemporaryDirectory() as folder:
        ...     selector.export(f"{folder}/subgroups.csv", "subgroups")
        ...     print(Path(f"{folder}/subgroups.csv").read_text())
        subgroup,rows,target_entropy,missing
        all rows,4,0.6931471805599453,
        """
        from misfeat.show.export import export_answers

        export_answers(self, path, questions, size=size, k=k, costs=costs)

    def to_markdown(
        self,
        question: str = "top",
        *,
        subgroup: str | None = None,
        features: Sequence[str] = (),
        size: int | None = None,
        k: int | None = None,
        costs: Mapping[str, float] | None = None,
    ) -> str:
        """The answer to a question as a table of Markdown, for a paper or a note.

        Parameters
        ----------
        question : str, default="top"
            As in `export`.
        subgroup : str, default=None
            One subgroup only.
        features : sequence of str, default=()
            The set that ``"why"`` and ``"alternatives"`` are about.
        size : int, default=None
            Features per set. Defaults to the estimator's `size`.
        k : int, default=None
            Lines per subgroup. Defaults to the estimator's `k` for sets, and to all for others.
        costs : mapping of str to float, default=None
            What recording a feature costs, as in `worth_collecting`.

        Returns
        -------
        str
            With shares in per cent and their intervals, where the question is about sets.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
        >>> print(SubgroupSelector(size=1).fit(table, "y").to_markdown("top", k=1))
        | rank | features | share (90 % interval) | nats | source |
        | ---: | --- | ---: | ---: | --- |
        | 1 | a | 29 % (0–100 %) | 0.20 | recorded |
        """
        from misfeat.show.export import markdown_table
        from misfeat.show.questions import About

        about = About(subgroup, tuple(features), size, costs or {})
        return markdown_table(self, question, about, k)

    def _repr_html_(self) -> str:
        from misfeat.show.notebook import first_screen_as_html

        return first_screen_as_html(self)
