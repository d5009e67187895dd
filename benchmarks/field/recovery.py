"""Part (c): are planted sets found, at their size and among the first ten features?"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.common.draws import code_of_estimates
from benchmarks.common.units import Unit
from benchmarks.field.peers import LONGEST, PEERS
from benchmarks.field.selection import OURS, chosen_by
from benchmarks.field.tables import GAMETES, Table, table_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    Codes = NDArray[np.int64]
    Row = dict[str, Any]

N_FEATURES, N_VALUES = 20, 3
CLEAR = 0.75
"""The chance that a row has the class that its planted features say."""


def _pair(X: Codes) -> Codes:
    return ((X[:, 0] + X[:, 1]) % 3 > 0).astype(np.int64)


def _triple(X: Codes) -> Codes:
    return np.asarray((X[:, :3] > 0).sum(axis=1) % 2)


def _pair_beside_others(X: Codes) -> Codes:
    """Three features that explain something alone, and a pair that does only together."""
    found = 2.0 * ((X[:, 0] + X[:, 1]) % 3 > 0) + 0.4 * X[:, 2:5].sum(axis=1) > 2.6
    return np.asarray(found.astype(np.int64))


PLANTED: dict[str, tuple[Callable[[Codes], Codes], tuple[int, ...]]] = {
    "planted pair": (_pair, (0, 1)),
    "planted triple": (_triple, (0, 1, 2)),
    "pair beside three others": (_pair_beside_others, (0, 1)),
}
"""Rules by name, and the features that must be found."""
TABLES = (*GAMETES, *PLANTED)


def drawn(table: str, n_rows: int, seed: int) -> tuple[Table, tuple[int, ...]]:
    """Rows, and the places of the features that matter; columns come in an order drawn by lot."""
    rng = np.random.default_rng([seed, n_rows, TABLES.index(table)])
    if table in PLANTED:
        rule, planted = PLANTED[table]
        X = rng.integers(N_VALUES, size=(n_rows, N_FEATURES))
        says = np.asarray(rule(X), dtype=np.int64)
        y = np.where(rng.random(n_rows) < CLEAR, says, 1 - says)
        names = [f"f{f}" for f in range(N_FEATURES)]
        values = X.astype(float)
    else:
        whole = table_of(table)
        rows = rng.permutation(len(whole.y))[:n_rows]
        names, values, y = list(whole.names), whole.values[rows], whole.y[rows]
        planted = tuple(f for f, name in enumerate(names) if name[0] in "PM")
    order = rng.permutation(len(names))
    place = {int(f): at for at, f in enumerate(order)}
    found = Table(
        tuple(f"x{at:02d}" for at in range(len(names))),
        values[:, order],
        np.zeros(len(names), dtype=bool),
        y,
        np.zeros(n_rows, dtype=np.int64),
    )
    return found, tuple(sorted(place[f] for f in planted))


@dataclass(frozen=True)
class RecoveryPart:
    """What is run: every method on every draw is a piece of work."""

    tables: Sequence[str] = TABLES
    rows: Sequence[int] = (500, 1500)
    seeds: Sequence[int] = tuple(range(2001, 2009))
    name: str = "recovery"

    def units(self) -> Iterator[Unit]:
        """All methods of one seed before the next."""
        for seed in self.seeds:
            for n_rows in self.rows:
                for table in self.tables:
                    for method in (OURS, *PEERS):
                        about = {"table": table, "rows": n_rows, "seed": seed, "method": method}
                        settings = {"code": code_of_estimates()} if method == OURS else {}
                        work = partial(one_table, table, n_rows, seed, method)
                        yield Unit("recovery", about, settings, work)


def one_table(table: str, n_rows: int, seed: int, method: str) -> list[Row]:
    """Whether all planted features are chosen, at their number and among ten."""
    rows, planted = drawn(table, n_rows, seed)
    begun = time.process_time()
    chosen = chosen_by(method, [rows], (len(planted), LONGEST), seed)
    seconds = round(time.process_time() - begun, 2)
    exact, among = (set(planted) <= set(chosen[size][0]) for size in (len(planted), LONGEST))
    return [{"at_size": float(exact), "among_ten": float(among), "seconds": seconds}]
