"""The page: one file without network (docs/adr/0050-report-is-one-still-page.md)."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from leafscar.replay.result import ReplayResult
from leafscar.report.markup import code, paragraph, safe
from leafscar.report.numbers import count
from leafscar.report.overview import side_by_side
from leafscar.report.sections import policy_table, session_section
from leafscar.report.sort import SCRIPT, SCRIPT_SOURCE
from leafscar.report.style import STYLE
from leafscar.report.totals import Total, total_of
from leafscar.report.words import error_sentence, heading, policies_of, sizes

__all__ = ["render_html"]

_POLICY = (
    f"default-src 'none'; style-src 'unsafe-inline'; script-src {SCRIPT_SOURCE}; img-src data:; base-uri 'none'; "
    "form-action 'none'"
)
_NAMED = 5  # sessions up to which the command names them
_NOTHING = "Nothing was replayed."


def render_html(result: ReplayResult, *, command: str = "") -> str:
    """Write the page of a replay; ``command`` is the command line that makes it again."""
    return "\n".join(part for part in _page(result, command) if part) + "\n"


def _page(result: ReplayResult, command: str) -> Iterable[str]:
    yield from _head(result)
    yield "<header>"
    yield f'<p class="kicker">leafscar replay: {safe(_scope(result))}</p>'
    yield f"<h1>{safe(result.verdict or _NOTHING)}</h1>"
    yield "</header>"
    yield "<main>"
    if len(result.sessions) > 1:
        yield from _overview(result)
    for number, session in enumerate(result.sessions, 1):
        yield from session_section(session, number, of=len(result.sessions))
    yield from _skipped(result)
    yield "</main>"
    yield from _footer(result, command)
    yield f"<script>{SCRIPT}</script>\n</body>\n</html>"


def _head(result: ReplayResult) -> Iterable[str]:
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield '<meta name="color-scheme" content="light dark">'
    yield '<link rel="icon" href="data:,">'
    yield f"<title>leafscar replay: {safe(_scope(result))}</title>"
    yield f"<style>{STYLE}</style>\n</head>\n<body>"


def _scope(result: ReplayResult) -> str:
    sessions = result.sessions
    if not sessions:
        return "no session"
    first = heading(sessions[0]) if len(sessions) == 1 else count(len(sessions), "session")
    requests = sum(session.requests for session in sessions)
    policies = len(policies_of(result))
    return f"{first}, {count(requests, 'request')}, {policies:,} {'policy' if policies == 1 else 'policies'}"


def _overview(result: ReplayResult) -> Iterable[str]:
    yield '<section class="session" aria-labelledby="all">'
    yield '<h2 id="all">All sessions</h2>'
    total = total_of(result)
    if total:
        yield from _total(total)
    yield from side_by_side(result)
    yield "</section>"


def _total(total: Total) -> Iterable[str]:
    sentence = f"{total.scope} {sizes(total.session)}; deltas {error_sentence(total.session)}."
    yield paragraph(sentence)
    yield from policy_table(total.session)


def _skipped(result: ReplayResult) -> Iterable[str]:
    if result.skipped:
        yield '<section class="session" aria-labelledby="skipped">'
        yield f'<h2 id="skipped">{count(len(result.skipped), "skipped file")}</h2>\n<ul>'
        yield from (f"<li>{safe(reason)}</li>" for reason in result.skipped)
        yield "</ul>\n</section>"


def _paths(result: ReplayResult) -> str:
    paths = [session.path for session in result.sessions if session.path]
    return shlex.join(paths) if 0 < len(paths) <= _NAMED else "FILE-OR-FOLDER..."


def _footer(result: ReplayResult, command: str) -> Iterable[str]:
    again = command or f"leafscar replay {_paths(result)} --html report.html"
    yield "<footer>"
    yield f"<p>Made by leafscar {safe(result.version)}. Make this page again: {code(again)}</p>"
    yield "</footer>"
