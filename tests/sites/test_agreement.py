from __future__ import annotations

import pytest

from misfeat import MisfeatError
from misfeat.sites import agree, read_codebook
from misfeat.sites.codebook import ColumnCode, Proposal

ILL = ColumnCode("ill", "flag")


def proposal(site, *features, target=ILL, key=None):
    return Proposal(site, target, features, {}, key)


def number(name, *edges, values=()):
    return ColumnCode(name, "number", edges, values)


def test_cut_points_are_the_median_of_those_proposed():
    proposed = {"a": (40, 60), "b": (45, 70), "c": (30, 50)}
    sites = [proposal(site, number("age", *edges)) for site, edges in proposed.items()]
    codebook, said = agree(sites)
    assert codebook.features[0].edges == (40, 60)
    assert said == []


def test_values_of_all_sites_have_a_code():
    def agreed(*columns):
        sites = [proposal(site, one) for site, one in zip("nst", columns, strict=False)]
        return agree(sites)[0].features

    (few,) = agreed(number("cp", 1, values=(1, 2)), number("cp", 1, values=(2, 4)))
    assert (few.labels, few.exact) == (("1", "2", "4"), True)
    # A site of too few rows to say anything leaves the coding to others.
    (left,) = agreed(number("a", 1, 2, values=(1, 2, 3)), number("a"))
    assert (left.values, left.exact) == ((1, 2, 3), True)
    (text,) = agreed(*(ColumnCode("race", "category", (), v) for v in (("a", "b"), ("b", "c"))))
    assert text.labels == ("a", "b", "c", "any other")
    assert [one.column for one in agreed(number("a", 1, 2), number("b", 1, 2))] == ["a", "b"]


def test_disagreements_are_named():
    codebook, said = agree(
        [
            proposal("n", number("a", 1, 2), number("b", 1, 2)),
            proposal("s", ColumnCode("a", "category", (), ("x", "y"))),
            proposal("t", number("c", 5, values=(5,))),
        ]
    )
    assert said == [
        "'a' holds numbers at 'n' and texts at 's'; it is left out",
        "'c' has one value everywhere, or too few rows to cut it; it is left out",
    ]
    assert [one.column for one in codebook.features] == ["b"]


def test_sites_must_agree_on_the_target():
    other = ColumnCode("dead", "flag")
    with pytest.raises(MisfeatError, match="different targets"):
        agree([proposal("n", number("a", 1)), proposal("s", number("a", 1), target=other)])
    texts = ColumnCode("ill", "category", (), ("no", "yes"))
    with pytest.raises(MisfeatError, match="true and false at 'n' and texts at 's'"):
        agree([proposal("n", number("a", 1)), proposal("s", number("a", 1), target=texts)])


def test_what_cannot_be_agreed_on_is_an_error():
    with pytest.raises(MisfeatError, match="no proposal"):
        agree([])
    with pytest.raises(MisfeatError, match="Several proposals are of the site 'n'"):
        agree([proposal("n"), proposal("n")])
    with pytest.raises(MisfeatError, match="no feature"):
        agree([proposal("n")])
    with pytest.raises(MisfeatError, match="at most 200"):
        agree([proposal("n", *(number(str(i), 1, 2) for i in range(201)))])


def test_a_codebook_comes_back_as_it_was(tmp_path):
    codebook, _ = agree([proposal("n", number("a", 1.5, 2), key="ab" * 32)], edition=3)
    codebook.write(tmp_path / "c.json")
    again = read_codebook(tmp_path / "c.json")
    assert again == codebook
    assert again.fingerprint == codebook.fingerprint
