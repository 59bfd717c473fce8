"""Random cases: sessions with everything that a session file may hold, and probes of the pure functions."""

# ruff: noqa: E501, PLR2004, RUF001  # odd characters and plain shares are what a generator is made of
from __future__ import annotations

import json
from random import Random
from typing import Any

from .engines import Engine

__all__ = ["random_case"]

_WORDS = [
    "alpha",
    "beta",
    "gamma",
    "delta",
    "read",
    "the",
    "file",
    "and",
    "fix",
    "it",
    "please",
    "[User]:",
    "</conversation>",
    "<summary>",
    "ok",
]
_ODD = ["", " ", "\n", "\u2028", "\x7f", "\x01", "é", "中文", "😀", "\ud83d", "\ude00", "！", '"', "\\", "\t", "```"]
_PATHS = ["a.py", "src/b.py", "Z", "é", "😀", "！", "", "a b", "src/c.py"]
_TOOLS = ["read", "write", "edit", "bash", "grep", "Read"]
_ERRORS = [
    "503", "overloaded", "Rate limit", "invalid api key", "terminated", "quota exceeded 429", "server_busy", "520",
    "the service is temporarily unavailable", "billing 500", "provider returned an error", "rate\nlimit", "", "ſ500",
    "rate😀limit", "server-error", "TIMEOUT", "subscription_sharing_usage_limit_exceeded 429", "model is at capacity",
]  # fmt: skip
_OVERFLOWS = [
    "prompt is too long: 2 tokens", "Prompt too long", "413 (no body)", "400 status code (no body)", "x 400 (no body)",
    "input token count (5) exceeds the maximum", "rate limit: too many tokens", "exceeds maximum context length (5)",
    "input token count\nexceeds the maximum", "Throttling error: too many tokens", "context_length_exceeded", "fine",
    "exceeds the model's maximum context length of 1,000 tokens", "prompt exceeds max length", "TOKEN LIMIT EXCEEDED",
]  # fmt: skip
_START = 1_780_000_000_000


