"""Kernels for large tables are tried on small ones."""

import pytest

from misfeat.information import block_plan


@pytest.fixture(autouse=True, scope="module")
def kernels_of_large_tables():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(block_plan, "SMALL", 0)
        yield
