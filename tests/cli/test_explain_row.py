from __future__ import annotations

import json

import pytest

OWN = {"early": {"base": "balanced", "shedFraction": 0.4}, "late": {"rule": "clear-tool-uses", "trigger": 9000}}


@pytest.fixture
def own(project):
    """A file of two policies."""
    path = project / "mine.json"
    path.write_text(json.dumps(OWN))
    return path


def test_a_policy_of_a_file_is_explained_with_its_own_numbers(run, session, own):
    """Its lines are those that the file draws, under the name that the file gives."""
    result = run("replay", session, "--window", 60_000, "--policy-file", own, "--policy", "early", "--explain", 2)
    assert (result.exit_code, result.stderr) == (0, "")
    assert " under early: " in result.stdout.splitlines()[0]
    assert "shed 24,000" in result.stdout


def test_the_row_without_cuts_is_explained(run, session):
    """none:never-cut is a row of ours too."""
    result = run("replay", session, "--window", 60_000, "--policy", "none:never-cut", "--explain", 2)
    assert " under none:never-cut: " in result.stdout.splitlines()[0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--policy", "none", "--policy", "classic"], "--explain looks at one policy; name one of none, classic"),
        (["--policy-file", "OWN"], "--explain looks at one policy; name one of the file with --policy"),
        (
            ["--policy", "balanced", "--sweep", "shedFraction=0.5,0.6"],
            "--explain looks at one policy; leave --sweep out",
        ),
        (
            ["--policy", "mask-last-n:10"],
            "--explain looks at policies of ours; mask-last-n:10 is a rule of another tool",
        ),
        (
            ["--policy-file", "OWN", "--policy", "late"],
            "--explain looks at policies of ours; late is a rule of another tool",
        ),
    ],
)
def test_what_is_not_one_policy_of_ours_is_refused(run, session, own, options, words):
    """Nothing that was asked for is left out without a word: one line says what to change."""
    given = [str(own) if each == "OWN" else each for each in options]
    result = run("replay", session, "--window", 60_000, *given, "--explain", 2)
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", f"leafscar: {words}\n")
