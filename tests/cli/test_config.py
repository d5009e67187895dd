import tomllib

import pytest

from misfeat import Coding, SubgroupSelector
from misfeat.cli.run_options import RunSettings
from misfeat.cli.settings_file import IN_FILE, as_config, read_config
from tests.cli.commands import ASKED, refused, run


@pytest.fixture
def write(tmp_path):
    def written(text: str, name: str = "run.toml") -> str:
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return written


def test_a_file_is_enough_and_the_command_line_wins_over_it(table, write):
    config = write('table = "table.csv"\ntarget = "y"\nby = "site"\nsize = 2\njson = true\n')
    assert run("run", "--config", config).stdout == run("run", table, *ASKED, "--json").stdout
    config = write('target = "x"\nby = ["site"]\nsize = 1\njson = true\ntop = 7\n')
    asked = run("run", table, "--config", config, "--target", "y", "--size", "2", "--top", "10")
    assert asked.stdout == run("run", table, *ASKED, "--json").stdout


def test_a_file_can_merge_values_and_cut_numbers(heart_path, write):
    config = write('by = [{site = {va = "va", "*" = "others"}}, {age = [65]}]')
    asked = ("run", str(heart_path), "--target", "num", "--size", "1", "--json")
    shown = run(*asked, "--completer", "interactions", "--config", config).stdout
    for name in ("site=va & age>65", "site=others & age<=65"):
        assert f'"subgroup": "{name}"' in shown


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            'tarjet = "y"',
            "has a key 'tarjet', which is not an option of misfeat run; did you mean 'target'",
        ),
        ("missing_treshold = 0.5", "did you mean 'missing-threshold'?"),
        ("wheel = 1", "the options are table, target, event, by"),
        ('size = "three"', "must be an integer, or 'auto'."),
        ("size = true", "size = true must be an integer, or 'auto'."),
        ("size = 2.5", "size = 2.5 must be an integer, or 'auto'."),
        ('budget = "half"', 'budget = "half" must be a number.'),
        ("target = 1", "target = 1 must be a text."),
        ("json = 1", "json = 1 must be true or false."),
        ("missing = true", "missing = true must be a text, a number, a table, or a list of these."),
        ("by = [[40]]", "by = [[40]] must be a text, a number"),
        ("size = 2024-01-01", "size = 2024-01-01 must be an integer, or 'auto'."),
        ("min-rows = 1\nmin_rows = 2", "says 'min-rows' twice"),
        ("size = ", "is not a TOML file"),
        (f"size = {'9' * 5000}", "is not a TOML file"),
        (f"by = {'[' * 2000}", "is not a TOML file"),
    ],
)
def test_what_a_file_may_not_say_is_named(table, write, text, message):
    said = refused("run", table, "--config", write(text))
    assert message in said
    assert "run.toml" in said


def test_what_python_would_refuse_is_said_in_one_line(table, write):
    for text, message in (
        ("include = [1]", "--include"),
        ("by = [40]", "--by"),
        ("bins = 2.5", "--bins 2.5; it must be"),
        ("cost = {x = 'much'}", "--cost 'x=much'; it must be"),
        ("cost = [3]", "write it as mri=400."),
        ("block = {a = 'b'}", "give a list of features"),
    ):
        assert message in refused("run", table, "--config", write(f'target = "y"\n{text}')), text


def test_a_file_without_an_end_is_no_settings_file(table):
    assert "too large for settings" in refused("run", table, "--config", "/dev/zero")


def test_paths_in_a_file_start_from_its_folder(tmp_path, write, monkeypatch):
    config = write('table = "data/t.csv"\nout = "/elsewhere"')
    monkeypatch.chdir("/")
    found = read_config(config)
    assert found["table"] == str(tmp_path / "data" / "t.csv")
    assert found["out"] == "/elsewhere"


def test_defaults_are_those_of_the_selector():
    usual, asked = SubgroupSelector(coding=Coding()), RunSettings(quiet=True).selector()
    assert asked.n_jobs == -1
    assert repr(asked.set_params(n_jobs=None)) == repr(usual)


def test_settings_that_are_written_are_read_back_the_same(tmp_path):
    settings = RunSettings(
        table=str(tmp_path / "data" / "t.csv"),
        target='a "quoted" \\ name\twith é and \x7f',
        by=["site", {"age": [40, 65]}, {"a b": {"x": "y", "*": "rest"}}],
        bins=["4", "age=40,"],
        missing={"chol": [0, "?"]},
        cost=["mri=400"],
        budget=0.25,
        seed=3,
        validate=True,
        out="somewhere",
        quiet=True,
    )
    folder = tmp_path / "runs" / "first"
    folder.mkdir(parents=True)
    text = as_config(settings, folder)
    (folder / "run.toml").write_text(text, encoding="utf-8")
    found = RunSettings(**read_config(str(folder / "run.toml")))
    assert tomllib.loads(text)["table"] == "../../data/t.csv"
    assert found.out is None
    assert not found.quiet
    for name in set(IN_FILE) - {"table", "out", "quiet"}:
        assert getattr(found, name) == getattr(settings, name), name
