"""Where the money of a session went: the modelled bill, shared out among what the requests held (docs/replay.md).

The cache reads a request from its front, so each token of a request has a price by its place. A message keeps its
place while the context only grows; prices are added to ranges of messages and summed up once, when the context
changes, so that the work grows with the messages and not with messages times requests.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from msgspec import UNSET, Struct

from leafscar.engine import Controller
from leafscar.model import Entry, Message
from leafscar.replay.bills import Rates, dollar_rates, unit_rates
from leafscar.replay.content import Label, output_labels
from leafscar.replay.recording import RecordedRequest
from leafscar.replay.simulate import Setup, Step

__all__ = ["MoneyWatch", "Tally"]

_NO_RATES = Rates(uncached=None, read=None, written=None, output=None)


class Tally(Struct, kw_only=True, gc=False):
    """What one message came to."""

    entry: Entry | None
    """None for the system prompt and the tools."""
    message: Message | None
    tokens: float = 0.0
    """Its size, as it was sent last."""
    hidden: float = 0.0
    """The part of it that readings counted beyond its text."""
    requests: int = 0
    """How many requests sent it."""
    sent: float = 0.0
    """Tokens that it made up over all of them."""
    dollars: float = 0.0
    units: float = 0.0


class MoneyWatch:
    """Watches one run and keeps a tally of each message and each class of output."""

    def __init__(self, setup: Setup) -> None:
        self.tallies: dict[int, Tally] = {}
        """By identity of what was sent; complete after :meth:`settle`."""
        self.output: dict[Label, list[float]] = {}
        """Output by class: tokens, dollars, units."""
        self.sent = self.sheddable = 0.0
        """Input tokens of all requests, and how many of them a fullest move could have taken out."""
        self.peak = self.sheddable_at_peak = 0.0
        """The same for the largest request."""
        self._setup = setup
        self._could_go = 0.0
        self._blocks: list[Tally] = []
        self._sums: list[float] = [0.0]
        self._steps: list[list[float]] = [[0.0, 0.0, 0.0]]  # by block: change of requests, dollars and units a token

    def before(self, request: RecordedRequest, controller: Controller) -> None:
        """Note what a move could take out."""
        del request
        self._could_go = controller.view().fullest

    def after(self, step: Step) -> None:
        """Share out one request."""
        kept = step.plan.kept + 1 if self._blocks else 0
        if kept < len(self._blocks):
            self._settle(kept)
        if not self._blocks:
            self._push(self._tally(-1, None, None), self._setup.overhead)
        ledger = step.controller.ledger
        for position in range(step.plan.kept, step.plan.length):
            item = ledger.items[position]
            key = id(item.message if item.edit is UNSET else item.entry)
            self._push(self._tally(key, item.entry, item.message), ledger.size(position))
        self._charge(step)
        self._weigh(step.moment.context or 0.0)

    def settle(self) -> None:
        """Bring the tallies up to date with the last request."""
        self._settle(0)

    def _tally(self, key: int, entry: Entry | None, message: Message | None) -> Tally:
        if key not in self.tallies:
            hidden = 0.0 if entry is None else self._setup.sizes.hidden.get(entry.id, 0.0)
            self.tallies[key] = Tally(entry=entry, message=message, hidden=hidden)
        return self.tallies[key]

    def _push(self, tally: Tally, tokens: float) -> None:
        tally.tokens = tokens
        self._blocks.append(tally)
        self._sums.append(self._sums[-1] + tokens)
        self._steps.append([0.0, 0.0, 0.0])

    def _charge(self, step: Step) -> None:
        moment, tariff = step.moment, step.tariff
        size, read = moment.context or 0.0, moment.read or 0.0
        units = unit_rates(tariff.prices, tariff.cache)
        dollars = _NO_RATES if tariff.prices is None else dollar_rates(tariff.prices, tariff.cache, size)
        self._steps[0][0] += 1
        self._steps[len(self._blocks)][0] -= 1
        end = read + (moment.written or 0.0)
        self._spread(0.0, read, dollars.read, units.read)
        self._spread(read, end, dollars.written, units.written)
        self._spread(end, self._sums[-1], dollars.uncached, units.uncached)
        for label, tokens in output_labels(step.request.message, moment.output, self._setup.sizes.k).items():
            row = self.output.setdefault(label, [0.0, 0.0, 0.0])
            row[0] += tokens
            row[1] += tokens * (dollars.output or 0.0)
            row[2] += tokens * (units.output or 0.0)

    def _spread(self, start: float, end: float, dollar: float | None, unit: float | None) -> None:
        """Price the tokens of the request from ``start`` to ``end``."""
        if end <= start:
            return
        newest = len(self._blocks) - 1
        first = min(bisect_right(self._sums, start) - 1, newest)
        last = min(bisect_left(self._sums, end) - 1, newest)
        rates = dollar or 0.0, unit or 0.0
        if first >= last:
            _add(self._blocks[first], end - start, rates)
            return
        _add(self._blocks[first], self._sums[first + 1] - start, rates)
        _add(self._blocks[last], end - self._sums[last], rates)
        for column, rate in enumerate(rates, 1):
            self._steps[first + 1][column] += rate
            self._steps[last][column] -= rate

    def _settle(self, kept: int) -> None:
        """Give every message what its place has gathered; those from ``kept`` on leave."""
        requests = dollar = unit = 0.0
        for at, tally in enumerate(self._blocks):
            step = self._steps[at]
            requests, dollar, unit = requests + step[0], dollar + step[1], unit + step[2]
            tokens = self._sums[at + 1] - self._sums[at]
            tally.requests += round(requests)
            tally.sent += round(requests) * tokens
            _add(tally, tokens, (dollar, unit))
        del self._blocks[kept:], self._sums[kept + 1 :]
        self._steps = [[0.0, 0.0, 0.0] for _ in self._sums]

    def _weigh(self, size: float) -> None:
        gone = min(self._could_go, size)
        self.sent += size
        self.sheddable += gone
        if size > self.peak:
            self.peak, self.sheddable_at_peak = size, gone


def _add(tally: Tally, tokens: float, rates: tuple[float, float]) -> None:
    tally.dollars += tokens * rates[0]
    tally.units += tokens * rates[1]
