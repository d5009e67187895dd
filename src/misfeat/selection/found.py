"""Found: what a fit found, with plain access to it, kept in a folder and read back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.cohorts.features import not_a_feature
from misfeat.exceptions import MisfeatError, Setting, check_count
from misfeat.reading.dataframes import result_frame
from misfeat.runtime.progress import long_work
from misfeat.saving.saved_run import SavedRun, read_run, write_run
from misfeat.selection.asked import Asked, check_size
from misfeat.selection.scorebook import ScoreBook

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path
    from typing import Self

    from numpy.typing import NDArray

    from misfeat.cohorts import Cohorts
    from misfeat.completion import CompletedScores, Completer
    from misfeat.estimation.shortlist import Shortlist
    from misfeat.estimation.significance import Greatest
    from misfeat.selection.chance_tests import ChanceTests
    from misfeat.selection.enough import Enough
    from misfeat.selection.redrawing import Stability
    from misfeat.selection.trust import Trust


MOST_OF_ALL = 3
"""Features of the sets that questions about all sets are answered for, where larger ones are
searched for."""


class Found:
    """What a fit found; `Selection` asks it everything that users ask."""

    def __init__(
        self,
        cohorts: Cohorts,
        book: ScoreBook,
        asked: Asked,
        *,
        verbose: int = 0,
        shortlist: Shortlist | None = None,
    ) -> None:
        self.cohorts, self.book, self.asked, self.verbose = cohorts, book, asked, verbose
        self.shortlist = shortlist
        included = [name for name in asked.include if name in book.measure.features]
        book.include = tuple(map(book.measure.features.index, included))
        self.validation: str | None = None
        self.known_tests: ChanceTests | None = None
        self.known_enough: dict[tuple[int, int, float], dict[str, Enough]] = {}
        # What was found before, by what was asked for.
        self._tests: dict[tuple[int, int, str | None, float], ChanceTests] = {}
        self._greatest: dict[tuple[Any, ...], Greatest] = {}
        self._resampled: dict[tuple[int, int, int], Stability] = {}
        self._trusted: dict[tuple[int, int, int], list[Trust]] = {}

    def __repr__(self) -> str:
        n, size = len(self.cohorts), self.size
        return (
            f"<Selection: sets of {size} of {len(self.feature_names)} features in {n} subgroup"
            f"{'' if n == 1 else 's'}; target {self.cohorts.target!r}>"
        )

    @property
    def size(self) -> int:
        """Features per set, where a question does not say."""
        return self.asked.size

    @property
    def k(self) -> int:
        """Sets per subgroup, where a question does not say."""
        return self.asked.k

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features that sets are made of."""
        return self.book.measure.features

    @property
    def missing(self) -> NDArray[np.bool_]:
        """What each subgroup never recorded, of shape (n_subgroups, n_features)."""
        return self.book.measure.missing

    @property
    def completer(self) -> Completer:
        """What predicted the scores that could not be computed."""
        return self.book.completer

    @property
    def confidence(self) -> float | None:
        """Target coverage of the intervals; None where they are certain bounds."""
        return self.book.estimate.confidence

    def completed(self, size: int | None = None) -> CompletedScores:
        """The scores of all sets of a size as arrays, in the order of the lattice.

        Parameters
        ----------
        size : int, default=None
            Features per set. Defaults to `size`.

        Returns
        -------
        CompletedScores
            Scores, bounds and what they rest on; `asked.include` is not applied.
        """
        size = self._checked_size(size)
        with long_work(self.verbose > 0) as progress:
            return self.book.completed(size, progress)

    def prepare(self) -> None:
        """Compute and predict the scores of `size` now, so that answers come at once."""
        self._shown(None)

    def _shown(self, size: int | None) -> CompletedScores:
        """The scores of the sets of a size that hold every feature to include."""
        included = self._included(self._checked_size(size))
        scores = self.completed(size)
        if not included:
            return scores
        held = np.all([(scores.subsets == place).any(axis=1) for place in included], axis=0)
        return scores.of_sets(held)

    def _checked_size(self, size: int | None) -> int:
        """Features per set, by default `size`; raises where there are not so many."""
        size = self.size if size is None else size
        check_count(size, "size")
        check_size(size, self.feature_names, self.cohorts)
        return size

    def _level_size(self, size: int | None) -> int:
        """The same, for questions about all sets: few features, where larger sets are searched."""
        size = self._checked_size(size)
        return min(MOST_OF_ALL, self.book.largest_level) if self.book.is_searched(size) else size

    def _framed(self, columns: dict[str, list[Any]]) -> Any:
        """An answer as a dataframe of the library that the table came in."""
        return result_frame(columns, self.asked.backend)

    def _framed_lines(self, lines: Sequence[Any], names: Iterable[str]) -> Any:
        """Plain objects as a dataframe, named attributes as its columns."""
        return self._framed({name: [getattr(line, name) for line in lines] for name in names})

    def subgroup_names(self, subgroup: str | None = None) -> tuple[str, ...]:
        """The subgroups that a question is about: all of them, or the one that is named.

        Parameters
        ----------
        subgroup : str, default=None
            One subgroup only, in short where that is unambiguous.
        """
        if subgroup is None:
            return tuple(self.cohorts.names)
        return (self.cohorts.full_name(subgroup),)

    def _feature_number(self, name: object, role: str) -> int:
        """The number of a feature; an error says why a name is none."""
        if name not in self.feature_names:
            raise not_a_feature(name, role, self.cohorts, self.feature_names, self.asked.blocks)
        return self.feature_names.index(str(name))

    def _included(self, size: int) -> list[int]:
        """The numbers of the features that every set holds; they must fit into sets of a size."""
        included = self.asked.include
        numbers = [self._feature_number(name, "a feature to include") for name in included]
        if len(numbers) > size:
            raise MisfeatError(
                "{size}, but {count} features are to be included: {names}.",
                remedy="Raise {raised}, or include fewer.",
                size=Setting("size", size),
                count=len(numbers),
                names=", ".join(map(repr, included)),
                raised=Setting("size"),
            )
        return numbers

    def save(
        self,
        folder: str | Path,
        estimator: Mapping[str, Any] | None = None,
        beside: Mapping[str, bytes] | None = None,
    ) -> None:
        """Write the selection to a folder, which `load` reads back.

        JSON for settings, safetensors for arrays. An older selection in the folder is replaced at
        once or not at all. Weights of trained networks are not part of it.

        Parameters
        ----------
        folder : str or Path
            Where to; it is made where it does not exist.
        estimator : mapping, default=None
            Plain values to keep beside it, for whoever made it.
        beside : mapping of str to bytes, default=None
            The contents of ``report.html`` and ``run.toml``, which are then written and later
            replaced together with the selection.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from misfeat import Selection, SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
        >>> selection = SubgroupSelector(size=1).fit(table, "y").selection_
        >>> with TemporaryDirectory() as folder:
        ...     selection.save(f"{folder}/run")
        ...     again = Selection.load(f"{folder}/run")
        >>> again.best_sets() == selection.best_sets()
        True
        """
        arrays: dict[str, NDArray[Any]] = {}
        scores = self.book.packed(arrays)
        run = SavedRun(
            self.cohorts,
            self.book.measure,
            self.book.estimate,
            vars(self.asked),
            scores,
            arrays,
            self.validation,
            estimator,
            self.shortlist,
        )
        write_run(run, folder, beside)

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Read a selection that `save` wrote; it answers as the saved one did.

        Parameters
        ----------
        folder : str or Path
            Where it was saved, by a selection or by an estimator.

        Returns
        -------
        Selection
            Without the estimator that made it.
        """
        return cls.from_saved(read_run(folder))

    @classmethod
    def from_saved(cls, run: SavedRun) -> Self:
        """The selection that was saved as plain data.

        Parameters
        ----------
        run : SavedRun
            What `misfeat.saving.saved_run.read_run` read.
        """
        scores, arrays = dict(run.scores), run.score_arrays
        book = ScoreBook.unpacked(scores, arrays, run.measure, run.estimate)
        selection = cls(run.cohorts, book, Asked(**run.options), shortlist=run.shortlist)
        selection.validation = run.validation
        return selection
