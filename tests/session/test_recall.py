import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.session.build import answered, bash, cut, entry, header, result, said, written

from leafscar.errors import BadReference
from leafscar.model import as_entry
from leafscar.pruning import prune
from leafscar.session import Recalled, Session, load, recall
from leafscar.session.recall import renew

LONG = "".join(f"line {number}\n" for number in range(5000))[:20_000]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """One file for many examples."""
    return tmp_path_factory.mktemp("recall") / "s.jsonl"


def items():
    """One entry of each kind; the branch c-d was left."""
    return [
        said("a", None), answered("b", "a"), said("c", "b"), result("left", "c", "left behind"),
        result("long", "b", LONG), bash("bash", "long", "bash output"), result("short", "bash", "short"),
        entry("label", "short", targetId="short", label="x"), cut("cut", "label", "short"), said("end", "cut"),
    ]  # fmt: skip


@pytest.fixture
def session(tmp_path):
    """Give a session in a file: left is #5, long #6, bash #7, short #8."""
    return load(written(tmp_path / "s.jsonl", header(), *items()))


def failure(session, ref):
    """What a recall is told, checked to be flagged and in one line."""
    with pytest.raises(BadReference) as caught:
        recall(session, ref)
    assert str(caught.value).startswith("recall: ")
    assert "\n" not in str(caught.value)
    return caught.value


@pytest.mark.parametrize("ref", ["#6:full", "long:full", " #6:full\n"], ids=["a14_76_line", "a14_76_id", "a14_74"])
def test_a_result_by_line_and_by_id(session, ref):
    """Both forms give the full text when it is asked for."""
    assert recall(session, ref) == Recalled(text=LONG, truncated=False)


@pytest.mark.parametrize("ref", ["#7", "bash", "bash:full"])
def test_an_executed_command_a14_77(session, ref):
    """The entry of a command gives its output."""
    assert recall(session, ref) == Recalled(text="bash output", truncated=False)


@pytest.mark.parametrize(("ref", "form"), [("#6", "#6:full"), ("long", "long:full")], ids=["a14_78", "a14_79"])
def test_a_long_result_is_capped(session, ref, form):
    """Without the full form the beginning comes, with a hint that names that form."""
    hint = f'... [truncated at 12000 characters. Use "{form}" for the full output.]'
    assert recall(session, ref) == Recalled(text=f"{LONG[:12_000]}\n\n{hint}", truncated=True)


@pytest.mark.parametrize(("size", "truncated"), [(12_000, False), (12_001, True)])
def test_the_cap_itself_a14_80(size, truncated):
    """A text of exactly the cap comes whole, one unit more does not."""
    session = Session.memory([result("r", None, "x" * size)])
    assert recall(session, "r").truncated is truncated


def test_what_fits_is_whole_a14_81(session):
    """A short text comes whole with and without the full form."""
    assert recall(session, "#8") == recall(session, "#8:full") == Recalled(text="short", truncated=False)


@pytest.mark.parametrize(
    ("refs", "what"),
    [
        (("#2", "a"), "a 'user' message"),
        (("#3", "b"), "an 'assistant' message"),
        (("#9", "label"), "a 'label' entry"),
        (("#10", "cut:full"), "a 'compaction' entry"),
    ],
    ids=["a14_82_user", "a14_82_assistant", "a14_83_label", "a14_83_compaction"],
)
def test_what_is_not_a_tool_result(session, refs, what):
    """Other entries are no tool result, and the error says what they are."""
    for ref in refs:
        fault = failure(session, ref)
        assert fault.kind == "not-a-result"
        assert f"is not a tool result but {what}" in str(fault)


@pytest.mark.parametrize(
    "odd",
    [
        entry("o", None, "message", message={"role": "evil\nrole" * 99}),
        entry("o", None, "message"),
        entry("o", None, "new\ntype"),
    ],
)
def test_odd_entries_are_described_in_one_short_line(odd):
    """What a file says about itself cannot break the line of an error."""
    assert len(str(failure(Session.memory([odd]), "o"))) < 160


@pytest.mark.parametrize(("ref", "named"), [("#99", "line 99"), ("unknown", "entry unknown"), ("#1:full", "from 2 on")])
def test_what_is_not_there_a14_84(session, ref, named):
    """The error names the line or the id."""
    assert named in str(failure(session, ref))


@pytest.mark.parametrize("ref", ["", ":full", "#", "#1e2", "#7:FULL", "a:b", "two words"])
def test_malformed_references_are_flagged_a14_85_a14_87(session, ref):
    """A reference that is none is an error with its kind and its text, not an answer."""
    fault = failure(session, ref)
    assert fault.kind in ("empty", "bare-suffix", "bad-line", "bad-reference")
    assert fault.reference == ref
    assert "invalid reference" in str(fault)


