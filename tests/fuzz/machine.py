"""A machine that fits, asks, saves and loads in any order, and what has to hold after every step.

A case is one fit, one question or one loading on drawn input, with the promises of
tests/fuzz/promises.py checked. Only errors and warnings of ours may come out.
"""

from __future__ import annotations

import io
import json
import tempfile
from contextlib import redirect_stdout
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from openpyxl import load_workbook

from misfeat import SubgroupSelector
from misfeat.answers.cautions import list_cautions
from misfeat.answers.top import best_sets
from misfeat.answers.validation import validation_of
from misfeat.show.answers import json_lines
from tests.fuzz.cases import a_case
from tests.fuzz.libraries import (
    IN_FILES,
    IN_MEMORY,
    as_mapping,
    as_pandas,
    can_hold,
    in_library,
)
from tests.fuzz.promises import (
    BrokenPromiseError,
    check_alike,
    check_alternatives,
    check_closure,
    check_distinct,
    check_enough,
    check_features,
    check_interactions,
    check_listed,
    check_observed,
    check_same,
    check_sets,
    check_significance,
    check_stability,
    check_subgroups,
    check_why,
    check_worths,
    hold,
    sets_of,
)
from tests.fuzz.questions import NEURAL, questions
from tests.fuzz.tables import GROUP, TARGET, Drawn, tables

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from tests.attacks.tally import Tally
    from tests.fuzz.cases import Case

_sizes = st.sampled_from((None, None, None, None, 1, 1, 2, 2, 3, 0, 9, "2"))
_ks = st.sampled_from((None, None, None, 1, 2, 3, 9, 50, 1, 3, 0, -1, 2.5))
_costs = st.sampled_from((None, None, None, {}, {"a": 2.0}, {"a": -1}, {"nobody": 1}, 3))
QUESTIONS = (
    *("top_k", "scores", "closure", "score_of", "worth_collecting", "again", "transform") * 3,
    *("features", "alternatives", "interactions", "distinct") * 2,
    *("significance", "enough", "why") * 2,
    *("show", "cautions", "json") * 2,
    *("report", "export", "validate", "stability"),
)
"""What one can ask; the slower, the rarer."""


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


