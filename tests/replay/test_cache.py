"""The prompt-cache model: tables, and a simulator that is compared with a slow one."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from leafscar.replay.cache import (
    ANTHROPIC,
    AUTOMATIC,
    GEMINI,
    OPENAI,
    OPENAI_MARKED,
    UNCACHED,
    Block,
    PromptCache,
    cache_model_for,
)
from leafscar.replay.prices import Prices

EXPLICIT = replace(ANTHROPIC, ttl=100.0, min_prefix=50, look_back=3, max_breakpoints=2)
SHARED = replace(OPENAI, ttl=100.0, min_prefix=48, granularity=16)
SINGLE = replace(EXPLICIT, max_prefixes=1)
ANYWHERE = replace(OPENAI_MARKED, ttl=100.0, min_prefix=50, max_breakpoints=2, max_prefixes=4)
SIZES = {"a": 7, "b": 21, "c": 33, "d": 50, "e": 121}


def blocks(keys):
    """Blocks whose size follows from the key, so that equal keys are equal bytes."""
    return [Block(key, SIZES.get(key, 100)) for key in keys]


class SlowCache:
    """The same rules over whole tuples of keys and whole token lists, without any short cut."""

    def __init__(self, model):
        self.model, self.now, self.at = model, 0.0, None
        self.keys, self.reach, self.sent = (), 0, []
        self.prefixes = []  # (keys, last use), least recently used first

    def _tokens(self, keys):
        return sum(SIZES[key] for key in keys)

    def _alive(self, used):
        return self.now - used <= self.model.ttl

    def send(self, kept, new, breakpoints, at):
        """Read, written, uncached and missed tokens of the next request."""
        if at is not None and self.at is not None:
            self.now += at - self.at
        self.at = at
        before, self.keys = self.keys, self.keys[:kept] + tuple(new)
        find = self._explicit if self.model.style == "explicit" else self._shared
        read, end = find(breakpoints)
        miss = self._missed(before, kept, read)
        self.reach = end
        return read, end - read, self._tokens(self.keys) - end, miss

    def _explicit(self, breakpoints):
        model, keys = self.model, self.keys
        marks = sorted(n for n in set(breakpoints) if 0 < n <= len(keys))[-model.max_breakpoints :]
        marks = [n for n in marks if self._tokens(keys[:n]) >= model.min_prefix]
        hit = ()
        for prefix, used in self.prefixes:
            near = any(0 <= m - len(prefix) <= (model.look_back or len(keys)) for m in marks)
            if near and self._alive(used) and keys[: len(prefix)] == prefix and len(prefix) > len(hit):
                hit = prefix
        for prefix in [hit] * bool(hit) + [keys[:n] for n in marks]:
            self.prefixes = [entry for entry in self.prefixes if entry[0] != prefix] + [(prefix, self.now)]
        self.prefixes = [entry for entry in self.prefixes if self._alive(entry[1])]
        if model.max_prefixes:
            self.prefixes = self.prefixes[-model.max_prefixes :]
        return self._tokens(hit), self._tokens(keys[: marks[-1]]) if marks else 0

    def _shared(self, breakpoints):
        shared = 0
        for keys, used in self.sent:
            same = 0
            while same < min(len(keys), len(self.keys)) and keys[same] == self.keys[same]:
                same += 1
            if self._alive(used):
                shared = max(shared, self._tokens(self.keys[:same]))
        self.sent.append((self.keys, self.now))
        return self._step(shared), self._step(self._tokens(self.keys))

    def _step(self, tokens):
        whole = tokens // self.model.granularity * self.model.granularity
        return whole if whole >= self.model.min_prefix else 0

    def _missed(self, before, kept, read):
        lost = Counter(key for n, key in enumerate(before) if n >= kept and self._tokens(before[: n + 1]) <= self.reach)
        miss, position = 0, 0
        for n, key in enumerate(self.keys):
            cached = n >= kept and lost[key] > 0
            lost[key] -= cached
            for _ in range(SIZES[key]):
                miss += position >= read and (cached or (n < kept and position < self.reach))
                position += 1
        return miss


REQUEST = st.tuples(
    st.floats(0, 1),
    st.lists(st.sampled_from("abcde"), max_size=6),
    st.lists(st.integers(-4, 1), max_size=3),
    st.one_of(st.none(), st.sampled_from([1, 40, 60, 101, 250])),
)


def play(requests):
    """Turn drawn requests into calls: kept, keys, breakpoints, time."""
    length, now = 0, 0
    for share, keys, marks, gap in requests:
        kept = round(share * length)
        length = kept + len(keys)
        now += gap or 0
        yield kept, keys, [length + mark for mark in marks], None if gap is None else now


@pytest.mark.parametrize("model", [EXPLICIT, SHARED, SINGLE, ANYWHERE], ids=lambda model: model.name)
@given(requests=st.lists(REQUEST, max_size=12))
@settings(max_examples=50, deadline=None)
def test_equals_the_slow_simulator(model, requests):
    """The incremental simulator agrees with one that compares whole requests, number by number."""
    fast, slow = PromptCache(model), SlowCache(model)
    for kept, keys, marks, at in play(requests):
        use = fast.send(kept, blocks(keys), marks, at)
        assert (use.read, use.written, use.uncached, use.miss) == slow.send(kept, keys, marks, at)
        assert use.total == sum(SIZES[key] for key in slow.keys)
        assert 0 <= use.miss <= use.written + use.uncached
        assert (use.cause in {None, "first"}) == (use.miss == 0)


@pytest.mark.parametrize("model", [ANTHROPIC, OPENAI, OPENAI_MARKED, GEMINI], ids=lambda model: model.name)
@given(steps=st.lists(st.tuples(st.lists(st.floats(1, 5000), min_size=1, max_size=8), st.floats(0, 290)), max_size=15))
@settings(max_examples=25, deadline=None)
def test_an_unchanged_prefix_within_its_life_is_never_missed(model, steps):
    """Requests that only grow and come in time read all that was cached and write the new part alone."""
    cache, uses, length, now = PromptCache(model), [], 0, 0.0
    for sizes, gap in steps:
        now += gap
        new = [Block((length, n), size) for n, size in enumerate(sizes)]
        uses.append(cache.send(length, new, (length, length + len(new)), now))
        length += len(new)
    for before, use in pairwise(uses):
        assert (use.miss, use.cause) == (0, None)
        assert use.read == pytest.approx(before.read + before.written)


@pytest.mark.parametrize("model", [EXPLICIT, SHARED], ids=lambda model: model.name)
@given(keys=st.lists(st.sampled_from("de"), min_size=2, max_size=8), late=st.floats(100.5, 1e6))
@settings(max_examples=20, deadline=None)
def test_after_its_life_everything_is_written_again(model, keys, late):
    """One second too late and the whole prefix is paid as a write; the report says that it expired."""
    cache = PromptCache(model)
    first = cache.send(0, blocks(keys), [len(keys)], 0)
    again = cache.send(len(keys), [], [len(keys)], late)
    assert (again.read, again.written) == (0, first.written)
    assert (again.miss, again.cause) == (first.written, "expired")


@pytest.mark.parametrize("model", [EXPLICIT, SHARED], ids=lambda model: model.name)
def test_a_prefix_lives_to_the_end_of_its_time_and_each_use_renews_it(model):
    """A prefix is read at exactly its lifetime, and every read starts it anew."""
    cache = PromptCache(model)
    written = cache.send(0, blocks("ee"), [2], 0).written
    assert [cache.send(2, [], [2], at).read for at in (100, 200, 300, 401)] == [written, written, written, 0]


@pytest.mark.parametrize("model", [EXPLICIT, SHARED, UNCACHED], ids=lambda model: model.name)
def test_below_the_shortest_prefix_nothing_is_cached(model):
    """A short request is neither written nor read, and not a miss either."""
    cache = PromptCache(model)
    for at in (0, 1):
        use = cache.send(0, blocks("ab"), [2], at)
        assert (use.read, use.written, use.uncached, use.miss) == (0, 0, 28, 0)


def test_without_breakpoints_an_explicit_cache_holds_nothing():
    """Explicit caches need the host's marks."""
    cache = PromptCache(ANTHROPIC)
    cache.send(0, blocks("eeee"), (), 0)
    assert cache.send(4, [], (), 1).uncached == 4 * SIZES["e"]


