"""misfeat: the most informative feature sets of every subgroup, unrecorded features included.

The public names load on first use, so that ``import misfeat`` and ``misfeat --help`` stay fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from misfeat.cohorts.column_coding import Coding
    from misfeat.comparison import compare
    from misfeat.exceptions import (
        DamagedFileError,
        MisfeatError,
        MisfeatWarning,
        UnseenSubgroupWarning,
    )
    from misfeat.runtime.memory import memory_limit
    from misfeat.selection import Selection
    from misfeat.selector import SubgroupSelector
    from misfeat.show import plots as plot
    from misfeat.transformer import Columns
    from misfeat.version import __version__

__all__ = [
    "Coding", "Columns", "DamagedFileError", "MisfeatError", "MisfeatWarning", "Selection",
    "SubgroupSelector", "UnseenSubgroupWarning", "__version__", "compare", "memory_limit", "plot",
]  # fmt: skip

_HOME = {
    "Coding": "misfeat.cohorts.column_coding:Coding",
    "Columns": "misfeat.transformer:Columns",
    "DamagedFileError": "misfeat.exceptions:DamagedFileError",
    "MisfeatError": "misfeat.exceptions:MisfeatError",
    "MisfeatWarning": "misfeat.exceptions:MisfeatWarning",
    "Selection": "misfeat.selection:Selection",
    "SubgroupSelector": "misfeat.selector:SubgroupSelector",
    "UnseenSubgroupWarning": "misfeat.exceptions:UnseenSubgroupWarning",
    "__version__": "misfeat.version:__version__",
    "compare": "misfeat.comparison:compare",
    "memory_limit": "misfeat.runtime.memory:memory_limit",
    "plot": "misfeat.show.plots:",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'misfeat' has no attribute {name!r}")
    module, _, thing = _HOME[name].partition(":")
    return getattr(import_module(module), thing) if thing else import_module(module)


def __dir__() -> list[str]:
    return sorted(__all__)
