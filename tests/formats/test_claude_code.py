import json

import pytest
from tests.formats.jsonl import (
    FIXTURES,
    RECORDED,
    branch,
    broken,
    calls,
    check,
    context,
    lines,
    messages,
    numbered,
    responses,
    text,
    tokens,
)

from leafscar.errors import SessionRefused
from leafscar.formats.claude_code import FORMAT, read_claude_code, sniff
from leafscar.model import CompactionSummary, OtherPart

HERE = FIXTURES / FORMAT
FILES = {path.name: path.read_bytes() for path in sorted(HERE.glob("*.jsonl"))}


def fixture(name):
    """Reading of one of our own files."""
    return check(read_claude_code(numbered(FILES[name])))


def record(kind, uuid, parent=None, **fields):
    """One record of a transcript; without a stated parent it goes on from one that is not there."""
    head = {
        "parentUuid": parent or f"before {uuid}",
        "isSidechain": False,
        "sessionId": "s",
        "timestamp": "2026-03-04T09:00:00Z",
    }
    return {**head, "type": kind, "uuid": uuid, **fields}


def user(uuid, content, parent=None, **fields):
    """A record of what was sent."""
    return record("user", uuid, parent, message={"role": "user", "content": content}, **fields)


def assistant(uuid, *blocks, id_=None, usage=None, stop=None, parent=None, **fields):
    """A record of a block that the model wrote."""
    model = fields.pop("model", "claude-opus-4-6")
    told = {"usage": usage} if usage else {}
    message = {"id": id_ or f"msg_{uuid}", "model": model, "content": list(blocks), "stop_reason": stop, **told}
    return record("assistant", uuid, parent, message=message, **fields)


def call(id_, name="Bash", **arguments):
    """A call block."""
    return {"type": "tool_use", "id": id_, "name": name, "input": arguments}


def result(id_, content="done", **fields):
    """A result block."""
    return {"type": "tool_result", "tool_use_id": id_, "content": content, **fields}


def read(*items):
    """Reading of records."""
    return check(read_claude_code(lines(*items)))


def kinds(reading):
    """Type of each entry, with its custom type where it has one."""
    return [entry.get("customType") or entry.type for entry in reading.entries]


# --- sniffing ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_our_files_are_known_by_their_head(name):
    """A few hundred bytes are enough, even when they end inside a line."""
    assert sniff(FILES[name], name)
    assert sniff(FILES[name][:400], name)


@pytest.mark.parametrize(
    ("head", "known"),
    [
        (b'{"type":"mode","mode":"normal","sessionId":"s"}\n', True),
        (b'{"type":"summary","summary":"s","leafUuid":"l"}\n', True),
        (b'{"parentUuid":"p","logicalParentUuid":"l","isSidechain":false,"message":"' + b"x" * 70_000, True),
        (b'{"type":"queue-operation","operation":"enqueue","content":"' + b"x" * 70_000, True),
        (b"torn\n" + b'{"type":"user","parentUuid":null,"isSidechain":false}\n', True),
        (b'{"type":"user","message":{},"session_id":"s"}\n', False),
        (b'{"type":"session","version":3,"id":"s"}\n{"type":"mode","mode":"x"}\n', False),
        (b'{"type":5}\n', False),
        (b'{"type":"summary"}\n', False),
        (b'{"x":"\\"parentUuid\\":null"}', False),
        (b'{"type":[],"id":"e","processed_at":[],"payload":[]}\n', False),
        (b'{"type":[],"payload":{}}\n', False),
        (b"", False),
        (b"\0\xff\n[1]\n5\n", False),
        (b"[" * 70_000, False),
    ],
)
def test_other_heads_are_left_to_other_readers(head, known):
    """Only what Claude Code writes is claimed, and nothing makes the look raise."""
    assert sniff(head, "x.jsonl") is known


# --- a whole session ---------------------------------------------------------------------------------


