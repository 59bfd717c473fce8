from __future__ import annotations

import io

import pytest

from leafscar.cli.progress import Progress


class Terminal(io.StringIO):
    """A stream that says what it is."""

    def __init__(self, *, tty):
        super().__init__()
        self.tty = tty

    def isatty(self):
        """Whether a person looks at it."""
        return self.tty


@pytest.mark.parametrize(
    ("tty", "seconds", "shown"),
    [(True, 1.9, ""), (False, 9.0, ""), (True, 2.0, "\r\x1b[K1 of 2: a\\u001b[31m\r\x1b[K")],
)
def test_a_line_is_shown_on_a_terminal_after_two_seconds(tty, seconds, shown):
    """Sooner, and in a file, there is none; it fits the terminal, holds no control, and is taken away at the end."""
    stream, now = Terminal(tty=tty), [0.0]
    progress = Progress(stream, clock=lambda: now[0], width=20)
    now[0] = seconds
    progress.tell("1 of 2: a\x1b[31m.jsonl, balanced")
    progress.end()
    progress.end()
    assert stream.getvalue() == shown