def test_the_read_starts_at_the_nearest_prefix_within_the_look_back():
    """Four blocks after a mark with a look-back of three, the prefix is out of sight without a mark of its own."""
    far, near = PromptCache(EXPLICIT), PromptCache(EXPLICIT)
    for cache in (far, near):
        cache.send(0, blocks("ee"), [2], 0)
    lost = far.send(2, blocks("aaaa"), [6], 1)
    assert (lost.read, lost.miss, lost.cause) == (0, 2 * SIZES["e"], "shape")
    assert near.send(2, blocks("aaaa"), [2, 6], 1).read == 2 * SIZES["e"]


def test_several_prefixes_stay_alive_unless_the_model_keeps_one():
    """Going back to an earlier shape reads it again; a model with one living prefix has forgotten it."""
    for model, read in ((EXPLICIT, 3 * 121), (SHARED, 3 * 121 // 16 * 16), (SINGLE, 0)):
        cache = PromptCache(model)
        cache.send(0, blocks("eee"), [3], 0)
        cache.send(0, blocks("dee"), [3], 1)
        assert cache.send(0, blocks("eee"), [3], 2).read == read


def test_a_changed_early_block_costs_all_that_follows():
    """The blocks after a replaced one are cached bytes that have to be sent again; the new one is not."""
    cache = PromptCache(EXPLICIT)
    cache.send(0, blocks("ecde"), [1, 4], 0)
    use = cache.send(1, blocks("ade"), [1, 4], 1)
    assert (use.read, use.written) == (121, 7 + 50 + 121)
    assert (use.miss, use.cause) == (50 + 121, "shape")


def test_another_model_reads_nothing_of_the_first():
    """After a switch the whole prefix is sent again, and the cause is the model."""
    for model in (EXPLICIT, SHARED):
        cache = PromptCache(model)
        first = cache.send(0, blocks("ee"), [2], 0)
        cache.switch(model)
        use = cache.send(2, blocks("a"), [2, 3], 1)
        assert (use.read, use.miss, use.cause) == (0, first.written, "model")
        assert cache.send(3, [], [3], 2).cause is None
    unused = PromptCache(EXPLICIT)
    unused.switch(SHARED)
    assert unused.send(0, blocks("e"), (), 0).cause == "first"


def test_an_unknown_gap_is_taken_as_warm_and_counted():
    """Without a time on both sides the cache is taken to live, and the number of such guesses is kept."""
    cache = PromptCache(EXPLICIT)
    uses = [cache.send(0, blocks("ee"), [2], at) for at in (None, 1e9, None, None, 5.0, 6.0)]
    assert [use.assumed_warm for use in uses] == [False, True, True, True, True, False]
    assert cache.unknown_gaps == 4
    assert {use.read for use in uses[1:]} == {2 * SIZES["e"]}


def test_a_clock_that_jumps_back_is_no_time_at_all():
    """Recorded times can go backwards; the prefix neither dies nor lives longer."""
    cache = PromptCache(EXPLICIT)
    assert [cache.send(0, blocks("ee"), [2], at).read > 0 for at in (1000, 10, 110, 211)] == [False, True, True, False]


def test_cold_means_that_everything_has_expired():
    """A host can ask before it sends; an unknown time is not cold."""
    cache = PromptCache(EXPLICIT)
    assert cache.is_cold(0)
    cache.send(0, blocks("ee"), [2], 0)
    assert [cache.is_cold(at) for at in (100, 101, None)] == [False, True, False]
    cache.switch(UNCACHED)
    cache.send(2, [], (), 0)
    assert cache.is_cold(0)


def test_more_blocks_kept_than_sent_is_an_error():
    """A caller that loses count is told, with both numbers."""
    cache = PromptCache(EXPLICIT)
    cache.send(0, blocks("ee"), [2], 0)
    for kept in (3, -1):
        with pytest.raises(ValueError, match=f"kept = {kept} of 2 blocks"):
            cache.send(kept, [], (), 1)


@pytest.mark.parametrize("model", [EXPLICIT, SHARED], ids=lambda model: model.name)
def test_dead_prefixes_are_dropped(model):
    """What is remembered does not grow with the session, only with the lifetime."""
    cache = PromptCache(model)
    for n in range(200):
        cache.send(0, [Block((n, part), 60) for part in range(3)], [1, 3], n * 60)
    assert len(cache._prefixes) <= 9


def units(use, model):
    """Input-token equivalents of one request."""
    return use.read * model.read + use.written * model.written + use.uncached


def masked_cost(model, steps, keep, *, at_boundary):
    """Cost of hiding every result older than the last ``keep`` behind a 60-token marker, step by step."""
    cache, cost, ends = PromptCache(model), 0.0, 0
    cache.send(0, [Block("system", 15_000)], [1], 0)
    for step in range(steps):
        hidden = max(0, step + 1 - keep)
        first = 2 * hidden if hidden else 1 + 2 * step  # the result that is hidden by this request
        marker = [Block(("marker", hidden - 1), 60)] if hidden else []
        raw = [
            Block((kind, n), size) for n in range(hidden, step + 1) for kind, size in (("call", 500), ("result", 450))
        ]
        new = [*marker, *(raw if hidden else raw[-2:])]
        end = first + len(new)
        marks = [1, ends, end, *([first + 1] if at_boundary and hidden else [])]
        cost += units(cache.send(first, new, marks, step * 12), model)
        ends = end
    return cost


def test_perf_5_a_sliding_boundary_is_dear_unless_it_has_a_breakpoint():
    """Hiding all but the last ten results costs over three times what growing costs; a mark at the boundary helps."""
    grows = masked_cost(ANTHROPIC, 300, 300, at_boundary=False)
    slides = masked_cost(ANTHROPIC, 300, 10, at_boundary=False)
    assert slides > 3 * grows
    assert masked_cost(ANTHROPIC, 300, 10, at_boundary=True) < slides / 2
    # a cache that finds any shared prefix has no such trap
    assert masked_cost(OPENAI, 300, 10, at_boundary=False) < slides / 2


@pytest.mark.parametrize(
    ("provider", "api", "model", "expected"),
    [
        ("anthropic", "anthropic-messages", "sonnet", ANTHROPIC),
        ("amazon-bedrock", None, "us.anthropic.claude-sonnet-4-5-20250929-v1:0", ANTHROPIC),
        (None, "openai-completions", "x", OPENAI),
        ("azure-openai", None, "deployment", OPENAI),
        (None, None, "gpt-5.4", OPENAI),
        (None, None, "gpt-4o", OPENAI),
        (None, None, "openai/o3", OPENAI),
        (None, None, "codex-mini", OPENAI),
        (None, None, "gpt-5-2025-08-07", OPENAI),
        (None, None, "gpt-5.6-sol", OPENAI_MARKED),
        (None, None, "gpt-6-astra", OPENAI_MARKED),
        (None, "google-generative-ai", None, GEMINI),
        (None, None, "gemini-3-flash", GEMINI),
        ("fake", "x", "fake-1", UNCACHED),
        (None, None, None, UNCACHED),
    ],
)
def test_the_table_follows_the_models_maker(provider, api, model, expected):
    """The model's name decides; a name that says nothing leaves the decision to the API and the provider."""
    assert cache_model_for(provider, api, model, None) == expected


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("claude-opus-4-5-20251101", 4096),
        ("anthropic/claude-opus-4.6", 4096),
        ("claude-opus-4-7", 2048),
        ("claude-3-5-haiku-latest", 2048),
        ("claude-opus-5-5", 512),
        ("claude-sonnet-4-5", 1024),
        ("gemini-2.5-pro", 4096),
    ],
)
def test_the_shortest_prefix_follows_the_model(model, tokens):
    """Minimum prefixes are data by model name."""
    assert cache_model_for(None, None, model, None).min_prefix == tokens


