"""What a provider's prompt cache does to one request after another: the model as data, and a simulator.

The tables are stated in every report that prices a replay; docs/cost-model.md says where they come from and
docs/adr/0040-cache-model-as-data.md why they are data. Nothing here reads a clock: time is a parameter.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from leafscar.replay.prices import Prices

__all__ = [
    "ANTHROPIC", "AUTOMATIC", "GEMINI", "MIN_PREFIXES", "OPENAI", "OPENAI_MARKED", "UNCACHED",
    "Block", "CacheModel", "CacheUse", "Cause", "PromptCache", "cache_model_for",
]  # fmt: skip

Cause = Literal["first", "expired", "shape", "model"]
"""Why tokens had to be sent again (``first``: nothing was sent before, so nothing was lost)."""


class CacheModel(Struct, frozen=True, kw_only=True):
    """How one provider caches prompts; every number that the simulator uses."""

    name: str
    """What a report calls it."""
    style: Literal["explicit", "automatic", "none"]
    """``explicit``: prefixes end where the host marks them; ``automatic``: any shared prefix; ``none``: no cache."""
    read: float
    """Price of a token read from the cache, as a multiple of the input price."""
    write: float
    """Price of a token written to the cache, as a multiple of the input price."""
    write_long: float
    """The same for writes with the one-hour lifetime."""
    ttl: float
    """Seconds that a prefix lives after its last use."""
    min_prefix: int
    """Tokens below which a prefix is not cached."""
    look_back: int | None
    """Blocks before a breakpoint that are searched for a live prefix; None: any distance. Explicit style only."""
    max_breakpoints: int
    """Breakpoints that one request may carry; of more, the newest count. Explicit style only."""
    granularity: int
    """Tokens: a shared prefix counts in steps of this size. Automatic style only."""
    max_prefixes: int | None = None
    """Marked prefixes that stay alive, the least recently used goes first; None: no limit. Explicit style only."""
    hour: bool = False
    """Whether writes are made with, and billed at, the one-hour lifetime."""
    assumptions: str = ""
    """What in this table the provider does not state, in words."""

    @property
    def written(self) -> float:
        """The multiple of the input price that a written token costs under the lifetime in force."""
        return self.write_long if self.hour else self.write

    @property
    def sentence(self) -> str:
        """The whole model in one line, for a report."""
        if self.style == "none":
            text = f"{self.name}: no prompt cache, every input token at the input price"
        else:
            text = f"{self.name}: {_places(self)}, {_terms(self)}"
        return text + (f" (assumed: {self.assumptions})" if self.assumptions else "")


def _places(model: CacheModel) -> str:
    if model.style == "automatic":
        return f"longest shared prefix in steps of {model.granularity} tokens"
    reach = "any distance" if model.look_back is None else f"{model.look_back} blocks"
    return f"prefixes end at breakpoints (at most {model.max_breakpoints} a request, look-back {reach})"


def _terms(model: CacheModel) -> str:
    return (
        f"read {model.read:g}x, write {model.written:g}x the input price, "
        f"lives {model.ttl:g} s after its last use, at least {model.min_prefix:,} tokens"
    )


ANTHROPIC = CacheModel(
    name="anthropic", style="explicit", read=0.1, write=1.25, write_long=2.0, ttl=300.0,
    min_prefix=1024, look_back=20, max_breakpoints=4, granularity=1,
)  # fmt: skip
"""Claude models, wherever they are served."""

OPENAI = CacheModel(
    name="openai", style="automatic", read=0.1, write=1.0, write_long=1.0, ttl=300.0,
    min_prefix=1024, look_back=None, max_breakpoints=0, granularity=128,
    assumptions="lives the lower end of the stated 5 to 10 idle minutes",
)  # fmt: skip
"""OpenAI models before GPT-5.6."""

OPENAI_MARKED = CacheModel(
    name="openai from gpt-5.6", style="explicit", read=0.1, write=1.25, write_long=1.25, ttl=1800.0,
    min_prefix=1024, look_back=None, max_breakpoints=1, granularity=1, max_prefixes=80,
    assumptions="one implicit breakpoint at the newest block; the 30 minutes are a minimum",
)  # fmt: skip
"""OpenAI models from GPT-5.6 on: a request is cached where it ended, not at every shared length."""

GEMINI = CacheModel(
    name="gemini", style="automatic", read=0.1, write=1.0, write_long=1.0, ttl=300.0,
    min_prefix=1024, look_back=None, max_breakpoints=0, granularity=1,
    assumptions="implicit caching hits every time; its lifetime is not stated",
)  # fmt: skip
"""Gemini's implicit cache; explicit cached contents are not modelled."""

