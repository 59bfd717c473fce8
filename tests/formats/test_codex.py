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
    kinds,
    lines,
    messages,
    numbered,
    responses,
    text,
    tokens,
)

from leafscar.errors import SessionRefused
from leafscar.formats.codex import FORMAT, read_codex, sniff
from leafscar.model import Image, OtherPart

HERE = FIXTURES / FORMAT
FILES = {path.name: path.read_bytes() for path in sorted(HERE.glob("*.jsonl"))}


def fixture(name):
    """Reading of one of our own files."""
    return check(read_codex(numbered(FILES[name])))


def envelope(kind, **payload):
    """One line of a rollout."""
    return {"timestamp": "2026-05-06T10:00:00.000Z", "type": kind, "payload": payload}


def item(kind, **fields):
    """One item in its envelope."""
    return envelope("response_item", type=kind, **fields)


def said(role, *texts, **fields):
    """A message item."""
    kind = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": kind, "text": text} for text in texts], **fields)


def call(id_, **fields):
    """A function call item."""
    return item("function_call", **{"call_id": id_, "name": "shell", "arguments": "{}", **fields})


def output(id_, value="done", **fields):
    """The answer to a call."""
    return item("function_call_output", call_id=id_, output=value, **fields)


def event(kind, **fields):
    """An event."""
    return envelope("event_msg", type=kind, **fields)


def usage(prompt, read, out, **fields):
    """Counts as Codex words them."""
    return {"input_tokens": prompt, "cached_input_tokens": read, "output_tokens": out, **fields}


def reading_of(last, total=None, window=1000):
    """A reading with its cumulative total."""
    info = {"total_token_usage": total or last, "last_token_usage": last, "model_context_window": window}
    return event("token_count", info=info)


def read(*items):
    """Reading of records."""
    return check(read_codex(lines(*items)))


# --- sniffing ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_our_files_are_known_by_their_head(name):
    """A few hundred bytes are enough, even when they end inside a line."""
    assert sniff(FILES[name], name)
    assert sniff(FILES[name][:90], name)


@pytest.mark.parametrize(
    ("head", "known"),
    [
        (b'{"timestamp":"t","type":"session_meta","payload":{"base_instructions":"' + b"x" * 70_000, True),
        (b'{"timestamp":"t","ordinal":3,"type":"response_item","payload":{"x":"' + b"x" * 70_000, True),
        (b'{"type":"function_call","call_id":"c"}\n', True),
        (b'{"type":"reasoning","summary":[]}\n', True),
        (b'{"type":"message","role":"user","content":[{"type":"input_text","text":"x"}]}\n', True),
        (b'{"type":"message","role":"user","content":"x"}\n', False),
        (b'{"type":"reasoning"}\n', False),
        (b'{"type":"webhook","payload":{}}\n', False),
        (b'{"type":"session","id":"s","timestamp":"t","instructions":"x"}\n', False),
        (b'{"type":"message","id":"m","parentId":null,"message":{"content":[{"type":"input_text"}]}}\n', False),
        (b'{"x":"\\"type\\":\\"session_meta\\""}', False),
        (b'{"type":[],"id":"e","processed_at":[],"payload":[]}\n', False),
        (b'{"type":[],"payload":{}}\n', False),
        (b"", False),
        (b"\0\xff\n[1]\n5\n", False),
    ],
)
def test_other_heads_are_left_to_other_readers(head, known):
    """Only what Codex writes is claimed, and nothing makes the look raise."""
    assert sniff(head, "x.jsonl") is known


# --- a whole rollout ---------------------------------------------------------------------------------


