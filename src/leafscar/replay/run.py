"""Replaying sessions: which policies, on which window, at which prices (docs/replay.md)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import median
from traceback import extract_tb

from msgspec import Struct, structs

from leafscar.config import Settings
from leafscar.engine import DEFAULT_POLICY
from leafscar.errors import LeafscarError, SessionError
from leafscar.estimate import estimate_tokens
from leafscar.hindsight import later_uses
from leafscar.replay.choices import Choice
from leafscar.replay.departures import DepartureWatch
from leafscar.replay.equal import equal_cuts
from leafscar.replay.facts import cut_settings, facts_of, shed_settings, window_of
from leafscar.replay.held import held_of
from leafscar.replay.money import MoneyWatch
from leafscar.replay.needed import needed_of, with_fate
from leafscar.replay.prices import Prices
from leafscar.replay.recording import Recording, read_replayable
from leafscar.replay.result import Assumption, PolicyResult, ReplayResult, SessionResult
from leafscar.replay.rows import NEVER_CUT, RECORDED, modelled_row, recorded_row, summaries_bill, virtual_row
from leafscar.replay.run_verdict import run_not_helped, run_verdict
from leafscar.replay.shares import money_of
from leafscar.replay.simulate import Setup
from leafscar.replay.sizes import Sizes, measure_sizes
from leafscar.replay.tariffs import tariffs_of
from leafscar.replay.verdict import compare, cost_ratio, not_helped, session_verdict
from leafscar.replay.window import Window
from leafscar.session import Session, load
from leafscar.session.foreign import is_recording, stored_sessions
from leafscar.session.openhands_files import conversation_of, is_conversation

__all__ = [
    "DEFAULT_POLICIES", "Options", "bill_error", "find_sessions", "replay_files", "replay_session", "setup_of",
]  # fmt: skip

DEFAULT_POLICIES = (RECORDED, NEVER_CUT, "compaction", "classic", "balanced", "fewest-cuts", "thrifty")
"""Rows of a replay when none is asked for."""

_FEW_REQUESTS = 5
_ASSUMED_SUMMARY = 1500
"""Tokens of a virtual summary in a session that records none."""

_OTHER_SUFFIXES = (".json", ".md", ".traj", ".db")


class Options(Struct, frozen=True, kw_only=True):
    """What a user asked for."""

    policies: tuple[str | Choice, ...] = DEFAULT_POLICIES
    model: str | None = None
    """Model to take window and prices of, instead of the recorded one."""
    window: int | None = None
    """Tokens."""
    settings: Settings = Settings()
    """What the settings files say."""
    equal_cuts: bool = False
    """Whether to run ``compaction`` at more lines, for a comparison at equal cuts."""


def find_sessions(paths: Iterable[Path]) -> list[Path]:
    """Session files among the given files and, sorted, in the given folders, each once; folders without any stay.

    In a folder every ``.jsonl`` file counts, and of other files those that a reader recognises. A database stands for
    its sessions, a folder of OpenHands' events for its conversation.
    """
    found: dict[str, Path] = {}
    for path in paths:
        inside = _inside(path) if os.path.isdir(path) else []  # noqa: PTH112 - False where a path cannot be looked at
        for each in inside or [path]:
            found |= {_real(one): one for one in _sessions_of(each)}
    return list(found.values())


def _real(path: Path) -> str:
    try:
        return os.path.realpath(path)
    except OSError:  # a link that went away meanwhile
        return os.path.abspath(path)  # noqa: PTH100 - as text, like the above


def _inside(folder: Path) -> list[Path]:
    """Sessions in a folder, by name; the files of a conversation stand for its folder."""
    if is_conversation(folder):
        return [folder]
    found = ((each, conversation_of(each)) for each in sorted(folder.rglob("*")))
    return list(dict.fromkeys(held or each for each, held in found if held or _is_session(each)))


def _sessions_of(path: Path) -> list[Path]:
    """The sessions of a database; else, and where it cannot be read, the path itself."""
    try:
        held = stored_sessions(path)
    except SessionError:
        return [path]  # what is wrong is said where it is replayed
    return held or [path]


def _is_session(path: Path) -> bool:
    if not os.path.isfile(path):  # noqa: PTH113 - as above; opening a pipe would wait for its writer
        return False
    return path.suffix == ".jsonl" or (path.suffix in _OTHER_SUFFIXES and is_recording(path))


def _in_silence(words: str) -> None:
    del words


def replay_files(
    paths: Sequence[Path], options: Options, version: str, *, tell: Callable[[str], None] = _in_silence
) -> ReplayResult:
    """Replay every file; what cannot be replayed is named, with the reason. ``tell`` hears what is done next."""
    sessions: list[SessionResult] = []
    skipped: list[str] = []
    for number, path in enumerate(paths, 1):
        tell(where := f"{number} of {len(paths)}: {path.name}")
        try:
            sessions.append(_replay_path(path, options, lambda words, where=where: tell(f"{where}, {words}")))
        except LeafscarError as fault:
            skipped.append(str(fault) if isinstance(fault, SessionError) else f"{path}: {fault}")
        except Exception as fault:  # noqa: BLE001 - a fault of ours must not cost the other files; it is told
            skipped.append(_unexpected(path, fault))
    return ReplayResult(
        verdict=run_verdict(sessions),
        not_helped=run_not_helped(sessions),
        sessions=sessions,
        skipped=skipped,
        version=version,
    )


def _unexpected(path: Path, fault: Exception) -> str:
    """Say where leafscar failed; not the fault's own words, which may hold text of the session."""
    where = extract_tb(fault.__traceback__)[-1]
    place = f"{type(fault).__name__} in {where.name}, {Path(where.filename).name} line {where.lineno}"
    return f"{path}: leafscar itself failed ({place}); please report this line"