AUTOMATIC = CacheModel(
    name="automatic", style="automatic", read=0.1, write=1.0, write_long=1.0, ttl=1800.0,
    min_prefix=1024, look_back=None, max_breakpoints=0, granularity=64,
    assumptions="shared prefixes are cached as at OpenAI, and live half an hour as seen in recordings of GLM",
)  # fmt: skip
"""Any other provider whose price list has a cached price."""

UNCACHED = CacheModel(
    name="uncached", style="none", read=1.0, write=1.0, write_long=1.0, ttl=0.0,
    min_prefix=0, look_back=None, max_breakpoints=0, granularity=1,
)  # fmt: skip
"""No prompt cache, or none that is known."""

MIN_PREFIXES: tuple[tuple[str, int], ...] = (
    ("opus-4-5", 4096), ("opus-4-6", 4096), ("opus-4-7", 2048), ("haiku-4-5", 4096), ("3-5-haiku", 2048),
    ("opus-5", 512), ("fable-5", 512), ("mythos-5", 512),
    ("gemini-2-5-pro", 4096), ("gemini-3-pro", 4096), ("gemini-3-1-pro", 4096),
)  # fmt: skip
"""Shortest cached prefix in tokens by a part of the model's name (dots read as dashes); the first hit counts."""

_GPT = re.compile(r"gpt-(\d+)(?:[.-](\d{1,2})\b)?")
_APIS = (("anthropic", ANTHROPIC), ("openai", OPENAI), ("azure", OPENAI), ("google", GEMINI))


def cache_model_for(
    provider: str | None, api: str | None, model: str | None, prices: Prices | None, *, hour: bool = False
) -> CacheModel:
    """Choose the table by the model's maker, then take the multiples from ``prices`` where it states them.

    ``hour`` asks for one-hour writes, which only Claude models know.
    """
    base = _family((provider or "").lower(), (api or "").lower(), (model or "").lower(), prices)
    base = _shortest(base, (model or "").lower().replace(".", "-"))
    if prices is not None:
        base = _priced(base, prices)
    return replace(base, hour=True, ttl=3600.0) if hour and base.name == ANTHROPIC.name else base


def _family(provider: str, api: str, model: str, prices: Prices | None) -> CacheModel:
    maker = _maker(model)
    if prices is None:
        known = (table for word, table in _APIS if word in api or word in provider)
        return maker or next(known, UNCACHED)
    if prices.cache_read is None:
        return UNCACHED
    return maker or AUTOMATIC


def _maker(model: str) -> CacheModel | None:
    if "claude" in model:
        return ANTHROPIC
    if "gemini" in model:
        return GEMINI
    if version := _GPT.search(model):
        return OPENAI_MARKED if (int(version[1]), int(version[2] or 0)) >= (5, 6) else OPENAI
    return OPENAI if re.search(r"(^|/)o[134]\b|codex", model) else None


def _shortest(base: CacheModel, model: str) -> CacheModel:
    if base.style == "none":
        return base
    return next((replace(base, min_prefix=size) for part, size in MIN_PREFIXES if part in model), base)


def _priced(base: CacheModel, prices: Prices) -> CacheModel:
    if base.style == "none" or not (unit := prices.input):
        return base
    read = _multiple(prices.cache_read, unit, base.read)
    if base.style == "automatic":
        return replace(base, read=read)  # a listed write price of such a cache is storage, not a premium
    write = _multiple(prices.cache_write, unit, base.write)
    return replace(base, read=read, write=write, write_long=_multiple(prices.cache_write_long, unit, base.write_long))


