"""Every plot by its name, drawn with whatever it needs."""

from __future__ import annotations

import misfeat

ALL = sorted(misfeat.plot.__all__)
OF_ONE = ("cells", "interactions", "lattice", "size_curve", "stability", "synergy_network", "top_k")


def draw(name, selector, **options):
    if name in OF_ONE:
        options["subgroup"] = selector.cohorts_.names[0]
    names = selector.selection_.feature_names
    if name in ("forest", "lattice"):
        options["features"] = names[: 4 if name == "lattice" else 2]
    if name == "stability":
        options["resamples"] = 3
    return getattr(misfeat.plot, name)(selector, **options)
