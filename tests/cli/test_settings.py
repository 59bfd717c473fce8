from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from leafscar.cli.settings import settings_command, settings_data, settings_lines
from leafscar.config import Settings

STATE = "state: no prune yet; last gate: none (no session is attached)"


def run(*args):
    """Run the command as a shell would."""
    return CliRunner().invoke(settings_command, args)


def test_defaults_are_shown_with_their_sources(project):
    """Without files the three keys are shown, those that nobody set as auto, and no session is claimed."""
    result = run()
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "pruning.enabled             true            (default)",
        "pruning.minResultTokens     auto (not set)",
        "pruning.protectCurrentTurn  auto (not set)",
        STATE,
    ]
    assert result.stderr == ""


@pytest.mark.parametrize("policy", ["classic", "source"])
def test_fixed_policies_have_fixed_defaults(project, policy):
    """Under the sources' policies the defaults are numbers, not auto."""
    rows = [line.split() for line in run(f"policy={policy}").stdout.splitlines()]
    assert rows[:4] == [
        ["pruning.enabled", "true", "(default)"],
        ["pruning.minResultTokens", "1000", "(default)"],
        ["pruning.protectCurrentTurn", "true", "(default)"],
        ["leafscar.policy", policy, "(global)"],
    ]


def test_keys_that_nothing_reads_yet_say_so(project):
    """What is saved without effect is not passed over in silence."""
    lines = run("shedArguments=true", "continuity=false", "windowCap=9").stdout.splitlines()
    assert [line.split(maxsplit=1) for line in lines if line.startswith("leafscar.")] == [
        ["leafscar.windowCap", "9               (global)"],
        ["leafscar.shedArguments", "true            (global)"],
        ["leafscar.continuity", "false           (global) (no effect yet)"],
    ]


def test_pairs_are_saved_and_shown(project):
    """Pairs go to the project's file when there is one; the answer shows the values and names the file."""
    path = project / ".pi" / "settings.json"
    path.write_text('{"theme": "dark"}')
    result = run("minResultTokens=500", 'pins=["keep \\u001b me"]', "--cwd", str(project))
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "pruning.enabled             true                (default)",
        "pruning.minResultTokens     500                 (project)",
        "pruning.protectCurrentTurn  auto (not set)",
        'leafscar.pins               ["keep \\u001b me"]  (project)',
        STATE,
        f"(saved to {path})",
    ]
    assert json.loads(path.read_text()) == {
        "theme": "dark",
        "pruning": {"minResultTokens": 500},
        "leafscar": {"pins": ["keep \x1b me"]},
    }


def test_a14_121_one_bad_pair_writes_nothing(project):
    """A good and a bad pair: exit 1, one line on standard error, the file as it was."""
    path = project / ".pi" / "settings.json"
    path.write_text("{}")
    result = run("enabled=false", "minResultTokens=1e3")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr == "minResultTokens must be a positive integer written in digits, got: 1e3\n"
    assert path.read_text() == "{}"


def test_a_refused_write(project):
    """A file that cannot be used is left alone with exit 1, and reading it still shows the defaults."""
    path = project / ".pi" / "settings.json"
    path.write_text("{")
    result = run("enabled=false")
    assert result.exit_code == 1
    assert result.stderr.startswith(f"invalid JSON in {path}: ")
    assert result.stderr.endswith("; nothing was written\n")
    shown = run()
    assert shown.exit_code == 0
    assert shown.stderr.startswith(f"invalid JSON in {path}: ")
    assert STATE in shown.stdout


def test_problems_are_one_line_each(project):
    """What a file says wrongly goes to standard error, a line each, and never into the table."""
    (project / ".pi" / "settings.json").write_text('{"pruning": {"enabled": 1}, "leafscar": {"polcy": 1}}')
    result = run()
    assert len(result.stderr.splitlines()) == 2
    assert "pruning.enabled must be a boolean, got: 1" in result.stderr
    assert "polcy" not in result.stdout


def test_json(project):
    """The JSON answer holds every value with its source, also the unset ones, and where the files are."""
    path = project / ".pi" / "settings.json"
    path.write_text('{"compaction": {"reserveTokens": 0}}')
    saved = json.loads(run("--json", 'neverPrune.paths=["*.md"]').stdout)
    assert saved["saved"] == str(path)
    found = json.loads(run("--json").stdout)
    assert found["saved"] is None
    assert found["settings"]["pruning.enabled"] == {"value": True, "source": "default"}
    assert found["settings"]["pruning.minResultTokens"] == {"value": None, "source": "auto"}
    assert found["settings"]["leafscar.neverPrune.paths"] == {"value": ["*.md"], "source": "project"}
    assert len(found["settings"]) == 12
    assert found["compaction"]["reserveTokens"] == 0
    assert found["files"]["project"] == str(path)
    assert found["problems"] == []
    assert found["state"] == STATE.removeprefix("state: ")


def test_a_host_puts_its_own_state():
    """The state line is whatever the host of a session says."""
    state = "2 outputs pruned, ~48.8k tokens saved per request; last gate: none"
    assert settings_lines(Settings(), state=state)[-1] == f"state: {state}"
    assert settings_data(Settings(), state=state)["state"] == state


def test_a_folder_that_is_not_there(project):
    """A --cwd that does not exist is a usage error."""
    assert run("--cwd", str(project / "nowhere")).exit_code == 2


@pytest.mark.parametrize("args", [(), ("enabled=false",), ("--json",)])
def test_a_current_folder_that_is_gone(project, args):
    """One line that says what to do, exit 1, and nothing is written."""
    (project / ".pi").rmdir()
    project.rmdir()
    result = run(*args)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("cannot read the current folder: ")
    assert result.stderr.count("\n") == 1
    assert not (project.parent / "home").exists()


def test_what_files_hold_is_never_obeyed_by_a_terminal(project):
    """Controls and marks of direction are escaped in values, problems and paths."""
    hostile = "\x1b[2J\u202e\U000e0041\u200b"
    (project / ".pi" / "settings.json").write_text(json.dumps({"leafscar": {"prompts": f"pi:{hostile}", hostile: 1}}))
    result = run()
    assert "pi:\\u001b[2J\\u202e\\U000e0041\\u200b" in result.stdout
    assert "leafscar.\\u001b[2J\\u202e" in result.stderr
    assert not set(hostile) - set("[2J") & set(result.output)
