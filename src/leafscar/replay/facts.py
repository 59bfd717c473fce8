"""From a recording and the settings to what control works with: window, lines, what may be shed, how to cut.

Every command that looks at a recording reads it in this one way (docs/replay.md).
"""

from __future__ import annotations

from leafscar.compaction import OWN, Texts
from leafscar.config import Settings, explicit_keep_recent_tokens, explicit_reserve_tokens, reserve_tokens
from leafscar.engine import CutSettings, Facts, ShedSettings
from leafscar.model.facts import binds_thinking
from leafscar.pruning import Never
from leafscar.replay.prices import Prices
from leafscar.replay.recording import Recording
from leafscar.replay.reported import likely_number
from leafscar.replay.window import CLAUDE_CODE_RESERVE, DEFAULT_RESERVE, RecordedCut, Window, resolve_window
from leafscar.session import Session
from leafscar.session.recall import renew

__all__ = ["cut_settings", "facts_of", "shed_settings", "window_of"]


def window_of(recording: Recording, *, flag: int | None, model: str | None, prices: Prices | None) -> Window:
    """Resolve the window: ``flag`` in tokens, what was recorded, else the one that ``prices`` list.

    What was recorded says nothing about another ``model``. Raises :class:`WindowUnknown`.
    """
    recorded = recording.session.recorded_window
    readings = [request.prompt for request in recording.requests if request.prompt is not None]
    return resolve_window(
        flag=flag,
        recorded=None if model or likely_number(recorded) is None else recorded,
        cuts=() if model else _recorded_cuts(recording),
        prices=prices,
        readings=() if model else readings,
        model=model or recording.model,
    )


def _recorded_cuts(recording: Recording) -> list[RecordedCut]:
    entries = [recording.path[at] for at in recording.cuts]
    reserve = CLAUDE_CODE_RESERVE if recording.session.format == "claude_code" else DEFAULT_RESERVE
    sizes = [likely_number(entry.get("tokensBefore")) for entry in entries]
    return [
        RecordedCut(tokens_before=size, manual=entry.get("trigger") == "manual", reserve=reserve)
        for entry, size in zip(entries, sizes, strict=True)
        if size is not None
    ]


def facts_of(recording: Recording, settings: Settings, *, window: int | None, model: str | None) -> Facts:
    """State what holds for the recorded model, or for ``model``, on a window of so many tokens (None: unknown)."""
    ref = _ref(recording, model)
    return Facts(
        window=window,
        cap=settings.leafscar.window_cap,
        reserve_tokens=reserve_tokens(settings, ref),
        reserve_is_set=explicit_reserve_tokens(settings, ref) is not None,
        compaction_enabled=settings.compaction.enabled,
        pruning_enabled=settings.pruning.enabled,
        bound_thinking=binds_thinking(model or recording.model or ""),
        thinking_way=settings.leafscar.bound_thinking,
    )


def shed_settings(settings: Settings, session: Session | None = None) -> ShedSettings:
    """What the settings files say about level 1; what they do not say stays with the policy.

    With ``session`` references that older markers hold are brought up to date.
    """
    stated, pruning, never = settings.pruning_set, settings.pruning, settings.leafscar.never_prune
    return ShedSettings(
        min_result_tokens=pruning.min_result_tokens if "minResultTokens" in stated else None,
        protect_current_turn=pruning.protect_current_turn if "protectCurrentTurn" in stated else None,
        never=Never(tools=never.tools, paths=never.paths),
        arguments=settings.leafscar.shed_arguments,
        resolve=None if session is None else lambda ref, at: renew(session, ref, session.entry(at) if at else None),
    )


def cut_settings(recording: Recording, settings: Settings, *, model: str | None, texts: Texts = OWN) -> CutSettings:
    """What the settings files say about level 2."""
    return CutSettings(
        texts=texts,
        pins=settings.leafscar.pins,
        keep_recent=explicit_keep_recent_tokens(settings, _ref(recording, model)),
    )


def _ref(recording: Recording, model: str | None) -> str:
    """Name of the model as the overrides of the settings have it."""
    return f"{recording.provider}/{model or recording.model}"
