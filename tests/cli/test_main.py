from __future__ import annotations

import subprocess
import sys

import pytest

from leafscar import __version__

COMMANDS = ("compact", "context", "cuts", "formats", "mcp", "recall", "replay", "settings")


def test_help_names_every_command(run):
    """The group's help lists the commands with what they do."""
    result = run("--help")
    assert result.exit_code == 0
    for name in COMMANDS:
        assert f"  {name} " in result.output
    assert run("--version").output == f"leafscar, version {__version__}\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_help(run, name):
    """Every command explains itself and its options in plain ASCII."""
    result = run(name, "--help")
    assert result.exit_code == 0
    assert result.output.isascii()
    assert "--" in result.output


@pytest.mark.parametrize(
    "args",
    [
        ["nothing"],
        ["replay", "x", "--no-such"],
        ["recall", "x"],
        ["context", "x", "--no-such"],
        ["compact", "x", "--window", "0"],
    ],
)
def test_a_wrong_call_is_2(run, args):
    """What the command line itself gets wrong ends with 2 and a usage line."""
    result = run(*args)
    assert result.exit_code == 2
    assert "Usage:" in result.stderr


def test_no_command_is_help(run):
    """Without a command the help is shown."""
    result = run()
    assert result.exit_code == 2
    assert "Commands:" in result.output


@pytest.mark.parametrize("command", ["replay", "context", "compact"])
@pytest.mark.parametrize("name", ["gone.jsonl", "empty.jsonl", "binary.jsonl", "text.jsonl", "."])
def test_unreadable_files(run, project, command, name):
    """A file that is no session: exit 1 and its reason, never a traceback."""
    (project / "empty.jsonl").touch()
    (project / "binary.jsonl").write_bytes(b"\x00\x01" * 100)
    (project / "text.jsonl").write_text("hello\n")
    target = project / ".pi" if name == "." else project / name
    result = run(command, target)
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    assert str(target) in result.output.replace("\n  ", " ") or target.name in result.output
    if command != "replay":
        assert result.stderr.count("\n") == 1


def test_a_hostile_file_name_is_shown_not_obeyed(run, project):
    """Control characters of a name are escaped in what is printed."""
    result = run("context", project / "a\x1b[2J\r\n\u202eb.jsonl")
    assert result.exit_code == 1
    assert "\x1b" not in result.stderr
    assert "\\u001b[2J" in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_very_long_path(run):
    """A path that no file system takes is one line."""
    result = run("context", "x" * 5_000)
    assert result.exit_code == 1
    assert "File name too long" in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_module_is_imported_when_its_command_runs():
    """Asking for help does not load what only a replay needs."""
    code = (
        "import sys; from leafscar.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "print([name for name in ('genai_prices', 'leafscar.replay.run', 'rich') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_head_takes_what_it_wants(shell, session):
    """A pipe closed early ends quietly with 0."""
    done = shell("leafscar replay session.jsonl --window 60000 | head -1; echo ${PIPESTATUS[0]}")
    assert done.stdout.startswith(b"balanced would have")
    assert done.stdout.endswith(b"\n0\n")
    assert done.stderr == b""


def test_a_full_disk_is_said(shell, session):
    """Output that cannot be written: exit 1 and one line."""
    done = shell("leafscar context session.jsonl > /dev/full")
    assert done.returncode == 1
    assert done.stderr.startswith(b"leafscar: output: No space left on device")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize(
    "environment",
    [
        {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
)
def test_any_locale(shell, session, environment):
    """A terminal without the character gets an escape, and no command fails for it."""
    session.rename(session.with_name("sitzung-é-日本.jsonl"))
    for command in ("replay --window 60000", "context --as-sent"):
        done = shell(f"leafscar {command} sitzung-*.jsonl", **environment)
        assert done.returncode == 0, done.stderr
        assert b"Traceback" not in done.stderr
    assert shell("leafscar context gone-é.jsonl", **environment).returncode == 1


def test_a_broken_pipe_and_a_failing_disk_in_this_process(run, session, monkeypatch):
    """Both ends of the output are handled where the command is invoked from Python as well."""
    import leafscar.cli.context as command  # noqa: PLC0415 - its attributes are replaced

    def refuse(fault):
        def raising(*_args, **_options):
            raise fault

        monkeypatch.setattr(command, "load", raising)

    refuse(BrokenPipeError())
    assert run("context", session).exit_code == 0
    refuse(OSError(28, "No space left on device"))
    result = run("context", session)
    assert result.exit_code == 1
    assert result.stderr == "leafscar: output: No space left on device; check the path and the free space\n"
    refuse(PermissionError(13, "Permission denied", "some/file"))
    assert run("context", session).stderr.startswith("leafscar: some/file: Permission denied;")


def test_what_is_still_buffered_goes_nowhere(tmp_path, monkeypatch):
    """After a failed write the interpreter finds nothing to write again when it ends."""
    from leafscar.cli.main import _drop  # noqa: PLC0415

    path = tmp_path / "out"
    with path.open("w") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        stream.write("buffered")
        _drop(stream)
    assert path.read_text() == ""


def test_completion_knows_the_commands():
    """The commands are listed without importing one of them."""
    import click  # noqa: PLC0415

    from leafscar.cli import main  # noqa: PLC0415

    assert main.list_commands(click.Context(main)) == list(COMMANDS)


def test_streams_without_an_encoding_are_left_alone(monkeypatch):
    """A host may put any object in the place of the streams."""
    import io  # noqa: PLC0415

    from leafscar.cli import main  # noqa: PLC0415

    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    main(["--version"], standalone_mode=False)
    assert out.getvalue().startswith("leafscar, version")
