"""A host for these tests: it keeps a session, sends what a controller decides, and reports honest usage."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import structs

from leafscar.compaction import SummaryRequest, SummaryResponse
from leafscar.engine import POLICIES, Controller, ControlState, Facts, Fallback, Send, Summarise, materialise
from leafscar.engine.sizers import chars_sizer
from leafscar.estimate import estimate_tokens
from leafscar.model import as_entry

Raw = dict[str, Any]

STEADY = structs.replace(
    POLICIES["balanced"], shed_fraction=0.70, goal_fraction=0.62, batch_tokens=20_000, batch_divisor=10, payback=0
)
"""``balanced`` with round lines, and no move below the shed line but while the cache is cold."""


def text(tokens: int, word: str = "row ") -> str:
    """Text of ``tokens`` tokens by the sources' rule, on one line."""
    return (word * (4 * tokens // len(word) + 1))[: 4 * tokens]


def user(tokens: int = 10, **fields: Any) -> Raw:
    """A message of the user."""
    return {"role": "user", "content": [{"type": "text", "text": text(tokens)}], "timestamp": 1, **fields}


def call(id_: str, name: str = "other", **arguments: Any) -> Raw:
    """One tool call, as a part."""
    return {"type": "toolCall", "id": id_, "name": name, "arguments": arguments}


def assistant(*parts: Any, total: float | None = None, stop: str = "stop") -> Raw:
    """A response; strings become text parts, ``total`` its reported tokens."""
    content = [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]
    usage = {"input": total, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": total}
    counted = {} if total is None else {"usage": usage}
    return {"role": "assistant", "content": content, "stopReason": stop, "timestamp": 2, **counted}


def result(id_: str, tokens: int | str, name: str = "other", *, images: int = 0, error: bool = False) -> Raw:
    """The answer to a call."""
    body = text(tokens) if isinstance(tokens, int) else tokens
    pictures = [{"type": "image", "data": f"pic{n}", "mimeType": "image/png"} for n in range(images)]
    content = [{"type": "text", "text": body}, *pictures]
    return {
        "role": "toolResult",
        "toolCallId": id_,
        "toolName": name,
        "content": content,
        "isError": error,
        "timestamp": 3,
    }


def execution(tokens: int, **fields: Any) -> Raw:
    """A command that the user ran."""
    return {"role": "bashExecution", "command": "make", "output": text(tokens), "exitCode": 0, "timestamp": 4, **fields}


def facts(window: int | None = 100_000, **given: Any) -> Facts:
    """Facts of a model; the reserve is stated as 10,000 unless a test says otherwise."""
    return Facts(window=window, **{"reserve_tokens": 10_000, "reserve_is_set": True, **given})


def summary(_: SummaryRequest) -> SummaryResponse:
    """A summariser that always answers."""
    return SummaryResponse(texts=("what happened",))


def broken(_: SummaryRequest) -> SummaryResponse:
    """A summariser whose key is bad."""
    return SummaryResponse(stop_reason="error", error_message="bad key")


def per_position(controller: Controller, plan: Any) -> list[str]:
    """What goes out, message by message, before anything is settled."""
    bare = materialise_positions(controller, plan)
    return [json.dumps(message, sort_keys=True) for message in bare]


def materialise_positions(controller: Controller, plan: Any) -> list[Raw]:
    """One outgoing dict a position, without settling."""
    out = []
    for position, item in enumerate(controller.items):
        message = item.as_dict()
        message.pop("timestamp", None)
        if position in plan.replacements:
            message["marker"] = plan.replacements[position]
            message.pop("content", None), message.pop("output", None)
        start, end = plan.strip_thinking or (0, 0)
        if start <= position < end and message.get("role") == "assistant" and isinstance(message["content"], list):
            message["content"] = [part for part in message["content"] if part.get("type") != "thinking"]
        out.append(message)
    return out


class Host:
    """One session under one controller; the provider counts characters / 4 plus ``overhead``."""

    def __init__(self, policy: Any = "balanced", *, overhead: float = 0, typed: bool = False, **given: Any) -> None:
        given.setdefault("facts", facts())
        given.setdefault("sizer", chars_sizer)
        self.overhead = overhead
        self.typed = typed
        self.controller = Controller(policy=policy, **given)
        self.path: list[Any] = []
        self.added = 0
        self.sent: list[Raw] = []
        self.asked: list[SummaryRequest] = []
        self.events: list[Any] = []
        self.new_events: list[Any] = []
        self.outcome: Send | Fallback | None = None
        self.summariser: Callable[[SummaryRequest], SummaryResponse] = summary
        self.clock = 1000.0

    def add(self, message: Raw) -> str:
        """Append a message; gives the id of its entry."""
        return self.append({"type": "message", "message": message})

    def append(self, data: Raw) -> str:
        """Append an entry."""
        self.added += 1
        id_ = f"e{self.added}"
        stamp = f"2026-05-01T{int(self.clock) // 3600:02}:{int(self.clock) // 60 % 60:02}:{int(self.clock) % 60:02}Z"
        parent = self.path[-1]["id"] if self.path else None
        entry = {"id": id_, "parentId": parent, "timestamp": stamp, **data}
        self.path.append(as_entry(entry) if self.typed else entry)
        return id_

    def request(self, *, now: float | None = None, output: int = 0) -> Send | Fallback:
        """Make the next request: summaries are written, the cut is appended, the messages are built."""
        self.asked = []
        outcome: Any = self.controller.before_request(self.path, now=now, requested_output=output)
        while isinstance(outcome, Summarise):
            self.asked.append(outcome.request)
            outcome = self.controller.summarised(self.summariser(outcome.request))
        if isinstance(outcome, Send) and outcome.cut is not None:
            self.append({"type": "compaction", **outcome.cut})
        self.outcome = outcome
        self.sent = materialise(self.controller.items, outcome.plan)
        self.new_events = self.controller.take_events()
        self.events += self.new_events
        return outcome

    def size(self) -> float:
        """Tokens of the request just sent, as the provider counts."""
        return self.overhead + sum(estimate_tokens(message) for message in self.sent)

    def respond(self, *parts: Any, stop: str = "stop", total: float | None = None) -> str:
        """Append the response to the request just sent, with its usage."""
        own = estimate_tokens(assistant(*parts))
        failed = stop in ("error", "aborted")
        usage = (None if failed else self.size() + own) if total is None else total
        return self.add(assistant(*parts, total=usage, stop=stop))

    def rewind(self, length: int) -> None:
        """Go back to where the path had ``length`` entries; what follows is another branch."""
        self.path = self.path[:length]

    def restore(self) -> None:
        """Go on with a controller that knows nothing but the state of the one before, through JSON."""
        before = self.controller
        state = msgspec.json.decode(msgspec.json.encode(before.state), type=ControlState)
        self.controller = Controller(facts=before.facts, policy=before.policy, sizer=chars_sizer, state=state)

    def step(self, tokens: int, name: str = "other", *, now: float | None = None, **arguments: Any) -> str:
        """One request that is answered by one tool call, and its result of ``tokens``; gives the result's id."""
        self.request(now=now)
        id_ = f"c{len(self.path)}"
        self.respond(call(id_, name, **arguments))
        return self.add(result(id_, tokens, name))

    def kinds(self) -> list[str]:
        """Kinds of the events of the newest request."""
        return [event.kind for event in self.new_events]

    @property
    def shed(self) -> set[str]:
        """Ids of the entries that are replaced by markers."""
        controller = self.controller
        return {controller.items[position].entry.id for position in controller.ledger.shed}
