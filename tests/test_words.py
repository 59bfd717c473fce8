"""Numbers in sentences."""

from leafscar._words import counted


def test_counts_agree_in_number():
    """One is one, nothing and many take the plural."""
    assert [counted(number, "cut") for number in (0, 1, 2_000)] == ["0 cuts", "1 cut", "2,000 cuts"]


def test_of_several_words_the_last_takes_the_plural():
    """What is counted may have a word before it."""
    assert counted(2, "skipped file") == "2 skipped files"
