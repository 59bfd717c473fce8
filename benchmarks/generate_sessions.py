"""Sessions made up by seed, whose mix of content is fitted to recordings.

    python benchmarks/generate_sessions.py [--recordings FOLDER ...] [--count 12] [--smoke]

Prints the mix of the generated sessions and, where there are recordings, that of each of them. The spreads below were
set by hand until the quartiles of the two tables came close; the recordings are not part of the project.
``policy_grid.py`` replays the same sessions.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import quantiles
from typing import Any

from msgspec import Struct

from leafscar.errors import LeafscarError
from leafscar.estimate import estimate_tokens
from leafscar.model import Assistant, ToolResult, User
from leafscar.model.jsjson import stringify
from leafscar.model.messages import tool_calls
from leafscar.pruning.tools import ALL, path_of, tool_of
from leafscar.replay.corpus import Case, read_case
from leafscar.replay.run import find_sessions
from leafscar.session import Session, load

LARGE = 1_000
LEAST_REQUESTS = 20


class Mix(Struct, kw_only=True):
    """What a session is made of; shares are of all tokens of its messages."""

    large: float
    """Share of tool results over 1,000 tokens."""
    small: float
    """Share of the other results."""
    edits: float
    """Share of the arguments of write and edit calls."""
    arguments: float
    """Share of the other arguments."""
    words: float
    """Share of prompts, answers, thinking and everything else."""
    large_calls: float
    """Share of results that are over 1,000 tokens."""
    large_size: float
    """Mean tokens of those."""
    edit_calls: float
    """Share of calls that write or edit."""
    calls: float
    """Calls a request."""
    steps: float
    """Requests a prompt."""
    rereads: float
    """Share of reads whose file had been read before; -1 where nothing was read."""
    pauses: float
    """Share of prompts that came after more than five minutes; -1 without prompts but the first."""
    growth: float
    """Tokens a request adds."""


def measure(case: Case) -> Mix:
    """Measure a session, each message weighing what its provider's readings say."""
    recording, sizes = case.setup.recording, case.setup.sizes
    tokens = dict.fromkeys(("large", "small", "edits", "arguments", "words"), 0.0)
    calls: dict[str, Any] = {}
    files: set[str | None] = set()
    count = {"results": 0, "large": 0, "calls": 0, "edits": 0, "reads": 0, "rereads": 0, "prompts": 0}
    for entry in recording.path:
        message = entry.message
        if message is None or entry.type == "compaction":
            continue
        size = sizes(entry, message)
        if isinstance(message, ToolResult):
            large = estimate_tokens(message) > LARGE
            tokens["large" if large else "small"] += size
            count["results"] += 1
            count["large"] += large
            call = calls.get(message.tool_call_id)
            tool = tool_of(message.tool_name, ALL)
            if tool.kind == "read":
                path = path_of(call, tool)
                count["reads"] += 1
                count["rereads"] += path in files
                files.add(path)
        elif isinstance(message, Assistant):
            scale = size / max(1, estimate_tokens(message))
            for call in tool_calls(message):
                calls[call.id] = call
                edit = tool_of(call.name, ALL).kind == "edit"
                part = min(size, scale * len(stringify(call.arguments)) / 4)
                size -= part
                tokens["edits" if edit else "arguments"] += part
                count["calls"] += 1
                count["edits"] += edit
            tokens["words"] += size
        else:
            count["prompts"] += isinstance(message, User)
            tokens["words"] += size
    total = sum(tokens.values()) or 1
    results = max(1, count["results"])
    return Mix(
        **{name: amount / total for name, amount in tokens.items()},
        large_calls=count["large"] / results,
        large_size=tokens["large"] / max(1, count["large"]),
        edit_calls=count["edits"] / max(1, count["calls"]),
        calls=count["calls"] / case.requests,
        steps=case.requests / max(1, count["prompts"]),
        rereads=count["rereads"] / count["reads"] if count["reads"] else -1,
        pauses=_pauses(case),
        growth=total / case.requests,
    )


def _pauses(case: Case) -> float:
    recording = case.setup.recording
    at = {request.position: request.at for request in recording.requests}
    last: float | None = None
    prompted, gaps = False, []
    for position, entry in enumerate(recording.path):
        prompted |= isinstance(entry.message, User)
        if position in at:
            now = at[position]
            if prompted and last is not None and now is not None:
                gaps.append(now - last)
            last, prompted = now, False
    return sum(gap > 300 for gap in gaps) / len(gaps) if gaps else -1.0


