"""Summaries of a branch that is left for another."""

from __future__ import annotations

import pytest
from tests.compaction.build import assistant, call, compaction, entry, ids, result, run, session, tokens, user

from leafscar.compaction import (
    DEFAULT,
    OWN,
    PI_0821_AGENT_CORE,
    PI_0821_CODING_AGENT,
    PI_130,
    Rules,
    SummaryOptions,
    SummaryResponse,
    collect_branch,
    prepare_branch,
    summarise_branch,
)
from leafscar.errors import SummaryFailed

TRUNK = session(user("one"), assistant("two"), user("three"), assistant("four"))
OTHER = {**session(user("other"))[0], "id": "x1", "parentId": "e2"}
TREE = [*TRUNK, OTHER]


def test_what_lies_between_two_positions_is_collected() -> None:
    """Oldest first, without the common ancestor."""
    walk = collect_branch(TREE, "e4", "x1")
    assert ([e.id for e in walk.entries], walk.common_ancestor_id) == (["e3", "e4"], "e2")


@pytest.mark.parametrize(
    ("old", "target", "expected"),
    [
        (None, "x1", ([], None)),
        ("e2", "e4", ([], "e2")),
        ("e2", None, (["e1", "e2"], None)),
        ("gone", "e1", ([], None)),
    ],
    ids=["no-old-leaf", "downwards", "to-nothing", "unknown"],
)
def test_edges_of_collecting(old: str | None, target: str | None, expected: tuple) -> None:
    """Nothing is left behind when there is no old position or the move goes down."""
    walk = collect_branch(TREE, old, target)
    assert ([e.id for e in walk.entries], walk.common_ancestor_id) == expected


def test_a_budget_keeps_the_newest() -> None:
    """Messages are taken from the end until the budget is reached; results are passed over."""
    path = session(user(tokens(10)), assistant(call("c", path="f")), result("c", tokens(500)), user(tokens(10)))
    whole = prepare_branch(path)
    assert (ids(whole.items), whole.total_tokens) == (["e1", "e2", "e4"], 24)
    tight = prepare_branch(path, 20)
    assert (ids(tight.items), tight.total_tokens) == (["e2", "e4"], 14)
    assert tight.file_ops.read == ("f",)


@pytest.mark.parametrize(
    ("budget", "included"), [(20, ["e2", "e3"]), (10, ["e3"]), (30, ["e2", "e3"]), (45, ["e1", "e2", "e3"])]
)
def test_a_summary_may_exceed_the_budget(budget: int, included: list[str]) -> None:
    """While less than nine tenths are used an earlier summary is taken over the limit, and ends the walk."""
    path = session(user(tokens(5)), compaction(None, tokens(25)), user(tokens(10)))
    assert ids(prepare_branch(path, budget).items) == included


def test_lists_of_earlier_branch_summaries_go_on() -> None:
    """From all of them, in budget or not, even from one without text."""
    details = {"readFiles": ["r"], "modifiedFiles": ["m"]}
    path = session(entry("branch_summary", fromId="f", summary="", details=details), user(tokens(50)))
    prepared = prepare_branch(path, 10)
    assert (prepared.file_ops.read, prepared.file_ops.edited) == (("r",), ("m",))
    assert ids(prepare_branch(path).items) == ["e1", "e2"]


def test_a_branch_summary_is_introduced_and_lists_its_files() -> None:
    """One request, without a thinking level."""
    path = session(user("one"), assistant(call("c", "edit", path="f")))
    options = SummaryOptions(reasoning="high", max_output=3000)
    made, [request] = run(summarise_branch(path, options), SummaryResponse(texts=("S",), usage={"input": 1}))
    assert made.summary == f"{OWN.branch_preamble}S\n\n<modified-files>\nf\n</modified-files>"
    assert (made.usage, made.details.modified_files, made.asked) == ({"input": 1}, ("f",), True)
    assert request.prompt.endswith(f"\n</conversation>\n\n{OWN.branch}")
    assert (request.kind, request.reasoning, request.max_tokens) == ("branch", None, 3000)


@pytest.mark.parametrize(
    ("rules", "max_output", "asked"),
    [(DEFAULT, 0, 4096), (PI_130, 9000, 4096), (PI_130, 50, 50), (PI_0821_CODING_AGENT, 50, 2048)],
)
def test_the_length_of_a_branch_summary_is_fixed(rules: Rules, max_output: int, asked: int) -> None:
    """0.82.1 asks for 2,048 tokens whatever the model can write."""
    _, [request] = run(summarise_branch(TRUNK, SummaryOptions(max_output=max_output), rules), "S")
    assert request.max_tokens == asked


@pytest.mark.parametrize(
    ("replace", "tail"), [(True, "only this"), (False, f"{OWN.branch}\n\nAdditional focus: only this")]
)
def test_instructions_replace_or_add(replace: bool, tail: str) -> None:
    """As the caller wants."""
    options = SummaryOptions(instructions="only this", replace_instructions=replace)
    _, [request] = run(summarise_branch(TRUNK, options), "S")
    assert request.prompt.endswith(f"</conversation>\n\n{tail}")


def test_an_empty_branch_asks_no_one() -> None:
    """And says so."""
    made, asked = run(summarise_branch([]))
    assert (made.summary, made.asked, asked) == ("No content to summarize", False, [])


def test_the_budget_is_the_window_without_the_reserve() -> None:
    """An unknown window counts as 128,000 tokens."""
    path = session(user(tokens(50)), user(tokens(10)))
    _, [request] = run(summarise_branch(path, SummaryOptions(window=2000), reserve=1980), "S")
    assert request.prompt.count("[User]") == 1
    _, [request] = run(summarise_branch(path), "S")
    assert request.prompt.count("[User]") == 2


@pytest.mark.parametrize(
    ("rules", "response", "words"),
    [
        (
            DEFAULT,
            SummaryResponse(stop_reason="error", error_message="boom {}"),
            "Branch summarization failed: boom {}",
        ),
        (PI_130, SummaryResponse(stop_reason="error"), "Branch summarization failed: Unknown error"),
        (
            PI_130,
            SummaryResponse(stop_reason="length"),
            "Branch summarization failed: generation hit the token cap and the summary is incomplete",
        ),
        (PI_130, SummaryResponse(calls_tool=True), "Branch summarization attempted to call a tool"),
        (PI_0821_CODING_AGENT, SummaryResponse(stop_reason="error", error_message="boom"), "boom"),
        (PI_0821_CODING_AGENT, SummaryResponse(stop_reason="error"), "Summarization failed"),
        (PI_0821_AGENT_CORE, SummaryResponse(stop_reason="error", error_message="boom"), "Branch summary failed: boom"),
        (PI_0821_AGENT_CORE, SummaryResponse(stop_reason="aborted"), "Branch summary aborted"),
    ],
)
def test_failures_speak_in_the_sources_words(rules: Rules, response: SummaryResponse, words: str) -> None:
    """Each version has its own."""
    with pytest.raises(SummaryFailed) as caught:
        run(summarise_branch(TRUNK, rules=rules), response)
    assert caught.value.words == words


def test_parents_that_form_a_circle() -> None:
    """Collecting ends where a walk upwards comes back to itself."""
    path = [{**item, "parentId": "e3" if item["id"] == "e1" else item["parentId"]} for item in session(*[user()] * 3)]
    walk = collect_branch(path, "e3", None)
    assert sorted(entry.id for entry in walk.entries) == ["e1", "e2", "e3"]
