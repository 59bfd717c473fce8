"""What of earlier outputs was needed again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.hindsight.recorded import LINES, Path

from leafscar.hindsight import Use, later_uses
from leafscar.model import as_entry
from leafscar.pruning.tools import CODEX, OPENHANDS


def test_every_output_has_its_uses_and_most_have_none(path):
    """Each tool result and execution is a key; other entries are none."""
    path.put({"role": "user", "content": "go"})
    path.read()
    path.put({"role": "bashExecution", "command": "ls", "output": "a.py", "timestamp": 1})
    path.entries.append({"type": "compaction", "id": "k", "summary": "s", "firstKeptEntryId": "r0"})
    path.entries.append({"type": "custom", "id": "x"})
    assert later_uses(path.entries) == {"r0": (), "e3": ()}


def test_a_second_read_of_the_file_needed_the_first(path):
    """A read of the same file counts for the output that showed it."""
    path.read()
    again = path.read()
    assert later_uses(path.entries)["r0"] == (Use(position=again, kind="re-read"),)


def test_only_the_newest_output_is_the_one_that_was_needed(path):
    """Of three reads of a file each needed the one before it and none an older one."""
    first, second, third = path.read(), path.read(), path.read()
    assert first == 0
    assert path.uses() == {"r0": [(second, "re-read")], "r1": [(third, "re-read")]}


def test_a_partial_read_needs_only_what_shows_its_lines(path):
    """Lines that no output showed before were not needed again."""
    path.read(offset=1, limit=50)
    path.read(offset=51, limit=50)
    again = path.read(offset=60, limit=20)
    assert path.uses() == {"r1": [(again, "re-read")]}


def test_reading_on_with_a_seam_is_no_second_read(path):
    """A few lines that two neighbouring reads share do not make the first one needed."""
    path.read(offset=1, limit=50)
    path.read(offset=48, limit=50)
    assert path.uses() == {}


def test_a_read_without_a_limit_showed_as_many_lines_as_its_text_has(path):
    """A note of a tool at its end is not taken for lines of the file."""
    path.read(text=LINES + "\n[100 more lines. Use offset=101 to read on.]")
    path.read(offset=101)
    assert path.uses() == {}


def test_a_read_of_all_needs_every_output_that_still_shows_lines(path):
    """Two halves are both needed by a read of the whole."""
    path.read(offset=1, limit=50)
    path.read(offset=51, limit=50)
    again = path.read()
    assert path.uses() == {"r0": [(again, "re-read")], "r1": [(again, "re-read")]}


def test_what_surrounds_a_newer_partial_read_is_still_the_older_output(path):
    """A read in the middle replaces the middle only."""
    path.read()
    middle = path.read(offset=40, limit=20)
    head, tail = path.read(offset=1, limit=39), path.read(offset=60, limit=39)
    assert path.uses() == {"r0": [(middle, "re-read"), (head, "re-read"), (tail, "re-read")]}


def test_a_read_after_an_edit_is_for_the_new_state(path):
    """An edit needed the output; a read after it could not have been answered by it."""
    path.read()
    edit = path.edit()
    path.read()
    assert path.uses() == {"r0": [(edit, "edited")]}


def test_a_failed_edit_needed_the_file_and_changed_nothing(path):
    """After an edit that failed a read asks for the same again."""
    path.read()
    edit = path.edit(error=True)
    again = path.read()
    assert path.uses() == {"r0": [(edit, "edited"), (again, "re-read")]}


def test_an_edit_needs_the_output_that_shows_what_it_replaces(path):
    """With two outputs of a file the one that shows the replaced line was needed, however old."""
    path.read(text="".join(LINES.splitlines(keepends=True)[:50]), limit=50)
    path.read(text="".join(LINES.splitlines(keepends=True)[50:]), offset=51, limit=50)
    edit = path.edit(old="value number 7\n}")
    assert path.uses() == {"r0": [(edit, "edited")]}


def test_an_edit_of_text_that_no_output_shows_needed_none(path):
    """What the model had written itself was not taken from an output."""
    path.read()
    path.edit(old="something it wrote")
    assert path.uses() == {}


def test_an_edit_whose_old_text_is_unknown_needs_the_newest_output(path):
    """Where a call does not quote what it replaces, the newest output of the file stands for it."""
    path.read()
    edit = path.call(("edit", {"path": "a.py", "diff": "@@"}), text="done")
    assert path.uses() == {"r0": [(edit, "edited")]}


def test_several_replacements_in_one_edit_need_an_output_once(path):
    """One call is one use of an output."""
    path.read()
    edits = [{"oldText": "value number 7"}, {"oldText": "value number 8"}]
    edit = path.call(("edit", {"path": "a.py", "edits": edits}), text="done")
    assert path.uses() == {"r0": [(edit, "edited")]}


def test_a_whole_write_needs_nothing_and_ends_what_was_shown(path):
    """After a file was written anew, neither reads nor edits need what showed the old one."""
    path.read()
    path.call(("write", {"path": "a.py", "content": "value number 7"}), text="done")
    path.edit()
    path.edit(old="}")
    path.read()
    assert path.uses() == {}


def test_a_call_beside_the_read_did_not_need_it(path):
    """What was asked for in the same response was asked before the output was there."""
    path.call(("read", {"path": "a.py"}), ("read", {"path": "a.py"}), ("edit", {"path": "a.py", "oldText": "value 7"}))
    assert path.uses() == {}


def test_an_edit_beside_a_read_makes_that_read_old(path):
    """A read that was answered before the edit of the same response does not show the new state."""
    path.call(("read", {"path": "a.py"}), ("edit", {"path": "a.py", "oldText": "value 7"}))
    path.read()
    assert path.uses() == {}


def test_a_read_that_failed_showed_nothing(path):
    """Neither is it a use, nor can it be needed."""
    path.read(text="no such file", error=True)
    path.read(text="no such file", error=True)
    path.read()
    assert path.uses() == {}


def test_the_same_read_with_another_text_was_for_the_new_text(path):
    """A file that something else changed in between was read for what is new in it."""
    path.read("run.log")
    path.read("run.log", text=LINES + "more\n" * 20)
    assert path.uses() == {}


def test_a_read_that_points_back_needed_what_it_points_at(path):
    """Claude Code's answer that a file is unchanged is a use, and shows nothing itself."""
    path.read()
    first = path.read(text="File unchanged since last read. Refer to the earlier result.")
    second = path.read()
    assert path.uses() == {"r0": [(first, "re-read"), (second, "re-read")]}


