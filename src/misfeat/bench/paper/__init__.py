"""Every experiment of the MISFEAT paper, on our implementation, beside its printed numbers."""

from misfeat.bench.paper.bench import PaperBench
from misfeat.bench.paper.plan import FULL, QUICK, Plan

__all__ = ["FULL", "QUICK", "PaperBench", "Plan"]
