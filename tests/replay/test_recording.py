from __future__ import annotations

import pytest
from tests.replay.sessions import START, Story

from leafscar.errors import BadReference, SessionError
from leafscar.replay.recording import read_recording, read_replayable
from leafscar.session import Session


def recording_of(story):
    """Read a story."""
    return read_recording(story.memory())


def test_requests_are_numbered_and_timed():
    """Every answered request has its number, its place on the path and its seconds since the first."""
    story = Story().user("start").calls(2).wait(60).reply()
    recording = recording_of(story)
    assert [request.number for request in recording.requests] == [1, 2, 3]
    assert [request.at for request in recording.requests] == pytest.approx([0, 8, 76])
    assert [request.prompt for request in recording.requests] == story.prompts
    assert [recording.path[request.position] for request in recording.requests] == [
        request.entry for request in recording.requests
    ]
    assert (recording.provider, recording.model, recording.api) == (
        "anthropic",
        "claude-sonnet-4-5",
        "anthropic-messages",
    )
    assert recording.notes == []


def test_the_start_is_the_first_known_time():
    """Times are counted from the first request that has one; that moment is known in seconds since 1970."""
    story = Story().user("start").reply().wait(60).user().reply().wait(30).user().reply()
    assert recording_of(story).started == pytest.approx(START + 28)
    first = story.entries[1]
    first.pop("timestamp")
    first["message"]["timestamp"] = 12
    recording = recording_of(story)
    assert recording.started == pytest.approx(START + 116)
    assert [request.at for request in recording.requests] == [None, 0, pytest.approx(58)]


@pytest.mark.parametrize(("stamp", "moment"), [(1e11, None), (1e11 + 1, (1e11 + 1) / 1000)])
def test_a_small_number_is_no_time(stamp, moment):
    """What lies before 1973 numbers a message."""
    story = Story().user("start").reply()
    story.entries[1].pop("timestamp")
    story.entries[1]["message"]["timestamp"] = stamp
    assert recording_of(story).started == moment


def test_time_comes_from_the_entry_when_the_message_numbers_itself():
    """Message timestamps that are no milliseconds since 1970 are passed over for the entry's."""
    story = Story().user("start").reply().wait(10).user().reply()
    for entry in story.entries:
        entry["message"]["timestamp"] = 7
    assert [request.at for request in recording_of(story).requests] == pytest.approx([0, 38])


def test_unknown_time_stays_unknown():
    """Without any timestamp there is no distance between requests."""
    story = Story()
    story.timed = False
    story.user("start").calls(2).reply()
    recording = recording_of(story)
    assert [request.at for request in recording.requests] == [None, None, None]
    assert recording.started is None


def test_a_time_before_the_first_counts_as_the_first():
    """A clock that went back never makes a negative time."""
    story = Story().user("start").reply().wait(-500).user().reply()
    assert [request.at for request in recording_of(story).requests] == [0, 0]


def test_failures_without_usage_are_left_out_and_said():
    """A failed request that nobody billed is no request; one with usage is, but no reading."""
    story = Story().user("start").reply(stop="error", usage=None, errorMessage="503").reply()
    story.user().reply(stop="aborted", usage={"input": 70, "output": 1})
    recording = recording_of(story)
    assert len(recording.requests) == 2
    assert recording.requests[1].prompt == 70
    assert recording.requests[1].reading is None
    assert list(recording.notes) == ["1 failed or aborted request without usage is left out"]


def test_several_failures_are_counted():
    """The note agrees in number."""
    story = Story().user("start").reply(stop="error", usage=None).reply(stop="aborted", usage=None).reply()
    assert list(recording_of(story).notes) == ["2 failed or aborted requests without usage are left out"]


@pytest.mark.parametrize("usage", [None, {}, {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}])
def test_what_was_not_reported_is_unknown(usage):
    """No usage, an empty one and the zeros of a local server are all no prompt size."""
    recording = recording_of(Story().user("start").reply(usage=usage))
    assert recording.requests[0].prompt is None
    assert recording.requests[0].reading is None


def test_a_stated_cost_is_read():
    """The host's own dollars come along; anything but a number does not."""
    story = Story().user("start").reply(usage={"input": 9, "output": 1, "cost": {"total": 0.5}})
    story.user().reply(usage={"input": 9, "output": 1, "cost": {"total": "free"}})
    assert [request.stated_cost for request in recording_of(story).requests] == [0.5, None]


