import os
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.session.build import answered, bash, chain, cut, dumped, entry, header, ids, kinds, result, said, written
from tests.session.strategies import files, line, odd_entries

from leafscar.errors import AppendFailed, BadReference, SessionRefused
from leafscar.model import Assistant, CompactionSummary, Custom, User, as_entry
from leafscar.session import Session, load


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """One file for many examples."""
    return tmp_path_factory.mktemp("session") / "s.jsonl"


def tree():
    """Two branches below b: one left behind, the other where the session stands."""
    return [
        said("a", None, "first"), answered("b", "a"), said("c", "b", "left"), result("d", "c"),
        said("e", "b", "second"), cut("f", "e", "b"), said("g", "f", "third"),
    ]  # fmt: skip


# --- what is refused ---------------------------------------------------------------------------------


def refused(path):
    """What opening a file says, checked to be one line that names the file and what to do."""
    with pytest.raises(SessionRefused) as caught:
        load(path)
    fault = caught.value
    assert str(fault).startswith(str(path) + (f" line {fault.line}: " if fault.line else ": "))
    assert str(fault).endswith(f"; {fault.hint}")
    assert fault.hint
    assert "\n" not in str(fault)
    return fault.reason, fault.line


CLAUDE_CODE = (
    {"type": "summary", "summary": "x", "leafUuid": "u"},
    {"parentUuid": None, "type": "user", "uuid": "u", "message": {"role": "user", "content": "x"}},
    {"parentUuid": "u", "type": "assistant", "uuid": "v", "message": {"role": "assistant", "content": []}},
)
LOG = ({"level": "info", "type": "start", "message": "up"}, {"level": "warn", "type": "stop", "message": "down"})


