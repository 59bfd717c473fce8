"""Instructions that a user gave once more."""

from leafscar.hindsight.restated import Restated
from leafscar.hindsight.rules import Rule, significant

GIVEN = Restated(
    [
        Rule(1, "never touch the migrations folder"),
        Rule(5, "always run slow tests"),
        Rule(7, "I said never touch migrations in that folder!"),
        Rule(9, "never touch the migrations folder"),
    ]
)


def test_the_first_one_behind_a_position_is_found():
    """By its words, whatever stands around them."""
    words = significant("never touch the migrations folder")
    assert GIVEN.after(words, 1) == Rule(7, "I said never touch migrations in that folder!")
    assert GIVEN.after(words, 7).position == 9


def test_nothing_is_found_where_nothing_was_said_again():
    """Neither behind the last one, nor for words of which too few return."""
    assert GIVEN.after(significant("never touch the migrations folder"), 9) is None
    assert GIVEN.after(significant("always run the fast linter first"), 1) is None
    assert GIVEN.after(frozenset(), 0) is None
