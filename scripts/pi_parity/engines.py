"""The three engines that leafscar is compared with."""

from __future__ import annotations

from typing import NamedTuple

from leafscar.compaction import PI_0821_AGENT_CORE, PI_0821_CODING_AGENT, PI_130, Rules

__all__ = ["ENGINES", "Engine", "choose"]


class Engine(NamedTuple):
    """One package of one version, and the rules that reproduce it."""

    kind: str
    version: str
    rules: Rules

    @property
    def name(self) -> str:
        """As in the names of expected documents."""
        return f"{self.kind}-{self.version}"

    @property
    def is_core(self) -> bool:
        """Whether this is the agent core."""
        return self.kind == "agent-core"


ENGINES = (
    Engine("agent-core", "0.82.1", PI_0821_AGENT_CORE),
    Engine("coding-agent", "0.82.1", PI_0821_CODING_AGENT),
    Engine("coding-agent", "1.3.0", PI_130),
)


def choose(kind: str | None, version: str | None) -> list[Engine]:
    """Engines of a kind and a version; None is any."""
    return [e for e in ENGINES if kind in (None, e.kind) and version in (None, e.version)]
