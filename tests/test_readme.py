"""The README and the pages it names hold what they show."""

import re
import shlex
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from leafscar.cli import main

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
COMMANDS = [line.split("#  ")[0].strip() for line in re.findall(r"^    (leafscar .*)$", README, re.MULTILINE)]
SESSIONS = "~/.pi/agent/sessions"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the examples and a session of one's own in it."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shutil.copy(ROOT / "examples" / "interactive.jsonl", tmp_path / "session.jsonl")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path / "agent"))
    return tmp_path


def test_the_python_examples_run(folder):
    """The code blocks of the README run one after the other on a session."""
    names: dict[str, object] = {}
    for block in BLOCKS:
        exec(block, names)
    assert len(BLOCKS) == 2
    assert len(names["messages"]) == len(names["context"])


@pytest.mark.parametrize("line", COMMANDS)
def test_the_commands_run(folder, line, monkeypatch):
    """Every command line of the README ends without an error."""
    monkeypatch.setenv("HOME", str(folder))
    shutil.copytree(folder / "examples", folder / "agent" / "sessions" / "--here--")
    words = shlex.split(line.replace(SESSIONS, "examples"), comments=True)
    result = CliRunner().invoke(main, words[1:])
    assert result.exit_code == 0, result.output
    assert result.output


def test_every_link_leads_somewhere():
    """Every relative link of the README names a file of the project."""
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", README) if "://" not in link]
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
