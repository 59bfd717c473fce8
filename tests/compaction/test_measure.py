"""Tokens of a projected context."""

from __future__ import annotations

import pytest
from tests.compaction.build import assistant, compaction, entry, session, tokens, user

from leafscar.compaction import DEFAULT, PI_0821_CODING_AGENT, estimate_projection, project_context
from leafscar.estimate import estimate_context


def _tokens(path: list, rules: object = DEFAULT) -> float:
    return estimate_projection(project_context(path, rules), path, rules).tokens


def test_fresh_usage_counts() -> None:
    """The last report plus what came after it."""
    assert _tokens(session(user("one"), assistant("two", total=900), user(tokens(10)))) == 910


@pytest.mark.parametrize(
    "later",
    [compaction("e2", "sum"), entry("context_edit", targetId="e1", replacement=None)],
    ids=["cut", "context-edit"],
)
def test_usage_from_before_a_change_does_not_count(later: dict) -> None:
    """A report says nothing about a context that was changed after it."""
    path = session(user("1234"), assistant("1234", total=900), later, user(tokens(10)))
    assert _tokens(path) < 20
    assert _tokens(path, PI_0821_CODING_AGENT) > 900


def test_system_messages_count_once_as_they_stand_now() -> None:
    """Texts add up, sections and tools are patched by name, removed ones are gone."""
    first = {"role": "system", "content": "abcd", "sections": {"a": "xxxx", "b": "yyyy"}, "toolsAdded": [{"name": "r"}]}
    second = {
        "role": "system", "content": [], "sections": {"a": None, "b": "yyyyyyyy"},
        "toolsAdded": [{"name": "w"}, "odd"], "toolsRemoved": [{"name": "r"}],
    }  # fmt: skip
    units = len("abcd") + len("yyyyyyyy") + len('[{"name":"w"},"odd"]')
    assert _tokens(session(first, second, user("1234"))) == -(-units // 4) + 1
    assert _tokens(session(first, second, user("1234")), PI_0821_CODING_AGENT) == 1


def test_b10_69_a_total_of_nothing_is_the_sum_of_its_parts() -> None:
    """A stated total of 0 gives way to the parts."""
    usage = {"input": 5, "output": 6, "cacheRead": 7, "cacheWrite": 8, "totalTokens": 0}
    assert _tokens(session(user("one"), assistant("two", usage=usage))) == 26


@pytest.mark.parametrize("stop", ["aborted", "error"])
def test_b10_70_an_unfinished_response_is_counted_not_believed(stop: str) -> None:
    """The earlier valid report counts, and the unfinished response is estimated like any message."""
    path = session(assistant("one", total=100), assistant(tokens(3), total=9999, stop=stop), user(tokens(4)))
    assert _tokens(path) == 107


def test_b10_71_a_response_cut_by_its_length_is_believed() -> None:
    """Its usage is what the provider measured."""
    assert _tokens(session(assistant("one", total=100, stop="length"))) == 100


def test_an_anchor_that_is_not_on_the_path_is_stale() -> None:
    """A projection of another path gives no fresh anchor."""
    path = session(assistant("1234", total=900))
    assert estimate_projection(project_context(path), []).tokens == 1
    assert estimate_context(project_context(path).messages).tokens == 900
