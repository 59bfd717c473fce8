import pytest
from tests.pruning.build import assistant, call, entries_of, execution, result, text, user

from leafscar.model import as_entry, as_message
from leafscar.pruning import SOURCE, align


def three():
    """A prompt, a call, its result."""
    return [user(), assistant(call("c1", "bash", command="ls"), stop="toolUse"), result("c1", "bash", "out")]


def ids(alignment):
    """Entry ids by position."""
    return [None if entry is None else entry["id"] for entry in alignment.entries]


def with_extra(stop, place=1):
    """Entries of :func:`three` with one more response among them."""
    extra = {"type": "message", "id": "extra", "parentId": None, "message": assistant(text("?"), stop=stop)}
    entries = entries_of(three())
    return [*entries[:place], extra, *entries[place:]]


def test_a14_46_source_aligns_every_message_in_order():
    """One walk in step."""
    alignment = align(three(), entries_of(three()), SOURCE)
    assert ids(alignment) == ["e0", "e1", "e2"]
    assert (alignment.failed, alignment.unaligned) == (False, 0)


def test_a14_46_ours_aligns_outputs():
    """Only an output needs an entry, and gets the very object that was passed in."""
    entries = entries_of(three())
    alignment = align(three(), entries)
    assert ids(alignment) == [None, None, "e2"]
    assert alignment.entries[2] is entries[2]


@pytest.mark.parametrize("stop", ["error", "length"], ids=["a14_47", "a14_48"])
@pytest.mark.parametrize("rules", [SOURCE, None], ids=["source", "ours"])
@pytest.mark.parametrize("place", [1, 3])
def test_a_failed_response_may_be_absent(stop, rules, place):
    """It may also be the last entry."""
    alignment = align(three(), with_extra(stop, place), *filter(None, [rules]))
    assert ids(alignment)[2] == "e2"


def test_a_failed_response_may_be_present():
    """The walk takes it where the message is there."""
    messages = [*three(), assistant(text("?"), stop="error")]
    assert not align(messages, entries_of(messages), SOURCE).failed


def test_a14_49_source_fails_on_an_absent_aborted_response():
    """The defect: one absent message switches everything off."""
    alignment = align(three(), with_extra("aborted"), SOURCE)
    assert alignment.failed
    assert ids(alignment) == [None, None, None]
    assert alignment.unaligned == 1


def test_a14_49_ours_does_not_care():
    """The result is found by its call."""
    assert ids(align(three(), with_extra("aborted"))) == [None, None, "e2"]


@pytest.mark.parametrize(
    ("messages", "entries"),
    [
        ([*three(), user("ghost")], entries_of(three())),
        (three()[:2], entries_of(three())),
        (three()[1:], entries_of(three())),
    ],
    ids=["a14_50_ghost", "a14_50_missing", "a14_50_missing_first"],
)
def test_an_extra_or_missing_message(messages, entries):
    """The sources fail, ours keeps what it can name."""
    assert align(messages, entries, SOURCE).failed
    assert not align(messages, entries).failed


def test_a14_50_source_fails_on_an_edited_message():
    """Another hook that touches one result switches pruning off; ours still knows the call."""
    edited = [*three()[:2], result("c1", "bash", "out, shortened")]
    assert align(edited, entries_of(three()), SOURCE).failed
    assert ids(align(edited, entries_of(three()))) == [None, None, "e2"]


@pytest.mark.parametrize("rules", [SOURCE, None], ids=["source", "ours"])
def test_a14_52_entries_without_a_message_are_transparent(rules):
    """Labels and model changes stand between messages."""
    first, *rest = entries_of(three())
    between = [{"type": "label", "id": "l1", "parentId": "e0"}, {"type": "model_change", "id": "m1", "parentId": "l1"}]
    alignment = align(three(), [first, *between, *rest], *filter(None, [rules]))
    assert ids(alignment)[2] == "e2"
    assert not alignment.failed


def test_structs_align_like_dicts():
    """Typed messages, typed entries, or a mix of both."""
    typed = [as_message(message) for message in three()]
    for messages in (typed, three()):
        for entries in (entries_of(three()), [as_entry(entry) for entry in entries_of(three())]):
            assert not align(messages, entries, SOURCE).failed
            assert align(messages, entries).unaligned == 0


def test_a_summary_aligns_with_its_entry():
    """A cut projects one summary message."""
    entry = {
        "type": "compaction",
        "id": "k1",
        "parentId": None,
        "summary": "so far",
        "tokensBefore": 9,
        "timestamp": "",
    }
    message = {"role": "compactionSummary", "summary": "so far", "tokensBefore": 9, "timestamp": 0}
    assert ids(align([message], [entry], SOURCE)) == ["k1"]


def test_executions_align_by_command_and_time():
    """The same command at another time is another execution."""
    known = [execution("ls", "a", at=5), execution("ls", "b", at=6)]
    messages = [execution("ls", "b", at=6), execution("ls", "c", at=7)]
    alignment = align(messages, entries_of(known))
    assert ids(alignment) == ["e1", None]
    assert (alignment.unaligned, alignment.failed) == (1, False)


def test_a_repeated_call_id_takes_the_entry_of_its_time():
    """Some providers number calls anew in every response."""
    known = [result("call_0", "bash", "one", at=5), result("call_0", "bash", "two", at=6)]
    entries = entries_of(known)
    assert ids(align(known, entries)) == ["e0", "e1"]
    assert ids(align(known[:1], entries)) == ["e0"]
    moved = [{**message, "timestamp": 99} for message in known]
    assert ids(align(moved, entries)) == ["e0", "e1"]
    assert ids(align([*moved, moved[0]], entries)) == [None, "e0", "e1"]


def test_nothing_known_is_a_failure():
    """Outputs without a single entry: nothing could ever be recalled."""
    alignment = align(three(), entries_of([user()]))
    assert (alignment.failed, alignment.unaligned) == (True, 1)
    no_id = [result("", "bash", "x")]
    assert align(no_id, entries_of(no_id)).failed


def test_nothing_to_align_is_no_failure():
    """A context without outputs is in order."""
    assert not align([user()], []).failed
