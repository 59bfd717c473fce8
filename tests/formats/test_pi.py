import json

import pytest
from tests.session.build import STAMP, answered, bash, chain, cut, entry, header, kinds, said

from leafscar.errors import SessionRefused
from leafscar.formats import Header, PiReader, content_problems, pi
from leafscar.formats.pi import parse_header, read_head
from leafscar.model import Custom

V3 = Header(version=3)


def raw(item):
    """One line."""
    return item if isinstance(item, bytes) else json.dumps(item).encode()


class Read:
    """Lines put through a reader, numbered from 2 on."""

    def __init__(self, head, *items, torn=False):
        reader = PiReader(head)
        for number, item in enumerate(items, start=2):
            reader.feed(raw(item), number, torn=torn and number == len(items) + 1)
        self.entries, self.parents = reader.entries, reader.parents
        self.problems = [*reader.problems, *content_problems(reader.entries)]
        self.kinds = kinds(self)


# --- heads and headers -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "head"),
    [
        (b'{"type":"message","id":"a","parentId":null}', ("message", "a", None)),
        (b'{"parentId":"p","message":{"id":"no","type":"no"},"id":"a","type":"t"}', ("t", "a", "p")),
        (b'{"type":"t","id":5,"parentId":6}', ("t", None, "")),
        (b'{"type":"t","id":null,"parentId":null}', ("t", None, None)),
        (b'{"type":5,"id":"a","parentId":"p"}', ("", "a", "p")),
        (b'{"type":"a","type":"b","id":"1","id":"2","parentId":"x","parentId":"y"}', ("b", "2", "y")),
        (b'{"type":"t","id":"\xff","parentId":"\\ud800"}', ("t", "\ufffd", "\ud800")),
        (b'{"type":"t","id":"a","parentId":null,"x":NaN}', ("t", "a", None)),
        (b'{"type":"t","id":"a","parentId":null,"x":1e400}', ("t", "a", None)),
        (b'{"type":"t","id":"a","parentId":null,"x":' + b"9" * 5000 + b"}\r", ("t", "a", None)),
        (b"{}", ("", None, "absent")),
    ],
)
def test_heads_are_read_whatever_stands_beside_them(line, head):
    """Order, duplicate keys, odd types, odd bytes and odd numbers do not hide where a line belongs."""
    read = read_head(line)
    parent = read.parentId if isinstance(read.parentId, str | None) else "absent"
    assert (read.type, read.id, parent) == head


@pytest.mark.parametrize(
    "line", [b"", b"[]", b"5", b'"x"', b"null", b"{", b"nope", b"\0", b"[" * 200_000, b'{"a":"\\x"}']
)
def test_what_is_no_object_has_no_head(line):
    """Broken JSON and other values have no head."""
    assert read_head(line) is None


def test_headers_are_read():
    """All known fields of a header are there, others and odd ones are not."""
    fields = {"parentSession": "/old.jsonl", "provider": "p", "modelId": "m", "thinkingLevel": "low"}
    assert parse_header(raw(header(**fields)), "f") == Header(
        version=3,
        id="s-1",
        timestamp=STAMP,
        cwd="/home/user/demo",
        parent_session="/old.jsonl",
        provider="p",
        model="m",
    )
    assert parse_header(b'{"type":"session","id":5,"cwd":null}', "f") == Header(version=1)


@pytest.mark.parametrize("version", [1, 2, 3, 3.0])
def test_read_versions(version):
    """Versions 1 to 3 are read."""
    assert parse_header(raw(header(version)), "f").version == version


@pytest.mark.parametrize("version", ["4", "0", "-1", '"3"', "true", "1.5", "null", "[3]", "NaN", "9" * 5000])
def test_other_versions_are_refused_by_line(version):
    """A version that is not read is named, with file and line, in one line that says what to do."""
    line = b'{"type":"session","version":' + version.encode() + b"}"
    with pytest.raises(SessionRefused) as caught:
        parse_header(line, "f.jsonl", 3)
    text = str(caught.value)
    assert text.startswith("f.jsonl line 3: session version ")
    assert text.endswith("use a newer leafscar")
    assert len(text) < 140
    assert "\n" not in text


@pytest.mark.parametrize("line", [b"{", b"[]", b'{"type":"message"}', b"{}"])
def test_other_lines_are_no_header(line):
    """Only an object of type session is a header."""
    assert parse_header(line, "f") is None


# --- where an entry hangs ----------------------------------------------------------------------------