def test_the_branch_that_was_left_a14_119(session):
    """An output of an abandoned branch is found by line and by id."""
    assert "left" not in {it.id for it in session.branch()}
    assert recall(session, "#5") == recall(session, "left") == Recalled(text="left behind", truncated=False)


def test_a_session_in_memory_a14_118():
    """Without a file the reference is the id; the line form counts as if a header stood first."""
    session = Session.memory(items())
    assert session.reference_for(session.entry("short")) == "short"
    assert recall(session, "short") == recall(session, "#8") == Recalled(text="short", truncated=False)


def test_what_was_pruned_comes_back_a14_106(tmp_path):
    """References of pruned outputs give the originals byte for byte, and the file stays what it was."""
    usage = {"input": 190_000, "output": 5, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 190_005}
    calls = [{"type": "toolCall", "id": f"c{n}", "name": "read", "arguments": {"path": f"{n}.py"}} for n in (1, 2)]
    old = [LONG + "1\ud83d", LONG + "2😀"]
    path = written(
        tmp_path / "s", header(), said("a", None), said("b", "a", calls, "assistant", stopReason="toolUse"),
        result("r1", "b", old[0], "c1"), result("r2", "r1", old[1], "c2"),
        said("d", "r2", [], "assistant", usage=usage, stopReason="stop"), said("e", "d"),
    )  # fmt: skip
    before = path.read_bytes()
    session = load(path)
    context = session.context()
    pruned = prune(
        context.messages,
        context.entries,
        context_window=200_000,
        reserve_tokens=16_384,
        reference_for=session.reference_for,
    )
    references = [record.reference for record in pruned.records]
    assert references == ["#4", "#5"]
    assert [message.tool_call_id for message in pruned.messages[2:4]] == ["c1", "c2"]
    for opened in (session, load(path)):
        assert [recall(opened, f"{ref}:full").text for ref in references] == old
    assert path.read_bytes() == before


@settings(deadline=None)
@given(
    texts=st.lists(
        st.text(alphabet=st.characters(), max_size=20) | st.sampled_from(["\ud83d", "😀", "\0", "\u2028"]),
        min_size=1,
        max_size=4,
    )
)
def test_a_recall_gives_the_original(place, texts):
    """Whatever text an output holds comes back, from a file and from memory, by line and by id."""
    outputs = [result(f"r{number}", None, text) for number, text in enumerate(texts)]
    for session in (load(written(place, header(), *outputs)), Session.memory(outputs)):
        for number, text in enumerate(texts):
            assert recall(session, f"r{number}:full").text == text
            assert recall(session, f"#{number + 2}").text == text


# --- references from before a fork -------------------------------------------------------------------

EARLY, FORKED, LATE = (f"2026-05-01T{hour}:00:00.000Z" for hour in ("09", "12", "13"))


def at(time, item):
    """Give an entry of another time."""
    return {**item, "timestamp": time}


def source(path, **fields):
    """Give the file that a fork was made from: an output on line 5, and the call that asked for it."""
    early = [
        said("a", None),
        entry("l", "a", targetId="a", label="x"),
        said("x", "a"),
        result("r", "a"),
        said("ask", "r"),
    ]
    return written(path, header(timestamp=EARLY, **fields), *(at(EARLY, item) for item in early))


def fork(path, parent, when=FORKED):
    """Write a fork as pi does: only the path, labels at the end, so that the output stands on line 3."""
    copied = [said("a", None), result("r", "a"), said("ask", "r"), entry("l2", "ask", targetId="a", label="x")]
    late = at(LATE, said("new", "l2"))
    head = header(timestamp=when, parentSession=str(parent))
    return load(written(path, head, *(at(EARLY, item) for item in copied), late))


def test_a_reference_renews_itself(session):
    """What a call asked for is named anew, full or not; what it does not name is nothing."""
    assert [renew(session, ref) for ref in ("#6", "long:full", " #7 ")] == ["#6", "#6:full", "#7"]
    assert [renew(session, ref) for ref in ("#99", "zz", "#2", "label", "", "#x")] == [None] * 6
    asked = session.entry("end")
    assert renew(session, "#6", asked) == "#6"
    assert renew(session, "long", asked) == "#6"


def test_a_line_from_before_a_fork(tmp_path):
    """A line in an inherited call counts in the file it was written in; one in a new call counts here."""
    forked = fork(tmp_path / "f", source(tmp_path / "s"))
    inherited, new = forked.entry("ask"), forked.entry("new")
    assert renew(forked, "#5:full", inherited) == "#3:full"
    assert renew(forked, "r", inherited) == "#3"
    assert renew(forked, "#3", new) == "#3"
    assert renew(forked, "#5", new) is None
    assert renew(forked, "#4", inherited) is None


