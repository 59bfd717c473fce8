"""One policy over one recording: the real Controller against a provider that only counts (docs/replay.md)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import UNSET, Struct, structs

from leafscar.compaction import Item, SummaryRequest, SummaryResponse
from leafscar.engine import (
    CacheFacts,
    Controller,
    CutSettings,
    Event,
    Facts,
    Outcome,
    Plan,
    Policy,
    Send,
    ShedSettings,
    Summarise,
)
from leafscar.errors import ContextOverflow
from leafscar.model import Assistant, Entry, System, Thinking, Usage, as_dict
from leafscar.model.jsjson import stringify, utf16_length
from leafscar.model.messages import parts_of
from leafscar.replay.bills import Bill, bill
from leafscar.replay.cache import Block, CacheUse, PromptCache
from leafscar.replay.recording import RecordedRequest, Recording
from leafscar.replay.result import CutMark, Moment
from leafscar.replay.sizes import Sizes
from leafscar.replay.tariffs import Tariff, Tariffs

__all__ = ["Asked", "Run", "Setup", "Simulation", "Step", "Watch", "simulate", "uncut"]


class Setup(Struct, frozen=True, kw_only=True):
    """What all policies of one session share."""

    recording: Recording
    sizes: Sizes
    facts: Facts
    tariffs: Tariffs
    summary_tokens: float
    """Tokens that each answer of the summariser is assumed to have."""
    warm: float = 0
    """Tokens at the head of the first request that other sessions had left in the cache."""
    shed: ShedSettings = ShedSettings()
    cut: CutSettings = CutSettings()

    @property
    def overhead(self) -> float:
        """Tokens of system prompt and tools, as far as known."""
        return self.sizes.overhead or 0.0


class Run(Struct, frozen=True, kw_only=True):
    """What one policy did."""

    moments: list[Moment]
    cuts: list[CutMark]
    bill: Bill
    """All requests and the summariser's calls."""
    notes: list[str]
    refused: Sequence[int] = ()
    """Numbers of the requests that the policy would not have sent; they are counted as if it had."""


class Step(Struct, frozen=True, kw_only=True):
    """One request that went out."""

    request: RecordedRequest
    controller: Controller
    """As it is after the decision, before the answer."""
    plan: Plan
    moment: Moment
    tariff: Tariff
    events: Sequence[Event]
    """What the controller told about this request, oldest first."""
    replaced: Iterable[int]
    """Positions of the outputs that markers stand for, or that another tool's rule cleared last."""


class Watch(Protocol):
    """Looks on while a policy runs; it changes nothing."""

    def before(self, request: RecordedRequest, controller: Controller) -> None:
        """Look at the controller when it has taken in the path and has not decided yet."""

    def after(self, step: Step) -> None:
        """Look at what went out."""


def simulate(setup: Setup, policy: Policy, *, keep_recorded_cuts: bool = False, watches: Sequence[Watch] = ()) -> Run:
    """Replay every recorded request under ``policy``; its own cuts take the place of the recorded ones.

    ``keep_recorded_cuts`` leaves the recorded cuts where they were: the cache model over the session as it was.
    """
    entries = setup.recording.path if keep_recorded_cuts else uncut(setup.recording.path)
    return Simulation(setup, policy, entries, watches).play()


def uncut(path: Sequence[Entry]) -> list[Entry]:
    """The path without its cuts; one that nothing stands before is all there is of its history, and stays."""
    first = next((at for at, entry in enumerate(path) if entry.type == "message"), len(path))
    return [entry for at, entry in enumerate(path) if entry.type != "compaction" or at < first]


class Asked(Struct, kw_only=True):
    """The summaries that one request needed."""

    reason: str = ""
    before: float = 0
    input: float = 0
    output: float = 0
    bill: Bill = Bill()


