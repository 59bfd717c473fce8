from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafscar.replay.rivals import (
    FRESH,
    ClearToolUses,
    LangChainClear,
    MaskLastN,
    OpencodePrune,
    Request,
    Result,
    SummarizeAt,
    advance,
    line_of,
    trigger_of,
)


def results_of(*sizes, tool="bash"):
    """Results of one tool with these sizes."""
    return [Result(tool=tool, tokens=size) for size in sizes]


def cleared_at_once(rule, results, **request):
    """What a rule clears of a history that it sees for the first time."""
    indexes, _ = advance(rule, Request(results=results, **request), FRESH)
    return list(indexes)


def test_all_but_the_newest_outputs_are_masked():
    """SWE-agent keeps n outputs and elides every older one."""
    assert cleared_at_once(MaskLastN(keep=3), results_of(1, 1, 1, 1, 1)) == [0, 1]
    assert cleared_at_once(MaskLastN(keep=3), results_of(1, 1, 1)) == []


def test_polling_moves_the_boundary_once_in_so_many_outputs():
    """With a polling of 5 the mask stands still for five steps, and between n and n + 5 outputs stay."""
    progress, boundaries = FRESH, []
    for count in range(1, 21):
        _, progress = advance(MaskLastN(keep=3, polling=5), Request(results=results_of(*[1] * count)), progress)
        boundaries.append(progress.cleared)
    assert boundaries == [0] * 3 + [1] * 5 + [6] * 5 + [11] * 5 + [16] * 2


def test_tool_uses_are_cleared_above_the_trigger():
    """Anthropic's rule waits until the prompt exceeds the trigger, then keeps the newest uses."""
    rule = ClearToolUses(trigger=100, keep=2)
    assert cleared_at_once(rule, results_of(10, 20, 30, 40), tokens=100) == []
    assert cleared_at_once(rule, results_of(10, 20, 30, 40), tokens=101) == [0, 1]
    assert cleared_at_once(rule, results_of(10, 20), tokens=101) == []


def test_the_trigger_may_count_tool_uses():
    """With a trigger of tool uses the size of the prompt does not matter."""
    rule = ClearToolUses(trigger=0, trigger_tool_uses=3, keep=1)
    assert cleared_at_once(rule, results_of(1, 1, 1), tokens=10**6) == []
    assert cleared_at_once(rule, results_of(1, 1, 1, 1), tokens=1) == [0, 1, 2]


def test_excluded_tools_stay():
    """Outputs of excluded tools stay in both rules that clear tool uses, and still count among the newest."""
    results = [Result(tool="memory"), Result(tool="bash"), Result(tool="bash"), Result(tool="memory")]
    for rule in (ClearToolUses, LangChainClear):
        chosen = rule(trigger=0, keep=2, exclude_tools=("memory",))
        assert cleared_at_once(chosen, results, tokens=1) == [1]


def test_anthropic_clears_nothing_while_less_than_the_least_could_go():
    """Clear_at_least is a condition: all that may go goes once that is enough."""
    rule, progress, seen = ClearToolUses(trigger=0, keep=1, clear_at_least=50), FRESH, []
    for count in range(1, 7):
        indexes, progress = advance(rule, Request(results=results_of(*[20] * count), tokens=1), progress)
        seen.append(list(indexes))
    assert seen == [[], [], [], [0, 1, 2], [3], [4]]


def test_langchain_stops_when_enough_has_gone():
    """LangChain's clear_at_least is a goal: the oldest go until it is reached, and no others afterwards."""
    rule = LangChainClear(trigger=10, keep=1, clear_at_least=50)
    results = results_of(20, 20, 20, 20, 20)
    indexes, progress = advance(rule, Request(results=results, tokens=11), FRESH)
    assert list(indexes) == [0, 1, 2]
    assert advance(rule, Request(results=results_of(*[20] * 9), tokens=200), progress) == ((), progress)


def test_langchain_needs_the_call_of_a_result():
    """A result whose call the nearest response did not make stays."""
    results = [Result(tool="bash"), Result(tool="bash", is_owned=False), Result(tool="bash")]
    assert cleared_at_once(LangChainClear(trigger=0, keep=0), results, tokens=1) == [0, 2]


def test_opencode_protects_two_turns_and_then_so_many_tokens():
    """Outputs before the last two turns count; beyond 40 they go if more than 20 do."""
    rule = OpencodePrune(protect=40, minimum=20)
    results = results_of(5, 25, 20, 20, 90, 90)
    prompts = [0, 2, 4, 5, 6]
    assert cleared_at_once(rule, results, prompts=prompts, ended=4) == [0, 1]
    assert cleared_at_once(rule, results_of(5, 15, 20, 20, 90, 90), prompts=prompts, ended=4) == []
    assert cleared_at_once(rule, results, prompts=prompts, ended=1) == []


def test_opencode_runs_when_a_turn_has_ended():
    """Within a turn nothing is pruned, however much there is."""
    rule = OpencodePrune(protect=0, minimum=0)
    request = Request(results=results_of(9, 9, 9), prompts=[0, 1, 2], ended=2)
    assert advance(rule, request, FRESH)[0] == ()
    after = Request(results=results_of(9, 9, 9, 9), prompts=[0, 1, 2, 3], ended=3)
    indexes, progress = advance(rule, after, FRESH)
    assert list(indexes) == [0]
    assert advance(rule, after, progress) == ((), progress)


