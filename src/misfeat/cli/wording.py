"""Messages of the selector, in the words of the command line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    Replacement = str | Callable[[re.Match[str]], str]

OPTIONS = {
    "k": "--top",
    "n_jobs": "--jobs",
    "random_state": "--seed",
    "missing_values": "--missing",
    "groups": "--by",
    "blocks": "--block",
    "costs": "--cost",
    "size": "--size",
    "measure": "--measure",
    "completer": "--completer",
    "confidence": "--confidence",
    "budget": "--budget",
    "sampler": "--sampler",
    "bins": "--bins",
    "binning": "--binning",
    "max_categories": "--max-categories",
    "missing_threshold": "--missing-threshold",
    "sporadic": "--sporadic",
    "min_rows": "--min-rows",
    "small_groups": "--small-groups",
    "missing_groups": "--missing-groups",
    "device": "--device",
    "memory_limit": "--memory-limit",
    "include": "--include",
    "exclude": "--exclude",
}
"""What the selector's parameters are called on the command line."""

_SIGNS = {"bins": "=", "groups": ":", "missing_values": "="}
"""What stands between a column and what is said of it."""
_UNLIKE_A_WORD = "|".join(name for name in OPTIONS if "_" in name)
_OTHERS = "|".join(OPTIONS)
_QUOTED = r"""(?:'([^']*)'|"([^"]*)")"""


def _of_a_column(found: re.Match[str]) -> str:
    """Spell ``bins['age']=['40', '65']`` as ``--bins 'age=40,65'``."""
    name, column, values = found[1], found[2] or found[3] or "", found[4]
    plain = re.sub(r"[\[\]'\" ]", "", values)
    if column == "*":
        return f"{OPTIONS[name]} {plain}"
    return f"{OPTIONS[name]} '{column}{_SIGNS[name]}{plain}'"


def _listed(found: re.Match[str]) -> str:
    return f"use one of {found[1].replace(chr(39), '').rstrip(',')}"


_REWRITTEN: tuple[tuple[str, Replacement], ...] = (
    (r"\bmissing_values=\{'([^']+)': \[VALUE\]\}", r"--missing '\1=VALUE'"),
    (r"\bbins=\{'([^']+)': (\d+)\}", r"--bins '\1=\2'"),
    (rf"\b(bins|groups|missing_values)\[{_QUOTED}\]=(\[[^\]]*\]|[^\s;]+)", _of_a_column),
    (
        rf"\b(bins|groups|missing_values)\[{_QUOTED}\]",
        lambda f: f"{OPTIONS[f[1]]} {f[2] or f[3]!r}",
    ),
    (r"give cut points as a list, such as \[40, 65\]", "give cut points, such as 40,65"),
    (r", or(?: be)? None\b", ""),
    (r", or an instance of a completer, with methods [\w, ]+", ""),
    (r"\buse one of \(([^)]*)\)", _listed),
    (r" \(n_features = (\d+)\)", r" (\1)"),
    (r" \(n_samples = (\d+)\)", r" (in \1 rows)"),
    (r"a completer or settings of it that need less", "another --completer"),
    (r"\bout of groups\b", "out of --by"),
    (r"\bwhat groups name\b", "what --by names"),
    (r"\((asked for as) (bins|groups|blocks)\)", lambda f: f"({f[1]} {OPTIONS[f[2]]})"),
    (r"\b([Ll]ower|[Rr]aise) (size|budget|confidence)\b", r"\1 --\2"),
    (rf"(?<![\w.-])({_OTHERS})=(?=\S)", lambda f: f"{OPTIONS[f[1]]} "),
    (rf"(?<![\w.'\"-])({_UNLIKE_A_WORD})(?![\w'\"=])", lambda f: OPTIONS[f[1]]),
)


def as_options(text: str) -> str:
    """A message of the selector, in the words of the command line.

    Examples
    --------
    >>> as_options("k=0; it must be a whole number of at least 1.")
    '--top 0; it must be a whole number of at least 1.'
    >>> as_options("If they measure something, pass bins={'id': 5}.")
    "If they measure something, pass --bins 'id=5'."
    >>> as_options("If it stands for missing, say so: missing_values={'chol': [VALUE]}.")
    "If it stands for missing, say so: --missing 'chol=VALUE'."
    >>> as_options("groups['age']=['60', '40'] must ascend, without repeats.")
    "--by 'age:60,40' must ascend, without repeats."
    """
    for pattern, replacement in _REWRITTEN:
        text = re.sub(pattern, replacement, text)
    return text
