"""What a tool is to pruning: a table from its name to a kind and to where its arguments stand (docs/pruning.md).

Each host has its own table; :data:`ALL` joins them, and where two hosts share a name pi's reading wins
(docs/adr/0028-tool-tables.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal, TypeAlias

from msgspec import Struct

from leafscar.model import ToolCall

__all__ = [
    "ALL",
    "CLAUDE_CODE",
    "CLINE",
    "CODEX",
    "GEMINI_CLI",
    "OPENCODE",
    "OPENHANDS",
    "OTHER",
    "PI",
    "TABLES",
    "ExitRule",
    "Kind",
    "Tool",
    "ToolTable",
    "command_of",
    "path_of",
    "tool_of",
]

Kind: TypeAlias = Literal["read", "bash", "edit", "recall", "other"]
"""What a tool does, as far as its marker cares."""


class ExitRule(Struct, frozen=True, gc=False, kw_only=True):
    """Where a shell tool writes the exit code of its command."""

    pattern: str
    """Regular expression of the whole line; its only group is the code."""
    first_lines: int = 0
    """How many leading lines may hold it; 0 means the last line only."""
    silent: Literal["0", "unknown"] = "unknown"
    """What a result without that line, not flagged as an error, tells about the exit code."""


class Tool(Struct, frozen=True, kw_only=True):
    """How pruning reads the calls and results of one tool."""

    kind: Kind = "other"
    paths: tuple[str, ...] = ()
    """Argument names that can hold the path, in order."""
    command: str | None = None
    """Argument name of the command line."""
    argv: bool = False
    """Whether the command may come as a list of words."""
    free_text: bool = False
    """Whether the whole input may be the command."""
    zero_based: bool = False
    """Whether the ``offset`` argument counts lines from 0."""
    exit: ExitRule | None = None


ToolTable: TypeAlias = Mapping[str, Tool]
"""Tools by name."""

OTHER = Tool()
"""A tool that no table knows."""


def tool_of(name: str, table: ToolTable) -> Tool:
    """Give the entry of ``name``, :data:`OTHER` when the table has none."""
    return table.get(name, OTHER)


def path_of(call: ToolCall | None, tool: Tool) -> str | None:
    """Path that a call names; None when there is no call or no such text argument."""
    arguments = _arguments(call)
    found = (arguments.get(name) for name in tool.paths)
    return next((value for value in found if isinstance(value, str)), None)


def command_of(call: ToolCall | None, tool: Tool) -> str:
    """Command line that a call runs; empty when unknown."""
    if call is not None and tool.free_text and isinstance(call.arguments, str):
        return call.arguments
    value = None if tool.command is None else _arguments(call).get(tool.command)
    if isinstance(value, str):
        return value
    return _joined(value) if tool.argv else ""


def _arguments(call: ToolCall | None) -> Mapping[str, object]:
    value = call.arguments if call is not None else None
    return value if isinstance(value, Mapping) else {}  # pyright: ignore[reportUnknownVariableType]


_SHELL_WORDS = 3


def _joined(words: object) -> str:
    if not isinstance(words, Sequence) or not all(isinstance(word, str) for word in words):  # pyright: ignore[reportUnknownVariableType]
        return ""
    argv: list[str] = list(words)  # pyright: ignore[reportUnknownArgumentType]
    if len(argv) == _SHELL_WORDS and argv[1] in ("-c", "-lc"):
        return argv[2]
    return " ".join(argv)


# --- the tables ---------------------------------------------------------------------------------------

_PI_EXIT = ExitRule(pattern=r"Command exited with code ([0-9]+)", silent="0")
_CLAUDE_EXIT = ExitRule(pattern=r"Exit code ([0-9]+)", first_lines=1, silent="0")
_CODEX_EXIT = ExitRule(pattern=r"(?:Process exited with code|Exit code:) (-?[0-9]+)", first_lines=5)
_OPENHANDS_EXIT = ExitRule(pattern=r"\[The command completed with exit code (-?[0-9]+)\.\]")


def _table(**tools: Tool) -> ToolTable:
    return MappingProxyType(tools)


def _edits(*names: str, path: str) -> dict[str, Tool]:
    return {name: Tool(kind="edit", paths=(path,)) for name in names}


PI = _table(
    read=Tool(kind="read", paths=("path",)),
    bash=Tool(kind="bash", command="command", exit=_PI_EXIT),
    recall=Tool(kind="recall"),
    **_edits("edit", "write", path="path"),
)
"""pi's own tools, by their exact names."""

CLAUDE_CODE = _table(
    Read=Tool(kind="read", paths=("file_path",)),
    Bash=Tool(kind="bash", command="command", exit=_CLAUDE_EXIT),
    mcp__leafscar__recall=Tool(kind="recall"),
    **_edits("Edit", "MultiEdit", "Write", path="file_path"),
)
"""Tools of Claude Code."""

CODEX = _table(
    exec=Tool(kind="bash", command="cmd", free_text=True, exit=_CODEX_EXIT),
    exec_command=Tool(kind="bash", command="cmd", exit=_CODEX_EXIT),
    shell=Tool(kind="bash", command="command", argv=True, exit=_CODEX_EXIT),
    shell_command=Tool(kind="bash", command="command", exit=_CODEX_EXIT),
    local_shell=Tool(kind="bash", command="command", argv=True, exit=_CODEX_EXIT),
    apply_patch=Tool(kind="edit"),
)
"""Tools of Codex."""

OPENCODE = _table(
    read=Tool(kind="read", paths=("filePath",)),
    bash=Tool(kind="bash", command="command"),
    leafscar_recall=Tool(kind="recall"),
    **_edits("edit", "write", path="filePath"),
)
"""Tools of opencode."""

OPENHANDS = _table(
    execute_bash=Tool(kind="bash", command="command", exit=_OPENHANDS_EXIT),
    **_edits("edit_file", "str_replace_editor", path="path"),
)
"""Tools of OpenHands."""

GEMINI_CLI = _table(
    read_file=Tool(kind="read", paths=("absolute_path", "file_path"), zero_based=True),
    run_shell_command=Tool(kind="bash", command="command"),
    **_edits("replace", "write_file", path="file_path"),
)
"""Tools of Gemini CLI."""

CLINE = _table(
    read_file=Tool(kind="read", paths=("path",)),
    execute_command=Tool(kind="bash", command="command"),
    **_edits("replace_in_file", "write_to_file", path="path"),
)
"""Tools of Cline and its forks."""

TABLES: Mapping[str, ToolTable] = MappingProxyType(
    {
        "cline": CLINE,
        "claude-code": CLAUDE_CODE,
        "codex": CODEX,
        "gemini-cli": GEMINI_CLI,
        "opencode": OPENCODE,
        "openhands": OPENHANDS,
        "pi": PI,
    }
)
"""Table of each recording format or host."""

ALL: ToolTable = MappingProxyType(
    {**CLINE, **GEMINI_CLI, **OPENHANDS, **OPENCODE, **CODEX, **CLAUDE_CODE, **PI},
)
"""Every tool of every host; on a shared name pi's reading wins."""
