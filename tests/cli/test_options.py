from __future__ import annotations

import inspect
import re
import sys

import pytest

from misfeat import Coding, SubgroupSelector
from misfeat.cli.options import OPTIONS, as_option
from misfeat.exceptions import Setting
from misfeat.parameters.declaration import parameters_of
from tests.cli.commands import Ran, process

ADDED = """
import misfeat.parameters.coding as declared
from misfeat.parameters.declaration import COLUMNS, Option, an_integer
from misfeat.parameters.declaration import one_of, parameter, with_parameters

@with_parameters
class More(declared.CodingParameters):
    digits: int = parameter(
        "Digits that count.", an_integer(), default=8, option=Option("Digits to keep.", COLUMNS)
    )
    case: str = parameter(
        "Letters.", one_of("keep", "lower"), default="keep", option=Option("Letters.", COLUMNS)
    )

declared.CodingParameters = More
"""
"""Two more parameters of Coding, which are said in one place."""
ONE = "from misfeat.cli import main; main()"


def with_more(*arguments: str, **settings: str) -> Ran:
    """Run the command with the two parameters, which takes a process of its own."""
    return process(*arguments, command=[sys.executable, "-c", ADDED + ONE], **settings)


def test_a_parameter_said_once_is_an_option_with_its_help_default_and_choices():
    shown = with_more("run", "--help", TERMINAL_WIDTH="80").stdout
    line = next(line for line in shown.splitlines() if "--digits" in line)
    assert re.search(r"\bint(eger)?\b", line, re.IGNORECASE)  # as Typer spells it
    assert "Digits to keep. [default: 8]" in line
    words = {"COMP_WORDS": "misfeat run --case l", "COMP_CWORD": "3"}
    found = with_more(_MISFEAT_COMPLETE="complete_bash", **words)
    assert found.stdout.split() == ["lower"]


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


def test_every_parameter_that_has_an_option_is_one_which_a_run_takes():
    for estimator in (SubgroupSelector, Coding):
        for parameter in parameters_of(estimator).values():
            if parameter.option is not None:
                assert OPTIONS[parameter.option_name].python_name == parameter.name
    from misfeat.cli.run import run as command

    assert list(inspect.signature(command).parameters) == ["ctx", *OPTIONS]
    assert OPTIONS["target"].owner is None
    assert OPTIONS["target_kind"].python_name == "target"
    assert as_option(Setting("target", "classes")) == "--target-kind 'classes'"
