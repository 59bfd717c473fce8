"""Small pi sessions with a provider that counts exactly: characters / 4 times k, plus an overhead."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from leafscar.compaction import project_context
from leafscar.estimate import estimate_tokens
from leafscar.model import as_entry
from leafscar.session import Session, load

START = 1_770_000_000.0
HEADER = {"type": "session", "version": 3, "id": "story", "timestamp": "2026-02-02T02:40:00.000Z", "cwd": "/project"}


class Story:
    """A session that is told entry by entry; each request is counted as its provider would."""

    def __init__(
        self,
        *,
        overhead: float = 3_000,
        k: float = 1.0,
        model: str = "claude-sonnet-4-5",
        provider: str = "anthropic",
        api: str = "anthropic-messages",
        ttl: float = 300,
    ) -> None:
        self.overhead, self.k, self.ttl = overhead, k, ttl
        self.model, self.provider, self.api = model, provider, api
        self.entries: list[dict[str, Any]] = []
        self.now = START
        self.timed = True
        self.prompts: list[float] = []
        self._sent: list[str] = []  # ids of the context of the request before
        self._sent_at: float | None = None
        self._sent_to = model
        self._calls = 0

    def wait(self, seconds: float) -> Story:
        """Let time pass."""
        self.now += seconds
        return self

    def add(self, kind: str, **fields: Any) -> str:
        """Append an entry below the newest one; gives its id."""
        number = len(self.entries) + 1
        head = {"type": kind, "id": f"{number:08x}", "parentId": self.entries[-1]["id"] if self.entries else None}
        stamp = datetime.fromtimestamp(self.now, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self.entries.append({**head, **({"timestamp": stamp} if self.timed else {}), **fields})
        return head["id"]

    def message(self, role: str, **fields: Any) -> str:
        """Append a message."""
        return self.add("message", message={"role": role, "timestamp": self._stamp(), **fields})

    def user(self, text: str = "do the next thing") -> Story:
        """Let the user say something."""
        self.wait(20).message("user", content=text)
        return self

    def reply(self, text: str = "done", *, usage: Any = ..., stop: str = "stop", **fields: Any) -> Story:
        """Answer in words."""
        self._respond([{"type": "text", "text": text}], usage, stop, fields)
        return self

    def call(
        self, output: str, *, name: str = "read", usage: Any = ..., path: str | None = None, thinking: str = ""
    ) -> Story:
        """Call a tool, and get its output."""
        self._calls += 1
        call = f"call{self._calls}"
        where = path or f"src/m{self._calls}.py"
        arguments = {"command": "make"} if name == "bash" else {"path": where}
        thought = [{"type": "thinking", "thinking": thinking, "thinkingSignature": "s"}] if thinking else []
        asked = {"type": "toolCall", "id": call, "name": name, "arguments": arguments}
        self._respond([*thought, asked], usage, "toolUse", {})
        content = [{"type": "text", "text": output}]
        self.message("toolResult", toolCallId=call, toolName=name, content=content, isError=False)
        return self

    def calls(self, count: int, tokens: int = 1_500, **options: Any) -> Story:
        """Call a tool several times, each output of about ``tokens``."""
        for _ in range(count):
            self.call(text_of(tokens), **options)
        return self

    def cut(self, kept: str, *, summary: str = "what was done " * 40, **fields: Any) -> Story:
        """Compact, as the host would, above ``kept``."""
        before = fields.pop("tokensBefore", round(self.size()))
        self.add("compaction", summary=summary, firstKeptEntryId=kept, tokensBefore=before, **fields)
        return self

    def size(self) -> float:
        """Tokens of a request that would go out now."""
        return self.overhead + self.k * sum(estimate_tokens(item.message) for item in self._context())

    def usage(self) -> dict[str, Any]:
        """What the provider reports for the request that goes out now."""
        ids = [item.entry.id for item in self._context()]
        prompt = self.size()
        soon = self._sent_at is not None and self.now - self._sent_at <= self.ttl and self._sent_to == self.model
        read = self.prompts[-1] if soon and ids[: len(self._sent)] == self._sent else 0
        self._sent, self._sent_at, self._sent_to = ids, self.now, self.model
        self.prompts.append(prompt)
        return {"input": 0, "cacheRead": read, "cacheWrite": prompt - read, "output": 40, "totalTokens": prompt + 40}

    def lines(self) -> bytes:
        """The file."""
        return b"".join(json.dumps(line).encode() + b"\n" for line in (HEADER, *self.entries))

    def write(self, path: Path) -> Path:
        """Write the file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.lines())
        return path

    def open(self, folder: Path) -> Session:
        """Open the session from a file."""
        return load(self.write(folder / "story.jsonl"))

    def memory(self) -> Session:
        """Open the session without a file."""
        return Session.memory(self.entries)

    def _stamp(self) -> float:
        return round(self.now * 1000) if self.timed else 0

    def _context(self) -> Any:
        return project_context([as_entry(entry) for entry in self.entries]).items

    def _respond(self, content: list[Any], usage: Any, stop: str, fields: dict[str, Any]) -> None:
        self.wait(8)
        reported = self.usage() if usage is ... else usage
        known = {} if reported is None else {"usage": reported}
        names = {"provider": self.provider, "model": self.model, "api": self.api}
        self.message("assistant", content=content, stopReason=stop, **names, **known, **fields)


def text_of(tokens: int) -> str:
    """Lines of words, ``tokens`` by characters / 4."""
    return ("a line of text\n" * (tokens * 4 // 15 + 1))[: tokens * 4]


def autonomous(calls: int = 60, **options: Any) -> Story:
    """One prompt, then many calls."""
    return Story(**options).user("change every module").calls(calls).reply()


def interactive(turns: int = 12, calls: int = 5, *, pause: float = 100, **options: Any) -> Story:
    """Several prompts with pauses, each with some calls."""
    story = Story(**options)
    for _ in range(turns):
        story.wait(pause).user().calls(calls).reply()
    return story
