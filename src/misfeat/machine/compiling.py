"""How kernels are compiled: once, kept on disk, and without holding up other threads."""

from __future__ import annotations

import numba as nb

compiled = nb.njit(cache=True, nogil=True)
compiled_fast = nb.njit(cache=True, nogil=True, fastmath=True)
"""Sums may be reordered within a kernel, the same way on every run."""
