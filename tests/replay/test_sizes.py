from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.replay.sessions import Story, autonomous, interactive, text_of

from leafscar.model import as_entry, as_message
from leafscar.replay import Options, replay_session
from leafscar.replay.recording import read_recording
from leafscar.replay.sizes import measure_sizes


def sizes_of(story):
    """Measure a story."""
    return measure_sizes(read_recording(story.memory()))


def never_cut(story):
    """Contexts that the session would have had without its cuts."""
    options = Options(policies=("none:never-cut",), window=200_000)
    return [moment.context for moment in replay_session(story.memory(), options).policies[0].moments]


@pytest.mark.parametrize("k", [0.6, 1.0, 1.7])
@pytest.mark.parametrize("overhead", [0, 5_000])
def test_exact_readings_are_given_back(k, overhead):
    """Overhead and k are found, and never-cut has the very sizes that the provider counted."""
    story = interactive(4, k=k, overhead=overhead)
    sizes = sizes_of(story)
    assert sizes.k == pytest.approx(k)
    assert sizes.overhead == pytest.approx(overhead)
    assert sizes.readings == len(story.prompts)
    assert sizes.unexplained == 0
    assert never_cut(story) == pytest.approx(story.prompts)


@settings(max_examples=15, deadline=None)
@given(outputs=st.lists(st.integers(60, 3_000), min_size=2, max_size=12), k=st.floats(0.4, 3.5))
def test_sums_are_the_readings_before_the_first_cut(outputs, k):
    """Whatever the outputs and their true density are, before a cut each sum is the reading."""
    story = Story(k=k).user("start")
    for tokens in outputs:
        story.call(text_of(tokens))
    story.reply()
    assert never_cut(story) == pytest.approx(story.prompts, abs=1)


def test_density_may_change_within_a_session():
    """The readings around a message give its own k, so dense and thin passages are both met."""
    story = Story(k=1.0).user("start").calls(4)
    story.k = 1.0
    dense = sizes_of(story)
    story.entries[-1]["message"]["content"] = [{"type": "text", "text": text_of(500)}]  # what counted 1,500
    thin = sizes_of(story.reply(usage={"input": story.prompts[-1] + 1_600, "output": 5}))
    assert dense.k == pytest.approx(1.0)
    newest = as_entry(story.entries[-2])
    assert thin.factors[newest.id] > 2.5
    assert thin(newest, newest.message) > 1_400


def test_without_readings_a_message_is_its_characters():
    """No reading at all: chars/4, and the overhead is unknown, not 0."""
    story = Story().user("start").call(text_of(400), usage=None).reply(usage=None)
    sizes = sizes_of(story)
    assert (sizes.overhead, sizes.k, sizes.readings, sizes.factors) == (None, 1.0, 0, {})
    entry = as_entry(story.entries[2])
    assert sizes(entry, entry.message) == 400


def test_one_reading_gives_the_overhead_only():
    """With a single reading there is no difference to measure k from."""
    sizes = sizes_of(Story(overhead=4_000).user("start").reply())
    assert sizes.k == 1.0
    assert sizes.overhead == pytest.approx(4_000)
    assert sizes.factors.keys() == {"00000001"}


def test_a_cut_is_no_span():
    """Readings on both sides of a cut say nothing about the messages between them."""
    story = Story(k=1.3).user("start").calls(6)
    story.cut(story.entries[-4]["id"]).calls(4).reply()
    sizes = sizes_of(story)
    assert sizes.k == pytest.approx(1.3)
    assert sizes.unexplained == 0
    crossing = {entry["id"] for entry in story.entries if entry["type"] == "compaction"}
    assert not crossing & sizes.factors.keys()


def test_another_model_counts_otherwise():
    """A change of model moves the reading without any content, so that span is left out."""
    story = Story(k=1.0).user("start").calls(3)
    story.model, story.k = "claude-opus-4-5", 1.1
    story.calls(3).reply()
    switched = sizes_of(story)
    assert switched.unexplained == 0
    assert switched.k == pytest.approx(1.05, abs=0.02)


def test_an_edit_of_the_context_is_no_span():
    """A context edit changes what was sent, so the readings around it are not compared."""
    story = Story().user("start").calls(3)
    story.add("context_edit", targetId=story.entries[2]["id"], content=[])
    story.prompts[-1] = 0
    story.reply(usage={"input": 900, "output": 3})
    assert sizes_of(story).unexplained == 0


def test_a_reading_that_drops_is_unexplained():
    """A reading that falls without a cut is counted as unexplained and never makes a message negative."""
    story = Story().user("start").calls(3)
    story.reply(usage={"input": 500, "output": 3}).user().reply(usage={"input": 520, "output": 3})
    sizes = sizes_of(story)
    assert sizes.unexplained == 1
    entries = [as_entry(entry) for entry in story.entries]
    assert all(sizes(entry, entry.message) >= 0 for entry in entries)


def test_content_that_the_recording_lacks_stays_with_its_message():
    """What a reading shows beyond any plausible k is added to the newest message, and no marker takes it out."""
    story = Story().user("start").calls(2)
    extra = story.prompts[-1] + 1_560 + 30_000
    story.reply(usage={"input": extra, "output": 5}).user().reply(usage={"input": extra + 40, "output": 5})
    sizes = sizes_of(story)
    shown = as_entry(story.entries[4])
    assert sizes.unexplained == 1
    assert sizes.hidden[shown.id] > 24_000
    marker = as_message({"role": "toolResult", "toolCallId": "call2", "content": [{"type": "text", "text": "gone"}]})
    assert sizes(shown, marker) > 24_000
    assert never_cut(story)[2:] == pytest.approx([extra, extra + 40], abs=2)


def test_a_slip_of_one_reading_is_forgotten():
    """A reading that the next one takes back was a slip, and adds nothing to any message."""
    story = Story().user("start").calls(2)
    honest = story.prompts[-1]
    story.reply(usage={"input": honest + 40_000, "output": 5}).user().reply(
        usage={"input": honest + 1_700, "output": 5}
    )
    assert sizes_of(story).hidden == {}


def test_a_recorded_system_prompt_is_not_counted_twice():
    """Where the system prompt is a message, the overhead is 0 and the first sum is still the first reading."""
    story = Story(overhead=0, k=1.0)
    story.message("system", content="", sections={"preamble": "You help. " * 400})
    story.user("start").call(text_of(800), usage={"input": 700, "output": 20})
    story.reply(usage={"input": 1_700, "output": 20})
    sizes = sizes_of(story)
    assert sizes.overhead == 0
    assert sizes.system < sizes.k
    assert never_cut(story) == pytest.approx([700, 1_700])


def test_failed_and_aborted_requests_are_no_readings():
    """Usage of a request that did not finish is not built on."""
    story = Story().user("start").calls(2).reply(stop="aborted", usage={"input": 9, "output": 1}).user().reply()
    assert sizes_of(story).readings == 3


def test_a_long_run_stays_exact():
    """Hundreds of requests later the sum is still the reading."""
    story = autonomous(150, k=1.21)
    assert never_cut(story) == pytest.approx(story.prompts)


@pytest.mark.parametrize(("step", "k"), [(0, 0.25), (-40, 0.25), (40, 4.0)])
def test_short_messages_give_no_extreme_density(step, k):
    """Readings that hardly move explain a few words at any k; what is taken divides, and stays in its bounds."""
    story = Story().user("x")
    for number in range(4):
        story.reply("y", usage={"input": 2_000 + step * number, "output": 1})
    assert sizes_of(story).k == k
