"""The command group. A command's module is imported when it is called."""

from __future__ import annotations

import importlib
import io
import os
import sys
from contextlib import suppress
from typing import Any

import click

from leafscar import __version__
from leafscar.cli.show import say
from leafscar.errors import LeafscarError

__all__ = ["main"]

_COMMANDS = {
    "compact": ("compact", "Show the cut that level 2 would make, or make it."),
    "context": ("context", "Show the next request as control sees it."),
    "formats": ("formats", "List the recordings that are read."),
    "recall": ("recall", "Print the output that a reference names."),
    "replay": ("replay", "What each policy would have done to recorded sessions."),
    "settings": ("settings", "Show or set the settings."),
}


class _Group(click.Group):
    def main(self, *args: Any, **extra: Any) -> Any:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")  # a locale without the character is no reason to fail
        return super().main(*args, **extra)

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"leafscar.cli.{_COMMANDS[cmd_name][0]}")
        return getattr(module, f"{cmd_name}_command")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in _COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except LeafscarError as fault:
            _complain(str(fault))
            ctx.exit(fault.exit_code)
        except BrokenPipeError:
            _drop_output()  # a reader such as head has what it wanted
            ctx.exit(0)
        except OSError as fault:
            _drop_output()
            _complain(f"{fault.filename or 'output'}: {fault.strerror or fault}; check the path and the free space")
            ctx.exit(1)


def _complain(words: str) -> None:
    say(f"leafscar: {' '.join(words.split())}", err=True)


def _drop_output() -> None:
    """Send what is still buffered nowhere, or the interpreter tries to write it once more when it ends."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


@click.group(cls=_Group)
@click.version_option(__version__, prog_name="leafscar")
def main() -> None:
    """Keep long-running LLM agents inside their context window."""
