import pytest
from tests.pruning.build import assistant, by_line, call, entries_of, execution, result, text, user

from leafscar.pruning import align, calls_by_id, plan, watermark
from leafscar.pruning.eligible import Never


def session():
    """A turn of two steps, then a new prompt whose first results the model has not seen."""
    return [
        user("first"),
        assistant(call("c1", "bash", command="a"), stop="toolUse"),
        result("c1", "bash", "x" * 8000),
        assistant(call("c2", "bash", command="b"), stop="toolUse"),
        result("c2", "bash", "x" * 8000),
        user("second"),
        assistant(call("c3", "bash", command="c"), stop="toolUse"),
        result("c3", "bash", "x" * 8000),
        assistant(text(""), stop="error"),
    ]


@pytest.mark.parametrize(
    ("options", "bound"),
    [
        ({}, 6),
        ({"current_turn": False}, 9),
        ({"current_turn": False, "unanswered": True}, 7),
        ({"current_turn": True, "unanswered": True}, 6),
        ({"current_turn": False, "recent_tokens": 1}, 7),
        ({"current_turn": False, "recent_tokens": 2000}, 7),
        ({"current_turn": False, "recent_tokens": 2010}, 4),
        ({"current_turn": False, "recent_tokens": 10**6}, 0),
    ],
)
def test_where_outputs_begin_to_stay_raw(options, bound):
    """The current turn, what is unanswered, the newest tokens: the earliest of them counts."""
    assert watermark(session(), **options) == bound


def test_a14_10_without_a_user_message_the_whole_list_is_the_current_turn():
    """Nothing may be pruned then."""
    assert watermark(session()[1:5]) == 0


def test_a14_123_a_list_without_a_user_message_can_still_be_pruned():
    """Protecting what is unanswered, instead of the turn, leaves the older outputs free."""
    cut = session()[1:5]
    assert watermark(cut, current_turn=False, unanswered=True) == 3
    found = plan(cut, align(cut, entries_of(cut)), until=3, min_tokens=1000, reference_for=by_line)
    assert [item.position for item in found] == [1]


def test_a_plan_is_replacements_by_position():
    """Oldest first, each with its marker and its record."""
    messages = session()
    entries = entries_of(messages)
    found = plan(messages, align(messages, entries), until=9, min_tokens=1000, reference_for=by_line)
    assert [item.position for item in found] == [2, 4, 7]
    assert [item.record.reference for item in found] == ["#4", "#6", "#9"]
    assert all(item.record.marker_tokens == item.marker.tokens for item in found)


def test_what_a_user_keeps_is_not_in_the_plan():
    """A pin takes one output out."""
    messages = session()
    alignment = align(messages, entries_of(messages))
    never = Never(ids=frozenset({"e4"}))
    found = plan(messages, alignment, until=9, min_tokens=1000, reference_for=by_line, never=never)
    assert [item.position for item in found] == [2, 7]


def test_the_last_call_of_an_id_counts():
    """Some providers number calls anew in every response."""
    calls = [assistant(call("c", "bash", command=name)) for name in ("old", "new")]
    messages = [user(), *calls, result("c", "bash", "x" * 8000), execution("ls", "x" * 8000)]
    found = plan(messages, align(messages, entries_of(messages)), until=9, min_tokens=1, reference_for=by_line)
    assert '"new"' in found[0].marker.text
    assert calls_by_id([]) == {}