def test_only_the_branch_is_replayed():
    """Entries beside the branch are counted in a note."""
    story = Story().user("start").reply().user("not this way").reply()
    story.add("message", message={"role": "user", "content": "but this way", "timestamp": 0})
    story.entries[-1]["parentId"] = story.entries[1]["id"]
    story.reply()
    recording = recording_of(story)
    assert len(recording.requests) == 2
    assert list(recording.notes) == ["2 entries on other branches left out"]


def test_another_branch_can_be_read():
    """A leaf names the branch: its path, its requests and its model."""
    story = Story(model="claude-opus-4-5").user("start").reply().user("this way").reply()
    leaf = story.entries[-1]["id"]
    story.model = "claude-haiku-4-5"
    story.add("message", message={"role": "user", "content": "but this way", "timestamp": 0})
    story.entries[-1]["parentId"] = story.entries[1]["id"]
    session = story.reply().memory()
    branch = read_recording(session, leaf)
    assert (branch.model, branch.path[-1].id, len(branch.requests)) == ("claude-opus-4-5", leaf, 2)
    assert read_recording(session).model == "claude-haiku-4-5"
    with pytest.raises(BadReference):
        read_recording(session, "gone")


def test_a_branch_without_requests_has_the_model_that_it_was_set_to():
    """Before the first answer the model is the one that was chosen."""
    story = Story()
    story.add("model_change", provider="anthropic", modelId="claude-opus-4-5")
    recording = recording_of(story.user("start"))
    assert (recording.provider, recording.model, recording.api) == ("anthropic", "claude-opus-4-5", None)


def test_one_entry_elsewhere_is_singular():
    """The note agrees in number."""
    story = Story().user("start").reply().user("not this way")
    story.add("message", message={"role": "user", "content": "but this way", "timestamp": 0})
    story.entries[-1]["parentId"] = story.entries[1]["id"]
    assert list(recording_of(story.reply()).notes) == ["1 entry on other branches left out"]


def test_cuts_are_places_on_the_path():
    """Recorded cuts are known by position; a session without requests has no model."""
    story = Story().user("start").calls(4)
    story.cut(story.entries[-2]["id"]).reply()
    recording = recording_of(story)
    assert [recording.path[at].type for at in recording.cuts] == ["compaction"]
    assert recording_of(Story().user("start")).model is None


def test_impossible_numbers_are_unknown_and_said():
    """Counts and dollars that cannot be are unknown wherever they are read, and a note counts their requests."""
    story = Story().user("start").reply(usage={"input": -5, "output": 4, "cost": {"total": 0.5}})
    story.user().reply(usage={"input": 9, "output": 1e308}).user().reply(usage={"input": 9, "output": 1})
    story.user().reply(usage={"input": 9, "output": 1, "cost": {"total": -1}})
    recording = recording_of(story)
    assert [request.prompt for request in recording.requests] == [None, 9, 9, 9]
    assert [request.usage.output for request in recording.requests] == [4, None, 1, 1]
    assert [request.stated_cost for request in recording.requests] == [0.5, None, None, None]
    assert recording.notes == [
        "3 requests report numbers that cannot be (negative, not finite or giant); they count as unknown"
    ]
    alone = recording_of(Story().user("start").reply(usage={"input": 10**400, "output": 4}))
    assert alone.notes == [
        "1 request reports numbers that cannot be (negative, not finite or giant); they count as unknown"
    ]


@pytest.mark.parametrize("stamp", [-1e20, -1.0, 0, 253_402_300_799_001, 9e15, 1e20, 10**400])
def test_a_moment_outside_the_calendar_is_unknown(stamp):
    """A message's time before 1973 or after the year 9999 gives way to its entry's, which may be wrong too."""
    story = Story().user("start").reply()
    message, own = story.entries[1]["message"], recording_of(story).started
    message["timestamp"] = stamp
    assert recording_of(story).started == pytest.approx(own)
    story.entries[1]["timestamp"] = "0001-01-01T00:00:00Z"
    assert recording_of(story).started is None


def test_a_session_without_a_request_cannot_be_replayed():
    """Whoever replays needs a request; whoever only reads does not."""
    assert not read_recording(Session.memory()).requests
    with pytest.raises(SessionError, match="holds no request to replay"):
        read_replayable(Session.memory())
