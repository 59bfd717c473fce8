import json
import math

import pytest
from hypothesis import given, settings
from tests.model.strategies import values

from leafscar.model import Assistant, BranchSummary, CompactionSummary, Custom, Entry, Text, Usage, User, as_entry
from leafscar.model.entries import MAX_DEPTH, TooDeep, dump_line, is_deep, iso_to_ms, loads

TIME = "2025-01-02T03:04:05.678Z"
MS = 1735787045678


def line(kind="message", **data):
    """Entry of one line of a file."""
    return Entry(id="a", parent_id=None, type=kind, line=3, raw=json.dumps({"type": kind, **data}).encode())


def test_a_dict_becomes_an_entry():
    """Head fields are read, the dict itself is the data."""
    plain = {"type": "label", "id": "b", "parentId": "a", "label": "x"}
    entry = as_entry(plain)
    assert (entry.id, entry.parent_id, entry.type, entry.line, entry.raw) == ("b", "a", "label", 0, None)
    assert entry.data is plain
    assert entry["label"] == entry.get("label") == "x"
    assert entry.get("none", 7) == 7
    assert as_entry(entry) is entry


def test_odd_heads_read_as_absent():
    """A head field that is no text is no head field."""
    entry = as_entry({"id": 5, "parentId": 6, "type": None})
    assert (entry.id, entry.parent_id, entry.type) == ("", None, "")


def test_shows_where_it_stands():
    """A representation names type and id, and the line where there is one."""
    assert repr(line("label")) == "<Entry label a line 3>"
    assert repr(as_entry({"id": "b", "type": "message"})) == "<Entry message b>"


def test_data_is_decoded_once():
    """The line is decoded when it is asked for, and then kept."""
    entry = line(message={"role": "user", "content": "x"})
    assert entry.data is entry.data
    assert entry.message_data == {"role": "user", "content": "x"}
    assert entry.message == User(content="x")
    assert entry.message is entry.message


def test_a_line_that_is_no_object_has_no_data():
    """Without a line, or with one that is no object, there is nothing to read."""
    assert Entry(id="", parent_id=None, type="message").data == {}
    assert Entry(id="", parent_id=None, type="message", raw=b"[1]").data == {}
    assert Entry(id="", parent_id=None, type="message", raw=b"[1]").message is None


def test_a_line_nested_beyond_reading_has_no_data():
    """A line whose head could be read but nothing else holds nothing."""
    raw = b'{"type":"message","id":"a","message":' + b"[" * 100_000
    entry = Entry(id="a", parent_id=None, type="message", raw=raw)
    assert entry.data == {}
    assert entry.message is None


def nested(levels, text=b"", extra=b""):
    """Line of a user's message that has so many levels."""
    inside = b'{"a":' * (levels - 2) + b'"' + text + b'"' + b"}" * (levels - 2)
    message = b'{"role":"user","content":"hello","more":' + inside + b"}"
    return b'{"type":"message","id":"a","parentId":null,' + extra + b'"message":' + message + b"}"


@pytest.mark.parametrize("text", [b"", b"{[" * 500, b"\\ud800"])
@pytest.mark.parametrize("extra", [b"", b'"timestamp":NaN,', b'"x":"\xff",'])
def test_levels_are_bounded(text, extra):
    """A line may have 128 levels; with one more it gives no data and no message, however it is spelt."""
    good, bad = (nested(levels, text, extra) for levels in (MAX_DEPTH, MAX_DEPTH + 1))
    assert not is_deep(good)
    assert loads(good)["id"] == "a"
    assert Entry(id="a", parent_id=None, type="message", raw=good).message == User(content="hello")
    assert is_deep(bad)
    with pytest.raises(TooDeep, match="deeper than 128 levels"):
        loads(bad)
    entry = Entry(id="a", parent_id=None, type="message", raw=bad)
    assert (entry.message, entry.data) == (None, {})
    assert Entry.quick(bad) is None