def _refuse(constant: str) -> None:
    raise BrokenPromiseError(f"JSON has no {constant}")


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
        about = f"asked with {self.asked} of {self.drawn}"
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
            check_subgroups(selector)
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
        learns = any(name in repr(self.asked.get("completer")).lower() for name in NEURAL)
        return self.asked["random_state"] is not None and not learns

    @property
    def _computes_all(self) -> bool:
        return self.asked.get("budget", 1.0) == 1

    fitted = precondition(lambda self: self.selector is not None)
    repeated = precondition(lambda self: self.selector is not None and self._repeats)

    @repeated
    @rule(library=st.sampled_from((*IN_MEMORY, *IN_FILES)))
    def fit_in_another_library(self, library: str) -> None:
        if can_hold(self.drawn, library):
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

    @precondition(lambda self: self.selector is not None and self._repeats and self._computes_all)
    @rule(library=st.sampled_from(("mapping", "pandas")))
    def fit_columns_in_another_order(self, library: str) -> None:
        """What rows score is the same; estimates go through features in the table's order."""
        if self.asked.get("measure") == "r2" and not _is_well_conditioned(self.drawn):
            return
        with self.case("fit turned columns", answered=True):
            again = self._refit(self.drawn.turned(), library)
            check_observed(self.answers, check_sets(again))

    def _fit_alike(self, name: str, drawn: Drawn, library: str = "mapping", **changed: Any) -> None:
        """Fit once more; the answer is the same to the last bit, for R² up to rounding."""
        if self.asked.get("measure") == "r2":
            if not _is_well_conditioned(drawn):
                return
            check = check_alike
        else:
            check = check_same
        with self.case(name, answered=True):
            check(self.answers, sets_of(self._refit(drawn, library, **changed)), name)

    @fitted
    @rule(numbers=st.lists(st.integers(0, 2**16), min_size=4, max_size=16), data=st.data())
    def ask(self, numbers: list[int], data: Any) -> None:
        """Ask some of all questions."""
        for number in numbers:
            name = QUESTIONS[number % len(QUESTIONS)]
            getattr(self, f"_ask_{name}")(self.selector, data.draw)

    def _ask_top_k(self, selector: Any, draw: Any) -> None:
        names = list(selector.cohorts_.names)
        asked = {
            "size": draw(_sizes),
            "k": draw(_ks),
            "subgroup": draw(st.sampled_from((None, None, None, *names, "nobody", 3))),
        }
        with self.case("top_k"):
            frame = selector.top_k(**asked)
            hold(frame.equals(selector.top_k(**asked)), "asked again, the same")
            best = best_sets(selector.selection_, **asked)
            hold(frame["score"].tolist() == [one.score for one in best], "one score", asked)

    def _ask_scores(self, selector: Any, draw: Any) -> None:
        size = draw(_sizes)
        with self.case("scores"):
            frame = selector.scores(size=size)
            hold(len(frame) == len(check_sets(selector, size)), "every set", size)
            check_listed(selector, size)

    def _ask_closure(self, selector: Any, draw: Any) -> None:
        size = draw(st.sampled_from((2, 2, 3)))
        with self.case("closure"):
            check_closure(selector, size)

    def _ask_score_of(self, selector: Any, draw: Any) -> None:
        one = draw(st.sampled_from(self.answers))
        features = draw(st.permutations(one.features))
        with self.case("score_of"):
            score = selector.score_of(one.subgroup, list(features))
            hold(score == one.score, "one score", one, score)

    def _ask_worth_collecting(self, selector: Any, draw: Any) -> None:
        asked = {"size": draw(_sizes), "costs": draw(_costs)}
        with self.case("worth_collecting"):
            worths = check_worths(selector, **asked)
            hold(len(selector.worth_collecting(**asked)) == len(worths), "every worth", asked)

    def _ask_features(self, selector: Any, draw: Any) -> None:
        size = draw(_sizes)
        with self.case("features"):
            values = check_features(selector, size)
            hold(len(selector.features(size=size)) == len(values), "every feature", size)

    def _ask_alternatives(self, selector: Any, draw: Any) -> None:
        one, k = draw(st.sampled_from(self.answers)), draw(_ks)
        with self.case("alternatives"):
            found = check_alternatives(selector, one, k)
            frame = selector.alternatives(one.subgroup, one.features, k)
            hold(frame["words"].tolist() == [other.words for other in found], "every swap", one)

    def _ask_interactions(self, selector: Any, draw: Any) -> None:
        with self.case("interactions"):
            hold(len(selector.interactions()) == len(check_interactions(selector)), "every pair")

    def _ask_distinct(self, selector: Any, draw: Any) -> None:
        size, k = draw(_sizes), draw(_ks)
        with self.case("distinct"):
            check_distinct(selector, size, k)

    def _ask_significance(self, selector: Any, draw: Any) -> None:
        size, level = draw(_sizes), draw(st.sampled_from((0.05, 0.5, 0, "x")))
        with self.case("significance"):
            check_significance(selector, size, level)

    def _ask_enough(self, selector: Any, draw: Any) -> None:
        size = draw(st.sampled_from((None, 1, 2, 99)))
        with self.case("enough"):
            check_enough(selector, size)

    def _ask_stability(self, selector: Any, draw: Any) -> None:
        if self._is_slow:
            return
        with self.case("stability"):
            check_stability(selector, draw(st.sampled_from((2, 3))))

    def _ask_why(self, selector: Any, draw: Any) -> None:
        one = draw(st.sampled_from(self.answers))
        with self.case("why"):
            check_why(selector, one)

    def _ask_again(self, selector: Any, draw: Any) -> None:
        with self.case("ask again"):
            check_same(self.answers, sets_of(selector), "asked later, the same")

    def _ask_transform(self, selector: Any, draw: Any) -> None:
        library = draw(st.sampled_from(("mapping", "pandas")))
        table = in_library(self.drawn, library, self.folder)
        with self.case("transform"):
            kept = list(selector.transform(table))
            names = selector.get_feature_names_out().tolist()
            hold(kept == names, "the columns that it names", kept, names)

    def _ask_show(self, selector: Any, draw: Any) -> None:
        asked = {"size": draw(_sizes), "k": draw(_ks)}
        with self.case("show"), redirect_stdout(io.StringIO()):
            selector.show(**asked)

    def _ask_cautions(self, selector: Any, draw: Any) -> None:
        with self.case("cautions"):
            hold(
                all(one.words for one in list_cautions(selector.selection_)),
                "cautions say something",
            )
            hold(len(selector.subgroups_) == len(selector.cohorts_), "every subgroup")
            hold(bool(repr(selector) and selector._repr_html_()), "shown in notebooks")

    def _ask_json(self, selector: Any, draw: Any) -> None:
        with self.case("json"):
            for line in json_lines(selector.selection_):
                json.loads(line, parse_constant=_refuse)

    def _ask_report(self, selector: Any, draw: Any) -> None:
        with self.case("report"):
            page = selector.report(validate=False)
            json.loads(page.json(), parse_constant=_refuse)
            hold(TARGET in page.html(), "a page")

    def _ask_export(self, selector: Any, draw: Any) -> None:
        asked = ["subgroups", "top", "worth", "why", "alternatives", "cautions", "columns"]
        with self.case("export"):
            selector.export(self.folder / "answers.xlsx", asked)
            book = load_workbook(self.folder / "answers.xlsx")
            hold(len(book.sheetnames) == len(asked) + 2, "a sheet a question")
            cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row]
            hold(not [cell for cell in cells if cell.data_type in "fe"], "no formulas")
            selector.export(self.folder / "answers.md", "subgroups")
            hold((self.folder / "answers.md").read_text("utf-8").count("\n") >= 3, "a table")

    def _ask_validate(self, selector: Any, draw: Any) -> None:
        if self._is_slow:
            return
        with self.case("validate"):
            for one in validation_of(selector.selection_, rounds=1):
                shares = [s for s in (one.captured, one.coverage) if s is not None and s == s]
                hold(all(0 <= share <= 1 for share in shares), "a share", one)
            hold(bool(selector.validation_), "in a sentence")

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
    def _is_slow(self) -> bool:
        return any(name in repr(self.asked.get("completer")).lower() for name in NEURAL)