def test_a_session_reads_as_one_conversation():
    """Header, kinds of entries and context come out as they were, screen noise is left out."""
    reading = fixture("session.jsonl")
    header = reading.header
    assert (reading.format, header.version, header.cwd) == (FORMAT, 3, "/home/ada/tide")
    assert header.id == "5f0c6a52-0000-4000-8000-00000000c0de"
    assert header.timestamp == "2026-03-04T09:00:07.250Z"
    assert reading.window is None
    assert reading.problems == ()
    roles = [entry.message_data["role"] if entry.message_data else entry.get("customType") for entry in reading.entries]
    assert roles == [
        "user",
        "claude_code.attachment.skill_listing",
        "claude_code.attachment.task_reminder",
        "claude_code.attachment.command_permissions",
        *("assistant", "toolResult", "toolResult"),
        *("assistant", "toolResult", "assistant", "toolResult"),
        "user",
        "claude_code.meta",
        "assistant",
        "claude_code.system.turn_duration",
        "claude_code.system.local_command",
        "assistant",
        None,
        *("user", "assistant", "toolResult", "assistant"),
        *("user", "assistant", "user"),
    ]


def test_the_lines_of_a_response_become_one_message_and_its_results_follow():
    """Blocks that stand apart in the file are joined, and the last line's usage is the response's."""
    first = responses(fixture("session.jsonl"))[0]
    assert [type(part).__name__ for part in first.content] == ["Thinking", "Text", "ToolCall", "ToolCall"]
    assert first.content[0].thinking_signature == "c2ln"
    assert (first.provider, first.model, first.api) == ("anthropic", "claude-opus-4-6", "anthropic-messages")
    assert first.stop_reason == "toolUse"
    usage = first.usage
    assert (usage.input, usage.output, usage.cache_read, usage.cache_write) == (4, 188, 0, 9000)
    assert (usage.cache_write_1h, usage.total_tokens) == (1000, 9192)
    assert first.timestamp == 1772614842250


def test_results_keep_what_the_model_was_given():
    """Empty text, errors, images and parts without a word in pi are all there."""
    second, third, fourth = messages(fixture("session.jsonl"), "toolResult")[1:4]
    assert (second["toolName"], second["content"], second["isError"]) == ("Bash", [text("")], False)
    assert third["content"] == [
        text("offset() in clock.py adds it twice"),
        {"type": "image", "mimeType": "image/png", "data": "aWN0"},
        {"type": "tool_reference", "tool_name": "WebFetch"},
    ]
    assert (fourth["toolCallId"], fourth["isError"]) == ("toolu_4", True)


def test_what_was_typed_meanwhile_is_a_user_message():
    """A queued prompt is what a person said; a skill's text is what Claude Code put there."""
    reading = fixture("session.jsonl")
    assert messages(reading, "user")[1]["content"] == [text("Leave the tests alone, please")]
    injected = {entry.get("customType"): entry.get("content") for entry in reading.entries if entry.get("content")}
    assert injected["claude_code.attachment.skill_listing"] == [text("- tides: reads tide tables")]
    assert injected["claude_code.meta"] == [text("Base directory for this skill: /home/ada/skills/tides")]
    assert injected["claude_code.system.local_command"] == [text("<local-command-stdout>ok</local-command-stdout>")]


def test_a_cut_takes_the_summary_that_follows_it():
    """The summary stands in the compaction entry and nowhere else; nothing before it is sent again."""
    reading = fixture("session.jsonl")
    cut = next(entry for entry in reading.entries if entry.type == "compaction")
    assert cut["summary"] == "The talk so far: clock.py adds the offset twice; tests stay as they are."
    assert (cut["tokensBefore"], cut["trigger"], cut["firstKeptEntryId"]) == (10460, "auto", cut.id)
    seen = context(reading, "g1")
    assert isinstance(seen[0], CompactionSummary)
    assert len(seen) == 5


def test_two_prompts_below_one_record_are_two_branches():
    """A prompt that was said anew leaves the first one and all that came of it on a branch of its own."""
    reading = fixture("session.jsonl")
    said = [message["content"] for message in messages(reading, "user")]
    assert said[2:4] == [[text("Then fix it.")], [text("Then fix it, and say which winter was wrong.")]]
    assert [entry.id for entry in branch(reading)][-4:] == ["cb", "u3", "h1", "i1"]
    assert [entry.id for entry in branch(reading, "g1")][-4:] == ["u2", "f1", "r5", "g1"]


def test_what_stopped_a_response_is_said_in_pis_words():
    """An error that was never sent has no usage and no model, an interrupted response no output count."""
    reading = fixture("session.jsonl")
    failed, aborted = responses(reading)[4], responses(reading)[7]
    assert (failed.stop_reason, failed.usage, failed.model) == ("error", None, None)
    assert failed.error_message == "API Error: 529 overloaded"
    assert (aborted.stop_reason, aborted.usage.input, aborted.usage.output) == ("aborted", 3, None)
    assert aborted.usage.total_tokens is None


