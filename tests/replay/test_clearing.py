from __future__ import annotations

import pytest
from tests.replay.sessions import Story, text_of

from leafscar.engine import Controller, Facts, ShedSettings
from leafscar.engine.sizers import chars_sizer
from leafscar.model import as_entry
from leafscar.replay.clearing import Clearing, placeholder
from leafscar.replay.langchain import approximate_tokens
from leafscar.replay.rivals import ClearToolUses, LangChainClear, MaskLastN, OpencodePrune, SummarizeAt

PARTS = {"provider": "anthropic", "model": "claude-sonnet-4-5", "api": "anthropic-messages", "stopReason": "toolUse"}


class Context:
    """A story as a controller follows it, and a rule that clears it."""

    def __init__(self, story, rule, overhead=100.0):
        self.story = story
        self.controller = Controller(
            facts=Facts(window=10**6),
            policy="compaction",
            sizer=chars_sizer,
            shed=ShedSettings(min_result_tokens=2**62),
            trust_entries=False,
        )
        self.clearing = Clearing(rule, chars_sizer, overhead)
        self.extra = []

    def follow(self, *, cut=False):
        """Send the next request."""
        self.controller.follow([*map(as_entry, self.story.entries), *self.extra])
        self.clearing.follow(self.controller.ledger, cut=cut)
        return self.clearing

    def sizes(self):
        """Tokens of every message as it goes out."""
        return [self.clearing.size(at) for at in range(len(self.controller.items))]


def story_of(*outputs, prompt="go"):
    """One prompt and one call for each output."""
    story = Story().user(prompt)
    for output in outputs:
        story.call(output, name="bash")
    return story


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (MaskLastN(), "Old environment output: (2 lines omitted)"),
        (ClearToolUses(), "[cleared to save context]"),
        (LangChainClear(), "[cleared]"),
        (OpencodePrune(), "[Old tool result content cleared]"),
        (SummarizeAt(), "[cleared to save context]"),
    ],
)
def test_placeholders(rule, text):
    """Each tool puts its own text in the place of an output."""
    assert placeholder(rule, "one\ntwo\n") == text


def test_a_cleared_output_weighs_what_its_placeholder_weighs():
    """Sizes follow the text that stands there now, and the savings are their difference."""
    context = Context(story_of(text_of(500), text_of(400)), MaskLastN(keep=1))
    clearing = context.follow()
    assert context.sizes()[2] == len("Old environment output: (134 lines omitted)") // 4 + 1
    assert clearing.saved == context.controller.ledger.raw() - sum(context.sizes()) == 500 - 11
    assert (clearing.moved, clearing.freed) == (1, clearing.saved)
    assert (clearing.version(2), clearing.version(4)) == (1, 0)


def test_an_output_smaller_than_its_placeholder_grows():
    """Those tools replace an output whatever it weighs."""
    context = Context(story_of("ok", "ok"), MaskLastN(keep=1))
    assert context.follow().saved < 0


def test_an_image_goes_with_its_output():
    """The placeholder takes the place of all content."""
    story = Story().user("look").call("x", name="bash").call("y", name="bash")
    story.entries[2]["message"]["content"].append({"type": "image", "data": "AAAA", "mimeType": "image/png"})
    assert Context(story, LangChainClear(trigger=0, keep=1)).follow().saved > 1_100


def test_the_boundary_is_where_the_next_move_begins():
    """The first output that still stands; before any move there is none."""
    context = Context(story_of("a", "b"), MaskLastN(keep=2))
    assert context.follow().boundary is None
    context.story.call("c", name="bash")
    assert context.follow().boundary == 4
    assert Context(story_of("a"), ClearToolUses(trigger=0, keep=0)).follow().boundary is None


def test_messages_before_the_first_change_are_kept():
    """Of the leading messages that are the same but for the rule, those before its newest move are the same bytes."""
    context = Context(story_of("a", "b"), MaskLastN(keep=1))
    assert context.follow().kept(0) == 0
    context.story.call("c", name="bash")
    clearing = context.follow()
    assert clearing.kept(5) == 4
    assert clearing.kept(5) == 5


@pytest.mark.parametrize("rule", [ClearToolUses, LangChainClear])
def test_inputs_of_cleared_calls(rule):
    """With clear_tool_inputs the arguments of the call go as well, and the response changes once for each."""
    story = Story().user("go")
    calls = [{"type": "toolCall", "id": name, "name": "write", "arguments": {"text": "x" * 400}} for name in ("a", "b")]
    story.message("assistant", content=[{"type": "text", "text": "both"}, *calls], usage=None, **PARTS)
    for name in ("a", "b"):
        story.message("toolResult", toolCallId=name, toolName="write", content=[{"type": "text", "text": "y" * 400}])
    context = Context(story, rule(trigger=0, keep=1, clear_tool_inputs=True))
    before = context.controller.ledger
    clearing = context.follow()
    assert clearing.version(1) == 1
    assert 180 < clearing.saved < 200
    assert clearing.boundary == 1
    story.call("z" * 400, name="bash")
    assert context.follow().version(1) == 2
    assert clearing.kept(4) == 1
    assert 2 * 180 < clearing.saved < 2 * 200
    assert before is not context.controller.ledger


