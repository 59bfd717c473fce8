"""The chat records of Gemini CLI: messages that may be written again, rewound, or replaced as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from leafscar.formats._cuts import add_cut
from leafscar.formats._json import as_json_text, fields_of
from leafscar.formats._pieces import (
    assistant_message,
    call_part,
    count,
    image_part,
    make_usage,
    mappings,
    milliseconds,
    result_message,
    text_parts,
    thinking_part,
    uncached,
    without_nothing,
)
from leafscar.formats.reading import Builder
from leafscar.model.shapes import as_list, as_mapping, as_text

__all__ = ["API", "PROVIDER", "Chat", "content_parts"]

API, PROVIDER = "google-generative-ai", "google"


class _Node:
    """One message, cut or edit; ``parent`` is the position of the node before it, -1 for a root."""

    def __init__(
        self, kind: str, fields: Mapping[str, Any], *, id_: str, parent: int, line: int, raw: bytes | None
    ) -> None:
        self.kind, self.fields, self.id = kind, fields, id_
        self.parent, self.line, self.raw = parent, line, raw
        self.first: str = ""
        """Id of its first entry."""
        self.last: int = -1
        """Position of its last entry, or of what came before it when it gave none."""


class Chat:
    """Follows the records of one chat; ``emit`` turns what they came to into entries."""

    def __init__(self, builder: Builder, format_: str) -> None:
        self.builder = builder
        self.facts: dict[str, Any] = {}
        """Fields of the session itself."""
        self.nodes: list[_Node] = []
        self._format = format_
        self._live: dict[str, int] = {}  # what is in the context now, in order
        self._leaf = -1
        self._results: dict[str, str] = {}  # entry of each call's result
        self._sent: dict[str, Any] = {}  # newest known result of each call

    # --- reading records

    def record(self, fields: Mapping[str, Any], line: int, raw: bytes) -> None:
        """Read one line of the JSONL variant."""
        id_, changed = as_text(fields.get("id")), as_mapping(fields.get("$set"))
        if isinstance(fields.get("$rewindTo"), str):
            self._rewind(fields["$rewindTo"])
        elif id_:
            self.message(fields, id_, line, raw)
        elif changed is not None:
            self.facts.update({name: value for name, value in changed.items() if name != "messages"})
            self._replace(mappings(changed.get("messages")), line, raw)
        elif "sessionId" in fields:
            self.facts.update(fields)
        else:
            self.builder.problem("no-type", line, "neither a message nor a change of the session, skipped")

    def message(self, fields: Mapping[str, Any], id_: str, line: int = 0, raw: bytes | None = None) -> None:
        """Read a message; one that is written again replaces its older text in place."""
        for call in mappings(fields.get("toolCalls")):
            self._sent[as_text(call.get("id")) or ""] = call.get("result")
        if id_ in self._live and raw is not None:
            self.nodes[self._live[id_]].fields = fields
        else:
            self._live[id_] = self._add("message", fields, id_, line, raw)

    def _add(self, kind: str, fields: Mapping[str, Any], id_: str, line: int, raw: bytes | None) -> int:
        self.nodes.append(_Node(kind, fields, id_=id_, parent=self._leaf, line=line, raw=raw))
        self._leaf = len(self.nodes) - 1
        return self._leaf

    def _rewind(self, id_: str) -> None:
        """Go back to before a message; one that is not there means the start, as the tool itself reads it."""
        names = list(self._live)
        kept = names[: names.index(id_)] if id_ in self._live else []
        self._leaf = self.nodes[self._live[id_]].parent if id_ in self._live else -1
        self._live = {name: self._live[name] for name in kept}

    def _replace(self, messages: list[Mapping[str, Any]], line: int, raw: bytes) -> None:
        """Read a new history: what leads it is a summary, what it lacks was cut, changed results were masked."""
        told = [item for item in messages if as_text(item.get("id"))]
        if not told:
            return
        known = [item["id"] for item in told if item["id"] in self._live]
        first = next((at for at, item in enumerate(told) if item["id"] in self._live), len(told))
        head = "\n\n".join(filter(None, map(_texts, told[:first])))
        if head or (self._live and next(iter(self._live)) not in known):
            self._cut(head, known, line, raw)
        self._live = {id_: self._live[id_] for id_ in known}
        for item in told[first:]:
            self._mask(item, line, raw)
            if item["id"] not in self._live:
                self.message(item, item["id"], line, raw)

    def _cut(self, summary: str, known: list[str], line: int, raw: bytes) -> None:
        kept = {"summary": summary, "kept": self._live[known[0]] if known else None}
        self._add("compaction", kept, f"cut-{line}", line, raw)
        missing = [id_ for id_ in self._live if id_ not in known]
        after = list(self._live)[list(self._live).index(known[0]) :] if known else []
        if lost := sum(1 for id_ in after if id_ in missing):
            self.builder.problem("lost-messages", line, f"{lost} messages left the middle of the context; still shown")

    def _mask(self, item: Mapping[str, Any], line: int, raw: bytes) -> None:
        for call in mappings(item.get("toolCalls")):
            id_ = as_text(call.get("id")) or ""
            if id_ in self._sent and self._sent[id_] != call.get("result") and item["id"] in self._live:
                self._sent[id_] = call.get("result")
                self._add("edit", call, f"edit-{line}-{id_}", line, raw)

    # --- giving entries

    def emit(self) -> None:
        """Add the entries of all nodes."""
        for node in self.nodes:
            node.last = self.nodes[node.parent].last if node.parent >= 0 else -1
            if node.kind == "compaction":
                self._emit_cut(node)
            elif node.kind == "edit":
                self._emit_edit(node)
            else:
                self._emit_message(node)

    def _put(self, node: _Node, kind: str, fields: Mapping[str, Any], id_: str) -> str:
        when = as_text(node.fields.get("timestamp"))
        entry = self.builder.add(kind, fields, id_=id_, line=node.line, raw=node.raw, timestamp=when, parent=node.last)
        node.last = len(self.builder.entries) - 1
        node.first = node.first or entry.id
        return entry.id

    def _emit_cut(self, node: _Node) -> None:
        kept = node.fields["kept"]
        first = self.nodes[kept].first if isinstance(kept, int) else None
        told = {"summary": node.fields["summary"]}
        add_cut(self.builder, told, id_=node.id, first=first, line=node.line, raw=node.raw, parent=node.last)
        node.last = len(self.builder.entries) - 1

    def _emit_edit(self, node: _Node) -> None:
        id_ = as_text(node.fields.get("id")) or ""
        content, _ = self._result(node.fields.get("result"), id_)
        fields = {"targetId": self._results.get(id_, ""), "replacement": {"content": content}}
        self._put(node, "context_edit", fields, node.id)

    def _emit_message(self, node: _Node) -> None:
        match node.fields.get("type"):
            case "gemini":
                self._emit_response(node)
            case "user":
                self._emit_user(node)
            case kind:
                fields = {
                    "customType": f"{self._format}.{as_text(kind) or 'message'}",
                    "data": {"text": _texts(node.fields)},
                }
                self._put(node, "custom", fields, node.id)

    def _emit_user(self, node: _Node) -> None:
        content = node.fields.get("content")
        for answer in _responses(content):
            self._emit_answer(node, as_text(answer.get("id")) or "", as_text(answer.get("name")) or "", content)
        said = content if isinstance(content, str) else content_parts(content)
        if said or not _responses(content):
            when = milliseconds(node.fields.get("timestamp"))
            message = {"role": "user", "content": said, **without_nothing(timestamp=when)}
            self._put(node, "message", {"message": message}, node.id)

    def _emit_response(self, node: _Node) -> None:
        calls = _calls(node)
        fields = node.fields
        message = assistant_message(
            [*_thoughts(fields), *content_parts(fields.get("content")), *(call for call, _ in calls)],
            api=API,
            provider=PROVIDER,
            model=as_text(fields.get("model")),
            usage=_usage(as_mapping(fields.get("tokens"))),
            stop="toolUse" if calls else "stop",
            timestamp=milliseconds(fields.get("timestamp")),
        )
        self._put(node, "message", {"message": message}, node.id)
        for call, made in calls:
            if made.get("result") is not None:
                self._emit_answer(node, call["id"], call["name"], made.get("result"), as_text(made.get("status")), made)

    def _emit_answer(
        self,
        node: _Node,
        call_id: str,
        name: str,
        result: Any,
        status: str | None = None,
        made: Mapping[str, Any] | None = None,
    ) -> None:
        if call_id in self._results:
            return
        content, failed = self._result(result, call_id)
        when = milliseconds((made or node.fields).get("timestamp"))
        is_error = failed or status in ("error", "cancelled")
        message = result_message(call_id, name, content, is_error=is_error, timestamp=when)
        number = sum(1 for _ in self._results) + 1
        self._results[call_id] = self._put(node, "message", {"message": message}, f"{node.id}-r{number}")

    def _result(self, result: Any, call_id: str) -> tuple[list[dict[str, Any]], bool]:
        """Content of a result; parts beside the responses belong to the first of them."""
        if isinstance(result, str):
            return text_parts(result), False
        answers = _responses(result)
        own = [answer for answer in answers if answer.get("id") in (call_id, None)] or answers[:1]
        content: list[dict[str, Any]] = []
        for answer in own:
            content += self._answer(answer)
        if own == answers[: len(own)]:
            content += content_parts(result)
        return content, any("error" in fields_of(answer.get("response")) for answer in own)

    def _answer(self, answer: Mapping[str, Any]) -> list[dict[str, Any]]:
        response = answer.get("response")
        fields = fields_of(response)
        said = next((fields[key] for key in ("output", "error") if key in fields and len(fields) == 1), response)
        return [*text_parts(as_json_text(said, self._format)), *content_parts(answer.get("parts"))]


# --- pieces of a record --------------------------------------------------------------------------------


def _parts(content: Any) -> list[Mapping[str, Any]]:
    items = as_list(content)
    if items is None:
        return mappings(content)
    return [{"text": item} if isinstance(item, str) else item for item in items if isinstance(item, str | Mapping)]


def _responses(content: Any) -> list[Mapping[str, Any]]:
    found = (as_mapping(part.get("functionResponse")) for part in _parts(content))
    return [answer for answer in found if answer is not None]


def _texts(fields: Mapping[str, Any]) -> str:
    content = fields.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(text for part in _parts(content) if (text := as_text(part.get("text"))))


def content_parts(content: Any) -> list[dict[str, Any]]:
    """Text, thinking and image parts of a content in Gemini's shape, plain text included."""
    if isinstance(content, str):
        return text_parts(content)
    return [made for part in _parts(content) for made in _content_part(part)]