class _Maker:
    def __init__(self, random: Random, engine: Engine) -> None:
        self.random, self.engine = random, engine
        self.entries: list[dict[str, Any]] = []
        self.leaf: str | None = None
        self.calls: list[str] = []
        self.clock = _START
        self.hostile = random.random() < 0.15

    # --- small values

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def text(self, longest: int = 40) -> str:
        size = self.random.choice([0, 1, 3, 8, longest]) if self.chance(0.9) else self.random.choice([500, 2100])
        pieces = [self.random.choice(_ODD if self.chance(0.15) else _WORDS) for _ in range(min(size, 40))]
        text = " ".join(pieces) if self.chance(0.8) else "".join(pieces)
        return text + "x" * max(0, size - 40) + self.random.choice(["", "", "", "😀" * 3, "\ud83d"])

    def json_value(self, depth: int = 0) -> Any:
        pick = self.random.randrange(9 if depth < 2 else 6)
        simple = [
            self.text(3), self.random.randrange(-5, 2000), self.random.choice([2.0, -0.0, 1e21, 1e-7, 0.1, 1e300, 123456789012345680000, 5e-324]),
            None, self.chance(0.5), self.random.choice(_ODD),
        ]  # fmt: skip
        if pick < 6:
            return simple[pick]
        if pick == 6:
            return [self.json_value(depth + 1) for _ in range(self.random.randrange(3))]
        keys = self.random.sample(["z", "10", "2", "path", "é", "007", "4294967294", "4294967295", "-1", "\ud800"], 4)
        return {key: self.json_value(depth + 1) for key in keys}

    def arguments(self) -> Any:
        if self.chance(0.6):
            return {"path": self.random.choice(_PATHS)}
        value = self.json_value()
        return value if isinstance(value, dict) else {"path": value, "n": self.json_value(1)}

    def usage(self) -> dict[str, Any]:
        low = self.random.choice([0, 0, 10, 500, 3000, 9000])
        usage: dict[str, Any] = {"input": low, "output": self.random.choice([0, 5]), "cacheRead": 0, "cacheWrite": 2}
        usage["totalTokens"] = self.random.choice([0, sum(usage.values()), 777])
        usage["cost"] = {"input": 0.1, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0.25}
        if self.chance(0.1):
            usage.pop(self.random.choice(["output", "cacheRead", "totalTokens"]))
        if self.chance(0.05):
            usage[self.random.choice(["output", "totalTokens", "cacheWrite"])] = None
        if self.chance(0.1):
            usage[self.random.choice(["cacheWrite1h", "reasoning"])] = 3
        return usage

    def parts(self) -> list[dict[str, Any]]:
        return [
            self.random.choice([self.text_part, self.text_part, self.image])() for _ in range(self.random.randrange(4))
        ]

    def text_part(self) -> dict[str, Any]:
        return {"type": "text", "text": self.text()}

    def image(self) -> dict[str, Any]:
        return {"type": "image", "data": "aGk=", "mimeType": "image/png"}

    # --- messages

    def content(self) -> Any:
        if self.hostile and self.chance(0.15):
            return None
        return self.text() if self.chance(0.5) else self.parts()

    def now(self) -> int:
        self.clock += self.random.choice([0, 1000, 1000, 1000, 2500])
        return self.clock

    def user(self) -> dict[str, Any]:
        return self.hostile_content({"role": "user", "content": self.content(), "timestamp": self.now()})

    def hostile_content(self, message: dict[str, Any]) -> dict[str, Any]:
        if self.hostile and self.chance(0.05):
            message.pop("content")
        return message

    def assistant(self, calls: int | None = None) -> dict[str, Any]:
        content: list[dict[str, Any]] = []
        if self.chance(0.4):
            content.append({"type": "thinking", "thinking": self.text(), "thinkingSignature": "sig"})
        if self.chance(0.7):
            content += [self.text_part() for _ in range(self.random.choice([1, 1, 2]))]
        self.calls = []
        for _ in range(self.random.choice([0, 1, 1, 2, 3]) if calls is None else calls):
            self.calls.append(f"c{self.random.randrange(10**6)}" if self.chance(0.9) else "c0")
            call = {"type": "toolCall", "id": self.calls[-1], "name": self.random.choice(_TOOLS)}
            content.append({**call, "arguments": self.arguments()})
        self.random.shuffle(content)
        if self.chance(0.05):
            content.append(self.random.choice([self.image(), {"type": "other", "x": 1}]))
        message: dict[str, Any] = {
            "role": "assistant", "content": content, "api": "x", "provider": "p", "model": self.random.choice(["m", "m2"]),
            "stopReason": self.random.choice(["stop", "toolUse", "toolUse", "length", "error", "aborted"]),
            "timestamp": self.now(),
        }  # fmt: skip
        if self.chance(0.8):
            message["usage"] = self.usage()
        if self.hostile and self.chance(0.1):
            message["content"] = None
        return self.hostile_content(message)

    def result(self, call: str) -> dict[str, Any]:
        message: dict[str, Any] = {
            "role": "toolResult", "toolCallId": call, "toolName": self.random.choice(_TOOLS), "content": self.parts(),
            "isError": self.chance(0.2), "timestamp": self.now(),
        }  # fmt: skip
        if self.hostile and self.chance(0.15):
            message["content"] = None
        if self.chance(0.2):
            message["details"] = {"x": self.text()}
        if self.chance(0.15):
            calls = [{"name": self.random.choice(_TOOLS), "arguments": self.arguments()} for _ in range(2)]
            message["nestedCalls"] = {"calls": calls} if self.chance(0.9) else {}
        return self.hostile_content(message)

    def bash(self) -> dict[str, Any]:
        message: dict[str, Any] = {
            "role": "bashExecution", "command": self.text(5), "output": self.text(), "cancelled": self.chance(0.2),
            "truncated": self.chance(0.3), "exitCode": self.random.choice([0, 0, 1, 2, None, -1, 137]), "timestamp": self.now(),
        }  # fmt: skip
        if self.chance(0.2):
            message.pop("exitCode")
        if self.chance(0.5):
            message["fullOutputPath"] = self.random.choice(["/var/o", "", None])
        if self.chance(0.3):
            message["excludeFromContext"] = self.chance(0.7)
        return message

    def custom(self) -> dict[str, Any]:
        content = self.content()
        return {"role": "custom", "customType": "k", "content": content, "display": True, "timestamp": self.now()}

    def system(self) -> dict[str, Any]:
        message: dict[str, Any] = {
            "role": "system",
            "content": self.text() if self.chance(0.8) else [self.text_part()],
            "timestamp": self.now(),
        }
        if self.chance(0.7):
            message["sections"] = {name: self.random.choice([None, "", self.text()]) for name in ("a", "b", "10")}
        if self.chance(0.5):
            message["toolsAdded"] = [{"name": self.random.choice("rw"), "description": self.text()} for _ in range(2)]
        if self.chance(0.3):
            message["toolsRemoved"] = [{"name": self.random.choice("rwx")}]
        return message

    def summary_message(self) -> dict[str, Any]:
        kind = self.random.choice(["branchSummary", "compactionSummary"])
        extra = {"fromId": "f"} if kind == "branchSummary" else {"tokensBefore": 9}
        return {"role": kind, "summary": self.text(), **extra, "timestamp": self.now()}

    # --- entries

    def add(self, type_: str, /, **fields: Any) -> None:
        identity = f"{len(self.entries) + 1:08x}"
        stamp = f"2026-05-{1 + len(self.entries) % 28:02d}T20:26:{len(self.entries) % 60:02d}.{len(self.entries) % 1000:03d}Z"
        self.entries.append({"type": type_, "id": identity, "parentId": self.leaf, "timestamp": stamp, **fields})
        self.leaf = identity

    def message(self, message: dict[str, Any]) -> None:
        self.add("message", message=message)

    def on_path(self) -> list[dict[str, Any]]:
        by_id = {entry["id"]: entry for entry in self.entries}
        path, at = [], self.leaf
        while at in by_id:
            path.append(by_id[at])
            at = by_id[at]["parentId"]
        return path

    def some_id(self) -> str:
        if self.entries and self.chance(0.95):
            near = self.on_path()[: self.random.choice([3, 8, 100])]
            return self.random.choice(near or self.entries)["id"]
        return "eeeeeeee"

    def details(self) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        if self.chance(0.7):
            fields["details"] = {
                "readFiles": self.random.sample(_PATHS, 2),
                "modifiedFiles": self.random.sample(_PATHS, 1),
            }
        if self.chance(0.3):
            fields["fromHook"] = self.chance(0.5)
        if self.chance(0.1):
            fields["details"] = self.random.choice([{}, {"readFiles": "x"}, None])
        return fields

    def compaction(self) -> None:
        fields: dict[str, Any] = {
            "summary": self.text() if self.chance(0.95) else "",
            "tokensBefore": 5,
            **self.details(),
        }
        fields["firstKeptEntryId"] = self.some_id() if self.chance(0.9) else f"{len(self.entries) + 1:08x}"
        if self.engine.is_core and self.chance(0.15):
            fields["retainedTail"] = [self.user(), self.assistant()][: self.random.randrange(3)]
        if self.engine.version == "1.3.0" and self.chance(0.4):
            fields["systemMessage"] = self.system()
        self.add("compaction", **fields)

    def marker(self) -> None:
        kind = self.random.choice(["model_change", "thinking_level_change", "label", "custom", "session_info"])
        fields: dict[str, Any] = {
            "model_change": {"provider": "q", "modelId": "n"},
            "thinking_level_change": {"thinkingLevel": self.random.choice(["off", "high"])},
            "label": {"targetId": self.some_id(), "label": "pin"},
            "custom": {"customType": "leafscar.submission", "data": {"a": 1}},
            "session_info": {"name": "n"},
        }[kind]
        self.add(kind, **fields)

    def special(self) -> None:
        if self.engine.is_core:
            self.add("active_tools_change", activeToolNames=["read"])
            if self.chance(0.3):
                self.add("leaf", targetId=self.some_id() if self.chance(0.8) else None)
        elif self.engine.version == "1.3.0":
            self.random.choice(
                [self.edit, self.edit, self.omit_attempt, self.usage_entry, lambda: self.message(self.system())]
            )()

    def edit(self) -> None:
        content = self.text() if self.chance(0.5) else [self.text_part()]
        self.add(
            "context_edit", targetId=self.some_id(), replacement=None if self.chance(0.5) else {"content": content}
        )

    def omit_attempt(self) -> None:
        """What a recovered overflow leaves: a failed attempt, and edits that omit it."""
        first = len(self.entries)
        self.message(self.assistant(calls=self.random.randrange(2)))
        for call in self.calls:
            self.message(self.result(call))
        for entry in self.entries[first:]:
            replacement = None if self.chance(0.9) else {"content": "y"}
            self.add("context_edit", targetId=entry["id"], replacement=replacement)

    def usage_entry(self) -> None:
        self.add("usage", kind="k", provider="p", model="m", usage=self.usage())

    def step(self) -> None:
        pick = self.random.random()
        if pick < 0.22:
            self.message(self.user())
        elif pick < 0.62:
            self.message(self.assistant())
            for call in self.calls:
                if self.chance(0.95):
                    self.message(self.result(call))
                if self.chance(0.05):
                    self.step()
        else:
            self.rare()

    def rare(self) -> None:
        makers = [
            lambda: self.message(self.bash()), lambda: self.message(self.custom()), self.compaction, self.marker, self.marker,
            lambda: self.add("custom_message", customType="k", content=self.content(), display=True, **({"details": {"d": 1}} if self.chance(0.3) else {})),
            lambda: self.add("branch_summary", fromId="f", summary=self.text(), **self.details()), self.special,
            lambda: self.message({"role": "mystery", "content": "z", "timestamp": self.now()}),
            lambda: self.message(self.summary_message()), self.move,
        ]  # fmt: skip
        self.random.choice(makers)()

    def move(self) -> None:
        """Go on from an earlier entry, or from the root."""
        self.leaf = self.random.choice(self.entries)["id"] if self.entries and self.chance(0.9) else None


