"""What the report says in words: what a score rests on, and what a column became."""

from __future__ import annotations

from typing import Any

MOST_VALUES = 8
"""Values of a column that are listed."""

BEYOND_BUDGET = "the subgroup recorded these features, but the budget did not reach this set"

_SUPPORT = {
    "own rows": "computed from the subgroup's own rows",
    "joint": "some subgroup recorded all of these features together",
    "pairs": "every pair with an unrecorded feature was recorded together somewhere",
    "singles": "some pair was recorded together nowhere, so how the two interact is not known",
    "none": "some feature was recorded nowhere",
}


_ESTIMATES = {
    "population": "Scores tell about the population that a subgroup's rows were drawn from",
    "above_chance": "Scores are of each subgroup's own rows, less what chance alone would score",
    "sample": "Scores are of each subgroup's own rows as they are, chance included",
}


def estimate_words(estimate: str) -> str:
    """What scores tell about.

    Examples
    --------
    >>> estimate_words("above_chance")
    "Scores are of each subgroup's own rows, less what chance alone would score"
    """
    return _ESTIMATES[estimate]


def support_words(support: str, predicted: bool = False) -> str:
    """What a score rests on.

    Examples
    --------
    >>> support_words("own rows")
    "computed from the subgroup's own rows"
    >>> support_words("own rows", predicted=True)
    'the subgroup recorded these features, but the budget did not reach this set'
    """
    return BEYOND_BUDGET if predicted and support == "own rows" else _SUPPORT[support]


def column_words(column: dict[str, Any]) -> str:
    """The values that a column was reduced to, the first of them.

    Examples
    --------
    >>> column_words({"categories": ["no", "yes"]})
    'no, yes'
    >>> column_words({"categories": list("abcdefghij")})
    'a, b, c, d, e, f, g, h and 2 more'
    """
    values = column["categories"]
    shown = ", ".join(values[:MOST_VALUES])
    more = len(values) - MOST_VALUES
    return f"{shown} and {more} more" if more > 0 else shown
