from __future__ import annotations

import pytest

from leafscar.cli.show import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("\x1b[2J\x07\r\x00\x9b", "\\u001b[2J\\u0007\\u000d\\u0000\\u009b"),
        ("a\u202eb\u2066\u200f", "a\\u202eb\\u2066\\u200f"),
        ("\ud83d half", "\\ud83d half"),
        ("line\u2028para\u2029", "line\\u2028para\\u2029"),
        ("\U000e0041", "\\U000e0041"),
        ("日本語\u3000한국어 é 🎉 \u00a0 \ue0b0", "日本語\u3000한국어 é 🎉 \u00a0 \ue0b0"),
    ],
)
def test_nothing_steers_the_terminal(text, shown):
    """Controls, direction marks, line breaks of other kinds and half characters are escaped, letters stay."""
    assert printable(text) == shown
