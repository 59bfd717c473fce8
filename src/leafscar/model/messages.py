"""Messages in pi's shape, typed.

Structs read what control needs and nothing else: the raw line of an entry stays the truth, a struct refers to it.
:func:`as_message` takes a plain dict as well, however odd its values are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from leafscar.model.shapes import as_list, as_mapping, as_number, as_text
from leafscar.model.usage import Usage, as_usage

__all__ = [
    "Assistant",
    "BashExecution",
    "BranchSummary",
    "CompactionSummary",
    "Custom",
    "Image",
    "KnownMessage",
    "Message",
    "MessageLike",
    "OtherPart",
    "Part",
    "System",
    "Text",
    "Thinking",
    "ToolCall",
    "ToolResult",
    "Unknown",
    "User",
    "as_dict",
    "as_message",
    "parts_of",
    "text_of",
    "tool_calls",
]

JsonDict: TypeAlias = Mapping[str, Any]


def _no_arguments() -> dict[str, Any]:
    return {}


class _Part(Struct, frozen=True, gc=False, tag_field="type", rename="camel"):
    pass


class Text(_Part, frozen=True, gc=False, tag="text"):
    """A text part."""

    text: str = ""


class Thinking(_Part, frozen=True, gc=False, tag="thinking"):
    """A thinking part; a signed or redacted one must be sent unchanged or not at all."""

    thinking: str = ""
    thinking_signature: str | None = None
    redacted: bool = False


class ToolCall(_Part, frozen=True, tag="toolCall"):
    """A call of a tool by the model."""

    id: str = ""
    name: str = ""
    arguments: Any = msgspec.field(default_factory=_no_arguments)


class Image(_Part, frozen=True, gc=False, tag="image"):
    """An image part; ``data`` is base64 or a foreign reference and is never looked at."""

    data: str = ""
    mime_type: str = ""


class OtherPart(_Part, frozen=True, gc=False, tag="leafscar.other"):
    """A part of a kind that leafscar does not know; ``kind`` is its ``type``."""

    kind: str = ""


Part: TypeAlias = Text | Thinking | ToolCall | Image | OtherPart
"""One part of a message's content."""

Content: TypeAlias = str | tuple[Part, ...] | None
"""Text, parts, or None where the file holds null or nothing."""


class _Message(Struct, frozen=True, tag_field="role", rename="camel", kw_only=True):
    timestamp: int | float = 0
    """Milliseconds since 1970; 0 when the message has none."""


class User(_Message, frozen=True, tag="user", kw_only=True):
    """What a person, or a host in a person's place, said."""

    content: Content = None


class Assistant(_Message, frozen=True, tag="assistant", kw_only=True):
    """One response of a model; ``usage`` is what its provider reported for the whole request."""

    content: Content = None
    usage: Usage | None = None
    stop_reason: str | None = None
    error_message: str | None = None
    provider: str | None = None
    model: str | None = None
    api: str | None = None

    @property
    def failed(self) -> bool:
        """Whether it ended in an error or was stopped, so that no request holds it as it is."""
        return self.stop_reason in ("error", "aborted")


class ToolResult(_Message, frozen=True, tag="toolResult", kw_only=True):
    """The answer to one tool call."""

    content: Content = None
    tool_call_id: str = ""
    tool_name: str = ""
    is_error: bool = False
    nested_calls: Any = None


class BashExecution(_Message, frozen=True, tag="bashExecution", kw_only=True):
    """A command that the user ran; ``exit_code`` is None when unknown."""

    command: str = ""
    output: str = ""
    exit_code: int | float | None = None
    cancelled: bool = False
    truncated: bool = False
    full_output_path: str | None = None
    exclude_from_context: bool = False


class Custom(_Message, frozen=True, tag="custom", kw_only=True):
    """A message that an extension put into the context."""

    content: Content = None
    custom_type: str = ""
    display: bool = True


class BranchSummary(_Message, frozen=True, tag="branchSummary", kw_only=True):
    """What an abandoned branch came to."""

    summary: str = ""
    from_id: str | None = None


class CompactionSummary(_Message, frozen=True, tag="compactionSummary", kw_only=True):
    """What stands in the place of everything before a cut."""

    summary: str = ""
    tokens_before: int | float | None = None


class System(_Message, frozen=True, tag="system", kw_only=True):
    """pi 1.3.0's system prompt and tool declarations as a message."""

    content: Content = None
    sections: Any = None
    tools_added: Any = None


class Unknown(Struct, frozen=True, gc=False, kw_only=True):
    """A message of a role that leafscar does not know; never sent to a summariser, counts nothing."""

    role: str
    timestamp: int | float = 0


KnownMessage: TypeAlias = (
    User | Assistant | ToolResult | BashExecution | Custom | BranchSummary | CompactionSummary | System
)
"""A message of a role that leafscar knows."""

Message: TypeAlias = KnownMessage | Unknown
"""Any message of a context."""

MessageLike: TypeAlias = Message | Mapping[str, Any]
"""A typed message, or a plain dict in pi's shape."""


def as_message(value: MessageLike) -> Message:
    """Give the typed message of ``value``; odd fields of a dict read as absent, odd parts as :class:`OtherPart`."""
    if isinstance(value, Struct):
        return value
    reader = _READERS.get(_text(value.get("role")))
    if reader is None:
        return Unknown(role=_text(value.get("role")), timestamp=as_number(value.get("timestamp")) or 0)
    return reader(value, as_number(value.get("timestamp")) or 0)


