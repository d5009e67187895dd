"""Measures of one's own, for tests."""

from __future__ import annotations

import numpy as np

from misfeat.information import CountMeasure


class Information(CountMeasure):
    """Mutual information, counted as any other measure is."""

    name, unit, words = "information", "nats", "mutual information"

    def of_counts(self, counts):
        """Scores of a stack of tables."""
        share = counts / counts.sum(axis=(1, 2), keepdims=True)
        product = share.sum(axis=2, keepdims=True) * share.sum(axis=1, keepdims=True)
        ratio = np.divide(share, product, out=np.ones_like(share), where=share > 0)
        return (share * np.log(ratio)).sum(axis=(1, 2))


class Accuracy(CountMeasure):
    """What a best guess gains; a wrong guess of one class may cost more."""

    name, unit, words = "accuracy", "share of rows", "accuracy that a best guess gains"

    def __init__(self, cost=1.0):
        self.cost = cost

    def of_counts(self, counts):
        """Scores of a stack of tables."""
        worth = counts * np.array([1.0, self.cost])[: counts.shape[2]]
        right = worth.max(axis=2).sum(axis=1) - worth.sum(axis=1).max(axis=1)
        return right / counts.sum(axis=(1, 2))
