import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.pruning.build import (
    RESERVE,
    WINDOW,
    assistant,
    by_line,
    call,
    entries_of,
    execution,
    image,
    lines,
    result,
    run,
    text,
    user,
)

from leafscar.model import BashExecution, ToolResult, Unknown, as_entry, as_message
from leafscar.model.messages import text_of
from leafscar.pruning import CLASSIC, DEFAULT, SOURCE, PruningSettings, is_marker, prune, replaced

BOTH = pytest.mark.parametrize("rules", [SOURCE, DEFAULT, CLASSIC], ids=["source", "ours", "classic"])


def old_bash(units=9000, **given):
    """One bash result of an earlier turn."""
    ran = assistant(call("c1", "bash", command="make"), stop="toolUse")
    return [user(), ran, result("c1", "bash", "x" * units, **given), user("next")]


def at(tokens, messages):
    """The same list, its last response saying that the context holds ``tokens`` in all."""
    return [*messages, assistant(text("ok"), tokens=tokens), user("", at=9)]


def is_identity(got, messages):
    """Whether the pass did nothing at all."""
    return got.messages is messages and not got.engaged and got.records == () and got.pruned_count == 0


@BOTH
@pytest.mark.parametrize(("tokens", "engaged"), [(44_000, False), (44_001, True)], ids=["a14_1", "a14_2"])
def test_engages_strictly_above_the_threshold(rules, tokens, engaged):
    """At the threshold the very list comes back."""
    messages = at(tokens, old_bash())
    got = run(messages, engage=False, rules=rules)
    assert got.engaged is engaged
    assert got.pruned_count == int(engaged)
    assert is_identity(got, messages) is not engaged


@BOTH
def test_a14_3_disabled(rules):
    """Switched off, nothing is even looked at."""
    messages = at(44_001, old_bash())
    assert is_identity(run(messages, settings={"enabled": False}, rules=rules), messages)


@BOTH
def test_a14_4_a_caller_that_decided_skips_the_threshold(rules):
    """Sticky engagement prunes small contexts too."""
    assert run(old_bash(), engage=True, rules=rules).pruned_count == 1
    assert run(old_bash(), engage=False, rules=rules).pruned_count == 0


@BOTH
@pytest.mark.parametrize(("units", "count"), [(4000, 0), (4001, 1)], ids=["a14_5", "a14_6"])
def test_the_minimum_itself_stays(rules, units, count):
    """With nothing to prune the very list comes back, engaged."""
    messages = old_bash(units)
    got = run(messages, rules=rules)
    assert (got.engaged, got.pruned_count) == (True, count)
    assert (got.messages is messages) is (count == 0)


@BOTH
def test_a14_7_results_and_executions(rules):
    """Both are outputs of bash."""
    got = run([execution("ls", "x" * 8000), *old_bash()], rules=rules)
    assert [record.tool_name for record in got.records] == ["bash", "bash"]


def two_turns():
    """An old output, a prompt, a new output."""
    second = [assistant(call("c2", "bash"), stop="toolUse"), result("c2", "bash", "y" * 9000)]
    return [*old_bash(), *second]


@BOTH
def test_a14_8_the_current_turn_is_protected(rules):
    """What follows the last user message stays the same object."""
    messages = two_turns()
    got = run(messages, rules=rules)
    assert got.pruned_count == 1
    assert got.messages[5] is messages[5]


@BOTH
def test_a14_9_unprotected(rules):
    """Set to false, the current turn is pruned as well."""
    assert run(two_turns(), settings={"protectCurrentTurn": False}, rules=rules).pruned_count == 2


@BOTH
def test_a14_10_no_user_message(rules):
    """Everything is the current turn."""
    messages = two_turns()[4:]
    got = run(messages, rules=rules)
    assert got.messages is messages
    assert got.engaged


@BOTH
def test_a14_11_just_before_the_last_user_message(rules):
    """The output right before the prompt is old."""
    assert run(old_bash(), rules=rules).messages[2]["content"][0]["text"].startswith("[bash pruned: ")


@BOTH
def test_a14_12_an_image_stays_behind_its_text(rules):
    """Part 0 is the marker, part 1 the same image."""
    picture = image()
    messages = [user(), result("c1", "browse", [text("x" * 9000), picture]), user()]
    content = run(messages, rules=rules).messages[1]["content"]
    assert is_marker(content[0]["text"])
    assert content[1:] == [picture]
    assert content[1] is picture


