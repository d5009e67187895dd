"""Runs that are saved, and their reports; `ask`, `export` and `compare` are tried elsewhere."""

import re
import sys

import pytest

from misfeat import Selection, SubgroupSelector
from misfeat.cli.settings_file import saved_settings
from tests.cli.commands import QUICK, done, refused, run

pytestmark = pytest.mark.usefixtures("few_resamples")

QUESTIONS = ("answer", "enough", "plan", "significance", "stability", "worth")
FILES = ["answers.json", "arrays.safetensors", "report.html", "run.toml", "selection.json"]


@pytest.fixture
def saved(table, tmp_path):
    """A saved run without a report."""
    folder = tmp_path / "saved"
    selector = SubgroupSelector("site", size=2, completer="interactions").fit(table, "y")
    selector.save(folder)
    return folder


def test_a_run_is_saved_with_its_settings_and_its_report(table, tmp_path):
    folder = tmp_path / "runs" / "first"
    result = done("run", table, *QUICK, "--json", "--out", str(folder))
    assert sorted(file.name for file in folder.iterdir()) == FILES
    assert f"Report: {folder / 'report.html'}" in result.stderr
    assert result.stdout == run("run", table, *QUICK, "--json").stdout
    again = run("run", "--config", str(folder / "run.toml"), "--json")
    assert again.stdout == result.stdout
    assert SubgroupSelector.load(folder).verbose == 0


def test_a_folder_of_others_is_refused_before_the_work_and_none_is_left_by_a_failure(
    tmp_path, table
):
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "a.txt").write_text("dear")
    (tmp_path / "file").write_text("")
    for out in ("letters", "file", "file/below"):
        said = refused("run", "no-table.csv", "--target", "y", "--out", str(tmp_path / out))
        assert "no-table.csv" not in said
    folder = tmp_path / "run"
    assert run("run", table, "--target", "none", "--out", str(folder)).exit_code == 2
    assert not folder.exists()


def test_the_current_folder_can_be_saved_to_and_stays_the_current_one(table, tmp_path, monkeypatch):
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for top in ("2", "3"):  # into an empty folder, and over a run
        done("run", table, *QUICK, "--top", top, "--out", ".")
        assert SubgroupSelector.load(".").k == int(top)
        assert sorted(file.name for file in folder.iterdir()) == FILES


def test_the_report_of_a_saved_run_is_written(saved, tmp_path):
    assert done("report", str(saved)).stderr == f"Report: {saved / 'report.html'}\n"
    assert "site=a" in (saved / "report.html").read_text(encoding="utf-8")
    elsewhere = tmp_path / "page.html"
    assert run("report", str(saved), "--out", str(elsewhere), "--quiet").stderr == ""
    done("report", str(saved), "--out", str(elsewhere), "--title", "Four & twenty sites")
    assert "Four &amp; twenty sites" in elsewhere.read_text(encoding="utf-8")


def timeless(file):
    """A report without the moment it was made."""
    return re.sub(r'<time datetime="[^"]*"', "", file.read_text(encoding="utf-8"))


def test_a_report_that_is_written_again_keeps_the_costs_and_the_title_of_the_run(table, tmp_path):
    folder = tmp_path / "run"
    titled = ("--title", "Two sites", "--out", str(folder))
    done("run", table, *QUICK, "--cost", "z=7", *titled)
    first = timeless(folder / "report.html")
    elsewhere = tmp_path / "again.html"
    done("report", str(folder), "--out", str(elsewhere))
    assert saved_settings(str(folder)).costs() == {"z": 7}
    (folder / "run.toml").unlink()
    assert saved_settings(str(folder)).costs() == {}
    done("report", str(folder), "--out", str(tmp_path / "plain.html"))
    again, plain = (timeless(tmp_path / name) for name in ("again.html", "plain.html"))
    assert again == first
    assert "Two sites" in again
    assert again != plain


def test_a_report_is_not_written_through_a_link_in_a_received_folder(saved, tmp_path):
    (tmp_path / "letter.txt").write_text("dear")
    (saved / "report.html").symlink_to(tmp_path / "letter.txt")
    assert run("report", str(saved)).exit_code == 0
    assert (tmp_path / "letter.txt").read_text() == "dear"
    assert "site=a" in (saved / "report.html").read_text(encoding="utf-8")


