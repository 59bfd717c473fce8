"""The tools over the protocol: the official SDK's server on standard input and output."""

from __future__ import annotations

from functools import partial

import anyio
import anyio.to_thread
from mcp import MCPError, types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from leafscar.mcp.scope import Scope
from leafscar.mcp.tools import INSTRUCTIONS, TOOLS, ToolName, answer

__all__ = ["make_server", "serve"]

_LARGEST = "anthropic/maxResultSizeChars"
_HINT = "anthropic/searchHint"


def make_server(scope: Scope, version: str) -> Server[object]:
    """Give the server of a scope, not yet connected to anything."""
    one_at_a_time = anyio.CapacityLimiter(1)  # two searches side by side would hold two sessions in memory

    async def list_tools(
        context: ServerRequestContext[object], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        del context, params
        return types.ListToolsResult(tools=_tools())

    async def call_tool(
        context: ServerRequestContext[object], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        del context
        name: ToolName | None = next((each for each in TOOLS if each == params.name), None)
        if name is None:
            raise MCPError(types.INVALID_PARAMS, f"there is no tool {params.name[:60]!r}")
        given = await anyio.to_thread.run_sync(partial(answer, scope, name, params.arguments), limiter=one_at_a_time)
        content = types.TextContent(type="text", text=given.text)
        return types.CallToolResult(content=[content], is_error=given.is_error)

    return Server(
        "leafscar",
        version=version,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _tools() -> list[types.Tool]:
    return [
        types.Tool(
            name=name,
            title=text.title,
            description=text.description,
            input_schema=text.schema,
            annotations=types.ToolAnnotations(
                title=text.title,
                read_only_hint=True,
                destructive_hint=False,
                idempotent_hint=True,
                open_world_hint=False,
            ),
            _meta={_HINT: text.hint, _LARGEST: 20_000},
        )
        for name, text in TOOLS.items()
    ]


def serve(scope: Scope, version: str) -> None:
    """Serve on standard input and output until the client closes them."""
    anyio.run(_serve, scope, version)


async def _serve(scope: Scope, version: str) -> None:
    server = make_server(scope, version)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())