def test_a_rollout_reads_as_one_conversation():
    """Items are replayed, events that repeat them are left out, the instructions are the system message."""
    reading = fixture("rollout.jsonl")
    header = reading.header
    assert (reading.format, header.version, header.cwd) == (FORMAT, 3, "/home/ada/kiln")
    assert (header.id, header.timestamp) == ("019f0000-0000-7000-8000-000000000001", "2026-05-06T10:00:00.000Z")
    assert (reading.window, reading.problems) == (258_400, ())
    assert kinds(reading) == [
        "system",
        *("codex.developer", "codex.context", "model_change", "thinking_level_change"),
        *("user", "assistant", "toolResult", "toolResult", "assistant", "toolResult", "assistant"),
        *("user", "assistant", "toolResult", "assistant", "codex.context", "codex.turn_aborted"),
        *("codex.thread_rolled_back", "codex.context_estimate"),
        *("thinking_level_change", "user", "assistant", "toolResult"),
        *("compaction", "user", "user", "codex.compaction", "codex.context_estimate", "assistant"),
    ]
    assert reading.entries[3]["modelId"] == "gpt-5.4"
    assert reading.entries[3]["provider"] == "openai"
    assert [entry["thinkingLevel"] for entry in reading.entries if entry.type == "thinking_level_change"] == [
        "high",
        "medium",
    ]


def test_items_between_two_sendings_are_one_response():
    """Reasoning, words and parallel calls belong together, with the usage that the reading after them bills."""
    first = responses(fixture("rollout.jsonl"))[0]
    assert [type(part).__name__ for part in first.content] == ["Thinking", "Text", "ToolCall", "ToolCall"]
    assert (first.content[0].thinking, first.content[0].thinking_signature) == ("", "gAAAAAbc")
    assert first.content[2].arguments == {"cmd": "cat kiln.log"}
    assert (first.provider, first.model, first.api) == ("openai", "gpt-5.4", "openai-responses")
    assert first.stop_reason == "toolUse"
    assert first.timestamp > 1.7e12
    told = responses(fixture("rollout.jsonl"))[1].usage
    assert (told.input, told.cache_read, told.cache_write, told.output) == (340, 8960, 0, 120)
    assert told.total_tokens == 9420


def test_the_readings_that_bill_add_up_to_the_final_total():
    """Repeated readings and those that Codex made up count nothing."""
    sums = tokens(fixture("rollout.jsonl"))
    assert sums["input"] + sums["cache_read"] == 49_320
    assert (sums["cache_read"], sums["output"], sums["peak"]) == (38_272, 472, 9_670)


def test_free_text_arguments_stay_text():
    """A patch is no JSON; its answer stays the text that was sent."""
    reading = fixture("rollout.jsonl")
    patch = calls(reading)[2]
    assert patch.name == "apply_patch"
    assert patch.arguments.startswith("*** Begin Patch")
    result = messages(reading, "toolResult")[2]
    assert (result["toolName"], result["isError"]) == ("apply_patch", False)
    assert json.loads(result["content"][0]["text"])["output"] == "Success"


def test_a_turn_that_was_taken_back_is_a_branch_of_its_own():
    """Its lines stay, the next turn goes on from before its prompt, and its cut-off response is aborted."""
    reading = fixture("rollout.jsonl")
    prompts = [message["content"][0]["text"] for message in messages(reading, "user")]
    assert prompts[1] == "Now add the date to each line."
    aborted = responses(reading)[4]
    assert (aborted.stop_reason, aborted.usage) == ("aborted", None)
    path = branch(reading)
    assert [entry.message_data["content"] for entry in path if entry.message_data][7:9] == [
        [text("The writer did nothing; it prints now.")],
        [text("Undo that; write the hour.")],
    ]
    assert broken(path) == ([], [])


def test_a_cut_replaces_everything_by_its_list():
    """The prompts that it lists are sent again, the sealed summary is noted, the system message goes on."""
    reading = fixture("rollout.jsonl")
    cut = next(entry for entry in reading.entries if entry.type == "compaction")
    assert (cut["summary"], cut["firstKeptEntryId"]) == ("", cut.id)
    assert "tokensBefore" not in cut.data
    assert "trigger" not in cut.data
    listed = reading.entries[reading.entries.index(cut) + 1]
    assert (listed.id, listed.line, listed.raw) == (f"{cut.id}-1", cut.line, None)
    assert cut.raw is not None
    seen = [type(message).__name__ for message in context(reading)]
    assert seen == ["System", "CompactionSummary", "User", "User", "Assistant"]
    assert reading.entries[-2]["data"] == {"tokens": 2048}


