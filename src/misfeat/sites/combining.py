"""From the summaries of sites to an ordinary selection: every answer for every site, no rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from misfeat.answers.options import FitOptions
from misfeat.completion.named import completer_of
from misfeat.estimation.estimates import POPULATION, SAMPLE, Estimate
from misfeat.estimation.scores import SetScores
from misfeat.exceptions import InPython, Message, MisfeatError, Setting, check_count, listed
from misfeat.information.count_tables import LARGEST
from misfeat.information.measures import TableInformation
from misfeat.selection import Selection
from misfeat.sites.codebook import Codebook, differences
from misfeat.sites.joining import joined_cohorts, joined_tables
from misfeat.sites.sealing import SHORT
from misfeat.sites.summarising import check_takes_part, summarise
from misfeat.sites.summary import TABLES, Summary, read_summary

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from misfeat.cohorts.coding import Coding
    from misfeat.information.count_tables import CountTables


@dataclass(frozen=True)
class Refusal:
    """A summary that was not taken.

    Attributes
    ----------
    name : str
        The file, or the site.
    why : str
        What is wrong with it.
    """

    name: str
    why: str


@dataclass(frozen=True, eq=False)
class Combined:
    """What came of putting summaries together.

    Attributes
    ----------
    selection : Selection
        Every answer, as of `SubgroupSelector.fit`.
    taken : tuple of Summary
        What it was made from.
    refused : tuple of Refusal
        What it was not made from, and why.
    """

    selection: Selection
    taken: tuple[Summary, ...]
    refused: tuple[Refusal, ...]


def combine(
    summaries: Iterable[str | Path | Summary],
    *,
    own: Summary | None = None,
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
    own : Summary, default=None
        What `summarise` gives of one's own rows, in place of the file of the same site.
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
    >>> from misfeat.answers.top import best_sets
    >>> [(best.subgroup, best.features) for best in best_sets(found)]
    [('site=north', ('a',)), ('site=south', ('a',))]
    """
    read, refused = _read(summaries)
    if own is not None:
        read = [(name, one) for name, one in read if one.site != own.site]
    known = [one for _, one in read]
    if own is None and not known:
        raise _unusable(refused)
    agreed = codebook or _most_common(known if own is None else [own, *known])
    taken, unfit = _fitting(read, agreed, own)
    refused += unfit
    if not taken:
        raise _unusable(refused)
    completer = completer_of("auto", confidence=None, device="cpu", random_state=None)
    scale = Estimate(estimate, completer, confidence)
    selection = _selection(taken, agreed, _size(size, taken, scale), k, scale, n_jobs)
    selection.verbose = verbose
    return Combined(selection, tuple(taken), tuple(refused))


def _unusable(refused: Sequence[Refusal]) -> MisfeatError:
    reasons = "; ".join(f"{one.name}: {one.why}" for one in refused)
    return MisfeatError("No summary can be used. {reasons}", reasons=reasons)


def _read(
    summaries: Iterable[str | Path | Summary],
) -> tuple[list[tuple[str, Summary]], list[Refusal]]:
    """All that can be read, with its name, and what cannot."""
    read = []
    refused = []
    for one in summaries:
        name = f"site {one.site!r}" if isinstance(one, Summary) else str(one)
        try:
            read.append((name, one if isinstance(one, Summary) else read_summary(one)))
        except MisfeatError as error:
            refused.append(Refusal(name, str(error)))
    return read, refused


def _most_common(summaries: Sequence[Summary]) -> Codebook:
    """The codebook that most summaries were made with."""
    if not summaries:
        raise MisfeatError("No summary can be read; ask the sites for their files again.")
    made_with = Counter(one.codebook.fingerprint for one in summaries).most_common()
    if len(made_with) > 1 and made_with[0][1] == made_with[1][1]:
        raise MisfeatError(
            "As many summaries were made with one codebook as with another; say which counts with "
            "{codebook}.",
            codebook=Setting("codebook"),
        )
    return next(one.codebook for one in summaries if one.codebook.fingerprint == made_with[0][0])


