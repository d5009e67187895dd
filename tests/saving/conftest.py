"""A fitted selector that tests save, load and ask."""

import pandas as pd
import pytest

from misfeat import SubgroupSelector
from misfeat.datasets import make_cohorts


def fitted():
    data = make_cohorts(3, 200, 5, hide=0.3, random_state=0)
    made = SubgroupSelector(data.groups, size=2, k=3, random_state=0)
    return made.fit(pd.DataFrame(data.columns), data.target)


selector = pytest.fixture(fitted, scope="module")
new_selector = pytest.fixture(fitted)