def _multiple(price: float | None, unit: float, default: float) -> float:
    return default if price is None else round(price / unit, 6)


class Block(Struct, frozen=True):
    """One piece of a request: the same ``key`` after the same predecessors means the same bytes."""

    key: Hashable
    """Identity of the block's bytes."""
    tokens: float
    """Size in tokens."""


class CacheUse(Struct, frozen=True, kw_only=True):
    """What the cache did for one request, in tokens."""

    read: float
    """Read from the cache."""
    written: float
    """Sent and written to the cache."""
    uncached: float
    """Sent and not cached."""
    miss: float
    """The part of written and uncached that was cached by the request before and had to be sent again."""
    cause: Cause | None
    """Why ``miss`` is not 0: ``shape`` (earlier blocks or breakpoints changed), ``expired``, ``model``."""
    assumed_warm: bool
    """The time since the request before is unknown and was taken as shorter than the lifetime."""

    @property
    def total(self) -> float:
        """Input tokens of the request."""
        return self.read + self.written + self.uncached


class PromptCache:
    """The prompt cache of one conversation, fed with its requests in order.

    A request is the first ``kept`` blocks of the one before plus new blocks. Its cost does not depend on its length.
    """

    def __init__(self, model: CacheModel, *, warm: float = 0) -> None:
        self.model = model
        self.warm = warm
        """Tokens at the head of the first request that other conversations left in the cache."""
        self.unknown_gaps = 0
        """Requests whose distance in time was unknown and taken as warm."""
        self._keys: list[Hashable] = []
        self._chain = [0]  # _chain[n] identifies the first n blocks
        self._sums: list[float] = [0]  # _sums[n]: their tokens
        self._prefixes: dict[int, tuple[int, float]] = {}  # identity -> (blocks, last use), oldest use first
        self._now = 0.0  # seconds of known time since the first request
        self._at: float | None = None
        self._used: float | None = None  # when the current blocks were last sent to this model
        self._reach: float = 0  # tokens of the last request that the cache held after it
        self._before: Literal["first", "model"] | None = "first"

    def send(
        self, kept: int, blocks: Sequence[Block], breakpoints: Iterable[int] = (), at: float | None = None
    ) -> CacheUse:
        """Send the next request at ``at`` seconds (any origin, None: unknown) and say what the cache did.

        ``breakpoints`` count leading blocks; ``kept`` = 0 is a fresh request.
        """
        if not 0 <= kept <= len(self._keys):
            raise ValueError(f"kept = {kept} of {len(self._keys)} blocks")
        assumed_warm = self._tick(at)
        dropped = self._splice(kept, blocks)
        marks = self._marks(breakpoints)
        warm, ever = self._find(kept, marks)
        read, end = self._extent(warm, marks)
        if self._before == "first":
            read = min(self.warm, end)
        miss = self._missed(kept, dropped, read)
        use = CacheUse(
            read=read,
            written=end - read,
            uncached=self._sums[-1] - end,
            miss=miss,
            cause=self._cause(miss, expired=ever > warm),
            assumed_warm=assumed_warm,
        )
        self._remember(warm, marks)
        self._used, self._reach, self._before = self._now, end, None
        return use

    def switch(self, model: CacheModel) -> None:
        """Go on with another model, whose cache holds nothing of this conversation."""
        self.model = model
        self._prefixes.clear()
        self._used = None
        self._before = self._before or "model"

    def is_cold(self, at: float | None) -> bool:
        """Whether everything has expired by ``at``; an unknown time is not cold, an unused cache is."""
        if self._used is None or self.model.style == "none":
            return True
        return at is not None and self._at is not None and at - self._at > self.model.ttl

    def _tick(self, at: float | None) -> bool:
        before, self._at = self._at, at
        if at is not None and before is not None:
            self._now += max(0.0, at - before)
            return False
        unknown = self._before != "first"
        self.unknown_gaps += unknown
        return unknown

    def _splice(self, kept: int, blocks: Sequence[Block]) -> Counter[Hashable]:
        """Make the new request the current one; the counted keys are blocks that were cached and fell out."""
        cached = bisect_right(self._sums, self._reach) - 1
        dropped = Counter(self._keys[kept:cached])
        if self.model.style == "automatic" and self._used is not None:
            for n in range(kept + 1, len(self._chain)):
                self._touch(n, self._used)
        del self._keys[kept:], self._chain[kept + 1 :], self._sums[kept + 1 :]
        for block in blocks:
            self._keys.append(block.key)
            self._chain.append(hash((self._chain[-1], block.key)))
            self._sums.append(self._sums[-1] + block.tokens)
        return dropped

    def _marks(self, breakpoints: Iterable[int]) -> list[int]:
        """Breakpoints at which this request can be cached, rising."""
        if self.model.style != "explicit":
            return []
        inside = sorted({n for n in breakpoints if 1 <= n <= len(self._keys)})[-self.model.max_breakpoints :]
        return [n for n in inside if self._sums[n] >= self.model.min_prefix]

    def _find(self, kept: int, marks: list[int]) -> tuple[int, int]:
        """Count the leading blocks that are cached and alive, and those that ever were."""
        if self.model.style == "automatic":
            return self._shared(kept)
        found = [self._nearest(mark) for mark in marks]
        return max((warm for warm, _ in found), default=0), max((ever for _, ever in found), default=0)

    def _nearest(self, mark: int) -> tuple[int, int]:
        ever = 0
        for n in self._candidates(mark):
            if prefix := self._prefixes.get(self._chain[n]):
                ever = ever or n
                if self._alive(prefix[1]):
                    return n, ever
        return 0, ever

    def _candidates(self, mark: int) -> Iterable[int]:
        look_back = self.model.look_back
        if look_back is None:
            return sorted({n for n, _ in self._prefixes.values() if n <= mark}, reverse=True)
        return range(mark, max(0, mark - look_back - 1), -1)

    def _shared(self, kept: int) -> tuple[int, int]:
        if self._used is None:
            return 0, 0
        ever, warm = kept, kept if self._alive(self._used) else 0
        for n in range(kept + 1, len(self._chain)):
            prefix = self._prefixes.get(self._chain[n])
            if prefix is None:
                break
            # a prefix was last used no later than every shorter one, so life ends once
            warm, ever = n if warm == n - 1 and self._alive(prefix[1]) else warm, n
        return warm, ever

    def _alive(self, used: float) -> bool:
        return self._now - used <= self.model.ttl

    def _extent(self, warm: int, marks: list[int]) -> tuple[float, float]:
        """Tokens read from the cache, and tokens that the cache holds after the request."""
        if self.model.style == "automatic":
            return self._stepped(self._sums[warm]), self._stepped(self._sums[-1])
        return self._sums[warm], self._sums[marks[-1]] if marks else 0

    def _stepped(self, tokens: float) -> float:
        whole = tokens - tokens % self.model.granularity
        return whole if whole >= self.model.min_prefix else 0

    def _missed(self, kept: int, dropped: Counter[Hashable], read: float) -> float:
        miss = max(0, min(self._sums[kept], self._reach) - read)
        if dropped:
            for n in range(kept, len(self._keys)):
                if dropped[self._keys[n]] > 0:
                    dropped[self._keys[n]] -= 1
                    miss += max(0, self._sums[n + 1] - max(self._sums[n], read))
        return miss

    def _cause(self, miss: float, *, expired: bool) -> Cause | None:
        if self._before == "first":
            return "first"
        if miss <= 0:
            return None
        return self._before or ("expired" if expired else "shape")

    def _remember(self, warm: int, marks: list[int]) -> None:
        """Refresh what was read and marked, then forget what died."""
        for n in (warm, *marks) if warm else marks:
            self._touch(n, self._now)
        limit = self.model.max_prefixes
        while self._prefixes:
            oldest = next(iter(self._prefixes))
            if self._alive(self._prefixes[oldest][1]) and (limit is None or len(self._prefixes) <= limit):
                return
            del self._prefixes[oldest]

    def _touch(self, n: int, used: float) -> None:
        self._prefixes.pop(self._chain[n], None)
        self._prefixes[self._chain[n]] = (n, used)
