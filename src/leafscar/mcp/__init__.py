"""Recall, search and context as an MCP server over a client's own transcripts (docs/mcp.md)."""

from leafscar.mcp.install import CLIENTS, Change, install, plan
from leafscar.mcp.scope import Scope, Transcript
from leafscar.mcp.tools import ANSWER_LIMIT, TOOLS, Answer, answer

__all__ = ["ANSWER_LIMIT", "CLIENTS", "TOOLS", "Answer", "Change", "Scope", "Transcript", "answer", "install", "plan"]
