"""Draw the picture of the README: what ``misfeat demo`` prints.

    python docs/images/make_demo_picture.py

writes docs/images/demo.svg. Nothing in the picture is drawn by hand.
"""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console

from misfeat.demo import INTRODUCTION, fitted
from misfeat.show.answer_with_map import first_screen
from misfeat.show.terminal import plain_text, print_lines, print_sentences, print_trust


def main() -> None:
    console = Console(record=True, width=120, force_terminal=True, file=io.StringIO())
    selector = fitted()
    selector.validate()
    selection = selector.selection_
    screen = first_screen(selection)
    rows, features = selection.cohorts.weights.sum(), len(selection.feature_names)
    text = INTRODUCTION.format(rows=rows, features=features)
    print_lines(console, plain_text(text, style="italic"))
    console.print()
    print_sentences(screen, console)
    print_trust(screen, console, validation=selection.validation)
    picture = Path(__file__).with_name("demo.svg")
    console.save_svg(str(picture), title="misfeat demo")
    # A picture loads nothing from elsewhere: the reader's own monospaced font will do.
    text = re.sub(r"@font-face \{.*?\}", "", picture.read_text(), flags=re.DOTALL)
    text = text.replace("Fira Code", "monospace")
    picture.write_text("\n".join(line.rstrip() for line in text.splitlines()) + "\n")


if __name__ == "__main__":
    main()
