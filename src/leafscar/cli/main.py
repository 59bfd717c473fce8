"""The command group. A command's module is imported when it is called."""

from __future__ import annotations

import importlib
import sys

import click

from leafscar import __version__
from leafscar.errors import LeafscarError

__all__ = ["main"]

_COMMANDS = {
    "compact": ("compact", "Show the cut that level 2 would make, or make it."),
    "context": ("context", "Show the next request as control sees it."),
    "recall": ("recall", "Print the output that a reference names."),
    "replay": ("replay", "What each policy would have done to recorded sessions."),
    "settings": ("settings", "Show or set the settings."),
}


class _Group(click.Group):
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
            click.echo(f"leafscar: {fault}", err=True)
            ctx.exit(fault.exit_code)
        except BrokenPipeError:
            # a reader such as head went away: that is no fault, and the rest has nobody to go to
            sys.stderr.close()
            ctx.exit(0)


@click.group(cls=_Group)
@click.version_option(__version__, prog_name="leafscar")
def main() -> None:
    """Keep long-running LLM agents inside their context window."""
