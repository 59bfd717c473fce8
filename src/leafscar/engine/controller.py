"""The two levels as one decision per request, without I/O (docs/policies.md, docs/architecture.md).

A host calls :meth:`Controller.before_request` with the path of its session before each provider request, does what
comes back, and calls :meth:`Controller.after_response` with the usage that the provider reported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import structs

from leafscar.compaction import CompactionResult, Item, SummaryResponse
from leafscar.engine.cutting import Asked, CutSettings, ask_summary, cut_entry, plan_cut
from leafscar.engine.decide import Decision, Keep, Shed, View, decide
from leafscar.engine.events import Event
from leafscar.engine.facts import Facts, resolve_lines
from leafscar.engine.given import CacheFacts, ShedSettings
from leafscar.engine.ledger import SUPERSEDED_FLOOR, Ledger, ShedRules
from leafscar.engine.plan import Fallback, Outcome, Plan, Send, Summarise
from leafscar.engine.policy import DEFAULT_POLICY, Policy, parse_policy
from leafscar.engine.readings import Anchor, Meter
from leafscar.engine.sizers import Sizer, calibrated_sizer, chars_sizer
from leafscar.engine.state import ControlState
from leafscar.engine.tracker import Tracker
from leafscar.errors import ContextOverflow, SummaryFailed
from leafscar.estimate import Calibrated
from leafscar.model import Entry, EntryLike, Usage
from leafscar.pruning import CLASSIC, DEFAULT, SOURCE

__all__ = ["Controller", "CutSettings"]


def _id_of(entry: Entry) -> str:
    return entry.id


class Controller:
    """Control of one session.

    ``reference_for`` gives the recall reference of an entry (default: its id); ``sizer`` the own raw tokens of a
    message (default: the calibrated estimator, chars/4 in ``classic``); ``state`` restores an earlier run;
    ``trust_entries`` says whether the usage in assistant entries was measured on this controller's requests.
    """

    def __init__(
        self,
        *,
        facts: Facts,
        policy: str | Policy = DEFAULT_POLICY,
        reference_for: Callable[[Entry], str] = _id_of,
        shed: ShedSettings = ShedSettings(),  # noqa: B008 - frozen
        cut: CutSettings = CutSettings(),  # noqa: B008 - frozen
        cache: CacheFacts = CacheFacts(),  # noqa: B008 - frozen
        sizer: Sizer | None = None,
        state: ControlState | None = None,
        trust_entries: bool = True,
    ) -> None:
        self.policy = parse_policy(policy) if isinstance(policy, str) else policy
        self.facts = facts
        """May be replaced between requests: another model, another window."""
        self.lines = resolve_lines(facts, self.policy)
        self._lines_of: Facts = facts
        self._shed_settings = shed
        self._cut_settings = cut
        self._cache = cache
        state = state or ControlState()
        own_rules = self.policy.own_rules
        self._tracker = Tracker(
            self._shed_rules(reference_for),
            sizer or (calibrated_sizer if own_rules else chars_sizer),
            lines=self.lines,
            meter=Meter(
                learns=own_rules and sizer is None, learnt=Calibrated(readings=state.learnt), overhead=state.overhead
            ),
            own_rules=own_rules,
            trust_entries=trust_entries,
            state=state,
            tell=self._tell,
        )
        self._engaged = state.engaged
        self._last_request = state.last_request
        self._retry_above = state.retry_above
        self._cold = False
        self._asked: Asked | None = None
        self._events: list[Event] = []

    # --- the calls of a host -----------------------------------------------------------------------------

    def before_request(
        self, path: Sequence[EntryLike], *, now: float | None = None, requested_output: int = 0
    ) -> Send | Summarise:
        """Decide on the next request of the session whose ``path`` runs from the root to the leaf.

        ``now`` is any clock in seconds (None: unknown, then nothing counts as cold); ``requested_output`` is what the
        request will ask for, in tokens. Raises :class:`ContextOverflow` when it is known not to fit.
        """
        self.follow(path, now=now)
        self._last_request = now
        view = self.view()
        decision = decide(self.policy, self.lines, view)
        asked = self._carry_out(decision, view, requested_output)
        if asked is not None:
            return asked
        estimate = view.estimate if isinstance(decision, Keep) else self._tracker.estimate()
        if self._fits(estimate, requested_output):
            return Send(plan=self.plan(estimate))
        return self._make_fit(requested_output) or Send(plan=self.plan())

    def observe(self, path: Sequence[EntryLike], *, now: float | None = None) -> Plan:
        """Note a request that goes out as it stands: nothing is decided, nothing changes shape."""
        self.follow(path, now=now)
        self._last_request = now
        return self.plan()

    def summarised(self, response: SummaryResponse) -> Outcome:
        """Take the answer to a :class:`Summarise`: the next question, the request, or the way without a cut.

        Raises :class:`SummaryFailed` when there is no summary and level 1 cannot make the request small enough.
        """
        asked = self._asked
        assert asked is not None, "summarised() answers a Summarise"
        try:
            request = asked.steps.send(response)
        except StopIteration as stop:
            self._asked = None
            return self._cut(asked, stop.value)
        except SummaryFailed as fault:
            self._asked = None
            return self._without_summary(asked, fault)
        return Summarise(request=request, reason=asked.reason)

    def after_response(self, usage: Usage) -> None:
        """Note what the provider reported for the request just sent; of several calls in one step, the last one."""
        self._tracker.report(usage)

    def compact(self, path: Sequence[EntryLike], *, instructions: str | None = None) -> Summarise | None:
        """Cut on request, whatever the lines say; None when there is nothing to cut."""
        self.follow(path)
        return self._ask("manual", instructions=instructions)

    # --- what it knows -------------------------------------------------------------------------------------

    def follow(self, path: Sequence[EntryLike], *, now: float | None = None) -> None:
        """Take in what is new on the path, without deciding anything."""
        if self.facts is not self._lines_of:
            self.lines, self._lines_of = resolve_lines(self.facts, self.policy), self.facts
        self._tracker.follow(path, self.lines)
        if self._tracker.restarted:
            self._restart()
        self._cold = self._is_cold(now)

    @property
    def items(self) -> Sequence[Item]:
        """The context, message by message; plans speak of its positions."""
        return self._tracker.ledger.items

    @property
    def ledger(self) -> Ledger:
        """The running sums. Read them, never change them."""
        return self._tracker.ledger

    @property
    def anchor(self) -> Anchor | None:
        """The reading that the estimate rests on."""
        return self._tracker.meter.anchor

    @property
    def overhead(self) -> float:
        """Tokens of system prompt and tools, as far as readings tell."""
        return self._tracker.meter.overhead

    @property
    def engaged(self) -> bool:
        """Whether level 1 has acted (``classic``: crossed T) since the newest cut."""
        return self._engaged

    @property
    def state(self) -> ControlState:
        """What another process needs to go on with the same projection."""
        tracker = self._tracker
        return ControlState(
            shed=dict(tracker.shed),
            stripped=tracker.stripped,
            engaged=self._engaged,
            readings=dict(tracker.readings),
            learnt=tracker.meter.calibration.readings,
            overhead=tracker.meter.overhead,
            awaiting_gain=tracker.awaiting_gain,
            automatic=tracker.automatic,
            fruitless=tracker.fruitless,
            retry_above=self._retry_above,
            last_request=self._last_request,
        )

    def view(self) -> View:
        """What the policy sees of the next request, in tokens."""
        tracker, facts = self._tracker, self.facts
        ledger, factor, estimate = tracker.ledger, tracker.meter.factor, tracker.estimate()
        older, fullest = self._savings()
        return View(
            estimate=estimate,
            older=factor * older,
            fullest=factor * fullest,
            already=factor * ledger.already,
            suffix=factor * ledger.suffix() if self.policy.looks_at_prices else 0.0,
            responses=ledger.responses,
            read_price=self._cache.read,
            write_price=self._cache.write,
            cold=self._cold,
            engaged=self._engaged,
            may_shed=self.policy.sheds != "never"
            and facts.pruning_enabled
            and not (facts.bound_thinking and facts.thinking_way == "off"),
            may_cut=facts.compaction_enabled
            and tracker.latch_open
            and not tracker.loops
            and estimate > self._retry_above,
        )

    def sheddable(self) -> list[int]:
        """Positions of the outputs that the fullest allowed move would replace, rising."""
        return self._tracker.ledger.chosen(fullest=self._reach(fullest=True))

    def take_events(self) -> list[Event]:
        """Events since the last call, oldest first."""
        events, self._events = self._events, []
        return events

    # --- carrying out ----------------------------------------------------------------------------------------

    def _carry_out(self, decision: Decision, view: View, requested: int) -> Summarise | None:
        """Do what was decided; gives a summary to ask for, or None when the request can go."""
        if isinstance(decision, Keep):
            return self._keep(decision.reason, view)
        if isinstance(decision, Shed):
            return self._shed(decision.reason, fullest=decision.fullest)
        return self._ask(decision.reason, requested) or self._uncut(view, requested)

    def _keep(self, reason: str, view: View) -> None:
        over = view.estimate > self.lines.threshold
        self._engaged |= self.policy.sheds == "sticky" and over and not self.lines.off
        kind = "off" if self.lines.off else "over-threshold" if over and self.policy.cuts != "never" else "keep"
        self._tell(kind, reason, estimate=view.estimate)

    def _shed(self, reason: str, *, fullest: bool) -> None:
        before = self._tracker.estimate()
        positions = self._tracker.ledger.chosen(fullest=self._reach(fullest=fullest))
        saved = self._tracker.meter.factor * self._tracker.move(positions)
        if self._strips:
            self._tracker.strip_from(positions[0])
        self._engaged = True
        self._tell("shed", reason, estimate=before, after=self._tracker.estimate(), outputs=len(positions), saved=saved)

    def _uncut(self, view: View, requested: int) -> Summarise | None:
        self._tell("nothing-to-cut", "no history before what must be kept")
        blocked = structs.replace(view, may_cut=False)
        return self._carry_out(decide(self.policy, self.lines, blocked), blocked, requested)

    def _ask(self, reason: str, requested: int = 0, *, instructions: str | None = None) -> Summarise | None:
        settings = self._cut_settings
        plan = plan_cut(self._tracker.path, self.lines, self.facts, settings)
        if plan is None:
            return None
        steps = ask_summary(plan, self.lines, self.facts, settings, instructions)
        before = self._tracker.estimate()
        self._asked = Asked(preparation=plan, steps=steps, reason=reason, before=before, requested=requested)
        self._tell("summarise", reason)
        return Summarise(request=next(steps), reason=reason, preparation=plan)

    def _cut(self, asked: Asked, result: CompactionResult) -> Send:
        fields = result.as_entry_fields()
        self._tracker.cut(cut_entry(fields), asked.before, automatic=asked.automatic)
        self._restart()
        self._shed_kept()
        after = self._tracker.estimate_unmeasured()
        self._tell("cut", asked.reason, estimate=asked.before, after=after)
        if after > self.lines.threshold and not self.lines.off:
            self._tell("over-threshold", "the cut was not enough", estimate=after)
        return Send(plan=self.plan(after), cut=fields)

    def _shed_kept(self) -> None:
        """Where what a cut keeps is too large raw, let its outputs go too: the cache is lost with the cut anyway."""
        view, ours = self.view(), self.policy.own_rules and not self.lines.off
        if ours and view.estimate > self.lines.threshold and view.may_shed and view.fullest > 0:
            self._shed("the cut was not enough", fullest=True)

    def _restart(self) -> None:
        """A cut that has been completed, by whoever, starts afresh."""
        self._engaged = False
        self._retry_above = 0.0

    def _without_summary(self, asked: Asked, fault: SummaryFailed) -> Fallback:
        """Go on without a cut when that is enough: as it stands, or with the fullest move."""
        self._tell("summary-failed", fault.code)
        view = self.view()
        if asked.reason == "manual":
            raise fault
        if self._is_enough(view.estimate, asked.requested):
            self._tell("fallback", "the request is small enough as it is")
        elif view.may_shed and view.fullest > 0 and self._is_enough(view.estimate - view.fullest, asked.requested):
            self._shed("the summary failed", fullest=True)
        else:
            raise fault
        self._retry_above = view.estimate + self.lines.cold_batch
        return Fallback(plan=self.plan(), words=fault.words)

    def _is_enough(self, estimate: float, requested: int) -> bool:
        return estimate <= self.lines.threshold and self._fits(estimate, requested)

    def _make_fit(self, requested: int) -> Summarise | None:
        """Shed, then cut, since the request is known not to fit; gives the summary to ask for, if any."""
        view = self.view()
        if view.may_shed and view.fullest > 0:
            self._shed("does not fit", fullest=True)
            if self._fits(self._tracker.estimate(), requested):
                return None
        asked = self._ask("overflow", requested) if self.facts.compaction_enabled else None
        if asked is not None:
            return asked
        raise ContextOverflow(
            estimate=round(self._tracker.estimate()), requested=requested, window=self.lines.real_window
        )

    def _fits(self, estimate: float, requested: int) -> bool:
        """Whether nothing is known against sending; only a reading newer than the newest cut is knowledge."""
        measured = self.anchor is not None and self._tracker.latch_open
        controlled = not self.lines.off and self.policy.acts
        return not (measured and controlled) or estimate + requested <= self.lines.real_window

    # --- small parts -------------------------------------------------------------------------------------------

    def _shed_rules(self, reference_for: Callable[[Entry], str]) -> ShedRules:
        policy, settings, own = self.policy, self._shed_settings, self.policy.own_rules
        stated = settings.min_result_tokens
        return ShedRules(
            reference_for=reference_for,
            min_tokens=policy.min_result_tokens if stated is None else stated,
            superseded_floor=SUPERSEDED_FLOOR if own and stated is None else None,
            protect=self.lines.protect if own else 0,
            keep_unanswered=own,
            never=settings.never,
            arguments=own and settings.arguments,
            marks=DEFAULT if own else SOURCE if policy.source_defects else CLASSIC,
            resolve=settings.resolve,
        )

    def _reach(self, *, fullest: bool) -> bool:
        protect = self._shed_settings.protect_current_turn
        if protect is None:
            return fullest and not self.policy.absolute_turn
        return not protect

    def _savings(self) -> tuple[float, float]:
        """Raw tokens of a move of older material and of the fullest one, the current turn's protection applied."""
        ledger = self._tracker.ledger
        older = ledger.fullest if self._reach(fullest=False) else ledger.older
        return older, ledger.fullest if self._reach(fullest=True) else ledger.older

    def _is_cold(self, now: float | None) -> bool:
        if now is None or self._last_request is None:
            return False
        return now - self._last_request > self._cache.ttl

    @property
    def _strips(self) -> bool:
        return self.facts.bound_thinking and self.facts.thinking_way != "drop_block"

    def plan(self, estimate: float | None = None) -> Plan:
        """The request as it stands, whatever the lines say; ``estimate`` when it is already known, in tokens."""
        ledger, tracker = self._tracker.ledger, self._tracker
        strip = tracker.strip if self._strips else None
        return Plan(
            length=len(ledger.items),
            kept=tracker.sent(strip),
            replacements=ledger.shed,
            boundary=tracker.boundary,
            strip_thinking=strip,
            drop_block=self.facts.bound_thinking and self.facts.thinking_way == "drop_block",
            estimate=tracker.estimate() if estimate is None else estimate,
        )

    def _tell(self, kind: str, reason: str, *, estimate: float | None = None, **numbers: float) -> None:
        shown = self._tracker.estimate() if estimate is None else estimate
        self._events.append(Event(kind=kind, reason=reason, estimate=shown, **numbers))  # pyright: ignore[reportArgumentType]
