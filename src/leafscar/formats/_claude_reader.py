"""The records of a Claude Code session, read in order into the conversations that they belong to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from leafscar.formats._anthropic import read_block, read_blocks, result_parts
from leafscar.formats._branches import Branches, Draft
from leafscar.formats._claude_attachments import attachment_text, is_typed, was_sent
from leafscar.formats._claude_response import Response, count_outputs
from leafscar.formats._json import Record
from leafscar.formats._pieces import count, mappings, milliseconds, result_message, text_parts, without_nothing
from leafscar.formats.reading import Builder
from leafscar.model.shapes import as_list, as_mapping, as_text

__all__ = ["MAIN", "Reader"]

MAIN = "main"
"""The conversation of the records that are no side chain."""

_NOISE = frozenset(
    {
        "agent-color",
        "agent-name",
        "ai-title",
        "custom-title",
        "file-history-snapshot",
        "last-prompt",
        "mode",
        "permission-mode",
        "pr-link",
        "progress",
        "queue-operation",
        "summary",
        "tag",
    }
)
_INTERRUPTED = "[Request interrupted by user"
_NAME_UNITS = 60


class Reader:
    """Reads one record after another; what the next one needs to know stands in the fields."""

    def __init__(self, builder: Builder) -> None:
        self.branches = Branches()
        self.responses: dict[tuple[str, str], Response] = {}
        self.every: list[Response] = []
        self.agents: set[str] = set()
        """Sub-agents that are said to have worked in files of their own."""
        self.shed = 0
        """How often Claude Code took old outputs out of its requests."""
        self.wordless = 0
        """Attachments that were sent and of which no word is recorded."""
        self.away = False
        """Whether the first record goes on from one that is not in the file."""
        self.low = 0
        """Responses whose output count is not that of their end."""
        self._builder = builder
        self._chains: dict[str, str] = {}
        self._drafts: dict[str, Draft] = {}
        self._prompts: dict[tuple[str, str | None], Draft] = {}
        self._calls: dict[str, tuple[Response, str]] = {}
        self._later: dict[str, list[tuple[Record, Mapping[str, Any]]]] = {}
        self._cuts: dict[str, Draft] = {}
        self._seen: set[str] = set()

    def read(self, records: Sequence[Record]) -> None:
        """Read all records; results that stand before their calls wait for them."""
        self._later = {id_: [] for record in records for id_ in _called(record)}
        for record in records:
            self._read(record)
        self._give_up_waiting()
        low = count_outputs(self.every)
        for number, response in enumerate(self.every):
            response.draft.fields["message"] = response.message(counted=number not in low)
        self.low = len(low)

    def _read(self, record: Record) -> None:
        fields = record.fields
        kind = as_text(fields.get("type")) or ""
        uuid = as_text(fields.get("uuid"))
        if uuid is not None and uuid in self._seen:
            self._builder.problem("duplicate-id", record.line, "the record stands in the file before, skipped")
            return
        chain = self._chain(fields, uuid)
        if kind in _NOISE:
            self._note_agent(as_mapping(fields.get("data")))
            return
        match kind:
            case "user":
                self._user(record, chain)
            case "assistant":
                self._assistant(record, chain)
            case "system":
                self._system(record, chain)
            case "attachment":
                self._attachment(record, chain)
            case _:
                self._note(record, chain, kind)

    def _chain(self, fields: Mapping[str, Any], uuid: str | None) -> str:
        """Conversation of a record; a side chain without a name goes by its first record."""
        parent = as_text(fields.get("parentUuid"))
        if not self._chains and parent is not None:
            self.away = True
        if fields.get("isSidechain") is not True:
            chain = MAIN
        else:
            chain = as_text(fields.get("agentId")) or self._chains.get(parent or "") or f"side {parent or uuid}"
            chain = chain if chain != MAIN else f"side {uuid}"
        if uuid is not None:
            self._seen.add(uuid)
            self._chains[uuid] = chain
        return chain

    # --- what people and tools said ------------------------------------------------------------------

    def _user(self, record: Record, chain: str) -> None:
        fields = record.fields
        content = (as_mapping(fields.get("message")) or {}).get("content")
        if fields.get("isCompactSummary") is True:
            self._summary(record, chain, content)
            return
        if fields.get("isVisibleInTranscriptOnly") is True:
            self._note(record, chain, "transcript-only")
            return
        self._note_agent(as_mapping(fields.get("toolUseResult")))
        results = [block for block in mappings(as_list(content)) if block.get("type") == "tool_result"]
        for block in results:
            self._result(record, block, chain)
        rest = [read_block(block) for block in mappings(as_list(content)) if block.get("type") != "tool_result"]
        parts = read_blocks(content) if isinstance(content, str) else rest
        if parts or not results:
            self._said(record, chain, parts, typed=fields.get("isMeta") is not True, forks=not results)

    def _said(
        self, record: Record, chain: str, parts: list[dict[str, Any]], *, typed: bool, forks: bool = False
    ) -> None:
        if not typed:
            self._inject(record, chain, "meta", parts)
            return
        self._interrupt(chain, parts)
        self.branches.settle(chain)
        parent = as_text(record.fields.get("parentUuid"))
        sibling = self._prompts.get((chain, parent)) if forks else None
        if sibling is not None:
            self.branches.tips[chain] = sibling.parent
        when = milliseconds(record.fields.get("timestamp"))
        message = {"role": "user", "content": parts, **without_nothing(timestamp=when)}
        draft = self._add(record, chain, "message", {"message": message})
        if forks:
            self._prompts.setdefault((chain, parent), draft)

    def _interrupt(self, chain: str, parts: list[dict[str, Any]]) -> None:
        last = self.every[-1] if self.every else None
        if last is None or last.draft is not self.branches.tips.get(chain):
            return
        told = any(str(part.get("text")).startswith(_INTERRUPTED) for part in parts)
        last.interrupted = told and not last.ended and not last.has_calls

    def _result(self, record: Record, block: Mapping[str, Any], chain: str) -> None:
        call_id = as_text(block.get("tool_use_id")) or ""
        found = self._calls.get(call_id)
        if found is None and call_id in self._later:
            self._later[call_id].append((record, block))
            return
        message = result_message(
            call_id,
            found[1] if found else "",
            result_parts(block.get("content")),
            is_error=block.get("is_error") is True,
            timestamp=milliseconds(record.fields.get("timestamp")),
        )
        chain = found[0].draft.chain if found else chain
        draft = self._add(record, chain, "message", {"message": message})
        if found:
            self.branches.answer(draft, found[0].draft)

    def _give_up_waiting(self) -> None:
        left, self._later = self._later, {}
        for record, block in (pair for pairs in left.values() for pair in pairs):
            self._result(record, block, self._chain(record.fields, None))

    # --- what the model said -------------------------------------------------------------------------

    def _assistant(self, record: Record, chain: str) -> None:
        message = as_mapping(record.fields.get("message")) or {}
        id_ = as_text(message.get("id")) or f"line {record.line}"
        response = self.responses.get((chain, id_))
        if response is None:
            draft = self._add(record, chain, "message", {})
            response = self.responses[chain, id_] = Response(draft, record.fields, message)
            self.every.append(response)
            self.branches.respond(draft)
        self._drafts.setdefault(as_text(record.fields.get("uuid")) or "", response.draft)
        for part in response.take(message):
            if part.get("type") == "toolCall":
                self._calls[part["id"]] = (response, part["name"])
                for waiting, block in self._later.pop(part["id"], ()):
                    self._result(waiting, block, chain)

    # --- what Claude Code did ------------------------------------------------------------------------

    def _system(self, record: Record, chain: str) -> None:
        fields = record.fields
        match fields.get("subtype"):
            case "compact_boundary":
                self._cut(record, chain)
            case "local_command":
                self._inject(record, chain, "system.local_command", read_blocks(fields.get("content")))
            case subtype:
                self.shed += subtype == "microcompact_boundary"
                self._note(record, chain, f"system.{as_text(subtype)}")

    def _cut(self, record: Record, chain: str) -> Draft:
        facts = as_mapping(record.fields.get("compactMetadata")) or {}
        trigger = facts.get("trigger")
        cut = without_nothing(
            summary="",
            tokensBefore=count(facts.get("preTokens")),
            trigger=trigger if trigger in ("auto", "manual") else None,
        )
        self.branches.settle(chain)
        draft = self._add(record, chain, "compaction", cut)
        draft.kept = self._kept(facts)
        self._cuts[chain] = draft
        self.responses.clear()
        self._prompts.pop((chain, None), None)
        if draft.kept is None:
            self._seen.clear()  # what is sent again is written again
        return draft

    def _kept(self, facts: Mapping[str, Any]) -> Draft | None:
        segment = as_mapping(facts.get("preservedSegment")) or {}
        listed = as_list((as_mapping(facts.get("preservedMessages")) or {}).get("uuids")) or ()
        names = (segment.get("headUuid"), *listed)
        return next((self._drafts[name] for name in names if isinstance(name, str) and name in self._drafts), None)

    def _summary(self, record: Record, chain: str, content: object) -> None:
        cut = self._cuts.pop(chain, None) or self._cut(record, chain)
        self._cuts.pop(chain, None)
        cut.fields["summary"] = "\n".join(as_text(part.get("text")) or "" for part in read_blocks(content))

    def _attachment(self, record: Record, chain: str) -> None:
        attachment = as_mapping(record.fields.get("attachment")) or {}
        kind = f"attachment.{as_text(attachment.get('type'))}"
        prompt = attachment.get("prompt")
        if is_typed(attachment):
            self._said(record, chain, read_blocks(prompt), typed=True)
            return
        text = attachment_text(attachment) if was_sent(attachment) else ""
        if text:
            self._inject(record, chain, kind, text_parts(text))
        else:
            self.wordless += was_sent(attachment)
            self._note(record, chain, kind)

    def _inject(self, record: Record, chain: str, kind: str, parts: list[dict[str, Any]]) -> None:
        fields = {"customType": f"claude_code.{kind[:_NAME_UNITS]}", "content": parts, "display": False}
        self._add(record, chain, "custom_message", fields)

    def _note(self, record: Record, chain: str, kind: str) -> None:
        self._add(record, chain, "custom", {"customType": f"claude_code.{kind[:_NAME_UNITS]}"})

    def _note_agent(self, fields: Mapping[str, Any] | None) -> None:
        agent = as_text((fields or {}).get("agentId"))
        if agent:
            self.agents.add(agent)

    def _add(self, record: Record, chain: str, kind: str, fields: Mapping[str, Any]) -> Draft:
        uuid = as_text(record.fields.get("uuid"))
        stamp = as_text(record.fields.get("timestamp"))
        id_ = uuid or f"line{record.line}"
        draft = self.branches.add(chain, kind, fields, record, id_=id_, timestamp=stamp)
        self._drafts.setdefault(id_, draft)
        return draft


def _called(record: Record) -> list[str]:
    """Ids of the calls that a record of a response holds."""
    if record.fields.get("type") != "assistant":
        return []
    message = as_mapping(record.fields.get("message")) or {}
    blocks = mappings(as_list(message.get("content")))
    return [as_text(block.get("id")) or "" for block in blocks if block.get("type") == "tool_use"]
