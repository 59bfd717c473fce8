"""The prompt and tools in force."""

from __future__ import annotations

from tests.compaction.build import session, user

from leafscar.compaction import project_context, replay_system


def test_later_system_messages_patch_earlier_ones() -> None:
    """Texts add up; a section that is null and a tool that is removed are gone."""
    first = {
        "role": "system",
        "content": "one",
        "sections": {"a": "A", "b": "B"},
        "toolsAdded": [{"name": "r", "v": 1}, {"name": "x"}],
        "timestamp": 5,
    }
    second = {
        "role": "system",
        "content": "",
        "sections": {"a": None, "c": None},
        "toolsAdded": [{"name": "r", "v": 2}],
    }
    third = {"role": "system", "content": [{"type": "text", "text": "three"}], "toolsRemoved": [{"name": "x"}]}
    assert replay_system(project_context(session(first, second, user(), third)).items) == {
        "role": "system",
        "content": "one\n\nthree",
        "sections": {"b": "B"},
        "toolsAdded": [{"name": "r", "v": 2}],
        "timestamp": 5,
    }


def test_a_context_without_system_messages_has_none_in_force() -> None:
    """And an empty one stays without sections and tools."""
    assert replay_system(project_context(session(user())).items) is None
    [item] = project_context(session({"role": "system", "content": "x"})).items
    assert replay_system([item]) == {"role": "system", "content": "x", "timestamp": 0}
