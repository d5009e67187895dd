"""Two runs that differ in one subgroup, and two whose names are hostile."""

import numpy as np
import pytest

import misfeat

HOSTILE = (
    "<script>alert(1)</script>",
    'x" onload="alert(1)',
    "\x1b[31mred",
    "[bold]b[/bold]",
    "\u202eabc",
)


def columns(seed, silent, names=("x", "z", "w", "site", "y"), sites=("a", "b", "c")):
    """Three sites of 500 rows in which the first feature tells, but for those that are silent."""
    rng = np.random.default_rng(seed)
    site = np.repeat(np.array(sites, dtype=object), 500)
    y = rng.integers(0, 2, 1500)
    told = rng.random(1500) < np.where([one in silent for one in site], 0.0, 0.6)
    values = (
        np.where(told, y, rng.integers(0, 3, 1500)),
        rng.integers(0, 4, 1500),
        np.where(rng.random(1500) < 0.3, y, rng.integers(0, 2, 1500)),
        site,
        y,
    )
    return dict(zip(names, values, strict=True))


def fitted(table, group="site", target="y"):
    return misfeat.SubgroupSelector(group, size=2).fit(table, target)


@pytest.fixture(scope="session")
def runs():
    return fitted(columns(0, ())), fitted(columns(1, ("b",)))


@pytest.fixture(scope="session")
def comparison(runs):
    return misfeat.compare(*runs)


@pytest.fixture(scope="session")
def hostile():
    names, sites = HOSTILE, (HOSTILE[0], "b", HOSTILE[4])
    tables = [columns(0, (), names, sites), columns(1, sites, names, sites)]
    return misfeat.compare(
        *(fitted(table, names[3], names[4]) for table in tables), names=(HOSTILE[2], HOSTILE[3])
    )
