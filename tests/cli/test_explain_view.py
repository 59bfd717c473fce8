from __future__ import annotations

from msgspec.structs import replace
from tests.replay.sessions import Story, autonomous, interactive, text_of
from tests.replay.test_explain import explained
from tests.replay.test_run import by_name, replayed

from leafscar.cli.explain_view import explain_lines


def lines_of(told):
    """The lines by their name; those without one belong to the one above."""
    found = {}
    name = ""
    for line in list(explain_lines(told))[2:]:
        name = line[:11].strip() or name
        found.setdefault(name, []).append(line[11:])
    return found


def test_a_move_reads_from_decision_to_neighbours():
    """Estimate and its anchor, lines, cache, outputs, what was told and not done, and what went out."""
    story = interactive(12)
    move = [moment for moment in by_name(replayed(story))["balanced"].moments if moment.shed][1]
    told = explained(story, move.request)
    lines = lines_of(told)
    assert " counted at 0" in lines["estimate"][0]
    assert lines["lines"] == ["threshold 43,616, shed 43,616, goal 36,000"]
    assert lines["level 1"][0].startswith("engaged since the newest cut, moves have taken out ~")
    assert lines["sheddable"][0].startswith(f"{len(told.outputs)} outputs, ~")
    assert lines["sheddable"][1].split()[-2:] in (["tokens", "older"], ["current", "turn"])
    assert any("cache break (shape)" in line for line in lines["sent"])
    assert lines["moves"][0].startswith("before: request ")
    assert lines["cuts"] == ["before: none; after: none"]


def test_the_first_request_rests_on_sizes():
    """Without a reading, a pause or an output each is said in words."""
    lines = lines_of(explained(autonomous(3), 1))
    assert lines["estimate"][0].endswith("tokens, from sizes alone")
    assert lines["cache"] == ["warm, as far as is known: the time since the request before is unknown, it lives 300 s"]
    assert lines["sheddable"] == ["nothing"]
    assert lines["level 1"] == ["not engaged"]


def test_many_outputs_are_cut_short():
    """The largest outputs are shown; JSON has them all."""
    lines = lines_of(explained(Story().user().calls(30).user("and now " + text_of(100)).reply(), 31, window=200_000))
    assert len(lines["sheddable"]) == 1 + 12 + 1
    assert lines["sheddable"][-1].endswith("smaller ones (--json lists all)")


def test_what_is_unknown_is_said():
    """No window, no lines, no time, and a reading with nothing after it."""
    told = explained(interactive(3), 9)
    told = replace(told, window=0, lines={}, cold=True, idle=1_234.0, path="")
    told = replace(told, rests_on=replace(told.rests_on, messages_after=0))
    lines = lines_of(told)
    assert (lines["window"], lines["lines"]) == (["unknown"], ["none"])
    assert lines["cache"] == ["cold: 1,234 s idle, it lives 300 s"]
    assert lines["estimate"][0].endswith("nothing after it")
    assert lines["session"][0].startswith("in memory, answered at ")
