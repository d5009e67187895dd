"""Kernels for large tables are tried on small ones."""

import pytest

from misfeat.information import score_sums


@pytest.fixture(autouse=True, scope="module")
def kernels_of_large_tables():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(score_sums, "SMALL", 0)
        yield
