"""Texts and digests of a comparison: pi's own texts where they are given, marks in their place where not."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from leafscar.compaction import PI_SOURCES, Texts, texts_from_sources
from leafscar.model.jsjson import stringify, utf16_length

__all__ = ["MARKED", "NOT_COMPARED", "digest", "digest_json", "hide", "installed_version", "is_known", "load_texts"]

NOT_COMPARED = object()
"""Stands for a value that depends on a text of pi's that is not at hand."""

_MARK = "\ue0f5"
_TAGS = {"summary_closing", "branch_closing"}
MARKED = Texts(**{name: f"{_MARK}{i}{_MARK}" for i, name in enumerate(Texts.__struct_fields__) if name not in _TAGS})
"""Stands in for pi's texts; whatever holds one of these is not compared."""


def load_texts(folders: Sequence[Path], version: str) -> Texts:
    """Read pi's texts below one of ``folders`` (each a ``node_modules``), preferably of ``version``.

    All texts are the same in every version but that for a turn's prefix, which is left unknown when another version
    is all there is.
    """
    found = [(installed_version(folder), _sources(folder)) for folder in folders]
    known = {version: texts_from_sources(sources) for version, sources in found if sources}
    if version in known:
        return known[version]
    if not known:
        return MARKED
    return replace(next(iter(known.values())), prefix=MARKED.prefix)


def _sources(folder: Path) -> list[str]:
    files = [folder / file for package in PI_SOURCES.values() for file in package]
    return [file.read_text("utf-8") for file in files if file.exists()]


def installed_version(folder: Path) -> str:
    """Version of the pi packages below ``folder``."""
    package = folder / "@earendil-works/pi-coding-agent/package.json"
    other = folder / "@earendil-works/pi-agent-core/package.json"
    return str(json.loads((package if package.exists() else other).read_text("utf-8"))["version"])


def is_known(text: str) -> bool:
    """Whether ``text`` holds no mark."""
    return _MARK not in text


def digest(text: str) -> Any:
    """Hash and length of a text in UTF-16, or :data:`NOT_COMPARED`."""
    if not is_known(text):
        return NOT_COMPARED
    data = text.encode("utf-16-le", "surrogatepass")
    return {"sha256_utf16le": hashlib.sha256(data).hexdigest(), "chars": utf16_length(text)}


def digest_json(value: Any) -> Any:
    """Digest of compact JSON."""
    return digest(stringify(value))


def hide(text: str, texts: Texts) -> str:
    """Name pi's openings instead of showing them."""
    shown = text.replace(texts.summary_opening, "{{COMPACTION_SUMMARY_PREFIX}}")
    return shown.replace(texts.branch_opening, "{{BRANCH_SUMMARY_PREFIX}}")
