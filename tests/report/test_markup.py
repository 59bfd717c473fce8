"""Pieces of markup."""

from __future__ import annotations

from leafscar.report import markup

HOSTILE = "</svg><script>alert('x')</script>&\"\x00"


def test_foreign_text_cannot_become_markup():
    """Signs that mean something to a browser are escaped, control characters replaced."""
    escaped = "&lt;/svg&gt;&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;&amp;&quot;\ufffd"
    assert markup.safe(HOSTILE) == escaped
    assert markup.code(HOSTILE) == f"<code>{escaped}</code>"
    assert markup.paragraph(HOSTILE) == f'<p class="small">{escaped}</p>'


def test_numbers_are_set_with_a_true_minus():
    """The mark of inference stands apart from the sign."""
    assert markup.typeset("~-$1") == '<span class="about">~</span>\u2212$1'
