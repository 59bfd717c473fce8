"""Which entries went out with which cut."""

from hypothesis import given
from hypothesis import strategies as st
from tests.hindsight.recorded import Path

from leafscar.compaction import project_context
from leafscar.hindsight.spans import spans_of
from leafscar.model import as_entry


def spans(path):
    """Cuts of a path as tuples."""
    found = spans_of([as_entry(entry) for entry in path.entries])
    return [(span.position, list(span.gone), list(span.kept)) for span in found]


def test_a_path_without_a_cut_has_none(path):
    """Nothing went out where nothing was cut."""
    path.user("go")
    assert spans(path) == []


def test_a_cut_takes_what_stands_before_what_it_keeps(path):
    """Entries without a message are neither."""
    path.user("go")
    path.run()
    path.entries.append({"type": "model_change", "id": "m"})
    path.run()
    path.cut(keep=3)
    assert spans(path) == [(6, [0, 1, 2], [4, 5])]


def test_a_cut_that_keeps_itself_or_nothing_known_takes_all(path):
    """As the projection of such a context does."""
    path.user("go")
    path.cut()
    path.user("on")
    path.cut()
    path.entries[-1]["firstKeptEntryId"] = "nowhere"
    assert spans(path) == [(1, [0], []), (3, [2], [])]


def test_a_second_cut_takes_what_the_first_had_kept(path):
    """What went out before does not go out again."""
    path.user("one")
    path.user("two")
    path.cut(keep=1)
    path.user("three")
    path.cut(keep=3)
    assert spans(path) == [(2, [0], [1]), (4, [1], [3])]


def edit(path, target):
    """Take an entry out of the context."""
    number = len(path.entries)
    path.entries.append({"type": "context_edit", "id": f"x{number}", "targetId": target, "replacement": None})


def test_edits_right_before_a_cut_belong_to_it(path):
    """That is how a condensation forgets events behind the ones that it keeps."""
    path.user("go")
    path.run()
    path.run()
    edit(path, "r0")
    edit(path, "unknown")
    edit(path, "e3")
    path.cut(keep=0)
    assert spans(path) == [(8, [2, 3], [0, 1, 4])]


def test_other_edits_are_no_cut(path):
    """What an edit took out earlier had left the context without a cut."""
    path.user("go")
    path.run()
    edit(path, "r0")
    path.user("on")
    path.cut()
    assert spans(path) == [(5, [0, 1, 4], [])]


@given(st.lists(st.sampled_from(["user", "run", "cut", "keep"]), max_size=20), st.data())
def test_every_message_goes_out_once_and_what_is_kept_is_in_the_context(steps, data):
    """Cuts never take a message twice, and the newest keeps what the projection of the context holds."""
    path = Path()
    for step in steps:
        if step == "user":
            path.user("go")
        elif step == "run":
            path.run()
        elif step == "cut" or not path.entries:
            path.cut()
        else:
            path.cut(keep=data.draw(st.integers(0, len(path.entries) - 1)))
    entries = [as_entry(entry) for entry in path.entries]
    found = list(spans_of(entries))
    gone = [at for span in found for at in span.gone]
    assert len(gone) == len(set(gone))
    for span in found:
        held = {item.entry.id for item in project_context(entries[: span.position + 1]).items}
        assert {entries[at].id for at in span.kept} <= held
