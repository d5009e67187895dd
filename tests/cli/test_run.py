from __future__ import annotations

import json
from contextlib import contextmanager

import pytest

from misfeat import __version__
from misfeat.runtime import memory
from tests.cli.commands import ASKED, QUICK, TABLE, run


@pytest.fixture(scope="module")
def heart(heart_path):
    """What is asked of the heart table where it does not matter how scores are predicted."""
    asked = ("run", str(heart_path), "--target", "num", "--by", "site", "--size", "2")
    return [*asked, "--completer", "transfer"]


@pytest.fixture(scope="module")
def heart_json(heart):
    return run(*heart, "--no-worth", "--json")


def lines_of(result, kind: str) -> list[dict]:
    assert result.exit_code == 0, result.stderr
    return [line for line in map(json.loads, result.stdout.splitlines()) if line["kind"] == kind]


def test_json_lines_hold_the_subgroups_and_then_their_sets(table):
    asked = ["--target", "y", "--by", "site", "--size", "2", "--completer", "interactions"]
    asked += ["--estimate", "sample"]
    result = run("run", table, *asked, "--json")
    assert result.exit_code == 0
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    kinds = ["subgroup", "subgroup", "set", "set", "worth", "answer", "answer", "answer"]
    assert [line["kind"] for line in lines] == kinds
    assert lines[1]["missing"] == ["z"]
    assert lines[3] == {
        "kind": "set",
        "subgroup": "site=b",
        "rank": 1,
        "features": ["x", "z"],
        "score": pytest.approx(0.693147, abs=1e-6),
        "low": 0.0,
        "high": pytest.approx(0.693147, abs=1e-6),
        "share": pytest.approx(1.0),
        "observed": None,
        "p_value": None,
        "source": "predicted",
        "missing": ["z"],
        "support": "joint",
        "spread": None,
    }


def test_tables_come_before_the_sentences_and_mark_what_was_never_recorded(table):
    asked = ("run", table, "--target", "y", "--by", "site", "--size", "2")
    result, plain = run(*asked, "--tables"), run(*asked)
    assert result.exit_code == 0
    assert "x, z*" in result.stdout
    assert "predicted" in result.stdout
    assert "nats" in result.stdout
    assert result.stdout.endswith(plain.stdout)
    assert "nats" not in plain.stdout


@pytest.mark.usefixtures("few_resamples")
def test_it_is_said_how_to_see_more(table, tmp_path):
    folder = tmp_path / "a run"
    assert "--tables shows the best sets; --out DIR saves" in run("run", table, *QUICK).stderr
    assert "--tables shows" not in run("run", table, *QUICK, "--tables").stderr
    assert "More:" not in run("run", table, *QUICK, "--json").stderr
    saved = run("run", table, *QUICK, "--out", str(folder))
    assert f"More:   misfeat ask '{folder}' QUESTION" in saved.stderr
    assert "left out" in saved.stdout  # the report has validated


def test_notes_go_to_standard_error_unless_quiet(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        TABLE.replace("site,x", "empty,site,x").replace("\na", "\n,a").replace("\nb", "\n,b")
    )
    arguments = ["run", str(path), "--target", "y", "--by", "site", "--size", "1"]
    loud, quiet = run(*arguments), run(*arguments, "--quiet")
    assert "note: Feature 'empty' is missing in every subgroup" in loud.stderr
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
    assert "Feature 'a=b' is missing in every subgroup" in found.stderr


def test_the_version_can_be_asked_for():
    assert run("--version").stdout.strip() == f"misfeat {__version__}"


@pytest.mark.slow
def test_measure_budget_and_threads_can_be_chosen(heart):
    correlated = ("--completer", "interactions", "--measure", "r2")
    plain = run(*heart, "--no-worth", *correlated, "--jobs", "1", "--quiet", "--tables")
    assert "squared multiple correlation" in plain.stdout
    part = ("--budget", "0.3", "--seed", "1", "--estimate", "sample")
    sampled = (*heart, "--no-worth", *part, "--top", "78", "--json")
    found = run(*sampled)
    assert any(
        line["source"] == "predicted" and not line["missing"] for line in lines_of(found, "set")
    )
    assert found.stdout == run(*sampled, "--jobs", "1").stdout


def test_what_is_worth_collecting_follows_the_sets_and_counts_costs(heart):
    worths = lines_of(run(*heart, "--cost", "ca=5", "--json"), "worth")
    assert [(w["subgroup"], w["feature"]) for w in worths] == [
        ("site=hungarian", "ca"),
        ("site=switzerland", "ca"),
        ("site=va", "ca"),
    ]
    for worth in worths:
        assert worth["cost"] == 5
        assert worth["gain_per_cost"] == pytest.approx(worth["gain"] / 5)
        assert "ca" in worth["best_set"]
    shown = run(*heart, "--cost", "ca=5", "--tables").stdout
    assert shown.index("site=va\n") < shown.index("Worth collecting")
    assert "per cost" in shown


