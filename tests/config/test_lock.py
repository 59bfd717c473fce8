from __future__ import annotations

import errno
import fcntl
import os
import threading
import time

import pytest

from leafscar.config import _lock
from leafscar.config._lock import locked
from leafscar.errors import SettingsError


@pytest.fixture
def path(tmp_path):
    """Name a settings file that need not exist."""
    return tmp_path / "settings.json"


@pytest.fixture
def impatient(monkeypatch):
    """Wait for a twentieth of a second only."""
    monkeypatch.setattr(_lock, "_PATIENCE", 0.05)


def test_pi_sees_the_lock(path):
    """While a write runs the lock folder that pi looks for is there, and afterwards it is not."""
    mark = path.with_name("settings.json.lock")
    with locked(path):
        assert mark.is_dir()
    assert not mark.exists()


def test_the_lock_is_released_by_an_error(path):
    """A failed write frees the lock."""
    with pytest.raises(RuntimeError), locked(path):
        raise RuntimeError
    with locked(path):
        pass


def test_pi_is_waited_for(path):
    """While pi holds its lock folder a writer waits, and goes on as soon as it is gone."""
    mark = path.with_name("settings.json.lock")
    mark.mkdir()
    timer = threading.Timer(0.1, mark.rmdir)
    timer.start()
    started = time.monotonic()
    with locked(path):
        assert time.monotonic() - started >= 0.05
    timer.join()


@pytest.mark.usefixtures("impatient")
def test_waiting_ends(path):
    """A lock that nobody frees ends in an error that names the file to remove."""
    path.with_name("settings.json.lock").mkdir()
    with (
        pytest.raises(SettingsError, match=r"being written by another process; .* remove .*settings\.json\.lock"),
        locked(path),
    ):
        pass


@pytest.mark.usefixtures("impatient")
def test_a_second_writer_waits(path):
    """A second leafscar gets no lock while the first holds it, even without the lock folder."""
    with locked(path):
        path.with_name("settings.json.lock").rmdir()
        with pytest.raises(SettingsError, match="being written"), locked(path):
            pass


def test_a_lock_left_behind_is_taken_over(path):
    """A lock folder that nobody has touched for longer than pi refreshes it belongs to a crashed process."""
    mark = path.with_name("settings.json.lock")
    mark.mkdir()
    os.utime(mark, (time.time() - 60, time.time() - 60))
    with locked(path):
        assert time.time() - mark.stat().st_mtime < 30
    assert not mark.exists()


@pytest.mark.usefixtures("impatient")
def test_a_file_in_the_locks_place(path):
    """Something that is no lock folder is never removed."""
    mark = path.with_name("settings.json.lock")
    mark.write_text("mine")
    os.utime(mark, (0, 0))
    with pytest.raises(SettingsError, match="being written"), locked(path):
        pass
    assert mark.read_text() == "mine"


def test_a_file_system_without_folder_locks(path, monkeypatch):
    """Where the system cannot lock a folder the lock folder alone is enough."""

    def refuse(*args):
        raise OSError(errno.EBADF, "no")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with locked(path):
        assert path.with_name("settings.json.lock").is_dir()
