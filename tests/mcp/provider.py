"""A scripted model on 127.0.0.1 that speaks Anthropic's messages protocol, as far as Claude Code needs it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]
Step = Callable[[Json], list[Json]]
"""From a request to the content blocks of its answer."""


def text(words: str) -> Json:
    """Give a text block."""
    return {"type": "text", "text": words}


def call(name: str, **arguments: Any) -> Json:
    """Give a call of a tool; its id is set when it is sent."""
    return {"type": "tool_use", "name": name, "input": arguments}


def results(body: Json) -> list[str]:
    """Every tool result of a request, as JSON text, oldest first."""
    blocks = [block for message in body["messages"] for block in _blocks(message["content"])]
    return [json.dumps(block["content"]) for block in blocks if block.get("type") == "tool_result"]


def _blocks(content: str | list[Json]) -> list[Json]:
    return [] if isinstance(content, str) else content


class Provider:
    """Answers each request of the conversation with the next step; requests on the side get a word."""

    def __init__(self, steps: list[Step]) -> None:
        self.requests: list[Json] = []
        """Bodies of the conversation's requests."""
        self.url = ""
        self._steps = list(steps)
        self._lock = threading.Lock()

    def answer(self, body: Json) -> Json:
        """Give the whole answer to a request."""
        with self._lock:
            number = len(self.requests)
            content = [text("ok")]
            if body.get("tools"):
                self.requests.append(body)
                content = self._steps[number](body) if number < len(self._steps) else [text("the script has ended")]
        blocks = [
            {**block, "id": f"toolu_{number}_{place}"} if block["type"] == "tool_use" else block
            for place, block in enumerate(content)
        ]
        calls = any(block["type"] == "tool_use" for block in blocks)
        return {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": body.get("model"),
            "content": blocks,
            "stop_reason": "tool_use" if calls else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 100, "output_tokens": 10},
        }


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, provider: Provider) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.provider = provider
        provider.url = f"http://127.0.0.1:{self.server_address[1]}"


@contextmanager
def serving(steps: list[Step]) -> Iterator[Provider]:
    """Serve a script until the block ends."""
    server = _Server(Provider(steps))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server.provider
    finally:
        server.shutdown()
        thread.join(timeout=10)
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def log_message(self, *args: Any) -> None:
        del args

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.end_headers()

    def do_GET(self) -> None:
        self._json({})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        path = self.path.partition("?")[0]
        if not path.endswith("/messages"):
            self._json({"input_tokens": 100} if path.endswith("/count_tokens") else {})
            return
        answer = self.server.provider.answer(body)
        if body.get("stream"):
            self._stream(answer)
        else:
            self._json(answer)

    def _json(self, data: Json) -> None:
        payload = json.dumps(data).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def _stream(self, answer: Json) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for event in _events(answer):
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
        self.close_connection = True


def _events(answer: Json) -> Iterator[Json]:
    head = {**answer, "content": [], "stop_reason": None, "usage": {**answer["usage"], "output_tokens": 1}}
    yield {"type": "message_start", "message": head}
    for index, block in enumerate(answer["content"]):
        if block["type"] == "text":
            start, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            start = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield {"type": "content_block_start", "index": index, "content_block": start}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ends = {"stop_reason": answer["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ends, "usage": {"output_tokens": answer["usage"]["output_tokens"]}}
    yield {"type": "message_stop"}