def test_an_image_is_needed_by_its_next_read(path):
    """An output without text shows all of its file."""
    path.read("a.png", text=None)
    again = path.read("a.png", text=None)
    assert path.uses() == {"r0": [(again, "re-read")]}


def test_a_command_again_with_the_same_answer_needed_the_first(path):
    """Blanks do not make it another command."""
    path.run("make   all")
    path.run("ls", text="a.py")
    again = path.run("make all ")
    assert path.uses() == {"r0": [(again, "re-run")]}


def test_a_command_again_with_another_answer_was_run_for_that(path):
    """What the earlier output could not have told was not needed from it."""
    path.run()
    path.run("ls", text="a.py")
    path.run(text="ok, built again\n")
    assert path.uses() == {}


def test_a_command_again_after_a_change_was_run_for_its_new_result(path):
    """Tests that run after an edit are no second need, even when they say the same."""
    path.run("pytest", text="1 failed")
    path.edit()
    path.run("pytest", text="1 failed")
    assert path.uses() == {}


@pytest.mark.parametrize(
    ("command", "text"), [("make", "ok, built\n"), ("sleep 5; cat log", "x"), ("true && :", " \n")]
)
def test_asking_once_more_at_once_is_waiting(path, command, text):
    """A repetition with nothing in between, a command that sleeps, and one that says nothing need no output."""
    path.run(command, text=text)
    path.run(command, text=text)
    assert path.uses() == {}