def test_answers_are_kept_where_the_report_fails(table, tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("misfeat.cli.run.report_of", interrupted)
    folder = tmp_path / "run"
    assert run("run", table, *QUICK, "--out", str(folder)).exit_code != 0
    kept = {file.name for file in folder.iterdir()}
    assert kept == {*FILES} - {"report.html"}
    assert SubgroupSelector.load(folder).size == 2


def test_what_a_run_worked_out_is_not_worked_out_again(table, tmp_path, monkeypatch):
    folder = tmp_path / "run"
    assert run("run", table, *QUICK, "--out", str(folder)).exit_code == 0
    said = {question: run("ask", str(folder), question).stdout for question in QUESTIONS}
    page = (folder / "report.html").read_text(encoding="utf-8")

    def refuse(*_):
        raise AssertionError("worked out again")

    monkeypatch.setattr("misfeat.estimation.significance.max_test", refuse)
    monkeypatch.setattr("misfeat.answers.subgroup_significance.max_test", refuse)
    monkeypatch.setattr("misfeat.answers.performance._classes", refuse)
    monkeypatch.setattr("misfeat.answers.stability.resampled", refuse)
    monkeypatch.setattr("misfeat.answers.validation.trust", refuse)
    for question, words in said.items():
        assert run("ask", str(folder), question).stdout == words
    assert run("report", str(folder)).exit_code == 0
    again = (folder / "report.html").read_text(encoding="utf-8")
    assert re.sub(r"<time.*?</time>", "", again) == re.sub(r"<time.*?</time>", "", page)


def test_a_further_question_is_kept_and_a_damaged_memory_is_passed_over(table, saved):
    before = run("ask", str(saved), "significance").stdout
    kept = saved / "answers.json"
    whole = kept.read_bytes()
    assert b"significance" in whole
    for damaged in (whole[:-9], whole.replace(b"significance", b"significances"), b"[]", b"\xff"):
        kept.write_bytes(damaged)
        assert run("ask", str(saved), "significance").stdout == before
    assert kept.read_bytes() == whole
    saved.chmod(0o500)
    try:  # a folder that cannot be written is read all the same
        assert run("ask", str(saved), "enough").exit_code == 0
    finally:
        saved.chmod(0o700)


def test_a_memory_of_another_run_is_passed_over(table, saved, tmp_path):
    other = tmp_path / "other"
    SubgroupSelector("site", size=1).fit(table, "y").save(other)
    run("ask", str(other), "significance")
    (saved / "answers.json").write_bytes((other / "answers.json").read_bytes())
    assert not Selection.load(saved)._answers


def test_the_best_sets_are_said_before_they_are_tested(with_progress, table):
    result = run("run", table, *QUICK)
    assert "Provisional, before tests (which may drop features):\n• site=a: " in result.stderr
    assert "p = " not in result.stderr
    assert "First look" not in run("run", table, *QUICK, "--quiet").stderr


def test_timings_of_all_steps_add_up(table, tmp_path):
    result = run("run", table, *QUICK, "--quiet", "--timings", "--out", str(tmp_path / "run"))
    seconds = re.findall(r"^ *(\d+\.\d+) s  (\S.*)$", result.stderr, re.MULTILINE)
    steps = {name: float(number) for number, name in seconds}
    assert {"Starting", "Scoring feature sets", "Writing the report"} <= set(steps)
    whole = steps.pop("All")
    assert abs(whole - sum(steps.values())) < 0.01 * len(steps)


def test_a_report_can_be_opened(saved, tmp_path, monkeypatch):
    opened = tmp_path / "opened"
    code = f"import sys; open({str(opened)!r}, 'w').write(sys.argv[1])"
    monkeypatch.setenv("BROWSER", f'{sys.executable} -c "{code}" %s')
    assert run("report", str(saved), "--open").exit_code == 0
    assert opened.read_text() == (saved / "report.html").as_uri()
