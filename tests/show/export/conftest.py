"""Selections that the tests of exports share: a plain one, and one full of hostile names."""

from __future__ import annotations

import numpy as np
import pytest

from misfeat import SubgroupSelector
from misfeat.datasets import make_cohorts
from misfeat.show.export.tables import TITLES, about_table, answer_tables, in_words_table
from misfeat.show.questions import in_columns
from tests.show.export.hostile import FEATURES, GROUP, SITES, TARGET, VALUES


@pytest.fixture(scope="session")
def fitted():
    """Three cohorts of five features, some of them unrecorded."""
    data = make_cohorts(n_cohorts=3, n_rows=300, n_features=5, hide=0.3, random_state=2)
    return SubgroupSelector(data.groups, size=2, k=3, random_state=0).fit(data.columns, data.target)


@pytest.fixture(scope="session")
def tables(fitted):
    """The answers to all questions, by their titles."""
    return {table.title: table for table in answer_tables(fitted.selection_, list(TITLES))}


@pytest.fixture(scope="session")
def hostile():
    """A selection in which every name and value means something to some program."""
    rng = np.random.default_rng(0)
    n = 240
    table = {name: np.array(VALUES)[rng.integers(0, len(VALUES), n)] for name in FEATURES}
    first = table[FEATURES[0]]
    table[TARGET] = np.where((first == VALUES[0]) ^ (rng.random(n) < 0.2), "=1+1", "@no")
    table[GROUP] = np.array(SITES)[rng.integers(0, len(SITES), n)]
    hidden = table[FEATURES[1]].astype(object)
    hidden[table[GROUP] == SITES[0]] = None
    table[FEATURES[1]] = hidden
    return SubgroupSelector(GROUP, size=2, k=2, random_state=0).fit(table, TARGET)


@pytest.fixture(scope="session")
def hostile_tables(hostile):
    """Every table of the export of that selection; resampling it tells nothing new."""
    plain = in_columns(hostile.selection_)
    tables = answer_tables(plain, [name for name in TITLES if name != "stability"])
    return [about_table(plain, tables), in_words_table(tables, ()), *tables]
