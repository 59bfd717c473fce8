"""Opening a compacted session: leafscar against the real pi, in turns, CPU time of one open in a warm process.

    python benchmarks/open_session.py --pi NODE_MODULES [--node NODE] [--messages 10000] [--runs 9]

Both open the same generated file (about 2 KB a message, cut whenever 180,000 tokens are passed) and build the context
with every message decoded. Prints both medians and their ratio. ``--smoke`` runs leafscar alone on a small file.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from leafscar.session import load

_PI = """
import { pathToFileURL } from "node:url";
const [modules, file] = process.argv.slice(1);
const home = modules + "/@earendil-works/pi-coding-agent/dist/core/session-manager.js";
const { SessionManager } = await import(pathToFileURL(home).href);
process.stdin.setEncoding("utf8");
for await (const _ of process.stdin) {
  const start = process.cpuUsage();
  const messages = SessionManager.open(file).buildSessionContext().messages.length;
  const used = process.cpuUsage(start);
  console.log(JSON.stringify({ ms: (used.user + used.system) / 1000, messages }));
}
"""
_WINDOW_LINE = 180_000


def entries(count: int, seed: int) -> Iterator[dict[str, Any]]:
    """A plausible agent session: a prompt, then calls and results, with cuts where the context gets too large."""
    chance = random.Random(seed)  # noqa: S311 - a fixed text, no secret
    words = [f"{a}{b}" for a in ("token", "cache", "prefix", "entry") for b in ("_load", "_build", ".py", " value")]
    parent, tokens, kept = None, 0, []
    for number in range(count):
        entry_id = f"{number:08x}"
        size = min(50_000, int(chance.lognormvariate(7.0, 1.35))) if number % 2 else 300
        text = " ".join(chance.choices(words, k=size // 9))
        tokens += len(text) // 4
        kept.append((entry_id, tokens))
        yield {"type": "message", "id": entry_id, "parentId": parent, "message": _message(number, text, tokens)}
        parent = entry_id
        if tokens > _WINDOW_LINE:
            first = next(each for each, at in kept if tokens - at < 20_000)
            cut = f"c{number:07x}"
            fields = {"summary": "what was done so far", "firstKeptEntryId": first, "tokensBefore": tokens}
            yield {"type": "compaction", "id": cut, "parentId": parent, **fields}
            parent, tokens, kept = cut, 20_000, []


def _message(number: int, text: str, tokens: int) -> dict[str, Any]:
    if number % 20 == 0:
        return {"role": "user", "content": text, "timestamp": number}
    if number % 2:
        result = {"role": "toolResult", "toolCallId": f"call-{number - 1}", "toolName": "bash", "isError": False}
        return {**result, "content": [{"type": "text", "text": text}], "timestamp": number}
    call = {"type": "toolCall", "id": f"call-{number}", "name": "bash", "arguments": {"command": "make test"}}
    usage = {"input": 3, "output": 200, "cacheRead": tokens, "cacheWrite": 400, "totalTokens": tokens + 603}
    head = {"role": "assistant", "api": "x", "provider": "p", "model": "m", "stopReason": "toolUse"}
    return {**head, "content": [{"type": "text", "text": text}, call], "usage": usage, "timestamp": number}


def write_session(path: Path, count: int, seed: int = 1) -> None:
    """Write a version 3 session file."""
    header = {"type": "session", "version": 3, "id": "bench", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/srv"}
    with path.open("w", encoding="utf-8") as stream:
        for data in (header, *entries(count, seed)):
            line = {**data, "timestamp": "2026-01-01T00:00:00.000Z"}
            stream.write(json.dumps(line, separators=(",", ":")) + "\n")


def open_ours(path: Path) -> tuple[float, int]:
    """CPU milliseconds of one open, and the messages in the context."""
    start = time.process_time()
    messages = len(load(path).context().messages)
    return (time.process_time() - start) * 1000, messages


def compare(path: Path, pi: str, node: str, runs: int) -> None:
    """Open in turns and print the medians."""
    command = [node, "--input-type=module", "-e", _PI, pi, str(path)]
    ours: list[float] = []
    theirs: list[float] = []
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for _ in range(runs + 1):
            ms, count = open_ours(path)
            process.stdin.write("go\n")
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
            assert answer["messages"] == count, "both must build the same context"
            ours.append(ms)
            theirs.append(answer["ms"])
        process.stdin.close()
    mine, other = statistics.median(ours[1:]), statistics.median(theirs[1:])
    print(f"{path.stat().st_size / 1e6:.1f} MB, {count} messages in the context, median of {runs} runs in turns")
    print(f"leafscar {mine:.2f} ms, pi {other:.1f} ms CPU: 1/{other / mine:.0f}")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pi", help="node_modules folder with pi-coding-agent in it")
    parser.add_argument("--node", default="node")
    parser.add_argument("--messages", type=int, default=9_500)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "session.jsonl"
        write_session(path, 400 if options.smoke else options.messages)
        if options.smoke or not options.pi:
            ms, count = open_ours(path)
            print(f"leafscar {ms:.2f} ms CPU for {count} messages; give --pi to compare", file=sys.stdout)
            return
        compare(path, options.pi, options.node, options.runs)


if __name__ == "__main__":
    main()
