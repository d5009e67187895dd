from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import misfeat.testing

PAGE = Path(__file__).parents[2] / "docs" / "how_to" / "extend.md"
LONGEST_TEMPLATE = 40


def test_checks_need_no_pytest():
    code = "import sys; sys.modules['pytest'] = None; import misfeat.testing"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_check_is_also_given_one_by_one():
    for kind in ("completer", "source"):
        assert f"check_{kind}" in misfeat.testing.__all__
        assert f"{kind}_checks" in misfeat.testing.__all__


def test_every_template_is_short_and_is_checked():
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    assert len(blocks) == 3
    for block in blocks:
        assert len(block.splitlines()) < LONGEST_TEMPLATE
        assert re.search(r"^check_\w+\(", block, re.M)
