"""JSON objects in files of other tools."""

import os

import pytest

from leafscar.session.objects import bytes_of, object_in


def test_gives_as_many_bytes_as_asked_for(tmp_path):
    """A file is read whole, or up to a limit."""
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    assert (bytes_of(path), bytes_of(path, 4)) == (b"0123456789", b"0123")


def test_what_is_no_readable_file_has_no_bytes(tmp_path):
    """A name without a file, a folder and a pipe give nothing, and nothing waits."""
    os.mkfifo(tmp_path / "pipe")
    assert [bytes_of(path) for path in (tmp_path / "none", tmp_path, tmp_path / "pipe")] == [b""] * 3


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"\xff", "7", b"[" * 100_000])
def test_what_is_no_object_is_none(data):
    """Nothing, other values, broken text and endless nesting are no object."""
    assert object_in(data) is None


@pytest.mark.parametrize("data", [b'{"a": 1}', '{"a": 1}'])
def test_an_object_is_given_from_bytes_and_text(data):
    """Bytes and text hold the same object."""
    assert object_in(data) == {"a": 1}
