import pytest

from misfeat import Coding, SubgroupSelector
from misfeat.cli.run_options import PARAMETERS, RunSettings, as_option
from misfeat.messages import Setting
from misfeat.parameters.declaration import parameters_of
from tests.cli.commands import done, run


@pytest.mark.parametrize(
    ("setting", "spelled"),
    [
        (Setting("k", 0), "--top 0"),
        (Setting("min_rows"), "--min-rows"),
        (Setting("sampler", "no"), "--sampler 'no'"),
        (Setting("bins", 5, column="age"), "--bins 'age=5'"),
        (Setting("bins", ["40", "65"], column="age"), "--bins 'age=40,65'"),
        (Setting("bins", [40], column="age"), "--bins 'age=40,'"),
        (Setting("bins", 0, column="*"), "--bins 0"),
        (Setting("bins", 0), "--bins 0"),
        (Setting("groups"), "--by"),
        (Setting("groups", [40], column="age"), "--by 'age:40'"),
        (Setting("groups", ["site", {"age": [40]}]), "--by 'site' --by 'age:40'"),
        (Setting("groups", ["a column with a name"] * 9), "--by"),
        (Setting("groups", []), "--by"),
        (Setting("missing_values", column="chol"), "--missing 'chol=VALUE'"),
        (Setting("missing_values", [0, 9], column="chol"), "--missing 'chol=0' --missing 'chol=9'"),
        (Setting("costs", -1.0, column="mri"), "--cost 'mri=-1'"),
        (Setting("costs", "mri"), "--cost 'mri'"),
        (Setting("blocks", {"lipids": ["hdl", "ldl"]}), "--block 'lipids=hdl,ldl'"),
        (Setting("include", ["a"]), "--include 'a'"),
        (Setting("out", "x"), "--out 'x'"),
        (Setting("out", "a/long/way" * 10), f"--out '{'a/long/way' * 10}'"),
        (Setting("unseen", "ignore"), "unseen='ignore'"),
    ],
)
def test_parameters_of_messages_are_spelled_as_options(setting, spelled):
    assert as_option(setting) == spelled


def test_every_parameter_is_an_option_with_the_same_default():
    usual = RunSettings()
    for estimator in (SubgroupSelector, Coding):
        for name, parameter in parameters_of(estimator).items():
            if name not in ("coding", "columns", "verbose"):
                option = as_option(Setting(name)).removeprefix("--").replace("-", "_")
                assert PARAMETERS.get(option, option) == name
                shown = (parameter.default, None, str(parameter.default))
                assert getattr(usual, option) in shown or name == "n_jobs", name
    assert as_option(Setting("target", "classes")) == "--target-kind 'classes'"


OPTIONS = [
    ("--by site --by age:40,65", {"groups": ["site", {"age": ["40", "65"]}]}),
    ("--size auto --top 3 --jobs 1", {"size": "auto", "k": 3, "n_jobs": 1}),
    ("--measure r2 --estimate sample", {"measure": "r2", "estimate": "sample"}),
    ("--budget 0.3 --seed 1 --sampler stratified", {"budget": 0.3, "random_state": 1}),
    ("--completer knn --confidence 0.5", {"completer": "knn", "confidence": 0.5}),
    ("--include sex --exclude ca", {"include": ["sex"], "exclude": ["ca"]}),
    ("--exclude ca --exclude-suspects", {"exclude": ["ca", "suspects"]}),
    ("--block ecg=restecg,slope", {"blocks": {"ecg": ["restecg", "slope"]}}),
    ("--design strata=a=b", {"design": {"strata": "a=b"}}),
    ("--bins 4 --bins age=40,", {"coding__bins": {"*": 4, "age": ["40"]}}),
    ("--max-categories 3", {"coding__max_categories": 3}),
    ("--missing ? --missing a=b=0", {"coding__missing_values": {"*": ["?"], "a=b": ["0"]}}),
    ("--read zip=text --target-kind number", {"coding__read": {"zip": "text"}}),
    ("--min-rows 9 --small-groups drop", {"coding__min_rows": 9, "coding__small_groups": "drop"}),
    ("--missing-groups drop --sporadic available", {"coding__missing_groups": "drop"}),
]


def test_options_become_the_parameters_of_a_selector(monkeypatch):
    asked = []
    monkeypatch.setattr("misfeat.cli.run.answer", asked.append)
    for words, expected in OPTIONS:
        done("run", "t.csv", "--target", "y", *words.split())
        params = asked.pop().selector().get_params()
        assert {name: params[name] for name in expected} == expected
    run("run", "t.csv", "--target", "y", "--cost", "z=1=3")
    assert asked.pop().costs() == {"z=1": 3}


def test_tables_of_a_file_say_what_texts_say():
    texts = RunSettings(by=["site", "age:50"], bins=["age=3"], cost=["ca=3"], block=["l=a,b"])
    tables = RunSettings(
        by=["site", {"age": ["50"]}], bins={"age": 3}, cost={"ca": 3}, block={"l": ["a", "b"]}
    )
    assert str(texts.selector()) == str(tables.selector())
    assert texts.costs() == tables.costs()
