"""What every page needs: messages as HTML, templates, a policy, and a file to be written to."""

from __future__ import annotations

import base64
import hashlib
import tempfile
import webbrowser
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
from misfeat.visible import visible

if TYPE_CHECKING:
    from jinja2 import Environment

    from misfeat.exceptions import Spelling

PAGE_BEGINS = b"<!doctype html"
SNIPPET_HEIGHT = "80vh"


def as_html(text: str, spell: Spelling = str, mark: str = "name") -> Markup:
    """A message with its names isolated, in the class `mark`, and its parameters as code.

    All text is escaped.

    Examples
    --------
    >>> as_html(Message("{name} < {n}", name="<b>", n=3))
    Markup('<bdi class="name">&lt;b&gt;</bdi> &lt; 3')
    """
    if not isinstance(text, Message):
        return _plain(text)
    if not text.about:
        return _plain(text.template)
    parts = []
    for literal, field, form, conversion in Formatter().parse(text.template):
        parts.append(_plain(literal))
        if field is not None:
            parts.append(_field(text.about[field], form or "", conversion, spell, mark))
    return Markup("").join(parts)


def _field(value: object, form: str, conversion: str | None, spell: Spelling, mark: str) -> Markup:
    if isinstance(value, Message):
        return as_html(value, spell, mark)
    if isinstance(value, Setting):
        return Markup("<code>{}</code>").format(visible(spell(value)))
    if isinstance(value, InPython):
        return _plain(value.words if spell is str else value.elsewhere)
    if isinstance(value, str):
        text = repr(value) if conversion == "r" else value
        return Markup('<bdi class="{}">{}</bdi>').format(mark, visible(text))
    return _plain(format(repr(value) if conversion == "r" else value, form))


def _plain(text: str) -> Markup:
    """Escaped text; a number stays with its unit and its name."""
    kept = visible(text)
    for words in (" %", "p = ", "p ≤ "):
        kept = kept.replace(words, words.replace(" ", "\N{NO-BREAK SPACE}"))
    return Markup.escape(kept)


def policy_for(style: str, script: str | None = None) -> str:
    """A Content-Security-Policy under which this style and script work, and nothing else."""
    scripts = "" if script is None else f"script-src '{_digest(script)}'; "
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; {scripts}"
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


@cache
def static_file(package: str, name: str) -> str:
    """A file of the folder ``static`` of a package."""
    return (files(package) / "static" / name).read_text(encoding="utf-8")


@cache
def templates_of(package: str) -> Environment:
    """The templates of a package, in which every value is text, whatever it holds."""
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


def framed(html: str, title: str, allowed: str = "") -> str:
    """A page as a sandboxed frame that another page or a notebook can hold.

    `allowed` is what the page may do in it, as the attribute ``sandbox`` says it.
    """
    return (
        f'<iframe title="{escape(visible(title))}" sandbox="{allowed}" '
        f'style="width:100%;height:{SNIPPET_HEIGHT};border:0;resize:vertical" '
        f'srcdoc="{escape(html)}"></iframe>'
    )


class HtmlPage:
    """What has a page of its own, which can be written to a file or opened in a browser."""

    page_name: ClassVar = "page"

    def html(self) -> str:
        """The whole page."""
        raise NotImplementedError

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
                "{path!r} exists and is no page; give another name, or remove the file.",
                path=str(file),
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
