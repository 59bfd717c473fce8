import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.session.build import answered, chain, cut, dumped, entry, header, ids, said, written
from tests.session.strategies import files

from leafscar.session import lines as lines_module
from leafscar.session import load
from leafscar.session import session as session_module
from leafscar.session import tail as module
from leafscar.session.tail import lines_backwards


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """One file for many examples."""
    return tmp_path_factory.mktemp("tail") / "s.jsonl"


@settings(deadline=None)
@given(data=st.lists(st.sampled_from([b"\n", b"a", b"bcd"])).map(b"".join), chunk=st.integers(1, 9))
def test_lines_backwards_are_the_lines(place, data, chunk):
    """From the end, every line comes with its offset, wherever the reads happen to end."""
    place.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch, place.open("rb") as stream:
        patch.setattr(module, "_CHUNK", chunk)
        found = list(lines_backwards(stream.fileno(), len(data)))[::-1]
    assert [raw for _, raw in found] == data.split(b"\n")
    assert all(data[offset : offset + len(raw)] == raw for offset, raw in found)
    assert all(data[offset - 1 : offset] == b"\n" for offset, _ in found[1:])


def view(session):
    """What a session shows at its leaf."""
    context = session.context()
    return {
        "leaf": session.leaf_id,
        "ids": ids(context.entries),
        "raw": [entry.raw for entry in context.entries],
        "messages": list(context),
        "level": context.thinking_level,
        "model": context.model,
        "references": [session.reference_for(entry) for entry in context.entries],
    }


def whole(path):
    """Give a session that has read its whole file before anything is asked of it."""
    session = load(path)
    assert session.entries is not None
    return session


@settings(max_examples=200, deadline=None)
@given(data=files(), chunk=st.sampled_from([1, 2, 7, 64, 1 << 18]))
def test_reading_from_the_end_equals_reading_it_all(place, data, chunk):
    """Context, leaf, settings and references are the same from the end as from the whole file."""
    place.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        for known in (module, lines_module):
            patch.setattr(known, "_CHUNK", chunk)
        assert view(load(place)) == view(whole(place))


def counting(monkeypatch):
    """Count the full reads of a session."""
    reads = []
    real = session_module._read_all
    monkeypatch.setattr(session_module, "_read_all", lambda *it: reads.append(1) or real(*it))
    return reads


def kept_session():
    """Three turns, the last two after a cut."""
    return chain(
        entry("m", None, "model_change", provider="p", modelId="old"),
        entry("t", None, "thinking_level_change", thinkingLevel="low"),
        said("a", None), answered("b", None), said("c", None), answered("d", None),
        cut("k", None, "c"), said("e", None), answered("f", None),
    )  # fmt: skip


def test_only_the_end_is_read(tmp_path, monkeypatch):
    """The context of a compacted session, its leaf and its references need no full read; earlier settings do."""
    reads = counting(monkeypatch)
    session = load(written(tmp_path / "s", header(), *kept_session()))
    context = session.context()
    assert ids(context.entries) == ["k", "c", "d", "e", "f"]
    assert [session.reference_for(entry) for entry in context.entries] == ["#8", "#6", "#7", "#9", "#10"]
    assert session.leaf_id == "f"
    assert context.model.model_id == "m"
    assert reads == []
    assert context.thinking_level == "low"
    assert reads == [1]


def test_settings_of_the_end_need_no_more(tmp_path, monkeypatch):
    """Level and model that stand in the end are taken from there; a model from before the cut is looked up."""
    reads = counting(monkeypatch)
    late = entry("z", "f", "thinking_level_change", thinkingLevel="high")
    assert load(written(tmp_path / "s", header(), *kept_session(), late)).context().thinking_level == "high"
    assert reads == []
    bare = [item for item in kept_session() if item["id"] not in ("d", "f")]
    context = load(written(tmp_path / "s", header(), *chain(*bare))).context()
    assert (context.model.provider, context.model.model_id) == ("p", "m")
    assert reads == [1]


def test_branches_in_between_are_passed_over(tmp_path, monkeypatch):
    """Lines of other branches, broken and blank ones do not stop the short cut."""
    reads = counting(monkeypatch)
    away = [said(f"x{n}", "e" if n == 0 else f"x{n - 1}", "e" * 200) for n in range(5)]
    odd = {"id": "y", "type": "label", "parentId": "x4"}
    path = written(tmp_path / "s", header(), *kept_session(), *away, odd, b"", b"nope", said("g", "f"))
    session = load(path)
    assert ids(session.context().entries) == ["k", "c", "d", "e", "f", "g"]
    assert session.reference_for(session.context().entries[-1]) == "#19"
    assert reads == []


