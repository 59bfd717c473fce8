"""pi's own texts, read out of an installed pi (docs/compaction.md). Pure: the caller reads the files.

Nothing of pi's wording stands in leafscar. A text is taken only if its digest is one that leafscar knows.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping

from leafscar.compaction.prompts import Texts
from leafscar.errors import SettingsError

__all__ = ["PI_SOURCES", "texts_from_sources"]

PI_SOURCES: Mapping[str, tuple[str, ...]] = {
    "agent-core": (
        "@earendil-works/pi-agent-core/dist/harness/compaction/compaction.js",
        "@earendil-works/pi-agent-core/dist/harness/compaction/branch-summarization.js",
        "@earendil-works/pi-agent-core/dist/harness/messages.js",
    ),
    "coding-agent": (
        "@earendil-works/pi-coding-agent/dist/core/compaction/compaction.js",
        "@earendil-works/pi-coding-agent/dist/core/compaction/branch-summarization.js",
        "@earendil-works/pi-coding-agent/dist/core/compaction/utils.js",
        "@earendil-works/pi-coding-agent/dist/core/messages.js",
    ),
}
"""Files below ``node_modules`` that hold the texts, by package."""

_NAMES = {
    "system": "SUMMARIZATION_SYSTEM_PROMPT",
    "history": "SUMMARIZATION_PROMPT",
    "update": "UPDATE_SUMMARIZATION_PROMPT",
    "prefix": "TURN_PREFIX_SUMMARIZATION_PROMPT",
    "branch": "BRANCH_SUMMARY_PROMPT",
    "branch_preamble": "BRANCH_SUMMARY_PREAMBLE",
    "summary_opening": "COMPACTION_SUMMARY_PREFIX",
    "summary_closing": "COMPACTION_SUMMARY_SUFFIX",
    "branch_opening": "BRANCH_SUMMARY_PREFIX",
    "branch_closing": "BRANCH_SUMMARY_SUFFIX",
}
_DIGESTS = {
    "system": ("c464889dcfa60441e642f291445b49523f263e6fb2725d0c25075543a2ec3f8f",),
    "history": ("9b00aa68df1a64279bc36e9093367f638701d48ec82e3d08436f65092a515f9b",),
    "update": ("240c52982209146eae47d73c7172f6ba1dab60f44520bcb6a6ec1a883fef2ec7",),
    "prefix": (
        "9aeeb36ea731a8497d38abb03c2da351d81bcade4b2ae389bb6ae74300cf6ba5",
        "7b0a15be5e0fdcce338ce7c1ef1fdd386faed258cc25d03915a05b05e7a6a183",
    ),
    "branch": ("76cf34f4204cc5465282460c9a3099301d9c8c0a672eda0e9d48ee7af422cec1",),
    "branch_preamble": ("8cec318a8d7b328ea984295f5a59325e2f8736059661b70a1b9e957e69788e16",),
    "summary_opening": ("f9e67958bb63d2f538bbf6827b496c6121bc86c56d6a825e46fa72a90e9984a9",),
    "summary_closing": ("7f052d2f136be4fb495d8f286e1213fe42b1c4c5d34d9194667873616085a67a",),
    "branch_opening": ("4fb1c2d818e9996a2c58d6330b3306087008000c173cce80bf5583ec7c218466",),
    "branch_closing": ("7b6935dd2809d39329dd45e593833189975947c2cfb1fb37dbdb098666738420",),
}
_CONSTANT = re.compile(r"\bconst ([A-Z][A-Z_]+) = `((?:[^`\\]|\\.)*)`", re.DOTALL)
_INNER = re.compile(r"\$\{([A-Z][A-Z_]+)\}")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}


def texts_from_sources(sources: Iterable[str]) -> Texts:
    """Read pi's texts out of its JavaScript files; raises ``SettingsError`` for one that is absent or unknown."""
    constants = {name: body for source in sources for name, body in _CONSTANT.findall(source)}
    found = {field: _resolve(name, constants) for field, name in _NAMES.items()}
    problems = [problem for field, text in found.items() if (problem := _problem(field, text))]
    if problems:
        raise SettingsError(*problems)
    return Texts(**{field: text or "" for field, text in found.items()})


def _resolve(name: str, constants: Mapping[str, str]) -> str | None:
    body = constants.get(name)
    if body is None:
        return None
    whole = _INNER.sub(lambda match: constants.get(match[1], match[0]), body)
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), whole)


def _problem(field: str, text: str | None) -> str | None:
    if text is None:
        return f"prompts: the installed pi has no {_NAMES[field]}; leave the setting out or install pi 0.82.1 or 1.3.0"
    if hashlib.sha256(text.encode()).hexdigest() in _DIGESTS[field]:
        return None
    return f"prompts: {_NAMES[field]} of the installed pi is not a known text; install pi 0.82.1 or 1.3.0"
