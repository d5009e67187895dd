"""Iterative proportional fitting of one table to smaller ones."""

from __future__ import annotations

from misfeat.runtime.compilation import compiled


@compiled
def rake(values, cards, n_classes, parts, sweeps):
    """Scale a table, its classes last, in place until its sums over each feature are `parts`."""
    for _ in range(sweeps):
        end, before, after = len(parts), len(values) // n_classes, n_classes
        for axis in range(len(cards) - 1, -1, -1):
            card = cards[axis]
            before //= card
            wanted = parts[end - before * after : end]
            end -= before * after
            for first in range(before):
                for last in range(after):
                    place = first * card * after + last
                    total = 0.0
                    for value in range(card):
                        total += values[place + value * after]
                    scale = wanted[first * after + last] / total if total > 0.0 else 0.0
                    for value in range(card):
                        values[place + value * after] *= scale
            after *= card
