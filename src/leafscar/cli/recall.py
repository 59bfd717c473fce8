"""``leafscar recall``: the output that a marker stands for, or where a text was said (docs/cli.md)."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from pathlib import Path

import click
import msgspec

from leafscar.cli.recall_view import found_lines
from leafscar.cli.show import say
from leafscar.errors import LeafscarError, SessionError
from leafscar.replay import find_sessions
from leafscar.session import Found, Limits, load, recall, search
from leafscar.session.discover import find_recordings
from leafscar.session.pages import Lines

__all__ = ["recall_command"]

_RANGE = re.compile(r"([0-9]{1,9})(-([0-9]{1,9})?)?")
_HITS = 20


def _line_range(ctx: click.Context, param: click.Parameter, value: str | None) -> Lines | None:
    if value is None:
        return None
    read = _RANGE.fullmatch(value)
    if read is None:
        raise click.BadParameter(f"{value!r}: give A-B, A- or A, counted from 1", ctx, param)
    first = int(read[1])
    return first, int(read[3]) if read[3] else None if read[2] else first


@click.command("recall")
@click.argument("file", metavar="[FILE-OR-FOLDER]", required=False, type=click.Path(path_type=Path))
@click.argument("ref", required=False)
@click.option("--lines", callback=_line_range, metavar="A-B", help="Print these lines of it only.")
@click.option("--page", type=int, metavar="N", help="Print this page of 12,000 characters only.")
@click.option("--search", "text", metavar="TEXT", help="Find where this was said or printed.")
@click.option("--regex", is_flag=True, help="TEXT is a regular expression.")
@click.option("--case-sensitive", is_flag=True, help="Letters of another case do not match.")
@click.option("--lost", is_flag=True, help="Only what the context of its session holds no more.")
@click.option("--limit", type=click.IntRange(min=1, max=10_000), default=_HITS, metavar="N", help="Hits to show.")
@click.option("--after", metavar="CURSOR", help="Go on where a search stopped.")
@click.option("--json", "as_json", is_flag=True, help="Print the hits as JSON.")
def recall_command(  # noqa: PLR0913 - one for each option
    file: Path | None,
    ref: str | None,
    *,
    lines: Lines | None,
    page: int | None,
    text: str | None,
    regex: bool,
    case_sensitive: bool,
    lost: bool,
    limit: int,
    after: str | None,
    as_json: bool,
) -> None:
    """Print the tool output that REF names in the session FILE, or --search sessions for TEXT.

    REF is what a marker says: #LINE or an entry id, up to 12,000 characters; with :full all of it, byte for byte.
    With --lines or --page REF may name any entry with words. --search takes a file, a folder, or nothing: then every
    recording that Claude Code, Codex, pi, Gemini CLI and opencode keep on this machine, newest first. Nothing leaves
    the machine.
    """
    if text is None:
        if regex or case_sensitive or lost or after is not None or as_json:
            raise click.UsageError("--regex, --case-sensitive, --lost, --after and --json belong to --search TEXT.")
        if file is None or ref is None:
            raise click.UsageError("Give FILE and REF, or --search TEXT.")
        _print_output(file, ref, lines, page)
        return
    if ref is not None or lines is not None or page is not None:
        raise click.UsageError("--search takes a file or a folder only; REF, --lines and --page print an output.")
    found = search(
        _sessions(file),
        text,
        regex=regex,
        ignore_case=not case_sensitive,
        lost_only=lost,
        limits=Limits(hits=limit),
        after=after,
    )
    _print_found(found, text, as_json=as_json)


def _print_output(file: Path, ref: str, lines: Lines | None, page: int | None) -> None:
    recalled = recall(load(file), ref, lines=lines, page=page)
    stream = sys.stdout.buffer
    stream.write(recalled.text.encode("utf-8", "surrogatepass"))
    if recalled.truncated:
        stream.write(b"\n")
    stream.flush()
    if recalled.truncated and lines is None and page is None:
        say(f"page 2: leafscar recall {shlex.quote(str(file))} {shlex.quote(ref.strip())} --page 2", err=True)


def _sessions(where: Path | None) -> list[Path]:
    if where is not None:
        found = find_sessions([where])
        if found == [where] and where.is_dir():
            raise SessionError(where, "holds no session file", hint="name a folder of sessions")
        return sorted(found, key=_newest_first)
    own = find_recordings(os.environ, Path.home())
    if not own:
        raise LeafscarError(
            "no recordings of Claude Code, Codex, pi, Gemini CLI or opencode on this machine; name a file or folder"
        )
    tools = ", ".join(dict.fromkeys(each.tool for each in own))
    say(f"{len(own)} recordings ({tools}), newest first; nothing leaves this machine", err=True)
    return [each.path for each in own]


def _newest_first(path: Path) -> tuple[float, str]:
    try:
        return -path.stat().st_mtime, str(path)
    except (OSError, ValueError):
        return 0.0, str(path)


def _print_found(found: Found, text: str, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(msgspec.to_builtins(found), indent=2, ensure_ascii=True))
    else:
        for line in found_lines(found, text):
            say(line)
    for reason in found.skipped:
        say(f"skipped: {reason}", err=True)
    if not found.searched and found.skipped:
        raise click.exceptions.Exit(1)
