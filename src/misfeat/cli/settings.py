"""Everything that `misfeat run` was told, from the command line or from a file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from misfeat.cli.options import OPTIONS
from misfeat.parameters.coding import CodingParameters
from misfeat.question import Question

if TYPE_CHECKING:
    from collections.abc import Mapping

    from misfeat.selector import SubgroupSelector


@dataclass(frozen=True)
class RunSettings:
    """What was said to `misfeat run`, else what is usual.

    Attributes
    ----------
    said : mapping of str to object
        Values by the names of options: texts as they stand on the command line, or what a file may
        say instead.

    Examples
    --------
    >>> settings = RunSettings({"by": ["site", "age:40"], "bins": ["age=3"], "top": 5})
    >>> settings["top"], settings["size"]
    (5, 3)
    >>> settings.selector()
    SubgroupSelector(coding=Coding(bins={'age': 3}),
                     groups=['site', {'age': ['40']}], k=5, n_jobs=-1, verbose=1)
    """

    said: Mapping[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        return self.said.get(name, OPTIONS[name].default)

    def selector(self) -> SubgroupSelector:
        """The selector that these settings ask for."""
        from misfeat.cohorts.coding import Coding
        from misfeat.selector import SubgroupSelector

        coding = Coding(**self._parameters_of(CodingParameters))
        asked = self._parameters_of(Question)
        return SubgroupSelector(**asked, coding=coding, verbose=int(not self["quiet"]))

    def costs(self) -> dict[str, float]:
        """What recording features costs, by feature."""
        from misfeat.selection.asked import check_costs

        return check_costs(self._value("cost") or {})

    def blocks(self) -> Mapping[str, Any]:
        """Features that enter sets together, by the name they go under."""
        return self._value("block") or {}

    def _parameters_of(self, owner: type) -> dict[str, Any]:
        """Values for Python by parameter; those left to their own defaults are not among them."""
        values = {
            option.python_name: self._value(option.name)
            for option in OPTIONS.values()
            if option.owner is owner
        }
        return {name: value for name, value in values.items() if value is not None}

    def _value(self, name: str) -> Any:
        option = OPTIONS[name]
        if name not in self.said:
            return option.default
        return option.form.read(self.said[name], option.python_name)
