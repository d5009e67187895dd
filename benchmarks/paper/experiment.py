"""The paper's experiments as pieces of work, and the run that writes everything down."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import lru_cache, partial
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import effective_n_jobs

from benchmarks.common.datasets import make_formula
from benchmarks.common.metrics import share_closed, total_variation
from benchmarks.common.output import write_csv
from benchmarks.common.tables import PAPER_TABLES
from benchmarks.common.units import Unit, finished, run_units
from benchmarks.completers import completer_of
from benchmarks.completion.hiding import Truth, ranking_figures, sampled, sets_to_test
from benchmarks.paper.figures import draw_figures
from benchmarks.paper.page import page
from benchmarks.paper.plan import BOUNDED, FULL, PAPERS_METHODS, QUICK, REACH, REAL_TABLES, SIZE
from benchmarks.paper.results import Results
from misfeat.cohorts import build_cohorts
from misfeat.completion.neural_completers import PaperCompleter
from misfeat.completion.transfer_completer import TransferCompleter
from misfeat.datasets.population import random_mask
from misfeat.exceptions import MisfeatError
from misfeat.information import level_mutual_info
from misfeat.lattice.levels import level, ranks_below
from misfeat.lattice.sampling import SAMPLERS
from misfeat.runtime.devices import torch_device

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from numpy.typing import NDArray

    from benchmarks.paper.plan import Plan
    from misfeat.cohorts import Cohort, Cohorts
    from misfeat.completion import Known

    Row = dict[str, Any]


SETTINGS = {
    "completion": ("epochs",),
    "sampling": ("budgets",),
    "closure": ("epochs",),
    "timing": ("epochs", "n_rows"),
    "precomputation": ("n_rows",),
}
"""What results of each experiment depend on beside what it is about."""
TIMED_METHODS = ("paper", "knn", "transfer")
TIMED_RUNS = 3
"""Of so many runs the fastest counts; the first one compiles."""
TIMED_BUDGET, TIMED_SHARE, TIMED_FEATURES, TIMED_SUBGROUPS = 0.6, 0.2, 10, 4
"""What stays as it is while another setting is varied, as in the paper."""
MOST_TIMED = 300
"""Sets of a size and subgroup that are scored; the time is scaled to all of them."""


class Experiments:
    """Makes the pieces of work of every experiment."""

    def __init__(self, plan: Plan, n_jobs: int | None = -1, device: str = "auto") -> None:
        self.plan, self._n_jobs, self._device = plan, n_jobs, device
        self._truth = lru_cache(maxsize=1)(self._truth_of)

    def units(self) -> Iterator[Unit]:
        """All pieces of work, those of one table after each other."""
        yield from self.completion()
        yield from self.sampling()
        yield from self.closure()
        yield from self.timing()
        yield from self.precomputation()

    def completion(self) -> Iterator[Unit]:
        """Table IV and the figures of robustness: hide features, and predict."""
        for table in self.plan.tables:
            shares = self.plan.shares if table in self.plan.closely else self.plan.shares[:1]
            for seed in self.plan.seeds:
                for share in shares:
                    for method in self.plan.methods:
                        yield self._unit(
                            self._completion, table=table, seed=seed, hidden=share, method=method
                        )

    def _completion(self, table: str, seed: int, hidden: float, method: str) -> list[Row]:
        truth = self._truth(table, seed)
        known = truth.hidden(_mask(truth, hidden, seed), self._n_jobs)
        completer = self._completer(method, seed)
        start = time.perf_counter()
        score = _predicted(completer, known, bare=method in PAPERS_METHODS)
        seconds = time.perf_counter() - start
        true, tested = truth.exact.by_size[SIZE], sets_to_test(truth, known, SIZE)
        error = np.sqrt(np.mean((score - true)[tested] ** 2)) / true[tested].mean()
        figures = ranking_figures(true, score, tested)
        return [{**figures, "relative_error": float(error), "seconds": seconds}]

    def sampling(self) -> Iterator[Unit]:
        """How far the scores of a sample are from those of all sets, as distributions."""
        for table in self.plan.closely:
            for seed in self.plan.seeds:
                yield self._unit(self._sampling, table=table, seed=seed)

    def _sampling(self, table: str, seed: int) -> list[Row]:
        truth = self._truth(table, seed)
        n_features = truth.exact.missing.shape[1]
        high = min(REACH, n_features)
        rows = []
        for budget in self.plan.budgets:
            for sampler, draw in SAMPLERS.items():
                distances = []
                for cohort in range(len(truth.exact.missing)):
                    rng = np.random.default_rng([seed, cohort])
                    ranks = draw(n_features, 1, high, budget, rng)
                    levels = [scores[cohort] for scores in truth.exact.by_size[1 : high + 1]]
                    taken = [scores[r] for scores, r in zip(levels, ranks, strict=True)]
                    distances.append(total_variation(np.concatenate(taken), np.concatenate(levels)))
                rows.append(
                    {"budget": budget, "sampler": sampler, "distance": float(np.mean(distances))}
                )
        return rows

    def closure(self) -> Iterator[Unit]:
        """How often a set is predicted to score higher than its parts, level by level."""
        for table in self.plan.closely:
            for seed in self.plan.seeds:
                yield self._unit(self._closure, table=table, seed=seed)

    def _closure(self, table: str, seed: int) -> list[Row]:
        truth = self._truth(table, seed)
        known = truth.hidden(_mask(truth, self.plan.shares[0], seed), self._n_jobs)
        high = min(REACH, known.exact.missing.shape[1])
        network = PaperCompleter(epochs=self.plan.epochs, device=self._device, random_state=seed)
        network.complete(known, SIZE)
        transfer = TransferCompleter(confidence=None)
        by_method = {
            "paper": [network.models_[SIZE].predict(m, self._device) for m in range(1, high + 1)],
            "transfer": [transfer.complete(known, m).score for m in range(1, high + 1)],
        }
        return [
            {"method": method, "level": size, "accuracy": _closed_at(size, scores)}
            for method, scores in by_method.items()
            for size in range(2, high + 1)
        ]

    def timing(self) -> Iterator[Unit]:
        """Seconds of training and prediction, or of imputation and scores, by four settings."""
        usual: dict[str, Any] = {
            "features": TIMED_FEATURES,
            "subgroups": TIMED_SUBGROUPS,
            "hidden": TIMED_SHARE,
            "budget": TIMED_BUDGET,
        }
        varied: dict[str, tuple[Any, ...]] = {
            "features": self.plan.features,
            "subgroups": self.plan.subgroups,
            "hidden": self.plan.shares,
            "budget": self.plan.timed_budgets,
        }
        for name, values in varied.items():
            for value in values:
                yield self._unit(self._timing, **{"varied": name, **usual, name: value})

    def _timing(
        self, varied: str, features: int, subgroups: int, hidden: float, budget: float
    ) -> list[Row]:
        del varied
        truth = Truth.of(self._timed_cohorts(features, subgroups), REACH, self._n_jobs)
        known = truth.hidden(_mask(truth, hidden, 1), self._n_jobs)
        rng = np.random.default_rng(1)
        known = replace(known, exact=sampled(known.exact, budget, "randwalk", rng))
        rows = []
        for method in TIMED_METHODS:
            seconds = min(self._seconds(method, known) for _ in range(TIMED_RUNS))
            rows.append({"method": method, "seconds": seconds, "machine": self._machine})
        return rows

    def _seconds(self, method: str, known: Known) -> float:
        completer = self._completer(method, 1)
        start = time.perf_counter()
        completer.complete(known, SIZE)
        return time.perf_counter() - start

    def precomputation(self) -> Iterator[Unit]:
        """Seconds to score all sets of up to five features, with sharing and without."""
        for name, values in (
            ("features", self.plan.features),
            ("subgroups", self.plan.subgroups),
        ):
            for value in values:
                usual: dict[str, Any] = {"features": TIMED_FEATURES, "subgroups": TIMED_SUBGROUPS}
                yield self._unit(self._precomputation, **{"varied": name, **usual, name: value})

    def _precomputation(self, varied: str, features: int, subgroups: int) -> list[Row]:
        del varied
        cohorts = self._timed_cohorts(features, subgroups)
        level_mutual_info(next(iter(cohorts)), 1, REACH, n_jobs=1)  # compiled before it is timed
        start = time.perf_counter()
        for cohort in cohorts:
            level_mutual_info(cohort, 1, REACH, n_jobs=1)
        shared = time.perf_counter() - start
        alone = scratch_seconds(cohorts, REACH)
        return [
            {"method": "shared", "seconds": shared, "machine": "1 CPU thread"},
            {"method": "from scratch", "seconds": alone, "machine": "1 CPU thread"},
        ]

    @property
    def _machine(self) -> str:
        """What times were taken on."""
        import torch

        device = torch_device(self._device)
        cores = f"{effective_n_jobs(self._n_jobs)} CPU threads"
        return f"{torch.cuda.get_device_name(device)}, {cores}" if device.type == "cuda" else cores

    def _unit(self, work: Callable[..., list[Row]], **about: Any) -> Unit:
        """A piece of work: a method of this class, and what it is given."""
        experiment = work.__name__.removeprefix("_")
        settings = {name: getattr(self.plan, name) for name in SETTINGS[experiment]}
        return Unit(experiment, about, settings, partial(work, **about))

    def _timed_cohorts(self, features: int, subgroups: int) -> Cohorts:
        data = make_formula(
            "SD1",
            n_rows=self.plan.n_rows,
            n_features=features,
            n_subgroups=subgroups,
            random_state=0,
        )
        return build_cohorts(data.columns, data.target, groups=data.groups)

    def _truth_of(self, table: str, seed: int) -> Truth:
        cohorts = PAPER_TABLES[table](seed).cohorts
        return Truth.of(cohorts, min(REACH, len(cohorts.features)), self._n_jobs)

    def _completer(self, method: str, seed: int) -> Any:
        name = method.removesuffix(BOUNDED)
        completer = completer_of(name, device=self._device, random_state=seed)
        wanted = {"confidence": None, "epochs": self.plan.epochs, "bounded": name != method}
        own = completer.get_params(deep=False)
        return completer.set_params(**{k: v for k, v in wanted.items() if k in own})


def _predicted(completer: Any, known: Known, *, bare: bool) -> NDArray[np.float64]:
    """Scores of the asked size, exact where they are known.

    Bare ones are as the paper's methods give them, without the bounds and the closure that
    completers add here.
    """
    if bare:
        exact = known.exact.by_size[SIZE]
        return np.where(np.isnan(exact), completer.guess(known, SIZE).by_size[SIZE], exact)
    score: NDArray[np.float64] = completer.complete(known, SIZE).score
    return score


def _mask(truth: Truth, share: float, seed: int) -> NDArray[np.bool_]:
    n_cohorts, n_features = truth.exact.missing.shape
    return random_mask(n_cohorts, n_features, share, np.random.default_rng(seed))


def _closed_at(size: int, by_level: list[NDArray[np.float64]]) -> float:
    """The share of pairs of a set of a size and a part of it in which the set is no lower."""
    parts_of = ranks_below(level(by_level[0].shape[1], size))
    return share_closed(by_level[size - 1], by_level[size - 2], parts_of)


def score_from_scratch(cohort: Cohort, subset: NDArray[np.integer]) -> float:
    """I(S; Y) = H(S) + H(Y) - H(S, Y) of one set, in nats, by counting its rows anew."""
    lines = [*cohort.codes[subset].astype(np.int64), cohort.target.astype(np.int64)]
    cells = np.zeros(len(lines[0]), dtype=np.int64)
    for line in lines[:-1]:
        _, cells = np.unique(cells * (line.max() + 2) + line + 1, return_inverse=True)
    classes = lines[-1]
    pairs = cells * (classes.max() + 1) + classes
    return (
        _entropy(cells, cohort.weights)
        + _entropy(classes, cohort.weights)
        - _entropy(pairs, cohort.weights)
    )


def scratch_seconds(cohorts: Cohorts, largest: int) -> float:
    """Seconds to score all sets of up to `largest` features of all subgroups, each by itself.

    Nothing is shared between sets, which the paper compares the sharing of entropies with.
    """
    rng = np.random.default_rng(0)
    n_features = len(cohorts.features)
    seconds = 0.0
    for cohort in cohorts:
        for size in range(1, largest + 1):
            subsets = level(n_features, size)
            timed = min(MOST_TIMED, len(subsets))
            chosen = rng.choice(len(subsets), size=timed, replace=False)
            start = time.perf_counter()
            for subset in subsets[chosen]:
                score_from_scratch(cohort, subset)
            seconds += (time.perf_counter() - start) * comb(n_features, size) / timed
    return seconds


def _entropy(keys: NDArray[np.integer], weights: NDArray[np.integer]) -> float:
    counts = np.bincount(keys, weights)
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log(shares)).sum())


WORK = "work.jsonl"
"""What was done, a line a piece of work; a run goes on from it."""


class PaperBench:
    """Every experiment of the paper."""

    def __init__(self, plan: Plan = FULL, n_jobs: int | None = -1, device: str = "auto") -> None:
        self._plan, self._n_jobs, self._device = plan, n_jobs, device

    def run(self, folder: str | Path, tell: Callable[[str], None]) -> None:
        """Do what is not done yet; write CSV files, plots and a page to a folder.

        An interrupted run goes on there. `tell` is told what comes next and how long the rest will
        take.
        """
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        units = self._units_at_hand(finished(place / WORK), tell)
        results = Results(list(run_units(units, place / WORK, tell)))
        tables = {
            "table_4": results.effectiveness(),
            "figures_3_to_5": results.robustness(),
            "figures_3_to_5_drops": results.drops(),
            "figure_6": results.sampling(),
            "figure_7": results.closure(),
            "figure_8": results.timing(),
            "figure_9": results.precomputation(),
        }
        for name, rows in tables.items():
            write_csv(rows, place / f"{name}.csv")
        draw_figures(results, place)
        text = page(results, quick=self._plan == QUICK)
        (place / "page.md").write_text(text, encoding="utf-8")
        tell(f"Written: {place / 'page.md'}")

    def _units_at_hand(self, done: Collection[str], tell: Callable[[str], None]) -> list[Unit]:
        """All pieces of work but those of real tables that the user has not, and that are left."""
        plan = self._plan
        for table in [table for table in plan.tables if table in REAL_TABLES]:
            own = [unit for unit in self._units(plan) if unit.about.get("table") == table]
            if any(unit.key not in done for unit in own):
                try:
                    PAPER_TABLES[table](1)
                except MisfeatError as error:
                    tell(f"Without {table}: {error}")
                    plan = replace(plan, tables=tuple(t for t in plan.tables if t != table))
        return self._units(plan)

    def _units(self, plan: Plan) -> list[Unit]:
        return list(Experiments(plan, self._n_jobs, self._device).units())
