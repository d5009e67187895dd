"""Four sites with four folders, which summarise in four processes, by the docs' commands alone."""

import csv
import json
import re
import shlex
import subprocess
import sys
from contextlib import chdir
from pathlib import Path

import pytest

from misfeat import Selection
from misfeat.cli.errors import SOME_REFUSED
from misfeat.sites import read_codebook, read_summary
from tests.cli.commands import done, refused, run
from tests.sites.conftest import tables_by_site

pytestmark = pytest.mark.slow  # processes, or very many draws

SITES = ("cleveland", "hungarian", "switzerland", "va")
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


def started(folder, *words):
    """A process of its own that sees the folder of one site only."""
    command = [sys.executable, "-m", "misfeat", "site", *words]
    return subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def at_all_sites(folder, *words):
    """The same command at all sites at once; {site} stands for the site."""
    running = [started(folder / one, *(word.format(site=one) for word in words)) for one in SITES]
    for process in running:
        said = process.communicate(timeout=600)
        assert process.returncode == 0, said


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    pytest.importorskip("cryptography")
    folder = tmp_path_factory.mktemp("sites")
    write_hospitals(folder)
    for one in SITES:
        done("site", "key", "--out", str(folder / one / "site.key"))
    for one in SITES:
        with chdir(folder / one):
            words = ["heart.csv", "--target", "num", "--site", one, "--key", "site.key"]
            done("site", "propose", *words, "--out", "p.json")
    proposals = [str(folder / one / "p.json") for one in SITES]
    done("site", "agree", *proposals, "--out", str(folder / "codebook.json"))
    at_all_sites(
        folder,
        *["summarise", "heart.csv", "--codebook", "../codebook.json", "--site", "{site}"],
        *["--key", "site.key", "--out", "{site}.misfeat"],
    )
    return folder


def files(shared):
    return {one: shared / one / f"{one}.misfeat" for one in SITES}


def test_four_sites_get_an_ordinary_run_with_its_report(shared, tmp_path):
    combined = map(str, files(shared).values())
    found = done("site", "combine", *combined, "--out", str(tmp_path / "r"))
    assert "site=va" in found.stdout
    assert "Refused" not in found.stderr
    assert (tmp_path / "r" / "report.html").stat().st_size > 10_000
    selection = Selection.load(tmp_path / "r")
    assert selection.cohorts.names == tuple(f"site={one}" for one in SITES)
    asked = done("ask", str(tmp_path / "r"), "why", "--subgroup", "va", "--feature", "ca")
    assert "predicted" in asked.stdout
    assert "only counts of them" in refused("ask", str(tmp_path / "r"), "significance")


def test_forged_outdated_and_truncated_files_are_refused_by_name(shared, tmp_path):
    held = files(shared)
    forged, outdated, truncated = (tmp_path / f"{one}.misfeat" for one in SITES[:3])
    whole = held["switzerland"].read_bytes()
    truncated.write_bytes(whole[: len(whole) // 2])
    # Signed with a key that is not the one the site proposed with.
    stranger = tmp_path / "strange.key"
    done("site", "key", "--out", str(stranger))
    from misfeat.sites import read_key, write_summary

    write_summary(read_summary(held["cleveland"]), forged, read_key(stranger))
    # Made with the codebook before the last one.
    old = tmp_path / "old.json"
    proposals = [str(shared / one / "p.json") for one in SITES]
    done("site", "agree", *proposals, "--out", str(old), "--edition", "7")
    place = shared / "hungarian"
    done(
        *("site", "summarise", str(place / "heart.csv"), "--codebook", str(old)),
        *("--site", "hungarian", "--key", str(place / "site.key"), "--out", str(outdated)),
    )
    given = [forged, outdated, truncated, held["va"], held["hungarian"], held["switzerland"]]
    found = run("site", "combine", *map(str, given), "--out", str(tmp_path / "r"), "--size", "1")
    assert found.exit_code == SOME_REFUSED, found.stderr
    said = [line for line in found.stderr.splitlines() if line.startswith("Refused")]
    assert len(said) == 3
    by_file = {
        one: line for one in (forged, outdated, truncated) for line in said if str(one) in line
    }
    assert "signed with the key" in by_file[forged]
    assert "edition 7, " in by_file[outdated]
    assert "cut off" in by_file[truncated]
    names = Selection.load(tmp_path / "r").cohorts.names
    assert names == ("site=hungarian", "site=switzerland", "site=va")


def test_a_person_reads_what_leaves_the_house(shared):
    said = done("site", "show", str(files(shared)["va"])).stdout
    assert "Rows: about" in said
    assert "Never recorded: ca." in said
    assert "All counts are multiples of 5" in said
    assert "Smallest count: 5." in said
    assert "What could be worked out:" in said


def test_what_is_agreed_holds_no_counts(shared):
    codebook = read_codebook(shared / "codebook.json")
    assert set(codebook.sites) == set(SITES)
    proposal = json.loads((shared / "va" / "p.json").read_text())
    assert set(proposal) == {
        *("format", "version", "site", "target", "features"),
        *("signed_by", "checksum", "signature"),
    }
    said = {"column", "kind", "edges", "values", "exact"}
    assert all(set(one) == said for one in proposal["features"])


SUMMARISE = "summarise TABLE --site va --codebook BOOK --out OUT/va.misfeat"
PROPOSE = "propose TABLE --target num --site va --key KEY"
REFUSED = [
    (f"{SUMMARISE} --key OTHER_KEY", "another key of 'va'"),
    (SUMMARISE, "has a key of 'va'"),
    (SUMMARISE.replace("BOOK", "ALTERED"), "damaged or was altered"),
    (f"{PROPOSE} --out TABLE", "is a file that is read"),
    (f"{PROPOSE} --out KEY", "is a file that is read"),
    ("combine TABLE --out OUT/run", "no file of misfeat"),
]
"""What a site may not do, and a part of what it is told."""


def test_what_a_site_may_not_do_is_said(shared, tmp_path):
    text = (shared / "codebook.json").read_text()
    (tmp_path / "codebook.json").write_text(text.replace('"chol"', '"cholesterol"'))
    paths = {
        "TABLE": shared / "va" / "heart.csv",
        "OTHER_KEY": shared / "cleveland" / "site.key",
        "KEY": shared / "va" / "site.key",
        "BOOK": shared / "codebook.json",
        "ALTERED": tmp_path / "codebook.json",
    }
    for words, message in REFUSED:
        given = [str(paths.get(w, w.replace("OUT", str(tmp_path)))) for w in words.split()]
        assert message in refused("site", *given), words


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