def parts_of(content: Content) -> Sequence[Part]:
    """Give the parts of a content; plain text is one text part, nothing is no part."""
    if isinstance(content, str):
        return (Text(text=content),)
    return content or ()


def text_of(content: Content, *, joiner: str = "\n") -> str:
    """Text parts of a content joined by ``joiner``."""
    if isinstance(content, str):
        return content
    return joiner.join(part.text for part in content or () if isinstance(part, Text))


def tool_calls(message: Message) -> Iterable[ToolCall]:
    """Give the calls that an assistant message makes, in order; nothing for other roles."""
    if isinstance(message, Assistant) and not isinstance(message.content, str):
        return [part for part in message.content or () if isinstance(part, ToolCall)]
    return ()


def as_dict(value: MessageLike) -> dict[str, Any]:
    """Give a fresh plain dict in pi's shape; absent fields stay absent."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Unknown):
        return {"role": value.role}
    plain = msgspec.to_builtins(value)
    content: Content = getattr(value, "content", None)
    if content is not None and not isinstance(content, str):
        plain["content"] = [_part_dict(part) for part in content]
    defaults = {f.encode_name: f.default for f in msgspec.structs.fields(value)}
    keep = ("content", "timestamp", "isError", "display", "summary", "toolCallId", "toolName")
    return {k: v for k, v in plain.items() if k in keep or k == "role" or v != defaults.get(k)}


def _part_dict(part: Part) -> dict[str, Any]:
    if isinstance(part, OtherPart):
        return {"type": part.kind}
    plain = msgspec.to_builtins(part)
    if isinstance(part, Thinking):
        return {k: v for k, v in plain.items() if v not in (None, False)}
    return plain


# --- the lenient reader: one small function a role ---------------------------------------------------


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _content(value: object) -> Content:
    parts = as_list(value)
    return as_text(value) if parts is None else tuple(map(_part, parts))


def _part(value: object) -> Part:
    part = as_mapping(value)
    if part is None:
        return OtherPart(kind=type(value).__name__)
    match part.get("type"):
        case "text":
            return Text(text=_text(part.get("text")))
        case "thinking":
            signature = as_text(part.get("thinkingSignature"))
            redacted = part.get("redacted") is True
            return Thinking(thinking=_text(part.get("thinking")), thinking_signature=signature, redacted=redacted)
        case "toolCall":
            arguments = part.get("arguments", {})
            return ToolCall(id=_text(part.get("id")), name=_text(part.get("name")), arguments=arguments)
        case "image":
            return Image(data=_text(part.get("data")), mime_type=_text(part.get("mimeType")))
        case kind:
            return OtherPart(kind=_text(kind))


def _user(value: JsonDict, timestamp: float) -> User:
    return User(content=_content(value.get("content")), timestamp=timestamp)


def _assistant(value: JsonDict, timestamp: float) -> Assistant:
    return Assistant(
        content=_content(value.get("content")),
        usage=as_usage(value.get("usage")),
        stop_reason=as_text(value.get("stopReason")),
        error_message=as_text(value.get("errorMessage")),
        provider=as_text(value.get("provider")),
        model=as_text(value.get("model")),
        api=as_text(value.get("api")),
        timestamp=timestamp,
    )


def _tool_result(value: JsonDict, timestamp: float) -> ToolResult:
    return ToolResult(
        content=_content(value.get("content")),
        tool_call_id=_text(value.get("toolCallId")),
        tool_name=_text(value.get("toolName")),
        is_error=value.get("isError") is True,
        nested_calls=value.get("nestedCalls"),
        timestamp=timestamp,
    )


def _bash_execution(value: JsonDict, timestamp: float) -> BashExecution:
    return BashExecution(
        command=_text(value.get("command")),
        output=_text(value.get("output")),
        exit_code=as_number(value.get("exitCode")),
        cancelled=value.get("cancelled") is True,
        truncated=value.get("truncated") is True,
        full_output_path=as_text(value.get("fullOutputPath")),
        exclude_from_context=value.get("excludeFromContext") is True,
        timestamp=timestamp,
    )


def _custom(value: JsonDict, timestamp: float) -> Custom:
    content, kind = _content(value.get("content")), _text(value.get("customType"))
    return Custom(content=content, custom_type=kind, display=value.get("display") is not False, timestamp=timestamp)


def _branch_summary(value: JsonDict, timestamp: float) -> BranchSummary:
    from_id = as_text(value.get("fromId"))
    return BranchSummary(summary=_text(value.get("summary")), from_id=from_id, timestamp=timestamp)


def _compaction_summary(value: JsonDict, timestamp: float) -> CompactionSummary:
    before = as_number(value.get("tokensBefore"))
    return CompactionSummary(summary=_text(value.get("summary")), tokens_before=before, timestamp=timestamp)


def _system(value: JsonDict, timestamp: float) -> System:
    content, sections = _content(value.get("content")), value.get("sections")
    return System(content=content, sections=sections, tools_added=value.get("toolsAdded"), timestamp=timestamp)


_READERS = {
    "user": _user,
    "assistant": _assistant,
    "toolResult": _tool_result,
    "bashExecution": _bash_execution,
    "custom": _custom,
    "branchSummary": _branch_summary,
    "compactionSummary": _compaction_summary,
    "system": _system,
}
