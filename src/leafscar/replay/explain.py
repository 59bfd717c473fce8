"""Why control did what it did at one request of a replay (docs/replay.md).

All numbers are those that the Controller had and told; only the words are made here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from leafscar.engine import Controller, Event, Policy
from leafscar.engine.decide import View
from leafscar.errors import LeafscarError
from leafscar.model import ToolResult
from leafscar.replay.alternatives import Situation, alternatives_of
from leafscar.replay.numbers import count
from leafscar.replay.recording import RecordedRequest, read_replayable
from leafscar.replay.result import Moment
from leafscar.replay.rows import lines_of, policy_of
from leafscar.replay.run import Options, setup_of
from leafscar.replay.simulate import Step, simulate
from leafscar.replay.sizes import measure_sizes
from leafscar.session import Session

__all__ = ["Explanation", "Rest", "Sheddable", "Told", "explain_request"]


class Rest(Struct, frozen=True, kw_only=True):
    """The reading that an estimate rests on."""

    reference: str
    """Response that reported it."""
    tokens: float
    messages_after: int
    """Messages that only the estimate counts."""


class Sheddable(Struct, frozen=True, kw_only=True):
    """One output that a move could have replaced."""

    reference: str
    tool: str
    saved: float
    """Tokens that go away with it."""
    older: bool
    """Whether it stands before the current turn, or is a superseded read."""


class Told(Struct, frozen=True, kw_only=True):
    """One event of the controller."""

    kind: str
    reason: str
    estimate: float
    """Tokens before it took effect."""
    after: float | None
    """Tokens after it; None when not known."""
    outputs: int
    saved: float
    """Tokens that a move took out."""


class Explanation(Struct, frozen=True, kw_only=True):
    """One request under one policy: what was seen, what was done, and what was not."""

    path: str
    policy: str
    request: int
    """1-based."""
    requests: int
    reference: str
    """The recorded response to it."""
    window: int
    lines: dict[str, float]
    """Tokens, by name."""
    estimate: float
    """Tokens of the request before anything was decided."""
    rests_on: Rest | None
    """None: on sizes alone."""
    cold: bool
    """Whether the provider's cache had expired."""
    idle: float | None
    """Seconds since the request before; None for the first one, or when the recording does not say."""
    ttl: float
    """Seconds that the cache lives."""
    engaged: bool
    """Whether moves were made (``classic``: T was crossed) since the newest cut."""
    already: float
    """Tokens that earlier moves had taken out."""
    older: float
    """Tokens that a move of older material would have taken out."""
    fullest: float
    """Tokens that the fullest allowed move would have taken out."""
    outputs: list[Sheddable]
    """The largest first."""
    decision: str
    """What was done and why, in a sentence."""
    events: list[Told]
    """What the controller told, in order."""
    rejected: list[str]
    """What was not done, with its numbers, one sentence each."""
    sent: Moment
    """What went out."""
    move_before: int | None
    """Request of the move before this one; None: there was none."""
    move_after: int | None
    cut_before: int | None
    cut_after: int | None


def explain_request(session: Session, options: Options, number: int, policy: str | Policy) -> Explanation:
    """Run ``policy``, or the policy of that name, over the session and explain its ``number``-th request.

    Raises :class:`LeafscarError` when there is no such request, and what a replay raises.
    """
    recording = read_replayable(session)
    if not 1 <= number <= len(recording.requests):
        raise LeafscarError(f"no request {number:,}: the session has requests 1 to {len(recording.requests):,}")
    setup, _ = setup_of(recording, measure_sizes(recording), options)
    watch = _Watch(session, number)
    moments = simulate(setup, policy_of(policy) if isinstance(policy, str) else policy, watches=(watch,)).moments
    seen, step = watch.seen, watch.step
    assert seen is not None
    assert step is not None
    move_before, move_after = _around((moment.request for moment in moments if moment.shed), number)
    cut_before, cut_after = _around((moment.request for moment in moments if moment.cut), number)
    controller = step.controller
    return Explanation(
        path=str(session.path or ""),
        policy=policy if isinstance(policy, str) else policy.name,
        request=number,
        requests=len(recording.requests),
        reference=session.reference_for(step.request.entry),
        window=seen.situation.lines.window,
        lines=lines_of(controller.facts, controller.policy),
        estimate=seen.situation.view.estimate,
        rests_on=seen.rests_on,
        cold=seen.situation.view.cold,
        idle=_idle(recording.requests, number),
        ttl=step.tariff.cache.ttl,
        engaged=seen.situation.view.engaged,
        already=seen.situation.view.already,
        older=seen.situation.view.older,
        fullest=seen.situation.view.fullest,
        outputs=seen.outputs,
        decision=_decision(step.events),
        events=[_told(event) for event in step.events],
        rejected=list(alternatives_of(seen.situation, {event.kind for event in step.events})),
        sent=step.moment,
        move_before=move_before,
        move_after=move_after,
        cut_before=cut_before,
        cut_after=cut_after,
    )


