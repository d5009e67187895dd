"""Contract checks of a measure of one's own."""

from __future__ import annotations

import pickle
from functools import partial
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import clone

from misfeat.exceptions import MisfeatError
from misfeat.information.count_measure import CountMeasure, check_named, scores_of
from misfeat.selector import SubgroupSelector
from misfeat.testing.checks import Check, demand, run_all

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

NEARLY = 1e-9
"""Scores that differ by no more, of what there is to tell, are the same but for rounding."""
N_TABLES = 40


def check_measure(measure: CountMeasure) -> None:
    """Raise an AssertionError unless a measure keeps what its scores and intervals rest on.

    Parameters
    ----------
    measure : CountMeasure
        As it would be passed to ``SubgroupSelector(measure=...)``.

    Examples
    --------
    >>> from misfeat.information import GiniExplained
    >>> check_measure(GiniExplained())
    >>> class RowsOfBestCell(GiniExplained):
    ...     def of_counts(self, counts):
    ...         return counts.max(axis=(1, 2))
    >>> check_measure(RowsOfBestCell())
    Traceback (most recent call last):
    ...
    AssertionError: RowsOfBestCell().of_counts: ten times the rows of every cell score ...
    """
    run_all(measure_checks(measure))


def measure_checks(measure: CountMeasure) -> Iterator[Check]:
    """The checks of `check_measure` one by one, to parametrise a test with.

    Parameters
    ----------
    measure : CountMeasure
        What is checked.

    Yields
    ------
    Check
        With a name; calling it runs it.

    Examples
    --------
    >>> from misfeat.information import GiniExplained
    >>> [check.name for check in measure_checks(GiniExplained())][:2]
    ['it_has_a_name', 'it_gives_a_number_for_every_table']
    """
    checks = (
        it_has_a_name,
        it_gives_a_number_for_every_table,
        tables_are_scored_one_by_one,
        shares_count_not_rows,
        empty_cells_and_the_order_of_cells_change_nothing,
        cells_with_the_same_shares_tell_nothing,
        cells_put_together_never_tell_more,
        nothing_tells_more_than_the_target_itself,
        it_is_copied_and_pickled,
        a_selector_finds_what_tells,
        a_saved_run_keeps_its_scores,
    )
    for check in checks:
        yield Check(check.__name__, partial(check, measure))


def tables(seed: int, n_classes: int = 2, *, whole: bool = True) -> Floats:
    """Tables of counts as rows and weights give them: uneven, with gaps."""
    rng = np.random.default_rng(seed)
    means = rng.gamma(0.7, 20.0, size=(N_TABLES, 5, n_classes))
    counts: Floats = rng.poisson(means).astype(np.float64) if whole else means
    counts[:, 0] += 1.0
    return counts


def it_has_a_name(measure: CountMeasure) -> None:
    """It says what it is called."""
    demand(
        isinstance(measure, CountMeasure),
        f"{type(measure).__name__} is no CountMeasure; subclass misfeat.information.CountMeasure.",
    )
    try:
        check_named(measure)
    except MisfeatError as error:
        raise AssertionError(str(error)) from error


def it_gives_a_number_for_every_table(measure: CountMeasure) -> None:
    """One finite number a table, also of a single cell, a single class, and parts of rows."""
    single_cell = np.array([[[3.0, 5.0]]])
    single_class = np.array([[[3.0, 0.0], [2.0, 0.0]]])
    apart = np.array([[[4.0, 0.0], [0.0, 2.0]]])
    for counts in (tables(0), tables(1, 3), tables(2, whole=False), single_cell, single_class):
        _scores(measure, counts)
    _scores(measure, apart)


def tables_are_scored_one_by_one(measure: CountMeasure) -> None:
    """A table has its score whatever other tables are in the stack."""
    counts = tables(4)
    one_by_one = np.array([_scores(measure, table[None])[0] for table in counts])
    _demand_same(
        measure,
        _scores(measure, counts),
        one_by_one,
        counts,
        "a table in a stack scores {0:.6g}, alone {1:.6g}; sum over axes 1 and 2, never over 0.",
    )


def shares_count_not_rows(measure: CountMeasure) -> None:
    """Ten times the rows of every cell score the same."""
    for counts in (tables(5), tables(6, 3)):
        _demand_same(
            measure,
            _scores(measure, counts),
            _scores(measure, 10.0 * counts),
            counts,
            "ten times the rows of every cell score {1:.6g} instead of {0:.6g}; divide counts by "
            "the sum of their table.",
        )


def empty_cells_and_the_order_of_cells_change_nothing(measure: CountMeasure) -> None:
    """Cells without rows may be added, and cells may be in any order."""
    counts = tables(7)
    scores = _scores(measure, counts)
    padded = np.concatenate([counts, np.zeros_like(counts[:, :3])], axis=1)
    _demand_same(
        measure,
        scores,
        _scores(measure, padded),
        counts,
        "with three cells without rows the score is {1:.6g} instead of {0:.6g}; do not count them.",
    )
    _demand_same(
        measure,
        scores,
        _scores(measure, counts[:, ::-1].copy()),
        counts,
        "with cells in another order the score is {1:.6g} instead of {0:.6g}; sum over cells.",
    )


