import time

import pytest
from tests.pruning.build import lines, vectors

from leafscar.pruning import is_marker
from leafscar.pruning.templates import LineRange, Shell, bash_marker, plain_marker, read_marker


@pytest.mark.parametrize("case", vectors("markers"), ids=lambda case: f"{case['kind']}_{case['name']}")
def test_the_seeds_markers_are_recognised(case):
    """Every golden marker is one, and no longer when anything stands around it."""
    assert is_marker(case["marker"])
    assert not is_marker(case["marker"] + "\n")
    assert not is_marker("see: " + case["marker"])


def shell(**given):
    """Facts of a command."""
    facts = {"name": "bash", "command": "make", "status": "0"} | given
    return Shell(**facts)


@pytest.mark.parametrize(
    "marker",
    [
        plain_marker("mcp__files__search", 4321, "k9-zz_4"),
        read_marker("Read", 12, "#5:full", path="a b/ü, lines.py", lines=LineRange("1", "2")),
        bash_marker(shell(command='echo "x", exit 0, 3 lines, ~9 tokens.\ndone'), 900, "#5", output=lines(30, 400)),
        bash_marker(shell(command="", status="cancelled"), 900, "#5", output=""),
        bash_marker(shell(status="-1"), 900, "#5", output="\n" * 40, line_cap=60),
    ],
    ids=["other", "read", "command_with_a_header_in_it", "no_output", "blank_lines"],
)
def test_our_own_markers_are_recognised(marker):
    """Whatever the command, path or line cap was."""
    assert is_marker(marker)


GOOD = bash_marker(shell(), 900, "#5", output=lines(30, 20))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "[bash pruned: by hand]",
        "[x pruned: ~4 tokens. recall #5 for some output.]",
        "[x\ny pruned: ~4 tokens. recall #5 for full output.]",
        GOOD.replace("... 10 lines omitted ...", "... 11 lines omitted ..."),
        GOOD.replace("30 lines", "15 lines"),
        GOOD.replace("row 0003", "x" * 300),
        GOOD.replace("row 0003", "row\nrow"),
        "[bash pruned: exit 0, 3 lines, ~4 tokens.\n" + "x\n" * 90 + "recall #5 for full output.]",
    ],
)
def test_a_text_that_only_looks_like_a_marker_is_none(text):
    """A large output cannot pass as a marker."""
    assert not is_marker(text)


@pytest.mark.parametrize(
    "text",
    [
        "[r pruned: "
        + ", lines 1-2, ~5 tokens. Re-read with the r tool. " * 20_000
        + "recall x for this exact output.]",
        '[r pruned: "' + '", exit 0, 5 lines, ~1.2k tokens.\n' * 20_000 + "recall x for full output.]",
        "[" + "r pruned: ~5 tokens. " * 20_000 + " output.]",
    ],
    ids=["read", "bash", "name"],
)
def test_a_hostile_text_costs_no_time(text):
    """Hundreds of thousands of units of almost-markers are told apart at once."""
    before = time.process_time()
    assert not is_marker(text)
    assert time.process_time() - before < 2
