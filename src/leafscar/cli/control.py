"""From a session file and the settings to a controller: what several commands share."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from leafscar.compaction import OWN, PI_SOURCES, Texts, texts_from_sources
from leafscar.config import Settings, explicit_reserve_tokens, read_settings, reserve_tokens
from leafscar.engine import Controller, CutSettings, Facts, ShedSettings, parse_policy
from leafscar.engine.fold import fold, was_controlled
from leafscar.errors import SettingsError, WindowUnknown
from leafscar.model import Entry
from leafscar.model.facts import binds_thinking
from leafscar.pruning import Never
from leafscar.replay.recording import Recording, read_recording
from leafscar.replay.tariffs import prices_of
from leafscar.replay.window import RecordedCut, resolve_window
from leafscar.session import Session
from leafscar.session.recall import renew

__all__ = ["Control", "control_of", "load_texts", "shed_settings"]


class Control(Struct, frozen=True, kw_only=True):
    """A controller that has read a path, and what it was built from."""

    session: Session
    path: list[Entry]
    controller: Controller
    settings: Settings
    window_source: str
    """A sentence: where the window comes from, or why it is unknown."""
    controlled: bool
    """Whether the session was run under leafscar, so that its moves were folded back."""


def control_of(
    session: Session,
    *,
    leaf: str | None = None,
    cwd: Path | None = None,
    window: int | None = None,
    model: str | None = None,
    policy: str | None = None,
) -> Control:
    """Build the controller of a session as a host that starts on it now would."""
    settings = read_settings(cwd or Path.cwd())
    path = session.branch(leaf)
    recording = read_recording(session)
    name = model or recording.model or ""
    tokens, source = _window(recording, model, window)
    ref = f"{recording.provider}/{name}"
    chosen = parse_policy(policy or settings.leafscar.policy)
    controller = Controller(
        facts=Facts(
            window=tokens,
            cap=settings.leafscar.window_cap,
            reserve_tokens=reserve_tokens(settings, ref),
            reserve_is_set=explicit_reserve_tokens(settings, ref) is not None,
            compaction_enabled=settings.compaction.enabled,
            pruning_enabled=settings.pruning.enabled,
            bound_thinking=binds_thinking(name),
            thinking_way=settings.leafscar.bound_thinking,
        ),
        policy=chosen,
        reference_for=session.reference_for,
        shed=shed_settings(settings, session),
        cut=CutSettings(texts=load_texts(settings.leafscar.prompts), pins=settings.leafscar.pins),
    )
    controlled = was_controlled(path)
    if controlled:
        fold(controller, path)
    controller.follow(path)
    return Control(
        session=session,
        path=path,
        controller=controller,
        settings=settings,
        window_source=source,
        controlled=controlled,
    )


def shed_settings(settings: Settings, session: Session | None = None) -> ShedSettings:
    """What the settings files say about level 1; what they do not say stays with the policy."""
    stated, pruning, never = settings.pruning_set, settings.pruning, settings.leafscar.never_prune
    return ShedSettings(
        min_result_tokens=pruning.min_result_tokens if "minResultTokens" in stated else None,
        protect_current_turn=pruning.protect_current_turn if "protectCurrentTurn" in stated else None,
        never=Never(tools=never.tools, paths=never.paths),
        resolve=None if session is None else lambda ref: renew(session, ref),
    )


def load_texts(prompts: str) -> Texts:
    """Texts of the summariser: ``own``, or ``pi:PATH`` of a node_modules folder with pi in it."""
    if not prompts.startswith("pi:"):
        return OWN
    root = Path(prompts.removeprefix("pi:")).expanduser()
    for names in PI_SOURCES.values():
        files = [root / name for name in names]
        if all(file.is_file() for file in files):
            return texts_from_sources([file.read_text(encoding="utf-8") for file in files])
    raise SettingsError(f'leafscar.prompts: no pi below {root}; name a node_modules folder, or use "own"')


def _window(recording: Recording, model: str | None, flag: int | None) -> tuple[int | None, str]:
    sizes = (recording.path[at].get("tokensBefore") for at in recording.cuts)
    cuts = [RecordedCut(tokens_before=size) for size in sizes if isinstance(size, int | float)]
    readings = [request.prompt for request in recording.requests if request.prompt is not None]
    prices = None if flag else prices_of(recording, model)
    try:
        found = resolve_window(
            flag=flag,
            cuts=() if model else cuts,
            prices=prices,
            readings=() if model else readings,
            model=model or recording.model,
        )
    except WindowUnknown as fault:
        return None, str(fault)
    return found.tokens, found.detail