def cells_with_the_same_shares_tell_nothing(measure: CountMeasure) -> None:
    """0 where no cell differs from the whole, and nowhere less."""
    counts = tables(8, 3)
    alike = counts.sum(axis=2, keepdims=True) * counts.sum(axis=1, keepdims=True)
    _demand_same(
        measure,
        _scores(measure, alike),
        np.zeros(len(counts)),
        alike,
        "cells that all have the same shares of classes score {0:.6g} instead of 0; take off what "
        "is known without the features.",
    )
    lowest = int(np.argmin(_scores(measure, counts)))
    least = _scores(measure, counts)[lowest]
    demand(
        least >= -_near(measure, counts),
        f"{_method(measure)}: {least:.6g} for {counts[lowest].tolist()}; no score may be below 0.",
    )


def cells_put_together_never_tell_more(measure: CountMeasure) -> None:
    """Upward closure: a larger set, which cuts cells into parts, tells no less."""
    for counts in (tables(9), tables(10, 3), tables(11, whole=False)):
        merged = np.concatenate([counts[:, :1] + counts[:, 1:2], counts[:, 2:]], axis=1)
        apart, together = _scores(measure, counts), _scores(measure, merged)
        worst = int(np.argmax(together - apart))
        demand(
            together[worst] <= apart[worst] + _near(measure, counts),
            f"{_method(measure)}: {counts[worst].tolist()} scores {apart[worst]:.6g}, and "
            f"{together[worst]:.6g} with its first two cells put together. A larger set would tell "
            "less than a part of it; do not divide by the number of cells or the like.",
        )


def nothing_tells_more_than_the_target_itself(measure: CountMeasure) -> None:
    """What there is to tell is the score of a copy of the target."""
    for counts in (tables(12), tables(13, 3)):
        scores = _scores(measure, counts)
        whole = np.array([measure.whole(table.sum(axis=0)) for table in counts])
        worst = int(np.argmax(scores - whole))
        demand(
            scores[worst] <= whole[worst] + _near(measure, counts),
            f"{_method(measure)}: {counts[worst].tolist()} scores {scores[worst]:.6g}, and a copy "
            f"of the target {whole[worst]:.6g}, which must be the most.",
        )
        demand(
            (whole > 0).all(),
            f"{_method(measure)}: a copy of a target with several classes scores "
            f"{whole.min():.6g}; it must score more than 0.",
        )


def it_is_copied_and_pickled(measure: CountMeasure) -> None:
    """Copies score the same."""
    counts = tables(14)
    scores = _scores(measure, counts)
    try:
        copied = clone(measure)
    except (TypeError, RuntimeError) as error:
        raise AssertionError(
            f"{measure!r} cannot be cloned ({error}); store the arguments of __init__ as they are, "
            "under their own names."
        ) from error
    _demand_same(
        measure,
        scores,
        _scores(copied, counts),
        counts,
        "a clone gives {1:.6g} instead of {0:.6g}; keep nothing outside the arguments of __init__.",
    )
    try:
        pickled = pickle.loads(pickle.dumps(measure))  # noqa: S301
    except (pickle.PicklingError, AttributeError, TypeError):
        return  # a class that was defined within a function
    _demand_same(
        measure,
        scores,
        _scores(pickled, counts),
        counts,
        "after pickling it gives {1:.6g} instead of {0:.6g}.",
    )


def a_selector_finds_what_tells(measure: CountMeasure) -> None:
    """A copy of the target comes first, in intervals that hold what they should."""
    selector = _fitted(measure)
    best = selector.top_k()
    demand(
        all("copy" in features for features in best["features"]),
        f"{measure!r}: among a copy of the target and noise, the best sets are "
        f"{list(best['features'])}; what tells more must score more.",
    )
    scores = selector.scores()
    within = (scores["low"] <= scores["score"]) & (scores["score"] <= scores["high"])
    demand(within.all(), f"{measure!r}: a score lies outside its interval.")


def a_saved_run_keeps_its_scores(measure: CountMeasure) -> None:
    """A run is saved, and loaded without the code of the measure."""
    selector = _fitted(measure)
    with TemporaryDirectory() as folder:
        selector.save(f"{folder}/run")
        loaded = SubgroupSelector.load(f"{folder}/run")
    same = np.allclose(loaded.scores()["score"], selector.scores()["score"], rtol=NEARLY, atol=0)
    demand(same, f"{measure!r}: a run that was saved and loaded has other scores.")


def _fitted(measure: CountMeasure) -> SubgroupSelector:
    rng = np.random.default_rng(15)
    y = rng.integers(2, size=200)
    noise = {name: rng.integers(3, size=200) for name in "abc"}
    table = {"copy": np.where(rng.random(200) < 0.05, 1 - y, y), **noise}
    selector = SubgroupSelector("site", size=2, k=1, measure=measure)
    site = np.repeat(["x", "y"], 100)
    return selector.fit({**table, "site": site, "target": y}, "target")


def _method(measure: CountMeasure) -> str:
    return f"{measure!r}.of_counts"


def _scores(measure: CountMeasure, counts: Floats) -> Floats:
    try:
        return scores_of(measure, counts)
    except MisfeatError as error:
        raise AssertionError(str(error)) from error


def _near(measure: CountMeasure, counts: Floats) -> float:
    """By how much scores of tables may differ that are the same but for rounding."""
    return NEARLY * max(measure.whole(table.sum(axis=0)) for table in counts)


def _demand_same(
    measure: CountMeasure, scores: Floats, others: Floats, counts: Floats, words: str
) -> None:
    """Raise, with the table that differs most, unless scores are the same."""
    worst = int(np.argmax(np.abs(scores - others)))
    near = abs(scores[worst] - others[worst]) <= _near(measure, counts)
    said = words.format(scores[worst], others[worst])
    demand(near, f"{_method(measure)}: {said} The table: {counts[worst].tolist()}.")