@BOTH
def test_a14_13_text_parts_collapse_to_one(rules):
    """The marker comes first, images keep their order."""
    parts = [image("a"), text("x" * 9000), image("b"), text("y" * 9000)]
    content = run([user(), result("c1", "browse", parts), user()], rules=rules).messages[1]["content"]
    assert [part["type"] for part in content] == ["text", "image", "image"]
    assert [part["data"] for part in content[1:]] == ["a", "b"]


@BOTH
@pytest.mark.parametrize(
    "message",
    [
        pytest.param(result("c1", "browse", [image(), image()]), id="a14_14"),
        pytest.param(result("c1", "browse", []), id="a14_15"),
        pytest.param(assistant(text("x" * 90_000)), id="a14_16_response"),
        pytest.param({"role": "compactionSummary", "summary": "x" * 90_000, "timestamp": 0}, id="a14_16_summary"),
    ],
)
def test_untouched_however_large(rules, message):
    """Only text of outputs goes."""
    messages = [message, *old_bash(10)]
    summary = {"type": "compaction", "id": "k", "summary": "x" * 90_000}
    entries = entries_of(messages)
    if message["role"] == "compactionSummary":
        entries[0] = summary
    got = run(messages, entries, rules=rules)
    assert got.messages is messages
    assert (got.engaged, got.pruned_count) == (True, 0)


def pruned_call(name, content, rules=DEFAULT, **arguments):
    """Marker text of one result in a whole pass."""
    messages = [user(), assistant(call("c1", name, **arguments)), result("c1", name, content), user()]
    return run(messages, rules=rules).messages[2]["content"][0]["text"]


@BOTH
def test_a14_17_a_read_in_a_pass(rules):
    """The call is found by its id; the reference is the result's line."""
    shown = pruned_call("read", lines(260, 21), rules, path="lib/a.py", offset=41, limit=120)
    where = "[read pruned: lib/a.py, lines 41-160, ~1.4k tokens. Re-read with the read tool."
    assert shown == f"{where} recall #4 for this exact output.]"


@BOTH
def test_a14_24_a_command_in_a_pass(rules):
    """Both ends, and how many lines are not there."""
    shown = pruned_call("bash", lines(312, 20), rules, command="pytest -q").split("\n")
    assert shown[0] == '[bash pruned: "pytest -q", exit 0, 312 lines, ~1.6k tokens.'
    assert shown[11] == "... 292 lines omitted ..."
    assert (len(shown), shown[-1]) == (23, "recall #4 for full output.]")


@BOTH
def test_a14_25_fewer_than_twenty_lines(rules):
    """All lines are shown, none is said to be omitted."""
    shown = pruned_call("bash", lines(15, 900), rules, command="ls")
    assert "15 lines" in shown
    assert "omitted" not in shown


@BOTH
@pytest.mark.parametrize(("count", "omitted"), [(20, None), (21, "... 1 lines omitted ...")], ids=["20", "21"])
def test_a14_26_twenty_and_twenty_one_lines(rules, count, omitted):
    """The omission line appears with the first omitted line."""
    shown = pruned_call("bash", lines(count, 900), rules, command="ls")
    assert (omitted in shown) if omitted else ("omitted" not in shown)


@BOTH
def test_a14_31_an_execution_keeps_its_command(rules):
    """The marker stands in the output; nothing else changes."""
    message = execution("make -j2", lines(90, 58))
    got = run([message, user()], rules=rules).messages[0]
    assert {**got, "output": 0} == {**message, "output": 0}
    assert "... 70 lines omitted ..." in got["output"]


@BOTH
def test_a14_39_calls_stay_paired(rules):
    """Roles, ids, names and every other key are what they were, in the same order."""
    messages = two_turns()
    got = run(messages, rules=rules, settings={"protectCurrentTurn": False})
    for before, after in zip(messages, got.messages, strict=True):
        assert list(before) == list(after)
        assert {**before, "content": 0} == {**after, "content": 0}


@BOTH
def test_a14_40_the_reference_is_the_callers(rules):
    """It is asked with the very entry that was passed in, a dict or an Entry."""
    messages = old_bash()
    for entries in (entries_of(messages), [as_entry(entry) for entry in entries_of(messages)]):
        asked = []
        got = run(messages, entries, rules=rules, reference_for=lambda entry, seen=asked: seen.append(entry) or "k9-z")
        assert "recall k9-z for full" in got.messages[2]["content"][0]["text"]
        assert len(asked) == 1
        assert asked[0] is entries[2]


