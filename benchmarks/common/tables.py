"""The tables that benchmarks are run on, beside those of `misfeat.datasets`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.common.datasets import (
    load_attrition,
    load_loan,
    load_mobile,
    make_formula,
    read_columns,
    without,
)
from misfeat.cohorts import Coding, build_cohorts
from misfeat.datasets import Dataset, make_cohorts
from misfeat.datasets.population import draw

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from misfeat.cohorts import Cohorts
    from misfeat.datasets import GeneratedCohorts

STATES = 10
"""Of the voters."""
GRAVE = 3
"""The least severity of an injury that counts as grave."""


def load_voters() -> Dataset:
    """Who voted for Trump in 2016, in the ten states with most answers: rows without gaps.

    Scores that the source computes from other columns are left out.
    """
    source = "R package stevedata, TV16 (Cooperative Congressional Election Study 2016)"
    left_out = ("rownames", "uid", "lrelig", "lcograc", "lemprac")
    columns = _without_gaps("voters.csv.gz", source, left_out)
    states, counts = np.unique(columns["state"].astype(str), return_counts=True)
    largest = states[np.argsort(-counts, kind="stable")[:STATES]]
    kept = np.isin(columns["state"].astype(str), largest)
    return Dataset(
        name="voters",
        columns={name: column[kept] for name, column in columns.items()},
        target="votetrump",
        groups="state",
        description=f"Voters. Source: {source}.",
        bins=4,
    )


def load_crashes() -> Dataset:
    """Whether occupants were gravely injured in police-reported crashes, by estimated speed.

    Weights depend on the outcome and are left out: rows are drawn as if each counted as one.
    """
    source = "R package DAAG, nassCDS"
    columns = _without_gaps("crashes.csv.gz", source, ("rownames", "weight", "caseid", "dead"))
    injured = (columns.pop("injSeverity").astype(float) >= GRAVE).astype(np.int64)
    slow, fast = "below 25", "40 and above"
    return Dataset(
        name="crashes",
        columns={**columns, "injured": injured},
        target="injured",
        groups={
            "dvcat": {
                "1-9km/h": slow,
                "10-24": slow,
                "25-39": "25 to 39",
                "40-54": fast,
                "55+": fast,
            }
        },
        description=f"Crashes. Source: {source}.",
        bins=4,
    )


def _without_gaps(file: str, source: str, left_out: Sequence[str]) -> dict[str, NDArray[Any]]:
    """The columns of a file but for some, and of its rows those that have a value in each."""
    columns = {n: c for n, c in read_columns(file, source).items() if n not in left_out}
    whole = ~np.logical_or.reduce([_gaps(column) for column in columns.values()])
    return {name: column[whole] for name, column in columns.items()}


def _gaps(column: NDArray[Any]) -> NDArray[np.bool_]:
    return np.array([one is None or one != one for one in column.tolist()])


@dataclass(frozen=True, eq=False)
class BenchTable:
    """A complete table.

    `redraw` takes a mask of (subgroup, feature) and a random generator, and returns cohorts in
    which what the mask marks is drawn anew from the population; None where nobody knows it.
    """

    cohorts: Cohorts
    redraw: Callable[[NDArray[np.bool_], np.random.Generator], Cohorts] | None = None


def _prepared(load: Callable[[], Dataset]) -> Callable[[int], BenchTable]:
    """A table that is the same for every seed."""

    @cache
    def table() -> BenchTable:
        data = load()
        return BenchTable(
            build_cohorts(
                data.columns, data.target, groups=data.groups, coding=Coding(bins=data.bins)
            )
        )

    return lambda seed: table()  # noqa: ARG005


def _generated(n_cohorts: int) -> Callable[[int], BenchTable]:
    """A table that differs from seed to seed, of a known population."""

    def table(seed: int) -> BenchTable:
        data = make_cohorts(n_cohorts, n_features=10, hide=0.0, random_state=seed)

        def redraw(mask: NDArray[np.bool_], rng: np.random.Generator) -> Cohorts:
            return build_cohorts(redrawn(data, mask, rng), data.target, groups=data.groups)

        return BenchTable(build_cohorts(data.complete, data.target, groups=data.groups), redraw)

    return table


def as_in_paper(data: Dataset) -> Dataset:
    """Leave out and bin the columns of Mobile or Attrition as the MISFEAT paper did."""
    left_out, bins = _IN_PAPER[data.name]
    return replace(without(data, *left_out), bins={**bins, "*": 5})


_YEARS_OR_MILES: list[float] = [3, 6, 10, 20]
_IN_PAPER: dict[str, tuple[tuple[str, ...], dict[str, list[float]]]] = {
    "mobile": (
        ("four_g", "int_memory", "sc_h", "sc_w"),
        {
            "battery_power": [1000, 1500],
            "clock_speed": [1, 2],
            "fc": [3.8, 7.6],
            "m_dep": [0.5],
            "mobile_wt": [120, 160],
            "n_cores": [2, 4, 6],
            "pc": [10],
            "px_height": [720, 1080],
            "px_width": [1080, 1440],
            "ram": [1024, 2048, 3072],
            "talk_time": [11],
        },
    ),
    "attrition": (
        ("Company Tenure",),
        {
            "Years at Company": _YEARS_OR_MILES,
            "Distance from Home": _YEARS_OR_MILES,
            "Monthly Income": [3000, 5000, 8000, 10000],
        },
    ),
    "loan": ((), {}),
}


def redrawn(
    data: GeneratedCohorts, mask: NDArray[np.bool_], rng: np.random.Generator
) -> dict[str, NDArray[Any]]:
    """The complete table, with features drawn anew where the mask (n_cohorts, n_features) is True.

    They are drawn from the population of the subgroup, given the target and the other features.
    """
    features = [name for name in data.complete if name not in (data.groups, data.target)]
    codes = np.array([data.complete[name] for name in features])
    rows = np.array_split(np.arange(codes.shape[1]), len(mask))
    for population, own, unknown in zip(data.populations.values(), rows, mask, strict=True):
        y = data.complete[data.target][own]
        likely = population.latent[y]
        for feature in np.flatnonzero(~unknown):
            likely = likely * population.features[feature][y, :, codes[feature, own]]
        z = draw(likely, rng)
        for feature in np.flatnonzero(unknown):
            codes[feature, own] = draw(population.features[feature][y, z], rng)
    return {**data.complete, **dict(zip(features, codes, strict=True))}


TABLES: dict[str, Callable[[int], BenchTable]] = {
    "mobile": _prepared(lambda: as_in_paper(load_mobile())),
    "attrition": _prepared(lambda: as_in_paper(load_attrition())),
    "loan": _prepared(lambda: as_in_paper(load_loan())),
    "sd1": _prepared(lambda: make_formula("SD1", 1, random_state=0)),
    "generated, 4 cohorts": _generated(4),
    "generated, 8 cohorts": _generated(8),
}
"""Tables by name, from a seed. Three need `MISFEAT_DATA`."""


def _formula(collection: str, formula: int, *, noise: bool) -> Callable[[int], BenchTable]:
    def table(seed: int) -> BenchTable:
        data = make_formula(collection, formula, noise=noise, random_state=seed)
        return BenchTable(build_cohorts(data.columns, data.target, groups=data.groups))

    return table


PAPER_TABLES: dict[str, Callable[[int], BenchTable]] = {
    **{name: TABLES[name] for name in ("attrition", "mobile", "loan")},
    **{
        f"{name}, formula {formula}{', with noise' if noise else ''}": _formula(
            name, formula, noise=noise
        )
        for name in ("SD1", "SD2")
        for formula in (1, 2, 3)
        for noise in (False, True)
    },
}
"""The tables of the MISFEAT paper by name, from a seed; synthetic ones differ from seed to seed."""