def _fitting(
    read: Sequence[tuple[str, Summary]], agreed: Codebook, own: Summary | None
) -> tuple[list[Summary], list[Refusal]]:
    """The summaries that were made with a codebook by the sites that it names."""
    taken = {} if own is None else {own.site: own}
    refused = []
    for name, one in read:
        if why := _why_not(one, agreed, taken):
            refused.append(Refusal(name, why))
        else:
            taken[one.site] = one
    return [taken[site] for site in sorted(taken)], refused


def _why_not(one: Summary, agreed: Codebook, taken: dict[str, Summary]) -> str:
    """Why a summary cannot be taken; empty where it can."""
    if said := differences(agreed, one.codebook):
        return f"It was made with another codebook: {'; '.join(said)}."
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


def _size(size: int | None, taken: Sequence[Summary], estimate: Estimate) -> int:
    """The size of sets, checked; for population scores, tables of pairs are enough."""
    shared = min(TABLES[one.share] for one in taken)
    most = LARGEST if estimate.name == POPULATION else shared
    if size is None:
        return min(most, len(taken[0].codebook.features))
    check_count(size, "size")
    if size > most:
        raise MisfeatError(
            "{setting}; sets have at most {most} features here, where {sites} shared tables of "
            "{shared} features and {estimate}.",
            setting=Setting("size", size),
            most=most,
            sites=listed([one.site for one in taken if TABLES[one.share] == shared]),
            shared=shared,
            estimate=Setting("estimate", estimate.name),
        )
    return size


def _selection(
    taken: Sequence[Summary],
    codebook: Codebook,
    size: int,
    k: int,
    estimate: Estimate,
    n_jobs: int | None,
) -> Selection:
    tables, kept = joined_tables(taken, codebook)
    measure = TableInformation(tables, above_chance=estimate.name != SAMPLE)
    size = min(size, len(measure.features))
    book = SetScores(measure, estimate, n_jobs=n_jobs)
    scores = {m: book.completed(m) for m in range(1, max(size, tables.largest) + 1)}
    note = Message(
        "Made from counts that {n} sites shared, without rows: {sites}. Codebook: edition "
        "{edition}, {fingerprint}.",
        n=len(taken),
        sites=listed([one.site for one in taken]),
        edition=codebook.edition,
        fingerprint=codebook.fingerprint[:SHORT],
    )
    notes = (note, *_rounded(taken, tables))
    cohorts = joined_cohorts(taken, codebook, tables, kept, notes)
    return Selection(cohorts, book.without_rows(measure, scores), FitOptions(size=size, k=k))


def _rounded(taken: Sequence[Summary], tables: CountTables) -> list[Message]:
    """What rounding cost, in rows that would be as informative if they were counted exactly."""
    sizes = range(1, tables.largest + 1)
    return [
        Message(
            "Counts of {site} are multiples of {least}: for sets of {sizes} features its {rows:,} "
            "rows are worth {worth}.",
            site=repr(one.site),
            least=one.min_cell,
            sizes=" and ".join(map(str, sizes)),
            rows=one.rows,
            worth=" and ".join(f"{tables.rows_worth(m)[place]:,.0f}" for m in sizes),
        )
        for place, one in enumerate(taken)
        if not one.exact
    ]


def own_summary(
    X: Any,
    summaries: Sequence[Any],
    site: str,
    codebook: Codebook | None = None,
    coding: Coding | None = None,
) -> Summary:
    """What one's own rows give, which never leaves the house.

    Without a codebook, it is coded by the one that most summaries were made with.
    """
    agreed = codebook or _most_common([one for _, one in _read(summaries)[0]])
    if not site:
        raise MisfeatError(
            "One's own table is that of a site; name it with {site}: {names}.",
            site=InPython("site", "--site"),
            names=listed(sorted(agreed.sites)),
        )
    check_takes_part(agreed, site)
    return summarise(X, agreed, site, share="tables3", min_cell=1, coding=coding)
