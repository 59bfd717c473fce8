"""SWE-agent: a ``.traj`` file, its history or, without one, its steps.

Demonstrations at the start were sent and are kept as custom messages. Old observations may have been shortened in each
request; where steps hold what was sent, what they shortened becomes ``context_edit`` entries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from leafscar.errors import SessionRefused
from leafscar.formats._json import fields_of, outline, read_document
from leafscar.formats._pieces import count, mappings, text_parts
from leafscar.formats._unknown import gaps
from leafscar.formats._wire_chat import Conversation
from leafscar.formats.pi import Header
from leafscar.formats.reading import Builder, Reading
from leafscar.model.shapes import as_list, as_text

__all__ = ["FORMAT", "read_swe_agent", "sniff"]

FORMAT = "swe_agent"


def sniff(head: bytes, name: str) -> bool:
    """Whether a file that starts with ``head`` is a trajectory of SWE-agent."""
    found = fields_of(outline(head))
    steps = mappings(as_list(found.get("trajectory")) or ())
    told = mappings(as_list(found.get("history")) or ())
    if any("observation" in step and "response" in step for step in steps[:1]):
        return True
    return name.endswith(".traj") and (bool(steps or told) or "environment" in found)


def read_swe_agent(data: bytes) -> Reading:
    """Read a trajectory; raises ``SessionRefused`` when it holds neither steps nor a history."""
    whole = fields_of(read_document(data, FORMAT))
    steps, told = mappings(as_list(whole.get("trajectory")) or ()), mappings(as_list(whole.get("history")) or ())
    if not steps and not told:
        raise SessionRefused(FORMAT, "neither steps nor a history", hint="give the .traj file of a run")
    run = _Run(steps)
    run.read(told or _from_steps(steps))
    stats = fields_of(fields_of(whole.get("info")).get("model_stats"))
    notes = [*gaps(run.builder.entries), *_totals(stats), *_unseen(run)]
    header = Header(version=3, id=as_text(whole.get("instance_id")) or as_text(whole.get("environment")) or "")
    return run.builder.reading(FORMAT, header, unknown=notes)


def _from_steps(steps: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """A history of steps: what the model said, then what it saw."""
    told: list[Mapping[str, Any]] = []
    for step in steps:
        told.append({"role": "assistant", "content": step.get("response", step.get("thought"))})
        told.append({"role": "user", "content": step.get("observation")})
    return told


def _totals(stats: Mapping[str, Any]) -> list[str]:
    sent, received = count(stats.get("tokens_sent")), count(stats.get("tokens_received"))
    if not sent and not received:
        return []
    calls = count(stats.get("api_calls")) or 0
    return [
        f"Usage is stated as totals only: {sent or 0:,} tokens sent, {received or 0:,} received, {calls:,} requests."
    ]


def _unseen(run: _Run) -> list[str]:
    return [] if run.viewed else ["What requests left out of old observations is not in the file."]


class _Run:
    """Turns a history into entries; where a step shows the context at some length, what it shortened becomes edits."""

    def __init__(self, steps: Sequence[Mapping[str, Any]]) -> None:
        self.builder = Builder()
        self.edits = 0
        """Messages that were shortened."""
        views = [mappings(step.get("messages")) for step in steps]
        self.viewed = any(views)
        """Whether steps show what was sent."""
        self._views = {len(view): view for view in views}
        self._shown: list[tuple[str, str]] = []  # entry of each message of the history, and its words as last sent

    def read(self, told: Sequence[Mapping[str, Any]]) -> None:
        """Add all messages."""
        conversation = Conversation(FORMAT)
        for number, said in enumerate(told, start=1):
            self._shorten(self._views.get(number - 1, []))
            item = conversation.item(_plain(said))
            entry = "" if item is None else self._add(fields_of(item.message), f"m{number}", said)
            self._shown.append((entry, _words(said)))
        self._shorten(self._views.get(len(told), []))

    def _add(self, message: Mapping[str, Any], id_: str, said: Mapping[str, Any]) -> str:
        if said.get("is_demo") is not True:
            return self.builder.add("message", {"message": message}, id_=id_).id
        text = text_parts(_words(said))
        fields = {"customType": f"{FORMAT}.demonstration", "content": text, "display": False}
        return self.builder.add("custom_message", fields, id_=id_).id

    def _shorten(self, view: Sequence[Mapping[str, Any]]) -> None:
        for at, sent in enumerate(view):
            entry, words = self._shown[at]
            if entry and _words(sent) != words:
                self.edits += 1
                self._shown[at] = entry, _words(sent)
                fields = {"targetId": entry, "replacement": {"content": text_parts(_words(sent))}}
                self.builder.add("context_edit", fields, id_=f"edit{self.edits}")


def _words(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(text for part in mappings(content) if (text := as_text(part.get("text"))) is not None)


def _plain(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message of a history in the shape of a chat request: a result names its call in a list here."""
    ids = [id_ for id_ in as_list(message.get("tool_call_ids")) or () if isinstance(id_, str)]
    known = {key: message[key] for key in ("role", "content", "tool_calls") if key in message}
    thinking = [text for block in mappings(message.get("thinking_blocks")) if (text := as_text(block.get("thinking")))]
    return {
        **known,
        **({"tool_call_id": ids[0]} if ids else {}),
        **({"reasoning_content": "\n".join(thinking)} if thinking else {}),
    }
