"""misfeat: the most telling feature sets of every subgroup, unrecorded features included.

The public names load on first use, so that ``import misfeat`` and ``misfeat --help`` stay fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from misfeat.version import __version__

if TYPE_CHECKING:
    from misfeat.exceptions import (
        DamagedFileError,
        MisfeatError,
        MisfeatWarning,
        UnseenSubgroupWarning,
    )
    from misfeat.machine.memory import memory_limit
    from misfeat.selector import SubgroupSelector
    from misfeat.show import plot

__all__ = [
    "DamagedFileError",
    "MisfeatError",
    "MisfeatWarning",
    "SubgroupSelector",
    "UnseenSubgroupWarning",
    "__version__",
    "memory_limit",
    "plot",
]

_HOME = {
    "DamagedFileError": "misfeat.exceptions",
    "UnseenSubgroupWarning": "misfeat.exceptions",
    "MisfeatError": "misfeat.exceptions",
    "MisfeatWarning": "misfeat.exceptions",
    "SubgroupSelector": "misfeat.selector",
    "memory_limit": "misfeat.machine.memory",
}


_MODULES = {"plot": "misfeat.show.plot"}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(_MODULES[name])
    if name not in _HOME:
        raise AttributeError(f"module 'misfeat' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
