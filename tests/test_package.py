from __future__ import annotations

import subprocess
import sys

import pytest

import misfeat


def run(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout


def test_importing_the_package_imports_nothing_heavy():
    loaded = run(
        "import sys, misfeat, misfeat.cli; "
        "print([m for m in ('torch', 'numba', 'sklearn', 'pandas', 'numpy') if m in sys.modules])"
    )
    assert loaded.strip() == "[]"


def test_public_names_load_on_first_use():
    assert set(misfeat.__all__) <= set(dir(misfeat))
    for name in misfeat.__all__:
        assert getattr(misfeat, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = misfeat.nothing


def test_fitting_needs_no_dataframe_library():
    blocked = "('pandas', 'polars', 'pyarrow', 'duckdb', 'torch')"
    code = f"""
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split('.')[0] in {blocked}:
            raise ImportError(name)
sys.meta_path.insert(0, Block())
import numpy as np
from misfeat import SubgroupSelector
rng = np.random.default_rng(0)
X, y = rng.integers(2, size=(50, 3)), rng.integers(2, size=50)
selector = SubgroupSelector(size=2, k=1).fit(X, y)
print(len(selector.best_sets()))
"""
    assert run(code).strip() == "1"
