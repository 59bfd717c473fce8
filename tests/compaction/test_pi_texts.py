"""pi's own texts, read out of its files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from leafscar.compaction import PI_SOURCES, texts_from_sources
from leafscar.compaction.pi_texts import _DIGESTS, _NAMES, _resolve
from leafscar.errors import SettingsError

MODULES = os.environ.get("LEAFSCAR_PI_MODULES", "").split(":")[0] or None


def test_every_text_that_is_missing_is_named() -> None:
    """The error says what is missing and what to install."""
    with pytest.raises(SettingsError) as caught:
        texts_from_sources([])
    assert len(caught.value.problems) == len(_NAMES)
    assert "SUMMARIZATION_SYSTEM_PROMPT; leave the setting out or install pi 0.82.1" in caught.value.problems[0]


def test_a_text_that_is_not_known_is_refused() -> None:
    """A wording that leafscar never met is not taken on trust."""
    source = "\n".join(f"export const {name} = `other`;" for name in _NAMES.values())
    with pytest.raises(SettingsError, match="SUMMARIZATION_PROMPT of the installed pi is not a known text"):
        texts_from_sources([source])


def test_known_texts_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """The digest alone decides; constants inside constants and escapes are resolved."""
    import hashlib  # noqa: PLC0415 - only here

    digest = hashlib.sha256(b"other\n`").hexdigest()
    monkeypatch.setattr("leafscar.compaction.pi_texts._DIGESTS", dict.fromkeys(_DIGESTS, (digest,)))
    inner = "const INNER_TEXT = `\\n\\``;"
    source = "\n".join([inner, *(f"const {name} = `other${{INNER_TEXT}}`;" for name in _NAMES.values())])
    assert texts_from_sources([source]).system == "other\n`"


def test_an_unknown_inner_constant_is_left_as_it_is() -> None:
    """It then fails its digest."""
    assert _resolve("A", {"A": "x${MISSING}"}) == "x${MISSING}"
    assert _resolve("B", {}) is None


@pytest.mark.peer
@pytest.mark.skipif(MODULES is None, reason="LEAFSCAR_PI_MODULES names no node_modules folder with pi in it")
def test_an_installed_pi_gives_its_texts() -> None:
    """All ten, each with a known digest."""
    files = [Path(MODULES or "") / file for file in PI_SOURCES["coding-agent"]]
    assert len(texts_from_sources([file.read_text("utf-8") for file in files]).system) == 310
