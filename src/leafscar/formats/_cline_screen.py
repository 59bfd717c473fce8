"""What Cline shows of a task, back into requests and responses."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from leafscar.formats._cuts import Timeline
from leafscar.formats._json import decode, fields_of
from leafscar.formats._pieces import (
    assistant_message,
    call_part,
    count,
    data_url,
    first_text,
    iso_time,
    make_usage,
    milliseconds,
    number_in,
    result_message,
    text_parts,
    thinking_part,
    without_nothing,
)
from leafscar.formats.reading import Builder
from leafscar.model.shapes import as_list, as_mapping, as_number, as_text

__all__ = ["Screen"]

_RESULT = re.compile(r"(?:\A|\n\n)\[([A-Za-z_]+)(?: for '[^\n]*)?\] Result:[ \n]")
_DETAILS = "<environment_details>"
_WINDOW = re.compile(r"# Context Window Usage\n[0-9.,]+[kKmM]? / ([0-9.,]+[kKmM]?) tokens used")
_TOOLS = {
    "readFile": ("read_file",),
    "newFileCreated": ("write_to_file", "new_rule"),
    "editedExistingFile": ("replace_in_file", "write_to_file", "apply_diff"),
    "appliedDiff": ("apply_diff",),
    "listFilesTopLevel": ("list_files",),
    "listFilesRecursive": ("list_files",),
    "listCodeDefinitionNames": ("list_code_definition_names",),
    "searchFiles": ("search_files",),
    "webFetch": ("web_fetch",),
}
"""Names of tools on the screen, and those that the model knows."""
_APIS = {"anthropic": "anthropic-messages"}


class _Response:
    """A response that is being read: its request's record, its parts, its calls."""

    def __init__(self, told: Mapping[str, Any], item: Mapping[str, Any], number: int) -> None:
        self.told, self.item, self.number = told, item, number
        self.parts: list[dict[str, Any]] = []
        self.calls: list[tuple[str, tuple[str, ...]]] = []
        """Id of each call and the names that its result may go by."""
        self.fresh = True
        """Whether nothing was shown since the request."""

    @property
    def answered(self) -> bool:
        """Whether there is anything of a response, be it that it was cancelled."""
        return bool(self.parts) or "cancelReason" in self.told or bool(_usage(self.told))