def test_it_says_what_it_cannot_tell():
    """Each sentence comes from this file."""
    unknown = fixture("session.jsonl").unknown
    assert "It states no context window." in unknown
    assert "Responses that state only the output count of their first chunk: 1 of 7." in unknown
    assert "1 attachment went out in words that it does not hold." in unknown
    assert "What it cost to write the summary of 1 cut is not in this file." in unknown
    assert "What 1 sub-agent did stands in other files." in unknown
    assert not any("another file" in sentence for sentence in unknown)


# --- sub-agents --------------------------------------------------------------------------------------


def test_a_sub_agents_file_is_a_session_of_its_own():
    """Its side chain is its main conversation, its name the session's, and its counts are first chunks."""
    reading = fixture("agent-ab12cd.jsonl")
    assert reading.header.id == "ab12cd"
    assert len(context(reading)) == len(reading.entries) == 4
    assert {response.usage.output for response in responses(reading)} == {None}
    assert {response.usage.total_tokens for response in responses(reading)} == {None}
    assert [response.usage.prompt for response in responses(reading)] == [4205, 4325]
    assert "Responses that state only the output count of their first chunk: 2 of 2." in reading.unknown
    assert "It goes on from a record in another file; what was sent before that is not in it." in reading.unknown


def test_side_chains_in_a_main_file_stay_apart():
    """Each is a root of its own, and the leaf is the main conversation's."""
    reading = fixture("sidechains.jsonl")
    assert reading.parents.count(-1) == 3
    assert [entry.id for entry in branch(reading)] == ["l0", "l1", "l3", "l4", "l5"]
    assert [entry.id for entry in branch(reading, "k3")] == ["k0", "k1", "k2", "k3"]
    assert [entry.id for entry in branch(reading, "j1")] == ["j0", "j1"]
    assert reading.header.id == "5f0c6a52-0000-4000-8000-00000000c0de"
    assert "Beside the main conversation it holds 2 conversations of sub-agents." in reading.unknown


def test_a_side_chain_goes_by_its_agent_its_parent_or_itself():
    """A named one may lose its parents, an unnamed one below the main chain is a root of its own."""
    named = {"isSidechain": True, "agentId": "z"}
    reading = read(
        user("m", "main"),
        user("a", "named", "gone", **named),
        user("b", "still named", "gone too", **named),
        user("c", "unnamed", "m", isSidechain=True),
        user("d", "its child", "c", isSidechain=True),
        user("e", "the end", "m"),
    )
    paths = [[entry.id for entry in branch(reading, leaf)] for leaf in ("b", "d", "e")]
    assert paths == [["a", "b"], ["c", "d"], ["m", "e"]]


# --- usage -------------------------------------------------------------------------------------------


USAGE = {"input_tokens": 2, "cache_read_input_tokens": 10, "cache_creation_input_tokens": 5, "output_tokens": 1}


def counted(output):
    """Usage with another output count."""
    return {**USAGE, "output_tokens": output}


def test_a_count_that_grew_is_the_final_one():
    """A low count in the same file is dropped alone, plausible ones stay."""
    reading = read(
        assistant("a", text("w" * 400), id_="one", usage=counted(1)),
        assistant("b", call("c", command="x" * 400), id_="one", usage=counted(260)),
        user("r", [result("c")]),
        assistant("d", text("w" * 60), usage=counted(1)),
        assistant("e", text("w" * 60), usage=counted(20)),
    )
    assert [response.usage.output for response in responses(reading)] == [260, None, 20]


def test_counts_of_first_chunks_are_dropped_where_the_file_holds_no_others():
    """One that looks plausible is then as unknown as the rest; inputs stay."""
    reading = read(
        assistant("a", text("w" * 400), usage=counted(1)),
        assistant("b", call("c", n=[{"deep": ["x" * 50, 5]}]), usage=counted(25)),
        assistant("d", {"type": "thinking", "thinking": "w" * 9}, {"type": "fallback"}, usage=counted(1)),
    )
    assert [response.usage.output for response in responses(reading)] == [None, None, None]
    assert tokens(reading)["cache_read"] == 30


