from __future__ import annotations

import numpy as np
import pytest

from misfeat.information.kernels.depth_first import next_begins_so, shared_depth
from misfeat.information.scoring import list_levels
from misfeat.lattice import count, rank


@pytest.mark.parametrize(("n", "low", "high"), [(5, 1, 5), (6, 2, 4), (7, 3, 3), (1, 1, 1)])
def test_every_subset_is_listed_once_and_knows_its_place(n, low, high):
    members, lengths, places = list_levels(n, range(low, high + 1))
    assert sorted(places) == list(range(len(places)))
    starts = np.cumsum([0, *(count(n, m) for m in range(low, high + 1))])
    for subset, length, place in zip(members, lengths, places, strict=True):
        assert place - starts[length - low] == rank(subset[None, :length])[0]


def test_subsets_with_a_common_beginning_follow_each_other():
    members, lengths, _ = list_levels(6, range(1, 7))
    listed = [tuple(m[:length]) for m, length in zip(members, lengths, strict=True)]
    for beginning in listed:
        at = [i for i, subset in enumerate(listed) if subset[: len(beginning)] == beginning]
        assert at == list(range(at[0], at[-1] + 1))
        assert listed[at[-1]] == beginning  # so that the rows it holds are there already


def test_a_search_goes_on_from_what_two_subsets_share():
    path = np.array([0, 2, 5])
    assert shared_depth(path, 3, np.array([0, 2, 4]), 3) == 2
    assert shared_depth(path, 1, np.array([0, 2, 4]), 3) == 1
    assert shared_depth(path, 3, np.array([1, 2, 5]), 3) == 0


def test_rows_are_kept_where_the_next_subset_begins_with_this_one():
    members, sizes = np.array([[0, 1, 0], [0, 1, 4], [0, 2, 0]]), np.array([2, 3, 2])
    assert [next_begins_so(members, sizes, s) for s in range(3)] == [True, False, False]