@pytest.mark.parametrize("command", ["sleep 5; make", "true"])
def test_waiting_stays_waiting_with_something_between(path, command):
    """A command that sleeps or says nothing is not needed again later either."""
    for _ in range(2):
        path.run(command, text="" if command == "true" else "ok")
        path.read("b.py")
    assert path.uses() == {"r1": [(6, "re-read")]}


def test_another_folder_is_another_command(path):
    """The folder that a command goes to first belongs to it."""
    path.run("cd a && make")
    path.run("ls", text="x")
    path.run("cd b && make")
    assert path.uses() == {}


def test_any_call_with_the_same_arguments_is_a_repetition(path):
    """A search that is asked again needed its first answer; calls without arguments tell nothing."""
    for _ in range(2):
        path.call(("grep", {"pattern": "x", "path": "src"}), text="src/a.py:1: x")
        path.call(("status", {}), text="fine")
        path.call(("odd", {"number": float("nan")}), text="odd")
        path.call(("read", {"path": ""}), text="nothing to read")
    assert path.uses() == {"r0": [(8, "re-run")], "r3": [(14, "re-run")]}


def test_codex_times_do_not_make_another_answer(path):
    """What Codex puts before an output is no part of what it said."""
    head = "Chunk ID: {}\nWall time: {} seconds\nProcess exited with code 0\nOutput:\n"
    for number in range(2):
        path.call(("exec_command", {"cmd": "git log", "workdir": "/w"}), text=head.format(number, number) + "a1 start")
        path.call(("exec_command", {"cmd": "ls"}), text=head.format(number, number))
    assert path.uses(tools=CODEX) == {"r0": [(4, "re-run")]}


def test_a_command_that_only_shows_a_file_is_a_read(path):
    """``cat`` in a folder and a read of the full path meet."""
    path.run("cd /w && cat src/a.py", text=LINES)
    again = path.read("/w/src/./a.py", offset=5, limit=20)
    assert path.uses() == {"r0": [(again, "re-read")]}


def test_several_files_in_one_command_are_all_shown(path):
    """Each of them may be needed again, one use a call."""
    path.run("cat a.py b.py", text=LINES)
    first, both = path.read("b.py"), path.run("cat a.py b.py", text=LINES)
    assert path.uses() == {"r0": [(first, "re-read"), (both, "re-read")], "r1": [(both, "re-read")]}


def test_relative_paths_begin_in_the_working_folder(path):
    """With the folder of the session a relative and a full path are one file."""
    path.read("a.py")
    again = path.read("/w/a.py")
    assert path.uses() == {}
    assert path.uses(cwd="/w") == {"r0": [(again, "re-read")]}


def test_executions_by_the_user_are_outputs_and_uses(path):
    """A command that the user ran counts as one that the model ran."""
    path.put({"role": "bashExecution", "command": "git log", "output": "a1 start", "timestamp": 1})
    path.run("ls", text="x")
    again = path.run("git log", text="a1 start")
    user = path.put({"role": "bashExecution", "command": "ls", "output": "x", "timestamp": 2})
    assert path.uses() == {"e0": [(again, "re-run")], "r0": [(user, "re-run")]}


def test_a_recall_needed_what_it_names(path):
    """By id or by line, whole or in part; a reference to nothing is no use."""
    path.read()
    path.entries = [as_entry(entry) for entry in path.entries]
    path.entries[1].line = 3
    positions = [path.call(("recall", {"ref": ref}), text=LINES) for ref in ("r0", "#3:full")]
    for ref in ("#4", "gone", "", 7):
        path.call(("recall", {"ref": ref}), text="")
    assert path.uses() == {"r0": [(position, "recalled") for position in positions]}


