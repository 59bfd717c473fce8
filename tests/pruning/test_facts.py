import math

import pytest

from leafscar.model import BashExecution, ToolCall, ToolResult
from leafscar.pruning.facts import execution_status, exit_status, line_range
from leafscar.pruning.tools import ALL, GEMINI_CLI, PI, tool_of

LOG = "Command exited with code 7\n" + "row\n" * 30 + "done"


def status(text, name="bash", *, error=False, anywhere=False):
    """Exit status of one result."""
    message = ToolResult(tool_name=name, content=text, is_error=error)
    return exit_status(message, text, tool_of(name, ALL), anywhere=anywhere)


def test_a14_27_the_trailer_tells_the_code():
    """A failing command ends with its code."""
    assert status("boom\n\nCommand exited with code 2", error=True) == "2"
    assert status("boom\n\nCommand exited with code 2\n", error=True) == "2"
    assert status("boom\n\nCommand exited with code 2", error=True, anywhere=True) == "2"


@pytest.mark.parametrize("anywhere", [True, False])
def test_a14_28_an_error_without_a_trailer(anywhere):
    """The code is not known, the failure is."""
    assert status("timed out", error=True, anywhere=anywhere) == "error"
    assert status("Command exited with code -9", error=True, anywhere=anywhere) == "error"


def test_a14_29_source_takes_the_first_match_anywhere():
    """The defect: a log that mentions a code decides for the command that printed it."""
    assert status(LOG, anywhere=True) == "7"


def test_a14_29_ours_takes_the_trailer_line_only():
    """A log that mentions a code is only a log."""
    assert status(LOG) == "0"
    assert status(LOG + "\n\nCommand exited with code 3", error=True) == "3"


@pytest.mark.parametrize(
    ("name", "text", "error", "shown"),
    [
        ("Bash", "fine", False, "0"),
        ("Bash", "Exit code 127\nno such file", True, "127"),
        ("Bash", "log\nExit code 127", True, "error"),
        ("exec_command", "Chunk ID: a1\nWall time: 1 s\nProcess exited with code 4\nOutput:\nx", False, "4"),
        ("exec_command", "Chunk ID: a1\nProcess running with session ID 3\nOutput:\nx", False, "unknown"),
        ("shell_command", "Exit code: 1\r\nWall time: 1 s\nOutput:\nx", False, "1"),
        ("execute_bash", "x\n[The command completed with exit code 5.]", False, "5"),
        ("run_shell_command", "x", False, "unknown"),
        ("run_shell_command", "x", True, "error"),
    ],
)
def test_each_host_has_its_own_trailer(name, text, error, shown):
    """No code is claimed that the host does not state."""
    assert status(text, name, error=error) == shown


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        pytest.param(BashExecution(cancelled=True, exit_code=0), "cancelled", id="a14_32_cancelled"),
        pytest.param(BashExecution(), "unknown", id="a14_32_unknown"),
        pytest.param(BashExecution(exit_code=-1), "-1", id="a14_32_negative"),
        pytest.param(BashExecution(exit_code=0), "0", id="a14_31_code"),
    ],
)
def test_an_execution_knows_its_code(message, shown):
    """Being cancelled wins over a code."""
    assert execution_status(message) == shown


def asked(arguments, text="\n" * 259, tool=PI["read"]):
    """Printed range of one read."""
    call = None if arguments is None else ToolCall(id="c", name="read", arguments=arguments)
    return "-".join(line_range(call, tool, text))


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        pytest.param({"offset": 41, "limit": 120}, "41-160", id="a14_17"),
        pytest.param({"offset": 41}, "41-300", id="a14_18"),
        pytest.param({}, "1-260", id="a14_19"),
        pytest.param({"offset": 9, "limit": 0}, "9-9", id="a14_20"),
        pytest.param({"offset": "41", "limit": "5"}, "1-260", id="a14_21"),
        pytest.param({"offset": True, "limit": math.nan}, "1-260", id="no_numbers"),
        pytest.param({"offset": 1.5, "limit": 2}, "1.5-2.5", id="fractions"),
        pytest.param(None, "1-260", id="no_call"),
        pytest.param("free text", "1-260", id="odd_arguments"),
    ],
)
def test_lines_of_a_read(arguments, shown):
    """The lines asked for, else as many as the text has; what is no number does not count."""
    assert asked(arguments) == shown


def test_a_host_may_count_lines_from_zero():
    """What the marker prints counts from one."""
    assert asked({"offset": 40, "limit": 10}, tool=GEMINI_CLI["read_file"]) == "41-50"
