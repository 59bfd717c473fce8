"""The examples in the pages are what the commands print."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from leafscar.replay.choices import choice_of, keys_of

ROOT = Path(__file__).parents[2]
EXAMPLES = [
    (name, block)
    for name in ("cli.md", "cuts.md", "replay.md")
    for block in re.findall(
        r"^```\n\$ leafscar (.*?)^```$", (ROOT / "docs" / name).read_text(), re.DOTALL | re.MULTILINE
    )
]


@pytest.mark.parametrize(
    ("name", "block"), EXAMPLES, ids=[f"{name}:{block.splitlines()[0]}" for name, block in EXAMPLES]
)
def test_examples_of_the_pages(run, project, name, block):
    """A block that starts with a command holds its output, up to a line of three dots."""
    shutil.copytree(ROOT / "examples", project / "examples")
    command, *shown = block.rstrip("\n").split("\n")
    result = run(*shlex.split(command))
    printed = [line.rstrip() for line in (result.stdout + result.stderr).replace("\xa0", " ").rstrip("\n").split("\n")]
    if shown[-1] == "...":
        shown.pop()
        printed = printed[: len(shown)]
    assert printed == shown


def test_the_keys_of_policies_are_those_that_replay_takes():
    """The tables of docs/policies.md list every key of each policy and rule, and no other."""
    rows = re.findall(r"^\| (`[^|]+) \| ([^|\n]+) \|$", (ROOT / "docs" / "policies.md").read_text(), re.MULTILINE)
    listed = {name: {*re.findall(r"`(\w+)`", keys)} for names, keys in rows for name in re.findall(r"`([^`]+)`", names)}
    for name in ("balanced", "thrifty", "classic", "source", "compaction"):
        assert listed[name] == {*keys_of(choice_of(name))}, name
    assert {*keys_of(choice_of("fewest-cuts"))} == {*listed["balanced"], *listed["fewest-cuts"]}


def test_every_link_leads_somewhere():
    """The pages of the commands link to files that exist."""
    for name in ("cli.md", "cuts.md", "replay.md", "adr/0008-what-if-by-the-real-controller.md"):
        page = ROOT / "docs" / name
        links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)]+)\)", page.read_text())]
        assert [link for link in links if link and not (page.parent / link).exists()] == []
