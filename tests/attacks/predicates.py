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

HUGE = (2**31, 2**53 + 1, 2**63 - 1, 2**63, 2**64, 10**30, 10**400, 1e308, 1e-320)


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


def shapes(random: np.random.Generator) -> dict[str, Any]:
    """Groups that ask a lot, by what is odd about them."""
    n = int(random.choice([2, 50, 400, 999, 1500, 5000]))
    deep = int(random.choice([2, 20, 45, 60, 300, 3000]))
    number = HUGE[int(random.integers(len(HUGE)))] * int(random.choice([-1, 1]))
    column = str(random.choice(["tiny", "unsigned", "long", "real", "text", "flag"]))
    some = ", ".join(map(str, random.integers(-5, 120, n)))
    return {
        "long list": f"{column} in [{some}]",
        "long list of texts": f"text not in [{', '.join(repr(f't{i}') for i in range(n))}]",
        "long list of fractions": f"{column} in [{', '.join(str(i / 2) for i in range(n))}]",
        "many comparisons": " or ".join(f"{column} == {i}" for i in range(n)),
        "many conjunctions": " and ".join(f"real != {i}" for i in range(n)),
        "a long chain": "0 <= " + " <= ".join(["tiny"] * n),
        "deep nots": "not " * deep + "tiny > 50",
        "deep parentheses": "(" * deep + "tiny > 50" + ")" * deep,
        "deep alternation": "(tiny > 1 and " * deep + "tiny > 2" + " or long < 3)" * deep,
        "huge numbers": f"{column} > {number}",
        "huge equal": f"{column} == {number}",
        "huge in a list": f"{column} in [1, {number}]",
        "more digits than Python reads": f"{column} < {'9' * 5000}",
        "infinite": f"{column} < 1e999",
        "letters Python folds": "ﬁ > 60",
        "null byte": "tiny > 1\0",
        "half a character": "text == '\ud800'",
        "deep sum": "+".join(["tiny"] * deep * 10) + " > 1",
        "wrong kinds": f"{column} == 'a'" if column != "text" else "text > 1",
    }


def cut_shapes(random: np.random.Generator) -> dict[str, Any]:
    """Cut points that ask a lot."""
    number = HUGE[int(random.integers(len(HUGE)))]
    n = int(random.choice([1, 300, 999, 5000]))
    column = str(random.choice(["tiny", "unsigned", "long", "real"]))
    return {
        "huge cut": (column, [1, number]),
        "many cuts": (column, np.linspace(1, 99, n).tolist()),
        "infinite cut": (column, [1, float("inf")]),
    }


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
    """Try predicates and cut points of odd shapes in every library."""
    tally = Tally("predicates", "A predicate is answered alike everywhere, or refused in one line.")
    table, random = make_table(), np.random.default_rng(seed)
    while tally.n_cases < cases:
        named = {what: {"some": text} for what, text in shapes(random).items()}
        cuts = {what: {column: points} for what, (column, points) in cut_shapes(random).items()}
        for what, groups in [*named.items(), *cuts.items()][: cases - tally.n_cases]:
            try_shape(tally, what, groups, table)
    return tally


if __name__ == "__main__":
    sys.exit(run_script(attack, cases=220))
