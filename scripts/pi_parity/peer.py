"""The real pi packages as a peer: many cases in one Node process (`driver.mjs`)."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

__all__ = ["ask_pi"]

_DRIVER = Path(__file__).with_name("driver.mjs")


def ask_pi(cases: Iterable[dict[str, Any]], *, modules: Path, node: str) -> list[dict[str, Any]]:
    """Documents of the cases, in their order; one that pi cannot answer is ``{"crash": words}``."""
    done = subprocess.run(
        [node, str(_DRIVER)],
        input="".join(f"{json.dumps(case)}\n" for case in cases).encode(),
        capture_output=True,
        check=False,
        env={**os.environ, "PI_MODULES": str(modules)},
    )
    if done.returncode:
        raise RuntimeError(f"{node} {_DRIVER.name}: {done.stderr.decode(errors='replace').strip()}")
    return [json.loads(line) for line in done.stdout.split(b"\n") if line]
