from __future__ import annotations

from msgspec.structs import replace
from tests.replay.sessions import Story, text_of
from tests.replay.test_simulate import setup_of

from leafscar.engine import DEFAULT_POLICY, CutSettings, Facts, ShedSettings
from leafscar.pruning import Never
from leafscar.replay.held import held_of


def story():
    """Two reads of one file, an edit of it, a small result, a user execution, and some thinking."""
    told = Story().user("always run the tests")
    told.call(text_of(1_000), path="a.py").call(text_of(1_000), path="a.py").call("ok", name="edit", path="a.py")
    told.call(text_of(900), name="bash")
    told.message("bashExecution", command="ls", output=text_of(800), exitCode=0)
    told.reply()
    told.entries[-1]["message"]["content"].append({"type": "thinking", "thinking": "x" * 400})
    return told


def test_nothing_is_held_without_settings():
    """Stale reads and thinking are the session's own; pins and lists are the user's."""
    held = held_of(setup_of(story()), DEFAULT_POLICY)
    assert (held.pins, held.never) == ((0, 0), (0, 0))
    assert held.superseded[0] == 2
    assert held.superseded[1] > 1_500
    assert (held.thinking[0], held.binds, held.way) == (1, False, "off")
    assert held.thinking[1] > 0


def test_pins_lists_and_bound_thinking_are_counted():
    """Pins of settings and labels, outputs that only a list keeps raw, and how thinking is bound."""
    told = story()
    told.add("label", targetId=told.entries[0]["id"], label="pin")
    setup = setup_of(
        told,
        cut=CutSettings(pins=("never push",)),
        shed=ShedSettings(never=Never(tools=("bash",), paths=("*.md",)), min_result_tokens=850),
        facts=Facts(window=60_000, bound_thinking=True, thinking_way="strip"),
    )
    held = held_of(setup, DEFAULT_POLICY)
    assert held.pins[0] == 2
    assert held.never[0] == 1, "the execution is below the stated size"
    assert (held.binds, held.way) == (True, "strip")
    by_path = replace(setup, shed=ShedSettings(never=Never(paths=("a.py",))))
    assert held_of(by_path, DEFAULT_POLICY).never[0] == 2


def test_cuts_do_not_hide_what_stood_before_them():
    """The whole session counts, as if nothing had ever been cut."""
    told = story()
    told.cut(told.entries[-2]["id"])
    assert held_of(setup_of(told.user().reply()), DEFAULT_POLICY).superseded[0] == 2
