import pytest

from misfeat import MisfeatError
from misfeat.cohorts.subgroup_lookup import subgroup_named

SITES_AND_AGES = tuple(
    f"site={site} & {age}"
    for site in ("va", "ch", "New York")
    for age in ("age<=40", "40<age<=60", "age>60")
)
NAMED_IN_SHORT = {
    "site=va & age<=40": "site=va & age<=40",
    "va & age<=40": "site=va & age<=40",
    "age <= 40 & va": "site=va & age<=40",
    "<=40 & VA": "site=va & age<=40",
    "site == New York & 40 < age <= 60": "site=New York & 40<age<=60",
    "new york&>60": "site=New York & age>60",
}


def test_terms_values_and_ranges_name_a_subgroup():
    assert {name: subgroup_named(name, SITES_AND_AGES) for name in NAMED_IN_SHORT} == NAMED_IN_SHORT


def test_a_name_of_several_lists_them():
    for asked in ("va", "site=va", "age<=40", "<=40"):
        with pytest.raises(MisfeatError, match=r"may mean 3 subgroups: .*; write more") as error:
            subgroup_named(asked, SITES_AND_AGES)
        assert error.value.value == asked
        assert all(repr(name) in str(error.value) for name in SITES_AND_AGES if asked in name)


def test_values_that_are_not_text_are_taken_by_their_labels():
    assert subgroup_named(40, ("n=40", "n=41")) == "n=40"
    assert subgroup_named(41.0, ("n=40", "n=41")) == "n=41"


def test_letters_as_written_come_before_others():
    names = ("grade=a", "grade=A")
    assert [subgroup_named(one, names) for one in "aA"] == list(names)
    with pytest.raises(MisfeatError, match="may mean 2 subgroups: 'grade=a', 'grade=A'"):
        subgroup_named("GRADE=a", (*names, "other"))


def test_the_nearest_names_are_offered_and_where_nothing_is_near_all():
    names = ("site=cleveland", "site=hungarian", "site=va")
    for asked, known, hint in (
        ("clevland", names, "did you mean 'site=cleveland'"),
        ("site=hungaria", names, "did you mean 'site=hungarian'"),
        ("12", ("site=a", "site=b"), "there are 'site=a', 'site=b'"),
        ("40", ("age<=40", "age>40"), ""),  # a number alone names no side of a cut
    ):
        with pytest.raises(MisfeatError, match=f"no subgroup '{asked}'; {hint}"):
            subgroup_named(asked, known)
