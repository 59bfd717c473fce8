"""The summariser's input fits its window."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafscar.compaction.fit import careful_tokens, clip_to, fit_blocks


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("abc", 1), ("abcd", 2), ("é", 1), ("😀", 2), ("aé", 2), ("中文", 2)]
)
def test_text_is_counted_high(text: str, tokens: int) -> None:
    """Three plain characters a token, one token for every other unit."""
    assert careful_tokens(text) == tokens


def test_what_fits_is_left_alone() -> None:
    """No line says that nothing was left out."""
    fitted = fit_blocks(["one", "two"], 100)
    assert (fitted.text, fitted.left_out) == ("one\n\ntwo", 0)
    assert fit_blocks([], 0).text == ""


def test_the_oldest_blocks_go_first() -> None:
    """One line says how many are gone."""
    fitted = fit_blocks(["a" * 300, "b" * 300, "c" * 300], 250)
    assert fitted.left_out == 1
    assert fitted.text.startswith("[1 earlier blocks of this conversation were left out to fit the window]\n\nbbb")


def test_a_newest_block_that_is_too_large_is_clipped() -> None:
    """The request fits even when one message is larger than the window."""
    fitted = fit_blocks(["a", "b" * 90_000], 200)
    assert fitted.left_out == 1
    assert "more characters truncated]" in fitted.text
    assert careful_tokens(fitted.text) <= 200


def test_no_room_at_all_clips_to_nothing() -> None:
    """What is left says how much there was."""
    assert clip_to("x" * 99, 0) == "\n\n[... 99 more characters truncated]"
    assert clip_to("", 0) == ""


@settings(max_examples=60, deadline=None)
@given(
    blocks=st.lists(st.text(st.characters(codec="utf-8"), max_size=400), max_size=8),
    limit=st.integers(80, 600),
)
def test_the_result_never_exceeds_the_limit(blocks: list[str], limit: int) -> None:
    """For any blocks and any limit that has room for the line."""
    fitted = fit_blocks(blocks, limit)
    assert careful_tokens(fitted.text) <= limit
