"""Shared sentences, and the cleaning of foreign text."""

from __future__ import annotations

import pytest
from tests.report.samples import a_moment, a_policy, a_result, a_session

from leafscar.replay.result import Assumption
from leafscar.report import words


@pytest.mark.parametrize(
    "foreign", ["\x1b[31mred", "a\x00b", "line\nbreak", "\u202egnp.exe", "\ud800", "\u2066x", "\x9b2J", "\u2028"]
)
def test_foreign_text_is_harmless(foreign):
    """Control characters, direction marks and lone surrogates cannot leave the report."""
    text = words.clean(foreign)
    assert "\ufffd" in text
    assert text.isprintable()
    text.encode()


def test_ordinary_text_stays():
    """Letters, signs and emoji of any language are left as they are."""
    assert words.clean("größe 中文 🙂 a\u00a0b") == "größe 中文 🙂 a\u00a0b"


def test_names_of_sessions_and_models():
    """What is missing is said, not left blank."""
    assert words.heading(a_session(path="a.jsonl")) == "a.jsonl"
    assert words.heading(a_session(path="")) == "0123abcd"
    assert words.heading(a_session(path="", session_id="")) == "unknown"
    assert words.model_of(a_session()) == "claude-sonnet-4-5 (anthropic)"
    assert words.model_of(a_session(model=None, provider=None)) == "unknown (provider unknown)"
    assert words.sizes(a_session()) == "1 request, 3 messages"


def test_the_window_says_where_it_comes_from():
    """Size and source stand together; neither is guessed."""
    assert words.window_sentence(a_session()) == "200k tokens; the model's own window"
    assert words.window_sentence(a_session(window=0, window_source="")) == "unknown tokens; source unknown"


def test_the_error_may_be_unknown():
    """A model that nothing could check is not called exact."""
    assert words.error_sentence(a_session(error=0.03)).endswith("against none under the cache model, which misses "
                                                                "the recorded bill by 3.0\u00a0%")  # fmt: skip
    assert words.error_sentence(a_session(error=None)).endswith("by an unknown share")


def test_breaks_are_told_by_cause():
    """The causes stand after the number, the commonest first."""
    causes = ["shape", None, "expired", "shape"]
    moments = [a_moment(at + 1, break_cause=cause) for at, cause in enumerate(causes)]
    assert words.breaks_by_cause(a_policy(moments=moments, breaks=3)) == "3 breaks: 2 shape, 1 expired"
    assert words.breaks_by_cause(a_policy(breaks=0)) == "0 breaks"


def test_lists_are_cut_short():
    """The first few are named, the rest counted."""
    assert words.enumerated([1, 2]) == "1, 2"
    assert words.enumerated(range(1, 1_003), limit=2) == "1, 2 and 1,000 more"


def test_policies_and_assumptions():
    """Names come in order of first appearance; an assumption says its source."""
    result = a_result(a_session(), a_session([a_policy("thrifty"), a_policy("none")]))
    assert words.policies_of(result) == ["none", "balanced", "thrifty"]
    assert words.sourced([Assumption(name="a", value="b", source="flag")]) == ["a: b (flag)"]