def test_a_stated_stop_makes_a_count_final():
    """A short count is believed when the response says why it stopped."""
    thought = {"type": "redacted_thinking", "data": "enc"}
    reading = read(assistant("a", thought, text("w" * 90), usage=counted(3), stop="max_tokens"))
    (response,) = responses(reading)
    assert (response.usage.output, response.stop_reason) == (3, "length")
    assert (response.content[0].redacted, response.content[0].thinking_signature) == (True, "enc")


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"input_tokens": 7, "output_tokens": 2}, {"input": 7, "output": 2, "totalTokens": 9}),
        ({"input_tokens": 7, "output_tokens": None}, {"input": 7}),
        ({"input_tokens": True, "output_tokens": -2}, None),
        (
            {"input_tokens": 1, "output_tokens": 1, "cache_creation": {"ephemeral_5m_input_tokens": 3}},
            {"input": 1, "output": 1, "cacheWrite": 3, "totalTokens": 5},
        ),
        (
            {"input_tokens": 1, "output_tokens": 1, "cache_creation": {"ephemeral_1h_input_tokens": 3}},
            {"input": 1, "output": 1, "cacheWrite": 3, "cacheWrite1h": 3, "totalTokens": 5},
        ),
        (5, None),
        (None, None),
    ],
)
def test_counts_that_are_not_stated_stay_absent(usage, expected):
    """A proxy that reports less leaves less, never a zero."""
    (message,) = messages(read(assistant("a", text("hi"), usage=usage)), "assistant")
    assert message.get("usage") == expected


@pytest.mark.parametrize(
    ("stop", "blocks", "word"),
    [
        ("end_turn", [text("x")], "stop"),
        ("stop_sequence", [text("x")], "stop"),
        ("pause_turn", [text("x")], "stop"),
        ("tool_use", [call("c")], "toolUse"),
        ("max_tokens", [call("c")], "length"),
        ("refusal", [], "error"),
        ("new_word", [], "stop"),
        (None, [call("c")], "toolUse"),
        (None, [text("x")], "stop"),
        (5, [text("x")], "stop"),
    ],
)
def test_stop_reasons_are_worded_as_in_pi(stop, blocks, word):
    """An unstated or unknown one follows from the calls."""
    assert responses(read(assistant("a", *blocks, stop=stop)))[0].stop_reason == word


def test_a_synthetic_answer_that_is_no_error_was_sent():
    """A filler without a model has no usage and is no failure."""
    (response,) = responses(read(assistant("a", text("No response"), model="<synthetic>", usage=counted(4))))
    assert (response.stop_reason, response.usage, response.model) == ("stop", None, None)


@pytest.mark.parametrize(
    ("blocks", "stop", "words", "word"),
    [
        ([text("half a")], None, "[Request interrupted by user]", "aborted"),
        ([text("whole")], "end_turn", "[Request interrupted by user]", "stop"),
        ([call("c")], None, "[Request interrupted by user for tool use]", "toolUse"),
        ([text("whole")], None, "go on", "stop"),
    ],
)
def test_only_a_response_without_an_end_was_interrupted(blocks, stop, words, word):
    """What follows right after it must say so, and it neither stopped by itself nor called a tool."""
    usage = USAGE if stop else None
    reading = read(assistant("a", *blocks, stop=stop, usage=usage), user("u", [text(words)]))
    assert responses(reading)[0].stop_reason == word


# --- order -------------------------------------------------------------------------------------------


def test_a_result_that_stands_before_its_call_waits_for_it():
    """Where lines were written out of order the pair still is in order."""
    reading = read(
        user("u", "go"),
        user("r", [result("c", "early")], "b"),
        assistant("a", text("I look"), id_="one"),
        assistant("b", call("c"), id_="one"),
        user("v", "on"),
    )
    assert [entry.id for entry in branch(reading)] == ["u", "a", "r", "v"]
    assert broken(branch(reading)) == ([], [])


def test_a_late_result_goes_up_to_its_response():
    """A result after the next response or prompt moves before it; later ones of the same response follow it."""
    reading = read(
        user("u", "go"),
        assistant("a", call("c"), call("d"), call("e")),
        user("r", [result("c")]),
        user("v", "meanwhile"),
        assistant("b", text("yes")),
        user("s", [result("d")]),
        user("t", [result("e")]),
    )
    assert [entry.id for entry in branch(reading)] == ["u", "a", "r", "s", "t", "v", "b"]
    assert broken(branch(reading)) == ([], [])


