import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.pruning.build import assistant, execution, image, result, text, user

from leafscar.model import ToolCall, as_message
from leafscar.pruning import DEFAULT, SOURCE, Never, candidate_for, marker_for


@pytest.mark.parametrize(("units", "eligible"), [(4000, False), (4001, True)], ids=["a14_5", "a14_6"])
def test_more_than_the_minimum(units, eligible):
    """An output of exactly the minimum stays raw."""
    assert (candidate_for(result("c1", "bash", "x" * units)) is not None) is eligible
    assert (candidate_for(execution("", "x" * units)) is not None) is eligible


def test_a_candidate_carries_what_its_marker_needs():
    """Facts of one message, computed once."""
    call = ToolCall(id="c1", name="edit", arguments={"path": "a.py"})
    found = candidate_for(result("c1", "edit", [text("x" * 8000), image()]), call, position=7, entry_id="e9")
    assert (found.position, found.entry_id, found.call_id) == (7, "e9", "c1")
    assert (found.tool_name, found.kind, found.path) == ("edit", "edit", "a.py")
    assert (found.tokens, found.text_tokens) == (3200, 2000)


def test_an_execution_is_a_bash_candidate():
    """It has no call and no path."""
    found = candidate_for(execution("ls", "x" * 8000))
    assert (found.tool_name, found.kind, found.call_id, found.path) == ("bash", "bash", None, None)
    assert found.tokens == found.text_tokens == 2001


@pytest.mark.parametrize(
    "message",
    [
        pytest.param(result("c1", "browse", [image(), image()]), id="a14_14"),
        pytest.param(result("c1", "browse", []), id="a14_15"),
        pytest.param(assistant(text("x" * 90_000)), id="a14_16_response"),
        pytest.param({"role": "compactionSummary", "summary": "x" * 90_000}, id="a14_16_summary"),
        pytest.param(user("x" * 90_000), id="user"),
        pytest.param({"role": "custom", "content": "x" * 90_000}, id="custom"),
        pytest.param({"role": "never heard of", "content": "x" * 90_000}, id="unknown"),
        pytest.param({"role": "toolResult", "content": None}, id="null_content"),
    ],
)
@pytest.mark.parametrize("rules", [SOURCE, DEFAULT], ids=["source", "ours"])
def test_what_is_never_a_candidate(message, rules):
    """Images, empty results, and every role that is no output."""
    assert candidate_for(message, min_tokens=-1, rules=rules) is None


def test_source_prunes_an_execution_that_is_not_in_the_context():
    """The defect: savings that no request ever had."""
    assert candidate_for(execution("ls", "x" * 8000, excluded=True), rules=SOURCE) is not None


def test_ours_leaves_an_execution_alone_that_is_not_in_the_context():
    """Neither counted nor pruned."""
    assert candidate_for(execution("ls", "x" * 8000, excluded=True)) is None


def test_a_marker_is_no_candidate():
    """Except to the sources, where it may be pruned again."""
    raw = result("c1", "grep", "x" * 8000)
    pruned = result("c1", "grep", marker_for(candidate_for(raw), raw, None, "#5").text)
    assert candidate_for(pruned, min_tokens=1) is None
    assert candidate_for(pruned, min_tokens=1, rules=SOURCE) is not None


def test_an_estimate_at_hand_is_not_computed_again():
    """The caller's number decides."""
    assert candidate_for(result("c1", "bash", "x"), tokens=5000).tokens == 5000
    assert candidate_for(result("c1", "bash", "x" * 90_000), tokens=5) is None


def kept(never, name="read", path="src/app/main.py"):
    """Whether ``never`` keeps a large result of this tool and path."""
    call = ToolCall(id="c1", name=name, arguments={"path": path})
    return candidate_for(result("c1", name, "x" * 9000), call, entry_id="e1", never=never) is None


@pytest.mark.parametrize(
    ("never", "is_kept"),
    [
        (Never(), False),
        (Never(tools=("bash", "read")), True),
        (Never(tools=("Read", "rea")), False),
        (Never(tools=("r*",)), True),
        (Never(ids=frozenset({"e1"})), True),
        (Never(ids=frozenset({"c1"})), True),
        (Never(ids=frozenset({"e2"})), False),
        (Never(paths=("src/app/main.py",)), True),
        (Never(paths=("main.py",)), True),
        (Never(paths=("app/*.py",)), True),
        (Never(paths=("**/main.py",)), True),
        (Never(paths=("src/**/*.py",)), True),
        (Never(paths=("/main.py",)), False),
        (Never(paths=("ain.py",)), False),
        (Never(paths=("*.md", "docs/*")), False),
    ],
)
def test_what_a_user_keeps_is_never_shed(never, is_kept):
    """By tool, by path, by pin."""
    assert kept(never) is is_kept


def test_paths_of_windows_match_too():
    """A backslash divides folders like a slash."""
    assert kept(Never(paths=("app/*.py",)), path="C:\\src\\app\\main.py")


def test_a_path_rule_needs_a_path():
    """An output without one is not kept by it."""
    assert not kept(Never(paths=("*",)), name="grep")


@settings(max_examples=50)
@given(st.integers(0, 3000), st.booleans())
def test_facts_do_not_depend_on_the_form(units, typed):
    """A dict and its struct give the same candidate."""
    message = result("c1", "bash", "x" * units)
    given_message = as_message(message) if typed else message
    assert candidate_for(given_message, min_tokens=100) == candidate_for(message, min_tokens=100)


def test_rules_are_one_frozen_value():
    """A host changes a flag by making another value."""
    lenient = replace(DEFAULT, prune_excluded_bash=True)
    assert candidate_for(execution("ls", "x" * 8000, excluded=True), rules=lenient) is not None
