from __future__ import annotations

import pytest

from misfeat.show.comparison.forest import MARGIN, MOST_TICKS, WIDTH, Forest, Scale


@pytest.mark.parametrize(
    "ends", [(0.0, 0.17), (-0.4, -0.1), (-0.002, 0.07), (0.0, 1.0), (0.0, 0.0)]
)
def test_a_scale_holds_its_shares_and_zero_within_the_picture(ends):
    scale = Scale.over(ends)
    places = [scale.at(one) for one in (*ends, 0.0)]
    assert min(places) >= MARGIN
    assert max(places) <= WIDTH - MARGIN
    assert "0" in [words for _, words in scale.ticks]
    assert 2 <= len(scale.ticks) <= MOST_TICKS + 2


def test_numbers_on_a_scale_are_in_per_cent_and_in_order():
    ticks = Scale.over([-0.1, 0.3]).ticks
    assert [words for _, words in ticks] == ["-10", "0", "10", "20", "30"]
    assert [at for at, _ in ticks] == sorted(at for at, _ in ticks)


def test_all_lines_share_their_scales(comparison):
    forest = Forest.of(comparison.changed)
    assert len(forest.rows) == len(comparison.changed)
    zero = forest.differences.at(0.0)
    for row in forest.rows:
        assert row.first.low <= row.first.at <= row.first.high
        assert (row.difference.high < zero) == (row.change.high < 0)
        assert row.second.at - row.first.at == pytest.approx(
            forest.shares.at(row.change.second) - forest.shares.at(row.change.first)
        )
