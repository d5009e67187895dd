"""Names and values that mean something to a spreadsheet, a terminal, a page or a parser."""

from __future__ import annotations

from tests.attacks.names import ZOO

FEATURES = (
    '=HYPERLINK("http://a","b")',
    "+1+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1:A9)",
    "\t=1",
    ' "=1',
    "a, b",
    'a"b',
    "a;=1+1;b",
    "＝1",
    "a\x1b[31m\r\nb",
    "\N{RIGHT-TO-LEFT OVERRIDE}a",
    "_x003D_1",
    "<b>|*a*_b_`c`[d](http://e)~f~$g$ & &lt;",
    "\N{MAN}\N{ZERO WIDTH JOINER}\N{WOMAN} " + "long" * 75,
)
VALUES = ("=0", "-1", " @b")
GROUP, SITES = "=site", ("=a", "\x07b\x00d", "c|d")
TARGET = "+y"

TEXTS = (*ZOO, *FEATURES, *VALUES, *SITES, TARGET, "\uffff=", "#N/A", "#REF!", "x" * 40_000)
"""The same, and what no table may hold."""
