"""``--policy-file``: policies and rules with numbers of one's own, strictly read (docs/policies.md)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import cast

from leafscar.config import MAX_BYTES, plain, shown
from leafscar.engine.policy import POLICIES
from leafscar.errors import PolicyError
from leafscar.replay.choices import RIVALS, Choice, changed, choice_of, converted, keys_of

__all__ = ["MOST_POLICIES", "read_policies"]

MOST_POLICIES = 50
"""Policies that one file may hold."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
_BASES = ("base", "rule")


def read_policies(path: Path) -> list[Choice]:
    """Read every policy of a file. Raises :class:`PolicyError`: one line with the path of the key at fault."""
    found: dict[str, Choice] = {}
    for where, name, fields in _entries(path):
        if name in found:
            raise PolicyError(f"{where}.name: {name} is there twice", name=name)
        found[name] = _policy(where, name, fields)
    if not found:
        raise PolicyError(f"{path}: holds no policy", name=str(path))
    return list(found.values())


def _entries(path: Path) -> Iterable[tuple[str, str, dict[str, object]]]:
    """Where each policy stands, its name, and its other keys."""
    data = _load(path)
    if isinstance(data, dict):
        named = cast("dict[str, object]", data)
        items = [(f"{path}: {plain(name)}", name, fields) for name, fields in named.items()]
    elif isinstance(data, list):
        items = [(f"{path}: [{at}]", None, fields) for at, fields in enumerate(cast("list[object]", data))]
    else:
        raise PolicyError(f"{path}: neither a list of policies nor an object of them by name", name=str(path))
    if len(items) > MOST_POLICIES:
        raise PolicyError(
            f"{path}: {len(items)} policies; at most {MOST_POLICIES} are replayed at once", name=str(path)
        )
    for where, name, fields in items:
        if not isinstance(fields, dict):
            raise PolicyError(f"{where}: a policy is an object, not {shown(fields)}", name=str(path))
        own = dict(cast("dict[str, object]", fields))
        yield where, _named(where, own.pop("name", None) if name is None else name), own


def _load(path: Path) -> object:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as fault:
        raise PolicyError(f"{path}: {fault.strerror or fault}; name a file of policies", name=str(path)) from fault
    if len(raw) > MAX_BYTES:
        raise PolicyError(f"{path}: larger than {MAX_BYTES:,} bytes", name=str(path))
    try:
        return json.loads(raw.decode(), object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, RecursionError) as fault:
        why = "nested too deeply" if isinstance(fault, RecursionError) else plain(str(fault))
        raise PolicyError(f"{path}: not JSON: {why}", name=str(path)) from None


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    keys = dict(pairs)
    if len(keys) < len(pairs):
        twice = next(key for at, (key, _) in enumerate(pairs) if any(key == other for other, _ in pairs[:at]))
        raise ValueError(f"the key {shown(twice)} is there twice")
    return keys


def _no_constant(text: str) -> object:
    raise ValueError(f"{text} is no number of JSON")


def _named(where: str, name: object) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        said = "missing" if name is None else shown(name)
        raise PolicyError(f"{where}.name: {said}; up to 40 letters, digits and . _ -", name=where)
    if name in POLICIES or name in RIVALS:
        raise PolicyError(f"{where}.name: {name} is taken; choose another", name=name)
    return name


def _policy(where: str, name: str, fields: Mapping[str, object]) -> Choice:
    start = _start(where, name, fields)
    values: dict[str, object] = {}
    keys = keys_of(start)
    for key, value in fields.items():
        if key in _BASES:
            continue
        if key not in keys:
            known = ", ".join(keys) or "none"
            raise PolicyError(f"{where}.{plain(key)}: {start.name} has no such key; it has {known}", name=name)
        values[keys[key].field] = converted(keys[key], value, f"{where}.{key}", name)
    return changed(start, name, values)


def _start(where: str, name: str, fields: Mapping[str, object]) -> Choice:
    given = [key for key in _BASES if key in fields]
    if len(given) != 1:
        raise PolicyError(f"{where}: give either base (a policy) or rule (of another tool)", name=name)
    kind, value = given[0], fields[given[0]]
    known: Mapping[str, object] = POLICIES if kind == "base" else RIVALS
    if not isinstance(value, str) or value not in known:
        raise PolicyError(f"{where}.{kind}: {shown(value)} is none of {', '.join(known)}", name=name)
    return choice_of(value)
