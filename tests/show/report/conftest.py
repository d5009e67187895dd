"""Fitted selectors that the report's tests share."""

import pytest

from misfeat import SubgroupSelector
from misfeat.datasets import make_cohorts


@pytest.fixture(scope="session")
def fitted():
    """Four cohorts of seven features, a third of them unrecorded."""
    data = make_cohorts(n_cohorts=4, n_rows=600, n_features=7, hide=0.3, random_state=2)
    return SubgroupSelector(data.groups, size=2, k=4, random_state=0).fit(data.columns, data.target)


@pytest.fixture(scope="session")
def report(fitted):
    return fitted.report(title="A report")
