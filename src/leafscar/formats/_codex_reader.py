"""The records of a Codex rollout, read in order: responses, their bills, cuts and turns that were taken back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from leafscar._words import counted
from leafscar.formats._branches import Branches, Draft
from leafscar.formats._codex_items import (
    ANSWERS,
    CALLS,
    ITEMS,
    MODEL_ITEMS,
    answer_parts,
    content_parts,
    is_context,
    model_part,
)
from leafscar.formats._codex_usage import Counts, bills_writes
from leafscar.formats._json import Record
from leafscar.formats._pieces import assistant_message, count, mappings, milliseconds, result_message, without_nothing
from leafscar.model.shapes import as_list, as_mapping, as_text

__all__ = ["MAIN", "Reader"]

MAIN = "main"
_API = "openai-responses"
_NAME_UNITS = 60
_PROMPT_BYTES = 80_000
"""Of what people said, an old version kept the newest 20,000 tokens at a cut, four bytes a token."""
_CWD = re.compile(r"<cwd>([^<]+)</cwd>")


class _Response:
    """A response whose items, and whose bill, may still come."""

    def __init__(self, draft: Draft, facts: Mapping[str, Any]) -> None:
        self.draft = draft
        self.parts: list[dict[str, Any]] = []
        self.usage: dict[str, Any] | None = None
        self.aborted = False
        self._facts = facts

    def message(self) -> dict[str, Any]:
        calls = any(part.get("type") == "toolCall" for part in self.parts)
        stop = "aborted" if self.aborted else "toolUse" if calls else "stop"
        return assistant_message(self.parts, api=_API, stop=stop, usage=self.usage, **self._facts)


class Reader:
    """Reads one record after another; what the next one needs to know stands in the fields."""

    def __init__(self, format_: str) -> None:
        self.branches = Branches()
        self.counts = Counts()
        self.responses: list[_Response] = []
        self.meta: Mapping[str, Any] = {}
        """What the first header states."""
        self.cwd: str | None = None
        """Working directory as the model was told it."""
        self.sealed = 0
        """Cuts whose summary only the vendor can read."""
        self.reckoned = 0
        """Cuts that do not say which prompts they kept."""
        self.aside = 0
        """Bills that belong to no response in the file."""
        self._format = format_
        self._model: str | None = None
        self._effort: str | None = None
        self._system: dict[str, Any] | None = None
        self._current: _Response | None = None
        self._billed: _Response | None = None
        self._calls: dict[str, tuple[_Response, str]] = {}
        self._prompts: list[Draft] = []

    def read(self, record: Record) -> None:
        """Read one record."""
        fields = record.fields
        payload = as_mapping(fields.get("payload"))
        kind = as_text(fields.get("type")) or ""
        if payload is None:
            self._bare(record, kind)
            return
        match kind:
            case "session_meta":
                self._header(record, payload)
            case "turn_context":
                self._turn(record, payload)
            case "response_item":
                self._item(record, payload, f"line{record.line}")
            case "event_msg":
                self._event(record, payload)
            case "compacted":
                self._cut(record, payload)
            case _:
                self._note(record, kind)

    def finish(self) -> None:
        """Write the messages of the responses, now that nothing can come to them."""
        for response in self.responses:
            response.draft.fields["message"] = response.message()

    def _bare(self, record: Record, kind: str) -> None:
        """Read a line of a file that has no envelopes."""
        fields = record.fields
        if kind in ITEMS:
            self._item(record, fields, f"line{record.line}")
        elif not kind and "id" in fields:
            self._header(record, fields)
        elif kind:
            self._note(record, kind)

    # --- headers -------------------------------------------------------------------------------------

    def _header(self, record: Record, payload: Mapping[str, Any]) -> None:
        if self.meta:  # a fork holds the header of what it was forked from as well
            return
        self.meta = payload
        told = as_mapping(payload.get("base_instructions")) or {}
        text = as_text(told.get("text"))
        if text:
            self._system = {"role": "system", "content": text, **self._when(record)}
            self._add(record, "message", {"message": self._system}, f"line{record.line}")

    def _turn(self, record: Record, payload: Mapping[str, Any]) -> None:
        model, effort = as_text(payload.get("model")), as_text(payload.get("effort"))
        if model and model != self._model:
            self._model = model
            fields = {**without_nothing(provider=self._provider), "modelId": model}
            self._add(record, "model_change", fields, f"line{record.line}")
        if effort and effort != self._effort:
            self._effort = effort
            self._add(record, "thinking_level_change", {"thinkingLevel": effort}, f"line{record.line}.effort")

    @property
    def _provider(self) -> str | None:
        return as_text(self.meta.get("model_provider")) or ("openai" if self.meta else None)

    # --- items ---------------------------------------------------------------------------------------

    def _item(self, record: Record, item: Mapping[str, Any], id_: str, *, again: bool = False) -> None:
        kind = as_text(item.get("type")) or ""
        if kind in MODEL_ITEMS:
            self._model_item(record, item, id_, again=again)
        elif kind in ANSWERS:
            self._answer(record, item, id_, again=again)
        elif kind == "message" and item.get("role") == "assistant":
            self._respond(record, id_, again=again).parts += content_parts(item.get("content"))
        elif kind == "message":
            self._said(record, item, id_, again=again)
        elif kind != "ghost_snapshot":
            self._add(record, "custom", {"customType": f"codex.{kind[:_NAME_UNITS]}"}, id_, again=again)

    def _said(self, record: Record, item: Mapping[str, Any], id_: str, *, again: bool) -> None:
        role = as_text(item.get("role")) or "user"
        parts = content_parts(item.get("content"))
        self._current = None
        found = _CWD.search("\n".join(as_text(part.get("text")) or "" for part in parts))
        self.cwd = self.cwd or (found[1] if found else None)
        if role != "user" or is_context(parts):
            name = "context" if role == "user" else role[:_NAME_UNITS]
            fields = {"customType": f"codex.{name}", "content": parts, "display": False}
            self._add(record, "custom_message", fields, id_, again=again)
            return
        self.branches.settle(MAIN)
        self._billed = None
        message = {"role": "user", "content": parts, **self._when(record)}
        draft = self._add(record, "message", {"message": message}, id_, again=again)
        if not again:
            self._prompts.append(draft)

    def _model_item(self, record: Record, item: Mapping[str, Any], id_: str, *, again: bool) -> None:
        response = self._respond(record, id_, again=again)
        call_id = as_text(item.get("call_id")) or as_text(item.get("id")) or id_
        part = model_part(item, call_id)
        response.parts.append(part)
        if item.get("type") in CALLS:
            self._calls[call_id] = (response, part["name"])

    def _respond(self, record: Record, id_: str, *, again: bool) -> _Response:
        """Response that an item belongs to: the one being written, until something is sent or a bill comes."""
        if self._current is None:
            facts = {"provider": self._provider, "model": self._model, **self._when(record)}
            draft = self._add(record, "message", {}, id_, again=again)
            self._current = _Response(draft, facts)
            self.responses.append(self._current)
            self.branches.respond(draft)
        self._billed = self._current
        return self._current

    def _answer(self, record: Record, item: Mapping[str, Any], id_: str, *, again: bool) -> None:
        self._current = None
        call_id = as_text(item.get("call_id")) or ""
        response, name = self._calls.get(call_id, (None, ""))
        output = as_mapping(item.get("output")) or {}
        message = result_message(
            call_id, name, answer_parts(item, self._format), is_error=output.get("success") is False
        )
        draft = self._add(record, "message", {"message": {**message, **self._when(record)}}, id_, again=again)
        if response is not None:
            self.branches.answer(draft, response.draft)

    # --- events --------------------------------------------------------------------------------------

    def _event(self, record: Record, payload: Mapping[str, Any]) -> None:
        self.counts.window(payload.get("model_context_window"))
        match payload.get("type"):
            case "token_count":
                self._reading(record, as_mapping(payload.get("info")) or {})
            case "turn_aborted":
                self._abort()
                self._note(record, "turn_aborted")
            case "thread_rolled_back":
                self._take_back(count(payload.get("num_turns")) or 0)
                self._note(record, "thread_rolled_back")
            case "error":
                self._note(record, "error")
            case _:
                pass  # what the screen showed; the items say it themselves

    def _reading(self, record: Record, info: Mapping[str, Any]) -> None:
        self.counts.window(info.get("model_context_window"))
        usage, estimate = self.counts.usage(info, self._model), self.counts.estimate(info)
        if usage is not None:
            response, self._current = self._billed, None
            if response is None or response.usage is not None:
                self.aside += 1
                fields = {"customType": "codex.usage", "data": usage}
                self._add(record, "custom", fields, f"line{record.line}")
            else:
                response.usage = usage
        elif estimate is not None:
            fields = {"customType": "codex.context_estimate", "data": {"tokens": estimate}}
            self._add(record, "custom", fields, f"line{record.line}")

    def _abort(self) -> None:
        if self._billed is not None and self._billed.usage is None:
            self._billed.aborted = True
        self._current = None

    def _take_back(self, turns: int) -> None:
        """Go back to before the prompt of the oldest of the newest ``turns`` turns."""
        gone = self._prompts[max(0, len(self._prompts) - turns) :] if turns else []
        if gone:
            del self._prompts[-len(gone) :]
            self.branches.tips[MAIN] = gone[0].parent
            self.branches.settle(MAIN)
        self._current = self._billed = None

    # --- cuts ----------------------------------------------------------------------------------------

    def _cut(self, record: Record, payload: Mapping[str, Any]) -> None:
        summary = as_text(payload.get("message")) or ""
        listed = as_list(payload.get("replacement_history"))
        system = {} if self._system is None else {"systemMessage": self._system}
        id_ = f"line{record.line}"
        self.branches.settle(MAIN)
        self._current = self._billed = None
        self._add(record, "compaction", {"summary": summary, **system}, id_)
        self.reckoned += listed is None
        items = self._kept_prompts() if listed is None else mappings(listed)
        self.sealed += any(item.get("type") in ("compaction", "compaction_summary") for item in items)
        for number, item in enumerate(items, start=1):
            if not summary or summary not in [part.get("text") for part in content_parts(item.get("content"))]:
                self._item(record, item, f"{id_}-{number}", again=True)
        self._current = self._billed = None

    def _kept_prompts(self) -> list[Mapping[str, Any]]:
        """Newest prompts that fit what an old version kept of them, oldest first."""
        kept: list[Mapping[str, Any]] = []
        left = _PROMPT_BYTES
        for draft in reversed(self._prompts):
            parts = draft.fields["message"]["content"]
            left -= sum(len((as_text(part.get("text")) or "").encode("utf-8", "replace")) for part in parts)
            if left < 0:
                break
            kept.append({"type": "message", "role": "user", "content": parts})
        return kept[::-1]

    # --- entries -------------------------------------------------------------------------------------

    def _note(self, record: Record, kind: str) -> None:
        self._add(record, "custom", {"customType": f"codex.{kind[:_NAME_UNITS]}"}, f"line{record.line}")

    def _when(self, record: Record) -> dict[str, Any]:
        return without_nothing(timestamp=milliseconds(record.fields.get("timestamp")))

    def _add(self, record: Record, kind: str, fields: Mapping[str, Any], id_: str, *, again: bool = False) -> Draft:
        stamp = as_text(record.fields.get("timestamp"))
        return self.branches.add(MAIN, kind, fields, record, id_=id_, timestamp=stamp, own_line=not again)

    def unknown(self) -> list[str]:
        """Sentences: what this rollout leaves open, beside what its entries show."""
        thoughts = [part for response in self.responses for part in response.parts if part.get("type") == "thinking"]
        hidden = sum(1 for part in thoughts if part.get("thinkingSignature") and not part["thinking"])
        premium = any(response.usage and "cacheWrite" not in response.usage for response in self.responses)
        windows = ", ".join(f"{window:,}" for window in self.counts.windows)
        found = (
            (hidden, f"The text of {counted(hidden, 'reasoning item')} is encrypted."),
            (self.sealed, f"The summary of {counted(self.sealed, 'cut')} is encrypted; its size is not known."),
            (
                self.reckoned,
                f"Which prompts {counted(self.reckoned, 'cut')} kept is reckoned by the rule of that version.",
            ),
            (self.aside, f"{counted(self.aside, 'reading')} bill requests whose answers are not in it."),
            (
                premium and bills_writes(self._model),
                "How much of the uncached input was written to the cache is not stated.",
            ),
            (len(self.counts.windows) > 1, f"Its window changed on the way ({windows} tokens); the newest is taken."),
        )
        return [sentence for holds, sentence in found if holds]
