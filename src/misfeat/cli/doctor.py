"""`misfeat doctor`: what is installed, what is missing and how to get it, and whether it works."""

from __future__ import annotations

import json as json_format
import os
import platform
import tempfile
from importlib import import_module
from importlib.metadata import PackageNotFoundError, metadata, version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from packaging.requirements import Requirement

from misfeat.cli.errors import INTERNAL_ERROR, Debug, Quiet
from misfeat.exceptions import MisfeatError
from misfeat.safe_text import visible, visible_json
from misfeat.version import __version__
from misfeat.words import count_words

if TYPE_CHECKING:
    from collections.abc import Iterator

FRAMES = ("pandas", "polars")  # libraries of tables that no extra brings
FOR_DEVELOPERS = ("test", "dev", "heavy", "browser", "docs", "release", "demo")


def doctor(
    compile: Annotated[  # noqa: A002 (the name of the option)
        bool,
        typer.Option("--compile", help="Compile all kernels that a default run needs, and stop."),
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Show versions, devices and libraries, and try misfeat out on a small table."""
    from misfeat.cli.compilation import compiled_beside
    from misfeat.runtime.progress import progress_shown

    if compile:
        _compile(json, quiet)
        return
    with progress_shown(not quiet), compiled_beside():
        found = examine(debug)
    if json:
        typer.echo(visible_json(json_format.dumps(found, indent=1, ensure_ascii=False)))
    else:
        _print(found)
    if not found["healthy"]:
        raise typer.Exit(INTERNAL_ERROR)


def _compile(json: bool, quiet: bool) -> None:
    """Compile what is not kept yet, and say what that took and where it lies."""
    from misfeat.cli.compilation import compile_all
    from misfeat.runtime.progress import progress_shown

    cache = kernel_cache()
    if not cache["writable"]:
        raise MisfeatError(
            "Kernels cannot be kept, since no folder for them can be written; name one that can "
            "with NUMBA_CACHE_DIR=DIR."
        )
    with progress_shown(not quiet) as progress:
        kernels, seconds = compile_all(progress)
    if json:
        found = {"kernels": kernels, "compiling_seconds": round(seconds, 1), "kernel_cache": cache}
        typer.echo(visible_json(json_format.dumps(found)))
        return
    done = "Nothing was left to compile; kernels"
    if kernels:
        done = f"Compiled {count_words(kernels, 'kernel')} in {seconds:,.0f} s; they"
    typer.echo(f"{done} are kept within {visible(cache['within'])}.")


def examine(debug: bool = False) -> dict[str, Any]:
    """Versions, machine, libraries and a self-test, as plain values.

    With `debug`, what goes wrong in the self-test is raised rather than reported.
    """
    extras = requirements()
    versions = {name: installed(name) for name in extras.pop("")}
    complete = all(versions.values())
    tests = _self_test(debug) if complete else []
    libraries = {}
    for name, packages in extras.items():
        there = [f"{package} {installed(package)}" for package in packages if installed(package)]
        libraries[name] = {
            "version": ", ".join(there) if len(there) == len(packages) else None,
            "install": f"pip install {name if name in FRAMES else repr(f'misfeat[{name}]')}",
        }
    return {
        "versions": {"misfeat": __version__, "Python": platform.python_version(), **versions},
        "machine": _machine() if complete else {},
        "kernel_cache": kernel_cache() if complete else {},
        "extras": libraries,
        "self_test": tests,
        "healthy": bool(tests) and all(test["ok"] for test in tests),
    }


def installed(package: str) -> str | None:
    """The version of a package, None where it is not there."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def requirements() -> dict[str, list[str]]:
    """The packages that misfeat always needs (under an empty name), and those of each extra."""
    about = metadata("misfeat")
    required = [Requirement(text) for text in about.get_all("Requires-Dist") or []]
    found = {"": [one.name for one in required if "extra ==" not in str(one.marker)]}
    found |= {name: [name] for name in FRAMES}
    for extra in set(about.get_all("Provides-Extra") or []) - {*FOR_DEVELOPERS}:
        chosen = [one for one in required if f'extra == "{extra}"' in str(one.marker)]
        found[extra] = [one.name for one in chosen if one.name != "misfeat"]
    return {name: packages for name, packages in sorted(found.items()) if packages}


def _machine() -> dict[str, Any]:
    from joblib import effective_n_jobs

    from misfeat.runtime.memory import GIB, available_memory, current_limit

    machine = {
        "cores": os.cpu_count(),
        "threads": effective_n_jobs(-1),
        "free_memory_gib": round(available_memory() / GIB, 1),
        "memory_limit": current_limit(),
    }
    if installed("torch"):  # which only some completers need
        import torch

        from misfeat.runtime.devices import torch_device

        cuda = range(torch.cuda.device_count()) if torch.cuda.is_available() else ()
        machine["cuda"] = [torch.cuda.get_device_name(number) for number in cuda]
        machine["mps"] = torch.backends.mps.is_available()
        machine["trains_on"] = torch_device("auto").type
    return machine


def kernel_cache() -> dict[str, Any]:
    """Where Numba keeps compiled kernels: it chooses folders that it can write to, or none.

    The ``folder`` of some kernels, what the folders of all lie ``within``, and whether it is
    ``writable``.
    """
    kernels: Any = import_module("misfeat.lattice.walk")
    kernel = next(thing for thing in vars(kernels).values() if hasattr(thing, "py_func"))
    folder = kernel.stats.cache_path
    if folder is None:
        return {"folder": None, "within": None, "writable": False}
    path = Path(folder)
    there = next(parent for parent in (path, *path.parents) if parent.exists())
    within = path.parents[1] if path.name == "__pycache__" else path.parent
    return {"folder": str(path), "within": str(within), "writable": os.access(there, os.W_OK)}


def _self_test(debug: bool) -> list[dict[str, Any]]:
    """Try the main steps one by one; the first that fails is the last."""
    steps = ("answers for a generated table", "the same after saving and loading")
    trial, done = _trial(), []
    for what in steps:
        try:
            done.append({"what": what, "ok": True, "found": next(trial)})
        except Exception as error:
            if debug:
                raise
            words = f"FAILED: {type(error).__name__}: {error}"
            done.append({"what": what, "ok": False, "found": words})
            break
    return done


def _trial() -> Iterator[str]:
    """What came of each step on a small table, with recorded and predicted scores."""
    from misfeat.answers.top import best_sets
    from misfeat.datasets import make_cohorts
    from misfeat.selector import SubgroupSelector

    data = make_cohorts(n_rows=300, n_features=6, hide=0.3, random_state=0)
    selector = SubgroupSelector(data.groups, size=2, k=10).fit(data.columns, data.target)
    answer = best_sets(selector.selection_)
    sources = sorted({best.source for best in answer})
    if sources != ["predicted", "recorded"]:
        raise RuntimeError(f"expected recorded and predicted scores, found {sources}")
    yield f"ok, {len(answer)} sets in {len(selector.cohorts_.names)} subgroups"
    with tempfile.TemporaryDirectory() as folder:
        selector.save(Path(folder) / "run")
        if best_sets(SubgroupSelector.load(Path(folder) / "run").selection_) != answer:
            raise RuntimeError("the answer is another one")
    yield "ok"


def _print(found: dict[str, Any]) -> None:
    from misfeat.show.terminal import new_console, new_table, plain_text

    console = new_console()
    versions, extras = found["versions"].items(), found["extras"].items()
    machine = [(name.replace("_", " "), str(held)) for name, held in found["machine"].items()]
    if cache := found["kernel_cache"]:
        writable = "writable" if cache["writable"] else "NOT writable: compiled every time"
        machine.append(("compiled kernels", f"{cache['folder']} ({writable})"))
    for title, rows in (
        ("Versions", [(name, v or f"not installed: pip install {name}") for name, v in versions]),
        ("Machine", machine),
        ("Extras", [(n, e["version"] or f"missing: {e['install']}") for n, e in extras]),
        ("Self-test", [(test["what"], test["found"]) for test in found["self_test"]]),
    ):
        table = new_table(title)
        table.show_header = False
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for name, text in rows:
            table.add_row(name, plain_text(text))
        console.print(table)
    verdict = "All is well." if found["healthy"] else "Something is wrong; see above."
    console.print(verdict, style="bold green" if found["healthy"] else "bold red", markup=False)
