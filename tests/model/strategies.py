"""Random messages in pi's shape, from well-formed to odd."""

from __future__ import annotations

from hypothesis import strategies as st

ROLES = (
    "user assistant toolResult bashExecution custom branchSummary compactionSummary system hookMessage".split()  # noqa: SIM905
)

numbers = st.integers(-(2**70), 2**70) | st.floats()
text = st.text(max_size=12) | st.sampled_from(["", "\ud83d", "😀 x", "\x00\x1f", "leafscar"])
scalars = st.none() | st.booleans() | numbers | text
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)


def field(good, *, odd=values):
    """A good value three times out of four, any JSON value else."""
    return st.one_of(good, good, good, odd)


def fields(**strategies):
    """A dict with any subset of these fields, in any order."""
    optional = {name: strategy for name, strategy in strategies.items() if name not in ("role", "type")}
    required = {name: strategy for name, strategy in strategies.items() if name in ("role", "type")}
    return st.fixed_dictionaries(required, optional=optional)


parts = st.one_of(
    fields(type=st.just("text"), text=field(text)),
    fields(
        type=st.just("thinking"),
        thinking=field(text),
        thinkingSignature=field(text | st.none()),
        redacted=field(st.booleans()),
    ),
    fields(type=st.just("toolCall"), id=field(text), name=field(text), arguments=field(values)),
    fields(type=st.just("image"), data=field(text), mimeType=field(text)),
    fields(type=text, text=field(text)),
)
content = field(text | st.none() | st.lists(field(parts), max_size=3))
usages = fields(
    input=field(numbers | st.none()),
    output=field(numbers),
    cacheRead=field(numbers),
    cacheWrite=field(numbers | st.none()),
    cacheWrite1h=field(numbers | st.none()),
    totalTokens=field(numbers | st.none()),
    cost=values,
)
messages = fields(
    role=st.sampled_from(ROLES) | values,
    content=content,
    timestamp=field(numbers),
    usage=field(usages),
    stopReason=field(st.sampled_from(["stop", "length", "toolUse", "error", "aborted"])),
    errorMessage=field(text),
    provider=field(text | st.none()),
    model=field(text),
    api=field(text),
    toolCallId=field(text),
    toolName=field(text),
    isError=field(st.booleans()),
    nestedCalls=values,
    command=field(text),
    output=field(text),
    exitCode=field(numbers | st.none()),
    cancelled=field(st.booleans()),
    truncated=field(st.booleans()),
    fullOutputPath=field(text | st.none()),
    excludeFromContext=field(st.booleans()),
    customType=field(text),
    display=field(st.booleans()),
    summary=field(text),
    fromId=field(text),
    tokensBefore=field(numbers),
    sections=values,
    toolsAdded=values,
)
