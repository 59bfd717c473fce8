"""Many recordings under many policies, windows and prices: the numbers behind the policies (docs/adr/0051).

What a policy does depends on the cache's lifetime, and on its prices only where the policy looks at them; the bill is
a sum over classes of tokens. So one run serves every pair of prices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, structs

from leafscar.engine import Policy
from leafscar.errors import SessionError, WindowUnknown
from leafscar.hindsight import Use, later_uses
from leafscar.replay.bills import OUTPUT_RATIO
from leafscar.replay.cache import ANTHROPIC, CacheModel
from leafscar.replay.departures import DepartureWatch
from leafscar.replay.needed import needed_of
from leafscar.replay.recording import read_recording
from leafscar.replay.run import Options, setup_of
from leafscar.replay.simulate import Setup, simulate
from leafscar.replay.sizes import measure_sizes
from leafscar.replay.tariffs import Tariff, Tariffs
from leafscar.session import Session

__all__ = ["Case", "Outcome", "Rates", "play", "read_case"]

_STAND_IN = 200_000
"""Window with which a recording is set up that states none."""

_RECALL_OUTPUT = 60
"""Output tokens of a call that recalls."""


class Rates(Struct, frozen=True, kw_only=True):
    """What a prompt cache costs, in multiples of the input price, and how long it lives."""

    read: float = 0.1
    write: float = 1.25
    ttl: float = 300.0
    """Seconds."""


class Case(Struct, frozen=True, kw_only=True):
    """One recording, read once."""

    name: str
    setup: Setup
    uses: Mapping[str, Sequence[Use]]
    """By entry id, the later uses of each output."""
    window: int | None
    """The recording's own, in tokens; None when nothing states it."""

    @property
    def requests(self) -> int:
        """How many requests were recorded."""
        return len(self.setup.recording.requests)


class Outcome(Struct, frozen=True, kw_only=True):
    """What one policy came to over one recording."""

    uncached: float
    """Input tokens outside the cache, those of summaries included."""
    read: float
    """Input tokens read from the cache."""
    written: float
    """Input tokens written to the cache."""
    output: float
    """Output tokens, those of summaries included."""
    missed: float
    """Tokens written only because a move or a cut had changed what stood before them while the cache was warm."""
    peak: float
    """Largest request, in tokens."""
    cuts: int
    moves: int
    shed: float
    """Tokens that all moves together took out."""
    lost: int
    """Outputs that a marker or a cut took out."""
    lost_tokens: float
    needed: int
    """Those of them that a later call needed."""
    needed_tokens: float
    refused: int
    """Requests known not to fit, which were not sent."""
    over: int
    """Requests larger than the window that were sent all the same."""

    def units(self, rates: Rates) -> float:
        """The bill in input-token equivalents."""
        return self.uncached + self.read * rates.read + self.written * rates.write + self.output * OUTPUT_RATIO

    def with_recalls(self, rates: Rates, requests: int) -> float:
        """The bill with one more request of mean size for each output that was needed later, and the output written."""
        mean = (self.uncached + self.read + self.written) / requests
        again = self.needed * (mean * rates.read + _RECALL_OUTPUT * OUTPUT_RATIO)
        return self.units(rates) + again + self.needed_tokens * rates.write

    def without_breaks(self, rates: Rates) -> float:
        """The bill if no move and no cut had ever broken a warm cache."""
        return self.units(rates) - self.missed * (rates.write - rates.read)


def read_case(session: Session, name: str, options: Options = Options()) -> Case:  # noqa: B008 - frozen
    """Read and measure a recording. Raises :class:`SessionError` when it holds no request."""
    recording = read_recording(session)
    if not recording.requests:
        raise SessionError(session.path or name, "holds no request to replay", hint="name a session with answers")
    sizes = measure_sizes(recording)
    uses = later_uses(recording.path)
    try:
        setup, window = setup_of(recording, sizes, options)
    except WindowUnknown:
        setup, _ = setup_of(recording, sizes, structs.replace(options, window=_STAND_IN))
        return Case(name=name, setup=setup, uses=uses, window=None)
    return Case(name=name, setup=setup, uses=uses, window=window.tokens)


def play(case: Case, policy: Policy, *, window: int, rates: Rates) -> Outcome:
    """Replay one recording on a window of so many tokens, with its own kind of cache at ``rates``."""
    setup = structs.replace(
        case.setup,
        facts=structs.replace(case.setup.facts, window=window),
        tariffs=Tariffs(main=Tariff(prices=None, cache=_at_rates(case.setup.tariffs.main.cache, rates))),
    )
    watch = DepartureWatch()
    run = simulate(setup, policy, watches=(watch,))
    refused = set(run.refused)
    went = needed_of(watch.gone, case.uses)
    large = {moment.request for moment in run.moments if (moment.context or 0) > window}
    return Outcome(
        uncached=run.bill.uncached,
        read=run.bill.read,
        written=run.bill.written,
        output=run.bill.output,
        missed=sum(moment.missed or 0 for moment in run.moments if moment.break_cause in ("shape", "cut")),
        peak=max(moment.context or 0 for moment in run.moments),
        cuts=len(run.cuts),
        moves=sum(moment.shed > 0 for moment in run.moments),
        shed=sum(moment.shed_tokens for moment in run.moments),
        lost=went.outputs,
        lost_tokens=went.tokens,
        needed=went.needed,
        needed_tokens=went.needed_tokens,
        refused=len(refused),
        over=len(large - refused),
    )


def _at_rates(cache: CacheModel, rates: Rates) -> CacheModel:
    """The recording's kind of cache with other numbers; one that is not cached gets the kind with breakpoints."""
    base = ANTHROPIC if cache.style == "none" else cache
    return structs.replace(base, read=rates.read, write=rates.write, write_long=rates.write, ttl=rates.ttl, hour=False)