@pytest.mark.parametrize(
    ("data", "reason", "number"),
    [
        (b"", "the file is empty", None),
        (b" \n\t\n\r\n\n", "no line of it is a JSON object", 1),
        (b"# notes\n\nnothing here\n", "no line of it is a JSON object", 1),
        (b"[1, 2]\n5\n", "no line of it is a JSON object", 1),
        (b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\n{}\n", "binary, not a session", 1),
        (b"\x89PNG\r\n\x1a\n\xb3\xa3\xff\n\xfe", "no line of it is a JSON object", 1),
        (dumped(header(4)), "session version 4 is not read (1, 2 and 3 are)", 1),
        (dumped(header("3")), "session version '3' is not read (1, 2 and 3 are)", 1),
        (dumped(header(True)), "session version True is not read (1, 2 and 3 are)", 1),
        (dumped(b"", b"nope", header(1.5)), "session version 1.5 is not read (1, 2 and 3 are)", 3),
        (dumped(*CLAUDE_CODE), "no session header and no message", 1),
        (dumped(*LOG), "no session header and no message", 1),
        (dumped(b"", entry("a", None)), "no session header and no message", 2),
        (b'{"type":"message","id":"a","par', "no line of it is a JSON object", 1),
    ],
)
def test_what_is_no_session_is_refused(tmp_path, data, reason, number):
    """A file in which no session can be read is refused in one line: which file, where, why, what to do."""
    path = tmp_path / "f.jsonl"
    path.write_bytes(data)
    assert refused(path) == (reason, number)


def test_a_document_that_no_reader_knows(tmp_path):
    """One JSON document over several lines is named as what it is."""
    path = tmp_path / "f.json"
    path.write_text('{\n  "a": 1\n}\n')
    assert refused(path) == ("a JSON document of no format that is read", 1)


def test_places_that_hold_no_session(tmp_path):
    """A missing file, a folder and a FIFO nobody writes to are refused at once."""
    os.mkfifo(tmp_path / "fifo")
    assert refused(tmp_path / "none") == ("No such file or directory", None)
    assert refused(tmp_path) == ("not a regular file", None)
    assert refused(tmp_path / "fifo") == ("not a regular file", None)


def sparse(path, start):
    """Give a file whose last line is 130 MiB long and takes no room."""
    path.write_bytes(start)
    os.truncate(path, len(start) + 130 * 2**20)
    return path


def test_a_line_over_128_mib(tmp_path):
    """A line of 130 MiB is refused, by its number."""
    session = load(sparse(tmp_path / "b", dumped(header(), said("a", None))))
    with pytest.raises(SessionRefused, match="line 3: a line over 128 MiB; split or remove that line"):
        session.branch()


def test_a_line_over_the_limit(tmp_path, monkeypatch):
    """A giant line is refused when it is reached: as the first one at once, below a header whatever is asked."""
    monkeypatch.setattr("leafscar.session.lines.MAX_LINE_BYTES", 400)
    monkeypatch.setattr("leafscar.session.tail.MAX_LINE_BYTES", 400)
    assert refused(written(tmp_path / "a", b"x" * 401)) == ("a line over 128 MiB", 1)
    session = load(written(tmp_path / "b", header(), said("a", None), said("b", "a", "x" * 400)))
    for reading in (session.context, session.branch, lambda: session.entries, lambda: session.leaf_id):
        with pytest.raises(SessionRefused, match="line 3: a line over 128 MiB; split or remove that line"):
            reading()


def test_a_file_that_went_away(tmp_path):
    """A file that is gone when the rest of it is read is a refusal too."""
    path = written(tmp_path / "s", header(), said("a", None))
    session = load(path)
    path.unlink()
    with pytest.raises(SessionRefused, match="No such file or directory; check the path"):
        session.context()


# --- what is read all the same -----------------------------------------------------------------------


def test_a_whole_session_has_no_problems(tmp_path):
    """Nothing is said about a file in order."""
    session = load(written(tmp_path / "s", header(), *tree()))
    assert session.problems == []
    assert session.header.cwd == "/home/user/demo"
    assert (session.path, session.size) == (tmp_path / "s", (tmp_path / "s").stat().st_size)
    assert repr(session) == f"<Session {tmp_path / 's'}>"


def test_every_fault_in_one_file(tmp_path):
    """What reading went around is told by kind and line, sorted, in one line each; the rest is there."""
    nan = dumped(answered("n", "m")).replace(b'"input":1', b'"input":NaN')[:-1]
    items = [
        header(), said("a", None), b"", b"nope", b"[1]", b"{}", b"\0\0", header(), said("b", "gone"), said("a", "b"),
        said("f", "z"), said("s", "s"), {"type": "message", "message": {"role": "user", "content": "no id"}},
        said("m", "s", "\ud83d"), nan, said("o", "n", "é"),
        dumped(said("p", "o", "CHANGED"))[:-1].replace(b"CHANGED", b"\xe9"), said("z", "p"),
        b'{"type":"label","id":"y","parentId":"z","x":' + b"[" * 2000 + b"]" * 2000 + b"}",
        b'{"type":"label","type":"custom","id":"w","parentId":"z","x":1e400,"n":' + b"9" * 5000 + b"}",
    ]  # fmt: skip
    path = tmp_path / "s"
    path.write_bytes(dumped(*items) + b'{"type":"message","id":"t","par')
    session = load(path)
    assert [it for it in kinds(session) if it[1] != 19] == [
        ("blank-line", 3), ("broken-line", 4), ("not-an-object", 5), ("no-type", 6), ("broken-line", 7),
        ("second-header", 8), ("missing-parent", 9), ("duplicate-id", 10), ("missing-parent", 11),
        ("missing-parent", 12), ("missing-id", 13), ("lone-surrogate", 14), ("bad-usage", 15),
        ("not-utf8", 17), ("torn-tail", 21),
    ]  # fmt: skip
    assert ids(session.entries)[:8] == ["a", "b", "a", "f", "s", "line13", "m", "n"]
    assert session.leaf_id == "w"
    assert session.entries[-1].type == "custom"
    assert session.entries[-1]["x"] == session.entries[-1]["n"] == float("inf")
    assert session.context()[-1].content == "hello"
    assert all("\n" not in problem.message for problem in session.problems)


def test_a_circle_of_parents(tmp_path):
    """Ids that come twice and hang on each other are a straight line."""
    session = load(written(tmp_path / "s", header(), said("a", None), said("b", "a", "2"), said("a", "b", "3")))
    assert [entry.line for entry in session.branch()] == [2, 3, 4]
    assert len(session.context()) == 3
    assert session.entry("a").line == 4
    assert kinds(session) == [("duplicate-id", 4)]


def test_a_byte_order_mark_and_carriage_returns(tmp_path):
    """Files of other systems read like any other, from the end and in full."""
    path = tmp_path / "s"
    path.write_bytes(b"\xef\xbb\xbf" + dumped(header(), *tree()).replace(b"\n", b"\r\n"))
    session = load(path)
    assert session.header.version == 3
    assert ids(session.context().entries) == ["f", "b", "e", "g"]
    assert session.problems == []
    assert ids(session.context().entries) == ["f", "b", "e", "g"]


def test_a_header_below_other_lines(tmp_path):
    """Blank and broken lines before the header are skipped, as pi does."""
    session = load(written(tmp_path / "s", b"", b"\0nope"[1:], header(2), *tree()))
    assert session.header.version == 2
    assert kinds(session) == [("blank-line", 1), ("broken-line", 2)]
    assert session.entry_at(4).id == "a"
    session = load(written(tmp_path / "t", b"", header(), *tree()))
    assert [session.reference_for(entry) for entry in session.context().entries] == ["#8", "#4", "#7", "#9"]


def test_a_session_without_a_header(tmp_path):
    """Entries alone are read, and that is said."""
    session = load(written(tmp_path / "s", *tree()))
    assert session.header is None
    assert kinds(session) == [("no-header", 1)]
    assert ids(session.context().entries) == ["f", "b", "e", "g"]
    assert session.reference_for(session.entries[0]) == "#1"


def test_a_header_alone(tmp_path):
    """A session in which nothing was said yet is one."""
    for data in (dumped(header()), dumped(header())[:-1]):
        (tmp_path / "s").write_bytes(data)
        session = load(tmp_path / "s")
        assert (len(session.context()), session.leaf_id, session.branch(), session.problems) == (0, None, [], [])


def everything(session):
    """Ask a session for all it has."""
    assert isinstance(session.context(), object)
    for found in session.entries:
        assert session.reference_for(found).startswith("#")
        assert session.branch(found.id)[-1].id == found.id
        assert isinstance(session.context(found.id).messages, list)
    assert session.leaf_id is None or session.entry(session.leaf_id)
    assert all(problem.line and "\n" not in problem.message for problem in session.problems)
    return len(session.branch())


@settings(max_examples=150, deadline=None)
@given(
    data=files(),
    others=st.lists(st.tuples(st.integers(0, 4000), st.integers(0, 40), st.binary(max_size=6)), max_size=4),
)
def test_damaged_files_are_read_or_refused(place, data, others):
    """Whatever bytes are changed, lost or added: the file is read, or refused as no session."""
    for at, length, new in others:
        data = data[:at] + new + data[at + length :]
    place.write_bytes(data)
    try:
        session = load(place)
    except SessionRefused:
        return
    everything(session)


@settings(max_examples=60, deadline=None)
@given(items=st.lists(odd_entries, max_size=3), version=st.sampled_from([1, 2, 3, None]))
def test_entries_of_any_shape_are_read(place, items, version):
    """Any field of an entry may be missing or of any type."""
    head = [] if version is None else [header(version)]
    place.write_bytes(dumped(*head, line(said("a", None)), *map(line, items)))
    everything(load(place))


# --- walking -----------------------------------------------------------------------------------------


def test_branches(tmp_path):
    """A branch is the path from the root, on any leaf."""
    session = load(written(tmp_path / "s", header(), *tree()))
    assert ids(session.branch()) == ["a", "b", "e", "f", "g"]
    assert ids(session.branch("d")) == ["a", "b", "c", "d"]
    assert ids(session.branch("a")) == ["a"]
    assert ids(session.context("d").entries) == ["a", "b", "c", "d"]
    assert ids(session.context("e").entries) == ["a", "b", "e"]
    assert ids(session.context("f").entries) == ["f", "b", "e"]
    for asking in (session.branch, session.context):
        with pytest.raises(BadReference, match=r"no entry 'zz' in <Session .*>") as caught:
            asking("zz")
        assert (caught.value.kind, caught.value.reference) == ("not-found", "zz")


def test_a_context_is_a_sequence_of_messages(tmp_path):
    """Messages by position, slice and order, each with its entry, with level and model."""
    context = load(written(tmp_path / "s", header(), *tree())).context()
    assert len(context) == 4
    assert isinstance(context[0], CompactionSummary)
    assert context[0].summary == "earlier"
    assert [type(message) for message in context] == [CompactionSummary, Assistant, User, User]
    assert context[-1].content == "third"
    assert context[1:3] == context.messages[1:3]
    assert ids(context.entries) == ["f", "b", "e", "g"]
    assert (context.thinking_level, context.model.model_id) == ("off", "m")
    assert repr(context) == "<Context of 4 messages>"


def test_entries_by_id_and_line(tmp_path):
    """Every entry of every branch is found by id and by physical line."""
    session = load(written(tmp_path / "s", header(), b"", *tree()))
    assert session.entry("d") is session.entry_at(6)
    assert session.entry("zz") is None
    assert [session.entry_at(number) for number in (0, 1, 2, 10, 99)] == [None] * 5
    assert [session.entry_at(number).id for number in range(3, 10)] == list("abcdefg")


def test_references_of_entries_that_the_file_does_not_hold(tmp_path):
    """An entry of elsewhere is named by its own line, by the line of its id, or by its id."""
    session = load(written(tmp_path / "s", header(), *tree()))
    other = Session.memory(tree())
    assert session.reference_for(load(session.path).context().entries[0]) == "#7"
    assert session.reference_for(as_entry(tree()[3])) == "#5"
    assert session.reference_for(as_entry(said("new", "g"))) == "new"
    assert other.reference_for(other.entries[3]) == "d"


# --- moved leaves ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("moves", "leaf"),
    [
        ([("l", "b")], "b"),
        ([("l", None)], None),
        ([("l", "gone")], None),
        ([("l", 5)], None),
        ([("l", "l")], None),
        ([("l", "b"), ("m", "l")], "b"),
        ([("l", "b"), ("m", "d")], "d"),
        ([("l", "b"), ("b", "l")], "b"),
    ],
)
def test_a_leaf_entry_moves_the_leaf(tmp_path, moves, leaf):
    """The session stands where its last leaf entry points; at the root where that points nowhere before it."""
    items = [entry(id_, "g", "leaf", targetId=target) for id_, target in moves]
    session = load(written(tmp_path / "s", header(), *tree(), *items))
    assert session.leaf_id == leaf
    assert [it.line for it in session.branch()] == {"b": [2, 3], "d": [2, 3, 4, 5], None: []}[leaf]
    assert len(session.context()) == len(session.branch())


