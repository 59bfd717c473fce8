"""What leafscar answers on the branch of a case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from leafscar.compaction import BranchResult, Item, Texts, collect_branch, prepare_branch, summarise_branch
from leafscar.compaction import to_model_messages as to_model
from leafscar.compaction.thresholds import RESERVE
from leafscar.errors import SummaryFailed
from leafscar.model import Entry

from .document import Case
from .engines import Engine
from .faults import Crash, JsError, check_serialize, js_tokens
from .identity import ids_of
from .session_document import options_of
from .summariser import Stub
from .texts import NOT_COMPARED, digest, is_known

__all__ = ["probe_branch"]

_TAIL = 80
_WINDOW = 128_000


def probe_branch(
    case: Case, entries: Sequence[Mapping[str, Any]], engine: Engine, texts: Texts, stub: Stub
) -> dict[str, Any]:
    """All fields about leaving one branch for another."""
    asked = case["branch"]
    walk = collect_branch(entries, asked.get("from"), asked.get("to"))
    budget = asked.get("budget") or 0
    _crash_where_pi_does(walk.entries, budget, engine)
    prepared = prepare_branch(walk.entries, budget, engine.rules)
    stub.restart()
    result = _result(case, asked.get("options") or {}, walk.entries, engine, texts, stub)
    return {
        "collected": [entry.id for entry in walk.entries],
        "commonAncestorId": walk.common_ancestor_id,
        "included": ids_of([item.as_dict() for item in prepared.items], walk.entries),
        "totalTokens": prepared.total_tokens,
        "fileOps": {
            "read": list(prepared.file_ops.read),
            "written": list(prepared.file_ops.written),
            "edited": list(prepared.file_ops.edited),
        },
        "requests": list(stub.requests),
        "result": result,
    }


def _result(
    case: Case, asked: Mapping[str, Any], entries: Sequence[Entry], engine: Engine, texts: Texts, stub: Stub
) -> dict[str, Any]:
    options = replace(
        options_of({**case, "model": {**(case.get("model") or {}), **(asked.get("model") or {})}}, texts),
        instructions=asked.get("customInstructions"),
        replace_instructions=bool(asked.get("replaceInstructions")),
    )
    reserve = asked.get("reserveTokens", RESERVE)
    try:
        _check(entries, (options.window or _WINDOW) - (reserve or 0), engine)
    except JsError as fault:
        return {"error": str(fault)}
    try:
        result = stub.run(summarise_branch(entries, options, engine.rules, reserve=reserve or 0))
    except SummaryFailed as failure:
        return _failed(failure, engine)
    return _summary(result, engine)


def _crash_where_pi_does(entries: Sequence[Entry], budget: float, engine: Engine) -> None:
    try:
        _walk(entries, budget, engine)
    except JsError as fault:
        raise Crash(str(fault)) from fault


def _check(entries: Sequence[Entry], budget: float, engine: Engine) -> None:
    """Raise what V8 would while a branch is chosen and serialized."""
    _walk(entries, budget, engine)
    chosen = prepare_branch(entries, budget, engine.rules).items
    check_serialize(to_model([_raw(item) for item in chosen], rules=engine.rules))  # type: ignore[arg-type]


def _walk(entries: Sequence[Entry], budget: float, engine: Engine) -> None:
    total = 0
    for item in reversed(prepare_branch(entries, 0, engine.rules).items):
        total += js_tokens(_raw(item), engine.kind, engine.version)
        if 0 < budget < total:
            return


def _raw(item: Item) -> dict[str, Any]:
    """The message as pi's branch code holds it: content is not mended there."""
    source = item.entry.message_data
    if source is not None:
        return dict(source)
    data = item.as_dict()
    if item.entry.type == "custom_message":
        data.pop("content", None)
        return {**data, **({"content": item.entry["content"]} if "content" in item.entry.data else {})}
    return data


def _last_units(text: str, units: int) -> str:
    return text.encode("utf-16-le", "surrogatepass")[-2 * units :].decode("utf-16-le", "surrogatepass")


def _failed(failure: SummaryFailed, engine: Engine) -> dict[str, Any]:
    if engine.is_core:
        code = "aborted" if failure.code == "aborted" else "summarization_failed"
        return {"error": f"BranchSummaryError: {failure.words}", "code": code}
    return {"aborted": True} if failure.code == "aborted" else {"error": failure.words}


def _summary(result: BranchResult, engine: Engine) -> dict[str, Any]:
    tail = _last_units(result.summary, _TAIL)
    fields: dict[str, Any] = {
        "summary": digest(result.summary),
        "summaryTail": tail if is_known(tail) else NOT_COMPARED,
    }
    if not result.asked and not engine.is_core:
        return fields
    lists = {
        "readFiles": list(result.details.read_files),
        "modifiedFiles": list(result.details.modified_files),
    }
    return {**fields, **lists, **({"usage": dict(result.usage or {})} if result.asked else {})}
