"""Transcripts as Claude Code, Codex and pi write them, small and with something that a cut took away."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SECRET = "the tide gauge at Ostrel reads 4417 millimetres"
"""What an output said that was cut away."""

SESSION = "6f0d0e7c-64d1-4f0e-9a53-2c9f1b7f3a11"
_STAMP = "2026-05-01T10:00:{:02d}.000Z"


def claude_folder(home: Path, project: Path) -> Path:
    """Where Claude Code keeps the transcripts of a project."""
    name = "".join(each if each.isascii() and each.isalnum() else "-" for each in str(project))
    folder = home / ".claude" / "projects" / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def claude_code(home: Path, project: Path, *, name: str = SESSION, secret: str = SECRET) -> Path:
    """Write a session of Claude Code that read a secret and was compacted afterwards; the secret is on line 3."""
    output = "\n".join(["station log", *(f"row {number}" for number in range(200)), secret, "end of log"])
    use = {"type": "tool_use", "id": "toolu_read", "name": "Read", "input": {"file_path": "/station.log"}}
    usage = {"input_tokens": 900, "output_tokens": 20}
    result = {"type": "tool_result", "tool_use_id": "toolu_read", "content": output}
    records = [
        _claude("user", 1, None, "Read the station log, then we plan the dredging."),
        _claude("assistant", 2, 1, [use], id="msg_1", usage=usage, stop_reason="tool_use"),
        _claude("user", 3, 2, [result]),
        _claude("assistant", 4, 3, [{"type": "text", "text": "I have read it."}], id="msg_2", usage=usage),
        {
            **_record("system", 5, None),
            "subtype": "compact_boundary",
            "content": "Conversation compacted",
            "level": "info",
            "logicalParentUuid": _uuid(4),
            "compactMetadata": {"trigger": "auto", "preTokens": 167_000},
        },
        {
            **_claude("user", 6, 5, "This session is continued: the station log was read; dredging comes next."),
            "isCompactSummary": True,
            "isVisibleInTranscriptOnly": True,
        },
        _claude("assistant", 7, 6, [{"type": "text", "text": "Ready to plan."}], id="msg_3", usage=usage),
    ]
    path = claude_folder(home, project) / f"{name}.jsonl"
    common = {"sessionId": name, "cwd": str(project), "version": "2.1.300", "gitBranch": "", "userType": "external"}
    path.write_text("".join(json.dumps({**common, **record}) + "\n" for record in records))
    return path


def _uuid(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012d}"


def _record(kind: str, number: int, parent: int | None) -> dict[str, Any]:
    return {
        "type": kind,
        "uuid": _uuid(number),
        "parentUuid": None if parent is None else _uuid(parent),
        "timestamp": _STAMP.format(number),
        "isSidechain": False,
    }


def _claude(kind: str, number: int, parent: int | None, content: Any, **message: Any) -> dict[str, Any]:
    given: dict[str, Any] = {"role": kind, "content": content, **message}
    if kind == "assistant":
        given = {"type": "message", "model": "claude-sonnet-4-5", "stop_reason": "end_turn", **given}
    return {**_record(kind, number, parent), "message": given}


def codex(home: Path, project: Path, name: str = "rollout-2026-05-02T10-00-00-abc") -> Path:
    """Write a rollout of Codex."""
    folder = home / ".codex" / "sessions" / "2026" / "05" / "02"
    folder.mkdir(parents=True, exist_ok=True)
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "codex was here"}]}
    lines = [
        {"type": "session_meta", "payload": {"id": "abc", "cwd": str(project), "originator": "codex_cli_rs"}},
        {"type": "response_item", "payload": said},
    ]
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps({"timestamp": _STAMP.format(1), **line}) + "\n" for line in lines))
    return path


def pi(home: Path, project: Path, name: str = "one", words: str = "pi was here") -> Path:
    """Write a session of pi."""
    folder = home / ".pi" / "agent" / "sessions" / "--project--"
    folder.mkdir(parents=True, exist_ok=True)
    stamp = _STAMP.format(1)
    message = {"role": "user", "content": words, "timestamp": 1}
    lines = [
        {"type": "session", "version": 3, "id": name, "timestamp": stamp, "cwd": str(project)},
        {"type": "message", "id": "00000001", "parentId": None, "timestamp": stamp, "message": message},
    ]
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path
