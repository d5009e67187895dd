"""Parameters of `SubgroupSelector`, drawn from what their declarations say they take."""

from ast import literal_eval
from dataclasses import Field
from typing import Any

from hypothesis import strategies as st

from misfeat import Coding, Columns
from misfeat.cohorts.parsed_text import WAYS
from misfeat.completion import KNNCompleter, TransferCompleter
from misfeat.completion.registry import COMPLETERS
from misfeat.parameters.declaration import parameters_of
from misfeat.selector_parameters import SelectorParameters
from tests.fuzz.tables import GROUP, NAMES, TARGET, Drawn

NEURAL = ("mlp", "multiplex", "paper")
QUICK = tuple(name for name in COMPLETERS if name not in NEURAL)
ODD = (None, -1, 0, 1.5, float("nan"), True, 10**30, "nonsense", b"x", [], {}, (), object, [None])
"""Values that most parameters cannot take."""


def _columns_of(drawn: Drawn) -> st.SearchStrategy[str]:
    return st.sampled_from([*drawn.features, *drawn.features, *NAMES, TARGET, GROUP])


def _names(drawn: Drawn) -> st.SearchStrategy[Any]:
    return st.none() | st.lists(_columns_of(drawn), max_size=2)


_points = st.lists(st.sampled_from((0, 1, 2.5, 10)), min_size=1, max_size=3).map(sorted)


def _groups(drawn: Drawn) -> st.SearchStrategy[Any]:
    usual = st.just(GROUP if GROUP in drawn.columns else None)
    column = _columns_of(drawn)
    cuts = st.dictionaries(column, _points, min_size=1, max_size=1)
    merged = st.dictionaries(column, st.just({"low": "low", "*": "rest"}), min_size=1, max_size=1)
    one = usual | usual | column | cuts | merged
    return usual | usual | one | st.lists(one, max_size=2)


def _bins(drawn: Drawn) -> st.SearchStrategy[Any]:
    return st.integers(2, 6) | st.dictionaries(
        _columns_of(drawn) | st.just("*"), st.integers(2, 4) | _points, max_size=2
    )


def _missing_values(drawn: Drawn) -> st.SearchStrategy[Any]:
    one = st.sampled_from((0, 1, "x", "", "NA", -9, 2.5, True))
    return st.none() | one | st.lists(one) | st.dictionaries(_columns_of(drawn), one, max_size=2)


def _completer(_: Drawn) -> st.SearchStrategy[Any]:
    own = st.builds(TransferCompleter, confidence=st.sampled_from((0.5, 0.9, None)))
    near = st.builds(KNNCompleter, confidence=st.sampled_from((0.5, "inherit")))
    rare = st.integers(0, 400).flatmap(
        lambda n: st.sampled_from(NEURAL) if n == 77 else st.just("auto")
    )
    return st.sampled_from(QUICK) | st.sampled_from(QUICK) | own | near | rare


def _blocks(drawn: Drawn) -> st.SearchStrategy[Any]:
    members = st.lists(_columns_of(drawn), min_size=1, max_size=3)
    return st.none() | st.dictionaries(st.sampled_from(("block", "a")), members, max_size=1)


def _ways(drawn: Drawn) -> st.SearchStrategy[Any]:
    return st.none() | st.dictionaries(_columns_of(drawn), st.sampled_from(WAYS), max_size=2)


def _design(drawn: Drawn) -> st.SearchStrategy[Any]:
    units = st.sampled_from(("strata", "cluster"))
    return st.none() | st.dictionaries(units, _columns_of(drawn), max_size=2)


BY_NAME: dict[str, Any] = {
    "design": _design,
    "groups": _groups,
    "bins": _bins,
    "missing_values": _missing_values,
    "read": _ways,
    "completer": _completer,
    "include": _names,
    "exclude": _names,
    "blocks": _blocks,
    "coding": lambda drawn: st.none() | nested(Coding, drawn),
    "columns": lambda drawn: st.none() | nested(Columns, drawn),
}
"""Values that depend on the table, for parameters whose readers say what they take."""
SMALL: dict[str, st.SearchStrategy[Any]] = {
    "size": st.integers(1, 3),
    "k": st.integers(1, 12),
    "n_jobs": st.sampled_from((None, 1, 2)),
    "verbose": st.just(0),
    "device": st.sampled_from(("auto", "cpu")),
    "random_state": st.sampled_from((0, 7)),
    "min_rows": st.none() | st.integers(1, 20),
}
"""Values that a small table can be asked with."""


def values_of(one: Field[Any], drawn: Drawn) -> st.SearchStrategy[Any]:
    """Values that a parameter takes, as it is declared."""
    if one.name in BY_NAME:
        found: st.SearchStrategy[Any] = BY_NAME[one.name](drawn)
        return found
    if one.name in SMALL:
        return SMALL[one.name]
    words = one.metadata["takes"].words
    if words.startswith("{"):
        return st.sampled_from(sorted(literal_eval(words)))
    if words == "bool":
        return st.booleans()
    if words.startswith("int"):
        return st.integers(2, 12)
    if words.startswith("float"):
        return st.floats(0.01, 0.99) | st.just(one.default)
    raise LookupError(f"no values to draw for the parameter {one.name!r}; add it to BY_NAME")


@st.composite
def some_parameters(draw: Any, kind: Any, drawn: Drawn, most: int = 4) -> dict[str, Any]:
    """A few parameters of a class, now and then one with a value that it cannot take."""
    declared = parameters_of(kind)
    names = draw(st.lists(st.sampled_from(sorted(declared)), max_size=most, unique=True))
    return {
        name: draw(st.sampled_from(ODD))
        if draw(st.integers(0, 30)) == 17
        else draw(values_of(declared[name], drawn))
        for name in names
    }


@st.composite
def nested(draw: Any, kind: Any, drawn: Drawn) -> Any:
    """Settings within settings."""
    return kind(**draw(some_parameters(kind, drawn, most=2)))


@st.composite
def questions(draw: Any, drawn: Drawn) -> dict[str, Any]:
    """Parameters of `SubgroupSelector` for a table, small and seeded unless drawn otherwise."""
    usual = {"groups": GROUP if GROUP in drawn.columns else None, "size": 2, "random_state": 0}
    return {**usual, **draw(some_parameters(SelectorParameters, drawn))}