def test_what_is_no_json_is_not_deep():
    """A broken line is broken, not deep; one beyond every decoder is deep."""
    assert not is_deep(b"[" * 200)
    assert is_deep(b"[" * 5_000 + b"]" * 5_000)
    assert is_deep(b"[NaN," + b"[" * 5_000 + b"]" * 5_001)


def test_too_many_levels_are_not_written():
    """A value that no line could hold is no line."""
    value = []
    for _ in range(5_000):
        value = [value]
    with pytest.raises(ValueError, match="nested"):
        dump_line({"value": value})
    nest = 1
    for _ in range(MAX_DEPTH - 1):
        nest = [nest]
    assert loads(dump_line({"value": nest}))
    with pytest.raises(TooDeep):
        dump_line({"value": [nest]})
    while value:  # taken apart by hand: freeing it at once would recurse as deeply
        (value,) = value


def test_giant_numbers_are_infinities():
    """An integer beyond every double reads as an infinity, from a line as from its decoded JSON."""
    assert loads("9" * 400) == math.inf
    assert loads("-" + "9" * 400) == -math.inf
    raw = b'{"type":"message","id":"a","parentId":null,"message":{"role":"user","timestamp":' + b"9" * 400 + b"}}"
    assert Entry.quick(raw) is None
    assert Entry(id="a", parent_id=None, type="message", raw=raw).message == User(timestamp=math.inf)


@pytest.mark.parametrize("message", [None, "x", [], 5])
def test_a_message_entry_without_a_message(message):
    """An entry whose message is no object projects nothing."""
    assert line(message=message).message is None
    assert as_entry({"type": "message", "message": message}).message is None
    assert line(message=message).message_data is None


def test_only_message_entries_hold_a_message():
    """The field of that name in another entry is not its message."""
    assert line("label", message={"role": "user"}).message_data is None
    assert line("label", message={"role": "user"}).message is None


@pytest.mark.parametrize(
    ("raw", "content"),
    [
        (b'{"message":{"role":"user","content":"\\ud83d"}}', "\ud83d"),
        (b'{"message":{"role":"user","content":"\xff"}}', "\ufffd"),
        (b'{"message":{"role":"user","content":"x","timestamp":NaN}}', "x"),
        (b'{"message":{"role":"user","content":"x","timestamp":null}}', "x"),
        (b'{"message":{"role":"user","content":"x","extra":1e400}}', "x"),
    ],
)
def test_odd_lines_are_read_leniently(raw, content):
    """What the fast decoder refuses is read all the same."""
    assert Entry(id="", parent_id=None, type="message", raw=raw).message.content == content


def test_an_ordinary_line_is_read_at_once():
    """Head and message of an ordinary message line are what the other readers find."""
    plain = {"type": "message", "id": "b", "parentId": None, "message": {"role": "user", "content": "x"}}
    entry = Entry.quick(json.dumps(plain).encode())
    assert (entry.id, entry.parent_id, entry.type, entry.data) == ("b", None, "message", plain)
    assert entry.message == as_entry(plain).message
    assert Entry.quick(json.dumps(plain | {"parentId": "a"}).encode()).parent_id == "a"


@pytest.mark.parametrize(
    "odd",
    [
        {"type": "label"},
        {"id": ""},
        {"id": 5},
        {"parentId": 5},
        {"message": {"role": "hookMessage"}},
        {"message": {"role": "user", "timestamp": None}},
        {"message": {"role": "assistant", "usage": {"input": None}}},
        {"message": {"role": "user", "content": "\ud83d"}},
    ],
)
def test_an_odd_line_is_left_to_the_other_readers(odd):
    """Whatever is not as usual is not read at once."""
    plain = {"type": "message", "id": "b", "parentId": None, "message": {"role": "user", "content": "x"}}
    assert Entry.quick(json.dumps(plain | odd).encode()) is None
    assert Entry.quick(b"{") is None
    del plain["parentId"]
    assert Entry.quick(json.dumps(plain).encode()) is None


