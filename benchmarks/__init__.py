"""The benchmarks of misfeat: `python -m benchmarks --help`; they are not part of the wheel."""
