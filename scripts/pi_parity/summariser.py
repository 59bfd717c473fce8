"""A scripted summariser: answers from a case's list, notes what it was asked and which retries were made."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any, TypeVar

from leafscar.compaction import RetryPolicy, SummaryRequest, SummaryResponse, next_retry
from leafscar.model.jsjson import utf16_length

from .engines import Engine
from .texts import NOT_COMPARED, digest, is_known

__all__ = ["NO_USAGE", "Stub"]

_T = TypeVar("_T")
_COSTS = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}
NO_USAGE = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0, "cost": _COSTS}


class Stub:
    """Runs a generator of requests to its end."""

    def __init__(self, case: Mapping[str, Any], engine: Engine) -> None:
        self.engine = engine
        self.responses = case.get("responses") or []
        self.retry = _policy(case.get("retry"))
        self.requests: list[dict[str, Any]] = []
        self.events: list[dict[str, Any]] = []
        self.turn = 0

    def run(self, asking: Generator[SummaryRequest, SummaryResponse, _T]) -> _T:
        """Answer until the generator returns."""
        try:
            request = next(asking)
            while True:
                request = asking.send(self._answer_with_retries(request))
        except StopIteration as done:
            return done.value

    def restart(self) -> None:
        """Begin the list of answers anew."""
        self.requests, self.turn = [], 0

    def _answer_with_retries(self, request: SummaryRequest) -> SummaryResponse:
        done = 0
        while True:
            response = self._answer(request)
            retry = next_retry(self.retry, done, response.stop_reason, response.error_message, self.engine.rules)
            if retry is None:
                self._finished(done, response)
                return response
            done = retry.attempt
            self.events += [
                {
                    "event": "scheduled",
                    "attempt": done,
                    "max": retry.max_retries,
                    "delayMs": retry.delay_ms,
                    "errorMessage": retry.error_message,
                },
                {"event": "attempt_start"},
            ]

    def _finished(self, done: int, response: SummaryResponse) -> None:
        if not done:
            return
        event: dict[str, Any] = {"event": "finished", "ok": response.stop_reason not in ("error", "aborted")}
        event["attempt"] = done
        if response.stop_reason == "error" and response.error_message is not None:
            event["err"] = response.error_message
        self.events.append(event)

    def _answer(self, request: SummaryRequest) -> SummaryResponse:
        reply = self.responses[self.turn] if self.turn < len(self.responses) else None
        self.turn += 1
        reply = reply or {"text": f"STUB SUMMARY {self.turn}"}
        self.requests.append(self._noted(request))
        content = reply.get("content") or [{"type": "text", "text": reply.get("text") or ""}]
        return SummaryResponse(
            texts=tuple(part.get("text") or "" for part in content if part["type"] == "text"),
            stop_reason=reply.get("stopReason") or "stop",
            error_message=reply.get("errorMessage"),
            calls_tool=any(part["type"] == "toolCall" for part in content),
            usage=reply.get("usage") or NO_USAGE,
        )

    def _noted(self, request: SummaryRequest) -> dict[str, Any]:
        options: dict[str, Any] = {"maxTokens": request.max_tokens, "cacheRetention": "none"}
        if not self.engine.is_core:
            options["apiKey"] = "key"
        if request.reasoning:
            options["reasoning"] = request.reasoning
        return {
            "roles": ["user"],
            "contentTypes": ["text"],
            "systemPrompt": digest(request.system),
            "prompt": digest(request.prompt),
            "shape": _shape(request.prompt),
            "options": options,
            "sessionIdKind": "uuidv7",
        }


def _policy(raw: Mapping[str, Any] | None) -> RetryPolicy | None:
    if raw is None:
        return None
    return RetryPolicy(
        enabled=bool(raw.get("enabled")),
        max_retries=raw.get("maxRetries", 0),
        base_delay_ms=raw.get("baseDelayMs", 0),
        max_delay_ms=raw.get("maxAgentDelayMs"),
    )


def _shape(prompt: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for tag in ("conversation", "previous-summary"):
        opening, closing = f"<{tag}>\n", f"\n</{tag}>"
        start, stop = prompt.find(opening), prompt.rfind(closing)
        if start < 0 or stop < 0:
            continue
        end = stop + len(closing)
        inner = prompt[start + len(opening) : stop]
        found.append({"tag": tag, "start": _at(prompt, start), "end": _at(prompt, end), "inner": digest(inner)})
    return found


def _at(prompt: str, index: int) -> Any:
    """Position in UTF-16 units."""
    return utf16_length(prompt[:index]) if is_known(prompt[:index]) else NOT_COMPARED
