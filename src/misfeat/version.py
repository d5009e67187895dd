"""The version of the package, for every module that writes it down: that of the installation."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("misfeat")
except PackageNotFoundError:  # the sources, not installed
    __version__ = "0+unknown"