def random_case(seed: str, engine: Engine) -> dict[str, Any]:
    """Give the case of a seed; the same seed gives the same case."""
    random = Random(seed)  # noqa: S311 - cases, not secrets
    maker = _Maker(random, engine)
    for _ in range(random.choice([0, 1, 2, 4, 8, 14, 25, 40])):
        maker.step()
    case: dict[str, Any] = {"engine": engine.kind, "entries": maker.entries, **_knobs(maker)}
    if maker.chance(0.2):
        case["leafId"] = maker.random.choice([*(entry["id"] for entry in maker.entries), None, "eeeeeeee"])
    if maker.entries and maker.chance(0.04):
        maker.random.choice(maker.entries)["parentId"] = "dddddddd"
    if maker.chance(0.1):
        case["session"] = _file_text(maker)
    if maker.chance(0.3):
        case["cut"] = [_cut_probe(maker) for _ in range(random.randrange(1, 12))]
    if maker.entries and maker.chance(0.35):
        case["branch"] = _branch(maker)
    return json.loads(json.dumps(case | _pure_probes(maker)))  # as a file gives it: surrogates that meet are a pair


def _file_text(maker: _Maker) -> str:
    header = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-05-01T00:00:00.000Z", "cwd": "/"}
    lines = [json.dumps(line) for line in [header, *maker.entries]]
    return maker.random.choice(["\n", "\n\n", "\n \n"]).join(lines) + "\n"


