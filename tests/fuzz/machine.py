"""A machine that fits, asks, saves and loads in any order, and what has to hold after every step.

A case is one fit, one question or one loading on drawn input, with the promises of
tests/fuzz/promises.py checked. Only errors and warnings of ours may come out.
"""

import tempfile
from contextlib import AbstractContextManager
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from misfeat import SubgroupSelector
from tests.attacks.tally import Tally
from tests.fuzz.answers import QUESTIONS
from tests.fuzz.cases import Case, a_case
from tests.fuzz.libraries import IN_FILES, IN_MEMORY, as_mapping, as_pandas, can_hold, in_library
from tests.fuzz.promises import check_alike, check_same, check_sets, hold, sets_of
from tests.fuzz.questions import NEURAL, questions
from tests.fuzz.tables import GROUP, TARGET, Drawn, tables

LARGEST_FOR_R2 = 300


def _of_kind(kind: str, values: Any) -> Any:
    if kind == "series":
        return values
    return values.tolist() if kind == "list" else values.to_numpy()


def _is_well_conditioned(drawn: Drawn) -> bool:
    """Whether R² can be told to many digits: numbers are of one order of magnitude."""
    values = [v for column in drawn.columns.values() for v in column.values]
    numbers = [v for v in values if isinstance(v, int | float | Decimal) and not _is_nan(v)]
    return all(abs(v) <= LARGEST_FOR_R2 for v in numbers)


def _is_nan(value: Any) -> bool:
    return bool(value != value)


class Selecting(RuleBasedStateMachine):
    """Fit, ask, save and load."""

    tally: ClassVar[Tally | None] = None

    def __init__(self) -> None:
        super().__init__()
        self._held = tempfile.TemporaryDirectory()
        self.folder = Path(self._held.name)
        self.selector: SubgroupSelector | None = None

    def teardown(self) -> None:
        self._held.cleanup()

    def case(self, name: str, answered: bool = False) -> AbstractContextManager[Case]:
        """A case of what is done with this table; one that was answered before is not refused."""
        about = ("asked with", self.asked, self.drawn)  # spelled where the case ends wrong
        return a_case(name, self.tally, about, answered=answered)

    @initialize(data=st.data())
    def begin(self, data: Any) -> None:
        self.fit_anew(data)

    @rule(data=st.data())
    def fit_anew(self, data: Any) -> None:
        """Fit on another table; one that is refused leaves nothing behind."""
        self.drawn: Drawn = data.draw(tables())
        self.asked: dict[str, Any] = data.draw(questions(self.drawn))
        self.selector = None
        selector = SubgroupSelector(**self.asked)
        with self.case("fit") as case:
            selector.fit(as_mapping(self.drawn), TARGET)
            for cohort in selector.cohorts_:
                hold(cohort.size > 0, "a subgroup has rows", cohort.name)
            self.answers = check_sets(selector)
        if case.refused is None:
            self.selector = selector
        else:
            with self.case("ask the unfitted"):
                selector.top_k()

    def _refit(self, drawn: Drawn, library: str, **changed: Any) -> Any:
        table = in_library(drawn, library, self.folder)
        return SubgroupSelector(**{**self.asked, **changed}).fit(table, TARGET)

    @property
    def _repeats(self) -> bool:
        """Whether a fit on the same rows gives the same answer: nothing is drawn unseeded."""
        return self.asked["random_state"] is not None and not self.is_slow

    fitted = precondition(lambda self: self.selector is not None)
    repeated = precondition(lambda self: self.selector is not None and self._repeats)

    @repeated
    @rule(library=st.sampled_from((*IN_MEMORY, *IN_FILES)))
    def fit_in_another_library(self, library: str) -> None:
        draws = getattr(self.asked.get("coding"), "max_rows", None)  # in engines alone
        if can_hold(self.drawn, library) and draws is None:
            self._fit_alike(f"fit {library}", self.drawn, library)

    @repeated
    @rule(seed=st.integers(0, 99))
    def fit_rows_in_another_order(self, seed: int) -> None:
        order = np.random.default_rng(seed).permutation(self.drawn.n_rows)
        self._fit_alike("fit shuffled rows", self.drawn.reordered(order))

    @repeated
    @rule(n_jobs=st.sampled_from((1, 2)))
    def fit_with_threads(self, n_jobs: int) -> None:
        self._fit_alike("fit with threads", self.drawn, n_jobs=n_jobs)

    @precondition(lambda self: self.selector is not None and self._can_be_given_apart)
    @rule(kind=st.sampled_from(("list", "array", "series")))
    def fit_on_values(self, kind: str) -> None:
        """The target and the subgroups as values, apart from the table."""
        table = as_pandas(self.drawn)
        apart = {name: table.pop(name) for name in (TARGET, GROUP) if name in table}
        given = {name: _of_kind(kind, values) for name, values in apart.items()}
        asked = {**self.asked, "groups": None}
        with self.case(f"fit on a {kind}", answered=True):
            again = SubgroupSelector(**asked).fit(table, given[TARGET], given.get(GROUP))
            check_sets(again)
            hold(len(again.cohorts_) == len(self.selector.cohorts_), "the same subgroups")

    @property
    def _can_be_given_apart(self) -> bool:
        named = GROUP if GROUP in self.drawn.columns else None
        by_name = ("include", "exclude", "blocks", "coding")
        return self.asked["groups"] == named and not any(self.asked.get(n) for n in by_name)

    @precondition(
        lambda self: (
            self.selector is not None and self._repeats and self.asked.get("budget", 1.0) == 1
        )
    )
    @rule(library=st.sampled_from(("mapping", "pandas")))
    def fit_columns_in_another_order(self, library: str) -> None:
        """What rows score is the same; estimates go through features in the table's order."""
        if self.asked.get("measure") == "r2" and not _is_well_conditioned(self.drawn):
            return
        with self.case("fit turned columns", answered=True):
            again = self._refit(self.drawn.turned(), library)
            check_alike(self.answers, check_sets(again), "observed")

    def _fit_alike(self, name: str, drawn: Drawn, library: str = "mapping", **changed: Any) -> None:
        """Fit once more; the answer is the same to the last bit, for R² up to rounding."""
        is_r2 = self.asked.get("measure") == "r2"
        if is_r2 and not _is_well_conditioned(drawn):
            return
        with self.case(name, answered=True):
            answers = sets_of(self._refit(drawn, library, **changed))
            if is_r2:
                check_alike(self.answers, answers, "score", "low", "high")
            else:
                check_same(self.answers, answers, name)

    @fitted
    @rule(numbers=st.lists(st.integers(0, 2**16), min_size=4, max_size=16), data=st.data())
    def ask(self, numbers: list[int], data: Any) -> None:
        """Ask some of all questions."""
        for number in numbers:
            question = QUESTIONS[number % len(QUESTIONS)]
            with self.case(question.__name__):
                question(self, self.selector, data.draw)

    @fitted
    @rule(size=st.sampled_from((None, 1, 2)))
    def save_and_load(self, size: int | None) -> None:
        """From here on the loaded one is asked."""
        with self.case("save and load"):
            self.selector.save(self.folder / "run")
            loaded = SubgroupSelector.load(self.folder / "run")
            check_same(self.answers, sets_of(loaded), "loaded, the same")
            if self._repeats:
                before = sets_of(self.selector, size)
                check_same(before, sets_of(loaded, size), "asked after loading, the same")
            self.selector = loaded

    @property
    def is_slow(self) -> bool:
        return any(name in repr(self.asked.get("completer")).lower() for name in NEURAL)
