"""One rule of another tool over one recording: its own clearing, our sizes, cache model, cuts and bills (ADR 0080)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct, structs

from leafscar.compaction import Item
from leafscar.engine import Event, Plan, ShedSettings, parse_policy
from leafscar.engine.tracker import FRUITLESS_LIMIT, MIN_GAIN
from leafscar.model import CompactionSummary, Entry
from leafscar.replay.cache import Block
from leafscar.replay.clearing import Clearing
from leafscar.replay.recording import RecordedRequest
from leafscar.replay.rivals import Rule, SummarizeAt, line_of
from leafscar.replay.simulate import Asked, Run, Setup, Simulation, Watch, uncut

__all__ = ["Rival", "simulate_rival"]

_NO_OUTPUT = 2**62


class Rival(Struct, frozen=True, kw_only=True):
    """A rule of another tool as a row of a replay."""

    name: str
    """Name of the row."""
    tool: str
    """Name of the rule."""
    rule: Rule
    breakpoint: bool = False
    """Whether a cache breakpoint stands where what the rule changed ends."""


def simulate_rival(setup: Setup, rival: Rival, watches: Sequence[Watch] = ()) -> Run:
    """Replay every recorded request under a rule; cuts above the threshold take the place of the recorded ones."""
    return _RivalRun(setup, rival, uncut(setup.recording.path), watches).play()


class _RivalRun(Simulation):
    """The controller only follows the path and makes the cuts that are asked for; it sheds nothing itself."""

    def __init__(self, setup: Setup, rival: Rival, entries: Sequence[Entry], watches: Sequence[Watch]) -> None:
        super().__init__(_own(setup, rival.rule), parse_policy("compaction"), entries, watches)
        self._rival = rival
        self._clearing = Clearing(rival.rule, setup.sizes, setup.overhead)
        self._fruitless = 0

    def _decide(self, request: RecordedRequest, asked: Asked) -> Plan:
        self._controller.follow(self._path, now=request.at)
        self._clearing.follow(self._controller.ledger)
        moved, freed = self._clearing.moved, self._clearing.freed
        plan = self._cut(asked) if self._wants_cut() else None
        if plan is not None:
            moved, freed = moved + self._clearing.moved, freed + self._clearing.freed
        self._move = moved, freed
        plan = plan or self._controller.plan()
        boundary = self._boundary() if self._rival.breakpoint else None
        return structs.replace(plan, kept=self._clearing.kept(plan.kept), boundary=boundary)

    def _tokens(self) -> float:
        """Size of the request that would go out now."""
        return self._setup.overhead + self._controller.ledger.raw() - self._clearing.saved

    def _wants_cut(self) -> bool:
        lines = self._controller.lines
        if lines.off or self._fruitless >= FRUITLESS_LIMIT:
            return False
        above = self._tokens() > line_of(self._rival.rule, lines.window, lines.threshold)
        return above and self._controller.view().may_cut

    def _cut(self, asked: Asked) -> Plan | None:
        """Cut as our policies do, if there is something to cut; two in a row that free too little are the last ones."""
        before = self._tokens()
        outcome = self._controller.compact(self._path)
        if outcome is None:
            return None
        asked.before = before
        plan = self._settle(outcome, asked)
        asked.reason = "threshold"
        self._clearing.follow(self._controller.ledger, cut=True)
        gained = before - self._tokens() >= MIN_GAIN * self._controller.lines.window
        self._fruitless = 0 if gained else self._fruitless + 1
        return plan

    def _boundary(self) -> int | None:
        if not isinstance(self._rival.rule, SummarizeAt):
            return self._clearing.boundary
        head: Sequence[Item] = self._controller.items[:2]  # a system prompt may stand before the summary
        return next((at + 1 for at, item in enumerate(head) if isinstance(item.message, CompactionSummary)), None)

    def _block(self, position: int, *, marker: bool, stripped: bool) -> Block:
        block, version = super()._block(position, marker=marker, stripped=stripped), self._clearing.version(position)
        return Block((block.key, version), block.tokens) if version else block

    def _size(self, position: int) -> float:
        return self._clearing.size(position)

    def _replaced(self, plan: Plan) -> Iterable[int]:
        del plan  # what a rule clears is in no plan
        return self._clearing.newest

    def _moved(self, events: Sequence[Event]) -> tuple[int, float]:
        del events  # the controller tells of cuts alone
        return self._move


def _own(setup: Setup, rule: Rule) -> Setup:
    """No output is a candidate of our own level 1; a rule that sums up keeps its own share of the window."""
    setup = structs.replace(setup, shed=ShedSettings(min_result_tokens=_NO_OUTPUT))
    window = setup.facts.window
    if not isinstance(rule, SummarizeAt) or not window:
        return setup
    return structs.replace(setup, cut=structs.replace(setup.cut, keep_recent=int(rule.keep_fraction * window)))
