"""The summariser's texts are pinned: a change of wording is a change of behaviour."""

from __future__ import annotations

from pathlib import Path

import pytest

from leafscar.compaction import OWN, Texts

GOLDEN = Path(__file__).parent.parent / "data" / "prompts"
SECTIONS = {
    "history": ["Goal", "Constraints & Preferences", "Progress", "Key Decisions", "Next Steps", "Critical Context"],
    "update": ["Goal", "Constraints & Preferences", "Progress", "Key Decisions", "Next Steps", "Critical Context"],
    "prefix": ["Original Request", "Early Progress", "Context for Suffix"],
    "branch": ["Goal", "Constraints & Preferences", "Progress", "Key Decisions", "Next Steps"],
}


@pytest.mark.parametrize("name", Texts.__struct_fields__)
def test_a_text_is_exactly_its_golden_file(name: str) -> None:
    """Every text is ASCII and equal to the file that pins it."""
    text = getattr(OWN, name)
    assert text.isascii()
    assert text == (GOLDEN / f"{name}.txt").read_text("ascii")


@pytest.mark.parametrize("name", SECTIONS)
def test_a_prompt_asks_for_the_known_sections(name: str) -> None:
    """Summaries go on from each other whoever wrote them, so their sections are the same."""
    lines = getattr(OWN, name).splitlines()
    assert [line[3:] for line in lines if line.startswith("## ")] == SECTIONS[name]