def test_it_says_what_it_cannot_tell():
    """Each sentence comes from this file."""
    unknown = fixture("rollout.jsonl").unknown
    assert unknown == (
        "1 of its 7 responses state no usage.",
        "The text of 4 reasoning items is encrypted.",
        "The summary of 1 cut is encrypted; its size is not known.",
    )


# --- other versions ----------------------------------------------------------------------------------


def test_answers_that_come_before_the_bill_do_not_part_a_response_from_it():
    """From 0.144 on the reading stands after the answers, and answers are lists of parts."""
    reading = fixture("exec.jsonl")
    assert [response.usage.output for response in responses(reading)] == [60, 20, 12]
    assert reading.window == 353_400
    first = messages(reading, "toolResult")[0]
    assert (first["toolName"], [part["type"] for part in first["content"]]) == ("exec", ["text", "text", "image"])
    assert first["content"][2] == {"type": "image", "mimeType": "image/png", "data": "d2VhdmU="}
    assert OtherPart(kind="web_search_call") in responses(reading)[2].content
    assert "codex.world_state" in kinds(reading)


def test_writes_to_the_cache_are_unknown_where_they_have_a_price():
    """From GPT-5.6 on they are billed and not stated; before, there is none to state."""
    reading = fixture("exec.jsonl")
    assert [response.usage.cache_write for response in responses(reading)] == [None] * 3
    assert [response.usage.total_tokens for response in responses(reading)] == [5060, 5220, 5312]
    assert "How much of the uncached input was written to the cache is not stated." in reading.unknown


@pytest.mark.parametrize(
    ("model", "written"),
    [("gpt-5.5", 0), ("gpt-5.6-sol", None), ("gpt-6", None), ("openai/gpt-6.1", None), ("o4-mini", 0), (None, 0)],
)
def test_which_models_bill_writes_follows_from_their_number(model, written):
    """A model that is not named as a late GPT bills none."""
    reading = read(envelope("turn_context", model=model), said("assistant", "hi"), reading_of(usage(10, 4, 2)))
    assert responses(reading)[0].usage.cache_write == written


def test_writes_that_are_stated_are_taken_out_of_the_input():
    """A version that states them has three classes of input."""
    counts = usage(100, 60, 2, cache_write_input_tokens=30)
    told = responses(read(said("assistant", "hi"), reading_of(counts)))[0].usage
    assert (told.input, told.cache_read, told.cache_write, told.total_tokens) == (10, 60, 30, 102)


def test_a_file_without_envelopes_is_read():
    """The first versions wrote bare items below a header; the directory is the one that the model was told."""
    reading = fixture("bare.jsonl")
    assert (reading.header.id, reading.header.cwd) == ("c3c4b301", "/home/ada/barn")
    assert kinds(reading) == ["codex.context", "user", "assistant", "toolResult", "assistant"]
    thought, shell = responses(reading)[0].content
    assert thought.thinking == "Count lines."
    assert (shell.name, shell.arguments["command"]) == ("local_shell", ["wc", "-l", "hens.txt"])
    assert "None of its 2 responses states its usage." in reading.unknown


def test_an_old_cut_keeps_the_newest_prompts():
    """Without a list it kept what people said, newest first, up to a size; the summary is readable."""
    reading = read(
        said("user", "oldest " + "x" * 79_990),
        said("user", "middle"),
        said("user", "newest"),
        said("assistant", "well"),
        envelope("compacted", message="They talked."),
        said("assistant", "go on"),
    )
    cut = next(entry for entry in reading.entries if entry.type == "compaction")
    assert cut["summary"] == "They talked."
    seen = context(reading)
    assert [type(message).__name__ for message in seen] == ["CompactionSummary", "User", "User", "Assistant"]
    assert seen[1].content[0].text == "middle"
    assert "Which prompts 1 cut kept is reckoned by the rule of that version." in reading.unknown
    assert len(context(read(said("user", "all"), envelope("compacted", message="s")))) == 2


def test_a_summary_that_a_cut_lists_as_a_message_is_not_read_twice():
    """It is the cut's own text."""
    kept = [said("user", "do it")["payload"], said("user", "They talked.")["payload"]]
    reading = read(said("user", "do it"), envelope("compacted", message="They talked.", replacement_history=kept))
    assert [message["content"] for message in messages(reading, "user")] == [[text("do it")], [text("do it")]]


