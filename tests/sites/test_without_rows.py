"""What a selection answers that has counts of sites, and no rows."""

import json

import pytest

from misfeat import MisfeatError
from misfeat.answers.caution_checks import list_cautions
from misfeat.answers.run_comparison import RECORDED, compare_selections, explained_share
from misfeat.answers.subgroup_significance import Effort
from misfeat.show.answer_with_map import first_screen
from misfeat.show.export import TITLES, answer_tables
from misfeat.sites import combine


@pytest.fixture(scope="module")
def combined(summaries):
    return combine(summaries, size=2, k=2).selection


def test_its_report_says_that_no_rows_are_kept(combined):
    held = json.loads(combined.report().json())
    assert {row["verdict"] for row in held["subgroups"]} == {"not tested"}
    assert "No rows are kept" in held["left_out"][0]
    assert held["subgroups"][0]["stability"] is None


def test_its_first_screen_tests_nothing(combined):
    screen = first_screen(combined)
    assert screen.effort == Effort(0, 0, resampled=False)
    assert {one.verdict for one in screen.subgroups} == {"not tested"}
    assert "whether that is more than chance was not tested" in screen.subgroups[0].sentence


def test_tables_say_what_cannot_be_answered(combined):
    found = {table.title: table for table in answer_tables(combined, tuple(TITLES))}
    for title in ("stability", "significance", "enough"):
        assert "This needs rows, and only counts of them are at hand" in found[title].note
        assert found[title].columns == {}
    assert found["best sets"].rows == 8
    assert found["why"].rows > 0


@pytest.mark.parametrize("question", ["stability", "significance", "enough", "validate"])
def test_what_needs_rows_is_refused(combined, question):
    with pytest.raises(MisfeatError, match="needs rows"):
        getattr(combined, question)()


def test_cautions_that_need_rows_are_left_out(combined):
    assert not {"leak", "missing pattern", "duplicate"} & {
        one.kind for one in list_cautions(combined)
    }


def test_shares_are_those_that_it_shows(combined):
    found = explained_share(combined, "site=va", ["cp"])
    assert (found.sampled, found.source) == (None, RECORDED)
    assert found.deviation > 0


def test_a_comparison_says_so(combined):
    found = compare_selections(combined, combined)
    assert any("keeps no rows" in note for note in found.notes)
