"""Draw the picture of the README: what ``misfeat run`` prints for the demonstration's table.

    python docs/images/make_demo_picture.py

writes docs/images/demo.svg. The table is generated; nothing in the picture is drawn by hand.
"""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console

from misfeat import SubgroupSelector
from misfeat.demo import demo_data
from misfeat.printing import print_tables


def main() -> None:
    data = demo_data()
    selector = SubgroupSelector(groups=data.groups, size=3, k=3).fit(data.columns, data.target)
    console = Console(record=True, width=80, force_terminal=True, file=io.StringIO())
    print_tables(selector, console)
    picture = Path(__file__).with_name("demo.svg")
    console.save_svg(str(picture), title="misfeat run clinics.csv --target ill --by clinic --top 3")
    # A picture loads nothing from elsewhere: the reader's own monospaced font will do.
    text = re.sub(r"@font-face \{.*?\}", "", picture.read_text(), flags=re.DOTALL)
    text = text.replace("Fira Code", "monospace")
    picture.write_text("\n".join(line.rstrip() for line in text.splitlines()) + "\n")


if __name__ == "__main__":
    main()
