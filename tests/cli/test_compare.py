import numpy as np
import pytest

from misfeat import SubgroupSelector
from tests.cli.commands import done, json_lines, refused
from tests.comparison.conftest import columns


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compared")
    for name, table in (("last", columns(0, ())), ("this", columns(1, ("b",)))):
        SubgroupSelector("site", size=2).fit(table, "y").save(folder / name)
    SubgroupSelector("site", size=2, estimate="sample").fit(columns(0, ()), "y").save(folder / "as")
    return folder


def test_the_first_sentence_names_what_was_planted(saved):
    said = " ".join(done("compare", str(saved / "last"), str(saved / "this")).stdout.split())
    assert said.startswith("There is no evidence of a change in 2 of 3 subgroups; in ")
    assert "in site=b, x explains" in said
    assert "last" in said


def test_json_lines_are_those_of_the_library(saved):
    from misfeat import compare

    lines = json_lines("compare", str(saved / "last"), str(saved / "this"))
    found = compare(saved / "last", saved / "this")
    changes = [one for one in lines if one["kind"] == "change"]
    assert np.allclose(
        [one["difference"] for one in changes], [one.difference for one in found.changes]
    )


def test_what_cannot_be_compared_is_one_line_in_the_words_of_options(saved):
    said = refused("compare", str(saved / "last"), str(saved / "as"))
    assert "--estimate 'population'" in said
    assert "--estimate 'sample'" in said
