from __future__ import annotations

import json

import pytest

from misfeat import __version__, memory
from tests.cli.commands import ASKED, QUICK, TABLE, run


def lines_of(result, kind: str) -> list[dict]:
    assert result.exit_code == 0, result.stderr
    return [line for line in map(json.loads, result.stdout.splitlines()) if line["kind"] == kind]


def test_json_lines_hold_the_subgroups_and_then_their_sets(table):
    asked = ["--target", "y", "--by", "site", "--size", "2", "--completer", "gain"]
    result = run("run", table, *asked, "--json")
    assert result.exit_code == 0
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [line["kind"] for line in lines] == ["subgroup", "subgroup", "set", "set", "worth"]
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
    assert len(lines) == 4 + 4 * 5 + 3
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


def test_names_with_an_equals_sign_can_have_codes_and_costs(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(TABLE.replace("site,x,z,y", "site,a=b,z=1,y"))
    asked = ("run", str(path), *QUICK, "--size", "1", "--json", "--cost", "z=1=3")
    found = run(*asked, "--missing", "a=b=0", "--missing", "a=b=1")
    (worth,) = lines_of(found, "worth")
    assert worth["cost"] == 3
    assert {*lines_of(found, "set")[0]["features"]} == {"z=1"}
    assert "Feature 'a=b' is missing in every cohort" in found.stderr


def test_the_version_can_be_asked_for():
    assert run("--version").stdout.strip() == f"misfeat {__version__}"


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


def test_what_is_worth_collecting_follows_the_sets_and_counts_costs(heart_path):
    arguments = ["run", str(heart_path), "--target", "num", "--by", "site", "--size", "2"]
    worths = lines_of(run(*arguments, "--cost", "ca=5", "--json"), "worth")
    assert [(w["subgroup"], w["feature"]) for w in worths] == [
        ("site=hungarian", "ca"),
        ("site=switzerland", "ca"),
        ("site=va", "ca"),
    ]
    for worth in worths:
        assert worth["cost"] == 5
        assert worth["gain_per_cost"] == pytest.approx(worth["gain"] / 5)
        assert "ca" in worth["best_set"]
    shown = run(*arguments, "--cost", "ca=5").stdout
    assert shown.index("site=va\n") < shown.index("Worth collecting")
    assert "per cost" in shown
    assert "Worth collecting" not in run(*arguments, "--no-worth").stdout


def test_a_worth_that_cannot_be_computed_is_null_in_json(table):
    (worth,) = lines_of(run("run", table, *ASKED, "--json"), "worth")
    assert worth["feature"] == "z"
    assert worth["joined"] is None  # there is no third feature to make a larger set with


def test_nothing_is_worth_collecting_where_everything_was_recorded(table):
    result = run("run", table, "--target", "y", "--by", "x", "--size", "1", "--exclude", "z")
    assert "Worth collecting" not in result.stdout
    assert "Every subgroup recorded every feature." in result.stdout
    assert "between" not in result.stdout


def test_a_worth_beyond_memory_is_a_note_and_the_sets_are_shown(monkeypatch, tmp_path):
    path = tmp_path / "wide.csv"
    names = [f"f{number}" for number in range(8)]
    rows = [
        ["ab"[n % 2], *(n * (f + 3) // 7 % 2 for f in range(8)), n * 5 // 3 % 2] for n in range(80)
    ]
    for row in rows:
        row[8] = "" if row[0] == "b" else row[8]
    lines = [["site", *names, "y"], *rows]
    path.write_text("\n".join(",".join(map(str, line)) for line in lines))
    between = (memory.memory_needed(8, 2, 2) + memory.memory_needed(8, 3, 2)) / 2
    monkeypatch.setattr(memory, "available_memory", lambda: between)
    result = run("run", str(path), *ASKED, "--completer", "gain", "--memory-limit", "1")
    assert result.exit_code == 0, result.stderr
    assert "note: What is worth collecting is not shown. Scoring and completing" in result.stderr
    assert "f7*" in result.stdout
    assert "Worth collecting" not in result.stdout


def test_features_can_be_included_and_excluded(heart_path):
    arguments = ["run", str(heart_path), "--target", "num", "--by", "site", "--size", "2", "--json"]
    sets = lines_of(run(*arguments, "--include", "sex", "--exclude", "ca"), "set")
    assert all("sex" in line["features"] and "ca" not in line["features"] for line in sets)
    assert lines_of(run(*arguments, "--exclude", "ca"), "worth") == []


def test_blocks_enter_sets_together(heart_path):
    arguments = ["run", str(heart_path), "--target", "num", "--by", "site", "--size", "1"]
    sets = lines_of(run(*arguments, "--block", "ecg=restecg,slope", "--top", "99", "--json"), "set")
    features = {line["features"][0] for line in sets}
    assert "ecg" in features
    assert not features & {"restecg", "slope"}


def test_bins_that_follow_the_target_tell_most(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{x},{int(20 < x <= 30)}\n" * 2 for x in range(11, 41)))
    asked = ("run", str(path), "--target", "y", "--size", "1", "--json")
    scores = {
        bins: lines_of(run(*asked, *bins), "set")[0]["score"]
        for bins in ((), ("--bins", "2"), ("--bins", "x=2"), ("--bins", "x=20,30"))
    }
    assert scores["--bins", "2"] == scores["--bins", "x=2"]
    assert scores["--bins", "2"] < scores[()] < scores["--bins", "x=20,30"]
    assert scores["--bins", "x=20,30"] == pytest.approx(0.6365, abs=1e-4)


@pytest.mark.parametrize(
    "options",
    [
        ("--binning", "uniform"),
        ("--max-categories", "3"),
        ("--missing-threshold", "0.5"),
        ("--sporadic", "available"),
        ("--min-rows", "150"),
        ("--min-rows", "150", "--small-groups", "drop"),
        ("--completer", "add"),
        ("--confidence", "0.5"),
        ("--measure", "r2"),
    ],
)
def test_every_choice_changes_the_answer(heart_path, options):
    arguments = ["run", str(heart_path), "--target", "num", "--by", "site", "--size", "2", "--json"]
    plain, changed = run(*arguments), run(*arguments, *options)
    assert changed.exit_code == 0, changed.stderr
    assert changed.stdout != plain.stdout


def test_samplers_choose_other_sets(heart_path):
    arguments = ["run", str(heart_path), "--target", "num", "--by", "site", "--size", "2", "--json"]
    sampled = ("--budget", "0.3", "--seed", "1", "--completer", "gain", "--sampler")
    answers = {run(*arguments, *sampled, name).stdout for name in ("randwalk", "arbitrary")}
    assert len(answers) == 2


def test_rows_without_a_group_can_be_dropped(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(TABLE + ",0,0,0\n,1,1,1\n")
    own = lines_of(run("run", str(path), *ASKED, "--json"), "subgroup")
    dropped = run("run", str(path), *ASKED, "--missing-groups", "drop", "--json")
    assert [line["subgroup"] for line in own] == ["site=a", "site=b", "site is missing"]
    assert len(lines_of(dropped, "subgroup")) == 2


def test_a_run_says_how_far_to_trust_it_when_asked(heart_path):
    arguments = ["run", str(heart_path), "--target", "num", "--by", "site", "--size", "2"]
    assert "features hidden on purpose" in run(*arguments, "--validate").stdout
    (found,) = lines_of(run(*arguments, "--validate", "--json"), "validation")
    assert "features hidden on purpose" in found["text"]
    assert "hidden on purpose" not in run(*arguments).stdout
