"""The formats that are read, and how a file is told from the others (docs/formats.md)."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from typing import Any, cast

from msgspec import Struct

from leafscar.formats.reading import Reading

__all__ = ["FORMATS", "HEAD_BYTES", "Format", "format_of"]

HEAD_BYTES = 64 * 1024
"""How much of a file is looked at to tell its format."""


class Format(Struct, frozen=True, kw_only=True):
    """One format of another tool."""

    name: str
    """As ``leafscar formats`` lists it; its reader is the module of this name."""
    tool: str
    files: str
    """What its files are called, for a person who looks for them."""
    by_line: bool
    """Whether every line stands for itself; else the file is one document."""

    def sniff(self, head: bytes, name: str) -> bool:
        """Whether a file that begins with ``head`` and is called ``name`` is of this format."""
        return bool(self._module().sniff(head, name))

    def read_lines(self, lines: Iterable[tuple[int, bytes]]) -> Reading:
        """Read a file given by its numbered lines. Raises :class:`SessionRefused`."""
        return cast("Callable[[Any], Reading]", self._reader())(lines)

    def read_document(self, data: bytes) -> Reading:
        """Read a file given as a whole. Raises :class:`SessionRefused`."""
        return cast("Callable[[bytes], Reading]", self._reader())(data)

    def _module(self) -> Any:
        # not every command reads foreign files, and thirteen readers take their time to import
        return importlib.import_module(f"leafscar.formats.{self.name}")

    def _reader(self) -> Any:
        return getattr(self._module(), f"read_{self.name}")


FORMATS = (
    Format(name="claude_code", tool="Claude Code", files="~/.claude/projects/*/*.jsonl", by_line=True),
    Format(name="codex", tool="Codex CLI", files="~/.codex/sessions/*/*/*/rollout-*.jsonl", by_line=True),
    Format(name="managed_agents", tool="Anthropic managed agents", files="session events, .jsonl", by_line=True),
    Format(name="gemini_cli", tool="Gemini CLI", files="~/.gemini/tmp/*/chats/*.json, stream-json", by_line=False),
    Format(name="opencode", tool="opencode", files="opencode.db#ses_ID, its store, opencode export", by_line=False),
    Format(name="openhands", tool="OpenHands", files="folder of a conversation, trajectory.json", by_line=False),
    Format(name="swe_agent", tool="SWE-agent", files="*.traj", by_line=False),
    Format(name="cline", tool="Cline, Roo", files="ui_messages.json, api_conversation_history.json", by_line=False),
    Format(name="anthropic_messages", tool="Anthropic Messages logs", files="requests or exchanges", by_line=False),
    Format(name="openai_responses", tool="OpenAI Responses logs", files="items or exchanges", by_line=False),
    Format(name="gemini_content", tool="Gemini API logs", files="contents or exchanges", by_line=False),
    Format(name="openai_chat", tool="OpenAI Chat logs", files="messages or exchanges", by_line=False),
    Format(name="aider", tool="aider", files=".aider.chat.history.md", by_line=False),
)
"""Every format beside pi's own, the more particular ones first: a plain log of messages may look like much."""


def format_of(head: bytes, name: str) -> Format | None:
    """Give the format of a file by its beginning and its name; None when no reader knows it."""
    return next((each for each in FORMATS if each.sniff(head, name)), None)
