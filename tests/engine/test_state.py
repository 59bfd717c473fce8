"""What a controller remembers can be written and read whatever a session holds."""

import msgspec
import pytest
from tests.engine.build import assistant, call, facts, result, user

from leafscar.engine import Controller
from leafscar.engine.state import ControlState


def path_of(messages, name):
    """Entries of these messages; ``name`` makes the ids."""
    ids = [name.format(number) for number in range(len(messages))]
    return [
        {"type": "message", "id": id_, "parentId": parent, "message": message}
        for id_, parent, message in zip(ids, [None, *ids], messages, strict=False)
    ]


MESSAGES = [
    user(),
    *(part for n in range(9) for part in (assistant(call(f"c{n}"), total=4_000 * n + 50), result(f"c{n}", 4_000))),
    assistant("ok", total=36_500),
    user(),
]


@pytest.mark.parametrize("name", ["e{}", "\ud800{}", "é😀{}"])
def test_a_state_survives_its_way_through_json(name):
    """Whatever the ids are, the state is valid JSON, is restored, and the next decision can be made."""
    path = path_of(MESSAGES, name)
    first = Controller(facts=facts(40_000))
    first.before_request(path)
    assert first.ledger.shed
    written = msgspec.json.encode(first.state)
    state = msgspec.json.decode(written, type=ControlState)
    assert state == first.state
    second = Controller(facts=facts(40_000), state=state)
    second.before_request(path)
    if name != "\ud800{}":
        assert second.ledger.shed == first.ledger.shed
        assert second.state == first.state


def test_only_ids_that_no_text_can_hold_are_left_out():
    """The others stay, and what was measured at such an id counts as not measured."""
    state = ControlState(shed={"a": 1, "\ud800": 2, "é": 2}, stripped=("a", "\ud800"), readings={"\udfff": 0, "b": 1})
    assert (state.shed, state.readings, state.stripped) == ({"a": 1, "é": 2}, {"b": 1}, None)
    kept = ControlState(stripped=("a", "b"))
    assert kept.stripped == ("a", "b")


@pytest.mark.parametrize("count", ["-1", "1e9", "9" * 400, "true", "null"])
def test_counts_of_a_state_are_bounded(count):
    """A count that no controller writes is refused, not believed."""
    with pytest.raises(msgspec.MsgspecError):
        msgspec.json.decode(f'{{"fruitless": {count}}}', type=ControlState)
