from __future__ import annotations

import pytest
from tests.report.samples import a_held, a_money, a_share, an_output

from leafscar.replay.details import Needed
from leafscar.report.spending import by_kind, by_tool, fate_of, held_words, joined, needed_cell, price, spent_words


def test_shares_are_summed_by_class_and_by_tool():
    """Outputs of all tools are one class; outputs and calls of one tool are one tool."""
    money = a_money(shares=[
        a_share(), a_share(tool="bash", share=0.1, cost=0.2), a_share("arguments", "bash", share=0.2, cost=0.4),
        a_share("user", None, share=0.2, cost=0.4),
    ])  # fmt: skip
    kinds = {part.name: (part.share, part.cost) for part in by_kind(money)}
    assert kinds["outputs of tools"] == (0.6, 1.2)
    assert [part.name for part in by_tool(money)] == ["read", "bash"]
    bash = by_tool(money)[1]
    assert (bash.share, bash.tokens, bash.messages) == (pytest.approx(0.3), 80_000, 24)
    assert bash.times == 22.5


def test_unknown_parts_make_unknown_sums():
    """A class without a price has none, and one without a size was sent no number of times."""
    part = joined("x", [a_share(cost=None, share=None, tokens=0.0), a_share()])
    assert (part.cost, part.share) == (None, None)
    assert joined("x", [a_share(tokens=0.0)]).times is None


def test_a_line_of_classes_leaves_crumbs_out():
    """What is less than half a percent is in the table alone; without tools there is no second half."""
    money = a_money(shares=[a_share("user", None, share=0.996), a_share("images", None, share=0.004)])
    assert spent_words(money) == "the user's words 100\u00a0%"


@pytest.mark.parametrize(
    ("shed_at", "last_used", "fate"),
    [(None, 50, "stays"), (40, None, "not needed"), (40, 39, "not needed"), (40, 40, "needed later")],
)
def test_an_output_is_needed_when_it_is_used_after_it_went(shed_at, last_used, fate):
    """Uses before it went do not count."""
    assert fate_of(an_output(shed_at=shed_at, last_used=last_used)) == fate


def test_needed_is_never_a_blank():
    """A count of outputs, a dash where none went, a word where it is unknown."""
    some = Needed(outputs=1_200, needed=3, tokens=1.0, needed_tokens=1.0)
    none = Needed(outputs=0, needed=0, tokens=0.0, needed_tokens=0.0)
    assert [needed_cell(one) for one in (some, none, None)] == ["3 of 1,200", "\u2013", "unknown"]


def test_dollars_where_they_are_known():
    """Units take their place otherwise."""
    assert price(1.5, 9e5, priced=True) == "$1.50"
    assert price(None, 9e5, priced=False) == "900k"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "not bound, so moves leave it valid"),
        ({"binds": True}, "leafscar.boundThinking is off: nothing is shed"),
        ({"binds": True, "way": "strip"}, "leafscar.boundThinking is strip: moves take later thinking out"),
        ({"binds": True, "way": "drop_block"}, "leafscar.boundThinking is drop_block: the provider drops it"),
    ],
)
def test_protection_is_told_in_lines(changes, words):
    """Pins, lists, stale reads and thinking each with count and tokens; what is not there has no line."""
    lines = held_words(a_held(**changes))
    assert [line.split(" (~")[0] for line in lines] == ["1 pin", "2 outputs", "59 superseded reads", "7 thinking parts"]
    assert lines[-1].endswith(words)
    assert held_words(a_held(pins=(0, 0), never=(0, 0), superseded=(0, 0), thinking=(0, 0))) == []