def _knobs(maker: _Maker) -> dict[str, Any]:
    random = maker.random
    case: dict[str, Any] = {}
    keep = random.choice([0, 1, 5, 20, 60, 150, 300, 1300, 20000, random.randrange(400)])
    if maker.chance(0.95):
        case["settings"] = {
            "enabled": maker.chance(0.9),
            "reserveTokens": random.choice([0, 1, 7, 1000, 16384]),
            "keepRecentTokens": keep,
        }
    if maker.chance(0.8):
        case["model"] = {
            "contextWindow": random.choice([0, 500, 4000, 128000]),
            "maxTokens": random.choice([0, 50, 600, 8192]),
            "reasoning": maker.chance(0.5),
        }
    if maker.chance(0.5):
        case["thinkingLevel"] = random.choice(["off", "low", "high"])
    if maker.chance(0.3):
        case["customInstructions"] = random.choice(["", "look at \ud83d tests", "focus 😀"])
    if maker.chance(0.5):
        case["responses"] = [_response(maker) for _ in range(random.randrange(6))]
    if maker.chance(0.5):
        retries = {
            "enabled": maker.chance(0.8),
            "maxRetries": random.choice([0, 1, 2, 3]),
            "baseDelayMs": random.choice([0, 1]),  # 1.3.0 waits a minute for a fraction
        }
        case["retry"] = retries
    if maker.chance(0.05):
        case["skipCompact"] = True
    return case