def test_a_patch_changes_each_of_its_files(path):
    """Codex's patches quote what they replace, in its tool and in a shell."""
    path.call(("exec_command", {"cmd": "cat a.py", "workdir": "/w"}))
    path.call(("exec_command", {"cmd": "cat b.py", "workdir": "/w"}))
    patch = (
        "*** Begin Patch\n*** Update File: /w/a.py\n@@\n-value number 3\n+x\n*** Delete File: /w/b.py\n*** End Patch"
    )
    edit = path.call(("apply_patch", patch), text="done")
    again = path.call(("exec_command", {"cmd": f"apply_patch <<'EOF'\n{patch}\nEOF"}), text="done")
    path.call(("exec_command", {"cmd": "cat b.py", "workdir": "/w"}))
    assert path.uses(tools=CODEX) == {"r0": [(edit, "edited"), (again, "edited")]}


def test_the_editor_of_openhands_views_and_changes(path):
    """Its one tool reads and edits, by its command."""
    tool = "str_replace_editor"
    path.call((tool, {"command": "view", "path": "/w/a.py", "view_range": [1, 60]}))
    view = path.call((tool, {"command": "view", "path": "/w/a.py", "view_range": [20, -1]}))
    edit = path.call((tool, {"command": "str_replace", "path": "/w/a.py", "old_str": "value number 30"}), text="done")
    path.call((tool, {"command": "create", "path": "/w/a.py", "file_text": "x"}), text="done")
    path.call((tool, {"command": "view", "path": "/w/a.py"}))
    assert path.uses(tools=OPENHANDS) == {"r0": [(view, "re-read")], "r1": [(edit, "edited")]}


def test_odd_calls_are_gone_around(path):
    """Results without a call, calls without a result, arguments of any shape and ids that repeat harm nothing."""
    path.put({"role": "toolResult", "toolCallId": "none", "toolName": "read", "content": "x"})
    path.put({"role": "assistant", "content": [{"type": "toolCall", "id": "lost", "name": "read", "arguments": 7}]})
    path.call(
        ("edit", {"path": 3}), ("edit", "x"), ("bash", None), ("read", [1]), ("write", {"content": "x"}), text="y"
    )
    path.entries.append({"type": "message", "id": "r0", "message": {"role": "odd"}})
    assert path.uses() == {}


ANY_CALL = st.sampled_from(
    [
        ("read", {"path": "a"}),
        ("read", {"path": "a", "offset": 20, "limit": 30}),
        ("read", {"path": "b", "offset": 1, "limit": 15}),
        ("edit", {"path": "a", "oldText": "value number 25"}),
        ("write", {"path": "a", "content": "x"}),
        ("bash", {"command": "make"}),
        ("bash", {"command": "cat a"}),
        ("recall", {"ref": "r0"}),
    ]
)


@given(st.lists(st.lists(ANY_CALL, min_size=1, max_size=3), max_size=12), st.integers(0, 40))
def test_uses_are_later_and_what_comes_after_changes_none(calls, end):
    """Every use lies behind its output, in order, and a longer path only adds uses."""
    path = Path()
    for batch in calls:
        path.call(*batch)
    found = later_uses(path.entries)
    where = {entry["id"]: position for position, entry in enumerate(path.entries)}
    for id_, uses in found.items():
        positions = [use.position for use in uses]
        assert positions == sorted(positions)
        assert all(position > where[id_] for position in positions)
    shorter = later_uses(path.entries[:end])
    assert all(uses == found[id_][: len(uses)] for id_, uses in shorter.items())


def test_many_chunks_of_one_file_are_each_kept(path):
    """A file read in many parts is held by parts, and each part is needed only by its own lines."""
    for number in range(0, 2_000, 20):
        path.read(offset=number + 1, limit=20)
    again = path.read(offset=1_001, limit=20)
    assert path.uses() == {"r50": [(again, "re-read")]}
