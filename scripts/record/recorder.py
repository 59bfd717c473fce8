"""Makes one recording: provider, sandbox, CLI, story, and the checks at the end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from . import mask, sandbox, stats
from .clock import Clock
from .provider import Director, serve
from .rpc import Client, Launch

if TYPE_CHECKING:
    from pathlib import Path

    from .story import Recipe, Turn

PACKAGE = "@earendil-works/pi-coding-agent"


def installed(modules: Path) -> tuple[str, Path]:
    """Return the version and the program of the CLI below a node_modules folder."""
    package = modules / PACKAGE
    version = json.loads((package / "package.json").read_text(encoding="utf-8"))["version"]
    bundle = package / "dist/bundle/cli.js"
    return version, bundle if bundle.exists() else package / "dist/cli.js"


def record(recipe: Recipe, cli: Path, node: Path, out: Path, api: str) -> dict:
    """Make one recording and return its figures."""
    clock_file = sandbox.HOME / ".record/clock"
    director = Director(None, None, recipe.seed)
    server = serve(director)
    try:
        project = sandbox.make(recipe, server.server_address[1], api)
        director.clock = Clock(clock_file, recipe.start_ms)
        work, turns = recipe.begin(project)
        director.summarize = work.summary
        provider = "anthropic" if api == "anthropic-messages" else "openai"
        launch = Launch(node, cli, sandbox.HOME, project.root, clock_file, provider, recipe.model)
        play(Client(launch, director), turns)
        finish(out, [str(cli.parents[1]), str(node.parent), str(sandbox.HERE)])
    finally:
        server.shutdown()
        server.server_close()
        sandbox.remove()
    if director.problems:
        raise RuntimeError("; ".join(director.problems))
    return stats.figures(out)


def play(client: Client, turns: list[Turn]) -> None:
    """Play all turns through the CLI."""
    try:
        client.ask("get_state")
        for turn in turns:
            client.director.clock.advance(turn.gap)
            client.director.turn = turn.steps
            if turn.kind == "prompt":
                client.turn(turn.prompt)
                left = next(turn.steps, None)
                if left is not None:
                    client.director.problems.append(f"steps left over after: {turn.prompt[:40]}")
            elif turn.kind == "command":
                client.ask("prompt", message=turn.prompt)
            elif turn.kind == "bash":
                client.ask("bash", command=turn.prompt)
            elif turn.kind == "name":
                client.ask("set_session_name", name=turn.prompt)
    finally:
        client.close()


def finish(out: Path, paths: list[str]) -> None:
    """Mask the session, check it and put it in its place."""
    lines = sandbox.session_file().read_text(encoding="utf-8").split("\n")
    text = "\n".join(mask.mask_line(line) if line else line for line in lines)
    bad = mask.leaks(text, paths)
    if bad:
        raise RuntimeError(f"the recording holds {bad}")
    if json.loads(text.split("\n", 1)[0])["cwd"] != str(sandbox.HOME / "demo"):
        raise RuntimeError("the recording has another folder")
    out.write_text(text, encoding="utf-8")
