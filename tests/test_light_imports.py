"""What a process loads: counts of modules say on any machine whether a start stays fast."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from misfeat import SubgroupSelector
from misfeat.datasets import make_cohorts

HEAVY = ("numba", "sklearn", "scipy", "pandas", "matplotlib", "duckdb", "torch")


def loaded(code: str) -> set[str]:
    """The modules of a new process that runs some code."""
    told = [sys.executable, "-c", f"{code}\nimport json, sys\nprint(json.dumps([*sys.modules]))"]
    printed = subprocess.run(told, check=True, capture_output=True, text=True).stdout
    return set(json.loads(printed.splitlines()[-1]))


def test_the_selector_is_imported_without_numba_pandas_and_most_of_scipy():
    modules = loaded("from misfeat import SubgroupSelector")
    for name in ("numba", "pandas", "scipy.stats", "scipy.special", "sklearn.metrics", "duckdb"):
        assert name not in modules
    assert len(modules) < 1000


def test_what_waits_is_loaded_when_it_is_used():
    loaded(
        "from misfeat import SubgroupSelector\n"
        "from sklearn.utils import fixes\n"
        "import scipy.stats, scipy.special\n"
        "assert fixes.pd is None or fixes.pd.DataFrame({'a': [1]}).shape == (1, 1)\n"
        "assert scipy.stats.norm.cdf(0) == scipy.special.ndtr(0) == 0.5"
    )


@pytest.mark.parametrize("question", ["top", "features", "subgroups", "columns"])
def test_a_question_to_a_saved_run_loads_neither_numba_nor_scikit_learn(tmp_path, question):
    data = make_cohorts(2, 80, 4, random_state=0)
    SubgroupSelector(data.groups, size=2).fit(data.columns, data.target).save(tmp_path / "run")
    modules = loaded(
        f"from misfeat.cli.app import app\n"
        f"app(['ask', {str(tmp_path / 'run')!r}, {question!r}], standalone_mode=False)"
    )
    assert [name for name in HEAVY if name in modules] == []
