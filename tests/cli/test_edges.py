"""What the system may do to a command: signals, closed streams, pipes and devices in the place of files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest
from tests.cli.test_main import COMMANDS
from tests.replay.sessions import Story, autonomous

ARGUMENTS = {
    "compact": ["s.jsonl", "--window", "60000"],
    "context": ["s.jsonl", "--window", "60000"],
    "cuts": ["s.jsonl"],
    "formats": [],
    "mcp": ["--install", "claude", "--print"],
    "recall": ["s.jsonl", "#4"],
    "replay": ["s.jsonl", "--window", "60000"],
    "settings": [],
}
WAITING = """
import importlib, sys, time
from leafscar.cli import main
module = importlib.import_module("leafscar.cli." + sys.argv[1])
command = getattr(module, sys.argv[1] + "_command")
def wait(*_args, **_options):
    print("ready", flush=True)
    time.sleep(50)
command.callback = wait
main(sys.argv[1:], prog_name="leafscar")
"""


@pytest.fixture
def small(project):
    """A small session."""
    return autonomous(4).write(project / "s.jsonl")


@pytest.mark.parametrize("name", COMMANDS)
def test_an_interrupted_command(small, name):
    """Ctrl-C ends every command with 130 and one line."""
    args = [sys.executable, "-c", WAITING, name, *ARGUMENTS[name]]
    with subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=small.parent) as process:
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert said == b"leafscar: interrupted; what was written so far is whole\n"


@pytest.mark.parametrize(
    ("name", "closing", "code"),
    [
        *((name, ">&-", 0) for name in COMMANDS if name != "mcp"),  # that says elsewhere where its text belongs
        ("replay", "<&- >&- 2>&-", 0),
        ("context", "2>&-", 0),
        ("formats", "1</dev/null", 1),
        ("recall", "1</dev/null", 1),
    ],
)
def test_closed_streams(shell, small, name, closing, code):
    """Output that nobody can read goes nowhere; one that cannot be written is said."""
    before = small.read_bytes()
    done = shell(f"leafscar {name} {' '.join(map(_quoted, ARGUMENTS[name]))} {closing}")
    assert done.returncode == code, done.stderr
    assert done.stderr.count(b"\n") == code
    assert b"Traceback" not in done.stderr
    assert small.read_bytes() == before


def _quoted(word):
    return f"'{word}'"


@pytest.mark.parametrize("args", ["--help", "--version", "replay --help", "formats", "settings --json"])
def test_a_full_disk_below_every_output(shell, args):
    """Help and version are output too: what cannot be written is one line and 1, or nothing where nobody listens."""
    done = shell(f"leafscar {args} > /dev/full")
    assert done.returncode == 1
    assert done.stderr == b"leafscar: output: No space left on device; check the path and the free space\n"
    assert shell(f"leafscar {args} > /dev/full 2>&1").returncode == 1
    piped = shell(f"leafscar {args} | true; echo ${{PIPESTATUS[0]}}")
    assert (piped.stdout, piped.stderr) == (b"0\n", b"")


@pytest.mark.parametrize(
    "command", ["replay {}", "context {}", "compact {}", "recall {} '#4'", "replay --window 60000 {} s.jsonl"]
)
@pytest.mark.parametrize("name", ["pipe", "/dev/zero", "circle"])
def test_what_is_no_file(shell, small, project, command, name):
    """A pipe, a device and a circle of links in the place of a session are refused at once."""
    os.mkfifo(project / "pipe")
    (project / "circle").symlink_to("circle")
    done = shell(f"leafscar {command.format(name)}")
    assert b"Traceback" not in done.stderr
    assert done.returncode == (0 if "s.jsonl" in command else 1)
    assert name.encode() in done.stderr + done.stdout


def test_odd_things_in_a_folder(shell, small, project):
    """A folder with pipes, circles and dangling links is replayed for what it holds."""
    folder = project / "all"
    folder.mkdir()
    small.rename(folder / "s.jsonl")
    for name in ("a.json", "b.jsonl", "c.md"):
        os.mkfifo(folder / name)
    (folder / "circle.jsonl").symlink_to("circle.jsonl")
    (folder / "gone.json").symlink_to("nowhere")
    (folder / "up").symlink_to("..")
    done = shell("leafscar replay all --window 60000 --json -")
    assert done.returncode == 0, done.stderr
    assert [each["path"] for each in json.loads(done.stdout)["sessions"]] == ["all/s.jsonl"]


@pytest.mark.parametrize("name", ["compact", "context", "replay"])
@pytest.mark.parametrize("window", ["1000000001", "9" * 400, "9" * 5_000, "-" + "9" * 400, "1e5"])
def test_windows_have_a_bound(run, small, name, window):
    """A window beyond 10^9 tokens, or no number, is a wrong call; the largest one works."""
    result = run(name, small, "--window", window)
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1].startswith("Error: Invalid value for '--window'")
    assert run(name, small, "--window", 10**9).exit_code == 0


@pytest.mark.parametrize("number", ["9" * 400, "1e400", "9007199254740991", "1" + "0" * 307])
def test_numbers_of_settings_have_bounds(run, small, project, number):
    """Every count of a settings file is a count that can be reckoned with, or a problem in one line."""
    overrides = f'{{"anthropic/claude-sonnet-4-5": {{"reserveTokens": {number}, "keepRecentTokens": {number}}}}}'
    compaction = f'{{"reserveTokens": {number}, "keepRecentTokens": {number}, "modelOverrides": {overrides}}}'
    own = f'{{"windowCap": {number}}}'
    (project / ".pi" / "settings.json").write_text(
        f'{{"pruning": {{"minResultTokens": {number}}}, "compaction": {compaction}, "leafscar": {own}}}'
    )
    for args in (["replay", small], ["context", small], ["compact", small], ["settings"]):
        result = run(*args, *(["--window", 60_000] if len(args) > 1 else []))
        assert result.exit_code == 0, result.output
    assert "leafscar.windowCap must be a whole number from 1 to 1,000,000,000" in result.stderr


@pytest.mark.parametrize("name", ["compact", "context", "replay", "settings"])
def test_a_file_for_a_folder(run, small, name):
    """--cwd on a file, or on a circle of links, is a wrong call."""
    (small.parent / "circle").symlink_to("circle")
    for folder in ("s.jsonl", "circle"):
        assert run(name, *ARGUMENTS[name], "--cwd", folder).exit_code == 2


@pytest.mark.slow
def test_a_folder_that_cannot_be_written(shell, small, project):
    """In a folder that is only read every command that writes nothing works, and one that would says so."""
    project.chmod(0o555)
    try:
        for name in COMMANDS:
            assert shell(f"leafscar {name} {' '.join(map(_quoted, ARGUMENTS[name]))}").returncode == 0
        if os.geteuid():
            done = shell("leafscar replay s.jsonl --window 60000 --json out.json")
            assert (done.returncode, done.stderr.count(b"\n")) == (1, 1)
    finally:
        project.chmod(0o755)


@pytest.mark.slow
def test_one_line_of_many_megabytes(run, project):
    """A single output of 12 MB is read, measured, shed and recalled."""
    story = Story().user("start").call("line of output\n" * 800_000).calls(3).reply()
    path = story.write(project / "s.jsonl")
    for args in (["context"], ["context", "--as-sent"], ["replay"], ["compact"]):
        assert run(args[0], path, *args[1:], "--window", 200_000).exit_code == 0
    assert len(run("recall", path, "#4:full").stdout) == 12_000_000