@pytest.mark.parametrize(
    ("model", "listed", "read", "write", "write_long"),
    [
        ("claude-opus-5-5", {"input": 4, "cache_read": 0.2, "cache_write": 5, "cache_write_long": 8}, 0.05, 1.25, 2),
        ("claude-fable-5-2", {"input": 8, "cache_read": 0.2, "cache_write": 10}, 0.025, 1.25, 2),
        ("claude-sonnet-4-5", {"input": 3, "cache_read": 0.3}, 0.1, 1.25, 2),
        ("gpt-4o", {"input": 2.5, "cache_read": 1.25}, 0.5, 1, 1),
        ("gemini-flash", {"input": 0.75, "cache_read": 0.075, "cache_write": 0.04}, 0.1, 1, 1),
        ("gpt-6.1-sol", {"input": 2, "cache_read": 0.1, "cache_write": 2.5}, 0.05, 1.25, 1.25),
        ("glm-5.2", {"input": 1.4, "cache_read": 0.26}, 0.185714, 1, 1),
        ("claude-free", {"input": 0, "cache_read": 0}, 0.1, 1.25, 2),
    ],
)
def test_multiples_come_from_the_prices_where_they_are_listed(model, listed, read, write, write_long):
    """Read and write multiples are listed price by listed input price; what is not listed keeps the table's value."""
    found = cache_model_for(None, None, model, Prices(source="test", **listed))
    assert (found.read, found.write, found.write_long) == (read, write, write_long)


