"""What a site proposes, and the codebook that sites agree on."""

import numpy as np
import pytest

from misfeat import Coding, MisfeatError
from misfeat.sites import agree, propose, read_codebook, read_proposal
from misfeat.sites.codebook import LONGEST, ColumnCode, Proposal, rounded


def table(n=200):
    rng = np.random.default_rng(0)
    return {
        "age": rng.normal(50, 12, n).round(3),
        "smokes": ["yes"] * 9 + ["no"] * (n - 9),
        "parity": rng.integers(0, 3, n),
        "id": [f"person {i}" for i in range(n)],
        "lab": [None] * n,
        "ill": rng.random(n) < 0.4,
    }


def test_a_proposal_names_common_values_and_rounded_cut_points_only():
    found = propose(table(), "ill", "north")
    columns = {one.column: one for one in found.features}
    assert columns["age"].edges == (41, 47, 54, 61)
    assert columns["smokes"].values == ("no",)
    assert columns["parity"].values == (0, 1, 2)
    assert set(found.left_out) == {"id", "lab"}
    assert found.target.kind == "flag"


@pytest.mark.parametrize(("n", "most"), [(3, 0), (19, 0), (20, 1), (49, 3), (50, 4)])
def test_at_least_ten_rows_lie_between_two_cut_points(n, most):
    ages = np.linspace(20.0, 90.0, n)
    held = {"age": ages, "ill": ([False, True] * n)[:n]}
    found = propose(held, "ill", "north", coding=Coding(min_rows=1))
    assert len(found.features[0].edges) == most


def test_a_column_with_a_name_that_no_codebook_holds_is_left_out():
    found = propose({**table(), "x" * 3000: [0, 1] * 100}, "ill", "north")
    assert "more than" in found.left_out["x" * LONGEST]


def test_cut_points_that_a_site_gives_are_proposed_as_they_are():
    found = propose(table(), "ill", "north", coding=Coding(bins={"age": [45, 65]}))
    assert found.features[0].edges == (45, 65)


def test_a_proposal_comes_back_as_it_was(tmp_path):
    found = propose(table(), "ill", "north")
    found.write(tmp_path / "p.json")
    again = read_proposal(tmp_path / "p.json")
    assert again.features == found.features
    assert again.target == found.target


@pytest.mark.parametrize("name", ["", "a\nb", 3])
def test_a_site_has_a_name(name):
    with pytest.raises(MisfeatError, match="name"):
        propose(table(), "ill", name)


def test_cut_points_are_rounded_well_below_their_spread():
    assert rounded([]) == ()
    assert rounded([5.0]) == (5,)
    assert rounded([1234.0, 5678.0]) == (1000, 6000)


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
