from __future__ import annotations

import pytest

from tests.cli.commands import TABLE


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(TABLE)
    return str(path)
