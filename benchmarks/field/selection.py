"""Part (a): how well do models predict with the features that every method chooses?"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.common.draws import code_of_estimates
from benchmarks.common.units import Unit
from benchmarks.field.encoding import Encoder
from benchmarks.field.models import judged
from benchmarks.field.peers import PEERS
from benchmarks.field.tables import ALL, TABLES, WITH_SUBGROUPS, drawn, rows_of, together
from misfeat import SubgroupSelector

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.field.tables import Table

    Row = dict[str, Any]
    Chosen = dict[int, list[list[int]]]

OURS, EVERYTHING = "misfeat", "all features"
POOLED, EACH = ", pooled", ", each"
"""A peer on the rows of all subgroups together, and on those of each alone."""
SIZES = (5, 10)


@dataclass(frozen=True)
class SelectionPart:
    """What is run: every method on every draw is a piece of work, a seed after the other."""

    tables: Sequence[str] = tuple(TABLES)
    rows: Sequence[int | str] = (200, 1000, ALL)
    seeds: Sequence[int] = (2001, 2002)
    name: str = "selection"

    def units(self) -> Iterator[Unit]:
        """All methods of one seed before the next; the smallest draws of a seed first."""
        for seed in self.seeds:
            for asked in self.rows:
                for table in self.tables:
                    n_rows = rows_of(table, asked)
                    if n_rows is None:
                        continue
                    for method in methods_of(table):
                        about = {"table": table, "rows": str(asked), "seed": seed, "method": method}
                        settings: dict[str, Any] = {"n": n_rows}
                        if method == OURS:
                            settings["code"] = code_of_estimates()
                        work = partial(one_choice, table, n_rows, seed, method)
                        yield Unit("selection", about, settings, work)


def methods_of(table: str) -> list[str]:
    """Ours, every peer (twice where a table has subgroups), and no choice at all."""
    kinds = (POOLED, EACH) if table in WITH_SUBGROUPS else ("",)
    return [OURS, *(f"{peer}{kind}" for peer in PEERS for kind in kinds), EVERYTHING]


def one_choice(table: str, n_rows: int, seed: int, method: str) -> list[Row]:
    """Choose on one draw by one method; a row a subgroup and size.

    ``seconds`` are CPU seconds of choosing for all subgroups and both sizes.
    """
    fit, test = drawn(table, n_rows, seed)
    sizes = [size for size in SIZES if size < len(fit[0].names)]
    begun = time.process_time()
    chosen = chosen_by(method, fit, sizes, seed)
    seconds = round(time.process_time() - begun, 2)
    return [
        {
            "subgroup": number,
            "size": size,
            **_rounded(judged(own, other, chosen[size][number])),
            "seconds": seconds,
        }
        for size in sizes
        for number, (own, other) in enumerate(zip(fit, test, strict=True))
    ]


def _rounded(figures: dict[str, float | None]) -> Row:
    return {name: None if f is None else round(f, 4) for name, f in figures.items()}


def chosen_by(method: str, fit: list[Table], sizes: Sequence[int], seed: int) -> Chosen:
    """The features of every subgroup, by size."""
    if method == EVERYTHING:
        return {size: [list(range(len(fit[0].names)))] * len(fit) for size in sizes}
    if method == OURS:
        return {size: best_sets(fit, size) for size in sizes}
    pooled, name = method.endswith(POOLED), method.removesuffix(POOLED).removesuffix(EACH)
    given = [together(fit)] if pooled else fit
    orders = [PEERS[name](Encoder.of(one), one, seed) for one in given]
    orders = orders * len(fit) if pooled else orders
    return {size: [order[:size] for order in orders] for size in sizes}


def best_sets(fit: list[Table], size: int) -> list[list[int]]:
    """The best set of every subgroup, of a `SubgroupSelector` at its first settings."""
    table = together(fit)
    columns: dict[str, Any] = {
        name: column if numeric else column.astype(np.int64).astype(str)
        for name, column, numeric in zip(table.names, table.values.T, table.numeric, strict=True)
    }
    columns["class of row"] = table.y.astype(str)
    groups = None
    if table.has_subgroups:
        groups = "subgroup of row"
        columns[groups] = np.char.add("s", table.subgroup.astype(str))
    selector = SubgroupSelector(groups, size=size, k=1, n_jobs=1, random_state=0)
    top = selector.fit(columns, "class of row").top_k()
    place = {name: number for number, name in enumerate(table.names)}
    found = {
        str(subgroup): [place[name] for name in features]
        for subgroup, features in zip(top["subgroup"], top["features"], strict=True)
    }
    if groups is None:
        return [next(iter(found.values()))]
    return [found[f"{groups}=s{number}"] for number in range(len(fit))]
