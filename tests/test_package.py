"""What a process loads, which says on any machine whether a start stays fast; public names."""

import json
import subprocess
import sys

import pytest

import misfeat
from misfeat import SubgroupSelector
from misfeat.datasets import make_cohorts

HEAVY = ("numba", "sklearn", "scipy", "pandas", "matplotlib", "duckdb", "torch")
LAZY_SCIPY = ("scipy.stats", "scipy.special", "sklearn.metrics")
ENGINES = ("pandas", "polars", "pyarrow", "duckdb")
HELP = "from misfeat.cli.app import app; app(['run', '--help'], standalone_mode=False)"
NOT_LOADED = {
    "import misfeat, misfeat.cli": ("numpy", *HEAVY),
    "import misfeat; misfeat.plot.feature_map": ("matplotlib",),
    "from misfeat import SubgroupSelector": ("numba", "pandas", "duckdb", *LAZY_SCIPY),
    "from misfeat.completion.registry import COMPLETERS": ("numpy", "sklearn", "numba", "torch"),
    "from misfeat.completion import *": ("numba", "torch"),
    "from misfeat.datasets import load_heart; load_heart()": ENGINES,
    HELP: ("numpy", "narwhals", *HEAVY),
}
"""What is not loaded by some code, which waits until it is used."""


def run(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout


def loaded(code: str) -> set[str]:
    """The modules of a new process that runs some code."""
    printed = run(f"{code}\nimport json, sys\nprint(json.dumps([*sys.modules]))")
    return set(json.loads(printed.splitlines()[-1]))


@pytest.mark.slow
@pytest.mark.parametrize("code", NOT_LOADED)
def test_what_is_not_used_is_not_loaded(code):
    modules = loaded(code)
    assert [name for name in NOT_LOADED[code] if name in modules] == []
    assert len(modules) < 1000


@pytest.mark.slow
def test_what_waits_is_loaded_when_it_is_used():
    loaded(
        "from misfeat import SubgroupSelector\n"
        "from sklearn.utils import fixes\n"
        "import scipy.stats, scipy.special\n"
        "assert fixes.pd is None or fixes.pd.DataFrame({'a': [1]}).shape == (1, 1)\n"
        "assert scipy.stats.norm.cdf(0) == scipy.special.ndtr(0) == 0.5"
    )


def test_questions_to_a_saved_run_load_neither_numba_nor_scikit_learn(tmp_path):
    data = make_cohorts(2, 80, 4, random_state=0)
    SubgroupSelector(data.groups, size=2).fit(data.columns, data.target).save(tmp_path / "run")
    modules = loaded(
        "from misfeat.cli.app import app\n"
        "for question in ('top', 'features', 'subgroups', 'columns'):\n"
        f"    app(['ask', {str(tmp_path / 'run')!r}, question], standalone_mode=False)"
    )
    assert [name for name in HEAVY if name in modules] == []


def test_public_names_load_on_first_use():
    assert set(misfeat.__all__) <= set(dir(misfeat))
    for name in misfeat.__all__:
        assert getattr(misfeat, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = misfeat.nothing


@pytest.mark.slow
def test_fitting_and_reporting_need_neither_a_dataframe_library_nor_pytorch():
    code = f"""
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split('.')[0] in {(*ENGINES, "torch")}:
            raise ImportError(name)
sys.meta_path.insert(0, Block())
import numpy as np
from misfeat import SubgroupSelector
rng = np.random.default_rng(0)
X, y = rng.integers(2, size=(50, 3)), rng.integers(2, size=50)
selector = SubgroupSelector(size=2, k=1).fit(X, y)
from misfeat.answers.top_sets import best_sets
print(len(best_sets(selector.selection_)), selector.report().html()[:15])
"""
    assert run(code).strip() == "1 <!doctype html>"
