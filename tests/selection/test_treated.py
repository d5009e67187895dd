"""What was screened out is told, kept in files and checked; tests take rows that were held back."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from misfeat.screening import Looked
from safetensors.numpy import load, save

from misfeat import Coding, DamagedFileError, Selection, SubgroupSelector
from misfeat.selection.treated import unseen_sets
from tests.attacks.forging import ARRAYS, MANIFEST, sealed
from tests.screening.conftest import wide_columns


@pytest.fixture(scope="module")
def selector():
    made = SubgroupSelector("site", size=2, k=2, coding=Coding(max_sets=400))
    return made.fit(pd.DataFrame(wide_columns(n_rows=600)), "y")


@pytest.fixture(scope="module")
def folder(selector, tmp_path_factory):
    place = tmp_path_factory.mktemp("wide") / "run"
    selector.save(place)
    return place


def told(selector, **changes):
    found = selector.selection_
    screened = replace(found.screened, **changes)
    (caution,) = unseen_sets(screened, found.cohorts, found.book.measure.whole)
    return caution.words


def test_the_caution_says_what_was_looked_at_and_what_it_cannot_know(selector):
    (caution,) = (one for one in selector.caution_list() if one.kind == "screened")
    kept = len(selector.selection_.feature_names)
    assert caution.words.startswith(f"{24 - kept} of 24 features were screened out")
    assert "all 24 features and all 276 pairs, in 299 rows" in caution.words
    assert "a bound that says little" in caution.words
    assert caution.severity == "weakens"


def test_the_caution_reaches_the_terminal_and_the_report(selector, capsys):
    selector.show()
    assert "features were screened out" in " ".join(capsys.readouterr().out.split())
    assert "features were screened out" in selector.report(validate=False).html()


def test_sets_that_were_not_looked_at_are_counted(selector):
    looked = (Looked(1, 24, 24, True), Looked(2, 30, 276, False), Looked(3, 7, 2024, False))
    words = told(selector, looked=looked, telling=3)
    assert "all 24 features, 30 of 276 pairs and 7 of 2,024 triples" in words
    assert "3 more tell something, for which there was no room" in words
    assert "nothing in parts of up to 1 features is missed" in words


def test_a_bound_that_says_something_is_not_called_weak(selector):
    words = told(selector, at_most=np.array([0.01, 0.02, 0.03]))
    assert "bound" not in words


def test_a_table_that_was_not_screened_needs_no_word(selector):
    found = selector.selection_
    assert list(unseen_sets(None, found.cohorts, found.book.measure.whole)) == []


def test_a_loaded_selection_answers_as_the_saved_one(selector, folder):
    again = SubgroupSelector.load(folder)
    assert again.coding.max_sets == 400
    pd.testing.assert_frame_equal(again.significance(), selector.significance())
    pd.testing.assert_frame_equal(again.top_k(), selector.top_k())
    pd.testing.assert_frame_equal(again.cautions(), selector.cautions())


def test_tests_see_only_rows_that_were_held_back(selector):
    """The target of rows that were looked at may be anything."""
    found = selector.selection_
    looked = found.screened.held_back == 0
    codes = found.cohorts.target_codes
    others = replace(found.cohorts, target_codes=np.where(looked, 1 - codes, codes))
    other = Selection(others, found.book, found.asked, screened=found.screened)
    tests = [one.significances(permutations=49).subgroups for one in (found, other)]
    assert [one.p_value for one in tests[0]] == [one.p_value for one in tests[1]]


def test_such_a_selection_is_saved_and_read(tmp_path):
    table = pd.DataFrame(wide_columns(n_rows=600))
    made = SubgroupSelector("site", size=1, coding=Coding(max_sets=50))
    made.fit(table, "y").save(tmp_path / "run")
    again = SubgroupSelector.load(tmp_path / "run")
    pd.testing.assert_frame_equal(again.cautions(), made.cautions())


def field(name, value):
    def change(manifest, _):
        manifest["screened"][name] = value

    return change


def looked(**changes):
    def change(manifest, _):
        manifest["screened"]["looked"][1] |= changes

    return change


def array(name, place, value):
    def change(_, held):
        held[f"screened.{name}"][place] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (field("left_out", ["f00"]), "no tuple"),
        (field("left_out", {"tuple": ["f03"]}), "a feature that was kept and screened out"),
        (field("left_out", {"tuple": ["another"]}), "the sets that there are"),
        (field("looked", []), "the sets that were looked at"),
        (field("rows", 0), "the rows that were looked at"),
        (field("telling", -1), "the features that tell"),
        (looked(sets=300), "the sets that were looked at"),
        (looked(size=3), "the sets that were looked at"),
        (looked(whole=1), "whether all sets were looked at"),
        (looked(extra=1), "extra"),
        (array("at_most", 0, np.nan), "what sets score at most"),
        (array("at_most", 0, 3.0), "what sets score at most"),
        (array("held_back", 0, -1), "rows that were held back"),
        (array("held_back", 0, 2), "rows that were held back"),
        (array("held_back", ..., 0), "a subgroup of which no row was held back"),
        (lambda _, held: held.pop("screened.at_most"), "at_most"),
        (lambda manifest, _: manifest.update(screened=None), "an unknown array"),
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
