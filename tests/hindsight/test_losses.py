"""What cuts took, and what of it came back."""

from hypothesis import given
from hypothesis import strategies as st
from tests.hindsight.recorded import LINES, Path

from leafscar.hindsight import losses
from leafscar.model import as_entry

RULE = "Never touch the migrations folder"


def only(lost, kind):
    """The one thing of a kind."""
    (found,) = [each for each in lost if each.kind == kind]
    return found


def needs(lost):
    """Needs as tuples."""
    return [(need.kind, need.position, need.entry_id) for need in lost.needed]


def test_a_path_without_a_cut_lost_nothing(path):
    """There is no cut to speak of."""
    path.user(RULE)
    path.read()
    assert losses(path.entries) == ()


def test_the_numbers_of_a_cut(path):
    """Where it stands, what it moved, what the recording states of it."""
    path.user("go on with the parser")
    path.read()
    path.cut("the parser", keep=2, tokensBefore=5_000.4)
    (cut,) = losses(path.entries, reference_for=lambda entry: f"#{entry.id}")
    assert (cut.position, cut.entry_id, cut.reference) == (3, "k3", "#k3")
    assert (cut.gone, cut.kept, cut.tokens_before, cut.summary_tokens) == (2, 1, 5_000, 2)
    assert cut.unknown == ()


def test_sizes_that_are_not_stated_are_unknown(path):
    """Neither an absent size nor an impossible one is a number."""
    for number in (None, -1, float("inf"), float("nan"), "9"):
        path.cut(tokensBefore=number)
    assert [cut.tokens_before for cut in losses(path.entries)] == [None] * 5


def test_a_rule_that_the_summary_names(path):
    """By most of its words, with the reference of its message."""
    path.user(f"Fix the parser. {RULE}.")
    path.cut("The user wants migrations left: never touch that folder.")
    rule = only(path.lost(), "rule")
    assert (rule.text, rule.kept, rule.entry_id, rule.did, rule.paged) == (f"{RULE}.", "named", "e0", "said", True)
    assert rule.needed == ()


def test_a_rule_that_is_lost_and_said_again(path):
    """The user's next message with these words is its need."""
    path.user(RULE)
    path.cut()
    path.user("go on")
    again = path.user("As I said, never touch migrations or the folder!")
    rule = only(path.lost(), "rule")
    assert rule.kept == "missing"
    assert needs(rule) == [("said-again", again, "e3")]
    assert rule.needed[0].tokens is None


def test_a_rule_that_stands_in_what_was_kept(path):
    """It is still there."""
    path.user(RULE)
    kept = path.user(RULE)
    path.cut(keep=kept)
    assert only(path.lost(), "rule").kept == "raw"


def test_a_pinned_message_is_one_thing(path):
    """Its sentences are not listed again; a label that was taken back is none."""
    path.user(f"{RULE}. Always answer in English.")
    path.user("Always run the tests first")
    for target, label in (("e0", "pin"), ("e1", "pin"), ("e1", ""), (7, "pin")):
        path.entries.append({"type": "label", "id": f"l{len(path.entries)}", "targetId": target, "label": label})
    path.cut()
    found = [(each.kind, each.text, each.did) for each in path.lost() if each.kind in ("pin", "rule")]
    assert found == [
        ("pin", f"{RULE}. Always answer in English.", "pinned"),
        ("rule", "Always run the tests first", "said"),
    ]


def test_a_file_that_is_read_again(path):
    """With the reference of its newest output, its size, and what came back."""
    path.read("src/a.py")
    path.edit(path="src/a.py")
    path.read("src/a.py")
    path.cut("worked on a.py")
    again = path.read("src/a.py", offset=10, limit=40)
    path.read("src/a.py", offset=10, limit=40)
    file = only(path.lost(), "file")
    assert (file.text, file.did, file.entry_id, file.kept) == ("src/a.py", "read 2 times, edited", "r2", "named")
    assert file.tokens == 2 * file.needed[0].tokens
    assert needs(file) == [("re-read", again, "r3")]
    assert not file.paged


def test_a_file_that_is_edited_again_ends_there(path):
    """What is read after the first change is a new state."""
    path.read()
    path.cut()
    edit = path.edit()
    path.read()
    file = only(path.lost(), "file")
    assert needs(file) == [("edited", edit, "r1")]
    assert file.needed[0].tokens is None


