"""Tables of every type: small, full of what real tables hold, and the same in every library."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from hypothesis import strategies as st

Maker = Callable[[np.random.Generator], Any]
TARGET, GROUP = "target", "group"
NAMES = ("a", "b", "c", "x y", "ünï", "日本", "1st", "_", "p_value", "score")
ODD_NAMES = (
    "*",
    "**",
    "A",
    " a",
    "a ",
    "a.b",
    'q"q',
    "q'q",
    "[0]",
    "COLUMNS(*)",
    "new\nline",
    "🙂",
)
"""Names of features, and some that an engine might read as something else."""
TEXTS = ("", " ", "NA", "nan", "missing", "other", "(other)", "1", "1.0", "é", "е", "🙂", "a" * 300)
WHOLE = (0, 1, -1, 2, 3, 12, 255, 2**31)
BIG = (2**53 - 1, 2**53, 2**53 + 1, 2**62, -(2**63), 2**63 - 1, 0)
HUGE = (2**63, 2**64, -(2**70), 10**30, 0)
REAL = (0.0, -0.0, 0.5, 1.0, 1e-300, -1e300, 5e-324, float("inf"), float("-inf"), float("nan"))
OBJECTS = (None, 1, 1.0, True, "1", "x", 2.5, Decimal("2.5"), dt.date(2020, 1, 1), float("nan"))

LETTERS = "abcxyzÄßñ漢字🙂 .,;-_%&'"


def _one_of(*values: Any) -> Maker:
    return lambda rng: values[rng.integers(len(values))]


def _text(rng: np.random.Generator) -> str:
    if rng.random() < 0.6:
        return ("x", "y", "z", "w")[rng.integers(4)]
    if rng.random() < 0.5:
        return TEXTS[rng.integers(len(TEXTS))]
    return "".join(LETTERS[place] for place in rng.integers(0, len(LETTERS), rng.integers(1, 5)))


def _real(rng: np.random.Generator) -> float:
    return REAL[rng.integers(len(REAL))] if rng.random() < 0.1 else float(rng.normal(0, 10))


def _whole(rng: np.random.Generator) -> int:
    return WHOLE[rng.integers(len(WHOLE))] if rng.random() < 0.2 else int(rng.integers(-9, 30))


def _moment(rng: np.random.Generator) -> dt.datetime:
    return dt.datetime(1950, 1, 1) + dt.timedelta(seconds=int(rng.integers(0, 4 * 10**9)))


VALUES: dict[str, Maker] = {
    "whole": _whole,
    "big": _one_of(*BIG),
    "real": _real,
    "flag": lambda rng: bool(rng.integers(2)),
    "text": _text,
    "category": _one_of("low", "low", "mid", "high", "high", ""),
    "day": lambda rng: _moment(rng).date(),
    "moment": _moment,
    "exact": lambda rng: Decimal(int(rng.integers(-9999, 9999))) / 100,
    "amount": lambda rng: f"${rng.integers(0, 10**6):,}",
    "share": lambda rng: f"{rng.random() * 100:.1f}%",
    "comma": lambda rng: f"{rng.integers(0, 10**5) / 100:.2f}".replace(".", ","),
    "stamp": lambda rng: _moment(rng).strftime("%d/%m/%Y %H:%M"),
    "month": lambda rng: _moment(rng).strftime("%b-%Y"),
    "bound": _one_of("< 1 year", "1 year", "2 years", "10+ years", "n/a"),
    "huge": _one_of(*HUGE),
    "objects": _one_of(*OBJECTS),
}
"""What a column of each kind may hold, made from a seed: drawing every cell would take long."""
EVERYWHERE = tuple(kind for kind in VALUES if kind not in ("huge", "objects"))
"""Kinds that every library has a type for; the others are columns of Python objects."""
WRITTEN = ("whole", "real", "category")
"""Kinds that a CSV file keeps, most of the time."""
IN_TEXT = ("amount", "share", "comma", "stamp", "month", "bound")
"""Kinds of numbers and dates that are written in text."""
PLAIN = ("whole", "flag", "category", "text")
MANY = ("real", "whole", "day", "exact", "moment", *IN_TEXT)
"""Kinds of which a column may hold many values."""
GAPS = ("full", "full", "full", "some", "groups", "groups", "nowhere")


@dataclass(frozen=True)
class Column:
    """One column as Python values, None where missing."""

    kind: str
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Drawn:
    """A drawn table."""

    columns: dict[str, Column]

    @property
    def features(self) -> list[str]:
        return [name for name in self.columns if name not in (TARGET, GROUP)]

    @property
    def n_rows(self) -> int:
        return len(self.columns[TARGET].values)

    def reordered(self, rows: np.ndarray) -> Drawn:
        """The same rows in another order."""
        return Drawn(
            {
                name: Column(column.kind, tuple(column.values[row] for row in rows))
                for name, column in self.columns.items()
            }
        )

    def turned(self) -> Drawn:
        """The same columns in the opposite order."""
        return Drawn(dict(reversed(self.columns.items())))

    def __repr__(self) -> str:
        shown = {name: (column.kind, list(column.values)) for name, column in self.columns.items()}
        return f"Drawn({shown})"


@st.composite
def tables(draw: Any) -> Drawn:
    """A table of 2 to 6 features: drawn in its shape, its values from a seed."""
    kinds = draw(st.sampled_from((EVERYWHERE, EVERYWHERE, WRITTEN, tuple(VALUES))))
    plain = tuple(kind for kind in PLAIN if kind in kinds)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows = draw(st.sampled_from((1, 2, *range(3, 60), *range(60, 600, 60), 5000)))
    n_groups = draw(st.integers(1, 4))
    group = np.sort(rng.integers(0, n_groups, n_rows))
    columns: dict[str, Column] = {}
    if n_groups > 1:
        columns[GROUP] = _dealt_out(rng, draw(st.sampled_from(("category", *plain))), group)
    n_features = draw(st.integers(2, 6))
    odd = ODD_NAMES if draw(st.integers(0, 3)) == 3 else ()
    names = rng.permutation((*NAMES, *odd))[:n_features].tolist()
    of_kinds = draw(st.lists(st.sampled_from(kinds), min_size=n_features, max_size=n_features))
    gaps = draw(st.lists(st.sampled_from(GAPS), min_size=n_features, max_size=n_features))
    for name, kind, how in zip(names, of_kinds, gaps, strict=True):
        columns[name] = _with_gaps(rng, _dealt_out(rng, kind, None, n_rows), how, group)
    target = _dealt_out(rng, draw(st.sampled_from((*plain, *plain, *kinds))), None, n_rows)
    how = draw(st.sampled_from(("full",) * 8 + GAPS))
    columns[TARGET] = _with_gaps(rng, target, how, group)
    return Drawn(columns)


def _dealt_out(
    rng: np.random.Generator, kind: str, places: np.ndarray | None, n_rows: int = 0
) -> Column:
    """A few values of a kind, dealt out over the rows at random, or by the places given."""
    if places is None:
        many = kind in MANY and rng.random() < 0.5
        places = rng.integers(0, rng.choice((1, 2, 2, 3, 3, 4, 5)) if not many else 30, n_rows)
        if kind == "objects" and rng.random() < 0.5:
            places.sort()  # so that the kind changes late
    values = [VALUES[kind](rng) for _ in range(int(places.max()) + 1)]
    return Column(kind, tuple(values[place] for place in places))


def _with_gaps(rng: np.random.Generator, column: Column, how: str, group: np.ndarray) -> Column:
    """The column as it is, with some values missing, never recorded in some groups, or nowhere."""
    if how == "full":
        return column
    if how == "groups":
        lacks = np.isin(group, rng.permutation(group.max() + 1)[: rng.integers(1, 3)])
    else:
        lacks = rng.random(len(group)) < (0.2 if how == "some" else 1.1)
    gaps = tuple(None if gap else v for v, gap in zip(column.values, lacks, strict=True))
    return Column(column.kind, gaps)
