"""What the report says in words: a glossary, what a score rests on, and what a column became."""

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
ESTIMATES = {
    "population": "Scores tell about the population that a subgroup's rows were drawn from",
    "above_chance": "Scores are of each subgroup's own rows, less what chance alone would score",
    "sample": "Scores are of each subgroup's own rows as they are, chance included",
}
"""What scores tell about."""
GLOSSARY: dict[str, str] = {
    "what there is to tell": (
        "How uncertain the target is in a subgroup before any feature is known (its entropy). A "
        "set that tells 100 % of it leaves nothing uncertain; one that tells 0 % says nothing "
        "about the target."
    ),
    "share": (
        "What a set tells, in per cent of what there is to tell about the target in its subgroup. "
        "It is not the share of rows that are told right, which is higher."
    ),
    "set": (
        "One or more features taken together. Two features may tell together what neither tells "
        "alone."
    ),
    "interval": (
        "The range in which the true share lies with the stated confidence. Where two intervals "
        "overlap widely, do not rely on which of the two is ahead."
    ),
    "recorded": "The subgroup has this feature in its own rows.",
    "never recorded": (
        "The subgroup lacks this feature in all or nearly all rows. What it would tell there is "
        "predicted from subgroups that have it; a star marks it."
    ),
    "predicted": (
        "Worked out from subgroups that recorded the features, not from this subgroup's own rows."
    ),
    "more than chance": (
        "The target was shuffled many times within the subgroup, and the best set searched anew "
        "each time. More than chance: at most 5 % of the shuffled tables had a set that does as "
        "well, after allowing for the number of subgroups."
    ),
    "p-value": (
        "How often chance alone does at least as well, over all sets that were searched. Small is "
        "strong: 0.01 means 1 shuffled table in 100."
    ),
    "enough": (
        "The smallest number of features beyond which one or two more add nothing more than "
        "chance, or next to nothing."
    ),
    "adds": "What a feature tells on top of the best set of the other features.",
    "part of the answer": (
        "What the set that answers tells, divided fairly among its features (Shapley value): what "
        "each adds, averaged over all orders in which they may join."
    ),
    "comes out again": (
        "Rows were drawn anew many times and everything worked out again: how often the set is "
        "among the best once more."
    ),
    "worth collecting": (
        "By how much the best set of a subgroup is expected to tell more, had the subgroup "
        "recorded a feature that it never did. Clear: it tells more with a probability of at least "
        "90 %."
    ),
    "nats": (
        "The unit of scores; a score divided by what there is to tell in the subgroup is the share."
    ),
    "own rows": (
        "What the subgroup's own rows score as they are. Part of that is chance, the more so the "
        "fewer rows and the more values there are."
    ),
}
"""Words that a reader may not know, each explained in a sentence or two."""


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


def slug(term: str) -> str:
    """A term as part of an address."""
    return "term-" + term.replace(" ", "-")
