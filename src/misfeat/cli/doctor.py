"""`misfeat doctor`: what is installed, what is missing and how to get it, and whether it works."""

from __future__ import annotations

import json as json_format
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from misfeat.cli.errors import INTERNAL_ERROR, Debug, Quiet
from misfeat.exceptions import MisfeatError
from misfeat.visible import visible, visible_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.table import Table


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
    if compile:
        _compile(json, quiet)
        return
    from misfeat.cli.compiling import compiled_beside
    from misfeat.cli.examination import examine
    from misfeat.runtime.progress import progress_shown

    with progress_shown(not quiet) as progress, compiled_beside():
        found = examine(debug, progress)
    if json:
        typer.echo(visible_json(json_format.dumps(found, indent=1, ensure_ascii=False)))
    else:
        _print(found)
    if not found["healthy"]:
        raise typer.Exit(INTERNAL_ERROR)


def _compile(json: bool, quiet: bool) -> None:
    """Compile what is not kept yet, and say what that took and where it lies."""
    from misfeat.cli.examination import kernel_cache
    from misfeat.cli.warming import warm_up
    from misfeat.runtime.progress import progress_shown

    cache = kernel_cache()
    if not cache["writable"]:
        raise MisfeatError(
            "Kernels cannot be kept, since no folder for them can be written; name one that can "
            "with NUMBA_CACHE_DIR=DIR."
        )
    _check_named_folder(cache)
    with progress_shown(not quiet) as progress:
        warmed = warm_up(progress)
    found = {
        "kernels": warmed.kernels,
        "compiling_seconds": round(warmed.seconds, 1),
        "kernel_cache": cache,
    }
    typer.echo(visible_json(json_format.dumps(found)) if json else _compiled(found))


def _check_named_folder(cache: dict[str, Any]) -> None:
    """Refuse a folder for kernels that Numba passed over without a word."""
    named = os.environ.get("NUMBA_CACHE_DIR")
    if named and not Path(cache["folder"]).is_relative_to(Path(named).absolute()):
        raise MisfeatError(
            "{named} is no folder that can be written, and kernels would be kept within "
            "{within!r}; name another, or leave it out.",
            named=f"NUMBA_CACHE_DIR={named}",
            within=cache["within"],
        )


def _compiled(found: dict[str, Any]) -> str:
    """What compiling did, in a sentence."""
    kernels, place = found["kernels"], visible(found["kernel_cache"]["within"])
    if not kernels:
        return f"Nothing was left to compile; kernels are kept within {place}."
    said = f"Compiled {kernels:,} kernel{'s' if kernels > 1 else ''}"
    return f"{said} in {found['compiling_seconds']:,.0f} s; they are kept within {place}."


def _print(found: dict[str, Any]) -> None:
    from misfeat.show.console import new_console

    console = new_console()
    console.print(_two_columns("Versions", _versions(found)))
    console.print(_two_columns("Machine", _machine(found)))
    console.print(_two_columns("Tables can come from", _optional(found["tables"])))
    console.print(_two_columns("Extras", _optional(found["extras"])))
    console.print(_two_columns("Self-test", ((t["what"], t["found"]) for t in found["self_test"])))
    verdict = "All is well." if found["healthy"] else "Something is wrong; see above."
    console.print(verdict, style="bold green" if found["healthy"] else "bold red", markup=False)


def _two_columns(title: str, rows: Iterator[tuple[str, str]]) -> Table:
    from misfeat.show.console import new_table, plain_text

    table = new_table(title)
    table.show_header = False
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in rows:
        table.add_row(name, plain_text(text))
    return table


def _versions(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, version in found["versions"].items():
        yield name, version or f"not installed: pip install {name}"


def _machine(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    machine = found["machine"]
    if not machine:
        yield "", "not looked at, since packages are missing"
        return
    yield "CPU cores", str(machine["cores"])
    yield "threads", f"{machine['threads']} with --jobs -1"
    free, share = machine["free_memory_gib"], machine["memory_limit"]
    yield "free memory", f"{free} GiB, of which scores may take {100 * share:.3g} %"
    training = machine["training"]
    if training is None:
        yield "trains on", "nothing; missing: pip install 'misfeat[neural]'"
    else:
        yield "CUDA", ", ".join(training["cuda"]) or "none"
        yield "MPS", "yes" if training["mps"] else "none"
        yield "trains on", training["device"]
    cache = found["kernel_cache"]
    writable = "writable" if cache["writable"] else "NOT writable: kernels are compiled every time"
    yield "compiled kernels", f"{cache['folder']} ({writable})"


def _optional(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, one in found.items():
        yield name, one["version"] or f"missing: {one['install']}"
