"""What a summary names."""

import pytest

from leafscar.hindsight.rules import significant
from leafscar.hindsight.summary import Summary

TEXT = """## Done
- Edited `src/core/app.py:12` and **tests/test_app.py**, see C:\\work\\Notes.md.
- Ran npm run   check: it said
error TS2304: Cannot find name 'x'.
The migrations folder stays untouched, never touch it.
"""
SUMMARY = Summary(TEXT)


@pytest.mark.parametrize("path", ["/w/src/core/app.py", "/w/tests/test_app.py", "c:/work/notes.md"])
def test_files_by_their_last_part(path):
    """A path, a path with a line, one in marks, one with other slashes."""
    assert SUMMARY.kept_file(path) == "named"


@pytest.mark.parametrize("path", ["/w/pp.py", "/w/other.py", "/w/core"])
def test_files_that_are_not_named(path):
    """Part of a name, and a folder on the way, name no file."""
    assert SUMMARY.kept_file(path) == "missing"


def test_outputs_by_command_or_line():
    """The command as it was run, or a whole line of what it printed."""
    assert SUMMARY.kept_output("npm run check", "") == "named"
    assert SUMMARY.kept_output("make", "ok\n  error TS2304: Cannot find name 'x'.\n") == "named"
    assert SUMMARY.kept_output("make", "ok\n}\n") == "missing"
    assert SUMMARY.kept_output("it", "") == "missing"


def test_texts_by_most_of_their_words():
    """Too few words tell nothing."""
    assert SUMMARY.kept_words(significant("never touch the migrations folder")) == "named"
    assert SUMMARY.kept_words(significant("answer every question in French")) == "missing"
    assert SUMMARY.kept_words(significant("continue")) == "unknown"


def test_without_a_summary_nothing_is_known():
    """An encrypted or absent text is no text that leaves things out."""
    empty = Summary(" \n")
    assert empty.kept_file("a.py") == "unknown"
    assert empty.kept_output("npm run check", "x") == "unknown"
    assert empty.kept_words(significant("never touch the migrations folder")) == "unknown"