@pytest.mark.parametrize(
    "last",
    [
        entry("z", "gone"),
        entry("z", "z"),
        {"type": "label", "id": "z"},
        {"type": "label", "parentId": "f"},
        {"type": "label", "id": "", "parentId": "f"},
        entry("z", "f", "leaf", targetId="e"),
        entry("z", "\ud800"),
        header(),
    ],
)
def test_what_the_end_cannot_prove_is_read_in_full(tmp_path, monkeypatch, last):
    """An unknown parent, a missing id, a moved leaf, a second header: the whole file tells."""
    reads = counting(monkeypatch)
    session = load(written(tmp_path / "s", header(), *kept_session(), last))
    assert session.context()
    assert reads == [1]


@pytest.mark.parametrize(
    ("first", "kept"),
    [
        ("c", ["k", "c", "d", "e"]),
        ("k", ["k", "e"]),
        ("gone", ["k", "e"]),
        (None, ["k", "e"]),
        ("", ["k", "e"]),
        (["c"], ["k", "e"]),
        ("x", ["k", "e"]),
        ("e", ["k", "e"]),
    ],
)
def test_first_kept_entries(tmp_path, first, kept):
    """A cut keeps from its first kept entry on; one that is itself, later, elsewhere or nothing keeps nothing."""
    away = said("x", "b")
    items = [*kept_session()[2:6], away, cut("k", "d", first), said("e", "k")]
    items[0] = {**items[0], "parentId": None}
    path = written(tmp_path / "s", header(), *items)
    assert ids(load(path).context().entries) == kept
    assert view(load(path)) == view(whole(path))


def test_an_older_cut_in_the_kept_range_says_nothing(tmp_path):
    """Only the newest cut says what is kept, however many stand behind its first kept entry."""
    items = chain(said("a", None), said("b", None), cut("old", None, "old"), said("c", None), cut("new", None, "b"))
    path = written(tmp_path / "s", header(), *items)
    assert ids(load(path).context().entries) == ["new", "b", "c"]
    assert view(load(path)) == view(whole(path))


@pytest.mark.parametrize("first", [None, "", "k", "c"])
def test_nothing_before_the_kept_entries_is_looked_at(tmp_path, monkeypatch, first):
    """A cut that keeps nothing ends the reading itself, any other at its first kept entry."""
    reads = counting(monkeypatch)
    items = [said("a", "gone"), said("b", "a"), said("c", "b"), cut("k", "c", first), said("d", "k")]
    assert load(written(tmp_path / "s", header(), *items)).context()[-1].content == "hello"
    assert reads == []


def test_an_id_that_comes_twice_is_kept_from_its_nearest(tmp_path):
    """The first kept entry is the nearest one of that id before the cut."""
    items = [said("a", None), said("b", "a"), said("a", "b"), said("c", "a"), cut("k", "c", "a")]
    path = written(tmp_path / "s", header(), *items)
    assert ids(load(path).context().entries) == ["k", "a", "c"]
    assert view(load(path)) == view(whole(path))
    path = written(tmp_path / "s", header(), said("k", None), said("b", "k"), cut("k", "b", "k"))
    assert ids(load(path).context().entries) == ["k"]
    assert view(load(path)) == view(whole(path))


def test_a_name_given_to_an_entry_without_id(tmp_path):
    """A parent that is called as an entry without id is called here means the nearest of the two."""
    nameless = {"type": "message", "parentId": "line2", "message": {"role": "user", "content": "x"}}
    path = written(tmp_path / "s", header(), said("line3", None), nameless, said("c", "line3"))
    assert view(load(path)) == view(whole(path))
    assert ids(load(path).branch()) == ["line3", "line3", "c"]


@pytest.mark.parametrize("place_of_it", ["last", "before"])
def test_a_giant_line_at_the_end(tmp_path, monkeypatch, place_of_it):
    """A giant line near the end is refused by its number, as everywhere."""
    for known in (module, lines_module):
        monkeypatch.setattr(known, "MAX_LINE_BYTES", 500)
        monkeypatch.setattr(known, "_CHUNK", 64)
    after = [said("b", "a")] if place_of_it == "before" else []
    giant = said("a", None, "x" * (600 if place_of_it == "last" else 5000))
    session = load(written(tmp_path / "s", header(), giant, *after))
    with pytest.raises(Exception, match="line 2: a line over 128 MiB"):
        session.context()


def test_a_file_that_has_become_shorter(tmp_path):
    """A file that lost its end since it was opened is read as far as it goes."""
    path = written(tmp_path / "s", header(), *kept_session())
    session = load(path)
    os.truncate(path, len(dumped(header(), *kept_session()[:4])))
    assert ids(session.context().entries) == ["a", "b"]