def test_a_price_list_without_a_cached_price_means_no_cache():
    """No discount is assumed where the seller lists none, and a cached price alone names no maker."""
    assert cache_model_for("x", "y", "claude-2", Prices(source="test", input=8)) == UNCACHED
    assert cache_model_for("x", "y", "z", Prices(source="test", input=1, cache_read=0.5)).name == AUTOMATIC.name


def test_one_hour_writes_exist_for_claude_only():
    """The one-hour lifetime changes the lifetime and the write price of Claude models and nothing else."""
    claude = cache_model_for(None, None, "claude-sonnet-5", None, hour=True)
    assert (claude.hour, claude.ttl, claude.written) == (True, 3600, 2.0)
    assert cache_model_for(None, None, "gpt-5", None, hour=True) == OPENAI


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (ANTHROPIC, "at most 4 a request, look-back 20 blocks), read 0.1x, write 1.25x the input price, lives 300 s"),
        (OPENAI, "longest shared prefix in steps of 128 tokens"),
        (OPENAI_MARKED, "look-back any distance"),
        (GEMINI, "(assumed: implicit caching hits every time; its lifetime is not stated)"),
        (UNCACHED, "uncached: no prompt cache, every input token at the input price"),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_a_model_states_itself_in_one_sentence(model, words):
    """Reports print every number that the simulator uses, assumptions marked."""
    assert words in model.sentence
    assert "\n" not in model.sentence


@pytest.mark.parametrize("model", [EXPLICIT, SHARED], ids=lambda model: model.name)
def test_a_warm_start_is_read_once(model):
    """What other conversations left is read by the first request, no more than it holds, and is no miss."""
    cache = PromptCache(model, warm=100)
    first = cache.send(0, blocks("ee"), [2], 0)
    assert (first.read, first.cause, first.miss) == (100, "first", 0)
    assert first.total == 242
    again = cache.send(0, blocks("de"), [2], 1)
    assert again.read == 0
    assert PromptCache(model, warm=9_999).send(0, blocks("ee"), [2], 0).uncached == first.uncached


def test_nothing_is_warm_where_nothing_is_cached():
    """A provider without a cache, or a first request below the shortest prefix, reads nothing."""
    assert PromptCache(UNCACHED, warm=100).send(0, blocks("ee"), [2], 0).read == 0
    assert PromptCache(EXPLICIT, warm=100).send(0, blocks("a"), [1], 0).read == 0
