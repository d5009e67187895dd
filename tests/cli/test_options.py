from __future__ import annotations

import pytest

from misfeat import Coding, SubgroupSelector
from misfeat.cli.options import RunSettings, as_option, python_name
from misfeat.exceptions import Setting
from misfeat.parameters.declaration import parameters_of


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
                assert python_name(option) == name
                shown = (parameter.default, None, str(parameter.default))
                assert getattr(usual, option) in shown or name == "n_jobs", name
    assert as_option(Setting("target", "classes")) == "--target-kind 'classes'"
