"""Docstrings of public names follow numpydoc, as they are at run time.

Left out on purpose: where quotes close (GL01, GL02; ruff's convention), summaries in one line and
in the infinitive (SS05, SS06; a noun may say best what a function gives), required sections (ES01,
RT01, YD01, SA01; where the summary says it all, nothing is added), and capital letters and full
stops in the descriptions of parameters (PR08, PR09, RT04, RT05; ``"mean" or "sum"`` may start one).

Parameters need not be documented (PR01) where they are elsewhere: fields of dataclasses as
attributes, parameters of what is "the same as" another method there, those of completers' methods
in `BaseCompleter`.
"""

import inspect
from dataclasses import fields, is_dataclass
from importlib import import_module
from itertools import chain

import pytest
from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import Validator, validate

import misfeat
from misfeat.completion import BaseCompleter

CHECKS = {
    *("GL03", "GL05", "GL06", "GL07", "GL08", "GL10"),
    *("SS01", "SS02", "SS03", "SS04"),
    *("PR01", "PR02", "PR03", "PR04", "PR05", "PR06", "PR07", "PR10"),
    *("RT02", "RT03"),
    *("SA02", "SA03", "SA04"),
}
MODULES = (
    "misfeat",
    "misfeat.cohorts",
    "misfeat.completion",
    "misfeat.datasets",
    "misfeat.show.plots",
)


def public_names() -> list[str]:
    """Everything that modules list in ``__all__``, with the public methods of its classes."""
    names = {}
    for module in MODULES:
        held = import_module(module)
        for name in held.__all__:
            thing = getattr(held, name)
            if not callable(thing):
                continue
            names[thing] = [f"{module}.{name}", *methods(f"{module}.{name}", thing)]
    return list(chain.from_iterable(names.values()))


def methods(name: str, thing: object) -> list[str]:
    if not inspect.isclass(thing):
        return []
    return [
        f"{name}.{method}"
        for method, held in inspect.getmembers(thing)
        if not method.startswith("_") and is_ours(held)
    ]


def is_ours(held: object) -> bool:
    """A method or property that is defined in the package, not inherited from a library."""
    function = held.fget if isinstance(held, property) else held
    ours = (getattr(function, "__module__", None) or "").startswith("misfeat")
    return ours and (callable(function) or isinstance(held, property))


def attributes(thing: type) -> set[str]:
    """The attributes that a class and those that it is made from document."""
    texts = [inspect.cleandoc(part.__doc__ or "") for part in thing.__mro__[:-1]]
    entries = [entry.name for text in texts for entry in NumpyDocString(text)["Attributes"]]
    return {name for entry in entries for name in entry.split(", ")}


def is_described_elsewhere(thing: object) -> bool:
    """Whether a docstring refers to another for the parameters, or what it describes has none."""
    text = inspect.getdoc(thing) or ""
    if is_dataclass(thing):
        return {field.name for field in fields(thing) if field.init} <= attributes(thing)
    of_completers = getattr(thing, "__name__", "") in dir(BaseCompleter)
    return of_completers or "same as `" in text.split("\n\n")[0]


def has_example(name: str, thing: object) -> bool:
    """Public classes, what the selector does and plots are shown at work."""
    if inspect.isclass(thing):
        return thing.__name__ in misfeat.__all__
    shown = name.startswith(("misfeat.SubgroupSelector.", "misfeat.show.plots."))
    return shown and (callable(thing) or name.endswith("subgroups_"))


@pytest.mark.parametrize("name", public_names())
def test_the_docstring_of_a_public_name_follows_numpydoc_and_has_an_example(name):
    thing = Validator._load_obj(name)
    checks = CHECKS - {"PR01"} if is_described_elsewhere(thing) else CHECKS
    errors = [f"{code}: {text}" for code, text in validate(name)["errors"] if code in checks]
    assert errors == []
    assert not has_example(name, thing) or ">>> " in inspect.getdoc(thing).split("Examples\n")[1]
