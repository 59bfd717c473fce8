from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.session.build import answered, bash, cut, entry, header, result, said, written

from leafscar.errors import BadSearch, SessionRefused
from leafscar.model.jsjson import utf16_length
from leafscar.session import Hit, Limits, Session, load, recall, search
from leafscar.session.matching import Query
from leafscar.session.search import EXCERPT, HitLine

CALL = {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "secret.txt"}}


def items():
    """A session with a cut: the user's rule and the output on line 5 are gone, line 6 is another branch."""
    return [
        said("a", None, "the rule: never say Needle"),
        said("b", "a", [{"type": "text", "text": "needle?"}, CALL], "assistant"),
        result("r", "b", "zero\none needle\ntwo needle needle\nthree"),
        result("left", "b", "needle on another branch"),
        said("kept", "r", "go on"),
        cut("cut", "kept", "kept", "we looked for a needle"),
        bash("sh", "cut", "no match"),
        answered("end", "sh", "done"),
        entry("l", "end", targetId="end", label="needle"),
    ]


@pytest.fixture
def path(tmp_path):
    """Give the session in a file."""
    return written(tmp_path / "s.jsonl", header(), *items())


def shown(found):
    """Reference, kind, place and line numbers of each hit."""
    return [(hit.reference, hit.kind, hit.place, [line.number for line in hit.lines]) for hit in found.hits]


def test_where_it_was_said_and_whether_it_is_still_there(path):
    """Hits come newest first, and each says whether the context still holds it."""
    found = search(load(path), "needle")
    assert shown(found) == [
        ("#7", "summary", "context", [1]),
        ("#5", "result", "branch", [1]),
        ("#4", "result", "cut", [2, 3]),
        ("#3", "assistant", "cut", [1]),
        ("#2", "user", "cut", [1]),
    ]
    assert (found.searched, found.stopped, found.after, found.skipped) == (1, None, None, ())


def test_a_hit_says_what_recall_needs(path):
    """A hit holds the file, the tool, the time and the lines as a recall counts them."""
    [hit] = search([path], "one n").hits
    assert hit == Hit(
        session=str(path), reference="#4", kind="result", tool="read", place="cut", at=1777629600000.0,
        lines=(HitLine(number=2, text="one needle"),), matches=1,
    )  # fmt: skip
    assert recall(load(path), hit.reference, lines=(2, 2)).text == hit.lines[0].text


def test_arguments_of_calls(path):
    """What a call was given is found, under the name of its tool."""
    [hit] = search(load(path), "secret.txt").hits
    assert (hit.kind, hit.tool, hit.reference, hit.lines) == (
        "call", "read", "#3", (HitLine(number=4, text="path: secret.txt"),),
    )  # fmt: skip


def test_only_what_was_lost(path):
    """What the context still holds can be left out."""
    assert {hit.place for hit in search(load(path), "needle", lost_only=True).hits} == {"cut", "branch"}


def test_texts_that_are_passed_over(path):
    """A caller may leave texts out by their kind or tool."""
    found = search(load(path), "needle", passed_over=lambda piece: piece.tool == "read")
    assert [hit.kind for hit in found.hits] == ["summary", "assistant", "user"]


def test_a_session_in_memory():
    """Without a file the reference is the id and the session has no name; a user's command is found without a line."""
    session = Session.memory([*items(), bash("cmd", "end", "x")])
    [hit] = search(session, "ls").hits[:1]
    assert (hit.session, hit.reference, hit.kind, hit.lines) == (
        "",
        "cmd",
        "command",
        (HitLine(number=None, text="ls"),),
    )


def test_case_counts_when_told(path):
    """Letters are alike unless the search says otherwise."""
    assert [hit.reference for hit in search(load(path), "Needle", ignore_case=False).hits] == ["#2"]


def test_a_regular_expression(path):
    """A pattern finds what no plain text does."""
    assert shown(search(load(path), r"^(one|two) needle", regex=True)) == [("#4", "result", "cut", [2, 3])]
    with pytest.raises(BadSearch, match="no regular expression"):
        search(load(path), "(", regex=True)


def test_many_matches_in_one_output():
    """The first three lines of an output are shown, and how many there are."""
    session = Session.memory([result("r", None, "\n".join(["x needle"] * 40))])
    [hit] = search(session, "needle").hits
    assert ([line.number for line in hit.lines], hit.matches) == ([1, 2, 3], 40)


@settings(deadline=None)
@given(
    before=st.text(alphabet="a😀\ud83d", max_size=900),
    after=st.text(alphabet="b😀", max_size=900),
    needle=st.sampled_from(["needle", "n" * 400, "needle\nneedle"]),
)
def test_an_excerpt_is_bounded_and_shows_the_match(before, after, needle):
    """However long a line is, what is shown of it is short and holds the beginning of the match."""
    session = Session.memory([result("r", None, f"first\n{before}{needle}{after}\nlast")])
    [hit] = search(session, needle).hits
    [line] = hit.lines
    assert utf16_length(line.text) <= EXCERPT + 6
    assert needle[:6] in line.text
    assert line.number == 2


# --- several sessions and what bounds them ------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    """Give three sessions, each with two outputs to find."""
    names = ["one", "two", "three"]
    outputs = [result("x", None, "needle 1"), result("y", "x", "hay"), result("z", "y", "needle 2")]
    return [written(tmp_path / name, header(), *outputs) for name in names]


