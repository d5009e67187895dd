import json

import pandas as pd
import pytest

from misfeat import MisfeatError, Selection, SubgroupSelector
from misfeat.answers.top_sets import best_sets
from misfeat.datasets import make_cohorts
from misfeat.saving.run_folder import MANIFEST
from misfeat.saving.run_format import _checksum


class Simple(SubgroupSelector):
    """A class of one's own that chooses the completer itself, and takes a further parameter."""

    def __init__(self, groups=None, size=2, note="none"):
        super().__init__(groups, size, completer="interactions")
        self.note = note


class Renamed(SubgroupSelector):
    """A class of one's own with the same parameters."""


def test_a_class_of_ones_own_is_saved_and_loaded_by_itself(tmp_path):
    data = make_cohorts(2, 100, 3, hide=0.2, random_state=0)
    made = Simple(data.groups, note="mine").fit(pd.DataFrame(data.columns), data.target)
    made.save(tmp_path / "run")
    again = Simple.load(tmp_path / "run")
    assert type(again) is Simple
    assert (again.note, again.completer) == ("mine", "interactions")
    pd.testing.assert_frame_equal(again.scores(size=3), made.scores(size=3))


@pytest.mark.parametrize("kind", [Simple, Renamed])
def test_the_class_that_saved_a_selection_is_named_where_another_loads_it(kind, tmp_path):
    data = make_cohorts(2, 100, 3, hide=0.2, random_state=0)
    kind(data.groups, size=2).fit(data.columns, data.target).save(tmp_path / "run")
    with pytest.raises(
        MisfeatError, match=f"saved by the class {kind.__name__}.*{kind.__name__}.l"
    ):
        SubgroupSelector.load(tmp_path / "run")


def test_a_plain_selection_is_loaded_by_a_class_that_takes_its_parameters(selector, tmp_path):
    selector.save(tmp_path / "run")
    assert type(Renamed.load(tmp_path / "run")) is Renamed
    with pytest.raises(MisfeatError, match="saved by the class SubgroupSelector, not by Simple"):
        Simple.load(tmp_path / "run")


def test_parameters_of_another_version_are_named(selector, tmp_path):
    selector.save(tmp_path / "run")
    manifest = tmp_path / "run" / MANIFEST
    about = json.loads(manifest.read_text())
    about["estimator"]["params"]["colour"] = "red"
    about["checksum"] = _checksum(about)
    manifest.write_text(json.dumps(about, indent=1))
    with pytest.raises(MisfeatError, match=r"does not have \('colour'\)"):
        SubgroupSelector.load(tmp_path / "run")


def test_a_selection_saved_alone_has_no_estimator_to_load(selector, tmp_path):
    selector.selection_.save(tmp_path / "run")
    assert best_sets(Selection.load(tmp_path / "run")) == best_sets(selector.selection_)
    with pytest.raises(MisfeatError, match="without its estimator; read it with Selection"):
        SubgroupSelector.load(tmp_path / "run")


def test_what_is_no_path_is_refused(selector):
    with pytest.raises(MisfeatError, match="folder=3; give the path of a folder"):
        selector.save(3)
    with pytest.raises(MisfeatError, match="folder=3; give the path of a folder"):
        SubgroupSelector.load(3)
