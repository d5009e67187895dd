"""Everything that `misfeat run` can be told, from the command line or from a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from misfeat.exceptions import MisfeatError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from misfeat.selector import SubgroupSelector

TEXT = "a text"
WHOLE = "a whole number"
NUMBER = "a number"
FLAG = "true or false"
TEXTS = "a text or a list of texts"
GROUPS = "a text such as 'age:40,65', a table such as {age = [40, 65]}, or a list of these"
BINS = "a whole number, a table such as {age = 3}, or a list of texts such as 'age=40,65'"
CODES = "a text, a number, a list of these, or a table such as {chol = [0]}"
COSTS = "a table such as {mri = 400}, or a list of texts such as 'mri=400'"
BLOCKS = "a table such as {lipids = ['hdl', 'ldl']}, or a list of texts such as 'lipids=hdl,ldl'"


@dataclass(frozen=True)
class RunSettings:
    """The options of `misfeat run`, under their names with underscores.

    Options that may be repeated hold texts as they stand on the command line, or what a file may
    say instead: `KINDS` tells.

    Examples
    --------
    >>> settings = RunSettings("t.csv", "y", by=["site", "age:40"], bins=["age=3"])
    >>> settings.parameters()["groups"]
    ['site', {'age': ['40']}]
    >>> settings.parameters()["bins"]
    {'age': 3}
    """

    table: str | None = None
    target: str | None = None
    by: Any = ()
    size: int = 3
    top: int = 10
    measure: str = "mutual_info"
    include: Any = ()
    exclude: Any = ()
    block: Any = ()
    bins: Any = ()
    binning: str = "quantile"
    max_categories: int = 9
    missing: Any = ()
    missing_threshold: float = 0.95
    sporadic: str = "category"
    min_rows: int = 1
    small_groups: str = "merge"
    missing_groups: str = "own"
    completer: str = "auto"
    confidence: float = 0.9
    budget: float = 1.0
    sampler: str = "randwalk"
    seed: int | None = None
    device: str = "auto"
    jobs: int = -1
    memory_limit: float = 0.6
    worth: bool = True
    cost: Any = ()
    validate: bool = False
    out: str | None = None
    title: str | None = None
    json: bool = False
    quiet: bool = False

    def parameters(self) -> dict[str, Any]:
        """The parameters of `SubgroupSelector`."""
        return {
            "groups": [_group(part) for part in _listed(self.by)],
            "size": self.size,
            "k": self.top,
            "measure": self.measure,
            "include": _listed(self.include),
            "exclude": _listed(self.exclude),
            "blocks": _blocks(self.block),
            "bins": _bins(self.bins),
            "binning": self.binning,
            "max_categories": self.max_categories,
            "missing_values": _codes(self.missing),
            "missing_threshold": self.missing_threshold,
            "sporadic": self.sporadic,
            "min_rows": self.min_rows,
            "small_groups": self.small_groups,
            "missing_groups": self.missing_groups,
            "completer": self.completer,
            "confidence": self.confidence,
            "budget": self.budget,
            "sampler": self.sampler,
            "random_state": self.seed,
            "device": self.device,
            "n_jobs": self.jobs,
            "memory_limit": self.memory_limit,
        }

    def selector(self) -> SubgroupSelector:
        """The selector that these settings ask for."""
        from misfeat.selector import SubgroupSelector

        return SubgroupSelector(**self.parameters(), verbose=int(not self.quiet))

    def costs(self) -> dict[str, Any]:
        """What recording a feature costs."""
        costs = self.cost
        if not isinstance(costs, dict):
            pairs = (_pair(text, "--cost", "mri=400") for text in _listed(costs))
            costs = {column: _number(cost, f"--cost {column}") for column, cost in pairs}
        for column, cost in costs.items():
            if not 0 < cost < float("inf"):
                raise MisfeatError(f"--cost '{column}={cost:g}'; it must be above 0, and finite.")
        return costs


KINDS = {
    "table": TEXT,
    "target": TEXT,
    "by": GROUPS,
    "size": WHOLE,
    "top": WHOLE,
    "measure": TEXT,
    "include": TEXTS,
    "exclude": TEXTS,
    "block": BLOCKS,
    "bins": BINS,
    "binning": TEXT,
    "max_categories": WHOLE,
    "missing": CODES,
    "missing_threshold": NUMBER,
    "sporadic": TEXT,
    "min_rows": WHOLE,
    "small_groups": TEXT,
    "missing_groups": TEXT,
    "completer": TEXT,
    "confidence": NUMBER,
    "budget": NUMBER,
    "sampler": TEXT,
    "seed": WHOLE,
    "device": TEXT,
    "jobs": WHOLE,
    "memory_limit": NUMBER,
    "worth": FLAG,
    "cost": COSTS,
    "validate": FLAG,
    "out": TEXT,
    "title": TEXT,
    "json": FLAG,
    "quiet": FLAG,
}
"""What each option takes, as a file may say it."""


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _group(part: Any) -> Any:
    """Read ``COL`` or ``COL:cut,cut``; a colon that no number or date follows is part of a name.

    Examples
    --------
    >>> _group("age:40,65"), _group("site"), _group("time:of day"), _group("born:1980-01-01")
    ({'age': ['40', '65']}, 'site', 'time:of day', {'born': ['1980-01-01']})
    """
    from misfeat.cohorts.binning import cut_points

    if not isinstance(part, str):
        return part
    column, colon, cuts = part.rpartition(":")
    points = cuts.split(",")
    try:
        cut_points(sorted(set(points)), "--by")
    except MisfeatError:
        return part
    return {column: points} if colon else part


def _bins(value: Any) -> Any:
    """Read ``5``, ``COL=3`` and ``COL=40,65``; one cut point is ``COL=40,``.

    Examples
    --------
    >>> _bins(["4", "age=40,65", "income=3"])
    {'*': 4, 'age': ['40', '65'], 'income': 3}
    >>> _bins([])
    5
    """
    if not isinstance(value, list | tuple):
        return value
    bins: dict[str, Any] = {}
    for text in value:
        column, equals, rule = str(text).rpartition("=")
        if not equals:
            bins["*"] = _whole(rule, "--bins")
        elif "," in rule:
            bins[column] = [point for point in rule.split(",") if point]
        else:
            bins[column] = _whole(rule, f"--bins {column}")
    return bins or 5


def _codes(value: Any) -> Any:
    """Read ``CODE`` and ``COL=CODE``; a name may hold an equals sign, a code after it may not.

    Examples
    --------
    >>> _codes(["?", "chol=0", "a=b=9"])
    {'*': ['?'], 'chol': ['0'], 'a=b': ['9']}
    """
    if not isinstance(value, list | tuple):
        return value
    codes: dict[str, list[Any]] = {}
    for code in value:
        column, equals, named = code.rpartition("=") if isinstance(code, str) else ("", "", "")
        if equals and column:
            codes.setdefault(column, []).append(named)
        else:
            codes.setdefault("*", []).append(code)
    return codes


def _blocks(value: Any) -> dict[str, Any] | None:
    """Read ``NAME=COL,COL``.

    Examples
    --------
    >>> _blocks(["lipids=hdl,ldl"])
    {'lipids': ['hdl', 'ldl']}
    """
    if isinstance(value, dict):
        return value
    pairs = (_pair(text, "--block", "lipids=hdl,ldl") for text in _listed(value))
    return {name: split(members, ",") for name, members in pairs} or None


def _pair(text: str, option: str, example: str) -> tuple[str, str]:
    name, equals, rest = text.rpartition("=")
    if not (name and equals and rest):
        raise MisfeatError(f"{option} {text!r} says too little; write it as {example}.")
    return name, rest


def split(text: str, separator: str) -> list[str]:
    """The parts of a text, without spaces around them.

    Examples
    --------
    >>> split("gain, add", ",")
    ['gain', 'add']
    """
    return [part.strip() for part in text.split(separator) if part.strip()]


def _number(text: str, option: str) -> float:
    return numbers([text], option)[0]


def numbers(texts: Iterable[str], option: str) -> list[float]:
    """Read numbers that an option was given.

    Examples
    --------
    >>> numbers(["0.2", "0.5"], "--hidden")
    [0.2, 0.5]
    """
    found = []
    for text in texts:
        try:
            found.append(float(text))
        except ValueError:
            raise MisfeatError(f"{option}: {text!r} is no number.") from None
    return found


def _whole(text: str, option: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise MisfeatError(f"{option}: {text!r} is no whole number.") from None
