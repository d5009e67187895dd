"""The tables that completers are compared on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from misfeat.cohorts import Coding, build_cohorts
from misfeat.datasets import (
    as_in_paper,
    load_attrition,
    load_loan,
    load_mobile,
    make_cohorts,
    make_formula,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from misfeat.cohorts import Cohorts
    from misfeat.datasets import Dataset


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
            return build_cohorts(data.redrawn(mask, rng), data.target, groups=data.groups)

        return BenchTable(build_cohorts(data.complete, data.target, groups=data.groups), redraw)

    return table


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
