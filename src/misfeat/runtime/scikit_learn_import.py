"""scikit-learn's base classes without pandas and much of SciPy.

scikit-learn imports both for functions that are not needed here, which takes twice as long as all
the rest. Unless they are there already, each is loaded when something of it is first used.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any


class _LoadedOnUse(ModuleType):
    """A module that takes what it holds from the one of its name."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


@contextmanager
def _on_use(*names: str) -> Iterator[None]:
    """Within the block, importing these modules loads nothing."""
    waiting = {name: _LoadedOnUse(name) for name in names if name not in sys.modules}
    sys.modules.update(waiting)
    try:
        yield
    finally:
        for name, module in waiting.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]


with _on_use("pandas", "scipy.special", "scipy.stats"):
    from sklearn.base import BaseEstimator, TransformerMixin, clone
    from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

__all__ = [
    "BaseEstimator",
    "TransformerMixin",
    "check_is_fitted",
    "clone",
    "column_or_1d",
    "validate_data",
]