def test_a_file_that_is_written_anew_was_not_needed(path):
    """Nor was one of which other lines are read."""
    path.read(offset=1, limit=20)
    path.read("b.py")
    path.cut()
    path.read(offset=50, limit=20)
    path.call(("write", {"path": "b.py", "content": "x"}), text="done")
    path.read("b.py")
    assert [each.needed for each in path.lost()] == [(), ()]


def test_a_file_that_was_only_written_is_found_in_its_call(path):
    """No output showed it, so its size is unknown; whatever is read of it later is needed."""
    write = path.call(("write", {"path": "a.py", "content": "x"}), text="done")
    path.cut()
    again = path.read()
    file = only(path.lost(), "file")
    assert (file.did, file.tokens, file.paged, file.entry_id) == ("written", None, True, f"e{write}")
    assert needs(file) == [("re-read", again, "r1")]


def test_a_file_that_was_only_edited_is_found_in_its_call(path):
    """Whatever is read of it later is needed, and once only."""
    edit = path.edit()
    path.cut()
    again = path.read()
    path.read()
    file = only(path.lost(), "file")
    assert (file.did, file.tokens, file.paged, file.entry_id) == ("edited", None, True, f"e{edit}")
    assert needs(file) == [("re-read", again, "r1")]


def test_a_file_that_a_kept_output_shows_is_still_there(path):
    """Only what the kept one does not show is needed again."""
    path.read()
    kept = path.read(offset=1, limit=50)
    path.cut(keep=kept)
    path.read(offset=5, limit=20)
    again = path.read(offset=60, limit=20)
    file = only(path.lost(), "file")
    assert file.kept == "raw"
    assert needs(file) == [("re-read", again, "r3")]


def test_a_call_that_was_made_before_the_cut_did_not_need_it(path):
    """Even when its answer stands behind it."""
    path.read()
    path.read()
    answer = path.entries.pop()
    path.cut()
    path.entries.append(answer)
    assert only(path.lost(), "file").needed == ()


def test_an_output_that_is_asked_for_again(path):
    """A command, with what it printed and what the summary says of it."""
    path.run("npm run check")
    path.run("git log --oneline", text="abc one\n")
    path.cut("Ran npm run check.")
    path.run("ls", text="a.py")
    again = path.run("npm run check")
    check, log = path.lost()
    assert (check.did, check.text, check.kept, needs(check)) == (
        "bash",
        "npm run check",
        "named",
        [("re-run", again, "r3")],
    )
    assert check.needed[0].tokens == check.tokens
    assert (log.text, log.kept, log.needed) == ("git log --oneline", "missing", ())


def test_what_is_recalled_was_needed(path):
    """An output and a file, by the references of their outputs, once a call."""
    path.run("make", text="x" * 400)
    path.read()
    path.read()
    path.cut()
    for ref in ("r0", "r2", "r1:full", "none"):
        path.call(("recall", {"ref": ref}), text="back")
    file, output = path.lost()
    assert needs(output) == [("recalled", 7, "r3")]
    assert [kind for kind, _, _ in needs(file)] == ["recalled", "recalled"]
    assert file.needed[0].tokens == 1


def test_every_kind_of_output_has_a_name(path):
    """Commands of the user, tools without a command, and answers without a call."""
    path.put({"role": "bashExecution", "command": "git  log", "output": "abc", "timestamp": 1})
    path.call(("grep", {"pattern": "é"}), text="x" * 40)
    path.put({"role": "toolResult", "toolCallId": "none", "toolName": "", "content": "x" * 80})
    path.put({"role": "toolResult", "toolCallId": "none", "toolName": "odd", "content": "x" * 100})
    path.call(("recall", {"ref": "e0"}), text="abc")
    path.call(("edit", {"path": "a", "oldText": "x"}), text="failed", error=True)
    path.cut()
    found = [(each.did, each.text) for each in path.lost()]
    assert found == [
        ("odd", ""),
        ("unknown tool", ""),
        ("grep", '{"pattern": "é"}'),
        ("user's command", "git log"),
    ]