def test_a_result_without_its_call_has_no_input():
    """A result whose call is not in the response before it is cleared alone by Anthropic's rule, not by LangChain's."""
    for rule, moved in ((ClearToolUses, 1), (LangChainClear, 0)):
        story = Story().user("go").reply("hm")
        story.message("toolResult", toolCallId="lost", toolName="bash", content="y" * 400)
        context = Context(story, rule(trigger=0, keep=0, clear_tool_inputs=True))
        assert context.follow().moved == moved


def test_anthropic_counts_what_is_sent():
    """Its trigger is the size of the request, system prompt and tools included, before anything is cleared."""
    story = story_of(text_of(400), text_of(400), prompt="x" * 40)
    context = Context(story, ClearToolUses(trigger=10**6))
    context.follow()
    size = 100 + context.controller.ledger.raw()
    assert Context(story, ClearToolUses(trigger=size, keep=1)).follow().moved == 0
    assert Context(story, ClearToolUses(trigger=size - 1, keep=1)).follow().moved == 1


def test_langchain_counts_messages():
    """Its trigger is the size of the messages by its own counter, without the system prompt."""
    story = story_of(text_of(400), text_of(400), prompt="x" * 40)
    story.entries.insert(0, {"type": "message", "id": "s", "message": {"role": "system", "content": "y" * 4_000}})
    context = Context(story, LangChainClear(trigger=10**6))
    context.follow()
    assert context.sizes()[0] >= 1_000
    size = sum(approximate_tokens(item.message) for item in context.controller.items[1:])
    assert 850 < size < 1_000
    assert Context(story, LangChainClear(trigger=size, keep=1)).follow().moved == 0
    assert Context(story, LangChainClear(trigger=size - 1, keep=1)).follow().moved == 1


def turns(*outputs):
    """One turn for each output."""
    story = Story()
    for output in outputs:
        story.user().call(output, name="bash").reply()
    return story


def test_opencode_prunes_when_the_next_prompt_comes():
    """A turn has ended where the next one begins; within a turn nothing is pruned."""
    story = turns(text_of(50), text_of(50), text_of(50))
    context = Context(story, OpencodePrune(protect=0, minimum=10))
    assert context.follow().moved == 0
    story.reply()
    assert context.follow().moved == 0
    story.user()
    assert context.follow().moved == 1
    assert context.clearing.version(2) == 1
    story.call("x", name="bash")
    assert context.follow().moved == 0


def test_an_edit_of_the_context_undoes_nothing():
    """After an edit what was cleared is cleared still, and only what differs counts as changed."""
    for rule in (OpencodePrune(protect=0, minimum=10), MaskLastN(keep=1)):
        story = turns(*[text_of(50)] * 4)
        context = Context(story, rule)
        context.follow()
        story.user()
        clearing = context.follow()
        clearing.kept(0)
        cleared = [at for at in range(16) if clearing.version(at)]
        assert cleared
        saved = clearing.saved
        story.add("context_edit", targetId=story.entries[-1]["id"], replacement={"content": "something else"})
        again = context.follow()
        assert [at for at in range(16) if again.version(at)] == cleared
        assert (again.moved, again.saved) == (0, saved)
        assert again.kept(16) == 16


def test_an_edit_that_changes_what_is_cleared():
    """Where the edit shifts the outputs, everything from the first that differs is sent anew."""
    story = story_of(*[text_of(50)] * 4)
    context = Context(story, MaskLastN(keep=2))
    context.follow().kept(0)
    story.add("context_edit", targetId=story.entries[2]["id"], replacement=None)
    clearing = context.follow()
    assert clearing.kept(3) == 2


def test_a_cut_starts_afresh():
    """After a cut everything is raw; opencode then looks no further back than the summary."""
    for rule, cleared in ((OpencodePrune(protect=0, minimum=0), 0), (MaskLastN(keep=1), 1)):
        story = turns(*[text_of(50)] * 4)
        context = Context(story, rule)
        context.follow()
        story.user()
        assert context.follow().saved > 0
        story.cut(story.entries[-9]["id"])
        clearing = context.follow(cut=True)
        assert clearing.moved == cleared
        story.call(text_of(50), name="bash").reply().user()
        assert context.follow().moved == cleared