def recorded(folders: Iterable[Path]) -> list[Case]:
    """Every recording below some folders that can be replayed and has 20 requests or more."""
    cases: list[Case] = []
    for folder in folders:
        for path in find_sessions([folder]):
            try:
                case = read_case(load(path), str(path.relative_to(folder)) if path != folder else path.name)
            except LeafscarError:
                continue
            if case.requests >= LEAST_REQUESTS:
                cases.append(case)
    return cases


def table(mixes: Sequence[tuple[str, Mix]]) -> str:
    """One row a session, then the quartiles."""
    names = Mix.__struct_fields__
    rows = [(name, [getattr(mix, field) for field in names]) for name, mix in mixes]
    columns = list(zip(*(values for _, values in rows), strict=True))
    for label, at in (("lower quartile", 0), ("median", 1), ("upper quartile", 2)):
        told = [[value for value in column if value >= 0] for column in columns]
        rows.append((label, [quantiles(column, n=4)[at] if len(column) > 1 else -1 for column in told]))
    head = ["| session | " + " | ".join(names) + " |", "|---|" + "---|" * len(names)]
    return "\n".join(
        [*head, *(f"| {name} | " + " | ".join(_number(value) for value in values) + " |" for name, values in rows)]
    )


def _number(value: float) -> str:
    return "" if value < 0 else f"{value:.2f}" if value < 10 else f"{value:,.0f}"


# --- making sessions up -----------------------------------------------------------------------------------


class Spread(Struct, frozen=True):
    """A log-normal quantity by its median and the standard deviation of its logarithm, within bounds."""

    median: float
    sigma: float
    low: float = 0.0
    high: float = float("inf")

    def draw(self, rng: random.Random) -> float:
        """One value."""
        return min(max(rng.lognormvariate(0, self.sigma) * self.median, self.low), self.high)


LARGE_CALLS = Spread(0.08, 0.95, 0.01, 0.75)
LARGE_SIZE = Spread(3_300, 0.5, 1_600, 9_500)
SMALL_SIZE = Spread(300, 0.5, 60, 800)
EDIT_CALLS = Spread(0.27, 0.5, 0.0, 0.62)
EDIT_SIZE = Spread(620, 0.75, 100, 3_000)
OTHER_SIZE = Spread(120, 0.5, 20, 800)
WORDS = Spread(230, 0.9, 30, 1_500)
STEPS = Spread(10, 0.7, 2, 60)
PARALLEL = Spread(0.06, 1.0, 0.0, 0.5)
"""Between sessions; a session draws each once."""

WITHIN_RESULT, WITHIN_ARGUMENT, WITHIN_WORDS, WITHIN_STEPS = 0.7, 1.1, 1.2, 0.9
"""Within one session: standard deviations of logarithms."""

