import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.formats.documents import customs, fixture, kinds, read_or_refuse
from tests.formats.jsonl import RECORDED, check, context, messages, tokens

from leafscar.errors import SessionRefused
from leafscar.formats.aider import FORMAT, read_aider, sniff

LOG = fixture(FORMAT, ".aider.chat.history.md")


def read(*lines):
    """Reading of a log of one session with these lines."""
    return check(read_aider("\n".join(["# aider chat started at 2026-01-05 10:00:00", "", *lines]).encode()))


def test_logs_are_read():
    """Marked lines are the user's, the tool's own are left out, what remains is the response."""
    reading = check(read_aider(LOG))
    assert kinds(reading) == ["user", "assistant", "custom", "user", "assistant", "user", "assistant", "user"]
    assert reading.header.timestamp == "2026-01-05T10:00:00"
    assert messages(reading, "user")[0]["content"] == "Make the loom faster.\nKeep the pattern."
    first = messages(reading, "assistant")[0]
    assert first["content"][0]["text"].startswith("I raise the speed.\n\nloom.py\n```python\n<<<<<<< SEARCH")
    assert first["content"][0]["text"].endswith("```\n> a quote of the model\n#### A heading of the model\n\nDone.")
    assert first["usage"] == {"input": 4210, "output": 96, "totalTokens": 4306}
    assert first["model"] == "gpt-5-mini"
    assert customs(reading) == ["aider.command"]
    assert reading.entries[0].line == 9


def test_each_session_is_a_branch():
    """The second session starts at a root; commands that ask are the user's, an interrupt is an abort."""
    reading = read_aider(LOG)
    assert [position for position, parent in enumerate(reading.parents) if parent == -1] == [0, 3]
    assert len(context(reading)) == 5
    assert messages(reading, "user")[1]["content"] == "/ask Why did it fail?"
    last = messages(reading, "assistant")[-1]
    assert (last["stopReason"], last["provider"], last["model"]) == ("aborted", "anthropic", "claude-sonnet-5")
    assert any("2 sessions" in sentence for sentence in reading.unknown)


def test_counts_beside_cache_counts_are_half_known():
    """Whether the sent tokens include the cached ones is not stated, so they are no count of uncached ones."""
    reading = read_aider(LOG)
    assert messages(reading, "assistant")[1]["usage"] == {"output": 120, "cacheRead": 8000, "cacheWrite": 3100}
    assert any("1 response include the cached" in sentence for sentence in reading.unknown)


def test_lines_of_all_kinds_are_read():
    """Output of several lines, Windows ends, text after the tool's own, sessions of status lines only."""
    reading = read(
        "> started  ",
        "> multi",
        "#### not the user",
        "last  ",
        "#### go  ",
        "answer\r",
        "> Applied edit  ",
        "",
        "more",
        "#### ",
        "> Tokens: odd sent, 1 received.  ",
        "#### !ls  ",
        "> multi again",
        "#### stop  ",
        "> open output",
        "# aider chat started at 2026-01-05 11:00:00",
        "#### again  ",
    )
    assert [message["content"] for message in messages(reading, "user")] == ["go", "stop", "again"]
    said = [message["content"][0]["text"] for message in messages(reading, "assistant")]
    assert said == ["answer", "more\n#### "]
    assert messages(reading, "assistant")[1]["usage"] == {"output": 1}


@pytest.mark.parametrize("data", [b"", b"{", b"# x\n", b"# aider chat started at 2026-01-05 10:00:00\n\n> hi  \n"])
def test_other_files_are_refused(data):
    """A file without a message is refused."""
    with pytest.raises(SessionRefused, match="no message of a chat"):
        read_aider(data)


def test_sniffing():
    """Logs are known by their name or a session's first line; JSON is not one."""
    assert sniff(LOG, "x.md")
    assert sniff(b"text", ".aider.chat.history.md")
    for other in (b"", b"text", b'{"a":"\\n# aider chat started at 2026-"}', b"[\n# aider chat started at 2026-"):
        assert not sniff(other, "x.md")


@settings(max_examples=80, deadline=None)
@given(order=st.lists(st.sampled_from(LOG.split(b"\n")), max_size=60))
def test_lines_in_any_order_are_read_or_refused(order):
    """Lines in any order give a reading that holds together, or a refusal."""
    read_or_refuse(read_aider, b"\n".join(order))


@pytest.mark.skipif(not RECORDED.is_dir(), reason="recordings from outside are not at hand")
def test_recorded_log():
    """The recorded log holds 566 sessions and 413 stated counts."""
    reading = check(read_aider((RECORDED / "aider/aider-chat-history-part1.md").read_bytes()))
    assert any("566 sessions" in sentence for sentence in reading.unknown)
    assert sum(1 for message in messages(reading, "assistant") if message.get("usage")) == 413
    assert tokens(reading)["output"] == 185_228
    texts = [message["content"] for message in messages(reading, "user")]
    commands = [entry.get("data")["text"] for entry in reading.entries if entry.type == "custom"]
    assert sum(text.count("\n") + 1 for text in texts + commands) > 7_000
