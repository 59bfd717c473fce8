"""Which characters are never shown as they are."""

import sys
import unicodedata

import pytest

from leafscar._plain import escape, escaped, hidden


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("a\tb\n", "a\\u0009b\\u000a"),
        ("\x1b[2J\x07\r\x00\x7f\x9b", "\\u001b[2J\\u0007\\u000d\\u0000\\u007f\\u009b"),
        ("a\u202eb\u2066\u200f\u061c", "a\\u202eb\\u2066\\u200f\\u061c"),
        ("line\u2028para\u2029", "line\\u2028para\\u2029"),
        ("\ud83d half", "\\ud83d half"),
        ("\U000e0041\ufeff", "\\U000e0041\\ufeff"),
        ("\ufffe\uffff\ufdd0\U0001ffff", "\\ufffe\\uffff\\ufdd0\\U0001ffff"),
        ("日本語\u3000한국어 é 🎉 \u00a0 \ue0b0 👩\u200d🚀", "日本語\u3000한국어 é 🎉 \u00a0 \ue0b0 👩\u200d🚀"),
    ],
)
def test_what_steers_is_escaped_and_letters_stay(text, shown):
    """Controls, direction marks, other line breaks, half characters and what is no character at all."""
    assert escaped(text) == shown


def test_a_caller_may_keep_some():
    """Text of several lines keeps its line breaks."""
    assert escaped("a\n\tb\r", keep="\n\t") == "a\n\tb\\u000d"


def test_every_character_of_a_steering_category_is_hidden():
    """All of Unicode, but for the two joiners; an escape holds nothing that would be escaped again."""
    characters = list(map(chr, range(sys.maxunicode + 1)))
    steering = {each for each in characters if unicodedata.category(each) in ("Cc", "Cf", "Cs", "Zl", "Zp")}
    found = {each for each in characters if hidden(each)}
    assert steering - found == {"\u200c", "\u200d"}
    assert all(unicodedata.category(each) == "Cn" for each in found - steering)
    assert len(found - steering) == 66
    assert all(escape(each).isascii() and escape(each).isprintable() for each in found)
