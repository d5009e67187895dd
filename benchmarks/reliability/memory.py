"""Whose is the memory that a process takes as it fits over and over: ours, or the allocator's?

    python benchmarks/reliability/memory.py --fits 1500 > benchmarks/reliability/memory.txt

Nothing is given back while it runs. What the process holds, what of it the allocator has in use and
what it keeps free are measured, with their slopes, and at the end what is free is given back. It
needs the C library of GNU.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import sys
import warnings
from pathlib import Path

import numpy as np
import psutil

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.attacks.load import REPORT_EVERY, WARM_UP, fitted, slope

FIELDS = [
    "arena",
    "ordblks",
    "smblks",
    "hblks",
    "hblkhd",
    "usmblks",
    "fsmblks",
    "uordblks",
    "fordblks",
    "keepcost",
]
MEASURED = 60
MIB = 2**20


class Allocated(ctypes.Structure):
    """What `mallinfo2` tells."""

    _fields_ = [(name, ctypes.c_size_t) for name in FIELDS]


def measured(library):
    """The process, what is in use and what is free, in MiB, and how many objects Python has."""
    gc.collect()
    told = library.mallinfo2()
    return (
        psutil.Process().memory_info().rss / MIB,
        (told.uordblks + told.hblkhd) / MIB,
        told.fordblks / MIB,
        len(gc.get_objects()),
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fits", type=int, default=1500)
    n_fits = parser.parse_args().fits
    warnings.simplefilter("ignore")
    library = ctypes.CDLL(None)
    library.mallinfo2.restype = Allocated
    fits, found = [], []
    for number in range(n_fits):
        selector = fitted(number)
        selector.top_k()
        if number % REPORT_EVERY == 0:
            selector.report().html()
        del selector
        if number >= WARM_UP * n_fits and number % max(1, n_fits // MEASURED) == 0:
            fits.append(number)
            found.append(measured(library))
    print(f"{n_fits:,} fits, measured from fit {fits[0]:,} on")
    names = ("process, MiB", "in use, MiB", "kept free, MiB", "Python's objects")
    for name, values in zip(names, np.array(found).T, strict=True):
        growth, error = slope(fits, list(values))
        print(
            f"{name:18} from {values[0]:,.2f} to {values[-1]:,.2f}: "
            f"{growth:+.3f} per 1,000 fits (standard error {error:.3f})"
        )
    library.malloc_trim(0)
    print(f"process, MiB, after what is free was given back: {measured(library)[0]:.2f}")


if __name__ == "__main__":
    main()
