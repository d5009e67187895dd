"""Rows of results, summed up: means, and tables in Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    Row = dict[str, Any]


def mean_rows(rows: Iterable[Row], keys: Sequence[str], names: Sequence[str]) -> list[Row]:
    """Means of some columns, a row for each combination of others.

    A figure that is None in some rows is the mean of the others, and None where it is None in all.

    Examples
    --------
    >>> mean_rows([{"a": 1, "x": 2.0}, {"a": 1, "x": 4.0}], ["a"], ["x"])
    [{'a': 1, 'x': 3.0}]
    >>> mean_rows([{"a": 1, "x": None}, {"a": 1, "x": 4.0}, {"a": 2, "x": None}], ["a"], ["x"])
    [{'a': 1, 'x': 4.0}, {'a': 2, 'x': None}]
    """
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    return [
        {
            **dict(zip(keys, key, strict=True)),
            **{name: mean_of([row[name] for row in found]) for name in names},
        }
        for key, found in groups.items()
    ]


def mean_of(figures: Iterable[float | None]) -> float | None:
    """The mean of those that are known.

    Examples
    --------
    >>> mean_of([1.0, None, 2.0]), mean_of([None])
    (1.5, None)
    """
    known = [figure for figure in figures if figure is not None]
    return float(np.mean(known)) if known else None


def at_every_n(rows: Sequence[Row]) -> list[Row]:
    """The rows of tables that every number of rows was drawn from; of all where there is none.

    Means over tables can be compared between numbers of rows only where the tables are the same.

    Examples
    --------
    >>> rows = [{"table": t, "rows": n} for t, n in (("a", 1), ("a", 2), ("b", 1))]
    >>> at_every_n(rows)
    [{'table': 'a', 'rows': 1}, {'table': 'a', 'rows': 2}]
    """
    numbers = {row["rows"] for row in rows}
    drawn: dict[str, set[int]] = {}
    for row in rows:
        drawn.setdefault(row["table"], set()).add(row["rows"])
    return [row for row in rows if drawn[row["table"]] == numbers] or list(rows)


def tables_meant(rows: Sequence[Row]) -> str:
    """Which tables means are over, in words.

    Examples
    --------
    >>> tables_meant([{"table": t, "rows": n} for t, n in (("a", 1), ("a", 2), ("b", 1))])
    'a (not b, which is too small for some n)'
    """
    meant = list(dict.fromkeys(row["table"] for row in at_every_n(rows)))
    others = [t for t in dict.fromkeys(row["table"] for row in rows) if t not in meant]
    which = "is" if len(others) == 1 else "are"
    left = f" (not {', '.join(others)}, which {which} too small for some n)" if others else ""
    return f"{', '.join(meant)}{left}"


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """The lines of a table.

    Examples
    --------
    >>> list(markdown_table(["n", "share"], [["100", "0.90"]]))
    ['| n | share |', '| --- | --- |', '| 100 | 0.90 |']
    """
    yield "| " + " | ".join(header) + " |"
    yield "| --- " * len(header) + "|"
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def in_digits(figure: float | None, digits: int = 2) -> str:
    """A figure as it stands in a table; a dash where it is not known.

    Examples
    --------
    >>> in_digits(0.954), in_digits(None)
    ('0.95', '–')
    """
    return "–" if figure is None else f"{figure:.{digits}f}"
