"""What every self-contained page needs: templates, a policy, and a file to be written to."""

from __future__ import annotations

import base64
import hashlib
import os
from functools import cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from misfeat.exceptions import MisfeatError
from misfeat.machine.paths import as_path, real_path, unwritable
from misfeat.visible import visible

if TYPE_CHECKING:
    from pathlib import Path

    from jinja2 import Environment

SNIPPET_HEIGHT = "80vh"


def policy_for(style: str) -> str:
    """A Content-Security-Policy under which this style works, and nothing else.

    Parameters
    ----------
    style : str
        What stands in the style element.

    Examples
    --------
    >>> policy_for("p { color: red }").split(";")[0]
    "default-src 'none'"
    """
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode("ascii")
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


@cache
def static_file(package: str, name: str) -> str:
    """A file of the folder ``static`` of a package.

    Parameters
    ----------
    package, name : str
        Where it is, and what it is called.
    """
    return (files(package) / "static" / name).read_text(encoding="utf-8")


@cache
def templates_of(package: str) -> Environment:
    """The templates of a package, in which every value is text, whatever it holds.

    Parameters
    ----------
    package : str
        Its folder ``templates`` is read.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _shown(value: Any) -> Any:
    """What a variable of a template is on the page: characters that would turn text are shown."""
    if not isinstance(value, str) or hasattr(value, "__html__"):
        return value
    return "\n".join(map(visible, value.split("\n")))


def framed(html: str, title: str) -> str:
    """A page as a sandboxed frame that another page or a notebook can hold.

    Parameters
    ----------
    html, title : str
        The page, and what the frame is called.

    Examples
    --------
    >>> framed("<p>one</p>", "a page")[:24]
    '<iframe title="a page" s'
    """
    return (
        f'<iframe title="{escape(visible(title))}" sandbox="" '
        f'style="width:100%;height:{SNIPPET_HEIGHT};border:0;resize:vertical" '
        f'srcdoc="{escape(html)}"></iframe>'
    )


def write_page(path: str | Path, html: str) -> Path:
    """Write a page to a file, at once or not at all.

    Parameters
    ----------
    path : str or Path
        Where to; an older file is replaced, a link is followed.
    html : str
        The page.

    Returns
    -------
    Path
        The file.
    """
    place = as_path(path, "path")
    try:
        if place.is_dir():
            raise MisfeatError(
                "{place!r} is a folder; give the name of a file in it.", place=str(place)
            )
        _write(real_path(place), html)
    except OSError as error:
        raise unwritable(place, error) from error
    return place


def _write(place: Path, text: str) -> None:
    """Write a file at once or not at all; a device or a pipe is written to as it is."""
    if place.exists() and not place.is_file():
        place.write_text(text, encoding="utf-8")
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    beside = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(place)
    finally:
        beside.unlink(missing_ok=True)