def pages(where, **options):
    """Every hit of a search that goes on until nothing is left, a page at a time."""
    after, every = None, []
    for _ in range(50):
        found = search(where, "needle", after=after, **options)
        every.append([(hit.session.rsplit("/")[-1], hit.reference) for hit in found.hits])
        after = found.after
        if after is None:
            return every
    raise AssertionError("no end")


@pytest.mark.parametrize("limit", [1, 2, 4, 5, 6, 7])
def test_a_cursor_leads_through_everything(folder, limit):
    """Going on where a search stopped gives every hit once, in order."""
    every = pages(folder, limits=Limits(hits=limit))
    whole = [(name, ref) for name in ("one", "two", "three") for ref in ("#4", "#2")]
    assert [hit for page in every for hit in page] == whole
    assert all(len(page) <= limit for page in every)


def test_a_cursor_within_one_entry():
    """An answer with several texts that match is not shown twice."""
    parts = [{"type": "text", "text": "needle"}, {"type": "thinking", "thinking": "needle"}, CALL]
    session = Session.memory([said("a", None, parts, "assistant"), said("b", "a", "needle")])
    found = search(session, "needle", limits=Limits(hits=2))
    assert [hit.kind for hit in found.hits] == ["user", "assistant"]
    assert [hit.kind for hit in search(session, "needle", after=found.after).hits] == ["thinking"]


def test_what_is_written_meanwhile_does_not_disturb(folder):
    """A cursor still names the same rest when the session has grown."""
    found = search(folder, "needle", limits=Limits(hits=1))
    with folder[0].open("ab") as stream:
        stream.write(
            b'{"type":"message","id":"new","parentId":"z","message":{"role":"user","content":"needle"}}\n{"torn'
        )
    assert search(folder, "needle", after=found.after).hits[0].reference == "#2"
    assert search(folder, "needle").hits[0].reference == "#5"


@pytest.mark.parametrize("cursor", ["", "x", "1.1@nowhere", "-1.0@one", "9" * 20 + ".0@one", "1.1"])
def test_cursors_that_are_none(folder, cursor):
    """A cursor of another search is refused."""
    with pytest.raises(BadSearch, match="cursor") as caught:
        search(folder, "needle", after=cursor)
    assert caught.value.kind == "bad-cursor"


def test_time_is_bounded(folder):
    """A search out of time stops between two sessions, says so, and can go on."""
    ticks = iter(range(0, 1000, 10))
    found = search(folder, "needle", limits=Limits(seconds=25), clock=lambda: next(ticks))
    assert (len(found.hits), found.searched, found.stopped) == (4, 2, "time")
    rest = search(folder, "needle", after=found.after)
    assert [hit.session for hit in rest.hits] == [str(folder[2])] * 2


def test_a_slow_pattern_after_good_sessions(folder, monkeypatch):
    """A pattern that only a later session makes slow stops there, and is refused when that session is first."""
    plain = Query.matches

    def matches(query, texts, *, seconds):
        if "hay" in texts:
            raise BadSearch("search: the pattern takes too long", kind="too-slow")
        return plain(query, texts, seconds=seconds)

    quick = written(folder[0].with_name("quick"), header(), result("x", None, "needle"))
    monkeypatch.setattr(Query, "matches", matches)
    found = search([quick, folder[0]], "needle")
    assert (len(found.hits), found.searched, found.stopped) == (1, 1, "time")
    with pytest.raises(BadSearch, match="too long"):
        search([quick, folder[0]], "needle", after=found.after)


def test_what_cannot_be_read_is_said(tmp_path, folder):
    """Broken, missing and giant files are skipped with a sentence each; the rest is searched."""
    bad, big = tmp_path / "bad", tmp_path / "big"
    bad.write_bytes(b"\0\1\2")
    big.write_bytes(folder[0].read_bytes() + b"\n" * 5000)
    where = [bad, tmp_path / "gone", tmp_path / "nul\0", big, folder[1]]
    found = search(where, "needle", limits=Limits(file_bytes=4000))
    assert ([hit.session for hit in found.hits], found.searched) == ([str(folder[1])] * 2, 1)
    assert len(found.skipped) == 4
    assert all(reason.startswith(str(each)) for reason, each in zip(found.skipped, where, strict=False))
    assert "not searched" in found.skipped[3]


@pytest.mark.parametrize("text", ["", "x" * 1001])
def test_nothing_is_read_for_a_search_that_is_none(text):
    """A search for nothing, or for too much, is refused at once."""
    with pytest.raises(BadSearch):
        search([], text)


def test_no_session_at_all():
    """Without sessions nothing is found."""
    found = search([], "x")
    assert (found.hits, found.searched, found.stopped) == ((), 0, None)


FORMATS = Path(__file__).parents[1] / "data" / "formats"


@pytest.mark.parametrize(
    "path", sorted(path for path in FORMATS.rglob("*") if path.is_file()), ids=lambda path: path.name
)
def test_every_hit_can_be_recalled(path):
    """Whatever format a recording is in, the reference and the line of a hit give the line that was found."""
    try:
        session = load(path)
    except SessionRefused:
        pytest.skip("no session of its own")
    hits = search(session, r"\w", regex=True, limits=Limits(hits=10_000)).hits
    assert hits
    for hit in hits:
        for line in hit.lines:
            if line.number is not None:
                found = recall(session, f"{hit.reference}:full", lines=(line.number, line.number)).text
                assert line.text.strip(".")[:40] in found
