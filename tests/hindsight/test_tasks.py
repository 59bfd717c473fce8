"""Lists of tasks."""

import pytest

from leafscar.hindsight.tasks import is_task_list, open_tasks
from leafscar.model import ToolCall


@pytest.mark.parametrize(
    ("name", "arguments", "tasks"),
    [
        (
            "TodoWrite",
            {"todos": [{"content": "a", "status": "completed"}, {"content": "b", "status": "pending"}]},
            ("b",),
        ),
        ("update_plan", {"plan": [{"step": "a", "status": "in_progress"}, {"step": 7}, 8]}, ("a",)),
        ("todowrite", {"todos": [{"content": "a", "status": "cancelled"}]}, ()),
        ("task_tracker", {"command": "plan", "task_list": [{"title": "a", "status": "todo"}]}, ("a",)),
        ("ExitPlanMode", {"plan": "# Plan\ndo it"}, ("# Plan\ndo it",)),
        ("write_todos", {"todos": 7}, ()),
        ("todo", "x", ()),
    ],
)
def test_open_tasks(name, arguments, tasks):
    """Tasks that are not closed, whatever a host calls them."""
    call = ToolCall(id="c", name=name, arguments=arguments)
    assert is_task_list(call)
    assert open_tasks(call) == tasks


def test_other_tools_are_no_lists():
    """A read is none, nor is a tool that starts a task."""
    assert not is_task_list(ToolCall(id="c", name="read"))
    assert not is_task_list(ToolCall(id="c", name="Task"))