class Screen:
    """Follows the messages on the screen."""

    def __init__(self, format_: str) -> None:
        self.window: int | None = None
        """Context window in tokens, where a request tells the model of it."""
        self._format = format_
        self._timeline = Timeline()
        self._open: _Response | None = None
        self._names: dict[str, str] = {}
        self._images: list[Any] = []
        self._requests = 0
        self._cut: Any = None
        self._reached = -1  # last message of the tool's own history that was cut
        self._condensed = 0

    def message(self, item: Mapping[str, Any]) -> None:
        """Read one message on the screen."""
        kind = first_text(item.get("say"), item.get("ask")) or ""
        self._images += as_list(item.get("images")) or ()
        if kind == "api_req_started" and item.get("say"):
            self._request(item)
        elif kind == "condense_context":
            self._summary(item)
        elif self._open is not None:
            self._shown(self._open, item, kind)

    def finish(self) -> Builder:
        """Give the entries."""
        self._close()
        return self._timeline.builder

    def notes(self) -> list[str]:
        """Sentences about what the screen leaves open."""
        notes = ["Calls and results are paired by their order; ids are not in the file."] if self._names else []
        if self._reached >= 0:
            notes.append("What a truncation left out of requests has no summary.")
        if self._condensed:
            notes.append("Which messages were kept beside a summary is not in the file.")
        return notes

    # --- the request

    def _request(self, item: Mapping[str, Any]) -> None:
        calls = self._close()
        told = fields_of(decode(as_text(item.get("text")) or ""))
        self._requests += 1
        self._truncate(item)
        text = as_text(told.get("request")) or ""
        found = _WINDOW.search(text)
        self.window = self.window if found is None else number_in(found[1]) or self.window
        rest = self._results(text, calls, item)
        pictures, self._images = [data_url(url) for url in self._images], []
        if rest.strip() or pictures:
            content = [*text_parts(rest), *pictures]
            when = milliseconds(item.get("ts"))
            self._put({"role": "user", "content": content, **without_nothing(timestamp=when)}, item, "u")
        self._open = _Response(told, item, self._requests)

    def _place(self, item: Mapping[str, Any]) -> int:
        """Place of a request's message in the tool's own history; its response stands behind it."""
        stated = as_number(item.get("conversationHistoryIndex"))
        return int(stated) + 1 if stated is not None and math.isfinite(stated) else 2 * self._requests - 2

    def _put(self, message: Mapping[str, Any], item: Mapping[str, Any], letter: str, behind: int = 0) -> None:
        id_, event = f"{letter}{self._requests}", str(self._place(item) + behind)
        self._timeline.put("message", {"message": message}, id_, iso_time(item.get("ts")), (event,))

    def _truncate(self, item: Mapping[str, Any]) -> None:
        """A range that changed since the last request: its messages are no longer sent."""
        bounds = [count(value) for value in as_list(item.get("conversationHistoryDeletedRange")) or ()]
        if len(bounds) < 2 or None in bounds or bounds == self._cut:  # noqa: PLR2004 - a range has two ends
            return
        self._cut = bounds
        start, end = bounds[0] or 0, bounds[1] or 0
        known = [key for key in self._timeline.known_events() if start <= int(key) <= end]
        self._reached = end
        self._timeline.condense(known, {"trigger": "auto"}, f"cut{self._requests}", iso_time(item.get("ts")))

    def _summary(self, item: Mapping[str, Any]) -> None:
        """A fork's summary, which stands in the place of everything before but a few messages."""
        told = fields_of(item.get("contextCondense"))
        self._close()
        self._condensed += 1
        before = count(told.get("prevContextTokens"))
        fields = {"summary": as_text(told.get("summary")) or "", **without_nothing(tokensBefore=before)}
        when, known = iso_time(item.get("ts")), self._timeline.known_events()
        self._timeline.condense(known, fields, f"summary{self._condensed}", when)

    def _results(self, text: str, calls: list[tuple[str, tuple[str, ...]]], item: Mapping[str, Any]) -> str:
        """Add the results that a request's text holds; gives the rest of the text."""
        heads = list(_RESULT.finditer(text))
        spans: list[tuple[str, int, int]] = []
        for id_, names in calls:
            at = next((at for at, head in enumerate(heads) if not names or head[1] in names), None)
            if at is not None:
                spans.append((id_, heads[at].start(), heads[at].end()))
                heads = heads[at + 1 :]
        if not spans:
            return text
        ends = [start for _, start, _ in spans[1:]] + [_details_at(text, spans[-1][2])]
        for number, ((id_, _, start), end) in enumerate(zip(spans, ends, strict=True), start=1):
            content = text_parts(text[start:end].strip("\n"))
            message = result_message(id_, self._names[id_], content, timestamp=milliseconds(item.get("ts")))
            self._put(message, item, f"r{number}-")
        return text[: spans[0][1]] + text[ends[-1] :].lstrip("\n")

    # --- the response

    def _shown(self, response: _Response, item: Mapping[str, Any], kind: str) -> None:
        """Read what came of a request. It is shown before its own truncation, which the message behind it states."""
        if response.fresh:
            self._truncate(item)
        response.fresh = False
        self._said(response, item, kind)

    def _said(self, response: _Response, item: Mapping[str, Any], kind: str) -> None:
        text = as_text(item.get("text")) or ""
        match kind:
            case "text" if item.get("say"):
                response.parts += text_parts(text)
            case "reasoning" if text:
                response.parts.append(thinking_part(text))
            case "tool":
                fields = fields_of(decode(text))
                shown = as_text(fields.get("tool")) or "tool"
                names = _TOOLS.get(shown, ())
                arguments = {name: value for name, value in fields.items() if name != "tool"}
                self._called(response, first_text(*names[:1], shown) or "", arguments, names)
            case "command":
                self._called(response, "execute_command", {"command": text}, ("execute_command",))
            case "use_mcp_server":
                names = ("use_mcp_tool", "access_mcp_resource")
                self._called(response, "use_mcp_tool", _arguments(text, "text"), names)
            case "completion_result" if item.get("say"):
                self._called(response, "attempt_completion", {"result": text}, ("attempt_completion",))
            case "plan_mode_respond" | "followup" | "load_mcp_documentation" | "browser_action_launch" | "new_task":
                self._called(response, kind, _arguments(text, "response"), ())
            case _:
                pass

    def _called(self, response: _Response, name: str, arguments: Mapping[str, Any], names: tuple[str, ...]) -> None:
        id_ = f"call-{response.number}-{len(response.calls) + 1}"
        self._names[id_] = name
        response.calls.append((id_, names))
        response.parts.append(call_part(id_, name, arguments))

    def _close(self) -> list[tuple[str, tuple[str, ...]]]:
        """Add the response that was being read; gives its calls."""
        response, self._open = self._open, None
        if response is None or not response.answered:
            return []
        told, model = response.told, fields_of(response.item.get("modelInfo"))
        provider = as_text(model.get("providerId"))
        reason = as_text(told.get("cancelReason"))
        stopped = None if reason is None else ("aborted" if reason == "user_cancelled" else "error")
        message = assistant_message(
            response.parts,
            api=_APIS.get(provider or ""),
            provider=provider,
            model=as_text(model.get("modelId")),
            usage=_usage(told),
            stop=stopped or ("toolUse" if response.calls else "stop"),
            errorMessage=first_text(told.get("streamingFailedMessage")),
            timestamp=milliseconds(response.item.get("ts")),
        )
        self._put(message, response.item, "a", behind=1)
        return response.calls


def _details_at(text: str, start: int) -> int:
    """Where what the tool adds of itself begins behind the last result."""
    at = text.rfind(_DETAILS, start)
    return len(text) if at < 0 else at


def _arguments(text: str, name: str) -> Mapping[str, Any]:
    fields = as_mapping(decode(text))
    return fields if fields is not None else ({name: text} if text else {})


def _usage(told: Mapping[str, Any]) -> dict[str, Any] | None:
    """Usage of a request: its input count is uncached already."""
    return make_usage(
        input=count(told.get("tokensIn")),
        output=count(told.get("tokensOut")),
        cache_read=count(told.get("cacheReads")),
        cache_write=count(told.get("cacheWrites")),
    )
