import pytest

from leafscar.model import ToolCall
from leafscar.pruning.tools import ALL, CLAUDE_CODE, CODEX, OPENCODE, OTHER, PI, TABLES, command_of, path_of, tool_of


def call(arguments):
    """A call with these arguments."""
    return ToolCall(id="c", name="t", arguments=arguments)


def test_an_unknown_tool_is_other():
    """Names are exact."""
    assert tool_of("Bash", PI) is OTHER
    assert tool_of("Bash", ALL).kind == "bash"
    assert tool_of("web_search", ALL).kind == "other"


def test_a_shared_name_reads_as_in_pi():
    """The joined table never changes what pi's own names mean."""
    assert {name: ALL[name] for name in PI} == dict(PI)
    assert set(ALL) == set().union(*TABLES.values())


def test_a14_23_only_the_tools_own_argument_is_a_path():
    """Pi's read has ``path``; another host's table has another name."""
    arguments = {"file_path": "a.py"}
    assert path_of(call(arguments), PI["read"]) is None
    assert path_of(call(arguments), CLAUDE_CODE["Read"]) == "a.py"
    assert path_of(call({"filePath": "a.py"}), OPENCODE["read"]) == "a.py"


@pytest.mark.parametrize("arguments", [None, "x", 5, {"path": 5}, {"path": None}])
def test_an_odd_path_is_none(arguments):
    """Only text is a path."""
    assert path_of(call(arguments), PI["read"]) is None
    assert path_of(None, PI["read"]) is None


@pytest.mark.parametrize(
    ("tool", "arguments", "shown"),
    [
        (PI["bash"], {"command": "ls"}, "ls"),
        (PI["bash"], {"command": ["ls", "-l"]}, ""),
        (PI["bash"], "ls", ""),
        (CODEX["shell"], {"command": ["bash", "-lc", "ls | wc"]}, "ls | wc"),
        (CODEX["shell"], {"command": ["git", "log", "-1"]}, "git log -1"),
        (CODEX["shell"], {"command": ["git", 1]}, ""),
        (CODEX["shell"], {"command": 7}, ""),
        (CODEX["exec_command"], {"cmd": "ls"}, "ls"),
        (CODEX["exec"], "tools.shell('ls')", "tools.shell('ls')"),
        (OTHER, {"": "x", "command": "ls"}, ""),
    ],
)
def test_command_of_a_call(tool, arguments, shown):
    """The command stands where the host's table says."""
    assert command_of(call(arguments), tool) == shown


def test_a14_30_no_call_no_command():
    """Without its call nothing is known about the command."""
    assert command_of(None, PI["bash"]) == ""
    assert command_of(None, CODEX["exec"]) == ""
