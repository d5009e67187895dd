from __future__ import annotations

from itertools import combinations
from math import comb

from hypothesis import given
from hypothesis import strategies as st

from misfeat.lattice import count_edges_beside, count_edges_between, count_nodes, level


@given(n=st.integers(1, 10))
def test_the_whole_lattice_has_as_many_nodes_and_edges_as_the_closed_forms_say(n):
    assert count_nodes(n, 1, n) == 2**n - 1
    assert count_edges_between(n, 1, n) == n * (2**n - 2) // 2
    everything = [frozenset(c) for m in range(1, n + 1) for c in combinations(range(n), m)]
    if n <= 7:
        pairs = list(combinations(everything, 2))
        assert count_edges_between(n, 1, n) == sum(
            abs(len(a) - len(b)) == 1 and (a < b or b < a) for a, b in pairs
        )
        assert count_edges_beside(n, 1, n) == sum(
            len(a) == len(b) and len(a & b) == len(a) - 1 > 0 for a, b in pairs
        )


@given(n=st.integers(1, 8), low=st.integers(1, 8), width=st.integers(0, 8))
def test_restricted_levels_are_counted_by_their_degrees(n, low, width):
    high = min(low + width, n)
    sizes = range(low, high + 1)
    assert count_nodes(n, low, high) == sum(len(level(n, m)) for m in sizes)
    beside = sum(comb(n, m) * m * (n - m) for m in sizes if m >= 2)
    assert count_edges_beside(n, low, high) * 2 == beside