def test_an_entry_after_a_moved_leaf(tmp_path):
    """Once something was said there, the leaf is that."""
    items = [entry("l", "g", "leaf", targetId="b"), said("n", "b")]
    assert ids(load(written(tmp_path / "s", header(), *tree(), *items)).branch()) == ["a", "b", "n"]


# --- versions 1 and 2 --------------------------------------------------------------------------------


def test_a_version_1_file(tmp_path):
    """A file without ids reads like one with them: same ids each time, cuts, hook messages."""
    bare = [
        {"type": "message", "timestamp": "t", "message": {"role": "user", "content": "a"}},
        {"type": "message", "message": {"role": "hookMessage", "customType": "k", "content": "b"}},
        {"type": "message", "message": {"role": "user", "content": "c"}},
        {"type": "compaction", "summary": "s", "firstKeptEntryIndex": 2, "tokensBefore": 7},
        {"type": "message", "message": {"role": "user", "content": "d"}},
    ]
    path = written(tmp_path / "s", header(None, provider="p", modelId="m"), *bare)
    session = load(path)
    assert (session.header.version, session.header.provider, session.header.model) == (1, "p", "m")
    context = session.context()
    assert ids(context.entries) == ["00000003", "00000001", "00000002", "00000004"]
    assert [type(message) for message in context] == [CompactionSummary, Custom, User, User]
    assert ids(session.context("00000002").entries) == ["00000000", "00000001", "00000002"]
    assert ids(load(path).entries) == ids(session.entries)
    assert session.leaf_id == "00000004"
    assert session.problems == []


