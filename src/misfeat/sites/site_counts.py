"""From a site's table to its summary: code by the codebook, count inside the engine."""

from collections.abc import Sequence
from contextlib import closing
from itertools import combinations
from typing import Any

import numpy as np

from misfeat.cohorts.cohort_building import CohortRules
from misfeat.cohorts.column_coding import Coding
from misfeat.cohorts.column_profiles import Profile, profile_column
from misfeat.completion.transfer.contingency_tables import Layout, Rows, count_level
from misfeat.exceptions import MisfeatError, check_count
from misfeat.information.count_tables import table_starts
from misfeat.lattice.levels import level, rank
from misfeat.messages import Setting, listed
from misfeat.reading.coders import CategoryCoder, CodedRows, Coder, EdgeCoder, Kind
from misfeat.reading.inputs import Table, open_table
from misfeat.runtime.array_types import Floats, Integers
from misfeat.runtime.progress import Progress, unreported
from misfeat.sites.codebook import CATEGORY, FLAG, NUMBER, Codebook, ColumnCode, check_site
from misfeat.sites.rounding import rounded_summary
from misfeat.sites.signed_documents import public_key, secret_of
from misfeat.sites.summary import TABLES, Summary
from misfeat.version import __version__

WHAT = "Counting tables"
MOST_AT_ONCE = 2_000_000  # Of more rows, a block of columns is counted at a time
MOST_CELL = 1_000_000  # The largest number that counts can be rounded to multiples of
MOST_CELLS = 2**21  # Cells of a block of columns


def summarise(
    X: Any,
    codebook: Codebook,
    site: str,
    *,
    share: str = "tables2",
    min_cell: int = 5,
    key: Any = None,
    coding: Coding | None = None,
    progress: Progress | None = None,
) -> Summary:
    """Count what a site shares.

    Parameters
    ----------
    X : dataframe, lazy frame, relation, mapping of columns, or path
        The site's table.
    codebook : Codebook
        How its columns are coded.
    site : str
        The site's name.
    share : {"tables2", "tables3"}, default="tables2"
        Tables of all pairs of features by class, or of all sets of three. Pairs are enough for
        scores of sets of any size; sets of three show interactions of three features, and their
        counts are smaller.
    min_cell : int, default=5
        Counts are rounded to multiples of this, up or down at random, so that no count of fewer
        rows is shared. 1 shares exact counts, among them those of single rows.
    key : Ed25519PrivateKey, default=None
        What the site signs with (`read_key`). Chance is drawn from it, too, so that nobody who
        guesses the counts can see whether the guess is right.
    coding : Coding, default=None
        How its columns are read: `missing_values`, `read` and `missing_threshold`; the rest is the
        codebook's.
    progress : callable, default=None
        Told what is done.

    Examples
    --------
    >>> from misfeat.sites import agree, propose
    >>> table = {"a": [0, 1] * 20, "b": [0, 0, 1, 1] * 10, "ill": [False, True] * 20}
    >>> codebook, _ = agree([propose(table, "ill", "north")])
    >>> summary = summarise(table, codebook, "north")
    >>> summary.rows, summary.features, summary.by_class.tolist(), summary.min_cell
    (40, ('a', 'b'), [20, 20], 5)
    """
    if share not in TABLES:
        raise MisfeatError(f"{Setting('share', share)}; it must be one of {listed(list(TABLES))}.")
    check_count(min_cell, "min_cell")
    if min_cell > MOST_CELL:
        raise MisfeatError(
            f"{Setting('min_cell', min_cell)} keeps every count back; it must be at most "
            f"{MOST_CELL:,}."
        )
    rules = CohortRules.parse(None, coding)
    table, _ = open_table(X, codebook.target.column, rules.codes, rules.ways)
    with closing(table):
        coders, target = _coders(table, codebook, rules)
        recorded = np.array([coder is not None for coder in coders])
        held = [coder for coder in coders if coder is not None]
        size = min(TABLES[share], len(held))
        by_class, tables = _counted(table, held, target, size, progress or unreported)
    exact = Summary(
        site=check_site(site),
        codebook=codebook,
        share=share,
        recorded=recorded,
        by_class=by_class,
        tables=tables,
        misfeat=__version__,
    )
    return rounded_summary(exact, min_cell, secret_of(key))


def check_takes_part(codebook: Codebook, site: str, key: Any = None) -> None:
    """Raise unless a codebook names a site, and its key where it has one."""
    if site not in codebook.sites:
        raise MisfeatError(
            f"The codebook names no site {site!r}; it names {listed(sorted(codebook.sites))}."
        )
    if key is not None and public_key(key) != codebook.sites[site]:
        raise MisfeatError(
            f"The codebook knows another key of {site!r}, or none; sign with the one that the "
            "proposal was signed with."
        )
    if key is None and codebook.sites[site] is not None:
        raise MisfeatError(
            f"The codebook has a key of {site!r}, and others refuse what is not signed with it; "
            f"name its file with {Setting('key')}."
        )


