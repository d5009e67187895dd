from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from misfeat import __version__
from misfeat.cli import app

TABLE = "site,x,z,y\n" + "".join(
    f"{site},{x},{'' if site == 'b' else z},{(x + z) % 2}\n"
    for site in "ab"
    for x in (0, 1)
    for z in (0, 1)
    for _ in range(5)
)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(TABLE)
    return str(path)


def run(*arguments: str):
    return CliRunner().invoke(app, list(arguments))


def test_json_lines_hold_the_subgroups_and_then_their_sets(table):
    asked = ["--target", "y", "--by", "site", "--size", "2", "--completer", "gain"]
    result = run("run", table, *asked, "--json")
    assert result.exit_code == 0
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [line["kind"] for line in lines] == ["subgroup", "subgroup", "set", "set"]
    assert lines[1]["missing"] == ["z"]
    assert lines[3] == {
        "kind": "set",
        "subgroup": "site=b",
        "rank": 1,
        "features": ["x", "z"],
        "score": pytest.approx(0.693147, abs=1e-6),
        "low": 0.0,
        "high": pytest.approx(0.693147, abs=1e-6),
        "source": "predicted",
        "missing": ["z"],
        "support": "joint",
    }


def test_tables_mark_what_was_never_recorded(table):
    result = run("run", table, "--target", "y", "--by", "site", "--size", "2")
    assert result.exit_code == 0
    assert "x, z*" in result.stdout
    assert "predicted" in result.stdout
    assert "in nats" in result.stdout


def test_heart_is_answered_with_its_gaps(heart_path):
    arguments = ["run", str(heart_path), "--target", "num", "--by", "site", "--size", "2"]
    lines = run(*arguments, "--top", "5", "--json").stdout.splitlines()
    subgroups = [row for row in map(json.loads, lines) if row["kind"] == "subgroup"]
    assert [row["missing"] for row in subgroups] == [[], ["ca"], ["ca"], ["ca"]]
    assert len(lines) == 4 + 4 * 5
    coded = run(*arguments, "--json", "--missing", "chol=0").stdout.splitlines()
    assert json.loads(coded[2])["missing"] == ["chol", "ca"]


def test_subgroups_can_be_cut_on_the_command_line(table):
    result = run("run", table, "--target", "y", "--by", "x:0", "--size", "1", "--json")
    names = {json.loads(line)["subgroup"] for line in result.stdout.splitlines()}
    assert names == {"x<=0", "x>0"}


def test_notes_go_to_standard_error_unless_quiet(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        TABLE.replace("site,x", "empty,site,x").replace("\na", "\n,a").replace("\nb", "\n,b")
    )
    arguments = ["run", str(path), "--target", "y", "--by", "site", "--size", "1"]
    loud, quiet = run(*arguments), run(*arguments, "--quiet")
    assert "note: Feature 'empty' is missing in every cohort" in loud.stderr
    assert quiet.stderr == ""
    assert loud.stdout == quiet.stdout


def test_errors_take_one_line_and_a_traceback_only_when_asked_for(table):
    result = run("run", table, "--target", "yy")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: The table has no column 'yy'")
    assert result.stderr.count("\n") == 1
    assert run("run", table, "--target", "yy", "--debug").exception is not None
    assert not isinstance(run("run", table, "--target", "yy", "--debug").exception, SystemExit)


def test_the_version_can_be_asked_for():
    assert run("--version").stdout.strip() == f"misfeat {__version__}"


def test_the_demo_writes_a_table_and_its_result(tmp_path):
    folder = tmp_path / "demo"
    result = run("demo", "--out", str(folder))
    assert result.exit_code == 0
    assert "top_k.jsonl" in result.stdout
    assert "what the population holds" in result.stdout
    again = run(
        "run",
        str(folder / "clinics.csv"),
        "--target",
        "ill",
        "--by",
        "clinic",
        "--top",
        "5",
        "--json",
    )
    assert again.stdout == (folder / "top_k.jsonl").read_text()


def test_measure_budget_and_threads_can_be_chosen(heart_path):
    arguments = ["run", str(heart_path), "--target", "num", "--by", "site", "--size", "2"]
    plain = run(*arguments, "--measure", "r2", "--jobs", "1", "--quiet")
    assert "squared multiple correlations" in plain.stdout
    lines = run(*arguments, "--budget", "0.3", "--seed", "1", "--top", "78", "--json").stdout
    rows = [json.loads(line) for line in lines.splitlines()]
    unsampled = [r for r in rows if r["kind"] == "set" and r["source"] == "predicted"]
    assert any(not row["missing"] for row in unsampled)
    assert (
        lines
        == run(
            *arguments, "--budget", "0.3", "--seed", "1", "--top", "78", "--json", "--jobs", "1"
        ).stdout
    )
