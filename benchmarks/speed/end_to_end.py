"""Fit, answers and report as a user gets them: `python -m benchmarks speed`, and a profile of it.

    python -m benchmarks.speed.end_to_end [TABLE ...] [--threads 2] [--profile]

end_to_end.txt beside it has figures of two quiet cores. With ``--profile`` tables are answered for
in this process, and the functions that take longest are printed.
"""

from __future__ import annotations

import argparse
import cProfile

from benchmarks.speed.clock import StepClock
from benchmarks.speed.experiment import SpeedBench, answered, heading, sentences, step_table
from benchmarks.speed.workloads import FULL
from misfeat.show.terminal import new_console


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*", default=list(FULL))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--profile", action="store_true")
    asked = parser.parse_args()
    if asked.profile:
        for name in asked.tables:
            load = FULL[name]
            answered(load.small(), asked.threads, StepClock({}))
            call = "answered(load, threads, StepClock({}))"
            known = {"load": load, "threads": asked.threads}
            cProfile.runctx(call, globals(), known, sort="tottime")
        return
    console = new_console()
    for found in SpeedBench(asked.tables, n_jobs=asked.threads).run():
        print(heading(found))
        console.print(step_table(found))
        for line in sentences(found):
            print(line, flush=True)


if __name__ == "__main__":
    main()