def test_a_late_result_at_a_side_chain_leaves_the_main_one_alone():
    """A result goes to the conversation of its call, wherever its line says that it belongs."""
    side = {"isSidechain": True, "agentId": "z"}
    reading = read(
        user("u", "go"), assistant("a", call("c"), **side), user("r", [result("c")], "u"), user("v", "on", "u")
    )
    assert [entry.id for entry in branch(reading)] == ["u", "v"]
    assert [entry.id for entry in branch(reading, "r")] == ["a", "r"]


def test_results_without_a_call_are_kept_where_they_stand():
    """A file that begins in the middle holds such results; a call that was skipped as repeated answers none."""
    reading = read(
        user("r", [result("gone")]),
        user("s", [result("late")]),
        assistant("r", call("late")),
        user("t", [{"type": "tool_result"}]),
    )
    assert [message["toolCallId"] for message in messages(reading, "toolResult")] == ["gone", "", "late"]
    assert [message["toolName"] for message in messages(reading, "toolResult")] == ["", "", ""]
    assert [problem.kind for problem in reading.problems] == ["duplicate-id"]


def test_text_beside_results_is_a_message_of_its_own():
    """One record gives its results first and what was said with them after; it starts no branch."""
    reading = read(
        assistant("a", call("c")),
        user("r", [text("look:"), result("c")], "a"),
        user("s", "and", "a"),
    )
    assert [message["role"] for message in messages(reading)] == ["assistant", "toolResult", "user", "user"]
    assert [entry.id for entry in branch(reading)] == ["a", "r", "r-2", "s"]


def test_repeated_records_are_read_once_until_a_cut():
    """What is written again after a cut is sent again."""
    reading = read(
        user("u", "go"),
        user("u", "go"),
        record("system", "b", subtype="compact_boundary", compactMetadata={"trigger": "manual"}),
        user("s", "so far", isCompactSummary=True),
        user("u", "go"),
        assistant("a", text("yes"), id_="one"),
    )
    assert [entry.id for entry in reading.entries] == ["u", "b", "u-2", "a"]
    assert [problem.kind for problem in reading.problems] == ["duplicate-id"]
    assert reading.entries[1]["trigger"] == "manual"
    assert "tokensBefore" not in reading.entries[1].data


def test_ids_that_collide_with_made_up_ones_stay_apart():
    """A record may be called as we would call another one."""
    both = [result("x"), text("t")]
    reading = read(user("r", both), user("r-1", "x"), user("r-1-2", "y"), user("r-2", "z"))
    assert len({entry.id for entry in reading.entries}) == 5
    again = read(user("r-2", "a"), user("r", both), user("s", "b"), user("r-2+", "c"))
    assert [entry.id for entry in again.entries] == ["r-2", "r", "r-2+", "s", "r-2+-4"]


# --- cuts --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kept", [{"preservedSegment": {"headUuid": "v"}}, {"preservedMessages": {"uuids": [5, "nowhere", "v"]}}]
)
def test_a_cut_that_kept_records_names_the_first(kept):
    """What was kept is still in the context, and copies of it after the cut are not read twice."""
    reading = read(
        user("u", "old"),
        user("v", "kept"),
        record("system", "b", subtype="compact_boundary", compactMetadata=kept),
        user("s", [text("so "), text("far")], isCompactSummary=True),
        user("v", "kept"),
        user("w", "new"),
    )
    assert reading.entries[2]["firstKeptEntryId"] == "v"
    assert reading.entries[2]["summary"] == "so \nfar"
    assert [type(message).__name__ for message in context(reading)] == ["CompactionSummary", "User", "User"]


def test_a_summary_without_its_boundary_is_a_cut_all_the_same():
    """Old versions wrote only the summary."""
    reading = read(user("u", "old"), user("s", "so far", isCompactSummary=True), user("v", "new"))
    assert [entry.type for entry in reading.entries] == ["message", "compaction", "message"]
    assert reading.entries[1]["summary"] == "so far"


def test_a_cut_without_its_summary_says_so():
    """The file ended there."""
    reading = read(user("u", "old"), record("system", "b", subtype="compact_boundary", compactMetadata=7))
    assert reading.entries[1]["summary"] == ""
    assert "It does not hold the summary of 1 cut." in reading.unknown


