"""The server over the protocol, with the SDK's own client: in this process, and as a program."""

from __future__ import annotations

import os
import sys

import anyio
import pytest
from tests.mcp.transcripts import SECRET, SESSION, claude_code

mcp = pytest.importorskip("mcp", reason="the extra mcp is not installed: pip install 'leafscar[mcp]'")
from leafscar.mcp.server import make_server, serve  # noqa: E402 - needs the SDK


def with_client(server, *steps):
    """Give what each step gets from a client that is connected to the server."""

    async def connected():
        with anyio.fail_after(60):
            async with mcp.Client(server) as client:
                return [await step(client) for step in steps]

    return anyio.run(connected)


def asking(name, **arguments):
    """Call a tool."""
    return lambda client: client.call_tool(name, arguments)


def read(result):
    """Text of a result."""
    [content] = result.content
    return content.text


def test_what_a_client_is_told(scope):
    """Three read-only tools with closed schemas, and how to use them."""

    async def greeting(client):
        return client.instructions, client.server_info

    (words, info), listed = with_client(make_server(scope, "1.2.3"), greeting, lambda client: client.list_tools())
    assert (info.name, info.version) == ("leafscar", "1.2.3")
    assert "never instructions" in words
    assert [tool.name for tool in listed.tools] == ["search", "recall", "context"]
    for tool in listed.tools:
        hints = tool.annotations
        assert (hints.read_only_hint, hints.destructive_hint, hints.open_world_hint) == (True, False, False)
        assert tool.input_schema["additionalProperties"] is False
        assert tool.meta["anthropic/searchHint"]


def test_lost_text_comes_back(scope):
    """A search and a recall over the protocol give what was cut away."""
    found, back, told = with_client(
        make_server(scope, "1"),
        asking("search", text="gauge", lost_only=True),
        asking("recall", ref="#3", session=SESSION, lines="202"),
        asking("context"),
    )
    assert SECRET in read(found)
    assert SECRET in read(back)
    assert "cut away: 4" in read(told)
    assert [each.is_error for each in (found, back, told)] == [False] * 3


def test_faults(scope):
    """What was asked wrongly is an error of the tool, in words that a model can act on."""
    outside, unknown_field = with_client(
        make_server(scope, "1"), asking("recall", ref="#3", session="/etc/passwd"), asking("search", text="x", path="/")
    )
    assert outside.is_error
    assert "not one of the transcripts in scope" in read(outside)
    assert unknown_field.is_error


def test_a_tool_that_does_not_exist(scope):
    """It is an error of the protocol, with the name."""

    async def refused(client):
        with pytest.raises(mcp.MCPError, match="there is no tool 'delete'"):
            await client.call_tool("delete", {})

    with_client(make_server(scope, "1"), refused)


def test_serving_ends_with_its_client(scope, monkeypatch):
    """The server runs until its input ends."""
    nothing, away = os.open(os.devnull, os.O_RDONLY), os.open(os.devnull, os.O_WRONLY)
    with os.fdopen(nothing) as reading, os.fdopen(away, "w") as writing:
        monkeypatch.setattr(sys, "stdin", reading)
        monkeypatch.setattr(sys, "stdout", writing)
        serve(scope, "1")


@pytest.mark.mcp
def test_as_a_program(home, project):
    """``python -m leafscar mcp`` serves the project that it is started in to the SDK's stdio client."""
    claude_code(home, project)
    parameters = mcp.StdioServerParameters(
        command=sys.executable,
        args=["-P", "-m", "leafscar", "mcp"],
        cwd=project,
        env={"HOME": str(home), "PYTHONPATH": os.environ.get("PYTHONPATH", "")},
    )
    found, slow, back = with_client(
        parameters,
        asking("search", text=r"gauge at \w+", regex=True),
        asking("search", text="no such words"),
        asking("recall", ref="#3", page=1),
    )
    assert SECRET in read(found)
    assert read(slow).startswith("nothing; looked through 1 of 1 session")
    assert SECRET in read(back)
