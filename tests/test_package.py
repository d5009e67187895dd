from __future__ import annotations

import inspect
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


def test_plots_are_at_hand_and_load_matplotlib_only_to_draw():
    code = "import sys, misfeat; misfeat.plot.feature_map; print('matplotlib' in sys.modules)"
    assert run(code).strip() == "False"


def test_public_names_load_on_first_use():
    assert set(misfeat.__all__) <= set(dir(misfeat))
    for name in misfeat.__all__:
        assert getattr(misfeat, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = misfeat.nothing


@pytest.mark.slow
def test_fitting_and_reporting_need_neither_a_dataframe_library_nor_pytorch():
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
from misfeat.answers.top import best_sets
print(len(best_sets(selector.selection_)), selector.report().html()[:15])
"""
    assert run(code).strip() == "1 <!doctype html>"


def public_things():
    for name in misfeat.__all__:
        thing = getattr(misfeat, name)
        if inspect.isclass(thing):
            yield name, thing
    for name, method in inspect.getmembers(misfeat.SubgroupSelector):
        ours = (getattr(method, "__module__", None) or "").startswith("misfeat")
        if not name.startswith("_") and ours and callable(method):
            yield f"SubgroupSelector.{name}", method
    for name in misfeat.plot.__all__:
        yield f"plot.{name}", getattr(misfeat.plot, name)
    yield "SubgroupSelector.subgroups_", misfeat.SubgroupSelector.subgroups_


@pytest.mark.parametrize(("name", "thing"), list(public_things()))
def test_every_public_name_has_an_example(name, thing):
    assert "Examples\n" in inspect.getdoc(thing), name
    assert ">>> " in inspect.getdoc(thing), name
