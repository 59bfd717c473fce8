"""What leafscar answers on the session of a case: context, cut, preparation, summary, what follows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from leafscar.compaction import (
    CompactionResult,
    CompactionSettings,
    Item,
    Preparation,
    SummaryOptions,
    Texts,
    as_settings,
    branch_walk,
    compact,
    estimate_projection,
    find_cut,
    prepare,
    project_context,
    reasoning_level,
    should_compact,
)
from leafscar.compaction import to_model_messages as to_model
from leafscar.compaction.prepare import searched
from leafscar.compaction.slots import Slot, items_of, make_slot
from leafscar.errors import SessionError, SummaryFailed
from leafscar.model import Entry, as_entry

from .document import Case, attempt, estimate, estimate_fields, serialized
from .engines import Engine
from .faults import Crash, JsError, check_estimate, is_anchor, js_tokens
from .identity import ids_of
from .summariser import Stub
from .texts import digest, digest_json

__all__ = ["options_of", "probe_session"]

_STUB_MODEL = {"reasoning": False, "contextWindow": 128000, "maxTokens": 8192}
_DEFAULTS = {"enabled": True, "reserveTokens": 16384, "keepRecentTokens": 20000}
_CODES = {"aborted": "aborted"}


def probe_session(
    case: Case, entries: Sequence[Mapping[str, Any]], engine: Engine, texts: Texts, stub: Stub
) -> dict[str, Any]:
    """All fields about the path of a case."""
    try:
        path = _path(case, entries, engine)
    except SessionError as fault:
        code = "not_found" if fault.reason == f"Entry {_leaf(case, entries)} not found" else "invalid_session"
        return {"path": {"error": f"SessionError: {fault.reason}", "code": code}}
    return _SessionProbe(case, path, engine, texts, stub).document()


def options_of(case: Case, texts: Texts) -> SummaryOptions:
    """Options of the summary requests that a case makes."""
    model = {**_STUB_MODEL, **(case.get("model") or {})}
    return SummaryOptions(
        max_output=model["maxTokens"] or 0,
        window=model["contextWindow"] or 0,
        reasoning=reasoning_level(case.get("thinkingLevel"), reasons=bool(model["reasoning"])),
        instructions=case.get("customInstructions"),
        texts=texts,
    )


class _SessionProbe:
    def __init__(self, case: Case, path: list[Entry], engine: Engine, texts: Texts, stub: Stub) -> None:
        self.case, self.path, self.engine, self.texts, self.stub = case, path, engine, texts, stub
        self.rules = engine.rules
        self.raw_settings = {**_DEFAULTS, **(case.get("settings") or {})}
        self.settings: CompactionSettings = as_settings(self.raw_settings)

    def document(self) -> dict[str, Any]:
        """Fields in pi's order."""
        keep = self.settings.keep_recent_tokens
        out: dict[str, Any] = {
            "settings": self.raw_settings,
            "path": [entry.id for entry in self.path],
            "entryTokens": [self._entry_tokens(entry) for entry in self.path],
            **self._context(),
            "lastAssistantUsage": self._last_usage(),
            "cutWhole": self._cut(0, len(self.path), keep),
        }
        if self.case.get("cut"):
            out["cut"] = [self._cut(*probe) for probe in self.case["cut"]]
        return {**out, **self._prepare()}

    # --- one entry after the other

    def _raws(self, slot: Slot) -> list[dict[str, Any]]:
        return [self._raw(item) for item in items_of([slot])]

    def _raw(self, item: Item) -> dict[str, Any]:
        """The message as pi holds it; only the coding agent mends absent content."""
        data = item.as_dict()
        if not self.engine.is_core:
            return data
        source = item.raw or item.entry.message_data
        if source is not None:
            return dict(source)
        if item.entry.type == "custom_message":
            data.pop("content", None)
            return {**data, **({"content": item.entry["content"]} if "content" in item.entry.data else {})}
        return data

    def _entry_tokens(self, entry: Entry) -> list[Any]:
        raws = self._raws(make_slot(entry, self.rules))
        if entry.type == "message" and entry.message_data is not None:
            raws = [dict(entry.message_data)]
        return [entry.id, entry.type, [raw.get("role") for raw in raws], [self._tokens(raw) for raw in raws]]

    def _tokens(self, raw: Mapping[str, Any]) -> Any:
        try:
            return js_tokens(raw, self.engine.kind, self.engine.version)
        except JsError:
            return "throws TypeError"

    # --- the context

    def _context(self) -> dict[str, Any]:
        projection = project_context(self.path, self.rules)
        raws = [self._raw(item) for item in projection.items]
        found = self._estimate(raws)
        model = projection.model
        fields: dict[str, Any] = {
            "roles": [raw.get("role") for raw in raws],
            "ids": ids_of(raws, self.path),
            "thinkingLevel": projection.thinking_level,
            "model": model and _present({"provider": model.provider, "modelId": model.model_id}),
            "estimate": estimate_fields(found),
        }
        if self.engine.version == "1.3.0":
            fields["projectedEstimate"] = estimate_fields(estimate_projection(projection, self.path, self.rules))
        window = {**_STUB_MODEL, **(self.case.get("model") or {})}["contextWindow"]
        return {"context": fields, "shouldCompact": should_compact(found.tokens, window or 0, self.settings)}

    def _estimate(self, raws: Sequence[Mapping[str, Any]]) -> Any:
        try:
            check_estimate(raws, self.engine.kind, self.engine.version)
        except JsError as fault:
            raise Crash(str(fault)) from fault
        return estimate(raws, self.engine)

    def _last_usage(self) -> Any:
        for entry in reversed(self.path):
            if entry.message_data is not None and is_anchor(entry.message_data):
                return entry.message_data["usage"]
        return None

    # --- the cut

    def _cut(self, start: int, end: int, keep: float) -> Any:
        slots = [make_slot(entry, self.rules) for entry in self.path]
        return attempt(lambda: self._checked_cut(slots, start, end, keep))

    def _checked_cut(self, slots: Sequence[Slot], start: int, end: int, keep: float) -> dict[str, Any]:
        if start < end and (start < 0 or end > len(slots)):
            raise JsError("Cannot read properties of undefined (reading 'type')")
        self._check_walk(slots, start, end, keep)
        cut = find_cut(self.path, start, end, keep, self.rules)
        return {
            "firstKeptEntryIndex": cut.first_kept_index,
            "turnStartIndex": cut.turn_start_index,
            "isSplitTurn": cut.is_split_turn,
        }

    def _check_walk(self, slots: Sequence[Slot], start: int, end: int, keep: float) -> None:
        """Count as pi's walk does, to throw where it would."""
        total = 0
        for slot in reversed(slots[start:end]):
            if self.engine.is_core and slot.entry.type != "message":
                continue
            tokens = sum(js_tokens(raw, self.engine.kind, self.engine.version) for raw in self._raws(slot))
            if not tokens and not self.engine.is_core:
                continue
            total += tokens
            if total >= keep:
                return

    # --- the preparation and what follows

    def _prepare(self) -> dict[str, Any]:
        prepared = attempt(self._prepared)
        if isinstance(prepared, dict):
            return {"prepare": prepared}
        if prepared is None:
            return {"prepare": self._nothing()}
        out = {"prepare": self._preparation(prepared)}
        return out if self.case.get("skipCompact") else {**out, **self._compact(prepared)}

    def _prepared(self) -> Preparation | None:
        if self.path and self.path[-1].type != "compaction":
            slots, _, start = searched(self.path, self.rules)
            self._check_walk(slots, start, len(slots), self.settings.keep_recent_tokens)
        return prepare(self.path, self.settings, self.rules)

    def _nothing(self) -> Any:
        """The agent core has one more reason to prepare nothing, and it is an error."""
        if not self.engine.is_core or not self.path or self.path[-1].type == "compaction":
            return None
        words = "First kept entry has no UUID - session may need migration"
        return {"error": f"CompactionError: {words}", "code": "invalid_session"}

    def _preparation(self, prepared: Preparation) -> dict[str, Any]:
        first = prepared.first_kept_entry_id
        history, prefix = ([self._raw(i) for i in items] for items in (prepared.history, prepared.turn_prefix))
        fields = {
            "firstKeptEntryId": first,
            "firstKeptIndex": next((i for i, e in enumerate(self.path) if e.id == first), -1),
            "isSplitTurn": prepared.is_split_turn,
            "tokensBefore": prepared.tokens_before,
            "previousSummary": prepared.previous_summary,
            "summarized": ids_of(history, self.path),
            "turnPrefix": ids_of(prefix, self.path),
            "fileOps": {
                "read": list(prepared.file_ops.read),
                "written": list(prepared.file_ops.written),
                "edited": list(prepared.file_ops.edited),
            },
            "serializedHistory": self._serialized(history),
            "serializedPrefix": self._serialized(prefix),
        }
        if self.engine.is_core:
            fields["retainedTail"] = ids_of([self._raw(i) for i in prepared.retained_tail], self.path)
        return fields

    def _serialized(self, raws: Sequence[Mapping[str, Any]]) -> str:
        try:
            return serialized(raws, self.engine, self.texts)
        except JsError as fault:
            raise Crash(str(fault)) from fault

    def _compact(self, prepared: Preparation) -> dict[str, Any]:
        try:
            result = self.stub.run(compact(prepared, options_of(self.case, self.texts), self.rules))
        except SummaryFailed as failure:
            return {**self._asked(), "result": self._failed(failure)}
        lists = {"readFiles": list(result.details.read_files), "modifiedFiles": list(result.details.modified_files)}
        fields = {
            "summary": result.summary,
            "firstKeptEntryId": result.first_kept_entry_id,
            "tokensBefore": result.tokens_before,
            "usage": dict(result.usage or {}),
            "details": lists,
        }
        return {**self._asked(), "result": fields, "after": self._after(result, lists)}

    def _asked(self) -> dict[str, Any]:
        events = {"retryEvents": list(self.stub.events)} if self.stub.events else {}
        return {"requests": list(self.stub.requests), **events}

    def _failed(self, failure: SummaryFailed) -> dict[str, Any]:
        if not self.engine.is_core:
            return {"error": f"Error: {failure.words}"}
        return {
            "error": f"CompactionError: {failure.words}",
            "code": _CODES.get(failure.code, "summarization_failed"),
        }

    def _after(self, result: CompactionResult, lists: Mapping[str, Any]) -> dict[str, Any]:
        written = {
            "type": "compaction",
            "id": "ffffffff",
            "parentId": self.path[-1].id,
            "timestamp": "2030-01-01T00:00:00.000Z",
            "summary": result.summary,
            "firstKeptEntryId": result.first_kept_entry_id,
            "tokensBefore": result.tokens_before,
            "details": lists,
        }
        path = [*self.path, as_entry(written)]
        projection = project_context(path, self.rules)
        raws = [self._raw(item) for item in projection.items]
        fields = {
            "roles": [raw.get("role") for raw in raws],
            "ids": ids_of(raws, path),
            "estimate": estimate_fields(self._estimate(raws)),
            "llm": [_sent(m) for m in to_model(raws, texts=self.texts, rules=self.rules)],  # type: ignore[arg-type]
        }
        if self.engine.version == "1.3.0":
            fields["projectedEstimate"] = estimate_fields(estimate_projection(projection, path, self.rules))
        return fields


