"""What a cut would summarise and what it would keep; nothing is written and no model is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from leafscar.compaction.cut import Cut, cut_slots
from leafscar.compaction.files import FileOps, file_ops
from leafscar.compaction.measure import estimate_items
from leafscar.compaction.pins import pins_of, without_pins
from leafscar.compaction.rebuild import newest_cut, project_slots
from leafscar.compaction.rules import DEFAULT, Rules
from leafscar.compaction.slots import Item, Slot, any_message, items_of, make_slot
from leafscar.compaction.system import replay_system
from leafscar.compaction.thresholds import CompactionSettings, SettingsLike, as_settings
from leafscar.model import Entry, EntryLike, Message, System, as_entry
from leafscar.model.shapes import as_text

__all__ = ["Preparation", "prepare", "searched"]


class Preparation(Struct, frozen=True, kw_only=True):
    """Everything that the summary of one cut needs."""

    first_kept_entry_id: str
    """The first entry that stays raw."""
    history: tuple[Item, ...]
    """What the history summary covers."""
    turn_prefix: tuple[Item, ...]
    """The beginning of the turn that the cut splits; empty when it splits none."""
    retained_tail: tuple[Item, ...] = ()
    """What the agent core would store on the entry."""
    is_split_turn: bool
    tokens_before: float
    """Tokens of the context as it is now."""
    previous_summary: str | None
    """Summary of the newest cut, without its pins; None when this is the first."""
    file_ops: FileOps
    settings: CompactionSettings
    pins: tuple[str, ...] = ()
    """Texts that the summary message must hold word for word."""
    system_message: Mapping[str, Any] | None = None
    """The system message in force, which the entry of the cut has to carry on; None when the session has none."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to summarise."""
        return not self.history and not self.turn_prefix


def prepare(
    entries: Sequence[EntryLike],
    settings: SettingsLike,
    rules: Rules = DEFAULT,
    *,
    pins: Sequence[str] = (),
) -> Preparation | None:
    """Prepare a cut of a path (root to leaf); None when there is nothing to cut.

    ``pins`` are the settings' texts; user messages labelled ``pin`` among ``entries`` are added.
    """
    path = [as_entry(entry) for entry in entries]
    if not path or path[-1].type == "compaction":
        return None
    known = as_settings(settings)
    slots, previous, start = searched(path, rules)
    cut = cut_slots(slots, start, len(slots), known.keep_recent_tokens, rules)
    first = slots[cut.first_kept_index].entry if cut.first_kept_index < len(slots) else None
    if first is None or not first.id:
        return None
    history, prefix = _covered(slots, start, cut, rules)
    context = items_of(slots if rules.on_projection else project_slots(path, rules))
    prepared = Preparation(
        first_kept_entry_id=first.id,
        history=tuple(history),
        turn_prefix=tuple(prefix),
        retained_tail=tuple(_gist(slots[cut.first_kept_index :], rules)) if rules.stored_tail else (),
        is_split_turn=cut.is_split_turn,
        tokens_before=estimate_items(context, path, rules).tokens,
        previous_summary=_summary_of(previous, rules),
        file_ops=file_ops(
            [item.message for item in (*history, *prefix)], carried=[previous] if previous else (), rules=rules
        ),
        settings=known,
        pins=pins_of(path, pins) if rules.pins else (),
        system_message=replay_system(context) if rules.system_messages else None,
    )
    return None if prepared.is_empty and rules.empty_is_nothing else prepared


def searched(path: Sequence[Entry], rules: Rules) -> tuple[Sequence[Slot], Entry | None, int]:
    """Give the entries that a cut is looked for in, the newest cut, and where the search begins."""
    if rules.on_projection:
        slots = project_slots(path, rules)
        if slots[0].entry.type == "compaction" and slots[0].messages:
            return slots, slots[0].entry, 1
        return slots, None, 0
    slots = [make_slot(entry, rules) for entry in path]
    at = newest_cut(path)
    if at is None:
        return slots, None, 0
    first = path[at].get("firstKeptEntryId")
    start = next((index for index, entry in enumerate(path) if entry.id == first), at + 1)
    return slots, path[at], start


def _covered(slots: Sequence[Slot], start: int, cut: Cut, rules: Rules) -> tuple[list[Item], list[Item]]:
    if not cut.is_split_turn:
        return _gist(slots[start : cut.first_kept_index], rules), []
    turn = cut.turn_start_index
    return _gist(slots[start:turn], rules), _gist(slots[turn : cut.first_kept_index], rules)


def _gist(slots: Sequence[Slot], rules: Rules) -> list[Item]:
    """What of these entries a summary is about: no older summary, no prompt state."""
    told = [slot for slot in slots if slot.entry.type != "compaction"]
    if rules.by_entry_type:
        messages = ((slot.entry, any_message(slot.entry)) for slot in told)
        return [Item(entry=entry, message=message) for entry, message in messages if message is not None]
    return [item for item in items_of(told) if not (rules.system_messages and _is_system(item.message))]


def _is_system(message: Message) -> bool:
    return isinstance(message, System)


def _summary_of(previous: Entry | None, rules: Rules) -> str | None:
    summary = as_text(previous.get("summary")) if previous else None
    return without_pins(summary) if summary and rules.pins else summary