class _Seen(Struct, frozen=True, kw_only=True):
    situation: Situation
    rests_on: Rest | None
    outputs: list[Sheddable]


class _Watch:
    """Looks at one request of a run."""

    def __init__(self, session: Session, number: int) -> None:
        self.seen: _Seen | None = None
        self.step: Step | None = None
        self._session = session
        self._number = number

    def before(self, request: RecordedRequest, controller: Controller) -> None:
        """Keep what the controller saw before it decided."""
        if request.number == self._number:
            view = controller.view()
            self.seen = _Seen(
                situation=Situation(
                    policy=controller.policy,
                    lines=controller.lines,
                    facts=controller.facts,
                    view=view,
                    state=controller.state,
                ),
                rests_on=self._rest(controller),
                outputs=self._outputs(controller, view),
            )

    def after(self, step: Step) -> None:
        """Keep what it did."""
        if step.request.number == self._number:
            self.step = step

    def _rest(self, controller: Controller) -> Rest | None:
        anchor, items = controller.anchor, controller.items
        if anchor is None:
            return None
        return Rest(
            reference=self._session.reference_for(items[anchor.position].entry),
            tokens=anchor.tokens,
            messages_after=len(items) - anchor.position - 1,
        )

    def _outputs(self, controller: Controller, view: View) -> list[Sheddable]:
        ledger, positions = controller.ledger, controller.sheddable()
        raw = sum(ledger.outputs[position].saving for position in positions)
        older = set(ledger.chosen(fullest=False))
        found = [
            Sheddable(
                reference=self._session.reference_for(ledger.items[position].entry),
                tool=_tool(ledger.items[position].message),
                saved=ledger.outputs[position].saving * view.fullest / raw,
                older=position in older,
            )
            for position in positions
        ]
        return sorted(found, key=lambda output: -output.saved)


def _tool(message: object) -> str:
    return message.tool_name if isinstance(message, ToolResult) else "bash"


def _around(requests: Iterable[int], number: int) -> tuple[int | None, int | None]:
    """The last of some requests before ``number``, and the first after it."""
    every = list(requests)
    return (
        max((each for each in every if each < number), default=None),
        min((each for each in every if each > number), default=None),
    )


def _idle(requests: Sequence[RecordedRequest], number: int) -> float | None:
    now = requests[number - 1].at
    before = requests[number - 2].at if number > 1 else None
    return None if now is None or before is None else now - before


def _told(event: Event) -> Told:
    return Told(
        kind=event.kind,
        reason=event.reason,
        estimate=event.estimate,
        after=event.after,
        outputs=event.outputs,
        saved=event.saved,
    )


_ASIDE = ("anchor-refused", "loop-breaker", "resync", "summarise")
"""Events that explain a decision and are none."""


def _decision(events: Iterable[Event]) -> str:
    return "; ".join(_words(event) for event in events if event.kind not in _ASIDE)


def _words(event: Event) -> str:
    match event.kind:
        case "shed":
            return f"moved {count(event.outputs, 'output')} out (~{event.saved:,.0f} tokens): {event.reason}"
        case "cut":
            return f"cut ({event.reason}): {event.estimate:,.0f} tokens became ~{event.after or 0:,.0f}"
        case kind:
            return f"{_OTHER.get(kind, _AS_IT_WAS)}: {event.reason}"


_AS_IT_WAS = "sent as it was"
_OTHER = {
    "nothing-to-cut": "wanted to cut, but nothing can be cut",
    "off": "sent as it was, control is off",
    "over-threshold": "sent above the threshold",
}
