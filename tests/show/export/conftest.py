"""Selections that the tests of exports share: a plain one, and one full of hostile names."""

import numpy as np
import pytest

from misfeat import SubgroupSelector
from misfeat.datasets import make_cohorts
from misfeat.show.export import TITLES, about_table, answer_tables, in_words_table
from misfeat.show.question_output import in_columns
from tests.attacks.names import ZOO

# Names and values that mean something to a spreadsheet, a terminal, a page or a parser.
FEATURES = (
    '=HYPERLINK("http://a","b")',
    "+1+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1:A9)",
    "\t=1",
    ' "=1',
    "a, b",
    'a"b',
    "a;=1+1;b",
    "＝1",
    "a\x1b[31m\r\nb",
    "\N{RIGHT-TO-LEFT OVERRIDE}a",
    "_x003D_1",
    "<b>|*a*_b_`c`[d](http://e)~f~$g$ & &lt;",
    "\N{MAN}\N{ZERO WIDTH JOINER}\N{WOMAN} " + "long" * 75,
)
VALUES = ("=0", "-1", " @b")
GROUP, SITES = "=site", ("=a", "\x07b\x00d", "c|d")
TARGET = "+y"

# The same, and what no table may hold.
TEXTS = (*ZOO, *FEATURES, *VALUES, *SITES, TARGET, "\uffff=", "#N/A", "#REF!", "x" * 40_000)


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
    return [about_table(plain, tables), in_words_table(tables), *tables]
