"""The commands and the code of docs/how_to/sites.md run, as they stand there."""

from __future__ import annotations

import csv
import re
import shlex
from pathlib import Path

import pytest

from tests.cli.commands import run
from tests.sites.conftest import tables_by_site

pytestmark = pytest.mark.slow  # processes, or very many draws

OF_EACH = re.compile("misfeat site (key|propose|summarise) ")
"""Commands that the page shows for one site, and says that all run."""
PAGE = (Path(__file__).parents[2] / "docs" / "how_to" / "sites.md").read_text(encoding="utf-8")


def write_hospitals(folder):
    """The part of heart.csv of every hospital, in a folder of its own."""
    for one, table in tables_by_site().items():
        (folder / one).mkdir()
        with (folder / one / "heart.csv").open("w", newline="") as file:
            lines = csv.writer(file)
            lines.writerow(table)
            for row in zip(*table.values(), strict=True):
                lines.writerow(["" if value is None or value != value else value for value in row])


def test_the_commands_of_the_walk_through_run(tmp_path, monkeypatch):
    pytest.importorskip("cryptography")
    write_hospitals(tmp_path)
    monkeypatch.chdir(tmp_path)
    commands = [
        line.replace("va", site)
        for block in re.findall(r"```bash\n(.*?)```", PAGE, re.DOTALL)
        for line in block.splitlines()
        for site in (tables_by_site() if OF_EACH.match(line) else ["va"])
    ]
    assert len(commands) == 16
    said = {}
    for command in commands:
        words = shlex.split(command)
        found = run(*words[1:])
        assert found.exit_code == 0, (command, found.stderr)
        said[" ".join(words[1:4])] = found.stdout
    assert "All counts are multiples of 5" in said["site show va.misfeat"]
    assert (tmp_path / "everybody" / "report.html").is_file()
    assert "predicted" in said["ask everybody why"]


def test_the_code_of_the_page_runs(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(code, "sites.md", "exec"), {})  # noqa: S102
    assert "site=va" in capsys.readouterr().out