def test_opencode_leaves_errors_and_skills():
    """Failed calls and the outputs of skills are not counted and stay."""
    results = [Result(tool="skill", tokens=50), Result(tool="bash", tokens=50, is_error=True), *results_of(30, 30)]
    assert cleared_at_once(OpencodePrune(protect=0, minimum=0), results, prompts=[0, 4, 4, 4], ended=3) == [2, 3]


def test_summaries_clear_nothing():
    """The rule that sums up has a line, and clears no output."""
    rule = SummarizeAt(fraction=0.5)
    assert cleared_at_once(rule, results_of(1, 1), tokens=10**9) == []
    assert line_of(rule, 1000, 900) == 500
    assert line_of(SummarizeAt(fraction=1.0), 1000, 900) == 900
    assert line_of(MaskLastN(), 1000, 900) == 900


@pytest.mark.parametrize(
    ("rule", "trigger"),
    [
        (ClearToolUses(), 100_000),
        (ClearToolUses(trigger_tool_uses=5), None),
        (LangChainClear(trigger=7), 7),
        (MaskLastN(), None),
    ],
)
def test_triggers(rule, trigger):
    """Two rules wait for a size, unless the size is a number of tool uses."""
    assert trigger_of(rule) == trigger


# --- the same rules as their tools state them: over the whole history, each time anew ----------------------------

_results = st.builds(
    Result,
    tool=st.sampled_from(["bash", "read", "skill"]),
    tokens=st.integers(0, 60),
    is_error=st.booleans(),
    is_owned=st.booleans(),
)
_histories = st.lists(st.one_of(st.just("prompt"), _results), max_size=60)


def whole_mask(rule, results):
    """Which results SWE-agent elides of a history, its task counted as the first observation."""
    observations = [None, *range(len(results))]
    end = max(0, len(observations) // rule.polling * rule.polling - rule.keep)
    return observations[1:end]


def whole_anthropic(rule, results, tokens):
    """Which results go above the trigger."""
    if tokens <= rule.trigger:
        return []
    gone = [at for at in range(max(0, len(results) - rule.keep)) if results[at].tool not in rule.exclude_tools]
    return gone if sum(results[at].tokens for at in gone) >= rule.clear_at_least else []


def whole_langchain(rule, results, tokens):
    """Which results go above the trigger, oldest first, until enough has gone."""
    gone, freed = [], 0
    if tokens <= rule.trigger:
        return gone
    for at in range(max(0, len(results) - rule.keep)):
        if results[at].is_owned and results[at].tool not in rule.exclude_tools:
            gone.append(at)
            freed += results[at].tokens
            if rule.clear_at_least > 0 and freed >= rule.clear_at_least:
                break
    return gone


def walk_back(rule, history, gone):
    """What one run of opencode's prune adds: a walk from the newest message to the last pruned output."""
    total = pruned = turns = 0
    found, at = [], sum(not isinstance(each, str) for each in history)
    for each in reversed(history):
        if isinstance(each, str):
            turns += 1
            continue
        at -= 1
        if turns < rule.turns or each.is_error or each.tool in rule.exclude_tools:
            continue
        if at in gone:
            break
        total += each.tokens
        if total > rule.protect:
            pruned += each.tokens
            found.append(at)
    return set(found) if pruned > rule.minimum else set()


@settings(max_examples=80)
@given(
    history=_histories,
    rule=st.one_of(
        st.builds(MaskLastN, keep=st.integers(1, 6), polling=st.integers(1, 4)),
        st.builds(
            ClearToolUses,
            trigger=st.integers(0, 300),
            keep=st.integers(0, 5),
            clear_at_least=st.integers(0, 200),
            exclude_tools=st.sampled_from([(), ("read",)]),
        ),
        st.builds(
            LangChainClear,
            trigger=st.integers(0, 300),
            keep=st.integers(0, 5),
            clear_at_least=st.integers(0, 200),
            exclude_tools=st.sampled_from([(), ("read",)]),
        ),
    ),
)
def test_a_look_at_what_is_new_gives_what_a_look_at_all_gives(history, rule):
    """Step by step over a growing history each rule clears what its tool clears of the whole."""
    whole = {MaskLastN: lambda *given: whole_mask(*given[:2]), ClearToolUses: whole_anthropic}
    results, progress, gone = [], FRESH, []
    for each in history:
        if isinstance(each, str):
            continue
        results.append(each)
        tokens = sum(result.tokens for result in results)
        indexes, progress = advance(rule, Request(results=results, tokens=tokens), progress)
        gone += indexes
        assert gone == whole.get(type(rule), whole_langchain)(rule, results, tokens)


@settings(max_examples=80)
@given(
    history=_histories,
    rule=st.builds(OpencodePrune, protect=st.integers(0, 120), minimum=st.integers(0, 80), turns=st.integers(1, 3)),
)
def test_two_sums_give_what_a_walk_back_gives(history, rule):
    """Opencode's walk over the whole history at the end of each turn clears the same outputs."""
    results, prompts, progress, gone, expected = [], [], FRESH, set(), set()
    for at, each in enumerate(history):
        if not isinstance(each, str):
            results.append(each)
            continue
        expected |= walk_back(rule, history[:at], expected)
        prompts.append(len(results))
        request = Request(results=results, prompts=prompts, ended=len(prompts) - 1)
        indexes, progress = advance(rule, request, progress)
        gone |= set(indexes)
        assert gone == expected
