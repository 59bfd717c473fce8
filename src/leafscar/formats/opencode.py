"""opencode: what ``opencode export`` prints or its store holds, one document of messages with their parts.

A message with several steps is several responses. Snapshots, patches, retries, step marks and mentions of agents are
for the screen or for undoing and are left out. Results that the tool cleared stay as they were; ``context_edit``
entries say from when on the model saw a placeholder. A compaction is one entry: its request, its answer, its usage.
Messages of version 2 have a type and no parts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from leafscar.errors import SessionRefused
from leafscar.formats._cuts import add_cut
from leafscar.formats._json import fields_of, outline, read_document
from leafscar.formats._opencode_parts import api_of, responses, step_usage, user_content
from leafscar.formats._opencode_v2 import as_v1, cut_summary, is_v2, user_parts
from leafscar.formats._pieces import (
    assistant_message,
    count,
    first_text,
    iso_time,
    mappings,
    milliseconds,
    result_message,
    text_parts,
    without_nothing,
)
from leafscar.formats._unknown import gaps
from leafscar.formats.pi import Header, Problem
from leafscar.formats.reading import Builder, Reading
from leafscar.model.shapes import as_list, as_mapping, as_text

__all__ = ["FORMAT", "read_export", "read_opencode", "sniff"]

FORMAT = "opencode"
CLEARED = "[Old tool result content cleared]"
"""What the tool sends in the place of a result that it cleared."""


_SENT = ("synthetic", "system", "skill")
"""Messages of version 2 that opencode wrote itself and the model was sent."""
_UNSENT = ("agent-switched", "model-switched", "location-switched", "idle")


def sniff(head: bytes, name: str) -> bool:  # noqa: ARG001 - one signature for all readers
    """Whether a file that starts with ``head`` is an export of opencode, or the head of a session in its store."""
    fields = fields_of(outline(head))
    found = (as_text(holder.get("id")) or "" for holder in (fields, fields_of(fields.get("info"))))
    return any(id_.startswith("ses_") for id_ in found)


def read_opencode(data: bytes) -> Reading:
    """Read an export; raises ``SessionRefused`` when it is none."""
    return read_export(fields_of(read_document(data, FORMAT)))


def read_export(whole: Mapping[str, Any], problems: Iterable[Problem] = ()) -> Reading:
    """Read a session that is given as an export; ``problems`` are those of whoever put it together.

    Raises ``SessionRefused`` when it holds no list of messages.
    """
    if as_list(whole.get("messages")) is None:
        raise SessionRefused(FORMAT, "no list of messages", hint="write the file with opencode export")
    info = fields_of(whole.get("info"))
    export = _Export()
    export.builder.problems.extend(problems)
    for number, item in enumerate(mappings(whole.get("messages")), start=1):
        if is_v2(item):
            export.message_v2(item, number)
        else:
            export.message(fields_of(item.get("info")), mappings(item.get("parts")), number)
    export.clear()
    time = fields_of(info.get("time"))
    header = Header(
        version=3,
        id=as_text(info.get("id")) or "",
        timestamp=iso_time(time.get("created")),
        cwd=as_text(info.get("directory")),
    )
    notes = [*gaps(export.builder.entries), *_notes(info)]
    return export.builder.reading(FORMAT, header, unknown=notes)


def _notes(info: Mapping[str, Any]) -> list[str]:
    notes: list[str] = []
    if first_text(info.get("parentID")):
        notes.append("It is the session of a sub-agent; the session that started it is a recording of its own.")
    if first_text(info.get("forkID")):
        notes.append("It was forked from another session; what it repeats of that one was billed there.")
    if as_mapping(info.get("revert")) is not None:
        notes.append("Its last messages were undone, which takes effect with the next prompt; they are shown.")
    return notes


class _Export:
    """Turns messages into entries, in the order of the file."""

    def __init__(self) -> None:
        self.builder = Builder()
        self._cleared: list[tuple[int, str]] = []  # when, and the entry of the result
        self._requests: dict[str, Mapping[str, Any]] = {}  # compaction parts by their message
        self._first: dict[str, str] = {}  # first entry of each message

    def message(self, info: Mapping[str, Any], parts: Sequence[Mapping[str, Any]], number: int) -> None:
        """Read one message."""
        id_ = as_text(info.get("id")) or f"m{number}"
        self.clear(milliseconds(fields_of(info.get("time")).get("created")) or 0)
        before = len(self.builder.entries)
        if info.get("role") == "assistant":
            self._assistant(info, parts, id_)
        elif info.get("role") == "user":
            self._user(info, parts, id_)
        else:
            self.builder.problem("no-role", 0, f"message {id_[:80]} is neither the user's nor the assistant's, skipped")
        if len(self.builder.entries) > before:
            self._first.setdefault(id_, self.builder.entries[before].id)

    def message_v2(self, message: Mapping[str, Any], number: int) -> None:
        """Read one message of version 2."""
        id_, kind = as_text(message.get("id")) or f"m{number}", as_text(message.get("type")) or ""
        when = fields_of(message.get("time")).get("created")
        match kind:
            case "user":
                self._user(message, user_parts(message), id_)
            case "assistant":
                info, parts = as_v1(message)
                self._assistant(info, parts, id_)
            case "compaction":
                self._compaction_v2(message, id_, when)
            case "shell":
                self._put("message", {"message": _shell(message)}, id_, when)
            case _ if kind in _SENT:
                self._written(kind, text_parts(message.get("text")), id_, when)
            case _ if kind not in _UNSENT:
                self._put("custom", {"customType": f"{FORMAT}.{kind}"}, id_, when)
            case _:
                pass

    def clear(self, until: float = math.inf) -> None:
        """Add an edit for each result that was cleared up to a moment."""
        due = sorted(item for item in self._cleared if item[0] <= until)
        self._cleared = [item for item in self._cleared if item[0] > until]
        for when, target in due:
            fields = {"targetId": target, "replacement": {"content": [{"type": "text", "text": CLEARED}]}}
            self.builder.add("context_edit", fields, id_=f"clear-{target}", timestamp=iso_time(when))

    # --- the user's side

    def _user(self, info: Mapping[str, Any], parts: Sequence[Mapping[str, Any]], id_: str) -> None:
        when = fields_of(info.get("time")).get("created")
        for part in parts:
            if part.get("type") == "compaction":
                self._requests[id_] = part
            elif part.get("type") == "subtask":
                data = without_nothing(agent=part.get("agent"), description=part.get("description"))
                self._put("custom", {"customType": f"{FORMAT}.subtask", "data": data}, f"{id_}-subtask", when)
        content, typed = user_content(parts)
        if not content:
            return
        if typed:
            message = {"role": "user", "content": content, **without_nothing(timestamp=milliseconds(when))}
            self._put("message", {"message": message}, id_, when)
        else:
            self._written("synthetic", content, id_, when)

    def _written(self, kind: str, content: list[dict[str, Any]], id_: str, when: Any) -> None:
        """Add what opencode wrote itself and the model was sent."""
        fields = {"customType": f"{FORMAT}.{kind}", "content": content, "display": False}
        self._put("custom_message", fields, id_, when)

    # --- the assistant's side

    def _assistant(self, info: Mapping[str, Any], parts: Sequence[Mapping[str, Any]], id_: str) -> None:
        when = fields_of(info.get("time")).get("created")
        steps = responses(info, parts, FORMAT)
        if info.get("summary") is True and steps[0].stop not in ("error", "aborted"):
            self._cut(info, steps[0].text, steps[0].usage, id_, when)
            return
        for number, step in enumerate(steps, start=1):
            own = id_ if number == 1 else f"{id_}-s{number}"
            message = assistant_message(
                step.content,
                api=api_of(info),
                provider=as_text(info.get("providerID")),
                model=as_text(info.get("modelID")),
                usage=step.usage,
                stop=step.stop,
                errorMessage=step.error,
                timestamp=milliseconds(when),
            )
            self._put("message", {"message": message}, own, when)
            for at, result in enumerate(step.results, start=1):
                answer = result_message(
                    result.call_id,
                    result.name,
                    result.content,
                    is_error=result.is_error,
                    timestamp=milliseconds(result.at),
                )
                entry = self._put("message", {"message": answer}, f"{own}-r{at}", result.at)
                if result.cleared is not None:
                    self._cleared.append((result.cleared, entry))

    def _cut(self, info: Mapping[str, Any], summary: str, usage: dict[str, Any] | None, id_: str, when: Any) -> None:
        asked = self._requests.get(as_text(info.get("parentID")) or "", {})
        tail = self._first.get(as_text(asked.get("tail_start_id")) or "")
        auto = asked.get("auto")
        fields = {
            "summary": summary,
            **without_nothing(usage=usage),
            **({"trigger": "auto" if auto else "manual"} if isinstance(auto, bool) else {}),
        }
        add_cut(self.builder, fields, id_=id_, first=tail, timestamp=iso_time(when))

    def _compaction_v2(self, message: Mapping[str, Any], id_: str, when: Any) -> None:
        if message.get("status") == "completed":
            reason = as_text(message.get("reason"))
            usage = step_usage(message)
            fields = {"summary": cut_summary(message), **without_nothing(usage=usage, trigger=reason)}
            add_cut(self.builder, fields, id_=id_, timestamp=iso_time(when))
        elif message.get("status") == "failed":
            info, parts = as_v1(message)
            self._assistant(info, parts, id_)

    def _put(self, kind: str, fields: Mapping[str, Any], id_: str, when: Any) -> str:
        return self.builder.add(kind, fields, id_=id_, timestamp=iso_time(when)).id


def _shell(message: Mapping[str, Any]) -> dict[str, Any]:
    """A command that the user ran, as the model is told of it."""
    output = message.get("output")
    return {
        "role": "bashExecution",
        "command": as_text(message.get("command")) or "",
        "output": as_text(fields_of(output).get("output")) or as_text(output) or "",
        "cancelled": False,
        "truncated": fields_of(output).get("truncated") is True,
        **without_nothing(exitCode=count(message.get("exit")), timestamp=_created(message)),
    }


def _created(message: Mapping[str, Any]) -> int | None:
    return milliseconds(fields_of(message.get("time")).get("created"))