def test_a_tree():
    """Entries stand in file order, each with the position of its parent."""
    read = Read(V3, said("a", None), answered("b", "a"), said("c", "a"), said("r", None))
    assert [entry.id for entry in read.entries] == ["a", "b", "c", "r"]
    assert [entry.line for entry in read.entries] == [2, 3, 4, 5]
    assert read.parents == [-1, 0, 0, -1]
    assert [entry.parent_id for entry in read.entries] == [None, "a", "a", None]
    assert read.problems == []


def test_a_missing_parent_is_the_entry_before():
    """An entry whose parent stands nowhere before it hangs on the entry before it; that is said."""
    read = Read(
        V3, said("a", None), said("b", "gone"), said("c", "d"), said("d", "d"), said("e", 5), {"type": "x", "id": "f"}
    )
    assert read.parents == [-1, 0, 1, 2, 3, 4]
    assert read.entries[1].parent_id == "a"
    assert read.kinds == [("missing-parent", number) for number in range(3, 8)]


def test_the_first_entry_without_a_parent_is_a_root():
    """Where nothing stands before, there is nothing to hang on."""
    read = Read(V3, said("a", "gone"))
    assert read.parents == [-1]
    assert read.entries[0].parent_id is None


def test_a_circle_of_ids_is_a_line():
    """An id that comes twice is two entries, and a parent is the nearest earlier one, so nothing goes in circles."""
    read = Read(V3, said("a", None), said("b", "a"), said("a", "b"), said("c", "a"))
    assert read.parents == [-1, 0, 1, 2]
    assert read.kinds == [("duplicate-id", 4)]
    assert "'a'" in read.problems[0].message


def test_entries_without_an_id_are_named_by_their_line():
    """A missing, empty or odd id is said, and the entry is kept."""
    read = Read(V3, said(None, None), said("", None), said(7, "line3"))
    assert [entry.id for entry in read.entries] == ["line2", "line3", "line4"]
    assert read.kinds == [("missing-id", 2), ("missing-id", 3), ("missing-id", 4)]
    assert read.parents == [-1, -1, 1]


# --- what is no entry --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b"", "blank-line"),
        (b" \t\r", "blank-line"),
        (b"nope", "broken-line"),
        (b'{"type":"message","id":"x"', "broken-line"),
        (b'{"a":"\\escape"}', "broken-line"),
        (b"\0\0\0", "broken-line"),
        (b"[" * 200_000 + b"]" * 200_000, "broken-line"),
        (b"\xef\xbb\xbf{}", "broken-line"),
        (b"[1]", "not-an-object"),
        (b"5", "not-an-object"),
        (b"null", "not-an-object"),
        (b"{}", "no-type"),
        (b'{"type":""}', "no-type"),
        (b'{"type":["message"],"id":"x"}', "no-type"),
        (b'{"type":"session","version":3,"id":"x"}', "second-header"),
    ],
)
def test_lines_that_are_skipped(line, kind):
    """What is no entry is skipped with a one-line problem; the entries around it stay linked."""
    read = Read(V3, said("a", None), line, said("b", "a"))
    assert [entry.id for entry in read.entries] == ["a", "b"]
    assert read.kinds == [(kind, 3)]
    assert read.entries[1].line == 4
    assert "\n" not in read.problems[0].message


def test_a_torn_tail():
    """A last line that ends early is a torn tail; a whole one without its newline is an entry."""
    torn = Read(V3, said("a", None), b'{"type":"mess', torn=True)
    assert torn.kinds == [("torn-tail", 3)]
    whole = Read(V3, said("a", None), said("b", "a"), torn=True)
    assert (len(whole.entries), whole.kinds) == (2, [])


# --- what stands inside an entry ---------------------------------------------------------------------


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "-1", "1e400", "9" * 400, "9" * 5000, '"7"', "true"])
def test_bad_usage(value):
    """A usage that is no count of tokens is kept and named."""
    line = raw(answered("a", None)).replace(b'"input": 1', b'"input": ' + value.encode())
    read = Read(V3, line)
    assert read.kinds == [("bad-usage", 2)]
    assert "input" in read.problems[0].message
    assert read.entries[0].message.content[0].text == "done"


def test_good_usage():
    """Counts, none at all, and null as pi's sums read it are no problem."""
    none = said("b", "a", "x", "assistant")
    null = answered("c", "b")
    null["message"]["usage"]["input"] = None
    assert Read(V3, answered("a", None), none, null).problems == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b"\\ud83d", True),
        (b"x\\uDE00y", True),
        (b"\\ude00\\ud83d", True),
        (b"\\ud83d\\ud83d\\ude00", True),
        (b"\\\\\\ud83d", True),
        (b"\\ud83d\\u0041", True),
        (b"\\ud83d\\ude00", False),
        (b"\\uD83D\\uDE00", False),
        (b"\\\\ud83d", False),
        (b"\\\\\\\\ud83d \\n \\u0041 \\\\", False),
        ("😀".encode(), False),
    ],
)
def test_half_surrogate_pairs(text, found):
    """Half a surrogate pair is kept and named; a whole one, or a text that only looks like one, is not."""
    read = Read(V3, b'{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"' + text + b'"}}')
    assert read.kinds == ([("lone-surrogate", 2)] if found else [])
    assert read.entries[0].message.content == json.loads(b'"' + text + b'"')


