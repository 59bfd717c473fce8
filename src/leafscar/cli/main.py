"""The command group. A command's module is imported when it is called."""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

import click

from leafscar import __version__
from leafscar.cli.show import say
from leafscar.errors import LeafscarError

__all__ = ["main"]

_INTERRUPTED = 130
"""As shells count it: 128 and the number of the signal."""

_COMMANDS = {
    "compact": ("compact", "Show the cut that level 2 would make, or make it."),
    "context": ("context", "Show the next request as control sees it."),
    "cuts": ("cuts", "What recorded compactions lost, and what was needed again."),
    "formats": ("formats", "List the recordings that are read."),
    "mcp": ("mcp", "Serve recall, search and context to an agent."),
    "recall": ("recall", "Print the output that a reference names, or search for a text."),
    "replay": ("replay", "What each policy would have done to recorded sessions."),
    "settings": ("settings", "Show or set the settings."),
}


class _Group(click.Group):
    def main(self, *args: Any, **extra: Any) -> Any:
        _mend_streams()
        return super().main(*args, **extra)

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        with _said_in_one_line():
            return super().make_context(*args, **extra)

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
        with _said_in_one_line():
            value = super().invoke(ctx)
            sys.stdout.flush()
            return value


@contextmanager
def _said_in_one_line() -> Generator[None]:
    """Turn whatever may happen to a command into its exit code, and a line that says what (docs/cli.md)."""
    try:
        yield
    except LeafscarError as fault:
        _complain(str(fault))
        raise click.exceptions.Exit(fault.exit_code) from fault
    except BrokenPipeError as fault:
        _drop(sys.stdout)  # a reader such as head has what it wanted
        raise click.exceptions.Exit(0) from fault
    except OSError as fault:
        _drop(sys.stdout)
        _complain(f"{fault.filename or 'output'}: {fault.strerror or fault}; check the path and the free space")
        raise click.exceptions.Exit(1) from fault
    except KeyboardInterrupt as fault:
        _complain("interrupted; what was written so far is whole")
        raise click.exceptions.Exit(_INTERRUPTED) from fault


def _complain(words: str) -> None:
    try:
        say(f"leafscar: {' '.join(words.split())}", err=True)
    except OSError:
        _drop(sys.stderr)  # nobody is left to tell


def _mend_streams() -> None:
    """Give the closed ones a place to write to, and let no locale fail."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 - for good
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _drop(stream: TextIO) -> None:
    """Send what is still buffered nowhere, or the interpreter tries to write it once more when it ends."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


@click.group(cls=_Group)
@click.version_option(__version__, prog_name="leafscar")
def main() -> None:
    """Keep long-running LLM agents inside their context window."""