@BOTH
def test_a14_41_savings_add_up(rules):
    """What an output held less what its marker holds; the total is their sum."""
    messages = [*old_bash(8000), execution("", "x" * 4000), execution("ls", "x" * 9998), user()]
    got = run(messages, rules=rules)
    assert [record.original_tokens for record in got.records] == [2000, 2500]
    assert all(r.savings_tokens == r.original_tokens - r.marker_tokens for r in got.records)
    assert got.savings_tokens == sum(record.savings_tokens for record in got.records)


@BOTH
def test_a14_43_narrow_output_is_pruned_once(rules):
    """Fed back with matching entries, the very list comes back."""
    once = run([user(), result("c1", "bash", lines(300, 40)), user()], rules=rules).messages
    again = run(once, rules=rules)
    assert again.messages is once
    assert again.pruned_count == 0


def test_a14_44_source_prunes_a_wide_marker_again():
    """The defect: the second pass changes what the first one wrote."""
    once = run([user(), result("c1", "bash", lines(300, 400)), user()], rules=SOURCE).messages
    again = run(once, rules=SOURCE)
    assert again.pruned_count == 1
    assert again.messages[1] != once[1]


def test_a14_44_ours_leaves_a_wide_marker_alone():
    """A marker is recognised whatever its size."""
    once = run([user(), result("c1", "bash", lines(300, 400)), user()]).messages
    assert run(once).messages is once


@BOTH
def test_a14_45_the_same_input_gives_the_same_result(rules):
    """And the input is as it was."""
    messages = two_turns()
    before = copy.deepcopy(messages)
    assert run(messages, rules=rules) == run(messages, rules=rules)
    assert messages == before


def test_a14_47_a_failed_response_that_was_not_sent():
    """The sources tolerate it."""
    messages = old_bash()
    extra = {"type": "message", "id": "e9", "message": assistant(stop="error")}
    assert run(messages, [*entries_of(messages), extra], rules=SOURCE).pruned_count == 1


@BOTH
def test_a14_51_entries_of_another_session(rules):
    """Nothing could be recalled, so nothing is pruned, and how many outputs that concerns is said."""
    messages = at(44_001, old_bash())
    got = run(messages, entries_of([user("other")]), engage=False, rules=rules)
    assert is_identity(got, messages)
    assert got.unaligned == 1


def test_source_gives_up_on_one_foreign_message():
    """The defect: a message that another hook added switches pruning off without a word."""
    messages = [*old_bash(), user("added by a hook")]
    assert not run(messages, entries_of(messages[:-1]), rules=SOURCE).engaged


def test_ours_prunes_what_it_can_and_counts_the_rest():
    """An output without an entry stays raw."""
    messages = [result("c9", "bash", "z" * 9000), *old_bash()]
    got = run(messages, entries_of(messages)[1:])
    assert (got.pruned_count, got.unaligned) == (1, 1)
    assert got.messages[0] is messages[0]


def test_source_always_engages_without_a_window():
    """The defect: an unknown window looks like one that is over."""
    assert run(old_bash(), context_window=0, engage=False, rules=SOURCE).engaged


def test_ours_does_nothing_without_a_window():
    """What is not known cannot be crossed; a caller that decided is obeyed."""
    messages = old_bash()
    assert is_identity(run(messages, context_window=0, engage=False), messages)
    assert run(messages, context_window=0, engage=True).pruned_count == 1


def test_typed_settings_are_taken():
    """A struct or a dict."""
    assert run(old_bash(), settings=PruningSettings(min_result_tokens=3000)).pruned_count == 0


def test_structs_come_back_as_structs():
    """A replaced struct differs in its text only."""
    messages = [as_message(message) for message in [execution("ls", "x" * 8000), *old_bash()]]
    raw = [execution("ls", "x" * 8000), *old_bash()]
    got = prune(
        messages,
        entries_of(raw),
        context_window=WINDOW,
        reserve_tokens=RESERVE,
        reference_for=by_line,
        engage=True,
    ).messages
    assert is_marker(got[0].output)
    assert got[0].command == "ls"
    assert is_marker(text_of(got[3].content))
    assert got[3].tool_call_id == "c1"
    assert got[1] is messages[1]


