from __future__ import annotations

import re
import runpy
from io import StringIO
from pathlib import Path

import openpyxl
import pandas as pd
import pytest

from misfeat import datasets

ROOT = Path(__file__).parent.parent


def test_the_heart_example_runs(capsys):
    runpy.run_path(str(ROOT / "examples" / "01_heart.py"), run_name="__main__")
    assert "site=switzerland" in capsys.readouterr().out


def test_intervals_of_the_generated_example_hold_most_truths(capsys):
    runpy.run_path(str(ROOT / "examples" / "02_generated.py"), run_name="__main__")
    out = capsys.readouterr().out
    assert "predicted" in out
    found = re.findall(r"\(([\d.]+) to ([\d.]+)\), truth ([\d.]+)", out)
    held = [float(low) <= float(truth) <= float(high) for low, high, truth in found]
    assert len(held) == len(out.splitlines())
    assert sum(held) >= 0.75 * len(held)


def test_the_example_of_noise_shows_how_little_is_left_of_it(capsys):
    """docs/explanation/population.md: nothing tells anything, and no interval says that it does."""
    page = (ROOT / "docs" / "explanation" / "population.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict = {}
    exec(compile(code, "population.md", "exec"), names)  # noqa: S102
    best = names["best"]
    assert (best["score"] < 0.2 * best["observed"]).all()
    assert (best["low"] == 0).all()
    assert "site=east" in capsys.readouterr().out


def test_the_examples_of_exports_write_and_print_what_the_page_shows(tmp_path, monkeypatch, capsys):
    page = (ROOT / "docs" / "how_to" / "export.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for code in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(compile(code, "export.md", "exec"), names)  # noqa: S102
    (shown,) = re.findall(r"```\n(\| subgroup .*?)```", page, re.DOTALL)
    assert capsys.readouterr().out == shown
    sheets = openpyxl.load_workbook("heart.xlsx").sheetnames
    assert [f"| `{sheet}` |" in page for sheet in sheets] == [True] * 14
    assert len(list(Path("heart").iterdir())) == 14


def test_the_example_of_plots_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    picture = tmp_path / "clinics.png"
    monkeypatch.setattr("sys.argv", ["03_plots.py", str(picture)])
    runpy.run_path(str(ROOT / "examples" / "03_plots.py"), run_name="__main__")
    assert str(picture) in capsys.readouterr().out
    assert picture.read_bytes().startswith(b"\x89PNG")


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

    tables = "for one in (worth, decision):\n    print(one.to_csv(index=False), end='|')"
    tutorial.cells.append(new_code_cell(tables))
    at = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(tutorial, timeout=600, kernel_name="python3", resources=at).execute()
    *code, last = (cell for cell in tutorial.cells if cell.cell_type == "code")
    texts = "".join(one.text for one in last.outputs).split("|")[:2]
    worth, decision = (pd.read_csv(StringIO(text)) for text in texts)
    best = worth.groupby("subgroup").first()  # best first
    assert (best["feature"] == "ca").all()
    assert not worth["clear"].any()
    told = decision.set_index("subgroup")["more than chance"]
    assert told.to_dict() == {
        "site=cleveland": True,
        "site=hungarian": True,
        "site=switzerland": False,
        "site=va": True,
    }
    drawn = [
        cell for cell in code if "misfeat.plot." in cell.source and "savefig" not in cell.source
    ]
    assert len(drawn) == 8
    assert all(any("image/png" in str(one) for one in cell.outputs) for cell in drawn)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "link", re.findall(r"\]\(([^)]+)\)", (ROOT / "docs" / "how_to" / "plots.md").read_text())
)
def test_pictures_of_the_plots_are_there(link):
    assert (ROOT / "docs" / "how_to" / link).is_file()


@pytest.fixture
def few_columns(tmp_path, monkeypatch):
    """The heart table has six of its thirteen features."""
    kept = ["site", "age", "sex", "cp", "chol", "thalach", "ca", "num"]
    path = tmp_path / "heart.csv"
    pd.read_csv(datasets.heart_csv())[kept].to_csv(path, index=False)
    monkeypatch.setattr(datasets, "heart_csv", lambda: path)


@pytest.mark.slow
@pytest.mark.usefixtures("few_columns")
def test_the_example_of_the_readme_runs_on_a_few_columns(tmp_path, monkeypatch, capsys):
    run_readme(tmp_path, monkeypatch)
    assert "site=va & 40<age<=60" in capsys.readouterr().out
    assert "thalach" in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_example_of_the_readme_runs(tmp_path, monkeypatch, capsys):
    run_readme(tmp_path, monkeypatch)
    assert "site=va & 40<age<=60" in capsys.readouterr().out


def run_readme(folder, monkeypatch):
    """Run the example as it stands in the README."""
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    monkeypatch.chdir(folder)
    exec(compile(code, "README.md", "exec"), {})  # noqa: S102


@pytest.mark.parametrize(
    "link", re.findall(r"\]\((docs/[^)]+|[A-Z]+\.md)\)", (ROOT / "README.md").read_text())
)
def test_links_of_the_readme_lead_somewhere(link):
    assert (ROOT / link).is_file()


def test_the_example_of_cautions_names_the_leak_and_does_without_it(capsys):
    """docs/answers/cautions.md: what is printed is what the page shows."""
    page = (ROOT / "docs" / "answers" / "cautions.md").read_text(encoding="utf-8")
    names: dict = {}
    for code in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(compile(code, "cautions.md", "exec"), names)  # noqa: S102
    (shown,) = re.findall(r"```\n(\[.*?)```", page, re.DOTALL)
    assert capsys.readouterr().out == shown
    assert names["named"] == ["discharge code"]
    assert "discharge code" not in names["cleaned"].selection_.feature_names


def test_of_a_messy_table_the_columns_that_drive_the_target_come_out_on_top(monkeypatch, capsys):
    path = str(ROOT / "examples" / "messy_credit.py")
    monkeypatch.setattr("sys.argv", [path, "4000"])
    names = runpy.run_path(path, run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert len(names["credit_table"](50).columns) == 60
    found = [line.partition(": ")[2].split(", ") for line in lines if line.startswith("channel=")]
    assert len(found) == 2
    assert all(set(alone) == set(names["DRIVERS"]) for alone in found)
    best = [line.partition(": ")[2].split(", ") for line in lines if "best set" in line]
    assert all(set(one) < set(names["DRIVERS"]) for one in best)
