"""Every plot by its name, drawn with whatever it needs, and what can be read of it."""

from __future__ import annotations

import misfeat

ALL = sorted(misfeat.plot.__all__)
OF_ONE = ("interactions", "lattice", "size_curve", "stability", "top_k")


def draw(name, selector, **options):
    if name in OF_ONE:
        options["subgroup"] = selector.cohorts_.names[0]
    names = selector.selection_.feature_names
    if name in ("forest", "lattice"):
        options["features"] = names[: 4 if name == "lattice" else 2]
    if name == "stability":
        options["resamples"] = 3
    return getattr(misfeat.plot, name)(selector, **options)


def texts(artists):
    return [artist.get_text() for artist in artists]


def entropies(selector):
    """The entropy of the target by subgroup: what shares are of."""
    found = selector.subgroups_
    return dict(zip(found["subgroup"], found["target_entropy"], strict=True))
