import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafscar.errors import BadSearch
from leafscar.session import matching
from leafscar.session.matching import MAX_PATTERN, Match, Query

TEXTS = ["one\ntwo", "TWO", "\ud83d two"]


@pytest.mark.parametrize("regex", [False, True])
def test_plain_and_pattern_find_the_same(regex):
    """A word is found the same way in both, without regard to case unless told."""
    assert Query(text="two", regex=regex).matches(TEXTS, seconds=60) == [
        Match(text=0, lines=1, spans=[(4, 7)]),
        Match(text=1, lines=1, spans=[(0, 3)]),
        Match(text=2, lines=1, spans=[(2, 5)]),
    ]
    assert [it.text for it in Query(text="two", regex=regex, ignore_case=False).matches(TEXTS, seconds=60)] == [0, 2]


@given(text=st.text(min_size=1), before=st.text(), after=st.text())
def test_a_plain_text_is_found_wherever_it_stands(text, before, after):
    """No character of a plain text means anything but itself."""
    [match] = Query(text=text).matches([before + text + after], seconds=60)
    assert match.lines >= 1


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(?:a|a)*b(?=z)", r"(.*)*\1x"])
def test_a_pattern_that_never_ends(pattern):
    """A pattern that backtracks without end is given up with one line that says so."""
    with pytest.raises(BadSearch, match=r"^search: the pattern .* takes too long; [^\n]*$") as caught:
        Query(text=pattern, regex=True).matches(["a" * 60 + "!"], seconds=0.6)
    assert caught.value.kind == "too-slow"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems hold no process to a limit of memory")
def test_a_pattern_that_remembers_everything(monkeypatch):
    """A pattern that wants more memory or time than it may have is given up, and a plain one is not."""
    monkeypatch.setattr(matching, "_ROOM", 64 * 1024 * 1024)
    texts = ["ab" * 1_000_000]
    with pytest.raises(BadSearch, match="make it simpler"):  # whichever bound a machine meets first
        Query(text="(?:(a)|(b))*c", regex=True).matches(texts, seconds=20)
    assert Query(text="ab", regex=True).matches(texts, seconds=60)[0].lines == 1


def test_a_pattern_that_is_none():
    """The reason stands in one line, with the pattern shortened."""
    with pytest.raises(BadSearch, match=r"^search: no regular expression: .*\.\.\.'$") as caught:
        Query(text="(" * 100, regex=True).matches([""], seconds=60)
    assert caught.value.kind == "bad-pattern"


@pytest.mark.parametrize("executable", ["/bin/false", "/nowhere/python"])
def test_a_process_that_dies(monkeypatch, executable):
    """A process that the system ended, or did not start, is a pattern that could not be run."""
    monkeypatch.setattr(sys, "executable", executable)
    with pytest.raises(BadSearch, match="could not be run") as caught:
        Query(text="a", regex=True).matches(["a"], seconds=60)
    assert caught.value.kind == "too-slow"
    assert isinstance(caught.value.__cause__, subprocess.CalledProcessError | OSError)


@pytest.mark.parametrize(("text", "kind"), [("", "empty"), ("x" * (MAX_PATTERN + 1), "too-long")])
def test_what_is_not_searched_for(text, kind):
    """Nothing, and too much, are refused before anything is read."""
    with pytest.raises(BadSearch) as caught:
        Query(text=text).check()
    assert caught.value.kind == kind
    Query(text="x" * MAX_PATTERN).check()
