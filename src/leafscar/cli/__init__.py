"""The ``leafscar`` command: thin commands over the rooms (docs/cli.md)."""

from leafscar.cli.main import main

__all__ = ["main"]
