"""``leafscar settings``: show the settings and where each comes from, or set some (docs/settings.md)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import msgspec

from leafscar.cli.show import say
from leafscar.config import Settings, current_folder, parse_pairs, plain, read_settings, shown, write_settings
from leafscar.engine import parse_policy
from leafscar.errors import SettingsError

__all__ = ["NO_SESSION", "settings_command", "settings_data", "settings_lines"]

NO_SESSION = "no prune yet; last gate: none (no session is attached)"
"""The state of a command that stands alone; a host puts its own session's state in its place."""

_AUTO = frozenset({"pruning.minResultTokens", "pruning.protectCurrentTurn"})
_NO_EFFECT = frozenset({"leafscar.continuity"})


@click.command("settings")
@click.argument("pairs", nargs=-1, metavar="[KEY=VALUE]...")
@click.option(
    "--cwd",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The project's folder; default: the current one.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def settings_command(pairs: tuple[str, ...], cwd: Path | None, *, as_json: bool) -> None:
    """Show the settings, each with its source, or set keys and save them.

    Pairs go to the project's .pi/settings.json when there is one, else to the user's own settings.json. Keys:
    enabled, minResultTokens, protectCurrentTurn, and leafscar's policy, pins, neverPrune.tools, neverPrune.paths,
    windowCap, prompts, boundThinking, shedArguments and, with no effect yet, continuity.
    """
    try:
        settings, saved = _apply(cwd or current_folder(), pairs)
    except SettingsError as error:
        _complain(error.problems)
        raise click.exceptions.Exit(error.exit_code) from error
    _complain(settings.problems)
    if as_json:
        say(json.dumps(settings_data(settings, saved=saved), indent=2))
        return
    for line in settings_lines(settings, saved=saved):
        say(line)


def _apply(folder: Path, pairs: Sequence[str]) -> tuple[Settings, Path | None]:
    if not pairs:
        return read_settings(folder), None
    written = write_settings(folder, parse_pairs(pairs))
    return written.settings, written.path


def _complain(problems: Sequence[str]) -> None:
    for problem in problems:
        say(problem, err=True)


def settings_lines(settings: Settings, *, state: str = NO_SESSION, saved: Path | None = None) -> list[str]:
    """Text for a person: the three keys, leafscar's keys that a file sets, and the state line."""
    rows = [row for row in _rows(settings) if row.key.startswith("pruning.") or row.source != "default"]
    cells = [(row.key, *row.cells) for row in rows]
    widths = [max(len(cell[column]) for cell in cells) for column in (0, 1)]
    lines = [f"{key:<{widths[0]}}  {value:<{widths[1]}}  {source}".rstrip() for key, value, source in cells]
    lines.append(f"state: {state}")
    return [*lines, f"(saved to {plain(str(saved))})"] if saved else lines


def settings_data(settings: Settings, *, state: str = NO_SESSION, saved: Path | None = None) -> dict[str, object]:
    """Everything for a program: each value with its source; value null and source auto where the policy decides."""
    values = {row.key: {"value": row.value, "source": row.source} for row in _rows(settings)}
    return {
        "settings": values,
        "compaction": msgspec.to_builtins(settings.compaction),
        "state": state,
        "problems": list(settings.problems),
        "files": {"project": str(settings.project_path), "global": str(settings.global_path)},
        "saved": str(saved) if saved else None,
    }


class _Row(msgspec.Struct, frozen=True):
    key: str
    value: object
    source: str

    @property
    def cells(self) -> tuple[str, str]:
        """Value and source as a person reads them."""
        if self.source == "auto":
            return "auto (not set)", ""
        source = f"({self.source}) (no effect yet)" if self.key in _NO_EFFECT else f"({self.source})"
        return plain(self.value) if isinstance(self.value, str) else shown(self.value), source


def _rows(settings: Settings) -> list[_Row]:
    return [_row(settings, key, value) for key, value in _values(settings)]


def _row(settings: Settings, key: str, value: object) -> _Row:
    source = settings.sources.get(key, "default")
    if source == "default" and key in _AUTO and parse_policy(settings.leafscar.policy).own_rules:
        return _Row(key, None, "auto")
    return _Row(key, value, source)


def _values(settings: Settings) -> Iterator[tuple[str, object]]:
    yield from _flat("pruning", msgspec.to_builtins(settings.pruning))
    yield from _flat("leafscar", msgspec.to_builtins(settings.leafscar))


def _flat(prefix: str, section: dict[str, object]) -> Iterator[tuple[str, object]]:
    for name, value in section.items():
        if isinstance(value, dict):
            yield from _flat(f"{prefix}.{name}", value)  # pyright: ignore[reportUnknownArgumentType]
        else:
            yield f"{prefix}.{name}", value
