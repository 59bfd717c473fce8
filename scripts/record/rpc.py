"""Drives the CLI in RPC mode: one JSON object a line on stdin and stdout."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .provider import Director

HERE = Path(__file__).resolve().parent
TURN_SECONDS = 240


@dataclass(frozen=True)
class Launch:
    """How to start the CLI."""

    node: Path
    cli: Path
    home: Path
    work: Path
    clock: Path
    provider: str
    model: str

    def command(self) -> list[str]:
        """Return the command line."""
        options = ["--mode", "rpc", "--no-extensions", "-e", str(self.home / ".record/marks.js")]
        options += ["--no-skills", "--no-prompt-templates", "--no-themes"]
        model = ["--provider", self.provider, "--model", self.model]
        return [str(self.node), str(self.cli), *options, *model, "--tools", "read,bash,edit,write"]

    def environment(self) -> dict[str, str]:
        """Return a closed environment: nothing of the caller's but the search path for commands."""
        return {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.home),
            "TMPDIR": str(self.home / "tmp"),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PI_OFFLINE": "1",
            "PI_TELEMETRY": "0",
            "PI_SKIP_VERSION_CHECK": "1",
            "PI_CODING_AGENT_DIR": str(self.home / ".pi/agent"),
            "NODE_OPTIONS": f"--require {self.home / '.record/clock.cjs'}",
            "RECORD_CLOCK": str(self.clock),
        }


class Client:
    """One running CLI."""

    def __init__(self, launch: Launch, director: Director) -> None:
        self.director = director
        self.events: queue.Queue[dict] = queue.Queue()
        self.kinds: list[str] = []
        self.sent = 0
        self.errors = (launch.home / ".record/stderr.txt").open("w", encoding="utf-8")
        self.process = subprocess.Popen(
            launch.command(),
            cwd=launch.work,
            env=launch.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
        )
        threading.Thread(target=self._pump, daemon=True).start()

    def _pump(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.events.put(json.loads(line))
        self.events.put({"type": "closed"})

    def send(self, kind: str, **fields: object) -> str:
        """Send a command and return its id."""
        assert self.process.stdin
        self.sent += 1
        name = f"c{self.sent}"
        self.process.stdin.write(json.dumps({"id": name, "type": kind, **fields}).encode() + b"\n")
        self.process.stdin.flush()
        return name

    def wait(self, *, response: str = "", kind: str = "") -> dict:
        """Wait for an event or a response; meanwhile do what the story's user does."""
        deadline = time.monotonic() + TURN_SECONDS
        while time.monotonic() < deadline:
            self._act()
            try:
                event = self.events.get(timeout=0.05)
            except queue.Empty:
                continue
            self.kinds.append(event["type"])
            if event["type"] == "closed":
                raise RuntimeError("the CLI ended early")
            if event["type"] == "response" and not event["success"]:
                raise RuntimeError(f"refused: {event}")
            if event["type"] == kind or (response and event.get("id") == response and event["type"] == "response"):
                return event
        raise RuntimeError(f"no {kind or response} in {TURN_SECONDS} s")

    def _act(self) -> None:
        try:
            step = self.director.actions.get_nowait()
        except queue.Empty:
            return
        if step.action == "steer":
            self.send("steer", message=step.argument)
            time.sleep(0.3)
        elif step.action == "abort":
            self.send("abort")
        self.director.go_on.set()

    def ask(self, kind: str, **fields: object) -> dict:
        """Send a command and return its response."""
        return self.wait(response=self.send(kind, **fields))

    def turn(self, text: str) -> None:
        """Send a prompt and wait until everything it started is over."""
        self.send("prompt", message=text)
        self.wait(kind="agent_settled")

    def close(self) -> None:
        """End the CLI by closing its input; stop it if it does not end."""
        assert self.process.stdin
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.terminate()
            self.process.wait(10)
        self.errors.close()


def clean_environment() -> bool:
    """Tell whether the sandbox may be made: nobody lives in the place yet."""
    return not Path("/home/user").exists() and os.access("/home", os.W_OK)
