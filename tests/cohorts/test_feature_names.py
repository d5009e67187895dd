from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from misfeat import MisfeatError, MisfeatWarning, SubgroupSelector


def table():
    """A feature of every fate: scored, constant, an identifier, text."""
    rng = np.random.default_rng(0)
    n = 120
    data = {f"x{i}": rng.integers(3, size=n) for i in range(1, 5)}
    return pd.DataFrame(
        {
            "site": np.repeat(["a", "b"], n // 2),
            **data,
            "same": 1,
            "number": rng.permutation(n),
            "kind": np.where(data["x1"] > 0, "p", "q"),
            "y": (data["x1"] + rng.integers(2, size=n)) % 2,
        }
    )


REASONS = {
    "x1": "is in exclude; take it out of one of the two",
    "x2": "is a member of the block 'panel'; name the block",
    "site": "tells the subgroups apart and is not a feature",
    "y": "is the target; take it out",
    "same": "was left out: constant",
    "number": "was left out as an identifier; if it measures something, keep it with bins=",
}


def selector(**settings):
    blocks = {"panel": ["x2", "x3"]}
    return SubgroupSelector("site", size=2, exclude=["x1"], blocks=blocks, **settings)


@pytest.fixture(scope="module")
def fitted():
    with pytest.warns(MisfeatWarning, match="Column 'number' is left out"):
        return selector().fit(table(), "y")


@pytest.mark.filterwarnings("ignore:Column 'number' is left out")
def test_a_column_that_is_no_feature_is_refused_with_the_reason(fitted):
    for name, reason in REASONS.items():
        expected = f"{name!r} was asked for as {{}}, but it {reason}"
        with pytest.raises(MisfeatError, match=expected.format("a feature to include")):
            selector(include=[name]).fit(table(), "y")
        with pytest.raises(MisfeatError, match=expected.format("a feature with a cost")):
            fitted.worth_collecting(costs={name: 2})
        with pytest.raises(MisfeatError, match=expected.format("a feature")):
            fitted.score_of("site=a", [name])
        if name != "x2":
            with pytest.raises(MisfeatError, match=expected.format("a member of the block 'q'")):
                selector().set_params(blocks={"q": ["x4", name]}).fit(table(), "y")


@pytest.mark.filterwarnings("ignore::misfeat.MisfeatWarning")
def test_other_names_are_refused_with_other_reasons(fitted):
    r2 = SubgroupSelector("site", size=1, measure="r2").fit(table(), "y")
    empty = SubgroupSelector("site", size=1).fit(table().assign(x4=np.nan), "y")
    for asked, name, reason in (
        (fitted, "x9", r"no column 'x9' .*; it has 'panel', 'x4'"),
        (r2, "kind", r"'kind' .* has no numbers that measure='r2' could use"),
        (empty, "x4", r"'x4' .* because no subgroup recorded it; check"),
    ):
        with pytest.raises(MisfeatError, match=reason):
            asked.score_of("site=a", [name])
