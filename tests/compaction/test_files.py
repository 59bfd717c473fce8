"""The files that the summarised part read and changed."""

from __future__ import annotations

import pytest
from tests.compaction.build import assistant, call, compaction, result, user

from leafscar.compaction import DEFAULT, PI_0821_CODING_AGENT, FileLists, file_ops, file_text
from leafscar.model import as_entry


def test_only_exact_names_and_paths_count() -> None:
    """Results, other tools, other argument names and empty paths say nothing about files."""
    message = assistant(
        call("1", "read", path="b"),
        call("2", "read", path="a"),
        call("3", "edit", path="b"),
        call("4", "write", path="z"),
        call("5", "Read", path="no"),
        call("6", "read", file_path="no"),
        call("7", "read", path=3),
        call("8", "read", path=""),
        {"type": "toolCall", "id": "9", "name": "read", "arguments": None},
    )
    ops = file_ops([user("read x"), message, result("1")])
    assert (ops.read, ops.written, ops.edited) == (("b", "a"), ("z",), ("b",))
    assert ops.lists() == FileLists(read_files=("a",), modified_files=("b", "z"))


def test_paths_are_sorted_by_utf16_units() -> None:
    """As the sources sort: upper case first, astral characters before the last of the plane."""
    message = assistant(*(call(str(n), path=path) for n, path in enumerate(["\uff01", "😀", "é", "a", "Z"])))
    assert file_ops([message]).lists().read_files == ("Z", "a", "é", "😀", "\uff01")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"details": {"readFiles": ["r"], "modifiedFiles": ["m"]}}, (("r",), ("m",))),
        ({"details": {"readFiles": ["r"]}, "fromHook": True}, ((), ())),
        ({"details": {"readFiles": "r", "modifiedFiles": [1, "m"]}}, ((), ("m",))),
        ({"details": None}, ((), ())),
        ({}, ((), ())),
    ],
    ids=["carried", "from-a-hook", "odd", "null", "absent"],
)
def test_lists_of_an_earlier_cut_go_on(fields: dict, expected: tuple) -> None:
    """Unless a hook wrote them, or they are no lists."""
    ops = file_ops([], carried=[as_entry(compaction(None, **fields))])
    assert (ops.read, ops.edited) == expected


@pytest.mark.parametrize(
    "record", [{"calls": [{"name": "read", "arguments": {"path": "n"}}, "odd"]}, {}, None, {"calls": 5}]
)
def test_calls_inside_a_tool_count_since_130(record: object) -> None:
    """A tool may have made calls itself; 0.82.1 does not know."""
    message = result("1", nestedCalls=record)
    expected = ("n",) if record and record.get("calls") not in (None, 5) else ()
    assert file_ops([message], rules=DEFAULT).read == expected
    assert file_ops([message], rules=PI_0821_CODING_AGENT).read == ()


def test_the_text_has_a_block_for_each_list() -> None:
    """Nothing is said about nothing."""
    assert file_text(FileLists()) == ""
    assert file_text(FileLists(modified_files=("m",))) == "\n\n<modified-files>\nm\n</modified-files>"
    both = FileLists(read_files=("a", "b"), modified_files=("m",))
    assert file_text(both) == "\n\n<read-files>\na\nb\n</read-files>\n\n<modified-files>\nm\n</modified-files>"
