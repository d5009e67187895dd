"""Contract checks, of which each has a name and runs alone, and those of a source of tables."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from misfeat.cohorts.build import CohortRules, build_cohorts
from misfeat.cohorts.coding import Coding
from misfeat.exceptions import MisfeatError
from misfeat.reading.inputs import open_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from misfeat.reading.inputs import Table

MOST_VALUES = 10_000
"""Columns with more values are compared by their rows alone."""


class Check(NamedTuple):
    """One thing that an extension has to keep.

    Attributes
    ----------
    name : str
        What it is, as the name of a test.
    run : callable
        Raises an AssertionError where it is not kept.
    """

    name: str
    run: Callable[[], None]

    def __call__(self) -> None:
        """Run it."""
        self.run()


def demand(kept: object, words: str) -> None:
    """Raise an AssertionError unless something is kept; also where assertions are switched off."""
    if not kept:
        raise AssertionError(words)


def check_source(source: Any, expected: Any) -> None:
    """Raise an AssertionError unless a source gives the table that is expected.

    Parameters
    ----------
    source : object
        An address of a scheme that is registered or installed, or an object with a method
        ``__misfeat_table__``.
    expected : dataframe or mapping of columns
        The same table, small and with at least two columns.

    Examples
    --------
    >>> class Ward:
    ...     def __misfeat_table__(self):
    ...         return {"a": [0, 1, 1], "y": [0, 1, 0]}
    >>> check_source(Ward(), {"a": [0, 1, 1], "y": [0, 1, 0]})
    >>> check_source(Ward(), {"a": [0, 1, 1], "y": [0, 1, 1]})
    Traceback (most recent call last):
    ...
    AssertionError: The source: column 'y' holds {0: 2, 1: 1} instead of {0: 1, 1: 2}.
    """
    for check in source_checks(source, expected):
        check()


def source_checks(source: Any, expected: Any) -> Iterator[Check]:
    """The checks of `check_source` one by one, to parametrise a test with.

    Parameters
    ----------
    source, expected
        As in `check_source`.

    Yields
    ------
    Check
        With a name; calling it runs it.
    """
    checks = (
        it_can_be_opened,
        columns_and_rows_are_those_expected,
        values_are_those_expected,
        it_can_be_read_again,
        subgroups_are_those_expected,
    )
    for check in checks:
        yield Check(check.__name__, partial(check, source, expected))


def it_can_be_opened(source: Any, expected: Any) -> None:  # noqa: ARG001
    """It gives something that misfeat reads."""
    with closing(_opened(source)) as table:
        demand(table.names, "The source: it gives a table without columns.")


def columns_and_rows_are_those_expected(source: Any, expected: Any) -> None:
    """The same names in the same order, and as many rows."""
    with closing(_opened(source)) as table, closing(_opened(expected)) as wanted:
        demand(
            table.names == wanted.names,
            f"The source: its columns are {list(table.names)} instead of {list(wanted.names)}.",
        )
        found, rows = table.n_rows(), wanted.n_rows()
        demand(found == rows, f"The source: it has {found} rows instead of {rows}.")


def values_are_those_expected(source: Any, expected: Any) -> None:
    """Every column holds the same values as often; missing ones are null."""
    with closing(_opened(source)) as table, closing(_opened(expected)) as wanted:
        for name in wanted.names:
            found, counts = (one.value_counts(name, MOST_VALUES) for one in (table, wanted))
            if found is None or counts is None:
                demand(found is counts, f"The source: column {name!r} has other values.")
                continue
            held, others = (
                dict(zip(one.values.tolist(), one.counts.tolist(), strict=True))
                for one in (found, counts)
            )
            demand(
                held == others,
                f"The source: column {name!r} holds {held} instead of {others}.",
            )
            demand(
                found.missing == counts.missing,
                f"The source: column {name!r} lacks {found.missing} values instead of "
                f"{counts.missing}; give null for what is missing.",
            )


def it_can_be_read_again(source: Any, expected: Any) -> None:
    """Opened twice, it gives the same: nothing is used up."""
    for _ in range(2):
        columns_and_rows_are_those_expected(source, expected)


def subgroups_are_those_expected(source: Any, expected: Any) -> None:
    """Coded rows are the same, bit for bit, as those of the table that is expected."""
    with closing(_opened(expected)) as table:
        *_, target = table.names
    found, wanted = (build_cohorts(one, target) for one in (source, expected))
    for name in ("codes", "target_codes", "weights"):
        demand(
            np.array_equal(getattr(found, name), getattr(wanted, name)),
            "The source: rows are coded in another way; check the types of its columns.",
        )


def _opened(source: Any) -> Table:
    try:
        return open_columns(source, CohortRules.parse(None, Coding()).codes)
    except MisfeatError as error:
        raise AssertionError(f"The source cannot be opened: {error}") from error