def test_the_header_of_what_was_forked_from_is_left_out():
    """The first header is the file's own."""
    reading = read(
        envelope("session_meta", id="child", base_instructions={"text": "mine"}),
        envelope("session_meta", id="parent", base_instructions={"text": "theirs"}),
        said("user", "go"),
    )
    assert reading.header.id == "child"
    assert kinds(reading) == ["system", "user"]


# --- responses and bills -----------------------------------------------------------------------------


def test_a_bill_without_a_response_is_kept_beside():
    """A summary's request is billed and answered nowhere in the file."""
    reading = read(
        said("user", "go"),
        said("assistant", "well"),
        reading_of(usage(10, 0, 2), usage(10, 0, 2)),
        reading_of(usage(30, 8, 5), usage(40, 8, 7)),
        said("user", "on"),
        reading_of(usage(7, 0, 1), usage(47, 8, 8)),
    )
    assert tokens(reading)["output"] == 2
    aside = [entry["data"] for entry in reading.entries if entry.get("customType") == "codex.usage"]
    assert aside[0] == {"input": 22, "output": 5, "cacheRead": 8, "cacheWrite": 0, "totalTokens": 35}
    assert len(aside) == 2
    assert "2 readings bill requests whose answers are not in it." in reading.unknown


@pytest.mark.parametrize(
    "info",
    [
        None,
        5,
        {"total_token_usage": usage(1, 0, 1)},
        {"last_token_usage": usage(1, 0, 1)},
        {"total_token_usage": usage(1, 0, 1), "last_token_usage": usage(0, 0, 0, total_tokens=0)},
    ],
)
def test_readings_that_state_no_bill_count_nothing(info):
    """Neither a refresh of rate limits nor a half of a reading is a usage."""
    reading = read(said("assistant", "hi"), event("token_count", info=info))
    assert responses(reading)[0].usage is None
    assert kinds(reading) == ["assistant"]


def test_a_cached_count_larger_than_the_prompt_leaves_the_uncached_one_unknown():
    """Counts that contradict each other are not made to fit."""
    told = responses(read(said("assistant", "hi"), reading_of(usage(5, 9, 2))))[0].usage
    assert (told.input, told.cache_read, told.output, told.total_tokens) == (None, 9, 2, None)


def test_a_window_that_changed_is_said():
    """The newest one is the reading's."""
    reading = read(
        event("task_started", model_context_window=1000),
        said("assistant", "hi"),
        reading_of(usage(5, 0, 2), window=2000),
        event("task_started", model_context_window=0),
    )
    assert reading.window == 2000
    assert "Its window changed on the way (1,000, 2,000 tokens); the newest is taken." in reading.unknown
    assert read(said("assistant", "hi")).window is None


def test_a_bill_ends_a_response():
    """Two responses may follow one another without anything sent between them."""
    reading = read(said("assistant", "one"), reading_of(usage(5, 0, 2)), said("assistant", "two"))
    assert len(responses(reading)) == 2


def test_an_abort_leaves_a_billed_response_alone():
    """Only a response whose bill never came was cut off."""
    reading = read(said("assistant", "one"), reading_of(usage(5, 0, 2)), event("turn_aborted"), event("turn_aborted"))
    assert responses(reading)[0].stop_reason == "stop"


# --- items -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "content", "error"),
    [
        ("plain", [text("plain")], False),
        ("", [text("")], False),
        (None, [text("")], False),
        ({"content": "inner", "success": False}, [text("inner")], True),
        ({"content": [{"type": "input_text", "text": "a"}], "success": True}, [text("a")], False),
        ({"stdout": "x"}, [text('{"stdout":"x"}')], False),
        (["a", "b"], [text('["a","b"]')], False),
        ([{"type": "input_file", "file_id": "f"}], [{"type": "input_file", "file_id": "f"}], False),
        (7, [text("7")], False),
    ],
)
def test_answers_are_what_was_sent(value, content, error):
    """Text, lists of parts, and old objects; what is neither was sent as JSON."""
    (message,) = messages(read(call("c"), output("c", value)), "toolResult")
    assert (message["content"], message["isError"]) == (content, error)


