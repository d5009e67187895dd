"""Features that say the same twice: copies, and numbers that follow from others."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from misfeat.answers.caution import Caution
from misfeat.cohorts.cohort_data import NOT_RECORDED, Cohorts, is_gap
from misfeat.information.mutual_info import entropy
from misfeat.information.null_expectation import expected_information, n_log_n
from misfeat.messages import Setting
from misfeat.runtime.array_types import Floats, Indices, Integers

SAME = 0.95  # a feature that explains this share of another one determines it
LOOKS_SAME = 0.9  # pairs that reach this share in a sample of rows are counted on all rows
SAMPLE = 500
LEAST_OF_PAIR = 30  # in fewer rows a feature determines another one easily by chance
FEW_OTHERS = 10  # rows that must differ from the commonest value, else little is determined
DERIVED = 0.85
"""Two numbers that explain this share of the variance of a third may be what it is made from: by
five bins each a mean or a difference reaches .8 to .95, measurements of a dozen real tables .7."""
MORE_THAN_ALONE = 0.15  # and so much more than either by itself
NUMBER_SAMPLE = 5000
NEAREST = 6  # numbers that go with one most, of which pairs are tried


def duplicates(cohorts: Cohorts) -> Iterator[Caution]:
    """Pairs of features that determine each other, or of which one determines the other."""
    for one, other, mutual in sorted(determined_pairs(cohorts), key=lambda pair: not pair[2]):
        pair = cohorts.features[one], cohorts.features[other]
        yield Caution.of(
            "duplicate" if mutual else "determined",
            columns=pair,
            other=pair[1],
            exclude=Setting("exclude", [pair[1]]),
        )


def determined_pairs(cohorts: Cohorts) -> list[tuple[int, int, bool]]:
    """Pairs of which the first feature determines the second, and whether each the other."""
    # All pairs are counted on a sample of the rows, and those that look it on all of them. What a
    # pair shares is measured above chance, so that many values in few rows determine nothing.
    pairs = []
    for one, other in _looking_determined(cohorts, _sample(cohorts, SAMPLE)):
        both = ~is_gap(cohorts, one) & ~is_gap(cohorts, other)
        shape = len(cohorts.categories[one]), len(cohorts.categories[other])
        cells = cohorts.codes[one][both].astype(np.int64) * shape[1] + cohorts.codes[other][both]
        counts = np.bincount(cells, cohorts.weights[both], shape[0] * shape[1])
        table = counts.astype(np.float64).reshape(shape)
        forth, back = _determines(table), _determines(table.T)
        if forth or back:
            pairs.append((*((one, other) if forth else (other, one)), forth and back))
    return pairs


def _looking_determined(cohorts: Cohorts, rows: Indices) -> Iterator[tuple[int, int]]:
    """Pairs of which one explains nearly all of the other in a sample of rows."""
    # Indicators of the values of all features, a line each; the first of a feature stays empty,
    # so that none is without lines.
    starts = np.concatenate([[0], np.cumsum([1 + len(labels) for labels in cohorts.categories])])
    indicators = np.zeros((starts[-1], len(rows)))
    for feature, start in enumerate(starts[:-1]):
        (held,) = np.nonzero(~is_gap(cohorts, feature)[rows])
        indicators[start + 1 + cohorts.codes[feature][rows[held]].astype(np.int64), held] = 1.0
    for feature, start in enumerate(starts[1:-1]):
        # Mutual information over the lesser entropy, for the tables with all features behind it.
        table = indicators[starts[feature] : start] @ indicators[start:].T
        begin = starts[feature + 1 : -1] - start
        margins = np.add.reduceat(table, begin, axis=1)
        total = np.maximum(margins.sum(axis=0), 1.0)
        sums = (
            n_log_n(margins).sum(axis=0),
            np.add.reduceat(n_log_n(table.sum(axis=0)), begin),
            np.add.reduceat(n_log_n(table).sum(axis=0), begin),
        )
        one, other, joint = (np.log(total) - part / total for part in sums)
        least = np.minimum(one, other)
        alike = (least > 1e-9) & (one + other - joint >= LOOKS_SAME * least)
        for index in np.flatnonzero(alike).tolist():
            yield feature, feature + 1 + index


def _determines(table: Floats) -> bool:
    """Whether the feature of the rows explains nearly all of that of the columns, beyond chance."""
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    if columns.sum() < LEAST_OF_PAIR or columns.sum() - columns.max() < FEW_OTHERS:
        return False
    whole = entropy(columns)
    shared = entropy(rows) + whole - entropy(table.ravel())
    chance = expected_information(rows[rows > 0], columns[columns > 0])
    return bool(whole - chance > 0 and shared - chance >= SAME * (whole - chance))


def _sample(cohorts: Cohorts, most: int) -> Indices:
    """Rows drawn evenly over all: sorted as they are, every part has its share."""
    ends = np.cumsum(cohorts.weights)
    total = int(ends[-1])
    drawn = np.arange(min(most, total)) * total // min(most, total)
    return np.searchsorted(ends, drawn, side="right")


def derived_numbers(cohorts: Cohorts) -> Iterator[Caution]:
    """Numbers that two others nearly determine: a mean, a difference or a ratio of them."""
    binned = {audit.column for audit in cohorts.columns if audit.edges}
    numbers = [
        feature
        for feature, name in enumerate(cohorts.features)
        if name in binned and len(cohorts.categories[feature]) >= 4  # of fewer little is left
    ]
    if len(numbers) < 3:
        return
    rows = _sample(cohorts, NUMBER_SAMPLE)
    codes = cohorts.codes[numbers][:, rows].astype(np.int64)
    for line, feature in zip(codes, numbers, strict=True):
        line[is_gap(cohorts, feature)[rows]] = NOT_RECORDED
    ranks = np.array([_ranks(line) for line in codes])
    alike = np.abs(ranks @ ranks.T)
    np.fill_diagonal(alike, 0.0)
    found: list[tuple[float, int, tuple[int, int]]] = []
    for one, near in enumerate(np.argsort(-alike, axis=1)[:, :NEAREST].tolist()):
        pairs = combinations([other for other in near if other != one], 2)
        for share, pair in sorted((_explained(codes, one, pair), pair) for pair in pairs)[-1:]:
            alone = max(_explained(codes, one, (other,)) for other in pair)
            if share >= DERIVED and share - alone >= MORE_THAN_ALONE:
                found.append((share, one, pair))
    parts: set[int] = set()  # of what is derived already: each is derived from the other two
    for share, one, pair in sorted(found, reverse=True):
        if one not in parts:
            parts.update(pair)
            name, *others = (cohorts.features[numbers[number]] for number in (one, *pair))
            yield Caution.of(
                "derived",
                columns=(name, *others),
                one=others[0],
                other=others[1],
                share=100 * share,
                exclude=Setting("exclude", [name]),
            )


def _ranks(codes: Integers) -> Floats:
    """The ranks of a column's bins, centred and of length 1; 0 where it is missing."""
    known = codes >= 0
    counts = np.bincount(codes[known], minlength=1)
    ranks = np.where(known, (np.cumsum(counts) - counts / 2)[codes] - known.sum() / 2, 0.0)
    return ranks / max(float(np.sqrt(ranks @ ranks)), 1e-300)


def _explained(codes: Integers, one: int, by: tuple[int, ...]) -> float:
    """The share of the variance of a column's ranks that cells of others explain (adjusted)."""
    known = np.all(codes[[one, *by]] >= 0, axis=0)
    ranks = _ranks(codes[one, known])
    others = codes[list(by)][:, known]
    cells = np.ravel_multi_index(others, others.max(axis=1, initial=0) + 1)
    rows = np.bincount(cells)
    sums = np.bincount(cells, ranks)[rows > 0]
    rows = rows[rows > 0]
    if len(ranks) < LEAST_OF_PAIR * len(rows) / 2 or not ranks.any():
        return 0.0
    left = 1.0 - float((sums**2 / rows).sum())
    return 1.0 - left * (len(ranks) - 1) / (len(ranks) - len(rows))
