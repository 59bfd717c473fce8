"""The sandbox of a recording: /home/user with a demo project and the CLI's settings, removed afterwards."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from . import demo

if TYPE_CHECKING:
    from .story import Recipe

HOME = Path("/home/user")
HERE = Path(__file__).resolve().parent
COSTS = {
    "claude-sonnet-4-5": {"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75},
    "claude-opus-4-5": {"input": 5, "output": 25, "cacheRead": 0.5, "cacheWrite": 6.25},
}


def models(recipe: Recipe, port: int, api: str) -> dict:
    """Return the CLI's models file."""
    provider = "anthropic" if api == "anthropic-messages" else "openai"
    model = {
        "id": recipe.model,
        "name": recipe.model,
        "reasoning": False,
        "input": ["text", "image"],
        "contextWindow": recipe.window,
        "maxTokens": 8192,
        "cost": COSTS[recipe.model],
    }
    base = f"http://127.0.0.1:{port}" + ("" if provider == "anthropic" else "/v1")
    return {"providers": {provider: {"baseUrl": base, "api": api, "apiKey": "not-a-key", "models": [model]}}}


def make(recipe: Recipe, port: int, api: str) -> demo.Demo:
    """Create the sandbox; the place must be free."""
    HOME.mkdir()
    for folder in (".pi/agent", ".record", "tmp", "demo"):
        (HOME / folder).mkdir(parents=True)
    for name in ("clock.cjs", "marks.js"):
        shutil.copy(HERE / name, HOME / ".record" / name)
    agent = HOME / ".pi/agent"
    (agent / "models.json").write_text(json.dumps(models(recipe, port, api)))
    settings = {"retry": {"enabled": False}, "quietStartup": True, **recipe.settings}
    (agent / "settings.json").write_text(json.dumps(settings))
    project = demo.build(HOME / "demo", recipe.seed, recipe.bugs)
    demo.png(HOME / "demo/docs/latency.png", random.Random(recipe.seed))  # noqa: S311
    return project


def remove() -> None:
    """Remove what make() created."""
    shutil.rmtree(HOME, ignore_errors=True)


def session_file() -> Path:
    """Return the newest session file of the sandbox."""
    found = sorted((HOME / ".pi/agent/sessions").rglob("*.jsonl"))
    if not found:
        raise RuntimeError("the CLI wrote no session")
    return found[-1]