def test_a_search_for_tools_is_a_call_and_its_tools_the_answer():
    """The declarations that it found were sent."""
    found = item("tool_search_output", call_id="c", tools=[{"type": "function", "name": "f"}])
    reading = read(item("tool_search_call", call_id="c", arguments={"query": "f"}), found)
    assert (calls(reading)[0].name, calls(reading)[0].arguments) == ("tool_search", {"query": "f"})
    assert messages(reading, "toolResult")[0]["content"] == [text('[{"type":"function","name":"f"}]')]


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"type": "input_image", "image_url": "data:image/png;base64,AAA"}, Image(data="AAA", mime_type="image/png")),
        ({"type": "input_image", "image_url": {"url": "https://x.org/i"}}, Image(data="https://x.org/i")),
        ({"type": "input_image", "file_id": "file-1"}, Image(data="file-1")),
        ({"type": "input_image"}, Image()),
        ({"type": "input_audio", "data": "x"}, OtherPart(kind="input_audio")),
    ],
)
def test_what_people_send_beside_text_is_kept(part, expected):
    """Images with their data or their address, other parts as they are."""
    reading = read(item("message", role="user", content=[part]))
    assert reading.entries[0].message.content == (expected,)


def test_messages_may_be_plain_text_or_a_refusal():
    """Old and rare shapes."""
    reading = read(
        item("message", role="user", content="plain"),
        item("message", role="assistant", content=[{"type": "refusal", "refusal": "no"}]),
    )
    assert [message["content"] for message in messages(reading)] == [[text("plain")], [text("no")]]


@pytest.mark.parametrize(
    ("role", "words", "kind"),
    [
        ("user", "<environment_context>x</environment_context>", "codex.context"),
        ("user", "# AGENTS.md instructions for /x\n", "codex.context"),
        ("user", "\n<user_shell_command>ls</user_shell_command>", "codex.context"),
        ("user", "<environment>is typed</environment>", "user"),
        ("user", "# AGENTS are cool", "user"),
        ("developer", "rules", "codex.developer"),
        ("system", "rules", "codex.system"),
        (None, "said", "user"),
    ],
)
def test_what_codex_wrote_itself_is_no_prompt(role, words, kind):
    """Context and rules are injected, everything else a person said."""
    assert kinds(read(said(role, words))) == [kind]


def test_a_message_with_a_word_of_a_person_is_a_prompt():
    """All its parts must be Codex's own to make it context."""
    assert kinds(read(said("user", "<skill>x</skill>", "and this"))) == ["user"]
    assert kinds(read(item("message", role="user", content=[]))) == ["user"]


def test_records_of_other_kinds_are_noted_or_left_out():
    """Unknown records and items leave a custom entry; snapshots, events and bare markers nothing."""
    reading = read(
        envelope("brand_new" * 20),
        {"type": "compat", "x": 1},
        {"record_type": "state"},
        {"x": 1},
        {"type": 5, "payload": {"x": 1}},
        item("ghost_snapshot"),
        item("new_item"),
        event("agent_message", message="hi"),
        event("error", message="boom"),
        event(None),
        said("user", "go"),
    )
    assert kinds(reading) == [
        "codex." + ("brand_new" * 20)[:60],
        "codex.compat",
        "codex.",
        "codex.new_item",
        "codex.error",
        "user",
    ]


def test_calls_without_an_id_are_called_by_their_item_or_line():
    """A call never stays nameless."""
    reading = read(call(None, id="fc_1"), call(None), item("custom_tool_call", name=5, input=None))
    assert [asked.id for asked in calls(reading)] == ["fc_1", "line2", "line3"]
    assert (calls(reading)[2].name, calls(reading)[2].arguments) == ("", "")


# --- order -------------------------------------------------------------------------------------------


