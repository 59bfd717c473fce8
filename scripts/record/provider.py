"""A model provider on 127.0.0.1 whose replies come from a story and whose usage is computed from the requests."""

from __future__ import annotations

import json
import queue
import random
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

from . import wire
from .steps import Step
from .tokens import PrefixCache, Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .clock import Clock

MAX_REQUESTS = 600
MAX_BODY = 8_000_000
ACTION_SECONDS = 10


@dataclass
class Director:
    """Hands out the story's next step, measures each request and moves the clock."""

    clock: Clock
    summarize: Callable[[str], str]
    seed: int
    turn: Iterator[Step] = field(default_factory=lambda: iter(()))
    cache: PrefixCache = field(default_factory=PrefixCache)
    actions: queue.Queue[Step] = field(default_factory=queue.Queue)
    go_on: threading.Event = field(default_factory=threading.Event)
    requests: int = 0
    problems: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lock = threading.Lock()
        self.random = random.Random(self.seed)  # noqa: S311

    def answer(self, body: dict, *, automatic: bool) -> tuple[Step, Usage, int]:
        """Return the step, its usage and its number for one request.

        An automatic cache needs no breakpoints (OpenAI); otherwise only a request that carries some is cached.
        """
        with self.lock:
            self.requests += 1
            if self.requests > MAX_REQUESTS:
                raise RuntimeError("too many requests")
            usage = self.cache.measure(body, self.clock.ms, cached=automatic or "cache_control" in json.dumps(body))
            step = self._next(body)
            usage.output = step.tokens
            self.clock.advance(self._seconds(usage, step))
            return step, usage, self.requests

    def _next(self, body: dict) -> Step:
        if not body.get("tools"):
            return Step(self.summarize(flat(body["messages"][-1].get("content"))))
        step = next(self.turn, None)
        if step is None:
            self.problems.append("the story of a turn was too short")
            return Step("Nothing left to do here.")
        return step

    def _seconds(self, usage: Usage, step: Step) -> float:
        pause = 2 + usage.fresh / 20_000 + usage.written / 10_000 + step.tokens / 55
        return min(40.0, max(5.0, pause + self.random.uniform(1.5, 9)))


def flat(content: object) -> str:
    """Return the text of a message's content."""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or [] if isinstance(part, dict))


class Handler(BaseHTTPRequestHandler):
    """One request: measure, stream, stop."""

    protocol_version = "HTTP/1.1"
    director: Director

    def log_message(self, *_args: object) -> None:
        """Stay quiet."""

    def do_POST(self) -> None:
        """Answer a chat request."""
        size = min(int(self.headers.get("content-length", 0)), MAX_BODY)
        body = json.loads(self.rfile.read(size))
        messages = "/messages" in self.path
        step, usage, number = self.director.answer(body, automatic=not messages)
        self.close_connection = True
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        encode = wire.anthropic if messages else wire.openai
        events = list(encode(step, usage, body.get("model", ""), number))
        try:
            self._stream(step, events)
        except (BrokenPipeError, ConnectionResetError):
            if step.action != "abort":
                self.director.problems.append(f"the client left request {number}")

    def _stream(self, step: Step, events: list[str]) -> None:
        if not step.action:
            self._send(events)
            return
        half = max(2, len(events) // 2)
        self._send(events[:half])
        time.sleep(0.4)
        self.director.go_on.clear()
        self.director.actions.put(step)
        self.director.go_on.wait(ACTION_SECONDS)
        if step.action != "abort":
            self._send(events[half:])

    def _send(self, events: list[str]) -> None:
        self.wfile.write("".join(events).encode())
        self.wfile.flush()


def serve(director: Director) -> ThreadingHTTPServer:
    """Start the provider on a free port in a thread of its own."""
    handler = type("BoundHandler", (Handler,), {"director": director})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
