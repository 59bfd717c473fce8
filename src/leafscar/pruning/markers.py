"""The text that stands where an output was (docs/pruning.md, docs/adr/0020-markers-fit.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from leafscar.errors import BadReference
from leafscar.model import BashExecution, Message, MessageLike, ToolCall, ToolResult, as_message
from leafscar.model.messages import text_of
from leafscar.pruning.facts import execution_status, exit_status, line_range
from leafscar.pruning.recognise import is_marker
from leafscar.pruning.reference import parse_reference
from leafscar.pruning.rules import DEFAULT, PruningRules
from leafscar.pruning.sizes import LINE_CAP, text_tokens
from leafscar.pruning.templates import Shell, bash_marker, plain_marker, read_marker
from leafscar.pruning.tools import command_of, path_of, tool_of

if TYPE_CHECKING:
    from leafscar.pruning.eligible import Candidate

__all__ = ["LINE_CAPS", "Marker", "Resolve", "is_marker", "marker_for", "marker_text", "replaced_tokens"]

LINE_CAPS = (LINE_CAP, 120, 60)
"""UTF-16 units kept of a summary line: each is tried until the marker is smaller than its output."""

Resolve: TypeAlias = Callable[[str, str | None], str | None]
"""From the reference that an earlier recall asked for (its ``:full`` included) to the one to print for the same
output now; None when it names nothing any more. The second argument is the entry of the recall result, where known: a
line number counts the lines of the file that it was written in."""


class Marker(Struct, frozen=True, gc=False, kw_only=True):
    """A marker and what it is worth."""

    text: str
    tokens: int
    """Tokens of ``text``."""
    savings: int
    """Tokens of what it stands for, less ``tokens``; never negative."""


def marker_for(
    candidate: Candidate,
    message: MessageLike,
    call: ToolCall | None,
    reference: str,
    *,
    rules: PruningRules = DEFAULT,
    resolve: Resolve | None = None,
) -> Marker | None:
    """Give the marker of one output; None where no marker is smaller than it.

    ``call`` is the tool call that the message answers; ``resolve`` renews what a recall result's call asked for.
    """
    typed, size = as_message(message), replaced_tokens(candidate, rules)
    room = text_tokens(typed.output) if isinstance(typed, BashExecution) else candidate.text_tokens
    caps = LINE_CAPS if candidate.kind == "bash" and not rules.replace_always else LINE_CAPS[:1]
    for cap in caps:
        text = marker_text(
            typed, call, reference, size=size, line_cap=cap, rules=rules, resolve=resolve, entry_id=candidate.entry_id
        )
        tokens = text_tokens(text)
        if rules.replace_always or (tokens < room and is_marker(text)):
            return Marker(text=text, tokens=tokens, savings=max(0, size - tokens))
    return None


def replaced_tokens(candidate: Candidate, rules: PruningRules = DEFAULT) -> int:
    """Tokens that a marker of this candidate speaks of: images stay, so ours do not count them."""
    return candidate.tokens if rules.images_count_as_saved else candidate.text_tokens


def marker_text(
    message: Message,
    call: ToolCall | None,
    reference: str,
    *,
    size: float,
    line_cap: int = LINE_CAP,
    rules: PruningRules = DEFAULT,
    resolve: Resolve | None = None,
    entry_id: str | None = None,
) -> str:
    """Write the marker of a tool result or an execution of ``size`` tokens, however long it gets."""
    if isinstance(message, BashExecution):
        shell = Shell(name="bash", command=message.command, status=execution_status(message))
        return _shell(shell, size, reference, message.output, line_cap, rules)
    assert isinstance(message, ToolResult)
    name, text, tool = message.tool_name, text_of(message.content), tool_of(message.tool_name, rules.tools)
    match tool.kind:
        case "read":
            lines = line_range(call, tool, text)
            return read_marker(name, size, reference, path=path_of(call, tool), lines=lines)
        case "bash":
            status = exit_status(message, text, tool, anywhere=rules.exit_code_anywhere)
            shell = Shell(name=name, command=command_of(call, tool), status=status)
            return _shell(shell, size, reference, text, line_cap, rules)
        case "recall":
            return plain_marker(name, size, _recall_target(call, rules, resolve, entry_id) or reference)
        case _:
            return plain_marker(name, size, reference)


def _shell(shell: Shell, size: float, reference: str, output: str, cap: int, rules: PruningRules) -> str:
    return bash_marker(shell, size, reference, output=output, line_cap=cap, split_pairs=rules.split_pairs)


def _recall_target(
    call: ToolCall | None, rules: PruningRules, resolve: Resolve | None, entry_id: str | None
) -> str | None:
    """Reference of the original output behind a recall result; None when there is none to name."""
    arguments: object = call.arguments if call is not None else None
    asked: object = arguments.get("ref") if isinstance(arguments, Mapping) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if not isinstance(asked, str) or rules.recall_verbatim:
        return asked if isinstance(asked, str) else None
    try:
        parsed = parse_reference(asked, rules)
    except BadReference:
        return None
    return str(parsed) if resolve is None else resolve(str(parsed), entry_id)
