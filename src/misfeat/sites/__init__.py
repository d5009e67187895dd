"""Sites that may not share records: what each shares instead, and putting it together."""

from misfeat.sites.codebook import (
    Codebook,
    ColumnCode,
    Proposal,
    agree,
    propose,
    read_codebook,
    read_proposal,
)
from misfeat.sites.combination import Combined, Refusal, combine
from misfeat.sites.signed_documents import make_key, read_key
from misfeat.sites.site_counts import summarise
from misfeat.sites.summary import Summary, read_summary, write_summary

__all__ = [
    "Codebook", "ColumnCode", "Combined", "Proposal", "Refusal", "Summary", "agree", "combine",
    "make_key", "propose", "read_codebook", "read_key", "read_proposal", "read_summary",
    "summarise", "write_summary",
]  # fmt: skip