def test_outputs_that_claude_code_shed_are_counted():
    """What was sent then is not what the file holds."""
    reading = read(user("u", "go"), record("system", "m", subtype="microcompact_boundary"))
    assert "Old outputs that Claude Code took out of its requests (1 time) stand here in full." in reading.unknown


# --- beside the conversation -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("attachment", "kind", "words"),
    [
        ({"type": "edited_text_file", "filename": "a.py", "snippet": "1\tx"}, "custom_message", "a.py\n1\tx"),
        ({"type": "deferred_tools_delta", "addedNames": ["A"], "addedLines": ["A"]}, "custom_message", "A"),
        ({"type": "brand_new", "id": "i", "deep": {"list": ["p", {"q": "r"}], "n": 5}}, "custom_message", "p\nr"),
        ({"type": "queued_command", "prompt": "bg", "commandMode": "task-notification"}, "custom_message", "bg"),
        ({"type": "queued_command", "prompt": [text("typed")]}, "message", "typed"),
        ({"type": "already_read_file", "content": "x"}, "custom", None),
        ({"type": "todo_reminder", "content": []}, "custom", None),
        ({}, "custom", None),
        ("no object", "custom", None),
    ],
)
def test_attachments_are_told_by_what_was_sent(attachment, kind, words):
    """Texts of an unknown kind count as sent, those of kinds that stay on the screen do not."""
    (entry,) = read(record("attachment", "a", attachment=attachment)).entries
    assert entry.type == kind
    content = entry.get("content") or (entry.message_data or {}).get("content")
    assert (None if content is None else content[0]["text"]) == words


def test_an_attachment_nested_without_end_is_cut_off():
    """No depth of it can exhaust the stack."""
    deep = "end"
    for _ in range(60):
        deep = [deep]
    (entry,) = read(record("attachment", "a", attachment={"type": "new", "x": deep, "y": "seen"})).entries
    assert entry["content"] == [text("seen")]


def test_records_that_say_nothing_to_the_model_are_noted_or_left_out():
    """Unknown types and system records leave a custom entry, screen noise nothing; a long name is shortened."""
    reading = read(
        user("u", "go"),
        {"type": "custom-title", "customTitle": "t"},
        record("progress", "p", data={"type": "agent_progress", "agentId": "z"}),
        record("system", "s", subtype="away_summary"),
        record("n" * 100, "n"),
        user("v", "only shown", isVisibleInTranscriptOnly=True),
        {"type": 5},
        {"no": "type"},
    )
    assert kinds(reading) == [
        "message",
        "claude_code.system.away_summary",
        "claude_code." + "n" * 60,
        "claude_code.transcript-only",
        "claude_code.",
    ]
    assert "What 1 sub-agent did stands in other files." in reading.unknown
    assert reading.entries[4].id == "line7"


def test_documents_and_search_hits_are_read_as_their_text():
    """A document whose data are no text stays as it is, an image may be a mere address."""
    pdf = {"type": "document", "source": {"type": "base64", "data": "JVBE"}}
    blocks = [
        {"type": "document", "title": "T", "source": {"type": "text", "data": "body"}},
        {"type": "document", "source": {"type": "content", "content": [text("inner")]}},
        {"type": "search_result", "title": "S", "source": "https://example.org", "content": [text("hit")]},
        pdf,
        {"type": "image", "source": {"type": "url", "url": "https://example.org/i.png"}},
        {"type": "image", "source": 5},
    ]
    (message,) = messages(read(user("u", blocks)))
    assert message["content"] == [
        text("T\nbody"),
        text("inner"),
        text("S\nhttps://example.org\nhit"),
        pdf,
        {"type": "image", "mimeType": "", "data": "https://example.org/i.png"},
        {"type": "image", "mimeType": "", "data": ""},
    ]


def test_blocks_of_tools_that_run_at_the_vendor_stay_as_they_are():
    """They are no calls that a result answers."""
    (response,) = responses(read(assistant("a", {"type": "server_tool_use", "id": "s"}, {"type": "tool_use"})))
    assert response.content[0] == OtherPart(kind="server_tool_use")
    assert (response.content[1].name, response.content[1].arguments) == ("", {})


# --- files that are damaged --------------------------------------------------------------------------


