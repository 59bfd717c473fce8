"""Claude Code itself, offline, finds through the server what its own compaction took."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import anyio
import pytest
from tests.mcp.provider import call, results, serving, text
from tests.mcp.transcripts import SECRET, SESSION, claude_code

from leafscar.mcp import install, plan

pytestmark = pytest.mark.mcp
SDK_MISSING = "claude-agent-sdk is not installed; .ci/run mcp_clients does it"


@pytest.fixture(scope="module")
def sdk():
    """Give the SDK that brings Claude Code along; CI must have it."""
    if os.environ.get("LEAFSCAR_CLAUDE_CODE") == "required":
        import claude_agent_sdk  # noqa: PLC0415 - so that CI fails where it is missing

        return claude_agent_sdk
    return pytest.importorskip("claude_agent_sdk", reason=SDK_MISSING)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Give a home with one compacted session of a project, and that project, which is current."""
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    monkeypatch.chdir(project)
    claude_code(home, project)
    command = [sys.executable, "-P", "-m", "leafscar", "mcp"]
    install(plan("claude", command, project=project, home=home, environ={}))
    return home, project


def environment(home: Path, url: str, tool_search: str) -> dict[str, str]:
    """Give what Claude Code needs to stay on this machine."""
    return {
        "HOME": str(home),
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "dummy",
        "ENABLE_TOOL_SEARCH": tool_search,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "NO_PROXY": "127.0.0.1",
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
    }


def run(sdk, project: Path, env: dict[str, str]) -> list[str]:
    """Resume the session with one prompt; give what Claude Code reported."""
    said: list[str] = []

    async def ask() -> None:
        options = sdk.ClaudeAgentOptions(
            cwd=project,
            resume=SESSION,
            env=env,
            mcp_servers=project / ".mcp.json",
            allowed_tools=["mcp__leafscar__search", "mcp__leafscar__recall", "mcp__leafscar__context"],
            setting_sources=[],
            model="claude-sonnet-4-5",
            max_turns=8,
            stderr=said.append,
        )
        with anyio.fail_after(120):
            async for message in sdk.query(prompt="What did the tide gauge read?", options=options):
                said.append(repr(message))  # noqa: PERF401 - what was said before it failed must be there

    anyio.run(ask)
    return said


def recall_found(body):
    """Call recall with the session and reference that the search gave."""
    found = re.search(r"(#\d+|[\w-]+) in session ([\w-]+): result Read, cut away", results(body)[-1])
    assert found, results(body)
    return [call("mcp__leafscar__recall", ref=found[1], session=found[2], lines="201-204")]


def find_lost(_):
    """Call search for a word of what was lost."""
    return [call("mcp__leafscar__search", text="tide gauge at", lost_only=True)]


def look_for_a_tool(_):
    """Call Claude Code's tool search as a model would that misses something."""
    return [call("ToolSearch", query="compaction lost earlier messages", max_results=3)]


def done(_):
    """End the turn."""
    return [text("done")]


def names(body):
    """Names of the tools whose definition a request holds, of those that are not deferred."""
    return {tool["name"] for tool in body["tools"] if not tool.get("defer_loading")}


def test_without_its_tool_search(sdk, place):
    """With every tool in the request, a search and a recall bring back the output that compaction took."""
    home, project = place
    with serving([find_lost, recall_found, done]) as provider:
        said = run(sdk, project, environment(home, provider.url, "false"))
    assert len(provider.requests) == 3, said
    first, _, last = provider.requests
    assert {"mcp__leafscar__search", "mcp__leafscar__recall", "mcp__leafscar__context"} <= names(first)
    assert SECRET not in json.dumps(first)
    assert [SECRET in given for given in results(last)] == [True, True]


def test_with_its_tool_search(sdk, place):
    """With deferred tools the model finds ours by what they are for, and then calls them."""
    home, project = place
    with serving([look_for_a_tool, find_lost, recall_found, done]) as provider:
        said = run(sdk, project, environment(home, provider.url, "true"))
    assert len(provider.requests) == 4, said
    first, second, _, last = provider.requests
    assert "ToolSearch" in names(first)
    assert not {name for name in names(first) if "leafscar" in name}
    assert "mcp__leafscar__search" in results(second)[-1]
    assert SECRET not in json.dumps(second)
    assert [SECRET in given for given in results(last)] == [False, True, True]


def test_it_does_not_find_itself(sdk, place):
    """An earlier search and its answer, which Claude Code recorded meanwhile, are no hits of the next search."""
    home, project = place
    again = [call("mcp__leafscar__search", text="tide gauge at")]
    with serving([find_lost, lambda _: again, done]) as provider:
        said = run(sdk, project, environment(home, provider.url, "false"))
    assert len(provider.requests) == 3, said
    assert "1 hit, newest first" in results(provider.requests[-1])[-1]