class Simulation:
    """The state of one run: the controller, the provider's cache, and the bill so far.

    What decides and what a block weighs can be another tool's rule: leafscar.replay.rival_run.
    """

    def __init__(self, setup: Setup, policy: Policy, entries: Sequence[Entry], watches: Sequence[Watch] = ()) -> None:
        self._setup = setup
        self._watches = watches
        self._policy = policy
        self._entries = entries
        self._tariff = setup.tariffs.main
        cache = self._tariff.cache
        self._controller = Controller(
            facts=setup.facts,
            policy=policy,
            reference_for=setup.recording.session.reference_for,
            shed=setup.shed,
            cut=setup.cut,
            cache=CacheFacts(read=cache.read, write=cache.written, ttl=cache.ttl),
            sizer=setup.sizes,
            trust_entries=False,
        )
        self._cache = PromptCache(cache, warm=setup.warm)
        self._path: list[Entry] = []
        self._taken = 0
        self._previous_end = 1
        self._moments: list[Moment] = []
        self._cuts: list[CutMark] = []
        self._bill = Bill()
        self._notes: dict[str, None] = {}
        self._refused: list[int] = []

    def play(self) -> Run:
        """Send every recorded request in order."""
        places = {id(entry): position for position, entry in enumerate(self._entries)}
        for request in self._setup.recording.requests:
            self.step(request, places[id(request.entry)])
        return self.result()

    def step(self, request: RecordedRequest, place: int) -> None:
        """Send one recorded request, whose response stands at ``place``, as the policy would have sent it."""
        self._path += self._entries[self._taken : place]
        self._taken = place
        self._switch(request)
        asked = Asked()
        if self._watches:
            self._controller.follow(self._path, now=request.at)
        for watch in self._watches:
            watch.before(request, self._controller)
        plan = self._decide(request, asked)
        cold = self._cache.is_cold(request.at)
        use = self._send(plan, request.at)
        if asked.reason:
            self._cuts.append(_mark(request.number, asked, use.total))
        self._book(request, plan, use, asked, cause=_cause(use, cut=bool(asked.reason), cold=cold))
        response = self._setup.sizes(request.entry, request.message)
        self._controller.after_response(Usage(input=use.total, output=response, total_tokens=use.total + response))

    def result(self) -> Run:
        """What the policy did with the whole session."""
        return Run(
            moments=self._moments,
            cuts=self._cuts,
            bill=self._bill,
            notes=list(self._notes),
            refused=self._refused,
        )

    def _switch(self, request: RecordedRequest) -> None:
        tariff = self._setup.tariffs.of(request.message)
        if tariff is not self._tariff:
            self._tariff = tariff
            self._cache.switch(tariff.cache)

    def _decide(self, request: RecordedRequest, asked: Asked) -> Plan:
        try:
            outcome = self._controller.before_request(self._path, now=request.at)
        except ContextOverflow:
            self._notes["a request that could not have been sent is counted as if it had been"] = None
            self._refused.append(request.number)
            return self._controller.plan()
        return self._settle(outcome, asked)

    def _settle(self, outcome: Outcome, asked: Asked) -> Plan:
        """Answer what is asked until there is a plan; a cut joins the path."""
        while isinstance(outcome, Summarise):
            asked.before = asked.before or self._controller.view().estimate
            asked.reason = outcome.reason
            outcome = self._controller.summarised(self._summary(outcome.request, asked))
        if isinstance(outcome, Send) and outcome.cut is not None:
            self._path.append(self._cut_entry(outcome.cut))
        return outcome.plan

    def _summary(self, request: SummaryRequest, asked: Asked) -> SummaryResponse:
        """Answer with a text of the assumed length, and bill the call: nothing of it comes from the cache."""
        setup = self._setup
        read = setup.sizes.k * (utf16_length(request.system) + utf16_length(request.prompt)) / 4
        written = min(setup.summary_tokens, request.max_tokens)
        use = CacheUse(read=0, written=0, uncached=read, miss=0, cause=None, assumed_warm=False)
        asked.input += read
        asked.output += written
        asked.bill += bill(use, written, self._tariff.prices, self._tariff.cache)
        return SummaryResponse(texts=("." * round(4 * written / setup.sizes.k),))

    def _cut_entry(self, fields: Mapping[str, Any]) -> Entry:
        number = len(self._cuts) + 1
        data = {"type": "compaction", "id": f"cut-{number}", **fields}
        return Entry(id=f"cut-{number}", parent_id=None, type="compaction", data=data)

    def _send(self, plan: Plan, at: float | None) -> CacheUse:
        ledger = self._controller.ledger
        kept = plan.kept + 1 if self._moments else 0
        blocks = [] if kept else [Block("overhead", self._setup.overhead)]
        stripped = range(*(plan.strip_thinking or (0, 0)))
        blocks += [
            self._block(position, marker=position in plan.replacements, stripped=position in stripped)
            for position in range(plan.kept, plan.length)
        ]
        end = plan.length + 1
        system = next((at for at, item in enumerate(ledger.items) if not isinstance(item.message, System)), 0)
        marks = {1 + system, min(self._previous_end, end), end}
        if plan.boundary is not None:
            marks.add(plan.boundary + 1)
        self._previous_end = end
        return self._cache.send(kept, blocks, sorted(marks), at)

    def _block(self, position: int, *, marker: bool, stripped: bool) -> Block:
        """One message as it goes out; ``stripped`` of its thinking, if it has any."""
        item = self._controller.ledger.items[position]
        key, size = self._key(item, marker=marker), self._size(position)
        thinking = self._thinking(item) if stripped else 0
        return Block((key, "stripped"), size - thinking) if thinking else Block(key, size)

    def _size(self, position: int) -> float:
        return self._controller.ledger.size(position)

    def _thinking(self, item: Item) -> float:
        """Tokens of what a response thought before it spoke."""
        message, sizes = item.message, self._setup.sizes
        if not isinstance(message, Assistant):
            return 0
        said = tuple(part for part in parts_of(message.content) if not isinstance(part, Thinking))
        return sizes(item.entry, message) - sizes(item.entry, structs.replace(message, content=said))

    def _key(self, item: Item, *, marker: bool) -> Hashable:
        """Identity of a message's bytes. A cut repeats the system prompt, which is the same bytes all the same."""
        if isinstance(message := item.message, System):
            return stringify([as_dict(message).get("content") or "", message.sections, message.tools_added or None])
        edit = None if item.edit is UNSET else hash(stringify(item.edit))
        return item.entry.id or f"cut-{len(self._cuts) + 1}", item.entry.line, marker, edit

    def _book(self, request: RecordedRequest, plan: Plan, use: CacheUse, asked: Asked, *, cause: str | None) -> None:
        output = float((request.usage.output if request.usage else None) or 0)
        spent = bill(use, output, self._tariff.prices, self._tariff.cache) + asked.bill
        self._bill += spent
        events = self._controller.take_events()
        shed, shed_tokens = self._moved(events)
        moment = Moment(
            request=request.number,
            entry_id=request.entry.id,
            at=request.at,
            context=use.total,
            output=output,
            read=use.read,
            written=use.written,
            uncached=use.uncached,
            cost=spent.cost,
            units=spent.units,
            inferred=True,
            shed=shed,
            shed_tokens=shed_tokens,
            cut=bool(asked.reason),
            break_cause=cause,
            missed=use.miss,
        )
        self._moments.append(moment)
        step = Step(
            request=request,
            controller=self._controller,
            plan=plan,
            moment=moment,
            tariff=self._tariff,
            events=events,
            replaced=self._replaced(plan),
        )
        for watch in self._watches:
            watch.after(step)

    def _replaced(self, plan: Plan) -> Iterable[int]:
        """Positions for :attr:`Step.replaced`; a rule of another tool has none in its plan."""
        return plan.replacements

    def _moved(self, events: Sequence[Event]) -> tuple[int, float]:
        """How many outputs this request newly replaced, and the tokens that went with them."""
        shed = [event for event in events if event.kind == "shed"]
        return sum(event.outputs for event in shed), sum(event.saved for event in shed)


def _cause(use: CacheUse, *, cut: bool, cold: bool) -> str | None:
    """Why cached tokens were sent again; what had expired before a move or a cut is not lost through it."""
    if use.cause == "shape":
        return "expired" if cold else "cut" if cut else "shape"
    return None if use.cause == "first" else use.cause


def _mark(number: int, asked: Asked, after: float) -> CutMark:
    return CutMark(
        request=number,
        before=asked.before,
        after=after,
        summary_tokens=asked.output,
        summariser_input=asked.input,
        cost=asked.bill.cost,
        reason=asked.reason,
    )
