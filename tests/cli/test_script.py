from __future__ import annotations

import json
import os

import pytest

from leafscar.cli.script import script_summarizer
from leafscar.compaction import SummaryRequest
from leafscar.errors import LeafscarError

REQUEST = SummaryRequest(kind="history", system="s", prompt="p", max_tokens=10, reasoning=None)


@pytest.fixture
def script(tmp_path):
    """Write a script and give the name of its summariser."""

    def write(content):
        path = tmp_path / "answers.json"
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return f"script:{path}"

    return write


def test_each_request_takes_the_next_answer(script):
    """Answers come in order, with their usage and stop reason; one too few is said."""
    usage = {"input": 5, "output": 2}
    answer = script_summarizer(
        script({"responses": [{"text": "one", "usage": usage}, {"text": "", "stopReason": "length"}]})
    )
    first, second = answer(REQUEST), answer(REQUEST)
    assert (first.texts, first.stop_reason, first.usage) == (("one",), "stop", usage)
    assert (second.texts, second.stop_reason, second.usage) == (("",), "length", None)
    with pytest.raises(LeafscarError, match="no response is left for the history summary; add one to responses"):
        answer(REQUEST)


def test_an_error_message_is_a_failure(script):
    """A response with an error message failed, unless it states another stop reason."""
    responses = [{"errorMessage": "503"}, {"errorMessage": "stopped", "stopReason": "aborted"}]
    answer = script_summarizer(script({"responses": responses}))
    assert [(one.stop_reason, one.error_message) for one in (answer(REQUEST), answer(REQUEST))] == [
        ("error", "503"),
        ("aborted", "stopped"),
    ]


@pytest.mark.parametrize("name", ["gpt", "script", "script:", "http://x", ""])
def test_other_summarizers_are_not_known(name):
    """Only script:FILE is known, and the words say where its format stands."""
    with pytest.raises(LeafscarError, match=r"only script:FILE is known; see docs/cli\.md"):
        script_summarizer(name)


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{", b"\xff\xfe", {"answers": []}, {"responses": [{"txt": "x"}]}, {"responses": [{"text": 1}]}],
)
def test_a_wrong_script_says_what_is_wrong(script, content):
    """A file that is no script names the fault and the page with the format."""
    with pytest.raises(LeafscarError, match=r"answers\.json: .*; see docs/cli\.md for the format"):
        script_summarizer(script(content))


def test_a_script_that_cannot_be_read(tmp_path):
    """A missing file, a folder and a huge file are refused in words."""
    with pytest.raises(LeafscarError, match="No such file or directory; name a readable JSON file"):
        script_summarizer(f"script:{tmp_path / 'gone.json'}")
    with pytest.raises(LeafscarError, match="Is a directory; name a readable JSON file"):
        script_summarizer(f"script:{tmp_path}")
    huge = tmp_path / "huge.json"
    with huge.open("wb") as stream:
        stream.truncate(16 * 1024 * 1024 + 1)
    with pytest.raises(LeafscarError, match="larger than 16,777,216 bytes"):
        script_summarizer(f"script:{huge}")


def test_a_script_that_is_no_file(tmp_path):
    """A pipe, a device and a circle of links are refused at once."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "circle").symlink_to("circle")
    for name, words in (("pipe", "not a regular file"), ("circle", "[Ss]ymbolic links")):
        with pytest.raises(LeafscarError, match=words):
            script_summarizer(f"script:{tmp_path / name}")
    with pytest.raises(LeafscarError, match="not a regular file"):
        script_summarizer("script:/dev/zero")


@pytest.mark.parametrize("levels", [130, 700, 5_000])
def test_a_script_nested_beyond_a_line(script, levels):
    """Usage that no line of a session could hold is refused before anything is asked."""
    nest = b"[" * levels + b"]" * levels
    with pytest.raises(LeafscarError, match="nested deeper than 128 levels"):
        script_summarizer(script(b'{"responses": [{"text": "x", "usage": {"a": ' + nest + b"}}]}"))
