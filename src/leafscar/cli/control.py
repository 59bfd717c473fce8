"""From a session file and the settings to a controller: what several commands share."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from leafscar._regular import read_file
from leafscar.compaction import OWN, PI_SOURCES, Texts, texts_from_sources
from leafscar.config import Settings, current_folder, read_settings
from leafscar.engine import Controller, parse_policy
from leafscar.engine.fold import fold, was_controlled
from leafscar.errors import SettingsError, WindowUnknown
from leafscar.model import Entry
from leafscar.replay.facts import cut_settings, facts_of, shed_settings, window_of
from leafscar.replay.recording import Recording, read_recording
from leafscar.replay.tariffs import prices_of
from leafscar.session import Session

__all__ = ["Control", "control_of", "load_texts"]

_MAX_SOURCE = 8 * 1024 * 1024


class Control(Struct, frozen=True, kw_only=True):
    """A controller that has read a path, and what it was built from."""

    session: Session
    path: Sequence[Entry]
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
    summarises: bool = False,
) -> Control:
    """Build the controller of a session as a host that starts on it now would."""
    settings = read_settings(cwd or current_folder())
    recording = read_recording(session, leaf)
    path = recording.path
    tokens, source = _window(recording, model, window)
    controller = Controller(
        facts=facts_of(recording, settings, window=tokens, model=model),
        policy=parse_policy(policy or settings.leafscar.policy),
        reference_for=session.reference_for,
        shed=shed_settings(settings, session),
        cut=cut_settings(
            recording, settings, model=model, texts=load_texts(settings.leafscar.prompts) if summarises else OWN
        ),
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


def load_texts(prompts: str) -> Texts:
    """Texts of the summariser: ``own``, or ``pi:PATH`` of a node_modules folder with pi in it."""
    if not prompts.startswith("pi:"):
        return OWN
    root = Path(prompts.removeprefix("pi:")).expanduser()
    for names in PI_SOURCES.values():
        files = [root / name for name in names]
        if all(map(os.path.isfile, files)):
            return texts_from_sources([_source(file) for file in files])
    raise SettingsError(f'leafscar.prompts: no pi below {root}; name a node_modules folder, or use "own"')


def _source(file: Path) -> str:
    try:
        return read_file(file, _MAX_SOURCE).decode()
    except (OSError, ValueError) as fault:
        raise SettingsError(f"leafscar.prompts: {file}: {fault}; install that pi anew") from fault


def _window(recording: Recording, model: str | None, flag: int | None) -> tuple[int | None, str]:
    prices = None if flag else prices_of(recording, model)
    try:
        found = window_of(recording, flag=flag, model=model, prices=prices)
    except WindowUnknown as fault:
        return None, str(fault)
    return found.tokens, found.detail
