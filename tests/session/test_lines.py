import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafscar.errors import SessionRefused
from leafscar.session import lines as module
from leafscar.session.lines import count_newlines, lines, opened


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """One file for many examples."""
    return tmp_path_factory.mktemp("lines") / "f"


def read(path, size=None):
    """All lines of a file."""
    with opened(path) as fd:
        return list(lines(path, fd, path.stat().st_size if size is None else size))


@settings(deadline=None)
@given(
    data=st.lists(st.sampled_from([b"\n", b"a", b"\r", b"\0", b"\xff", b"\xef\xbb\xbf"])).map(b"".join),
    chunk=st.integers(1, 9),
)
def test_lines_are_what_stands_between_newlines(place, data, chunk):
    """Numbers, bytes, ends and the torn last line do not depend on where the reads happen to end."""
    place.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_CHUNK", chunk)
        patch.setattr(module, "_FIRST_CHUNK", chunk)
        found = read(place)
        with opened(place) as fd:
            assert count_newlines(fd, 1, len(data)) == data[1:].count(b"\n")
    wanted = data.split(b"\n")
    torn = bool(wanted[-1])
    wanted = wanted if torn else wanted[:-1]
    assert [line.number for line in found] == list(range(1, len(wanted) + 1))
    assert [line.raw for line in found[1:]] == wanted[1:]
    assert [line.torn for line in found] == [False] * (len(wanted) - torn) + [True] * torn
    assert [line.end for line in found] == [
        sum(map(len, wanted[: n + 1])) + n + 1 - (torn and n + 1 == len(wanted)) for n in range(len(wanted))
    ]
    if wanted:
        assert found[0].raw == wanted[0].removeprefix(b"\xef\xbb\xbf")


def test_what_is_appended_later_is_not_read(tmp_path):
    """Only the bytes that a file had are read, and fewer if it has become shorter."""
    path = tmp_path / "f"
    path.write_bytes(b"a\nb\nc\n")
    assert [line.raw for line in read(path, 3)] == [b"a", b"b"]
    assert [line.raw for line in read(path, 99)] == [b"a", b"b", b"c"]
    with opened(path) as fd:
        assert count_newlines(fd, 0, 99) == 3


@pytest.mark.parametrize("tail", [b"", b"\n", b"\nmore\n"])
def test_a_line_at_the_limit_and_over_it(tmp_path, monkeypatch, tail):
    """A line of exactly the limit is read, one byte more is refused by its number."""
    monkeypatch.setattr(module, "MAX_LINE_BYTES", 10)
    path = tmp_path / "f"
    path.write_bytes(b"a\n" + b"b" * 10 + tail)
    assert read(path)[1].raw == b"b" * 10
    path.write_bytes(b"a\n" + b"b" * 11 + tail)
    with pytest.raises(SessionRefused, match="line 2: a line over 128 MiB; split or remove that line"):
        read(path)


def refusal(path):
    """What opening says, in one line."""
    with pytest.raises(SessionRefused) as caught, opened(path):
        raise AssertionError
    assert caught.value.path == str(path)
    assert "\n" not in str(caught.value)
    return caught.value.reason, caught.value.hint


def test_what_cannot_be_opened(tmp_path, monkeypatch):
    """A missing file, a folder, a FIFO, a device, a file of someone else, an impossible name: each says what to do."""
    os.mkfifo(tmp_path / "fifo")
    assert refusal(tmp_path / "none") == ("No such file or directory", "check the path")
    assert refusal(tmp_path) == ("not a regular file", "name a session file")
    assert refusal(tmp_path / "fifo") == ("not a regular file", "name a session file")
    assert refusal(tmp_path / "a\0b")[1] == "check the path"
    assert refusal(tmp_path / "\ud800")[1] == "check the path"
    assert refusal(tmp_path / ("x" * 300)) == ("File name too long", "check the path")

    def forbidden(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", forbidden)
    assert refusal(tmp_path / "f") == ("Permission denied", "make it readable")


def test_a_fault_while_reading(tmp_path, monkeypatch):
    """A disk that fails in the middle of a file is a refusal too, and the file is closed."""
    path = tmp_path / "f"
    path.write_bytes(b"a\n")
    with opened(path) as fd:
        pass
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(fd)

    def broken(*_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "pread", broken)
    with pytest.raises(SessionRefused, match="Input/output error; check the path"):
        read(path)
