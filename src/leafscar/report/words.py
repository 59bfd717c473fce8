"""Words that both views use, and the cleaning of words that come from recordings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from leafscar.replay.result import Assumption, PolicyResult, ReplayResult, SessionResult
from leafscar.report.numbers import UNKNOWN, count, percent, tokens

__all__ = [
    "INFERRED",
    "UNITS",
    "breaks_by_cause",
    "clean",
    "enumerated",
    "error_sentence",
    "heading",
    "model_of",
    "policies_of",
    "sizes",
    "sourced",
    "window_sentence",
]

INFERRED = "~ marks inferred numbers. Rows that were not recorded are simulated, counts included."
UNITS = "No price is known here: units are input-token equivalents (docs/cost-model.md)."

_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def clean(text: str) -> str:
    """Make foreign text safe to show: control and direction characters and lone surrogates become U+FFFD."""
    return _UNSAFE.sub("\ufffd", text)


def heading(session: SessionResult) -> str:
    """What a session is called: its path, else its id."""
    return session.path or session.session_id or UNKNOWN


def model_of(session: SessionResult) -> str:
    """Name the model and who serves it."""
    return f"{session.model or UNKNOWN} ({session.provider or 'provider ' + UNKNOWN})"


def sizes(session: SessionResult) -> str:
    """Requests and messages in words."""
    return f"{count(session.requests, 'request')}, {count(session.messages, 'message')}"


def window_sentence(session: SessionResult) -> str:
    """State the window and where it comes from."""
    return f"{tokens(session.window or None)} tokens; {session.window_source or 'source ' + UNKNOWN}"


def error_sentence(session: SessionResult) -> str:
    """What deltas refer to, and how far the cache model may be trusted here."""
    return (
        f"against {session.baseline} under the cache model, which misses the recorded bill by {_share(session.error)}"
    )


def _share(error: float | None) -> str:
    return f"an {UNKNOWN} share" if error is None else percent(error)


def policies_of(result: ReplayResult) -> list[str]:
    """Names of all policies in order of first appearance."""
    return list(dict.fromkeys(policy.policy for session in result.sessions for policy in session.policies))


def breaks_by_cause(policy: PolicyResult) -> str:
    """Write ``7 breaks: 4 shape, 3 expired``; without marked moments just the number."""
    causes = Counter(moment.break_cause for moment in policy.moments if moment.break_cause)
    parts = ", ".join(f"{number} {cause}" for cause, number in causes.most_common())
    return count(policy.breaks, "break") + (f": {parts}" if parts else "")


def enumerated(numbers: Iterable[int], limit: int = 12) -> str:
    """List the first few numbers, then how many more there are."""
    every = list(numbers)
    more = f" and {len(every) - limit:,} more" if len(every) > limit else ""
    return ", ".join(str(number) for number in every[:limit]) + more


def sourced(assumptions: Sequence[Assumption]) -> list[str]:
    """Each assumption in one line: name, value, source."""
    return [f"{one.name}: {one.value} ({one.source})" for one in assumptions]
