"""Kernels: functions that Numba compiles when they are first called, without holding the GIL.

Numba takes half a second to import, which whoever reads a saved run does not need to wait for.
"""

from collections.abc import Callable
from functools import partial, update_wrapper
from threading import Lock
from typing import Any

_MAKING = Lock()


class Kernel:
    """A function to compile; it has the attributes of Numba's dispatcher, which is made on use."""

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        update_wrapper(self, function)
        self._function, self._options = function, options

    def __call__(self, *args: Any) -> Any:
        """Call it; it is compiled where it meets a kind of data for the first time."""
        return self.dispatcher(*args)

    def __getattr__(self, name: str) -> Any:
        """Within another kernel, Numba asks for its type."""
        if name.startswith("__"):
            raise AttributeError(name)
        if name != "dispatcher":
            return getattr(self.dispatcher, name)
        from misfeat.runtime.kernel_cache import dispatcher_of

        with _MAKING:
            if name not in vars(self):
                vars(self)[name] = dispatcher_of(self._function, self._options)
        return vars(self)[name]


compiled = Kernel
compiled_fast = partial(Kernel, fastmath=True)  # sums may be reordered, the same way on every run

# To assign an array to a part of another one, Numba compiles the words of an error as well, for
# arrays whose shapes differ, which takes longer than most kernels do. Hence value by value.


@compiled
def copy_values(source, target):
    """Copy an array to the beginning of another one."""
    for i in range(len(source)):
        target[i] = source[i]


@compiled
def copy_lines(source, target):
    """Copy the lines of a table to the beginning of another one."""
    for i in range(len(source)):
        copy_values(source[i], target[i])
