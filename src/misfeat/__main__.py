"""``python -m misfeat`` is the command line."""

from misfeat.cli.main import main

if __name__ == "__main__":
    main()
