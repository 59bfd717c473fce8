"""From a plan to the messages that go out."""

import pytest
from tests.engine.build import assistant, call, execution, facts, result, user

from leafscar.compaction import check_pairs, project_context
from leafscar.compaction.settle import NO_RESULT
from leafscar.engine import Controller, materialise
from leafscar.engine.plan import Plan, sendable


def roles(messages):
    """Role and answered call of each message."""
    return [(message["role"], message.get("toolCallId", "")) for message in messages]


def test_a_well_formed_list_goes_out_as_it_is():
    """Nothing is moved, nothing added; the dicts are fresh."""
    messages = [user(), assistant(call("a"), call("b")), result("b", 5), result("a", 5), assistant("ok"), user()]
    sent = sendable(messages)
    assert sent == messages
    assert all(mine is not given for mine, given in zip(sent, messages, strict=True))


CUSTOM = {"role": "custom", "customType": "note", "content": "n", "display": True, "timestamp": 1}


@pytest.mark.parametrize("between", [[user()], [execution(5)], [CUSTOM], [user(), assistant("x")]])
def test_a_late_result_stands_right_after_its_call(between):
    """Whatever came in between, providers want the pair together."""
    sent = sendable([user(), assistant(call("a")), *between, result("a", 5)])
    assert roles(sent)[1:3] == [("assistant", ""), ("toolResult", "a")]
    assert len(sent) == 3 + len(between)
    check_pairs(sent)


@pytest.mark.parametrize("after", [[], [user()], [execution(5)], [CUSTOM], [assistant("x")]])
def test_a_call_without_a_result_gets_one(after):
    """An error result in its place, so that the session stays usable."""
    sent = sendable([user(), assistant(call("a")), *after])
    assert sent[2]["content"][0]["text"] == NO_RESULT
    check_pairs(sent)


def test_a_result_without_its_call_stays_out():
    """Orphans, second results, and results of responses that failed are not sent."""
    messages = [
        result("z", 5),
        user(),
        assistant(call("f"), stop="error"),
        result("f", 5),
        assistant(call("a")),
        result("a", 5),
        result("a", 6),
    ]
    sent = sendable(messages)
    assert roles(sent) == [("user", ""), ("assistant", ""), ("toolResult", "a")]
    assert sent[2] == result("a", 5)


def test_call_ids_may_be_used_again():
    """Local models number their calls anew in each response."""
    sent = sendable([assistant(call("0")), result("0", 1), assistant(call("0")), result("0", 2)])
    assert [message for message in sent if message["role"] == "toolResult"] == [result("0", 1), result("0", 2)]


def test_what_was_abandoned_is_settled():
    """An aborted response keeps what it had said and called; an empty one is not sent."""
    sent = sendable([user(), assistant("half", call("a"), stop="aborted"), user(), assistant(stop="aborted")])
    assert [message.get("stopReason") for message in sent] == [None, "toolUse", None, None]
    assert roles(sent)[2] == ("toolResult", "a")


def test_materialise_applies_positions():
    """A marker takes the place of the text; a bash execution keeps its command."""
    messages = [user(), assistant("hm"), execution(500), assistant("ok", total=5)]
    path = [{"type": "message", "id": f"e{n}", "message": message} for n, message in enumerate(messages)]
    controller = Controller(facts=facts())
    controller.follow(path)
    controller.ledger.move([2])
    sent = materialise(controller.items, controller.plan())
    assert sent[2]["output"].startswith('[bash pruned: "make", exit 0')
    assert sent[2]["command"] == "make"


def test_text_content_has_no_thinking_to_strip():
    """Responses whose content is plain text, and other roles, pass the stripping unchanged."""
    plain = {"role": "assistant", "content": "plain", "stopReason": "stop", "timestamp": 2}
    path = [{"type": "message", "id": f"e{n}", "message": message} for n, message in enumerate([user(), plain])]
    path.append({"type": "compaction", "id": "c", "summary": "S", "firstKeptEntryId": "e0"})
    controller = Controller(facts=facts(bound_thinking=True))
    controller.follow(path)
    plan = controller.plan()
    assert plan.strip_thinking == (0, 3)
    assert materialise(controller.items, plan)[2]["content"] == "plain"


@pytest.mark.parametrize("odd", [5, None, "x", [], {"type": ["thinking"]}])
def test_parts_that_are_no_objects_go_out_without_thinking(odd):
    """Where thinking is left out, what is no part at all stays as it stands."""
    response = {"role": "assistant", "content": [{"type": "thinking", "thinking": "t"}, odd], "stopReason": "stop"}
    (item,) = project_context([{"type": "message", "id": "a", "message": response}]).items
    plan = Plan(length=1, kept=0, replacements={}, strip_thinking=(0, 1), estimate=1)
    assert materialise([item], plan)[0]["content"] == [odd]
