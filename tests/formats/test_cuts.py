from tests.formats.jsonl import check, context

from leafscar.formats._cuts import Timeline, add_cut
from leafscar.formats.pi import Header
from leafscar.formats.reading import Builder


def user(text):
    """Fields of a message entry."""
    return {"message": {"role": "user", "content": text}}


def reading(builder):
    """What was collected."""
    return check(builder.reading("x", Header(version=3)))


def test_a_cut_that_keeps_nothing_points_at_itself():
    """Also when its id was taken, so that it never points at an entry of the same name."""
    builder = Builder()
    builder.add("message", user("a"), id_="c")
    cut = add_cut(builder, {"summary": "s"}, id_="c")
    assert cut.id == cut.get("firstKeptEntryId") == "c-cut1"
    assert len(context(reading(builder))) == 1
    assert add_cut(builder, {}, id_="d", first="c").get("firstKeptEntryId") == "c"


def test_entries_of_several_events_go_when_all_are_forgotten():
    """An entry that still stands for an event stays."""
    timeline = Timeline()
    timeline.put("message", user("first"), "a", None, ["1"])
    timeline.put("message", user("both"), "b", None, ["2", "3"])
    timeline.condense(["2"], {"summary": "s"}, "c", None)
    assert len(context(reading(timeline.builder))) == 3
    timeline.condense(["3", "unknown"], {"summary": "t"}, "d", None)
    found = context(reading(timeline.builder))
    assert [getattr(message, "summary", None) for message in found] == ["t", None]


def test_what_is_forgotten_before_everything_kept_needs_no_edit():
    """A cut that keeps only later entries is no more than a cut."""
    timeline = Timeline()
    for number in "123":
        timeline.put("message", user(number), number, "2026-01-01T00:00:00Z", [number])
    timeline.condense(["1", "2"], {"summary": "s"}, "c", "2026-01-01T00:00:01Z")
    assert [entry.type for entry in timeline.builder.entries] == ["message"] * 3 + ["compaction"]
    assert timeline.builder.entries[-1].get("firstKeptEntryId") == "3"
    assert list(timeline.known_events()) == ["3"]
