"""What leafscar answers on a case, in the shape of pi's own document."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from leafscar.compaction import Texts, file_ops, file_text, is_overflow, is_retryable, serialize, should_compact
from leafscar.compaction import to_model_messages as to_model
from leafscar.compaction.slots import message_tokens
from leafscar.estimate import ContextEstimate, context_tokens, estimate_context

from .engines import Engine
from .faults import JsError, check_estimate, check_serialize, js_tokens
from .texts import digest_json, hide

__all__ = ["Case", "attempt", "entries_of", "estimate", "estimate_fields", "probe_pure"]

Case = Mapping[str, Any]


def attempt(run: Callable[[], Any]) -> Any:
    """Give the value, or V8's words."""
    try:
        return run()
    except JsError as fault:
        return {"error": str(fault)}


def entries_of(case: Case) -> list[Mapping[str, Any]]:
    """Entries of a case without the header, from a list or from the text of a session file."""
    entries = case.get("entries") or []
    if case.get("session"):
        entries = [json.loads(line) for line in case["session"].split("\n") if line.strip()]
    return [entry for entry in entries if entry.get("type") != "session"]


def estimate_fields(estimate: ContextEstimate) -> dict[str, Any]:
    """Pi's names."""
    return {
        "tokens": estimate.tokens,
        "usageTokens": estimate.usage_tokens,
        "trailingTokens": estimate.trailing_tokens,
        "lastUsageIndex": estimate.last_usage_index,
    }


def probe_pure(case: Case, engine: Engine, texts: Texts) -> dict[str, Any]:
    """Everything of a case that needs no session."""
    out: dict[str, Any] = {"oracle": 1, "engine": engine.kind, "piVersion": engine.version}
    if "messages" in case:
        out |= _messages(case["messages"], engine, texts)
    if "usages" in case:
        out["usages"] = [_number(context_tokens(usage)) for usage in case["usages"]]
    if "should" in case:
        out["should"] = [should_compact(*arguments) for arguments in case["should"]]
    if "classify" in case:
        out["classify"] = [is_retryable(text, engine.rules) for text in case["classify"]]
    if "overflow" in case:
        probes = [(_without_null_output(message), window) for message, window in case["overflow"]]
        out["overflow"] = [is_overflow(message, window, engine.rules) for message, window in probes]
    return out


def estimate(messages: Sequence[Mapping[str, Any]], engine: Engine) -> ContextEstimate:
    """Context estimate of raw messages under the rules of an engine."""
    return estimate_context(messages, estimate=lambda message: message_tokens(message, engine.rules))


def serialized(messages: Sequence[Mapping[str, Any]], engine: Engine, texts: Texts) -> str:
    """Serialized conversation with pi's openings named; raises what V8 would."""
    check_serialize(to_model(messages, texts=texts, rules=engine.rules))  # type: ignore[arg-type]
    return hide(serialize(messages, texts=texts, rules=engine.rules), texts)


def _messages(messages: Sequence[Mapping[str, Any]], engine: Engine, texts: Texts) -> dict[str, Any]:
    lists = file_ops(messages, rules=engine.rules).lists()
    return {
        "messages": [_tokens(message, engine) for message in messages],
        "estimate": attempt(lambda: _estimate(messages, engine)),
        "llm": [
            {"role": message["role"], "content": digest_json(message.get("content"))}
            for message in to_model(messages, texts=texts, rules=engine.rules)
        ],
        "serialized": attempt(lambda: serialized(messages, engine, texts)),
        "fileLists": {"readFiles": list(lists.read_files), "modifiedFiles": list(lists.modified_files)},
        "fileText": file_text(lists),
    }


def _tokens(message: Mapping[str, Any], engine: Engine) -> Any:
    try:
        return js_tokens(message, engine.kind, engine.version)
    except JsError:
        return "throws TypeError"


def _estimate(messages: Sequence[Mapping[str, Any]], engine: Engine) -> dict[str, Any]:
    check_estimate(messages, engine.kind, engine.version)
    return estimate_fields(estimate(messages, engine))


def _without_null_output(message: Mapping[str, Any]) -> dict[str, Any]:
    """An output of null is no 0 to ``===``, though it adds like one."""
    usage = {key: value for key, value in (message.get("usage") or {}).items() if (key, value) != ("output", None)}
    return {**message, "usage": usage}


def _number(value: float) -> Any:
    return "NaN" if value != value else value  # noqa: PLR0124 - NaN