def test_parts_of_unknown_kinds_are_kept():
    """In dicts and in structs, in their order."""
    odd = [{"type": "audio", "data": "a"}, text("x" * 9000), image(), None, "loose"]
    message = result("c1", "browse", odd)
    assert replaced(message, "M")["content"] == [text("M"), odd[0], odd[2], None, "loose"]
    kinds = [type(part).__name__ for part in replaced(as_message(message), "M").content]
    assert kinds == ["Text", "OtherPart", "Image", "OtherPart", "OtherPart"]


def test_plain_text_content_stays_plain_text():
    """A host that writes text instead of parts gets text back."""
    message = {**result("c1", "grep", "x"), "content": "x" * 9000}
    assert is_marker(run([user(), message, user()]).messages[1]["content"])
    typed = ToolResult(tool_name="grep", tool_call_id="c1", content="x" * 9000)
    assert replaced(typed, "M").content == "M"
    assert replaced({"role": "toolResult", "content": None}, "M")["content"] == [text("M")]
    assert replaced(BashExecution(command="ls", output="x"), "M") == BashExecution(command="ls", output="M")


# --- properties ---------------------------------------------------------------------------------------

WORDS = st.text(alphabet='ab"\n\\ ,é\U0001f600\ud83d[]~', max_size=30)
OUTPUTS = st.builds(lines, st.integers(0, 60), st.sampled_from([1, 19, 60, 61, 120, 121, 199, 200, 201, 400])) | WORDS
ARGUMENTS = st.dictionaries(
    st.sampled_from(["path", "command", "ref", "offset", "limit"]),
    WORDS | st.integers(-5, 500) | st.floats(allow_nan=True) | st.none() | st.lists(WORDS, max_size=2),
) | st.none() | WORDS  # fmt: skip
NAMES = st.sampled_from(["read", "bash", "recall", "Bash", "Read", "grep", "", "a\nb"])


@st.composite
def contexts(draw):
    """Lists of odd messages that end with a user message."""
    messages = []
    for number in range(draw(st.integers(1, 4))):
        name, output = draw(NAMES), draw(OUTPUTS)
        parts = draw(st.permutations([text(output), *draw(st.lists(st.just(image()), max_size=1))]))
        ran = {"type": "toolCall", "id": f"c{number}", "name": name, "arguments": draw(ARGUMENTS)}
        messages += draw(
            st.sampled_from(
                [
                    [assistant(ran), result(f"c{number}", name, list(parts), error=draw(st.booleans()))],
                    [execution(draw(WORDS) * draw(st.sampled_from([1, 300])), output, at=number)],
                    [{"role": "strange", "content": 7}, {"role": "toolResult", "content": None}],
                ]
            )
        )
    return [*messages, user()]


@settings(max_examples=150, deadline=None)
@given(contexts(), st.sampled_from([1, 20, 300, 1000]))
def test_pruning_is_idempotent_and_never_enlarges(messages, minimum):
    """Each pruned message is smaller, every other is the same object, and a second pass changes nothing."""
    before = copy.deepcopy(messages)
    options = {"settings": {"minResultTokens": minimum}, "rules": DEFAULT}
    entries = entries_of(messages)
    got = run(messages, entries, **options)
    assert messages == before
    positions = {int(record.reference[1:]) - 2 for record in got.records}
    for position, (old, new) in enumerate(zip(messages, got.messages, strict=True)):
        assert (new is old) is (position not in positions)
    for record in got.records:
        assert 0 < record.marker_tokens < record.original_tokens
        assert record.savings_tokens == record.original_tokens - record.marker_tokens
    again = run(got.messages, entries, **options)
    assert again.messages is got.messages


@settings(max_examples=100, deadline=None)
@given(contexts())
def test_source_rules_survive_odd_input(messages):
    """Savings are never negative, whatever the messages hold."""
    got = run(messages, settings={"minResultTokens": 1}, rules=SOURCE)
    assert got.savings_tokens == sum(record.savings_tokens for record in got.records) >= 0


@pytest.mark.parametrize("message", [{}, {"role": None}, Unknown(role="x"), {"role": "bashExecution"}])
def test_messages_of_no_known_shape_pass_through(message):
    """Nothing is raised, nothing is lost."""
    messages = [message, *old_bash()]
    assert run(messages).messages[0] is message
