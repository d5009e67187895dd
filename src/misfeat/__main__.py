"""``python -m misfeat`` is the command line."""

from misfeat.cli import main

if __name__ == "__main__":
    main()
