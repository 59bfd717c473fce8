from __future__ import annotations

import json
import sys
import tomllib

import pytest
from tests.replay.sessions import autonomous

from leafscar.cli import mcp as command
from leafscar.mcp import Scope


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """No client's variables of the process that runs the tests."""
    for name in ("CODEX_HOME", "CLAUDE_PROJECT_DIR", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)


def test_installing_for_claude_code(run, project):
    """The project's own settings get the server, and a second time nothing happens."""
    first = run("mcp", "--install", "claude")
    server = json.loads((project / ".mcp.json").read_text())["mcpServers"]["leafscar"]
    assert (server["command"], server["args"]) == (sys.executable, ["-P", "-m", "leafscar", "mcp"])
    assert first.stdout.startswith(f"{project / '.mcp.json'}: added leafscar, which runs ")
    second = run("mcp", "--install", "claude")
    assert (second.exit_code, second.stdout) == (0, f"{project / '.mcp.json'}: the server is there already\n")


def test_installing_for_codex(run, project):
    """Codex' settings get the server, with the files that it may serve."""
    (project / "some").mkdir()
    path = autonomous(3).write(project / "s.jsonl")
    run("mcp", "--install", "codex", "--session", "s.jsonl", "--folder", "some")
    settings = tomllib.loads((project.parent / "home" / ".codex" / "config.toml").read_text())
    assert settings["mcp_servers"]["leafscar"]["args"][4:] == [
        "--session",
        str(path),
        "--folder",
        str(project / "some"),
    ]


@pytest.mark.parametrize(("client", "read"), [("claude", json.loads), ("codex", tomllib.loads)])
def test_printing_only(run, project, client, read):
    """What would be added is printed, and nothing is written."""
    result = run("mcp", "--install", client, "--print")
    assert "leafscar" in str(read(result.stdout))
    assert result.stderr.startswith("# ")
    assert [each.name for each in project.iterdir()] == [".pi"]
    assert not (project.parent / "home").exists()


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--install", "pi"), 1, "pi has no MCP of its own"),
        (("--install", "vim"), 2, "is not one of"),
        (("--print",), 2, "--print belongs to --install"),
        (("--session", "gone"), 1, "gone: no file; name a session file"),
        (("--folder", "gone"), 1, "gone: no folder; name a folder of sessions"),
    ],
)
def test_what_cannot_be_done(run, words, code, said):
    """Wrong clients, files and options are one clear line."""
    result = run("mcp", *words)
    assert (result.exit_code, result.stdout) == (code, "")
    assert said in result.stderr


def test_foreign_settings_stay(run, project):
    """Settings that cannot be read are left as they are."""
    (project / ".mcp.json").write_text("not json")
    result = run("mcp", "--install", "claude")
    assert result.exit_code == 1
    assert "nothing was written" in result.stderr
    assert (project / ".mcp.json").read_text() == "not json"


def test_without_the_sdk(run, monkeypatch):
    """Without the extra the server says what to install, and installing says it too."""
    monkeypatch.setitem(sys.modules, "leafscar.mcp.server", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    result = run("mcp")
    assert result.exit_code == 1
    assert result.stderr.endswith("-m pip install 'leafscar[mcp]'\n")
    assert "needs the MCP SDK" in run("mcp", "--install", "claude").stderr


@pytest.mark.parametrize("terminal", [True, False])
def test_serving(run, project, monkeypatch, terminal):
    """The server gets the scope of the current project; on a terminal it says that it waits."""
    served = []

    class Server:
        @staticmethod
        def serve(scope, version):
            served.append((scope, version))

    monkeypatch.setitem(sys.modules, "leafscar.mcp.server", Server)
    monkeypatch.setattr(command, "_is_terminal", lambda: terminal)
    path = autonomous(3).write(project / "s.jsonl")
    result = run("mcp", "--session", path)
    assert ("waits for an MCP client" in result.stderr) == terminal
    [(scope, version)] = served
    assert isinstance(scope, Scope)
    assert version
    assert [each.path for each in scope.transcripts()] == [path]


def test_as_a_module(shell):
    """``python -m leafscar`` is the command."""
    assert shell(f"'{sys.executable}' -m leafscar --version").stdout.startswith(b"leafscar, version ")
