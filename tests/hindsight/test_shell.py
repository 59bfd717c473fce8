"""Shell commands that only show files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafscar.hindsight.shell import shown_files


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("cat a.py", [("/w/a.py", 1, None)]),
        ("cat -n 'a b.py' 2>/dev/null", [("/w/a b.py", 1, None)]),
        ("cd src && cat a.py; cd .. ; nl -ba b.py", [("/w/src/a.py", 1, None), ("/w/b.py", 1, None)]),
        ("cd && pwd && cat a", [("/w/a", 1, None)]),
        ("sed -n '3,80p' /x/a.py", [("/x/a.py", 3, 80)]),
        ("sed -n 7p a", [("/w/a", 7, 7)]),
        ("sed -n '7,$p' a", [("/w/a", 7, None)]),
        ("nl -ba a | sed -n '3,80p'", [("/w/a", 3, 80)]),
        ("cat a | head -n 20", [("/w/a", 1, 20)]),
        ("head -30 a", [("/w/a", 1, 30)]),
        ("sed -n '9,3p' a", [("/w/a", 9, 9)]),
        ("head -n 0 a", [("/w/a", 1, 1)]),
        ("head a", [("/w/a", 1, 10)]),
        ("Get-Content C:\\Users\\x\\a.md", [("c:/Users/x/a.md", 1, None)]),
        ("echo one\ncat a", [("/w/a", 1, None)]),
    ],
)
def test_a_look_at_files(command, shown):
    """The files and the lines that a plain look shows."""
    assert list(shown_files(command, "/w")) == shown


@pytest.mark.parametrize(
    "command",
    [
        "",
        "ls",
        "pwd",
        "cat a > b",
        "cat a && rm a",
        "cat <<EOF\nx\nEOF",
        "cat *.py",
        "cat $FILE",
        "cat 'a",
        "cat a | grep x",
        "rg x | head -3",
        "tail -5 a",
        "sed -i s/a/b/ a",
        "head -c 20 a",
        "cat a | cat b",
        "cat a | head -3 b",
        "cat a | sed -n 3p | head -2",
        "(cat a)",
        "cat " + "a" * 5_000,
    ],
)
def test_anything_more_is_a_command(command):
    """What does more than to show whole files or their first lines is no read."""
    assert shown_files(command, "/w") == ()


@given(st.text(alphabet="cat head|sed-n 12,p;&'\"\\\n><ab$", max_size=40))
def test_any_text_is_read(command):
    """No command is too odd to be looked at."""
    for path, first, last in shown_files(command):
        assert path
        assert first >= 1
        assert last is None or last >= first
