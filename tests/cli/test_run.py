from contextlib import contextmanager

import pytest

from misfeat import __version__
from misfeat.runtime import memory
from tests.cli.commands import ASKED, QUICK, TABLE, done, json_lines, refused, run


@pytest.fixture(scope="module")
def heart(heart_path):
    """What is asked of the heart table where it does not matter how scores are predicted."""
    asked = ("run", str(heart_path), "--target", "num", "--by", "site", "--size", "2")
    return [*asked, "--completer", "transfer"]


def lines_of(kind: str, *arguments: str) -> list[dict]:
    return [line for line in json_lines(*arguments) if line["kind"] == kind]


def test_json_lines_hold_the_subgroups_and_then_their_sets(table):
    lines = json_lines("run", table, *QUICK, "--estimate", "sample")
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
    result, plain = done("run", table, *ASKED, "--tables"), run("run", table, *ASKED)
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


def test_the_version_can_be_asked_for():
    assert run("--version").stdout.strip() == f"misfeat {__version__}"


@pytest.mark.slow
def test_what_is_worth_collecting_follows_the_sets_and_counts_costs(heart):
    worths = lines_of("worth", *heart, "--cost", "ca=5")
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
    assert shown.index("site=va\n") < shown.index("Which unrecorded feature")
    assert " cost " in shown


def test_memory_is_limited_while_the_table_is_answered(monkeypatch, table):
    shares = []

    @contextmanager
    def limit(share):
        shares.append(share)
        yield
        shares.append("over")

    monkeypatch.setattr(memory, "memory_limit", limit)
    done("run", table, *QUICK, "--memory-limit", "0.3")
    done("run", table, *QUICK)
    assert shares == [0.3, "over"]


def test_subgroups_are_cut_sizes_too_large_noted_and_what_to_collect_left_out(table):
    cut = lines_of("subgroup", "run", table, "--target", "y", "--by", "x:0", "--size", "1")
    names = {line["subgroup"] for line in cut}
    assert names == {"x<=0", "x>0"}
    for heading, more in (("Worth recording", ()), ("Which unrecorded feature", ("--tables",))):
        assert heading in run("run", table, *QUICK, *more).stdout
        assert heading not in run("run", table, *QUICK, *more, "--no-worth").stdout
    too_large = ("run", table, *QUICK, "--size", "9")
    assert lines_of("set", *too_large)[0]["features"] == ["x", "z"]
    said = run(*too_large, "--json").stderr
    assert "note: --size 9 is greater than n_features=2; all features are taken.\n" in said


@pytest.mark.slow
def test_a_run_says_how_far_to_trust_it_when_asked(heart):
    asked = (*heart, "--no-worth", "--validate")
    assert "features hidden on purpose" in run(*asked).stdout
    (found,) = lines_of("validation", *asked)
    assert "features hidden on purpose" in found["text"]
    assert "hidden on purpose" not in run(*heart, "--no-worth", "--json").stdout


def test_how_text_is_read_can_be_said_and_is_advised_in_the_same_words(tmp_path):
    path = tmp_path / "loans.csv"
    rows = "".join(f"0{i % 9 + 1}/0{i % 7 + 1}/2019,{i % 3},{i % 2}\n" for i in range(60))
    path.write_text(f"opened,x,y\n{rows}", encoding="utf-8")
    asked = ("run", str(path), "--target", "y", "--size", "1", "--no-worth")
    assert "--read 'opened=day first'" in " ".join(run(*asked).stderr.split())
    assert "in another way" not in done(*asked, "--read", "opened=day first").stderr
    assert "backwards" in refused(*asked, "--read", "opened=backwards")
