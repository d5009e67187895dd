"""From the summaries of sites to an ordinary selection: every answer for every site, no rows."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from misfeat.answers.selection_base import FitOptions
from misfeat.cohorts.cohort_data import NOT_RECORDED, Cohorts, ColumnAudit
from misfeat.cohorts.column_coding import AS_IT_IS, OF_CODEBOOK
from misfeat.completion.registry import completer_of
from misfeat.estimation.score_estimate import POPULATION, SAMPLE, Estimate
from misfeat.estimation.set_scores import SetScores
from misfeat.exceptions import MisfeatError, check_count
from misfeat.information.count_tables import LARGEST, CountTables, table_starts
from misfeat.information.measures import TableInformation
from misfeat.lattice.levels import level, rank
from misfeat.messages import Message, Setting, listed
from misfeat.reading.values import MISSING_LABEL
from misfeat.runtime.array_types import Array, Floats, Integers
from misfeat.selection import Selection
from misfeat.sites import rounding
from misfeat.sites.codebook import ANY_OTHER, CATEGORY, NUMBER, Codebook, ColumnCode
from misfeat.sites.signed_documents import SHORT
from misfeat.sites.summary import TABLES, Summary, read_summary


class Refusal(NamedTuple):
    """A summary that was not taken: its file or site, and what is wrong with it."""

    name: str
    why: str


class Combined(NamedTuple):
    """The selection of all sites, the summaries that it was made from, and those refused."""

    selection: Selection
    taken: tuple[Summary, ...]
    refused: tuple[Refusal, ...]


def combine(
    summaries: Iterable[str | Path | Summary],
    *,
    codebook: Codebook | None = None,
    size: int | None = None,
    k: int = 10,
    confidence: float | None = 0.9,
    estimate: str = POPULATION,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Combined:
    """Put the summaries of sites together.

    A file that is damaged, was altered, is signed by somebody else than the codebook names or was
    made with another codebook is refused, and the others answer.

    Parameters
    ----------
    summaries : iterable of str, Path or Summary
        The files of all sites, or what was read from them.
    codebook : Codebook, default=None
        The one that was agreed on. Defaults to the one that most summaries were made with.
    size : int, default=None
        Features per set, at most three. Defaults to three for ``estimate="population"``, to which
        tables of pairs are enough, and else to the most that all sites shared tables of.
    k : int, default=10
        Sets per site.
    confidence : float or None, default=0.9
        Target coverage of the intervals.
    estimate : {"population", "above_chance", "sample"}, default="population"
        The scale of scores.
    n_jobs : int, default=None
        Threads, as joblib reads it.
    verbose : int, default=0
        1 shows progress.

    Examples
    --------
    >>> from misfeat.sites import agree, propose, summarise
    >>> north = {"a": [0, 1] * 40, "b": [0, 0, 1, 1] * 20, "ill": [False, True] * 40}
    >>> south = {"a": [0, 1] * 40, "ill": [False, True] * 30 + [True, False] * 10}
    >>> tables = {"north": north, "south": south}
    >>> codebook, _ = agree([propose(table, "ill", name) for name, table in tables.items()])
    >>> shared = [summarise(table, codebook, name) for name, table in tables.items()]
    >>> found = combine(shared, size=1, k=1).selection
    >>> from misfeat.answers.top_sets import best_sets
    >>> [(best.subgroup, best.features) for best in best_sets(found)]
    [('site=north', ('a',)), ('site=south', ('a',))]
    """
    read: list[tuple[str, Summary]] = []
    refused: list[Refusal] = []
    for given in summaries:
        name = f"site {given.site!r}" if isinstance(given, Summary) else str(given)
        try:
            read.append((name, given if isinstance(given, Summary) else read_summary(given)))
        except MisfeatError as error:
            refused.append(Refusal(name, str(error)))
    by_site: dict[str, Summary] = {}
    if codebook is None and read:
        common = Counter(one.codebook.fingerprint for _, one in read).most_common(2)
        if len(common) > 1 and common[0][1] == common[1][1]:
            raise MisfeatError(
                "As many summaries were made with one codebook as with another; say which counts "
                f"with {Setting('codebook')}."
            )
        by_fingerprint = {one.codebook.fingerprint: one.codebook for _, one in read}
        codebook = by_fingerprint[common[0][0]]
    for name, one in read:
        assert codebook is not None  # noqa: S101  (that of most, where none was given)
        if why := _why_not(one, codebook, by_site):
            refused.append(Refusal(name, why))
        else:
            by_site[one.site] = one
    if codebook is None or not by_site:
        reasons = "; ".join(f"{one.name}: {one.why}" for one in refused)
        raise MisfeatError(f"No summary can be used. {reasons}")
    taken = [by_site[site] for site in sorted(by_site)]
    completer = completer_of("auto", confidence=None, device="cpu", random_state=None)
    scale = Estimate(estimate, completer, confidence)
    shared = min(TABLES[one.share] for one in taken)
    most = LARGEST if estimate == POPULATION else shared  # to which tables of pairs are enough
    if size is None:
        size = min(most, len(taken[0].codebook.features))
    check_count(size, "size")
    if size > most:
        sites = listed([one.site for one in taken if TABLES[one.share] == shared])
        raise MisfeatError(
            f"{Setting('size', size)}; sets have at most {most} features here, where {sites} "
            f"shared tables of {shared} features and {Setting('estimate', estimate)}."
        )
    tables, kept = joined_tables(taken, codebook)
    measure = TableInformation(tables, above_chance=estimate != SAMPLE)
    size = min(size, len(measure.features))
    book = SetScores(measure, scale, n_jobs=n_jobs)
    scores = {m: book.completed(m) for m in range(1, max(size, tables.largest) + 1)}
    cohorts = joined_cohorts(taken, codebook, tables, kept, _notes(taken, codebook, tables))
    selection = Selection(cohorts, book.without_rows(measure, scores), FitOptions(size=size, k=k))
    selection.verbose = verbose
    return Combined(selection, tuple(taken), tuple(refused))


def _why_not(one: Summary, agreed: Codebook, taken: dict[str, Summary]) -> str:
    """Why a summary cannot be taken; empty where it can."""
    if one.codebook.fingerprint != agreed.fingerprint:
        return (
            f"It was made with another codebook: edition {one.codebook.edition}, "
            f"{one.codebook.fingerprint[:SHORT]}…, not edition {agreed.edition}, "
            f"{agreed.fingerprint[:SHORT]}…."
        )
    if one.site not in agreed.sites:
        return f"The codebook names no site {one.site!r}."
    wanted = agreed.sites[one.site]
    if wanted is not None and one.signed_by is None:
        return f"It is not signed, and {one.site!r} signs."
    if wanted is not None and one.signed_by != wanted:
        return (
            f"It is signed with the key {str(one.signed_by)[:SHORT]}…, and that of {one.site!r} is "
            f"{wanted[:SHORT]}…."
        )
    if one.site in taken:
        return f"There is another summary of the site {one.site!r}."
    return ""


def _notes(taken: Sequence[Summary], codebook: Codebook, tables: CountTables) -> tuple[str, ...]:
    """What it was made from, and what rounding cost, in rows that are as informative exactly."""
    made_from = Message(
        "Made from counts that {n} sites shared, without rows: {sites}. Codebook: edition "
        "{edition}, {fingerprint}.",
        n=len(taken),
        sites=listed([one.site for one in taken]),
        edition=codebook.edition,
        fingerprint=codebook.fingerprint[:SHORT],
    )
    sizes = range(1, tables.largest + 1)
    rounded = [
        Message(
            "Counts of {site} are multiples of {least}: for sets of {sizes} features its {rows:,} "
            "rows are worth {worth}.",
            site=repr(one.site),
            least=one.min_cell,
            sizes=" and ".join(map(str, sizes)),
            rows=one.rows,
            worth=" and ".join(f"{tables.effective_rows_of(m)[place]:,.0f}" for m in sizes),
        )
        for place, one in enumerate(taken)
        if not one.exact
    ]
    return (made_from, *rounded)


class Recorded(NamedTuple):
    """The features that some site recorded, and the codes and classes that some site holds."""

    features: Integers
    codes: list[Integers]
    classes: Integers


def joined_tables(summaries: Sequence[Summary], codebook: Codebook) -> tuple[CountTables, Recorded]:
    """The tables of all sites, of what some site has rows of."""
    varies = [np.count_nonzero(one.by_class) > 1 for one in summaries]
    summaries = with_hidden_classes(summaries)
    of_sizes: list[list[Any]] = [
        s.of_sizes() if s.exact else rounding.fitted_tables(s) for s in summaries
    ]
    kept = _kept(summaries, codebook, [sizes[0] for sizes in of_sizes])
    labels = codebook.labels
    categories = tuple(
        tuple(labels[f][code] for code in codes)
        for f, codes in zip(kept.features, kept.codes, strict=True)
    )
    cards = np.array([len(one) for one in categories], dtype=np.int64)
    most = min(len(cards), *(TABLES[summary.share] for summary in summaries))
    by_size = []
    for size in (1, 2, 3):
        n_lines = int(table_starts(level(len(cards), size), cards)[-1]) if size <= most else 0
        by_size.append(np.zeros((len(summaries), n_lines, len(kept.classes))))
        for number, (summary, sizes) in enumerate(zip(summaries, of_sizes, strict=True)):
            if size <= min(summary.size, most):
                _place(summary, sizes[size - 1], size, kept, cards, by_size[-1][number])
    missing = np.array([~summary.recorded[kept.features] for summary in summaries])
    tables = CountTables(
        features=tuple(codebook.features[f].column for f in kept.features),
        categories=categories,
        missing=missing,
        by_class=np.array([s.by_class[kept.classes] for s in summaries], dtype=np.float64),
        singles=by_size[0],
        pairs=by_size[1],
        triples=by_size[2],
    )
    if all(summary.exact for summary in summaries):
        return tables, kept
    rows = tables.by_class.sum(axis=1)
    effective, noise = np.repeat(rows[:, None], LARGEST, axis=1), np.ones(len(rows))
    bias = np.zeros((len(rows), LARGEST, 2))
    for number, summary in enumerate(summaries):
        if summary.exact:
            continue
        by_class = summary.by_class.astype(np.float64)
        # Of one class only, its counts could say nothing of the target.
        none = np.zeros((LARGEST, 2)), np.full(LARGEST, rounding.LEAST_WORTH)
        cost = rounding.RoundingCost(*none, noise=float(by_class.sum()) / rounding.LEAST_WORTH)
        if varies[number]:
            seed = crc32(summary.tables.tobytes())  # by its counts, whatever the site is called
            least = summary.min_cell
            cost = rounding.rounding_cost(by_class, of_sizes[number], summary.cards, least, seed)
        bias[number], effective[number], noise[number] = cost
    return replace(tables, effective=effective, bias=bias, noise=noise), kept


def joined_cohorts(
    summaries: Sequence[Summary],
    codebook: Codebook,
    tables: CountTables,
    kept: Recorded,
    notes: tuple[str, ...],
) -> Cohorts:
    """All sites as subgroups of which nothing is known but their rows of each class."""
    names = tuple(f"site={summary.site}" for summary in summaries)
    missing, categories = tables.missing, tables.categories
    by_class = tables.by_class.astype(np.int64)
    place, target = np.nonzero(by_class)
    codes = np.where(missing[place].T, NOT_RECORDED, 0).astype(np.int8)
    classes = tuple(codebook.target.labels[c] for c in kept.classes)
    # In how many rows of all sites each feature is missing, as far as the sites tell.
    with_gaps = np.array([labels[-1] == MISSING_LABEL for labels in categories])
    last = np.cumsum(tables.cards) - 1
    held = np.where(with_gaps, tables.singles[:, last].sum(axis=(0, 2)), 0.0)
    gaps = (by_class.sum(axis=1)[:, None] * missing).sum(axis=0) + held.round().astype(np.int64)
    audits = [
        replace(_audit(codebook.features[f], "feature", labels), missing=int(gap))
        for f, labels, gap in zip(kept.features, categories, gaps, strict=True)
    ]
    return Cohorts(
        names=names,
        features=tables.features,
        target=codebook.target.column,
        codes=np.ascontiguousarray(codes),
        target_codes=target.astype(np.int8),
        weights=by_class[place, target],
        offsets=np.searchsorted(place, np.arange(len(names) + 1)).astype(np.int64),
        missing=missing,
        categories=categories,
        classes=classes,
        gap_codes=tuple(
            (len(labels) - 1,) if labels[-1] == MISSING_LABEL else () for labels in categories
        ),
        columns=(*audits, _audit(codebook.target, "target", classes)),
        notes=notes,
        seen=names,
    )


def _kept(summaries: Sequence[Summary], codebook: Codebook, singles: list[Any]) -> Recorded:
    features = np.flatnonzero(np.any([summary.recorded for summary in summaries], axis=0))
    codes = []
    for f in features.tolist():
        held = np.zeros(codebook.cards[f])
        for summary, table in zip(summaries, singles, strict=True):
            if summary.recorded[f]:
                own = int(summary.recorded[:f].sum())
                start = int(summary.cards[:own].sum())
                held += table[start : start + codebook.cards[f]].sum(axis=1)
        spare = np.zeros(len(codebook.labels[f]), dtype=bool)
        spare[-1] = True
        spare[-2] = codebook.features[f].kind == CATEGORY
        codes.append(np.flatnonzero(~spare | (held > 0)))
    rows = np.sum([summary.by_class for summary in summaries], axis=0)
    named = [label != ANY_OTHER for label in codebook.target.labels]
    return Recorded(features, codes, np.flatnonzero(np.array(named) | (rows > 0)))


def _place(
    summary: Summary, tables: Array, size: int, kept: Recorded, cards: Integers, out: Floats
) -> None:
    """Write the tables of a site where those of its sets stand among all."""
    own_cards, features = summary.cards, np.flatnonzero(summary.recorded)
    position = np.searchsorted(kept.features, features)
    subsets = level(len(features), size)
    starts = table_starts(subsets, own_cards)
    ends = table_starts(level(len(cards), size), cards)
    places = rank(position[subsets])
    for number, subset in enumerate(subsets):
        table = tables[starts[number] : starts[number + 1]].reshape(*own_cards[subset], -1)
        chosen = [kept.codes[position[member]] for member in subset]
        held = table[np.ix_(*chosen, kept.classes)]
        place = places[number]
        out[ends[place] : ends[place + 1]] = held.reshape(-1, len(kept.classes))


def _audit(code: ColumnCode, role: str, categories: tuple[str, ...]) -> ColumnAudit:
    return ColumnAudit(
        column=code.column,
        role=role,
        treatment=AS_IT_IS if code.exact or not code.edges else OF_CODEBOOK,
        categories=categories,
        edges=() if code.exact else code.edges,
        taken_for="number" if code.kind == NUMBER else "category",
    )


def with_hidden_classes(summaries: Sequence[Summary]) -> list[Summary]:
    """Summaries with a few rows of every class that other sites have and rounding may hide."""
    # Without them the target would seem to be less uncertain than it is.
    anywhere = np.any([one.by_class > 0 for one in summaries], axis=0)
    found = []
    for one in summaries:
        hidden = anywhere & (one.by_class == 0) & (not one.exact)
        rows = np.where(hidden, rounding.hidden_rows(one.min_cell), one.by_class)
        found.append(replace(one, by_class=rows))
    return found
