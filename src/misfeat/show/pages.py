"""What every page needs: messages as HTML, templates, a policy, and a file to be written to."""

from __future__ import annotations

import base64
import hashlib
import tempfile
import webbrowser
from abc import ABC, abstractmethod
from contextlib import nullcontext
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING, Any, ClassVar

from markupsafe import Markup

from misfeat.exceptions import InPython, Message, MisfeatError, Setting
from misfeat.runtime.atomic_files import as_path, unreadable, write_file
from misfeat.safe_text import visible

if TYPE_CHECKING:
    from jinja2 import Environment

    from misfeat.exceptions import Spelling

PAGE_BEGINS = b"<!doctype html"
SNIPPET_HEIGHT = "80vh"


def as_html(text: str, spell: Spelling = str, mark: str = "name") -> Markup:
    """A message as escaped text, names isolated in the class `mark`, parameters as code."""
    if not isinstance(text, Message):
        return _plain(text)
    if not text.about:
        return _plain(text.template)
    parts = []
    for literal, field, form, conversion in Formatter().parse(text.template):
        parts.append(_plain(literal))
        value = None if field is None else text.about[field]
        shown = repr(value) if conversion == "r" else value
        if field is None:
            continue
        if isinstance(value, Message):
            parts.append(as_html(value, spell, mark))
        elif isinstance(value, Setting):
            parts.append(Markup("<code>{}</code>").format(visible(spell(value))))
        elif isinstance(value, InPython):
            parts.append(_plain(value.words if spell is str else value.elsewhere))
        elif isinstance(value, str):
            parts.append(Markup('<bdi class="{}">{}</bdi>').format(mark, visible(str(shown))))
        else:
            parts.append(_plain(format(shown, form or "")))
    return Markup("").join(parts)


def _plain(text: str) -> Markup:
    """Escaped text; a number stays with its unit and its name."""
    kept = visible(text)
    for words in (" %", "p = ", "p ≤ "):
        kept = kept.replace(words, words.replace(" ", "\N{NO-BREAK SPACE}"))
    return Markup.escape(kept)


def policy_for(style: str, script: str | None = None) -> str:
    """A Content-Security-Policy under which this style and script work, and nothing else."""

    def digest(text: str) -> str:
        hashed = base64.b64encode(hashlib.sha256(text.encode()).digest())
        return f"sha256-{hashed.decode('ascii')}"

    scripts = "" if script is None else f"script-src '{digest(script)}'; "
    return (
        f"default-src 'none'; style-src '{digest(style)}'; {scripts}"
        "base-uri 'none'; form-action 'none'"
    )


@cache
def static_file(package: str, name: str) -> str:
    """A file of the folder ``static`` of a package."""
    return (files(package) / "static" / name).read_text(encoding="utf-8")


@cache
def templates_of(package: str) -> Environment:
    """The templates of a package, in which every value is text, whatever it holds."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    def shown(value: Any) -> Any:
        """A variable on the page: characters that would turn text are shown."""
        if not isinstance(value, str) or hasattr(value, "__html__"):
            return value
        return "\n".join(map(visible, value.split("\n")))

    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        finalize=shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def framed(html: str, title: str, allowed: str = "") -> str:
    """A page as a sandboxed frame that another page or a notebook can hold."""
    return (
        f'<iframe title="{escape(visible(title))}" sandbox="{allowed}" '
        f'style="width:100%;height:{SNIPPET_HEIGHT};border:0;resize:vertical" '
        f'srcdoc="{escape(html)}"></iframe>'
    )


class HtmlPage(ABC):
    """What has a page of its own, which can be written to a file or opened in a browser."""

    page_name: ClassVar = "page"

    @abstractmethod
    def html(self) -> str:
        """The whole page."""

    def write_html(self, path: str | Path) -> None:
        """Write the page to a file, at once or not at all.

        An older page is replaced, a link is followed.
        """
        file = as_path(path, "path")
        try:
            with file.open("rb") if file.is_file() else nullcontext() as older:
                start = older.read(200).lstrip() if older else b""
        except OSError as error:
            raise unreadable(file, error) from error
        if start and not start.lower().startswith(PAGE_BEGINS):
            raise MisfeatError(
                f"{str(file)!r} exists and is no page; give another name, or remove the file."
            )
        write_file(file, self.html().encode())

    def open(self) -> None:
        """Show the page in the browser, from a file in the folder for temporary ones."""
        file = Path(tempfile.mkdtemp(prefix="misfeat-")) / f"{self.page_name}.html"
        self.write_html(file)
        if not webbrowser.open(file.as_uri()):
            raise MisfeatError(
                f"No browser could be opened; the {self.page_name} is {str(file)!r}."
            )