def test_lines_that_are_no_records_are_gone_around():
    """Each is a problem of its own kind, and the last one may be torn."""
    raws = [b"", b"  ", b"nope", b"[1]", b"5", b"[" * 5000, json.dumps(user("u", "\ud800 go")).encode(), b'{"type":']
    reading = check(read_claude_code(lines(*raws)))
    kinds_ = [(problem.kind, problem.line) for problem in reading.problems]
    assert kinds_ == [
        ("broken-line", 3),
        ("not-an-object", 4),
        ("not-an-object", 5),
        ("broken-line", 6),
        ("torn-tail", 8),
    ]
    assert messages(reading)[0]["content"] == [text("\ud800 go")]


@pytest.mark.parametrize("items", [[], [b"nope"], [{"type": "mode"}], [{"a": 1}]])
def test_a_file_without_any_record_is_refused(items):
    """The words say what to name instead."""
    with pytest.raises(SessionRefused, match=r"no record of a conversation in it; name a \.jsonl file"):
        read_claude_code(lines(*items))


def test_a_file_of_notes_alone_is_read():
    """The main conversation stays the one without a side chain."""
    reading = read(record("system", "s", subtype="x"), record("system", "t", subtype="y", isSidechain=True))
    assert [entry.id for entry in reading.entries] == ["t", "s"]
    assert [entry.id for entry in branch(reading)] == ["s"]


# --- recordings from outside -------------------------------------------------------------------------

INDEX = {
    "bhavana": (89, 96, 129, 6_410_533, 342_491, 55_999, 123_515, 0),
    "campaign-audit-opus5": (163, 147, 307, 26_604_594, 215_965, 162_558, 274_807, 0),
    "ccviewer-inline-sidechains": (170, 167, 818, 3_647_854, 137_976, 51_933, 43_077, 3),
    "fundwise": (71, 83, 11_690, 6_580_578, 120_202, 55_656, 138_382, 0),
    "researchos": (118, 131, 146, 12_325_569, 436_969, 77_155, 192_792, 0),
    "spotter-4d5611e5/session": (139, 150, 177, 11_618_567, 479_537, 28_755, 164_832, 49),
    "spotter-4d5611e5/subagents/agent-a2898e3": (12, 33, 53, 604_156, 71_257, 136, 71_258, 12),
    "spotter-4d5611e5/subagents/agent-acompact-e1f845": (1, 0, 3, 164_830, 8_681, 8, 173_522, 1),
    "spotter-fa812bfe/session": (157, 197, 1_502, 15_373_675, 260_212, 36_256, 166_899, 46),
    "spotter-fa812bfe/subagents/agent-a93ccab": (11, 25, 70, 329_070, 45_621, 28, 45_631, 11),
    "spotter-fa812bfe/subagents/agent-aa84377": (9, 21, 52, 306_055, 52_562, 17, 52_571, 9),
    "spotter-fa812bfe/subagents/agent-acompact-70d8e7": (1, 0, 3, 166_873, 2_414, 6, 169_296, 1),
    "will-it-rain-compacted": (154, 146, 185, 11_895_589, 402_504, 2_271, 167_347, 153),
}
"""Responses, calls, input, read, written, output, peak as others counted; how many outputs are of first chunks."""


@pytest.mark.skipif(not RECORDED.is_dir(), reason=f"no recordings in {RECORDED}; set LEAFSCAR_SHARED")
@pytest.mark.parametrize("name", INDEX)
def test_recordings_add_up_to_what_others_counted(name):
    """Everything but the outputs of first chunks, which are left out here, is the same."""
    data = (RECORDED / "claude-code" / f"{name}.jsonl").read_bytes()
    assert sniff(data[:65_536], name)
    reading = check(read_claude_code(numbered(data)))
    count, asked, *sums, output, peak, low = INDEX[name]
    told = tokens(reading)
    assert (len(responses(reading)), len(calls(reading)), len(messages(reading, "toolResult"))) == (count, asked, asked)
    assert [told["input"], told["cache_read"], told["cache_write"]] == sums
    without = sum(1 for response in responses(reading) if response.usage and response.usage.output is None)
    assert without == low
    assert output - 26 * low <= told["output"] <= output
    assert peak - 30 <= told["peak"] <= peak
    if not low:
        assert (told["output"], told["peak"]) == (output, peak)
    assert broken(branch(reading)) == ([], [])
    assert not any(problem.kind != "duplicate-id" for problem in reading.problems)