def _response(maker: _Maker) -> dict[str, Any]:
    reply: dict[str, Any] = {"text": maker.text()}
    pick = maker.random.random()
    if pick < 0.35:
        reply = {"stopReason": "error", "errorMessage": maker.random.choice(_ERRORS)}
        if maker.chance(0.1):
            reply.pop("errorMessage")
    elif pick < 0.45:
        reply["stopReason"] = "length"
    elif pick < 0.5:
        reply["stopReason"] = "aborted"
        if maker.chance(0.5):
            reply["errorMessage"] = "stopped"
    elif pick < 0.6:
        parts = [
            {"type": "thinking", "thinking": "t"},
            maker.text_part(),
            maker.text_part(),
            {"type": "toolCall", "id": "1", "name": "x", "arguments": {}},
        ]
        reply = {"content": maker.random.sample(parts, maker.random.randrange(4))}
    if maker.chance(0.5):
        reply["usage"] = maker.usage()
    return reply


def _cut_probe(maker: _Maker) -> list[int]:
    size = len(maker.on_path())
    start, end = sorted(maker.random.randrange(size + 1) for _ in range(2))
    if maker.chance(0.05):
        start, end = maker.random.choice([(start, size + 3), (-1, end), (end, start)])
    return [start, end, maker.random.choice([0, 1, 10, 50, 100, 1000, -1])]


def _branch(maker: _Maker) -> dict[str, Any]:
    ids = [entry["id"] for entry in maker.entries]
    options: dict[str, Any] = {}
    if maker.chance(0.3):
        options["customInstructions"] = "only this"
        options["replaceInstructions"] = maker.chance(0.5)
    if maker.chance(0.4):
        options["reserveTokens"] = maker.random.choice([0, 100, 3900, 127_900, 200_000])
    branch: dict[str, Any] = {
        "from": maker.random.choice([*ids, None]),
        "to": maker.random.choice([*ids, ids[0]]),
        "options": options,
    }
    if maker.chance(0.7):
        branch["budget"] = maker.random.choice([0, 5, 20, 60, 300])
    return branch


def _pure_probes(maker: _Maker) -> dict[str, Any]:
    random = maker.random
    case: dict[str, Any] = {}
    if maker.chance(0.3):
        makers = [
            maker.user,
            maker.assistant,
            maker.bash,
            maker.custom,
            maker.system,
            maker.summary_message,
            lambda: maker.result("c"),
        ]
        case["messages"] = [random.choice(makers)() for _ in range(random.randrange(8))]
    if maker.chance(0.2):
        case["usages"] = [maker.usage() for _ in range(4)]
        case["should"] = [
            [random.randrange(9), 10, {"enabled": maker.chance(0.8), "reserveTokens": 4, "keepRecentTokens": 1}]
            for _ in range(4)
        ]
    if maker.chance(0.2):
        case["classify"] = random.sample(_ERRORS, 6)
        case["overflow"] = [[_overflowing(maker), random.choice([0, 100, 9000])] for _ in range(6)]
    return case


def _overflowing(maker: _Maker) -> dict[str, Any]:
    message = maker.assistant()
    message["usage"] = maker.usage()
    message["stopReason"] = maker.random.choice(["error", "error", "stop", "length"])
    message["errorMessage"] = maker.random.choice(_OVERFLOWS)
    message["provider"] = maker.random.choice(["p", "cerebras"])
    return message
