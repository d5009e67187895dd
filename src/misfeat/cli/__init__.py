"""The command line: thin over the selector."""