def test_memory_is_limited_while_the_table_is_answered(monkeypatch, table):
    shares = []

    @contextmanager
    def limit(share):
        shares.append(share)
        yield
        shares.append("over")

    monkeypatch.setattr(memory, "memory_limit", limit)
    assert run("run", table, *QUICK, "--memory-limit", "0.3").exit_code == 0
    assert run("run", table, *QUICK).exit_code == 0
    assert shares == [0.3, "over"]


def test_subgroups_are_cut_sizes_too_large_noted_and_what_to_collect_left_out(table):
    result = run("run", table, "--target", "y", "--by", "x:0", "--size", "1", "--json")
    names = {line["subgroup"] for line in lines_of(result, "subgroup")}
    assert names == {"x<=0", "x>0"}
    for heading, more in (("Worth recording", ()), ("Worth collecting", ("--tables",))):
        assert heading in run("run", table, *QUICK, *more).stdout
        assert heading not in run("run", table, *QUICK, *more, "--no-worth").stdout
    found = run("run", table, *QUICK, "--size", "9", "--json")
    assert lines_of(found, "set")[0]["features"] == ["x", "z"]
    assert (
        "note: --size 9 is greater than the number of features, 2; all features are taken.\n"
        in found.stderr
    )


def test_features_can_be_included_and_excluded(heart):
    chosen = run(*heart, "--no-worth", "--json", "--include", "sex", "--exclude", "ca")
    for line in lines_of(chosen, "set"):
        assert "sex" in line["features"]
        assert "ca" not in line["features"]
    assert lines_of(run(*heart, "--exclude", "ca", "--json"), "worth") == []


def test_blocks_enter_sets_together(heart):
    asked = ("--size", "1", "--no-worth", "--block", "ecg=restecg,slope", "--top", "99", "--json")
    features = {line["features"][0] for line in lines_of(run(*heart, *asked), "set")}
    assert "ecg" in features
    assert not features & {"restecg", "slope"}


def test_bins_that_follow_the_target_tell_most(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{x},{int(20 < x <= 30)}\n" * 2 for x in range(11, 41)))
    asked = ("run", str(path), "--target", "y", "--size", "1", "--estimate", "sample", "--json")
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
        ("--max-categories", "3"),
        ("--missing-threshold", "0.5"),
        ("--min-rows", "150"),
        ("--min-rows", "150", "--small-groups", "drop"),
        ("--confidence", "0.5"),
        ("--completer", "interactions"),
        ("--completer", "interactions", "--measure", "r2"),
    ],
)
def test_every_choice_changes_the_answer(heart, heart_json, options):
    changed = run(*heart, "--no-worth", "--json", *options)
    assert changed.exit_code == 0, changed.stderr
    assert changed.stdout != heart_json.stdout


def test_rows_without_a_group_can_be_dropped(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(TABLE + ",0,0,0\n,1,1,1\n")
    own = lines_of(run("run", str(path), *ASKED, "--json"), "subgroup")
    dropped = run("run", str(path), *ASKED, "--missing-groups", "drop", "--json")
    assert [line["subgroup"] for line in own] == ["site=a", "site=b", "site is missing"]
    assert len(lines_of(dropped, "subgroup")) == 2


@pytest.mark.slow
def test_a_run_says_how_far_to_trust_it_when_asked(heart, heart_json):
    asked = (*heart, "--no-worth", "--validate")
    assert "features hidden on purpose" in run(*asked).stdout
    (found,) = lines_of(run(*asked, "--json"), "validation")
    assert "features hidden on purpose" in found["text"]
    assert "hidden on purpose" not in heart_json.stdout


def test_how_text_is_read_can_be_said_and_is_advised_in_the_same_words(tmp_path):
    path = tmp_path / "loans.csv"
    rows = "".join(f"0{i % 9 + 1}/0{i % 7 + 1}/2019,{i % 3},{i % 2}\n" for i in range(60))
    path.write_text(f"opened,x,y\n{rows}", encoding="utf-8")
    asked = ("run", str(path), "--target", "y", "--size", "1", "--no-worth")
    assert "--read 'opened=day first'" in " ".join(run(*asked).stderr.split())
    told = run(*asked, "--read", "opened=day first")
    assert told.exit_code == 0
    assert "in another way" not in told.stderr
    refused = run(*asked, "--read", "opened=backwards")
    assert refused.exit_code != 0
    assert "backwards" in refused.stderr
