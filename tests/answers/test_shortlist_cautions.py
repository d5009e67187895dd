"""What was left out is told, kept in files and checked; tests take rows that were held back."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load, save

from misfeat import DamagedFileError, Selection, SubgroupSelector, fit_steps
from misfeat.answers.cautions import left_out, list_cautions
from misfeat.answers.significance import significance_tests
from tests.attacks.forging import ARRAYS, MANIFEST, sealed
from tests.estimation.generated import wide_columns


@pytest.fixture(scope="module")
def selector():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fit_steps, "MOST_FEATURES", 10)
        made = SubgroupSelector("site", size=2, k=2)
        return made.fit(pd.DataFrame(wide_columns(n_rows=600)), "y")


@pytest.fixture(scope="module")
def folder(selector, tmp_path_factory):
    place = tmp_path_factory.mktemp("wide") / "run"
    selector.save(place)
    return place


def test_the_caution_reaches_the_terminal_and_the_report(selector, capsys):
    selector.show()
    assert "features were left out" in " ".join(capsys.readouterr().out.split())
    assert "features were left out" in selector.report(validate=False).html()


def test_the_caution_says_what_was_looked_at_and_what_it_cannot_know(selector):
    (caution,) = (one for one in list_cautions(selector.selection_) if one.kind == "shortlist")
    assert caution.words.startswith("14 of 24 features were left out")
    assert "in one of 276 pairs, in 299 rows" in caution.words
    assert caution.severity == "weakens"
    found = selector.selection_
    few = replace(found.shortlist, outstanding=3)
    (caution,) = left_out(few, found.cohorts)
    assert "3 more would have explained something" in caution.words


def test_a_loaded_selection_answers_as_the_saved_one(selector, folder):
    again = SubgroupSelector.load(folder)
    pd.testing.assert_frame_equal(again.significance(), selector.significance())
    pd.testing.assert_frame_equal(again.top_k(), selector.top_k())
    pd.testing.assert_frame_equal(again.cautions(), selector.cautions())


def test_tests_see_only_rows_that_were_held_back(selector):
    """The target of rows that were looked at may be anything."""
    found = selector.selection_
    looked = found.shortlist.held_back == 0
    codes = found.cohorts.target_codes
    others = replace(found.cohorts, target_codes=np.where(looked, 1 - codes, codes))
    other = Selection(others, found.set_scores, found.options, shortlist=found.shortlist)
    tests = [significance_tests(one, permutations=49).subgroups for one in (found, other)]
    assert [one.p_value for one in tests[0]] == [one.p_value for one in tests[1]]


def field(name, value):
    def change(manifest, _):
        manifest["shortlist"][name] = value

    return change


def array(name, place, value):
    def change(_, held):
        held[f"shortlist.{name}"][place] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (field("left_out", ["f00"]), "no tuple"),
        (field("left_out", {"tuple": ["f03"]}), "a feature that was kept and left out"),
        (field("pairs", -1), "the pairs that were looked at"),
        (field("pairs", 1000), "the pairs that were looked at"),
        (field("rows", 0), "the rows that were looked at"),
        (field("outstanding", -1), "the features that stand out"),
        (field("extra", 1), "extra"),
        (array("held_back", 0, -1), "rows that were held back"),
        (array("held_back", 0, 2), "rows that were held back"),
        (array("held_back", ..., 0), "a subgroup of which no row was held back"),
        (lambda _, held: held.pop("shortlist.held_back"), "held_back"),
        (lambda manifest, _: manifest.update(shortlist=None), "an unknown array"),
    ],
)
def test_forged_searches_are_refused(folder, tmp_path, change, message):
    manifest = json.loads((folder / MANIFEST).read_bytes())
    held = {n: a.copy() for n, a in load((folder / ARRAYS).read_bytes()).items()}
    change(manifest, held)
    files = sealed(manifest, save({n: np.ascontiguousarray(a) for n, a in held.items()}))
    (tmp_path / MANIFEST).write_bytes(files.manifest)
    (tmp_path / ARRAYS).write_bytes(files.arrays)
    with pytest.raises(DamagedFileError, match=f"is no complete selection .*{message}"):
        Selection.load(tmp_path)
