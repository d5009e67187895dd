"""What the columns of exported tables hold, and what each means in a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Number
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

TEXT, NAMES, FLAG = "text", "names", "flag"
COUNT, SCORE, SHARE, RATIO = "count", "score", "share", "ratio"
"""What a column holds; each kind of number is shown with digits of its own."""


@dataclass(frozen=True)
class Column:
    """A column of an exported table."""

    name: str
    kind: str
    """What it holds: names stand for several of them, one after the other. One of "text", "names",
    "flag", "count", "score", "share", "ratio".
    """
    meaning: str = ""


_EVERYWHERE = {
    "subgroup": (TEXT, "The subgroup."),
    "features": (NAMES, "The features of the set."),
    "feature": (TEXT, "The feature."),
    "rank": (COUNT, "1 is the best set of its size in the subgroup."),
    "score": (SCORE, "What the set tells about the target, in the unit of scores."),
    "low": (SCORE, "Lower end of the interval."),
    "high": (SCORE, "Upper end of the interval."),
    "share": (SHARE, "The score as a share of what there is to tell."),
    "share_low": (SHARE, "Lower end of the interval of the share."),
    "share_high": (SHARE, "Upper end of the interval of the share."),
    "source": (
        TEXT,
        "recorded: the subgroup's own rows took part. predicted: it never recorded the set, and "
        "other subgroups told.",
    ),
    "support": (
        TEXT,
        "What it rests on: own rows; joint, some subgroup recorded all features together; pairs, "
        "every pair was recorded together somewhere; singles, some pair nowhere; none, some "
        "feature nowhere.",
    ),
    "missing": (NAMES, "Features that the subgroup never recorded."),
}

_OF_TABLES: dict[str, dict[str, tuple[str, str]]] = {
    "subgroups": {
        "rows": (COUNT, "Rows of the subgroup."),
        "effective_rows": (
            SCORE,
            "How many rows of equal weight, drawn one by one, tell as much as those of the "
            "subgroup.",
        ),
        "target_entropy": (
            SCORE,
            "The entropy of the target in nats: what there is to tell about it, unless scores are "
            "R².",
        ),
    },
    "top": {
        "observed": (SCORE, "The score of the subgroup's own rows as they are, chance included."),
        "p_value": (
            SCORE,
            "How likely chance alone gives a set that tells as much, with all sets searched.",
        ),
        "missing": (NAMES, "Features of the set that the subgroup never recorded."),
        "spread": (
            SCORE,
            "How far the score differs between grids of a numeric target: a standard deviation.",
        ),
    },
    "features": {
        "alone": (SCORE, "The score of the feature by itself."),
        "alone_low": (SCORE, "Lower end of its interval."),
        "alone_high": (SCORE, "Upper end of its interval."),
        "adds": (SCORE, "What the feature adds to the best set of the others."),
        "adds_low": (SCORE, "Lower end of its interval."),
        "adds_high": (SCORE, "Upper end of its interval."),
        "adds_to": (NAMES, "That set."),
        "share_of_best": (SCORE, "Its part in the score of the best set (Shapley value)."),
        "share_of_best_low": (SCORE, "Lower end of its interval."),
        "share_of_best_high": (SCORE, "Upper end of its interval."),
        "mean_share": (SCORE, "Its part in the score of a set, on the mean of all sets with it."),
        "mean_share_low": (SCORE, "Lower end of its interval."),
        "mean_share_high": (SCORE, "Upper end of its interval."),
        "in_best": (SHARE, "The share of the best sets that hold it."),
    },
    "enough": {
        "size": (COUNT, "Features per set."),
        "features": (NAMES, "The best set of the size that the subgroup recorded."),
        "adds": (SCORE, "What the best set tells more than that of one feature less."),
        "p_value": (SCORE, "How likely chance alone adds as much."),
        "enough": (FLAG, "True for the size beyond which nothing more than chance is added."),
    },
    "significance": {
        "p_value": (SCORE, "How likely chance alone gives a set that tells as much."),
        "adjusted": (SCORE, "The same, adjusted for asking about several subgroups."),
        "more_than_chance": (FLAG, "Whether some set tells more than chance."),
        "features": (NAMES, "The set farthest above chance."),
        "sets": (COUNT, "Sets that were searched."),
        "permutations": (COUNT, "How often the target was dealt out anew."),
    },
    "stability": {
        "frequency": (SHARE, "How often it is among the best sets when rows are drawn anew."),
        "rank_low": (COUNT, "Its rank in these draws: lower quartile."),
        "rank_median": (COUNT, "Its rank in these draws: median."),
        "rank_high": (COUNT, "Its rank in these draws: upper quartile."),
    },
    "worth": {
        "feature": (TEXT, "A feature that the subgroup never recorded."),
        "gain": (SCORE, "By how much the best score is expected to rise with it."),
        "probability": (SHARE, "How likely the best score rises at all."),
        "probability_of_a_tenth": (SHARE, "How likely it rises by a tenth."),
        "clear": (FLAG, "Whether a rise is as likely as intervals hold the truth."),
        "rank": (COUNT, "1 is the feature most worth collecting in the subgroup."),
        "before": (SCORE, "The score of the best set that the subgroup recorded."),
        "best_set": (NAMES, "The set with the feature that is predicted to be best."),
        "joined": (SCORE, "What it is predicted to add to the best recorded set as one more."),
        "unsettled": (NAMES, "Two features of that set that no subgroup recorded together."),
        "settled_by": (TEXT, "The subgroup in which recording both would settle most."),
        "cost": (RATIO, "What recording the feature costs."),
        "gain_per_cost": (SCORE, "The gain for every unit of cost."),
    },
    "alternatives": {
        "instead_of": (NAMES, "The best set of the subgroup."),
        "features": (NAMES, "A set that cannot be told from it."),
        "difference": (SCORE, "By how much it scores higher than the best set."),
        "difference_low": (SCORE, "Lower end of its interval."),
        "difference_high": (SCORE, "Upper end of its interval."),
        "given_up": (NAMES, "Features of the best set that are given up."),
        "taken": (NAMES, "Features that take their place."),
        "swaps": (COUNT, "How many features are swapped."),
        "words": (TEXT, "The swap in words."),
    },
    "why": {
        "features": (NAMES, "The best set of the subgroup."),
        "cell": (TEXT, "Rows that agree in all features of the set."),
        "values": (NAMES, "The same, a value or range a feature."),
        "rows": (COUNT, "Rows of the cell; where predicted, those that are expected."),
        "class": (TEXT, "A class of the target."),
        "share": (SHARE, "The share of the class in the rows of the cell."),
        "low": (SHARE, "Lower end of its interval."),
        "high": (SHARE, "Upper end of its interval."),
        "overall": (SHARE, "The share of the class in the whole subgroup."),
        "lift": (RATIO, "The one share over the other."),
        "contribution": (SCORE, "What cell and class add to the score of the rows."),
    },
    "interactions": {
        "other": (TEXT, "The other feature of the pair."),
        "together": (SCORE, "The score of both."),
        "alone": (SCORE, "The sum of the scores of each by itself."),
        "interaction": (SCORE, "The difference of these two."),
        "kind": (
            TEXT,
            "synergy: both tell more together than each by itself. redundancy: less. unclear: the "
            "interval holds 0.",
        ),
    },
    "cautions": {
        "kind": (TEXT, "What may mislead."),
        "columns": (NAMES, "The columns that it is about."),
        "subgroups": (NAMES, "The subgroups that it is about."),
        "sentence": (TEXT, "What was found."),
        "remedy": (TEXT, "What to do about it."),
        "severity": (
            TEXT,
            "overturns: answers may be wrong altogether. weakens: they are less sure than they "
            "look. note: read them with this in mind.",
        ),
    },
    "columns": {
        "column": (TEXT, "A column of the table."),
        "role": (TEXT, "What it served as."),
        "treatment": (TEXT, "What was done with it."),
        "categories": (NAMES, "The values or ranges that it was reduced to."),
        "missing": (COUNT, "Rows in which it is missing."),
        "looks_like": (TEXT, "What it looks like beyond its type."),
        "taken_for": (TEXT, "What its values were taken for."),
        "example": (TEXT, "A value as the table holds it."),
    },
}


def column_of(table: str, name: str, values: Sequence[Any] = ()) -> Column:
    """What a column of a table holds; by its first value where nobody wrote it down.

    Examples
    --------
    >>> column_of("top", "share").kind, column_of("why", "low").kind
    ('share', 'share')
    """
    known = _OF_TABLES.get(table, {}).get(name) or _EVERYWHERE.get(name)
    return Column(name, *known) if known else Column(name, _kind_of(values))


def _kind_of(values: Sequence[Any]) -> str:
    first = next((value for value in values if value is not None), "")
    if isinstance(first, tuple | list):
        return NAMES
    if isinstance(first, bool):
        return FLAG
    return SCORE if isinstance(first, Number) else TEXT
