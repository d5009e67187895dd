import re
import subprocess
import sys

import pytest

from misfeat import SubgroupSelector
from misfeat.answers.top_sets import best_sets
from misfeat.cli.app import _has_screen
from misfeat.show.answer_with_map import first_screen
from tests.cli.commands import run


@pytest.fixture(scope="module")
def hospitals(few_resamples_in_module, tmp_path_factory):
    """The demonstration into a folder that holds an earlier run, where there is a screen."""
    folder = tmp_path_factory.mktemp("hospitals") / "demo"
    SubgroupSelector(size=1).fit({"x": [0, 1], "y": [0, 1]}, "y").save(folder)
    opened = folder.parent / "opened"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISPLAY", ":0")
        patch.setattr("webbrowser.open", opened.write_text)
        result = run("demo", "--out", str(folder), "--open")
    assert result.exit_code == 0, result.stderr
    return result.stdout, folder


def on_one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def test_the_report_is_opened_where_there_is_a_screen(hospitals, monkeypatch):
    _, folder = hospitals
    assert (folder.parent / "opened").read_text() == (folder / "report.html").as_uri()
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    assert not _has_screen()


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


def test_the_first_screen_is_said_with_how_far_to_trust_it(hospitals):
    stdout, folder = hospitals
    said = on_one_line(stdout)
    selection = SubgroupSelector.load(folder).selection_
    screen = first_screen(selection)
    for sentence in (screen.sentence, *screen.recording):
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
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name in ('pandas', 'polars', 'duckdb', 'pyarrow'):\n"
        "            raise ModuleNotFoundError(name, name=name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "from misfeat.demo import run_demo\n"
        f"run_demo({str(tmp_path / 'demo')!r})"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    assert (tmp_path / "demo" / "report.html").is_file()


def test_what_cannot_be_shown_is_refused_before_any_work(tmp_path):
    page = tmp_path / "report.html"
    page.write_text("years of work")
    for out, said in ((tmp_path, "holds 'report.html'"), (page, "is a file; give a folder")):
        result = run("demo", "--out", str(out))
        assert result.exit_code == 2
        assert said in result.stderr
        assert result.stderr.count("\n") == 1
    assert page.read_text() == "years of work"