def test_a_late_answer_goes_up_to_its_call():
    """An answer after the next prompt moves before it; one without a call stays where it is."""
    reading = read(
        call("c"),
        call("d"),
        output("c"),
        said("user", "meanwhile"),
        output("d"),
        output("gone"),
        said("assistant", "x"),
    )
    assert [entry.id for entry in branch(reading)] == ["line1", "line3", "line5", "line4", "line6", "line7"]
    assert broken(branch(reading)) == (["gone"], [])


def test_turns_are_taken_back_by_their_prompts():
    """Two at once, more than there are, none, and a late answer right after."""
    reading = read(
        said("assistant", "hello"),
        call("c"),
        said("user", "one"),
        said("user", "two"),
        event("thread_rolled_back", num_turns=2),
        output("c"),
        said("user", "three"),
        event("thread_rolled_back", num_turns=0),
        event("thread_rolled_back"),
        said("assistant", "yes"),
    )
    path = branch(reading)
    assert [entry.id for entry in path] == ["line1", "line6", "line5", "line7", "line8", "line9", "line10"]
    assert broken(path) == ([], [])
    back = read(said("user", "one"), event("thread_rolled_back", num_turns=9), said("user", "two"))
    assert [entry.id for entry in branch(back)] == ["line2", "line3"]


def test_an_answer_right_after_a_turn_was_taken_back_stands_below_its_call():
    """The note of the rollback is not what it hangs on."""
    reading = read(call("c"), envelope("compacted", message="s", replacement_history=[]), output("c"))
    assert [entry.id for entry in branch(reading)] == ["line1", "line3", "line2"]


# --- files that are damaged --------------------------------------------------------------------------


def test_lines_that_are_no_records_are_gone_around():
    """The reader starts anywhere, and the last line may be torn."""
    reading = check(read_codex(lines(b"nope", b"", said("user", "go"), b"[1]", b'{"timestamp":')))
    kinds_ = [(problem.kind, problem.line) for problem in reading.problems]
    assert kinds_ == [("broken-line", 1), ("not-an-object", 4), ("torn-tail", 5)]
    assert reading.header.id == ""


def test_a_rollout_of_a_header_alone_is_read():
    """It holds nothing yet."""
    reading = read(envelope("session_meta", id="s", cwd="/x"))
    assert (reading.header.id, reading.entries) == ("s", ())


@pytest.mark.parametrize("items", [[], [b"nope"], [{"a": 1}], [event("error")], [{"record_type": "state"}]])
def test_a_file_without_any_item_is_refused(items):
    """The words say what to name instead."""
    with pytest.raises(SessionRefused, match=r"no record of a conversation in it; name a rollout"):
        read_codex(lines(*items))


# --- recordings from outside -------------------------------------------------------------------------

INDEX = {
    "raze": (18, 38, 1_257_132, 1_160_576, 19_360, 113_006, 258_400, 0),
    "soulpass-compacted": (85, 157, 12_710_499, 12_212_608, 47_484, 234_755, 258_400, 0),
    "webdev-sxw-exec": (58, 57, 2_302_721, 2_222_592, 26_700, 53_693, 353_400, 0),
    "x402-agent-truncated": (5, 15, 121_832, 92_032, 1_737, 36_293, 258_400, 3),
}
"""Responses; calls, input with its cached part, output, peak and window as others counted; calls without an answer."""


@pytest.mark.skipif(not RECORDED.is_dir(), reason=f"no recordings in {RECORDED}; set LEAFSCAR_SHARED")
@pytest.mark.parametrize("name", INDEX)
def test_recordings_add_up_to_what_others_counted(name):
    """Each response has the bill that is its own, and their sum is the final total."""
    data = (RECORDED / "codex" / f"{name}.jsonl").read_bytes()
    assert sniff(data[:65_536], name)
    reading = check(read_codex(numbered(data)))
    count, asked, prompt, read_, out, peak, window, unanswered = INDEX[name]
    told = tokens(reading)
    assert (len(responses(reading)), len(calls(reading))) == (count, asked)
    assert told["input"] + told["cache_read"] == prompt
    assert (told["cache_read"], told["output"], told["peak"], reading.window) == (read_, out, peak, window)
    assert all(response.usage for response in responses(reading))
    faults, waiting = broken(branch(reading))
    assert (faults, len(waiting)) == ([], unanswered)
    assert reading.problems == ()