def test_null_counts_are_zero_and_absent_ones_unknown():
    """Usage is read the same from a line as from a dict."""
    report = {"input": None, "output": 1, "cacheRead": 2, "cacheWrite": 3}
    message = {"role": "assistant", "content": [], "usage": report}
    assert line(message=message).message == Assistant(
        content=(), usage=Usage(input=0, output=1, cache_read=2, cache_write=3)
    )
    assert line(message={"role": "assistant", "usage": {"input": 1}}).message.usage == Usage(input=1)


def test_custom_messages_project():
    """A custom message entry gives a message with the entry's time; null content is empty content."""
    entry = line(
        "custom_message", customType="k", content=[{"type": "text", "text": "x"}], display=False, timestamp=TIME
    )
    assert entry.message == Custom(content=(Text(text="x"),), custom_type="k", display=False, timestamp=MS)
    assert line("custom_message", content=None).message == Custom(content=())
    assert line("custom_message", content="x", role="user").message == Custom(content="x")


def test_branch_summaries_project():
    """A branch summary gives a message unless it is empty."""
    assert line("branch_summary", summary="s", fromId="f", timestamp=TIME).message == BranchSummary(
        summary="s", from_id="f", timestamp=MS
    )
    assert line("branch_summary", summary="s", fromId=5).message == BranchSummary(summary="s")
    assert [line("branch_summary", summary=odd).message for odd in ("", None, 5)] == [None, None, None]


def test_compactions_project():
    """A compaction gives its summary, even an empty or odd one."""
    assert line("compaction", summary="s", tokensBefore=5, timestamp=TIME).message == CompactionSummary(
        summary="s", tokens_before=5, timestamp=MS
    )
    assert line("compaction", summary=None, tokensBefore="many").message == CompactionSummary()


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        (TIME, MS),
        ("2025-01-02T03:04:05.678", MS),
        ("2025-01-02T04:04:05.678+01:00", MS),
        ("0001-01-01T00:00:00Z", -62135596800000),
        ("yesterday", None),
        ("", None),
        (None, None),
        (MS, None),
    ],
)
def test_iso_times(text, ms):
    """An ISO time without a zone is UTC; what is none gives nothing."""
    assert iso_to_ms(text) == ms
    assert line("label", timestamp=text).timestamp_ms == ms


@pytest.mark.parametrize("raw", ["", "{", b"\xff", "[" * 100_000, "nope"])
def test_loads_refuses_with_one_kind_of_error(raw):
    """Whatever is no JSON is a ValueError, endless nesting included."""
    with pytest.raises(ValueError, match=r"."):
        loads(raw)


def test_loads_takes_more_than_json():
    """NaN, infinities and numbers beyond a double are values."""
    assert math.isnan(loads("NaN"))
    assert loads(b"[1e400, -Infinity]") == [math.inf, -math.inf]


@settings(max_examples=100)
@given(values)
def test_written_lines_read_back(value):
    """A written line is one line of JSON that reads as the same value; what is no JSON is refused."""
    data = {"type": "custom", "data": value}
    if any(word in repr(value) for word in ("nan", "inf")) and not has_only_finite(value):
        with pytest.raises(ValueError, match="not JSON compliant"):
            dump_line(data)
        return
    raw = dump_line(data)
    assert b"\n" not in raw
    assert loads(raw) == data


def has_only_finite(value):
    """Whether no number in a value is NaN or infinite."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(map(has_only_finite, value.values()))
    return all(map(has_only_finite, value)) if isinstance(value, list) else True


def test_lines_are_compact_and_raw():
    """A line has no blanks, other characters stand raw, and only lone surrogates are escaped."""
    assert dump_line({"a": ["é😀", "\ud83d", 1.0]}) == '{"a":["é😀","\\ud83d",1.0]}'.encode()
