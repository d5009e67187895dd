"""The version of the package, for every module that writes it down."""

__version__ = "0.1.0.dev0"