STEP_SECONDS = Spread(9, 1.1, 1, 280)
PROMPT_SECONDS = Spread(70, 0.9, 5, 290)
PAUSE_SECONDS = Spread(1_100, 1.2, 301, 90_000)
LENGTH = (150_000, 500_000)
"""Tokens of all messages together."""
OVERHEAD = 15_000
"""Tokens of system prompt and tools."""
LARGEST = 16_000
"""Tokens of the largest output or argument."""
TEXT = "a line of words in a file\n" * (4 * LARGEST // 26 + 1)


class Maker:
    """One session being made."""

    def __init__(self, seed: int, *, interactive: bool) -> None:
        self.rng = rng = random.Random(f"{seed} {interactive}")  # noqa: S311 - made up, no secret
        self.entries: list[dict[str, Any]] = []
        self.steps = STEPS.draw(rng) if interactive else None
        self.large_calls, self.large_size = LARGE_CALLS.draw(rng), LARGE_SIZE.draw(rng)
        self.small_size, self.words = SMALL_SIZE.draw(rng), WORDS.draw(rng)
        self.edit_calls, self.edit_size = EDIT_CALLS.draw(rng), EDIT_SIZE.draw(rng)
        self.other_size, self.parallel = OTHER_SIZE.draw(rng), PARALLEL.draw(rng)
        self.rereads = rng.choice((0.0, 0.0, 0.1, 0.2, 0.3, 0.5, 0.75, 0.9))
        self.pauses = rng.choice((0.0, 0.02, 0.1, 0.3, 0.36, 0.5, 0.7)) if interactive else 0.0
        self.size = 0.0
        self.now = 1_770_000_000.0
        self.files: list[str] = []
        self.count = 0

    def make(self) -> list[dict[str, Any]]:
        """All entries."""
        length = self.rng.uniform(*LENGTH)
        while self.size < length:
            self._prompt()
            steps = self._about(self.steps, WITHIN_STEPS) if self.steps else float("inf")
            while steps > 0 and self.size < length:
                self._step()
                steps -= 1
        return self.entries

    def _about(self, mean: float, sigma: float, most: float = LARGEST) -> float:
        """A log-normal value with this mean."""
        return min(most, mean * self.rng.lognormvariate(-sigma * sigma / 2, sigma))

    def _prompt(self) -> None:
        if self.entries:
            pause = PAUSE_SECONDS if self.rng.random() < self.pauses else PROMPT_SECONDS
            self.now += pause.draw(self.rng)
        self._add({"role": "user", "content": _text(self._about(60, 1.0))})

    def _step(self) -> None:
        self.now += STEP_SECONDS.draw(self.rng)
        calls = [self._call()]
        while self.rng.random() < self.parallel:
            calls.append(self._call())
        prompt = OVERHEAD + self.size
        content = [{"type": "text", "text": _text(self._about(self.words, WITHIN_WORDS))}, *(call for call, _ in calls)]
        message = {"role": "assistant", "content": content, "stopReason": "toolUse", **MODEL}
        output = estimate_tokens(message)
        usage = {"input": prompt, "cacheRead": 0, "cacheWrite": 0, "output": output, "totalTokens": prompt + output}
        self._add({**message, "usage": usage})
        for call, tokens in calls:
            content = [{"type": "text", "text": _text(tokens)}]
            self._add(
                {
                    "role": "toolResult",
                    "toolCallId": call["id"],
                    "toolName": call["name"],
                    "content": content,
                    "isError": False,
                }
            )

    def _call(self) -> tuple[dict[str, Any], float]:
        self.count += 1
        name, arguments = self._use()
        call = {"type": "toolCall", "id": f"call{self.count}", "name": name, "arguments": arguments}
        if name in ("edit", "write"):
            return call, 20.0
        large = self.rng.random() < self.large_calls / max(0.1, 1 - self.edit_calls)
        size = max(LARGE + 1.0, self._about(self.large_size, WITHIN_RESULT)) if large else self._small()
        return call, size

    def _small(self) -> float:
        return self._about(self.small_size, 1.2, LARGE)

    def _use(self) -> tuple[str, dict[str, Any]]:
        if self.rng.random() < self.edit_calls:
            path = self.rng.choice(self.files) if self.files else self._new_file()
            text = _text(self._about(self.edit_size, WITHIN_ARGUMENT))
            half = len(text) // 2
            if self.rng.random() < 0.4:
                return "write", {"path": path, "content": text}
            return "edit", {"path": path, "oldText": text[:half], "newText": text[half:]}
        if self.rng.random() < 0.45:
            known = self.files and self.rng.random() < self.rereads
            return "read", {"path": self.rng.choice(self.files) if known else self._new_file()}
        return "bash", {"command": _text(self._about(self.other_size, 0.8))}

    def _new_file(self) -> str:
        self.files.append(f"src/module_{len(self.files)}.py")
        return self.files[-1]

    def _add(self, message: dict[str, Any]) -> None:
        number = len(self.entries) + 1
        self.size += estimate_tokens(message)
        parent = self.entries[-1]["id"] if self.entries else None
        stamped = {**message, "timestamp": round(self.now * 1000)}
        self.entries.append({"type": "message", "id": f"{number:08x}", "parentId": parent, "message": stamped})


MODEL = {"provider": "anthropic", "model": "claude-sonnet-4-5", "api": "anthropic-messages"}


def _text(tokens: float) -> str:
    return TEXT[: max(1, round(4 * tokens))]


def generated(count: int, *, interactive: bool) -> list[Case]:
    """Sessions of one kind, the same for the same count."""
    kind = "interactive" if interactive else "autonomous"
    sessions = (Session.memory(Maker(seed, interactive=interactive).make()) for seed in range(count))
    return [read_case(session, f"{kind}-{seed}") for seed, session in enumerate(sessions)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the mixes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--recordings", nargs="*", type=Path, default=[], metavar="FOLDER")
    parser.add_argument("--count", type=int, default=12, help="sessions of each kind")
    parser.add_argument("--smoke", action="store_true", help="a few sessions only")
    options = parser.parse_args(arguments)
    count = 2 if options.smoke else options.count
    if options.recordings:
        print("Recorded\n\n" + table([(case.name, measure(case)) for case in recorded(options.recordings)]) + "\n")
    for interactive in (True, False):
        cases = generated(count, interactive=interactive)
        print("Generated\n\n" + table([(case.name, measure(case)) for case in cases]) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
