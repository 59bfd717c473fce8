"""Server-sent events of the two streaming APIs: Anthropic messages and OpenAI chat completions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .steps import Step
    from .tokens import Usage

CHUNK = 240


def pieces(text: str) -> Iterator[str]:
    """Split a text as a stream would."""
    for start in range(0, len(text), CHUNK):
        yield text[start : start + CHUNK]


def _event(name: str, **data: object) -> str:
    return f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n"


def _block(index: int, block: dict, deltas: list[dict]) -> Iterator[str]:
    yield _event("content_block_start", index=index, content_block=block)
    for delta in deltas:
        yield _event("content_block_delta", index=index, delta=delta)
    yield _event("content_block_stop", index=index)


def anthropic(step: Step, usage: Usage, model: str, number: int) -> Iterator[str]:
    """Yield the events of one Anthropic reply; the first event already carries the prompt's usage."""
    tokens = {
        "input_tokens": usage.fresh,
        "cache_read_input_tokens": usage.read,
        "cache_creation_input_tokens": usage.written,
        "output_tokens": 1,
    }
    head = {"id": f"msg_{number:05d}", "type": "message", "role": "assistant", "model": model, "content": []}
    yield _event("message_start", message={**head, "stop_reason": None, "stop_sequence": None, "usage": tokens})
    index = 0
    if step.text:
        deltas = [{"type": "text_delta", "text": piece} for piece in pieces(step.text)]
        yield from _block(index, {"type": "text", "text": ""}, deltas)
        index += 1
    for call in step.calls:
        block = {"type": "tool_use", "id": f"toolu_{number:05d}_{index}", "name": call.name, "input": {}}
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces(json.dumps(call.args))]
        yield from _block(index, block, deltas)
        index += 1
    stop = {"stop_reason": "tool_use" if step.calls else "end_turn", "stop_sequence": None}
    yield _event("message_delta", delta=stop, usage={"output_tokens": usage.output})
    yield _event("message_stop")


def openai(step: Step, usage: Usage, model: str, number: int) -> Iterator[str]:
    """Yield the chunks of one chat completion, the usage chunk last."""
    head = {"id": f"chatcmpl-{number:05d}", "object": "chat.completion.chunk", "created": 1, "model": model}

    def chunk(delta: dict, finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return f"data: {json.dumps({**head, 'choices': [choice]})}\n\n"

    yield chunk({"role": "assistant", "content": ""})
    for piece in pieces(step.text):
        yield chunk({"content": piece})
    for index, call in enumerate(step.calls):
        function = {"name": call.name, "arguments": json.dumps(call.args)}
        tool = {"index": index, "id": f"call_{number:05d}_{index}", "type": "function", "function": function}
        yield chunk({"tool_calls": [tool]})
    yield chunk({}, "tool_calls" if step.calls else "stop")
    totals = {
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.output,
        "total_tokens": usage.prompt + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.read},
    }
    yield f"data: {json.dumps({**head, 'choices': [], 'usage': totals})}\n\n"
    yield "data: [DONE]\n\n"