def _coders(table: Table, book: Codebook, rules: CohortRules) -> tuple[list[Coder | None], Coder]:
    """What codes every feature, None where it was never recorded; and the target."""
    n_rows = table.n_rows()
    if n_rows == 0:
        raise MisfeatError("The table has no rows; check the file or the filter that made it.")
    found: list[Coder | None] = []
    for code in book.features:
        if code.column not in table.names:
            found.append(None)
            continue
        profile = profile_column(table, code.column, rules.codes, n_rows, rules.way(code.column))
        lacking = profile.missing >= rules.coding.missing_threshold * n_rows
        found.append(None if lacking else _coder(profile, code))
    column = book.target.column
    profile = profile_column(table, column, rules.codes, n_rows, rules.way(column))
    if profile.distinct == 0:
        raise MisfeatError(f"The target {column!r} is missing in every row.", column=column)
    if book.target.exact and profile.counts is not None:
        unknown = set(profile.counts.values.tolist()) - set(book.target.values)
        if unknown:
            raise MisfeatError(
                f"The target {column!r} has values here that the codebook does not name "
                f"({len(unknown)}); merge them with another class, or leave such rows out (a class "
                "is in the codebook if ten rows of some site have it).",
                column=column,
            )
    if not any(found):
        raise MisfeatError(
            "The table has none of the features of the codebook: "
            f"{listed([code.column for code in book.features])}."
        )
    return found, _coder(profile, book.target)


def _coder(profile: Profile, code: ColumnCode) -> Coder:
    kind = NUMBER if profile.kind in (Kind.INTEGER, Kind.NUMBER) else CATEGORY
    kind = FLAG if profile.kind is Kind.FLAG else kind
    if kind != code.kind or profile.kind in (Kind.TIME, Kind.UNSUPPORTED):
        raise MisfeatError(
            f"Column {profile.column!r} holds {profile.kind.value} values here, and is a "
            f"{code.kind} in the codebook; read it in another way with {Setting('read')}, convert "
            "it, or take the column out of the table.",
            column=profile.column,
        )
    if code.kind == NUMBER:
        return EdgeCoder(profile.reading, code.edges, code.labels)
    values = (False, True) if code.kind == FLAG else code.values
    return CategoryCoder(profile.reading, values, code.labels)


def _counted(
    table: Table, coders: list[Coder], target: Coder, size: int, report: Progress
) -> tuple[Integers, Integers]:
    """Rows by class, and the tables of all sets of a size, a block of columns at a time."""
    cards = np.array([len(coder.labels) + 1 for coder in coders], dtype=np.int64)
    n_classes = len(target.labels)
    most = 2**62 if table.n_rows() <= MOST_AT_ONCE else MOST_CELLS
    blocks = covering_blocks(cards.tolist(), size, most // n_classes)
    subsets = level(len(coders), size).astype(np.int64)
    starts = table_starts(subsets, cards)
    counts = np.zeros((int(starts[-1]), n_classes))
    done = np.zeros(len(subsets), dtype=bool)
    by_class = np.zeros(n_classes, dtype=np.int64)
    for number, block in enumerate(blocks):
        report(WHAT, number, len(blocks))
        rows = table.count_codes([*(coders[f] for f in block), target])
        rows = rows.where(rows.codes[-1] < n_classes)
        if not len(rows.weights):
            raise MisfeatError("No row has a value of the target.")
        members = np.array(block)
        inside = level(len(block), size).astype(np.int64)
        places = rank(members[inside])
        new = ~done[places]
        done[places] = True
        tables, own = tables_of_rows(rows, cards[members], n_classes, inside[new])
        for place, first, last in zip(places[new], own[:-1], own[1:], strict=True):
            counts[starts[place] : starts[place + 1]] = tables[first:last]
        if number == 0:
            np.add.at(by_class, rows.codes[-1], rows.weights)
    report(WHAT, len(blocks), len(blocks))
    return by_class, np.rint(counts).astype(np.int64)


def covering_blocks(cards: Sequence[int], size: int, most_cells: int) -> list[tuple[int, ...]]:
    """Blocks of features, of at most so many cells, so that each set of a size is within one."""
    n_features = len(cards)
    if n_features <= size or float(np.prod(np.asarray(cards, dtype=float))) <= most_cells:
        return [tuple(range(n_features))]
    largest = np.sort(np.asarray(cards, dtype=float))[::-1]
    length = 1
    while (length + 1) * size <= n_features and largest[: (length + 1) * size].prod() <= most_cells:
        length += 1
    # Every `size` parts of equal length make a block: the longer they are, the fewer there are.
    features = range(n_features)
    parts = [features[first : first + length] for first in range(0, n_features, length)]
    return [
        tuple(feature for part in chosen for feature in part)
        for chosen in combinations(parts, min(size, len(parts)))
    ]


def tables_of_rows(
    rows: CodedRows, cards: Integers, n_classes: int, subsets: Integers
) -> tuple[Floats, Integers]:
    """The tables of some sets end to end, and where each starts; the target comes last."""
    starts = table_starts(subsets, cards)
    counts = np.zeros((1, int(starts[-1]), n_classes))
    weights = rows.weights.astype(np.float64)
    own = Rows(
        codes=rows.codes[:-1].astype(np.uint16),
        target=rows.codes[-1].astype(np.int64),
        weights=weights,
        offsets=np.array([0, len(weights)], dtype=np.int64),
        missing=np.zeros((1, len(cards)), dtype=bool),
        cards=cards,
        by_class=np.zeros((1, n_classes)),
        sizes=np.zeros(1),
    )
    count_level(own, Layout(subsets, starts), counts, 0, len(subsets))
    return counts[0], starts