def _replay_path(path: Path, options: Options, tell: Callable[[str], None]) -> SessionResult:
    if os.path.isdir(path) and not is_conversation(path):  # noqa: PTH112 - as above
        raise SessionError(path, "holds no session file", hint="name a folder of sessions")
    return replay_session(load(path), options, tell=tell)


def replay_session(session: Session, options: Options, *, tell: Callable[[str], None] = _in_silence) -> SessionResult:
    """Replay one session under every policy asked for; ``tell`` hears each before it is run.

    Raises :class:`SessionError` when it holds no request, :class:`WindowUnknown` when nothing states the window.
    """
    recording = read_replayable(session)
    sizes = measure_sizes(recording)
    setup, window = setup_of(recording, sizes, options)
    names = [policy if isinstance(policy, str) else policy.name for policy in options.policies]
    money, gone = MoneyWatch(setup), {name: DepartureWatch() for name in (RECORDED, *names)}
    baseline = checked = modelled_row(setup, (money, gone[RECORDED]))
    if options.model is None:
        recorded = recorded_row(setup)
    else:
        own, _ = setup_of(recording, sizes, structs.replace(options, model=None, window=window.tokens))
        recorded = _on_own_terms(recorded_row(own), recording, options.model)
        checked = modelled_row(own)
    error = bill_error(recorded, checked)
    uses = later_uses(recording.path, cwd=session.cwd)
    rows: list[PolicyResult] = []
    for name, policy in zip(names, options.policies, strict=True):
        tell(name)
        rows.append(recorded if policy == RECORDED else virtual_row(setup, policy, (gone[name],)))
    rows = [structs.replace(row, needed_later=needed_of(gone[row.policy].gone, uses)) for row in rows]
    rows = compare(rows, baseline, error)
    spent = money_of(
        money,
        summaries_bill(setup),
        modelled=baseline,
        recorded=recorded,
        checked=checked,
        reference_for=session.reference_for,
    )
    fates = gone[DEFAULT_POLICY].gone if DEFAULT_POLICY in gone else {}
    return SessionResult(
        path=str(session.path or ""),
        session_id=session.header.id if session.header else "",
        model=recording.model,
        provider=recording.provider,
        requests=len(recording.requests),
        messages=sum(entry.message is not None for entry in recording.path),
        cuts=len(recording.cuts),
        window=window.tokens,
        window_source=window.detail,
        baseline=RECORDED,
        error=error,
        policies=rows,
        assumptions=list(_assumptions(setup, baseline, window)),
        problems=[*recording.notes, *(f"line {problem.line}: {problem.message}" for problem in session.problems)],
        not_helped=list(not_helped(rows, window.tokens, error)),
        verdict=session_verdict(rows, baseline, error, window.tokens),
        money=structs.replace(spent, outputs=with_fate(spent.outputs, fates, uses, recording.requests)),
        equal_cuts=equal_cuts(rows, lambda name: virtual_row(setup, name)) if options.equal_cuts else [],
        held=held_of(setup, DEFAULT_POLICY),
    )


def _on_own_terms(row: PolicyResult, recording: Recording, model: str) -> PolicyResult:
    note = f"the bill of {recording.model or 'an unknown model'} as it was; the other rows are priced as {model}"
    return structs.replace(row, notes=[*row.notes, note])