def test_outputs_that_the_host_threw_away_have_no_size(path):
    """What the file does not hold is not measured, and the cut says so."""
    path.run("make", text="[Old tool result content cleared]")
    path.read(text="[Old tool result content cleared]")
    path.read()
    path.cut()
    (cut,) = losses(path.entries)
    assert [each.tokens for each in cut.lost] == [None, None]
    assert cut.unknown == (
        "2 of the outputs that went out had been thrown away by the host; their text is not in the file.",
    )


def test_a_cut_without_its_summary_says_so(path):
    """An encrypted summary kept nobody knows what."""
    path.user(RULE)
    path.read()
    path.cut("")
    (cut,) = losses(path.entries)
    assert cut.summary_tokens is None
    assert {each.kept for each in cut.lost} == {"unknown"}
    assert cut.unknown == ("The recording does not hold the summary, so what it kept is unknown.",)


TODO = {"todos": [{"content": "write the parser tests", "status": "pending"}, {"content": "x", "status": "completed"}]}


def test_the_state_of_the_task(path):
    """The newest list of open tasks and the newest request, when they went out."""
    path.user("first request of all")
    path.call(("TodoWrite", {"todos": [{"content": "older", "status": "pending"}]}), text="ok")
    listed = path.call(("TodoWrite", TODO), text="ok")
    path.user("please finish the tokenizer before Friday")
    path.cut("Open: write the parser tests.")
    path.call(("TodoWrite", {"todos": []}), text="ok")
    todo, request = path.lost()
    assert (todo.kind, todo.text, todo.kept, todo.entry_id) == ("todo", "write the parser tests", "named", f"e{listed}")
    assert (request.kind, request.text, request.kept) == (
        "request",
        "please finish the tokenizer before Friday",
        "missing",
    )


def test_a_state_that_stayed_is_not_lost(path):
    """Nor is a list of closed tasks, or a request that was none."""
    path.user("an older request")
    path.call(("TodoWrite", {"todos": [{"content": "x", "status": "completed"}]}), text="ok")
    path.user(" ")
    kept = path.user("the newest request")
    path.call(("TodoWrite", TODO), text="ok")
    path.cut(keep=kept)
    path.user("another")
    kept = path.user("")
    path.cut(keep=kept)
    assert [each.kind for each in path.lost()] == []
    assert [each.kind for each in path.lost(1)] == ["todo", "request"]


def test_a_list_without_open_tasks_is_no_state(path):
    """Nothing of it is left to do."""
    path.call(("TodoWrite", {"todos": [{"content": "x", "status": "completed"}]}), text="ok")
    path.cut()
    assert path.lost() == ()


def test_long_texts_are_one_bounded_line(path):
    """A context line is no document."""
    path.user("word " * 500)
    path.cut()
    (request,) = path.lost()
    assert len(request.text) <= 201
    assert request.text.endswith("…")


def test_what_a_second_cut_took_is_its_own(path):
    """A need after both cuts belongs to the cut that took the thing."""
    path.read("a.py")
    path.cut()
    path.read("b.py")
    path.cut()
    path.read("a.py")
    assert [len(each.needed) for each in path.lost(0)] == [1]
    assert [(each.text, len(each.needed)) for each in path.lost(1)] == [("b.py", 0)]


STEPS = {
    "rule": lambda path, _: path.user(RULE),
    "read": lambda path, _: path.read(),
    "part": lambda path, number: path.read(offset=number, limit=20),
    "edit": lambda path, _: path.edit(),
    "write": lambda path, _: path.call(("write", {"path": "a.py", "content": LINES}), text="done"),
    "make": lambda path, _: path.run(),
    "cat": lambda path, _: path.run("cat a.py"),
    "todo": lambda path, _: path.call(("TodoWrite", TODO), text="ok"),
    "cut": lambda path, _: path.cut(),
    "keep": lambda path, number: path.cut(keep=number % len(path.entries) if path.entries else None),
}


@given(st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.integers(1, 90)), max_size=25))
def test_needs_lie_behind_their_cut_and_references_lead_to_entries(steps):
    """Whatever happened, everything that is listed stands on the path before the cut, and its needs behind it."""
    path = Path()
    for step, number in steps:
        STEPS[step](path, number)
    where = {as_entry(entry).id: at for at, entry in enumerate(path.entries)}
    for cut in losses(path.entries):
        for lost in cut.lost:
            assert where[lost.entry_id] < cut.position
            assert all(cut.position < need.position <= where[need.entry_id] for need in lost.needed)
