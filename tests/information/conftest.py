"""Kernels for large tables are tried on small ones."""

from __future__ import annotations

import pytest

from misfeat.information import entropy_sums


@pytest.fixture(autouse=True, scope="module")
def kernels_of_large_tables():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entropy_sums, "SMALL", 0)
        yield
