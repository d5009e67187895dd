"""Every question that a saved run answers: who asks, what is said, which columns are shown."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from misfeat.answers.cautions import list_cautions
from misfeat.answers.enough import enough_features
from misfeat.answers.stability import stability_of
from misfeat.answers.why import explanation
from misfeat.exceptions import Message
from misfeat.show.answer_columns import (
    UNRECORDED,
    Shown,
    between_per_cent,
    count,
    entropy,
    flag,
    names,
    p_value,
    per_cent,
    score,
    text,
    times,
    told,
    told_between,
)
from misfeat.show.terminal import likely

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from misfeat.selection import Selection

    Columns = Mapping[str, Sequence[Any]]

SUBGROUP = text("subgroup")
INTERVAL = ("low", "high")


@dataclass(frozen=True)
class About:
    """What a question is about."""

    subgroup: str | None = None
    """One subgroup only."""
    features: tuple[str, ...] = ()
    """A set, for questions about one."""
    size: int | None = None
    """Features per set."""
    costs: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """How a question is answered."""

    words: str
    """The question."""
    columns: Callable[[Selection, About], Columns]
    """Asks a selection, and gives the answer as columns."""
    sentences: Callable[[Selection, About], Sequence[str]] = lambda selection, about: ()  # noqa: ARG005
    """The same in words; nothing where there are none."""
    of_a_set: bool = False
    """Whether it needs a subgroup and a set."""
    takes: tuple[str, ...] = ("subgroup", "size")
    """What else of `About` it looks at."""
    shown: tuple[Shown, ...] = ()
    """The columns that a terminal shows; JSON has all of them."""
    by_subgroup: bool = True
    """Whether every subgroup has a table of its own."""


def _why_sentences(selection: Selection, about: About) -> Sequence[str]:
    return explanation(selection, str(about.subgroup), about.features).sentences()


def _enough_sentences(selection: Selection, about: About) -> Sequence[str]:
    return [one.sentence for one in enough_features(selection, about.subgroup, about.size)]


def _stability_sentences(selection: Selection, about: About) -> Sequence[str]:
    found = stability_of(selection, about.size)
    own = [one for one in found.subgroups if about.subgroup in (None, one.subgroup)]
    return replace(found, subgroups=tuple(own)).sentences()


def _caution_sentences(selection: Selection, about: About) -> Sequence[str]:
    return [
        Message(
            "{kind} ({severity}): {words}", kind=one.kind, severity=one.severity, words=one.words
        )
        for one in list_cautions(selection, about.size)
    ]


def _column_audits(selection: Selection) -> Columns:
    """How every column of the table was treated."""
    audits = selection.cohorts.columns
    names = (
        "column",
        "role",
        "treatment",
        "categories",
        "missing",
        "looks_like",
        "taken_for",
        "example",
    )
    return {name: [getattr(one, name) for one in audits] for name in names}


QUESTIONS: dict[str, Answer] = {
    "top": Answer(
        "Which sets tell most?",
        lambda found, about: found.top_k(about.size, None, about.subgroup),
        shown=(
            count("rank"),
            names("features", missing="missing"),
            told("score", "tells", *INTERVAL),
            told_between(spare=1),
            p_value("p_value"),
            text("source", spare=2),
            score("score", *INTERVAL, spare=3),
        ),
    ),
    "significance": Answer(
        "Does any set tell more than chance?",
        lambda found, about: found.significance(about.size),
        takes=("size",),
        shown=(
            SUBGROUP,
            p_value("p_value", spare=1),
            p_value("adjusted", "adjusted"),
            flag("more_than_chance", "more than chance"),
            names("features", "clearest set", spare=2),
            count("sets", spare=3),
            count("permutations", "deals", spare=4),
        ),
        by_subgroup=False,
    ),
    "enough": Answer(
        "How many features are enough?",
        lambda found, about: found.enough(about.subgroup, about.size),
        _enough_sentences,
        shown=(
            count("size"),
            names("features", "best set"),
            told("score", "tells", *INTERVAL),
            told_between(spare=2),
            told("adds", spare=1),
            p_value("p_value"),
            flag("enough"),
            score("score", *INTERVAL, spare=3),
        ),
    ),
    "why": Answer(
        "Why does this set tell?",
        lambda found, about: found.why(str(about.subgroup), about.features),
        _why_sentences,
        of_a_set=True,
        takes=("subgroup", "features"),
        shown=(
            text("cell"),
            count("rows"),
            text("class"),
            per_cent("share"),
            between_per_cent(spare=3),
            per_cent("overall", spare=2),
            times("lift", spare=1),
            told("contribution", "adds", spare=4),
            text("source", spare=5),
        ),
    ),
    "features": Answer(
        "What is every feature worth?",
        lambda found, about: found.features(about.subgroup, about.size),
        shown=(
            text("feature"),
            told("alone"),
            told("adds", "adds", "adds_low", "adds_high"),
            told_between("adds_low", "adds_high", spare=4),
            told("share_of_best", "share of best", spare=1),
            told("mean_share", "mean share", "mean_share_low", "mean_share_high"),
            told_between("mean_share_low", "mean_share_high", spare=5),
            per_cent("in_best", "in best", spare=2),
            text("source", spare=3),
            score("mean_share", "mean_share_low", "mean_share_high", spare=6),
        ),
    ),
    "alternatives": Answer(
        "Which sets tell the same?",
        lambda found, about: found.alternatives(str(about.subgroup), about.features),
        of_a_set=True,
        takes=("subgroup", "features"),
        shown=(
            text("words", "swap"),
            names("features", "set", spare=1),
            told("score", "tells"),
            told("difference", "difference", "difference_low", "difference_high"),
            told_between("difference_low", "difference_high", spare=2),
            text("source", spare=3),
            score("score", spare=4),
        ),
    ),
    "interactions": Answer(
        "Which features tell more, or less, together than each by itself?",
        lambda found, about: found.interactions(about.subgroup),
        takes=("subgroup",),
        shown=(
            text("feature"),
            text("other"),
            told("together", spare=2),
            told("alone", "sum of each", spare=1),
            told("interaction", "interaction", *INTERVAL),
            told_between(spare=3),
            text("kind"),
            text("source", spare=4),
            score("interaction", *INTERVAL, spare=5),
        ),
    ),
    "stability": Answer(
        "Would it come out again?",
        lambda found, about: found.stability(about.size, subgroup=about.subgroup),
        _stability_sentences,
        shown=(
            count("rank"),
            names("features", missing=UNRECORDED),
            per_cent("frequency", "comes again"),
            count("rank_median", "median rank"),
            count("rank_low", "lower quartile", spare=1),
            count("rank_high", "upper quartile", spare=1),
        ),
    ),
    "cautions": Answer(
        "What may mislead?",
        lambda found, about: found.cautions(about.size),
        _caution_sentences,
        takes=("size",),
    ),
    "worth": Answer(
        "Which unrecorded feature is most worth collecting?",
        lambda found, about: found.worth_collecting(
            about.subgroup, about.size, about.costs or None
        ),
        shown=(
            SUBGROUP,
            text("feature"),
            told("gain", "gain", *INTERVAL),
            told_between(spare=2),
            Shown("likely", likely),
            names("best_set", "best set with it", missing=UNRECORDED, spare=3),
            score("gain", *INTERVAL, spare=4),
        ),
        by_subgroup=False,
    ),
    "subgroups": Answer(
        "Which subgroups are there?",
        lambda found, about: found.subgroups_,  # noqa: ARG005
        takes=(),
        shown=(
            SUBGROUP,
            count("rows"),
            entropy("target_entropy", spare=1),
            names("missing", "never recorded"),
        ),
        by_subgroup=False,
    ),
    "columns": Answer(
        "What became of every column?",
        lambda found, about: _column_audits(found),  # noqa: ARG005
        takes=(),
        shown=(
            text("column"),
            text("role"),
            text("treatment"),
            count("missing", "rows without it", spare=1),
            names("categories", "values", spare=2),
        ),
        by_subgroup=False,
    ),
}
"""Every question by its name."""
