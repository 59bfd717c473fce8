import pytest
from tests.formats.documents import customs, fixture, fixtures, kinds, raw
from tests.formats.jsonl import RECORDED, branch, broken, calls, check, context, messages, tokens

from leafscar.errors import SessionRefused
from leafscar.formats.swe_agent import FORMAT, read_swe_agent, sniff
from leafscar.model import ToolResult
from leafscar.model.messages import text_of

FILES = fixtures(FORMAT)


def test_histories_with_calls_are_read():
    """Results name their call in a list; thinking is kept; totals are no usage."""
    reading = check(read_swe_agent(fixture(FORMAT, "calls.traj")))
    assert kinds(reading) == ["system", "user", "assistant", "toolResult", "assistant", "toolResult", "context_edit"]
    first = messages(reading, "assistant")[0]
    assert [part["type"] for part in first["content"]] == ["thinking", "text", "toolCall"]
    assert messages(reading, "toolResult")[0]["content"][0]["text"] == "a.py\r\nb.py"
    assert "Usage is stated as totals only: 5,200 tokens sent, 310 received, 2 requests." in reading.unknown
    assert broken(branch(reading)) == ([], [])


def test_what_requests_shortened_is_edited():
    """A step that shows what was sent tells from when on an old observation was a placeholder."""
    reading = read_swe_agent(fixture(FORMAT, "calls.traj"))
    edit = reading.entries[-1]
    assert (edit.get("targetId"), edit.id) == ("m4", "edit1")
    first = next(message for message in context(reading) if isinstance(message, ToolResult))
    assert text_of(first.content) == "Old environment output: (2 lines omitted)"


def test_histories_of_text_are_read():
    """Without calls the sides alternate; demonstrations were sent, and are marked."""
    reading = check(read_swe_agent(fixture(FORMAT, "text.traj")))
    assert kinds(reading) == ["system", "custom_message", "user", "assistant", "user"]
    assert customs(reading) == ["swe_agent.demonstration"]
    assert any("left out of old observations" in sentence for sentence in reading.unknown)
    assert not any("totals" in sentence for sentence in reading.unknown)


def test_steps_without_a_history_are_read():
    """What the model said and what it saw make a history; odd messages are left out."""
    steps = [{"response": "a", "observation": "b"}, {"thought": "c", "observation": None}]
    reading = check(read_swe_agent(raw({"trajectory": steps, "instance_id": "i-1"})))
    assert kinds(reading) == ["assistant", "user", "assistant", "user"]
    assert reading.header.id == "i-1"
    odd = check(read_swe_agent(raw({"history": [{"role": "robot"}, {"role": "user", "content": "x"}]})))
    assert kinds(odd) == ["user"]


@pytest.mark.parametrize("data", [b"", b"{", b"5", b"[]", b"{}", b'{"trajectory":5}', b"[" * 100_000])
def test_other_files_are_refused(data):
    """What holds neither steps nor a history is refused."""
    with pytest.raises(SessionRefused):
        read_swe_agent(data)


def test_sniffing():
    """Trajectories are known by their steps, or by their name and keys."""
    for name, data in FILES.items():
        assert sniff(data, name)
    assert sniff(b'{"environment": "x", "traj', "a.traj")
    assert sniff(raw({"trajectory": [{"response": "a", "observation": "b"}]}), "x.json")
    for other in (b"", b"[]", b"{}", raw({"trajectory": [{"action": "x"}]}), raw({"history": [{"a": 1}]})):
        assert not sniff(other, "x.json")


@pytest.mark.skipif(not RECORDED.is_dir(), reason="recordings from outside are not at hand")
@pytest.mark.parametrize(
    ("name", "number", "made", "edits"),
    [("ctf-web-i-got-id", 43, 0, 0), ("marshmallow-function-calling-replace", 28, 13, 8)],
)
def test_recorded_trajectories(name, number, made, edits):
    """The recorded histories hold the messages and calls that their index states, and the eight shortened results."""
    reading = check(read_swe_agent((RECORDED / f"swe-agent/{name}.traj").read_bytes()))
    assert len(messages(reading)) == number
    assert len(calls(reading)) == made
    assert sum(1 for entry in reading.entries if entry.type == "context_edit") == edits
    assert tokens(reading)["peak"] == 0
    assert broken(branch(reading)) == ([], [])