def setup_of(recording: Recording, sizes: Sizes, options: Options) -> tuple[Setup, Window]:
    """What all policies of a session share, and its window. Raises :class:`WindowUnknown`."""
    settings, model = options.settings, options.model
    tariffs = tariffs_of(recording, model)
    window = window_of(recording, flag=options.window, model=model, prices=tariffs.main.prices)
    setup = Setup(
        recording=recording,
        sizes=sizes,
        facts=facts_of(recording, settings, window=window.tokens, model=model),
        tariffs=tariffs,
        summary_tokens=_summary_tokens(recording, sizes),
        warm=0 if model is not None else _warm_start(recording),
        shed=shed_settings(settings),
        cut=cut_settings(recording, settings, model=model),
    )
    return setup, window


def _warm_start(recording: Recording) -> float:
    """What the first request read from the cache before anything of the session was sent."""
    usage = recording.requests[0].usage
    return (usage.cache_read or 0) if usage is not None else 0


def _summary_tokens(recording: Recording, sizes: Sizes) -> float:
    messages = [recording.path[at].message for at in recording.cuts]
    known = [estimate_tokens(message) * sizes.k for message in messages if message is not None]
    told = [size for size in known if size > 0]  # one that is encrypted, or not in the file, reads as nothing
    return median(told) if told else _ASSUMED_SUMMARY


def bill_error(recorded: PolicyResult, modelled: PolicyResult) -> float | None:
    """Share by which the model misses the recorded bill; None when one of them tells of no cache."""
    unlike = recorded.hit_ratio and not modelled.hit_ratio  # it was cached, and nothing is known of that cache
    few = len(recorded.moments) < _FEW_REQUESTS  # sizes come from the very readings that would check them
    ratio = None if recorded.units is None or unlike or few else cost_ratio(modelled, recorded)
    return None if ratio is None else abs(ratio - 1)


def _assumptions(setup: Setup, baseline: PolicyResult, window: Window) -> Iterable[Assumption]:
    sizes, prices = setup.sizes, setup.tariffs.main.prices
    source = "measured" if sizes.readings else "assumed"
    yield Assumption(name="window", value=f"{window.tokens:,} tokens", source=window.source)
    stated = "settings" if setup.facts.reserve_is_set else "assumed"
    reserve = f"{setup.facts.reserve_tokens:,} tokens free below the window; what its host kept is not recorded"
    yield Assumption(name="reserve", value=reserve, source=stated)
    yield Assumption(name="system prompt and tools", value=_overhead_text(sizes), source=source)
    yield Assumption(name="size of a message", value=_size_text(sizes), source=source)
    if setup.tariffs.others:
        yield Assumption(name="models", value=_models_text(setup), source="recorded")
    listed = "prices" if prices else "assumed"
    yield Assumption(name="prices", value=_price_text(prices), source=listed)
    cache = setup.tariffs.main.cache
    lifetime = "; most recorded writes asked for one hour" if cache.hour else ""
    yield Assumption(name="cache model", value=cache.sentence + lifetime, source=listed)
    if setup.warm:
        warm = f"{setup.warm:,.0f} tokens of the first request stood in the cache before it"
        yield Assumption(name="warm start", value=warm, source="recorded")
    told = "recorded" if setup.recording.cuts else "assumed"
    yield Assumption(
        name="virtual summary", value=f"{setup.summary_tokens:,.0f} tokens a call, its input uncached", source=told
    )
    cost = "unknown" if baseline.cost is None else f"${baseline.cost:.2f}"
    yield Assumption(name="the session under the cache model", value=cost, source="inferred")
    same = "the agent would have said and done the same: re-reads after its cuts stay in, recalls are not counted"
    yield Assumption(name="behaviour", value=same, source="assumed")


def _overhead_text(sizes: Sizes) -> str:
    if sizes.overhead is None:
        return "unknown, counted as 0"
    return f"{sizes.overhead:,.0f} tokens" if sizes.overhead else "nothing beyond the recorded messages"


def _size_text(sizes: Sizes) -> str:
    if not sizes.readings:
        return "characters / 4: there is no reading to check it"
    text = f"characters / 4 x {sizes.k:.2f}, corrected between {sizes.readings} readings"
    if sizes.unexplained:
        text += f", {sizes.unexplained} of them moved for reasons that the recording does not show"
    return text


def _models_text(setup: Setup) -> str:
    count = len(setup.tariffs.others) + 1
    return f"{count}, each at its own prices; window and the cache model below are those of {setup.recording.model}"


def _price_text(prices: Prices | None) -> str:
    if prices is None:
        return "unknown; bills are input-token equivalents, output counted 5x"
    shown = {"input": prices.input, "output": prices.output, "read": prices.cache_read, "write": prices.cache_write}
    listed = ", ".join(f"{name} ${value:g}" for name, value in shown.items() if value is not None)
    return f"{listed} per million tokens ({prices.source})"
