"""Scripts of the gallery become text, code, and what running them shows."""

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = '''"""A title.

Some words.
"""

# %%
# What is done, in *Markdown*.

import sys

from matplotlib import pyplot as plt

print("printed", len(sys.argv) > 0)
plt.figure()

# %%
# Text alone.

# %%
print(1 / int("0"))
'''


@pytest.fixture(scope="module")
def cells():
    path = Path(__file__).parents[2] / "docs" / "hooks" / "cells.py"
    spec = importlib.util.spec_from_file_location("cells_of_the_gallery", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "01_script.py"
    path.write_text(SCRIPT, encoding="utf-8")
    return path


def test_a_script_is_a_title_words_and_cells(cells, script):
    found = cells.read_script(script)
    assert (found.title, found.words) == ("A title", "Some words.")
    assert [cell.text for cell in found.cells] == [
        "What is done, in *Markdown*.",
        "Text alone.",
        "",
    ]
    assert found.cells[0].code.startswith("import sys")
    assert found.cells[1].code == ""


def test_what_a_cell_prints_and_draws_is_kept(cells, script):
    found = cells.read_script(script)
    first = cells.Script(found.title, found.words, found.cells[:2])
    shown, seconds = cells.run_script(first, script)
    assert [one.printed for one in shown] == ["printed True\n", ""]
    assert [len(one.pictures) for one in shown] == [1, 0]
    assert shown[0].pictures[0].startswith(b"\x89PNG")
    assert seconds >= 0


def test_an_error_names_the_line_of_the_script(cells, script):
    with pytest.raises(ZeroDivisionError) as raised:
        cells.run_script(cells.read_script(script), script)
    assert raised.traceback[-1].lineno + 1 == SCRIPT.splitlines().index('print(1 / int("0"))') + 1
    assert str(script.parent) not in sys.path
