"""Which outputs may be pruned, one message at a time (docs/pruning.md, docs/adr/0029-what-stays-raw.md)."""

from __future__ import annotations

from fnmatch import fnmatchcase

from msgspec import Struct

from leafscar.estimate import estimate_tokens
from leafscar.model import BashExecution, MessageLike, Text, ToolCall, ToolResult, as_message
from leafscar.model.jsjson import utf16_length
from leafscar.model.messages import parts_of, text_of
from leafscar.pruning.recognise import is_marker
from leafscar.pruning.rules import DEFAULT, PruningRules
from leafscar.pruning.tools import Kind, path_of, tool_of

__all__ = ["NOTHING", "Candidate", "Never", "candidate_for"]


class Never(Struct, frozen=True, kw_only=True):
    """What a user wants to keep raw for good."""

    tools: tuple[str, ...] = ()
    """Tool names; ``*`` and ``?`` stand for any text and any character."""
    paths: tuple[str, ...] = ()
    """Globs over the path of a read or an edit; one without a leading ``/`` matches below any folder, and ``*``
    crosses folders."""
    ids: frozenset[str] = frozenset()
    """Ids of pinned entries or tool calls."""

    def keeps(self, candidate: Candidate) -> bool:
        """Whether ``candidate`` must stay raw."""
        if candidate.entry_id in self.ids or candidate.call_id in self.ids:
            return True
        if any(fnmatchcase(candidate.tool_name, pattern) for pattern in self.tools):
            return True
        return bool(self.paths) and candidate.path is not None and _path_matches(candidate.path, self.paths)


NOTHING = Never()
"""Nothing is kept for good."""


class Candidate(Struct, frozen=True, kw_only=True):
    """One output that may be pruned."""

    position: int
    """Index of its message in the context."""
    entry_id: str | None
    call_id: str | None
    """Id of the tool call that it answers; None for an execution by the user."""
    tool_name: str
    kind: Kind
    tokens: int
    """Estimate of the whole message."""
    text_tokens: int
    """Estimate without images: what a marker can replace."""
    path: str | None = None
    """File that the call read or edited."""


def candidate_for(
    message: MessageLike,
    call: ToolCall | None = None,
    *,
    position: int = 0,
    entry_id: str | None = None,
    min_tokens: int = 1000,
    tokens: int | None = None,
    rules: PruningRules = DEFAULT,
    never: Never = NOTHING,
) -> Candidate | None:
    """Give the candidate of one message; None when it holds nothing to prune or must stay raw.

    ``call`` is the tool call that it answers, ``min_tokens`` the size up to which outputs stay raw, ``tokens`` the
    message's estimate where the caller has it already.
    """
    typed = as_message(message)
    if not isinstance(typed, ToolResult | BashExecution):
        return None
    size = estimate_tokens(typed) if tokens is None else tokens
    if size <= min_tokens or not _has_text(typed, rules):
        return None
    found = _candidate(typed, call, position, entry_id, size, rules)
    return None if never.keeps(found) else found


def _has_text(message: ToolResult | BashExecution, rules: PruningRules) -> bool:
    """Whether there is text to replace that the model is shown and that is no marker yet."""
    if isinstance(message, BashExecution):
        if message.exclude_from_context and not rules.prune_excluded_bash:
            return False
        text = message.output
    elif any(isinstance(part, Text) for part in parts_of(message.content)):
        text = text_of(message.content)
    else:
        return False
    return rules.prune_own_markers or not is_marker(text)


def _candidate(
    message: ToolResult | BashExecution,
    call: ToolCall | None,
    position: int,
    entry_id: str | None,
    size: int,
    rules: PruningRules,
) -> Candidate:
    if isinstance(message, BashExecution):
        name, call_id, text_size, path, kind = "bash", None, size, None, "bash"
    else:
        tool = tool_of(message.tool_name, rules.tools)
        name, call_id, kind = message.tool_name, message.tool_call_id, tool.kind
        text_size, path = _text_size(message), path_of(call, tool)
    return Candidate(
        position=position,
        entry_id=entry_id,
        call_id=call_id,
        tool_name=name,
        kind=kind,
        tokens=size,
        text_tokens=text_size,
        path=path,
    )


def _text_size(message: ToolResult) -> int:
    units = sum(utf16_length(part.text) for part in parts_of(message.content) if isinstance(part, Text))
    return -(-units // 4)


def _path_matches(path: str, globs: tuple[str, ...]) -> bool:
    plain = path.replace("\\", "/")
    pieces = plain.split("/")
    tails = [plain, *("/".join(pieces[start:]) for start in range(1, len(pieces)))]
    forms = {form for glob in globs for form in (glob, glob.replace("**/", ""))}
    return any(fnmatchcase(tail, form) for tail in tails for form in forms)
