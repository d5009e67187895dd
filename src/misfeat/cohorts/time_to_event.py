"""Targets of two columns: a time, and whether the event happened then or following ended.

Times are cut into bins, and horizons chosen among their ends: at the quartiles of the times of
events, as far as every subgroup was followed. See `survival` and docs/how_to/time_to_event.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from misfeat.cohorts import column_coding, survival
from misfeat.cohorts.cohort_data import Cohorts, ColumnAudit
from misfeat.cohorts.column_coding import BinRules
from misfeat.cohorts.column_profiles import Profile
from misfeat.cohorts.target_coding import TargetCoding
from misfeat.exceptions import MisfeatError, Notes
from misfeat.messages import Setting, listed
from misfeat.number_formatting import joined
from misfeat.reading.coders import CodedRows, Coder, Kind
from misfeat.reading.inputs import Event, Table
from misfeat.reading.values import Value, canonical, label
from misfeat.runtime.array_types import Floats

QUARTILES = (0.25, 0.5, 0.75)  # of the times of events: the usual horizons
FOLLOWED = 0.1  # a horizon is reached where the chance of being followed so long is no less
NO_EVENT = ("0", "false", "censored", "censor")  # what following that ended is called


@dataclass(frozen=True, eq=False)
class TimeCoding(TargetCoding):
    """How a time and an event are coded: as a rank, of the bin and of the state in it."""

    events: Coder  # codes the values of the event
    states: tuple[int, ...]  # the state of each of them
    about_event: ColumnAudit
    given: tuple[Value, ...]  # horizons that the user gave

    @property
    def audits(self) -> dict[str, ColumnAudit]:
        """How both columns were treated."""
        return {one.column: one for one in (self.audit, self.about_event)}

    @property
    def coders(self) -> tuple[Coder, ...]:
        """The coders of the two columns."""
        return self.coder, self.events

    @property
    def n_codes(self) -> int:
        """How many ranks there are."""
        return len(self.coder.labels) * survival.STATES

    def joined(self, rows: CodedRows, line: int) -> "tuple[TimeCoding, CodedRows]":
        """The same with classes for all rows together, and rows with one line of ranks."""
        bins, events = rows.codes[line : line + 2].astype(np.int16)
        absent = (bins == len(self.coder.labels)) | (events == len(self.states))
        states = np.array([*self.states, 0])[events]
        ranks = np.where(absent, self.n_codes, survival.survival_ranks(bins, states))
        codes = [*rows.codes[:line], ranks, *rows.codes[line + 2 :]]
        counts = survival.counts_of(ranks[~absent], rows.counted[~absent], self.n_codes)
        if not counts[:, survival.EVENT].any():
            raise MisfeatError(
                f"No row with a time has the event {self.about_event.column!r}: all are censored.",
                remedy="Check which of its values is the event, or choose another target.",
                column=self.about_event.column,
            )
        coded = replace(rows, codes=np.array(codes, dtype=np.int16))
        return replace(self, grids=survival.score_classes(counts)[None]), coded

    def followed(self, cohorts: Cohorts, notes: Notes) -> Cohorts:
        """Cohorts with the classes of every horizon, and those of tests, by subgroup."""
        weights = cohorts.weights if cohorts.masses is None else cohorts.masses
        owned, n_ranks = list(pairwise(cohorts.offsets.tolist())), cohorts.grids.shape[1]
        by_cohort = np.array(
            [survival.counts_of(cohorts.ranks[a:b], weights[a:b], n_ranks) for a, b in owned]
        )
        edges = [*self.audit.edges]
        chosen = self._horizons(by_cohort, edges, cohorts.names, notes)
        n_bins = by_cohort.shape[1]
        classes = [
            survival.score_classes(counts, chosen[-1])[cohorts.ranks[start:end]]
            for counts, (start, end) in zip(by_cohort, owned, strict=True)
        ]
        horizons = tuple(edges[bin_] for bin_ in chosen)
        notes.add(
            "Scores are about whether {event!r} happened by {column} = {times}, on the mean; rows "
            "of a subgroup that were followed so long stand for those that were not.",
            event=self.about_event.column,
            column=cohorts.target,
            times=joined([label(horizon) for horizon in horizons]),
        )
        return replace(
            cohorts,
            target_codes=np.concatenate(classes),
            classes=survival.SCORE_CLASSES,
            grids=np.array([survival.classes_at(n_bins, bin_) for bin_ in chosen], dtype=np.int16),
            horizons=horizons,
        )

    def _horizons(
        self, by_cohort: Floats, edges: Sequence[Value], names: Sequence[str], notes: Notes
    ) -> list[int]:
        """The bins at whose ends the event is looked at, as far as all subgroups were followed."""
        chances = np.array([survival.survival_of(counts).followed for counts in by_cohort])
        reached = chances[:, : len(edges)] >= FOLLOWED
        events = by_cohort[:, :, survival.EVENT].sum(axis=0)
        last = int(reached.all(axis=0).sum())
        shortest = names[int(np.argmin(reached.sum(axis=1)))]
        column = self.audit.column
        if self.given:
            wanted = [edges.index(horizon) for horizon in self.given if horizon in edges]
        else:
            until = np.cumsum(events[:last])
            levels = np.array(QUARTILES) * (until[-1] if last else 0)
            wanted = sorted({*np.searchsorted(until, levels).tolist()}) if last else []
        chosen = [bin_ for bin_ in wanted if bin_ < last and events[: bin_ + 1].any()]
        if not chosen:
            raise MisfeatError(
                f"No horizon of {column!r} has an event before it that all subgroups were "
                f"followed for: {shortest} was not followed for long.",
                remedy=f"Give other horizons ({Setting('bins', [1, 5], column=column)}), or leave "
                "that subgroup out.",
                column=column,
            )
        lost = [label(edges[bin_]) for bin_ in wanted if bin_ >= last]
        if lost or (last < len(edges) and events[last:].sum() > 0.25 * events.sum()):
            notes.warn(
                "Horizons end at {column!r} = {last}, because {name} was not followed for longer"
                "{lost}; without this subgroup they could be later.",
                column=column,
                last=label(edges[chosen[-1]]),
                name=shortest,
                lost=f" ({listed(lost)} left out)" if lost else "",
            )
        return chosen


def time_coding(
    table: Table, time: Profile, event: Profile, chosen: Event, bins: BinRules
) -> TimeCoding:
    """How a time and an event are coded; an error names what cannot be one."""
    column, problem = time.column, ""
    if time.kind not in (Kind.INTEGER, Kind.NUMBER):
        problem = f"holds {time.kind.value} values; give how long each row was followed, a number."
    elif time.distinct < 2:
        problem = "has a single time in all rows, or none; choose another target."
    elif time.counts is not None and canonical(time.counts.values[0]) < 0:
        least = label(canonical(time.counts.values[0]))
        problem = f"holds {least}, and no time is negative; mend these rows, or leave them out."
    if problem:
        raise MisfeatError(f"The time {column!r} {problem}", column=column)
    given = bins.by_column.get(time.column, ())
    given = given if isinstance(given, tuple) else ()
    if given:
        column_coding.check_cut_points(time, given, "bins")
    if time.counts is None or time.distinct > column_coding.MOST_BINS:
        edges = column_coding.learned_quantiles(table, time, column_coding.MOST_BINS)
    else:
        edges = tuple(map(canonical, time.counts.values[:-1]))
    coder = column_coding.cut_at(time, tuple(sorted({*edges, *given})))
    states, about = _states(event, chosen)
    events = column_coding.as_it_is(event)
    return TimeCoding(
        coder=coder,
        classes=survival.SCORE_CLASSES,
        audit=replace(
            column_coding.audit_of(time, coder, "target", "time to event"), edges=coder.edges
        ),
        grids=np.zeros((1, len(coder.labels) * survival.STATES), dtype=np.int16),
        events=events,
        states=states,
        about_event=column_coding.audit_of(event, events, "event", about),
        given=given,
    )


def _states(event: Profile, chosen: Event) -> tuple[tuple[int, ...], str]:
    """The state that each value of an event stands for, and in words what was taken for what."""
    values = () if event.counts is None else tuple(map(canonical, event.counts.values))
    labels = [label(value) for value in values]
    column, wanted = event.column, chosen.value
    last = labels[-1] if labels else "1"
    if wanted is None:
        zero_one = {"0", "1"} if event.kind is not Kind.FLAG else {"False", "True"}
        if {*labels} == {"1", "2"}:  # as R's survival writes it
            wanted = 2
        elif labels and {*labels} <= zero_one:
            wanted = sorted(zero_one)[1]
        else:
            raise MisfeatError(
                f"The event {column!r} holds {listed(labels[:6])}; it must be 1 where the event "
                "happened and 0 where following ended without it.",
                remedy=f"Or say which value is the event: (time, {column!r}, {last!r}) in Python, "
                f"--event {column}={last} on the command line.",
                column=column,
            )
    elif label(canonical(wanted)) not in labels:
        raise MisfeatError(
            f"The event {column!r} never is {label(canonical(wanted))}; it holds "
            f"{listed(labels[:6])}.",
            column=column,
        )
    happened = label(canonical(wanted))
    others = [text for text in labels if text != happened]
    ended = [text for text in others if text.lower() in NO_EVENT] if len(others) > 1 else others
    if len(others) > 1 and len(ended) != 1:
        raise MisfeatError(
            f"The event {column!r} holds {listed(labels[:6])}, and none of them, or several, says "
            "that following ended; write 0 for that, other values are events that rule out "
            f"{happened}.",
            column=column,
        )
    known = {happened: survival.EVENT} | dict.fromkeys(ended, survival.CENSORED)
    states = tuple(known.get(text, survival.OTHER) for text in labels)
    ruling = [text for text, state in zip(labels, states, strict=True) if state == survival.OTHER]
    about = f"event {happened}" + (f", ruled out by {listed(ruling)}" if ruling else "")
    return states, about
