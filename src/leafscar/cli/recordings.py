"""The recordings that a command takes when it is given none."""

from __future__ import annotations

import os
from pathlib import Path

from leafscar.cli.show import say
from leafscar.errors import LeafscarError
from leafscar.session.discover import find_recordings

__all__ = ["own_recordings"]

_NEWEST = 20


def own_recordings() -> list[Path]:
    """Give the newest recordings on this machine, said before anything is read. Raises :class:`LeafscarError`."""
    found = find_recordings(os.environ, Path.home())
    if not found:
        raise LeafscarError(
            "no recordings of Claude Code, Codex, pi, Gemini CLI or opencode on this machine; name a file or folder"
        )
    newest = found[:_NEWEST]
    tools = ", ".join(dict.fromkeys(each.tool for each in newest))
    say(f"the newest {len(newest)} of {len(found)} recordings ({tools}); nothing leaves this machine", err=True)
    return [each.path for each in newest]
