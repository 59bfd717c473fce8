"""Random session files: trees, cuts, edits, moved leaves, and all that goes wrong in them."""

from __future__ import annotations

import json

from hypothesis import strategies as st
from tests.model.strategies import messages, values
from tests.session.build import STAMP, header

NAMES = ("a", "b", "c", "d", "e", "f", "line3", "line4", "é", "\ud800")
NOISE = (
    b"", b"  ", b"nope", b"[1]", b"{}", b'{"type":"message","id":"a"', b"\0", b"\xff", b'{"type":5,"id":"a"}',
    b'{"type":"session","version":3,"id":"a","parentId":null}', b'{"type":"label","id":"a","parentId":null}\r',
)  # fmt: skip

texts = st.sampled_from(["", "hello", "😀", "\ud83d", "é\n"])
said = st.builds(
    lambda role, text: {"role": role, "content": text}, st.sampled_from(["user", "assistant", "hookMessage"]), texts
)
system = st.just({"role": "system", "content": "", "sections": {"x": "y"}})
targets = st.sampled_from(NAMES) | st.none() | st.just(5)
bodies = st.one_of(
    st.fixed_dictionaries({"type": st.just("message"), "message": said}),
    st.fixed_dictionaries({"type": st.just("message"), "message": said | system}),
    st.fixed_dictionaries(
        {"type": st.just("compaction"), "summary": texts},
        optional={"firstKeptEntryId": targets, "systemMessage": system},
    ),
    st.fixed_dictionaries(
        {"type": st.just("context_edit"), "targetId": targets, "replacement": st.none() | st.just({"content": "new"})}
    ),
    st.fixed_dictionaries({"type": st.just("leaf"), "targetId": targets}),
    st.fixed_dictionaries({"type": st.just("custom_message"), "content": texts}),
    st.fixed_dictionaries({"type": st.just("branch_summary"), "summary": texts}),
    st.fixed_dictionaries({"type": st.just("thinking_level_change"), "thinkingLevel": st.sampled_from(["off", "low"])}),
    st.fixed_dictionaries({"type": st.just("model_change"), "provider": texts, "modelId": texts}),
    st.fixed_dictionaries({"type": st.sampled_from(["label", "custom", "session_info", "usage", "new"])}),
)


@st.composite
def placed(draw, number):
    """Draw an entry; most have an id of their own and hang on the entry before or on some name."""
    body = draw(bodies)
    own = f"n{number}"
    id_ = draw(st.sampled_from([own, own, own, own, *NAMES, "", None, 5]))
    before = f"n{number - 1}" if number else None
    parent = draw(st.sampled_from([before, before, before, before, f"n{number // 2}", *NAMES, None, own, "", 5]))
    head = {"id": id_, "parentId": parent, "timestamp": STAMP}
    if draw(st.integers(0, 30)) == 0:
        head.pop(draw(st.sampled_from(["id", "parentId"])))
    kind = {"type": body["type"]}
    return {**kind, **head, **body} if draw(st.integers(0, 5)) else {**body, **head}


def line(item):
    """One line of a file."""
    return item if isinstance(item, bytes) else json.dumps(item, separators=(",", ":"), ensure_ascii=True).encode()


@st.composite
def files(draw, noise=True, version=3):
    """Draw the bytes of a session file; the last line may be torn."""
    count = draw(st.integers(0, 14))
    items = [header(version)]
    for number in range(count):
        items.append(draw(placed(number)))
        if noise and draw(st.integers(0, 7)) == 0:
            items.append(draw(st.sampled_from(NOISE)))
    data = b"".join(line(item) + b"\n" for item in items)
    torn = draw(st.sampled_from([0, 0, 0, 1, 2, 9])) if noise else 0
    return data[: len(data) - torn] if len(items) > 1 else data


odd_entries = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["message", "compaction", "custom_message", "branch_summary", "context_edit", "leaf"])
        | values,
        "id": st.sampled_from(NAMES) | values,
        "parentId": st.sampled_from(NAMES) | values,
        "timestamp": st.just(STAMP) | values,
        "message": messages | values,
        "summary": values,
        "content": values,
        "customType": values,
        "firstKeptEntryId": st.sampled_from(NAMES) | values,
        "firstKeptEntryIndex": st.integers(0, 5) | values,
        "tokensBefore": values,
        "targetId": st.sampled_from(NAMES) | values,
        "replacement": values,
        "systemMessage": messages | values,
        "retainedTail": st.lists(messages, max_size=2) | values,
        "details": values,
        "thinkingLevel": values,
        "provider": values,
        "modelId": values,
    },
)
"""Entries in which any field may be missing or of any type."""