def test_a_line_from_before_two_forks(tmp_path):
    """A fork of a fork asks the file that the call was first written in."""
    middle = source(tmp_path / "s")
    fork(tmp_path / "m", middle, "2026-05-01T11:00:00.000Z")
    last = fork(tmp_path / "f", tmp_path / "m")
    assert renew(last, "#5", last.entry("ask")) == "#3"


@pytest.mark.parametrize("parent", ["gone", "", "\0", ".", "\ud800"])
def test_a_parent_that_cannot_be_read(tmp_path, parent):
    """Without the parent's file a line from before the fork means nothing; an id still does."""
    forked = fork(tmp_path / "f", parent)
    assert renew(forked, "#5", forked.entry("ask")) is None
    assert renew(forked, "r", forked.entry("ask")) == "#3"


def test_a_parent_beside_the_fork(tmp_path):
    """A relative path counts from the folder of the fork."""
    source(tmp_path / "s")
    forked = fork(tmp_path / "f", "s")
    assert renew(forked, "#5", forked.entry("ask")) == "#3"


@pytest.mark.parametrize("fields", [{"parentSession": "f"}, {}])
def test_forks_in_a_circle(tmp_path, fields):
    """A parent that is no older than its fork is none."""
    source(tmp_path / "s", **fields)
    forked = fork(tmp_path / "f", "f")
    assert renew(forked, "#5", forked.entry("ask")) is None
    assert renew(fork(tmp_path / "g", "s", EARLY), "#3", forked.entry("ask")) == "#3"


def test_a_parent_that_lost_the_output(tmp_path):
    """An output that the fork did not take along has no reference here."""
    path = source(tmp_path / "s")
    head = header(timestamp=FORKED, parentSession=str(path))
    forked = load(written(tmp_path / "f", head, at(EARLY, said("a", None)), at(EARLY, said("ask", "a"))))
    assert renew(forked, "#5", forked.entry("ask")) is None
    orphan = load(written(tmp_path / "o", *(at(EARLY, item) for item in (said("a", None), result("r", "a")))))
    assert renew(orphan, "#2", as_entry(said("x", None))) == "#2"
    bare = Session.memory(items())
    assert renew(bare, "short", bare.entry("end")) == "short"


# --- parts of an output ------------------------------------------------------------------------------


def test_pages_of_an_output(session):
    """A page has the size of a recall, and all pages are the output."""
    first, second = (recall(session, "#6", page=page) for page in (1, 2))
    assert first.truncated
    assert not second.truncated
    assert first.text == f"{LONG[:12_000]}\n\n... [page 1 of 2. Use page 2 for what follows.]"
    assert second.text == LONG[12_000:]


def test_lines_of_an_output(session):
    """A range of lines is given exactly, by line and by id."""
    assert recall(session, "#6", lines=(3, 4)) == recall(session, "long", lines=(3, 4))
    assert recall(session, "#6", lines=(3, 4)).text == "line 2\nline 3"
    assert recall(session, "#6", lines=(1, None)).truncated
    assert recall(session, "#6:full", lines=(1, None)) == Recalled(text=LONG, truncated=False)


@pytest.mark.parametrize(("ref", "text"), [("#2", "hello"), ("b", "done"), ("#10", "earlier"), ("#7", "bash output")])
def test_a_page_of_anything_with_words(session, ref, text):
    """Pages and lines read messages and summaries too, which a plain recall refuses."""
    assert recall(session, ref, page=1).text == recall(session, ref, lines=(1, 1)).text == text


@pytest.mark.parametrize(
    ("ref", "options", "kind", "words"),
    [
        ("#6", {"page": 3}, "no-page", "has 2 pages; give a page from 1 to 2"),
        ("#6", {"page": 0}, "no-page", "has 2 pages"),
        ("#8", {"lines": (2, 3)}, "no-lines", "has 1 line; give lines from 1 to 1"),
        ("#9", {"page": 1}, "no-words", "#9 holds no words, it is a 'label' entry"),
        ("#6", {"page": 1, "lines": (1, 1)}, "two-parts", "a page and lines exclude each other"),
        ("#6:full", {"page": 1}, "two-parts", "a page and :full exclude each other"),
        ("#99", {"page": 1}, "not-found", "no line 99"),
    ],
)
def test_parts_that_are_not_there(session, ref, options, kind, words):
    """What cannot be given is one line with its kind."""
    with pytest.raises(BadReference) as caught:
        recall(session, ref, **options)
    assert caught.value.kind == kind
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
