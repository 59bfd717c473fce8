"""One control decision on a long session: the warm pass, two new messages each time, against the plain O(n) pass.

    python benchmarks/control_pass.py [--messages 10000] [--rounds 400]

Prints medians in microseconds for each policy, the same at a tenth of the length, and the ratio to estimating and
pruning the whole list anew, which is what a controller without memory would do. ``--smoke`` is a short run.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

from leafscar.engine import Controller, Facts
from leafscar.model import Entry, as_entry
from leafscar.pruning import prune

_WINDOW = 1_000_000_000  # nothing crosses a line: what is timed is the pass, not a move


def session(count: int) -> list[Entry]:
    """Calls and results, a prompt every twenty messages; decoded, as a live host holds them."""
    entries = [as_entry(_entry(number)) for number in range(count)]
    assert all(entry.message is not None for entry in entries)
    return entries


def _entry(number: int) -> dict[str, Any]:
    head = {"type": "message", "id": f"{number:08x}", "parentId": f"{number - 1:08x}" if number else None}
    return {**head, "message": _message(number)}


def _message(number: int) -> dict[str, Any]:
    text = f"line {number} of some output\n" * (4 if number % 3 else 90)
    if number % 20 == 0:
        return {"role": "user", "content": text}
    if number % 2:
        result = {"role": "toolResult", "toolCallId": f"c{number - 1}", "toolName": "bash", "isError": False}
        return {**result, "content": [{"type": "text", "text": text}]}
    call = {"type": "toolCall", "id": f"c{number}", "name": "bash", "arguments": {"command": "make test"}}
    usage = {"input": 3, "output": 90, "cacheRead": 50 * number, "cacheWrite": 100, "totalTokens": 50 * number + 193}
    return {"role": "assistant", "content": [call], "usage": usage, "stopReason": "toolUse"}


def warm_pass(entries: list[Entry], rounds: int, policy: str) -> list[float]:
    """Microseconds of each decision, taking in the new messages included."""
    controller = Controller(facts=Facts(window=_WINDOW), policy=policy)
    start = len(entries) - 2 * rounds
    path = entries[:start]
    controller.before_request(path)
    times: list[float] = []
    for at in range(start, len(entries), 2):
        path += entries[at : at + 2]
        began = time.perf_counter()
        controller.before_request(path)
        times.append((time.perf_counter() - began) * 1e6)
        controller.take_events()
    return times


def plain_pass(entries: list[Entry]) -> float:
    """Microseconds of one pass over the whole list."""
    messages = [entry.message for entry in entries if entry.message is not None]
    began = time.perf_counter()
    prune(
        messages,
        entries,
        context_window=_WINDOW,
        reserve_tokens=0,
        settings=None,
        reference_for=lambda entry: str(entry["id"]),
        engage=True,
    )
    return (time.perf_counter() - began) * 1e6


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=400)
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args()
    count, rounds = (600, 40) if options.smoke else (options.messages, options.rounds)
    short, long = session(max(count // 10, 2 * rounds + 20)), session(count)
    whole = statistics.median(plain_pass(long) for _ in range(3))
    print(f"plain pass over {count} messages: {whole:,.0f} us")
    for policy in ("classic", "balanced", "fewest-cuts", "thrifty"):
        few, many = (statistics.median(warm_pass(entries, rounds, policy)) for entries in (short, long))
        print(f"{policy:12} warm {many:6.1f} us at {count}, {few:6.1f} us at {len(short)}: 1/{whole / many:,.0f} of it")


if __name__ == "__main__":
    main()