def test_a_version_2_file(tmp_path):
    """A file of version 2 has its tree, and hook messages that are custom ones."""
    hook = entry("h", "a", "message", message={"role": "hookMessage", "customType": "k", "content": "x"})
    session = load(written(tmp_path / "s", header(2), said("a", None), said("x", "a"), hook))
    assert ids(session.context().entries) == ["a", "h"]
    assert session.context()[1] == Custom(content="x", custom_type="k")
    assert session.problems == []


# --- in memory ---------------------------------------------------------------------------------------


def test_a_session_in_memory():
    """A session without a file is the same tree; its lines count as if a header stood on line 1."""
    session = Session.memory(tree(), cwd="/home/user/demo")
    assert (session.path, session.size, session.leaf_id, session.header.version) == (None, 0, "g", 3)
    assert repr(session) == "<Session in memory>"
    assert ids(session.context().entries) == ["f", "b", "e", "g"]
    assert [session.entry_at(number) for number in (0, 1, 9)] == [None] * 3
    assert [session.entry_at(number).id for number in range(2, 9)] == list("abcdefg")
    assert session.problems == []
    assert Session.memory().context().messages == []


def test_the_folder_of_a_session():
    """A session names the folder it ran in, and none where its header, or the want of one, does not."""
    sessions = Session.memory(cwd="/home/user/demo"), Session.memory(), Session(None)
    assert [session.cwd for session in sessions] == ["/home/user/demo", "", ""]


