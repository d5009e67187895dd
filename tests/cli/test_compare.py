import json

import numpy as np
import pytest

from misfeat import SubgroupSelector
from tests.cli.commands import run
from tests.comparison.conftest import columns


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compared")
    for name, table in (("last", columns(0, ())), ("this", columns(1, ("b",)))):
        SubgroupSelector("site", size=2).fit(table, "y").save(folder / name)
    SubgroupSelector("site", size=2, estimate="sample").fit(columns(0, ()), "y").save(folder / "as")
    return folder


def compared(saved, first="last", second="this", *more):
    return run("compare", str(saved / first), str(saved / second), *more)


def test_the_first_sentence_names_what_was_planted(saved):
    found = compared(saved)
    assert found.exit_code == 0, found.stderr
    said = " ".join(found.stdout.split())
    assert said.startswith("There is no evidence of a change in 2 of 3 subgroups; in ")
    assert "in site=b, x explains" in said
    assert "last" in said


def test_json_lines_are_those_of_the_library(saved):
    from misfeat import compare

    lines = [
        json.loads(one) for one in compared(saved, "last", "this", "--json").stdout.splitlines()
    ]
    found = compare(saved / "last", saved / "this")
    changes = [one for one in lines if one["kind"] == "change"]
    assert np.allclose(
        [one["difference"] for one in changes], [one.difference for one in found.changes]
    )


def test_what_cannot_be_compared_is_one_line_in_the_words_of_options(saved):
    found = compared(saved, "last", "as")
    assert found.exit_code == 2
    assert "--estimate 'population'" in found.stderr
    assert "--estimate 'sample'" in found.stderr
    assert len(found.stderr.splitlines()) == 1
