"""scikit-learn's base classes without pandas and much of SciPy.

scikit-learn imports both for functions that are not needed here, which takes twice as long as all
the rest. Unless they are there already, each is loaded when something of it is first used.
"""

import sys
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


_waiting = {
    name: _LoadedOnUse(name)
    for name in ("pandas", "scipy.special", "scipy.stats")
    if name not in sys.modules
}
sys.modules.update(_waiting)
try:
    from sklearn.base import BaseEstimator as BaseEstimator
    from sklearn.base import TransformerMixin as TransformerMixin
    from sklearn.base import clone as clone
    from sklearn.utils.validation import check_is_fitted as check_is_fitted
    from sklearn.utils.validation import column_or_1d as column_or_1d
    from sklearn.utils.validation import validate_data as validate_data
finally:
    for _name, _module in _waiting.items():
        if sys.modules.get(_name) is _module:
            del sys.modules[_name]