def _sent(message: Mapping[str, Any]) -> list[Any]:
    content = message.get("content")
    if "content" not in message:
        raise Crash("no text to hash")
    return [message["role"], digest(content) if isinstance(content, str) else digest_json(content)]


def _present(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not None}


def _leaf(case: Case, entries: Sequence[Mapping[str, Any]]) -> str | None:
    return case["leafId"] if "leafId" in case else (entries[-1]["id"] if entries else None)


def _path(case: Case, entries: Sequence[Mapping[str, Any]], engine: Engine) -> list[Entry]:
    leaf = _leaf(case, entries)
    if engine.is_core:
        return _core_path(entries, leaf, engine)
    by_id = {entry.get("id"): entry for entry in entries}
    path: list[Entry] = []
    current = by_id.get(leaf)
    while current is not None:
        path.append(as_entry(current))
        current = by_id.get(current.get("parentId")) if current.get("parentId") else None
    return path[::-1]


def _core_path(entries: Sequence[Mapping[str, Any]], leaf: str | None, engine: Engine) -> list[Entry]:
    """The core's storage refuses a session whose own position is not among its entries."""
    if leaf is None:
        return []
    last = entries[-1] if entries else None
    position = last and (last.get("targetId") if last["type"] == "leaf" else last["id"])
    if position is not None and position not in {entry["id"] for entry in entries}:
        raise SessionError("session", f"Entry {position} not found")
    return branch_walk(entries, leaf, engine.rules)