def test_bytes_that_are_no_text():
    """Bytes that are no UTF-8 are kept in the line, read as U+FFFD and named."""
    read = Read(V3, b'{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"\xe9t\xe9"}}')
    assert read.kinds == [("not-utf8", 2)]
    assert read.entries[0].message.content == "\ufffdt\ufffd"
    assert b"\xe9" in read.entries[0].raw


def test_entries_that_came_as_dicts_have_no_bytes():
    """Where there is no line there is no fault of bytes."""
    reader = PiReader(V3)
    reader.feed(raw(said("a", None)), 2)
    reader.entries[0].raw = None
    assert list(content_problems(reader.entries)) == []


# --- versions 1 and 2 --------------------------------------------------------------------------------


def old(item):
    """Give an entry as version 1 writes it."""
    return {key: value for key, value in item.items() if key not in ("id", "parentId")}


def test_version_1_is_a_line_with_ids_by_place():
    """Version 1 has no ids: entries hang on each other and are named by their place, the same at every reading."""
    items = [old(said("", None)), b"", old(answered("", None)), b"nope", old(bash("", None))]
    reads = [Read(Header(version=1), *items) for _ in range(2)]
    for read in reads:
        assert [entry.id for entry in read.entries] == ["00000000", "00000001", "00000002"]
        assert read.parents == [-1, 0, 1]
        assert read.kinds == [("blank-line", 3), ("broken-line", 5)]
    assert [entry.line for entry in reads[0].entries] == [2, 4, 6]


@pytest.mark.parametrize(
    ("index", "kept"),
    [
        (0, None),
        (1, "00000000"),
        (2, "00000001"),
        (3, None),
        (4, None),
        (5, None),
        (6, "00000002"),
        (7, "00000003"),
        (8, None),
        ("1", None),
        (-1, None),
    ],
)
def test_version_1_counts_what_it_keeps_by_json_lines(index, kept):
    """The index counts the header and every line that is JSON, entry or not; blank and broken ones are not counted."""
    body = old(cut("", None, None, firstKeptEntryIndex=index))
    del body["firstKeptEntryId"]
    lines = [old(said("", None)), b"", old(said("", None)), b"5", b"{}", b"{", header(), old(said("", None)), body]
    last = Read(Header(version=1), *lines).entries[-1]
    assert last.get("firstKeptEntryId") == kept
    assert b"firstKeptEntryId" not in last.raw


@pytest.mark.parametrize("version", [1, 2])
def test_hook_messages_are_custom_messages(version):
    """Versions 1 and 2 call custom messages hook messages; the line itself stays what it is."""
    hook = entry("a", None, "message", message={"role": "hookMessage", "customType": "k", "content": "x"})
    read = Read(Header(version=version), hook, said("b", "a"))
    assert read.entries[0].message == Custom(content="x", custom_type="k")
    assert b"hookMessage" in read.entries[0].raw
    assert Read(V3, hook).entries[0].message.role == "hookMessage"


def test_version_2_keeps_its_tree():
    """Version 2 has ids and parents of its own."""
    read = Read(Header(version=2), *chain(said("a", None), said("b", None)), said("c", "a"), cut("d", "c", "c"))
    assert read.parents == [-1, 0, 0, 2]
    assert read.entries[3].get("firstKeptEntryId") == "c"
    assert read.problems == []


def test_version_2_keeps_lines_that_only_their_head_can_be_read_of(monkeypatch):
    """An entry nested so deeply that its data cannot be decoded has none, and stays in the tree."""

    def too_deep(_):
        raise ValueError("nested too deeply")

    monkeypatch.setattr("leafscar.model.entries.loads", too_deep)
    read = Read(Header(version=2), said("a", None), said("b", "a"))
    assert read.parents == [-1, 0]
    assert read.entries[0].data == {}
    assert read.entries[0].message is None


@pytest.mark.parametrize("line", [b"", b"   ", b"\t\r", b"{", b'{"type":"message","id":"a', b"[1]", b"1" * 100_000])
def test_a_line_that_can_be_no_object_is_not_decoded_leniently(line, monkeypatch):
    """A file of blank or torn lines costs one quick look at each."""
    monkeypatch.setattr(pi, "loads", lambda raw: pytest.fail(f"decoded {raw[:20]}"))
    assert read_head(line) is None
