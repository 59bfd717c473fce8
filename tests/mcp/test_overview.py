import pytest
from tests.session.build import answered, cut, entry, header, result, said, written

from leafscar.errors import BadReference
from leafscar.mcp.overview import around, overview, when
from leafscar.mcp.scope import Transcript
from leafscar.session import Session, load


def transcript(name="s", path=None):
    """Give a transcript of that name."""
    return Transcript(name=name, path=path, modified=1_000_000)


@pytest.fixture
def session(tmp_path):
    """A session with a cut, an output that it took, and one on another branch."""
    items = [
        said("a", None, "begin"), result("r", "a", "big\n" * 500, tool="bash"), result("x", "a", "elsewhere"),
        said("k", "r", "kept"), cut("c", "k", "k", "what was done"), answered("z", "c"), entry("l", "z", targetId="z"),
    ]  # fmt: skip
    return load(written(tmp_path / "s.jsonl", header(), *items))


def test_what_the_context_holds_and_what_it_lost(session):
    """Numbers of entries, cuts with their references, the outputs that were cut away, and other sessions."""
    text = overview(transcript(), session, [transcript(f"o{number}") for number in range(12)])
    assert text.startswith(
        "session s (pi), last written 1970-01-12 13:46\nentries with words: 6\n  in the context: 3\n"
    )
    assert "  cut away: 2\n  on other branches: 1\nnewest answer: 10 tokens of context reported\n" in text
    assert (
        "cuts: 1 (newest first; recall their references for the summaries)\n  #6 2026-05-01 10:00, 9 tokens before it\n"
        in text
    )
    assert "largest of 1 outputs that were cut away:\n  #3 bash, 2,000 characters: big big" in text
    assert text.endswith("other session: o9, last written 1970-01-12 13:46\nand 2 older sessions")


def test_a_session_without_a_cut():
    """Nothing cut, no usage, no other session: all of it is said or left out."""
    text = overview(
        transcript(), Session.memory([said("a", None, "x"), {**cut("c", "a", "a"), "tokensBefore": None}]), []
    )
    assert "newest answer: no usage reported\ncuts: 1" in text
    assert "tokens before" not in text
    assert "cuts: 0" in overview(transcript(), Session.memory([said("a", None, "x")]), [])


def test_around_an_entry(session):
    """The entries before and after come in file order, the one asked for is marked, long ones are cut."""
    text = around(session, "#3", 1, 1)
    assert [line.partition(",")[0] for line in text.split("\n") if line.startswith("--- ")] == [
        "--- #2 user", "--- #3 result bash", "--- #4 result read",
    ]  # fmt: skip
    assert "#3 result bash, 2026-05-01 10:00 (asked for)\nbig\n" in text
    many = [result(f"r{number}", None, "x" * 20_000) for number in range(30)]
    text = around(Session.memory(many), "r15", 10, 10)
    assert len(text) < 14_000
    assert text.count(" more characters: recall r") == 21


def test_around_an_entry_without_words(session):
    """An entry without words is named by its type; one that is not there is refused."""
    assert "--- #8 label, 2026-05-01 10:00 (asked for)\n" in around(session, "#8", 0, 0)
    with pytest.raises(BadReference):
        around(session, "#99", 1, 1)


@pytest.mark.parametrize(
    ("at", "shown"),
    [
        (0, "at an unknown time"),
        (None, "at an unknown time"),
        (1e300, "at an unknown time"),
        (1e12, "2001-09-09 01:46"),
    ],
)
def test_times(at, shown):
    """A time is shown to the minute; one that no calendar holds is unknown."""
    assert when(at) == shown
