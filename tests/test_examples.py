"""The tutorial notebook; tests/docs has pages and gallery."""

from io import StringIO
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture
def tutorial():
    nbformat = pytest.importorskip("nbformat")
    return nbformat.read(ROOT / "examples" / "tutorial.ipynb", as_version=4)


def test_the_tutorial_is_stored_without_outputs(tutorial):
    code = [cell for cell in tutorial.cells if cell.cell_type == "code"]
    assert code
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code)


@pytest.mark.slow
def test_the_tutorial_runs_and_finds_what_it_says(tutorial, tmp_path):
    from nbclient import NotebookClient
    from nbformat.v4 import new_code_cell

    tables = "for one in (plan, decision):\n    print(one.to_csv(index=False), end='|')"
    tutorial.cells.append(new_code_cell(tables))
    at = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(tutorial, timeout=600, kernel_name="python3", resources=at).execute()
    *code, last = (cell for cell in tutorial.cells if cell.cell_type == "code")
    texts = "".join(one.text for one in last.outputs).split("|")[:2]
    plan, decision = (pd.read_csv(StringIO(text)) for text in texts)
    first = plan.groupby("subgroup").first()  # the steps are in order
    assert (first["features"] == "('vessels',)").all()
    assert first.index[first["worth"]].to_list() == ["hospital=Hungary"]
    assert decision["use"].str.startswith("chest pain").all()
    drawn = [
        cell for cell in code if "misfeat.plot." in cell.source and "savefig" not in cell.source
    ]
    assert len(drawn) == 7
    assert all(any("image/png" in str(one) for one in cell.outputs) for cell in drawn)
    assert list(tmp_path.iterdir()) == []
