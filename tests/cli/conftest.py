from __future__ import annotations

import os
import subprocess
import sys

import pytest
from click.testing import CliRunner
from tests.replay.sessions import autonomous

from leafscar.cli import main

MOVED = (
    "PI_CODING_AGENT_DIR", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_DATA_HOME", "OPENCODE_DB",
)  # fmt: skip
"""Variables that move the folders of tools on the machine of whoever runs the tests."""


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    """A project folder that is current, with an empty home."""
    for variable in MOVED:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    folder = tmp_path / "here"
    (folder / ".pi").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def session(project):
    """A session file of one long turn, 73,000 tokens, in the current folder."""
    return autonomous(45).write(project / "session.jsonl")


@pytest.fixture
def run():
    """Run the command in this process."""

    def invoke(*args, **options):
        return CliRunner().invoke(main, [str(arg) for arg in args], **options)

    return invoke


@pytest.fixture
def shell(project):
    """Run a line of shell, where ``leafscar`` is the command, in a process of its own."""
    code = "from leafscar.cli import main; main(prog_name='leafscar')"
    function = f'leafscar() {{ \'{sys.executable}\' -c "{code}" "$@"; }}; '

    def invoke(line, **environment):
        environment = {**os.environ, **environment}
        command = ["bash", "-c", function + line]
        return subprocess.run(command, capture_output=True, env=environment, cwd=project, check=False, timeout=60)

    return invoke
