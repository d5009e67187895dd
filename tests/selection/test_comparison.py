from __future__ import annotations

import polars as pl

from misfeat import SubgroupSelector
from misfeat.datasets import make_cohorts
from misfeat.selection.changed import CHANGE_COLUMNS, SUBGROUP_COLUMNS
from misfeat.selection.comparing import compare_selections


def test_frames_come_in_the_library_of_the_first_run():
    data = [make_cohorts(2, 300, 3, hide=0.0, random_state=seed) for seed in (0, 1)]
    runs = [
        SubgroupSelector("cohort", size=1).fit(pl.DataFrame(one.columns), "target") for one in data
    ]
    found = compare_selections(*(one.selection_ for one in runs))
    frame, subgroups = found.to_frame(), found.subgroups_to_frame()
    assert isinstance(frame, pl.DataFrame)
    assert tuple(frame.columns) == CHANGE_COLUMNS
    assert tuple(subgroups.columns) == SUBGROUP_COLUMNS
    assert len(frame) == sum(subgroups["sets"])
    assert frame["changed"].sum() == len(found.changed)


def test_sentences_are_one_for_the_whole_one_a_subgroup_and_the_notes():
    data = [make_cohorts(2, 300, 3, hide=0.0, random_state=seed) for seed in (0, 1)]
    runs = [SubgroupSelector("cohort", size=1).fit(one.columns, "target") for one in data]
    found = compare_selections(*(one.selection_ for one in runs))
    said = found.sentences()
    assert said[0] == found.summary()
    assert said[1:3] == [one.sentence for one in found.subgroups]
    assert tuple(said[3:]) == found.notes