def test_adding_in_memory():
    """What is added is the leaf; what is no entry is an error and leaves nothing."""
    session = Session.memory()
    assert session.add(said("a", None)).id == session.leaf_id == "a"
    for bad in ({}, {"type": 5}, header()):
        with pytest.raises(ValueError, match="no entry: "):
            session.add(bad)
    with pytest.raises(ValueError, match="JSON"):
        session.add(entry("b", "a", x=float("nan")))
    assert ids(session.entries) == ["a"]
    assert session.problems == []
    assert session.add(bash("b", "a")).line == 3


def test_a_file_is_not_added_to_in_memory(tmp_path):
    """What a session in a file holds is what the file holds."""
    session = load(written(tmp_path / "s", header(), *chain(*tree())))
    with pytest.raises(AppendFailed, match="use append"):
        session.add(said("z", "g"))
    assert session.leaf_id == "g"


def test_opening_costs_what_the_context_costs(tmp_path):
    """A long history before the cut does not make opening slower than a tenth of a second."""
    old = [said(f"o{n}", f"o{n - 1}" if n else None, "x" * 4000) for n in range(2500)]
    path = written(tmp_path / "s", header(), *old, cut("k", "o2499", "o2498"), said("z", "k"))
    began = time.process_time()
    assert ids(load(path).context().entries) == ["k", "o2498", "o2499", "z"]
    assert time.process_time() - began < 0.1
