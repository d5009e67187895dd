"""A question as an estimator: settings within settings are reached and checked from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.base import BaseEstimator

from misfeat.cohorts.coding import Coding
from misfeat.columns import Columns
from misfeat.exceptions import MisfeatError, Setting
from misfeat.parameters import check_parameters, parameters_of
from misfeat.question import Question

if TYPE_CHECKING:
    from typing import Self

NESTED = {"coding": Coding, "columns": Columns}
"""Parameters that hold parameters of their own."""


class NestedQuestion(Question, BaseEstimator):  # type: ignore[misc]
    """The parameters of `SubgroupSelector`, and those within its `coding` and `columns`."""

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those within `coding` and `columns`, as ``coding__min_rows``.

        Parameters
        ----------
        **params : dict
            Values by name.

        Returns
        -------
        self
            The estimator.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> SubgroupSelector().set_params(coding__min_rows=30).coding
        Coding(min_rows=30)
        """
        for name, kind in NESTED.items():
            within = any(one.startswith(f"{name}__") for one in params)
            if within and name not in params and getattr(self, name) is None:
                setattr(self, name, kind())
        super().set_params(**params)
        return self

    def _check(self) -> None:
        """Raise for the first parameter that cannot be used."""
        check_parameters(self)
        for name, kind in NESTED.items():
            settings = getattr(self, name)
            if settings is not None and not isinstance(settings, kind):
                raise MisfeatError(
                    "{setting}; it must be a {kind}, or None.",
                    setting=Setting(name, settings),
                    kind=kind.__name__,
                )
            check_parameters(settings or kind())

    def _changed(self) -> dict[str, str]:
        """The parameters that were not left at their defaults, as Python would write them."""
        values = {name: getattr(self, name) for name in parameters_of(self)}
        return {
            name: repr(value)
            for name, value in values.items()
            if repr(value) != repr(parameters_of(self)[name].default)
        }
