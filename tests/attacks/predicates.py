"""Predicates and cut points of every size and shape: an answer, the same everywhere, or one line.

Long lists, deep nesting, numbers that no type holds, letters that Python takes for others, and text
that is no predicate at all.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from misfeat import MisfeatError
from misfeat.cohorts import build_cohorts
from tests.attacks.tally import Tally, run_script, without_notes

if TYPE_CHECKING:
    from collections.abc import Callable


def make_table() -> pa.Table:
    """Columns of every width, and one of each other kind."""
    random = np.random.default_rng(3)
    small = random.integers(0, 100, 200)
    return pa.table(
        {
            "tiny": pa.array(small, pa.int8()),
            "unsigned": pa.array(small, pa.uint32()),
            "long": pa.array(small.astype(np.int64), mask=random.random(200) < 0.1),
            "real": pa.array(small / 4, mask=random.random(200) < 0.1),
            "text": pa.array([f"t{value % 7}" for value in small]),
            "flag": pa.array(small % 2 == 0),
            "ﬁ": pa.array(small),
            "fi": pa.array(100 - small),
            "x": pa.array(random.integers(0, 3, 200)),
            "y": pa.array(random.integers(0, 2, 200)),
        }
    )


HOLDERS: dict[str, Callable[[pa.Table], Any]] = {
    "arrays": lambda table: {c: np.array(table[c].to_pylist()) for c in table.column_names},
    "pandas": lambda table: table.to_pandas(),
    "pandas-arrow": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "polars-lazy": lambda table: pl.LazyFrame(table),
    "pyarrow": lambda table: table,
    "duckdb": duckdb.from_arrow,
}


ANSWERED: tuple[Any, ...] = (
    f"tiny in {list(range(3000))}",
    "tiny in [1, 2.5, 300]",
    "real in [1, 2.5, 3] or long in [4, 5.0]",
    f"text not in {[f't{i}' for i in range(200)]}",
    " or ".join(f"unsigned == {i}" for i in range(100)),
    "0 <= " + " <= ".join(["tiny"] * 50),
    "tiny > 300 or tiny < -300",
    f"real > {2**53 + 1} or unsigned < {2**31}",
    "ﬁ > 60",
    "not " * 40 + "tiny > 50",
    "(tiny > 1 and " * 20 + "tiny > 2" + " or long < 3)" * 20,
    {"tiny": [1, 300]},
    {"long": [1, float("inf")]},
    {"real": np.linspace(1, 99, 300).tolist()},
)
REFUSED: tuple[Any, ...] = (
    "not " * 60 + "tiny > 50",
    "(" * 3000 + "tiny > 50" + ")" * 3000,
    "(tiny > 1 and " * 300 + "tiny > 2" + " or long < 3)" * 300,
    " or ".join(["tiny > 1"] * 1001),
    f"tiny in {list(range(10_001))}",
    f"long == {2**63}",
    f"long > {10**400}",
    f"real < {'9' * 5000}",
    "real < 1e999",
    "text == '\ud800'",
    "+".join(["tiny"] * 3000) + " > 1",
    "flag == 'a'",
    "tiny > 1\0",
    {"tiny": [1, 10**30]},
)
"""Predicates and cut points that ask a lot, by how they must end."""


def ask(held: Any, groups: Any) -> tuple[Any, ...]:
    """What can be compared of an answer."""
    with without_notes():
        cohorts = build_cohorts(held, "y", groups=groups)
    return cohorts.names, cohorts.codes.tolist(), cohorts.weights.tolist()


def try_shape(tally: Tally, what: str, groups: Any, table: pa.Table) -> None:
    """Ask every library the same, and count whether all agree."""
    answers: dict[str, Any] = {}
    for name, hold in HOLDERS.items():
        try:
            answers[name] = ask(hold(table), groups)
        except MisfeatError:
            answers[name] = "refused"
        except Exception as error:
            told = f"{what}, {name}: {type(error).__name__}: {error}"[:300]
            tally.wrongly("foreign error", told.encode("ascii", "backslashreplace").decode())
            return
    first = answers["arrays"]
    if any(answer != first for answer in answers.values()):
        odd = [name for name, answer in answers.items() if answer != first]
        tally.wrongly("different answers", f"{what}: {odd} are not as arrays")
    else:
        tally.well("refused clearly" if isinstance(first, str) else "same answer everywhere")


def attack(cases: int, seed: int) -> Tally:
    """Try predicates and cut points of odd shapes in every library; all cases are listed."""
    tally = Tally("predicates", "A predicate is answered alike everywhere, or refused in one line.")
    table = make_table()
    for shape in [*ANSWERED, *REFUSED][:cases]:
        groups = {"some": shape} if isinstance(shape, str) else shape
        try_shape(tally, str(shape)[:80], groups, table)
    return tally


if __name__ == "__main__":
    sys.exit(run_script(attack, cases=len(ANSWERED) + len(REFUSED)))