def _content_part(part: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    inline, file = as_mapping(part.get("inlineData")), as_mapping(part.get("fileData"))
    if part.get("thought") is True:
        return [thinking_part(part.get("text"), part.get("thoughtSignature"))]
    if inline is not None:
        return [image_part(inline.get("data"), inline.get("mimeType"))]
    if file is not None:
        return [image_part(file.get("fileUri"), file.get("mimeType"))]
    return text_parts(part.get("text"))


def _thoughts(fields: Mapping[str, Any]) -> list[dict[str, Any]]:
    told = mappings(fields.get("thoughts"))
    pairs = ((as_text(item.get("subject")), as_text(item.get("description"))) for item in told)
    return [thinking_part("\n\n".join(filter(None, pair))) for pair in pairs]


def _calls(node: _Node) -> list[tuple[dict[str, Any], Mapping[str, Any]]]:
    """Calls of a response with their records; a call that only stands in the content has a bare one."""
    recorded = mappings(node.fields.get("toolCalls"))
    ids = {as_text(call.get("id")) for call in recorded}
    bare = (as_mapping(part.get("functionCall")) for part in _parts(node.fields.get("content")))
    made = [*recorded, *(call for call in bare if call is not None and as_text(call.get("id")) not in ids)]
    return [
        (call_part(as_text(call.get("id")) or f"{node.id}-c{at}", call.get("name"), call.get("args", {})), call)
        for at, call in enumerate(made, start=1)
    ]


def _usage(tokens: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Usage of a response: the prompt count holds the cached part but not what tools put in."""
    if tokens is None:
        return None
    prompt, cached, tool = (count(tokens.get(name)) for name in ("input", "cached", "tool"))
    output, thoughts = count(tokens.get("output")), count(tokens.get("thoughts"))
    fresh = uncached(prompt, cached)
    return make_usage(
        input=None if fresh is None else fresh + (tool or 0),
        output=None if output is None else output + (thoughts or 0),
        cache_read=cached,
    )
