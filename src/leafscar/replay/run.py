"""Replaying sessions: which policies, on which window, at which prices (docs/replay.md)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median

from msgspec import Struct

from leafscar.engine import Facts, ShedSettings
from leafscar.errors import LeafscarError, SessionError
from leafscar.estimate import estimate_tokens
from leafscar.model.facts import binds_thinking
from leafscar.replay.cache import cache_model_for
from leafscar.replay.prices import Prices, find_prices
from leafscar.replay.recording import Recording, read_recording
from leafscar.replay.result import Assumption, PolicyResult, ReplayResult, SessionResult
from leafscar.replay.rows import NEVER_CUT, RECORDED, modelled_row, policy_of, recorded_row, virtual_row
from leafscar.replay.simulate import Setup
from leafscar.replay.sizes import Sizes, measure_sizes
from leafscar.replay.verdict import compare, cost_ratio, not_helped, run_verdict, session_verdict
from leafscar.replay.window import RecordedCut, Window, resolve_window
from leafscar.session import Session, load

__all__ = ["DEFAULT_POLICIES", "Options", "find_sessions", "replay_files", "replay_session"]

DEFAULT_POLICIES = (RECORDED, NEVER_CUT, "compaction", "classic", "balanced", "fewest-cuts", "thrifty")
"""Rows of a replay when none is asked for."""

_ASSUMED_SUMMARY = 1500
"""Tokens of a virtual summary in a session that records none."""


class Options(Struct, frozen=True, kw_only=True):
    """What a user asked for."""

    policies: tuple[str, ...] = DEFAULT_POLICIES
    model: str | None = None
    """Model to take window and prices of, instead of the recorded one."""
    window: int | None = None
    """Tokens."""
    shed: ShedSettings = ShedSettings()
    reserve_tokens: int | None = None
    """``compaction.reserveTokens`` of the settings files; None when they do not say."""
    window_cap: int | None = None
    """``leafscar.windowCap``, in tokens."""


def find_sessions(paths: Iterable[Path]) -> list[Path]:
    """Session files among the given files and, sorted, in the given folders."""
    found: list[Path] = []
    for path in paths:
        found += sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]
    return found


def replay_files(paths: Sequence[Path], options: Options, version: str) -> ReplayResult:
    """Replay every file; what cannot be replayed is named, with the reason."""
    sessions: list[SessionResult] = []
    skipped: list[str] = []
    for path in paths:
        try:
            sessions.append(replay_session(load(path), options))
        except LeafscarError as fault:
            skipped.append(str(fault) if isinstance(fault, SessionError) else f"{path}: {fault}")
    return ReplayResult(verdict=run_verdict(sessions), sessions=sessions, skipped=skipped, version=version)


def replay_session(session: Session, options: Options) -> SessionResult:
    """Replay one session under every policy asked for.

    Raises :class:`SessionError` when it holds no request, :class:`WindowUnknown` when nothing states the window.
    """
    recording = read_recording(session)
    if not recording.requests:
        raise SessionError(session.path or "session", "holds no request to replay", hint="name a session with answers")
    sizes = measure_sizes(recording)
    prices = find_prices(recording.provider, options.model or recording.model, at=_epoch(recording))
    window = _window(recording, options, prices)
    setup = _setup(recording, sizes, prices, window, options)
    baseline = modelled_row(setup)
    recorded = recorded_row(setup)
    error = _error(recorded, baseline)
    rows = [recorded if name == RECORDED else virtual_row(setup, name) for name in options.policies]
    rows = compare(rows, baseline, error)
    return SessionResult(
        path=str(session.path or ""),
        session_id=session.header.id if session.header else "",
        model=recording.model,
        provider=recording.provider,
        requests=len(recording.requests),
        messages=sum(entry.message is not None for entry in recording.path),
        window=window.tokens,
        window_source=window.detail,
        baseline=RECORDED,
        error=error,
        policies=rows,
        assumptions=list(_assumptions(setup, baseline, window)),
        problems=[f"line {problem.line}: {problem.message}" for problem in session.problems],
        not_helped=[*not_helped(rows, window.tokens), *recording.notes],
        verdict=session_verdict(rows, baseline, error, window.tokens),
    )


def _window(recording: Recording, options: Options, prices: Prices | None) -> Window:
    cuts = (recording.path[at].get("tokensBefore") for at in recording.cuts)
    known = [RecordedCut(tokens_before=size) for size in cuts if isinstance(size, int | float) and size > 0]
    readings = [request.prompt for request in recording.requests if request.prompt is not None]
    return resolve_window(
        flag=options.window,
        cuts=() if options.model else known,
        prices=prices,
        readings=() if options.model else readings,
        model=options.model or recording.model,
    )


def _setup(recording: Recording, sizes: Sizes, prices: Prices | None, window: Window, options: Options) -> Setup:
    model = options.model or recording.model or ""
    return Setup(
        recording=recording,
        sizes=sizes,
        facts=Facts(
            window=window.tokens,
            cap=options.window_cap,
            reserve_tokens=16_384 if options.reserve_tokens is None else options.reserve_tokens,
            reserve_is_set=options.reserve_tokens is not None,
            bound_thinking=binds_thinking(model),
        ),
        prices=prices,
        cache=cache_model_for(recording.provider or "", recording.api or "", model, prices),
        summary_tokens=_summary_tokens(recording, sizes),
        shed=options.shed,
    )


def _summary_tokens(recording: Recording, sizes: Sizes) -> float:
    messages = [recording.path[at].message for at in recording.cuts]
    known = [estimate_tokens(message) * sizes.k for message in messages if message is not None]
    return median(known) if known else _ASSUMED_SUMMARY


def _epoch(recording: Recording) -> float | None:
    stamp = recording.requests[0].message.timestamp / 1000
    written = recording.requests[0].entry.timestamp_ms
    return stamp if stamp > 1e8 else written / 1000 if written is not None else None  # noqa: PLR2004 - 1973


def _error(recorded: PolicyResult, modelled: PolicyResult) -> float | None:
    """Share by which the model misses the recorded bill; None when the recording does not tell its cache use."""
    ratio = None if recorded.units is None else cost_ratio(modelled, recorded)
    return None if ratio is None else abs(ratio - 1)


def _assumptions(setup: Setup, baseline: PolicyResult, window: Window) -> Iterable[Assumption]:
    sizes, prices = setup.sizes, setup.prices
    source = "measured" if sizes.readings else "assumed"
    overhead = "unknown, counted as 0" if sizes.overhead is None else f"{sizes.overhead:,.0f} tokens"
    yield Assumption(name="window", value=f"{window.tokens:,} tokens", source=window.source)
    yield Assumption(name="system prompt and tools", value=overhead, source=source)
    size = f"characters / 4 x {sizes.k:.2f}, corrected between {sizes.readings} readings"
    if sizes.unexplained:
        size += f", {sizes.unexplained} of them moved for reasons that the recording does not show"
    yield Assumption(name="size of a message", value=size, source=source)
    yield Assumption(name="prices", value=_price_text(prices), source="prices" if prices else "assumed")
    yield Assumption(name="cache model", value=setup.cache.sentence, source="prices" if prices else "assumed")
    told = "recorded" if setup.recording.cuts else "assumed"
    yield Assumption(name="virtual summary", value=f"{setup.summary_tokens:,.0f} tokens, read uncached", source=told)
    cost = "unknown" if baseline.cost is None else f"${baseline.cost:.2f}"
    yield Assumption(name="the session under the cache model", value=cost, source="inferred")
    same = "the agent would have said and done the same; what it re-read after a cut stays in"
    yield Assumption(name="behaviour", value=same, source="assumed")


def _price_text(prices: Prices | None) -> str:
    if prices is None:
        return "unknown; bills are input-token equivalents, output counted 5x"
    shown = {"input": prices.input, "output": prices.output, "read": prices.cache_read, "write": prices.cache_write}
    listed = ", ".join(f"{name} ${value:g}" for name, value in shown.items() if value is not None)
    return f"{listed} per million tokens ({prices.source})"


def check_policies(names: Iterable[str]) -> None:
    """Raise :class:`PolicyError` for the first name that is no policy."""
    for name in names:
        policy_of(name)
