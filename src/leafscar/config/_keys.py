"""Every key that leafscar reads: where it stands, what it takes, how a person types it (docs/settings.md)."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from leafscar.config._json import Json, loads, plain, shown
from leafscar.config._policies import POLICIES, is_policy
from leafscar.errors import SettingsError

__all__ = ["COMPACTION", "EDITABLE", "MAX_WINDOW", "OWN", "PRUNING", "TOKENS", "Key", "Kind", "Value"]
__all__ += ["checked_pairs", "nearest", "parse_pairs"]

Value: TypeAlias = bool | int | str | tuple[str, ...]
"""A setting that passed its check."""

MAX_WINDOW = 1_000_000_000
"""Largest context window that is taken from outside, in tokens: a thousand times what any model has."""

_MAX_SAFE = 2**53 - 1
_BOUND = ("off", "drop_block", "strip")
_DIGITS = re.compile("0*([1-9][0-9]{0,15})")


class Kind(Struct, frozen=True, kw_only=True):
    """What a key takes."""

    expects: str
    """Ends the sentence "must be …" about a value in a file."""
    typed: str
    """Ends the same sentence about a value on the command line."""
    read: Callable[[object], Value | None]
    """The value of a JSON value, or None if it does not fit."""
    from_text: Callable[[str], Json]
    """The JSON value of a typed text; None if it is not one."""


class Key(Struct, frozen=True, kw_only=True):
    """One setting: ``path`` from the top of the file, section first."""

    path: tuple[str, ...]
    kind: Kind

    @property
    def name(self) -> str:
        """The key inside its section, ``neverPrune.tools``."""
        return ".".join(self.path[1:])

    @property
    def dotted(self) -> str:
        """The key with its section, ``leafscar.neverPrune.tools``."""
        return ".".join(self.path)

    def fault(self, value: object) -> str:
        """Say that ``value`` in a file does not fit."""
        return f"{plain(self.dotted)} must be {self.kind.expects}, got: {shown(value)}"


def _boolean(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _size(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    whole = isinstance(value, int) or value.is_integer()
    return int(value) if whole and 0 <= value <= _MAX_SAFE else None


def _count(value: object) -> int | None:
    return _size(value) or None


def _window(value: object) -> int | None:
    count = _count(value)
    return count if count is not None and count <= MAX_WINDOW else None


def _texts(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list | tuple):
        return None
    texts = tuple(item for item in value if isinstance(item, str) and item.strip())  # pyright: ignore[reportUnknownVariableType]
    return texts if len(texts) == len(value) else None  # pyright: ignore[reportUnknownArgumentType]


def _policy(value: object) -> str | None:
    return value if isinstance(value, str) and is_policy(value) else None


def _prompts(value: object) -> str | None:
    known = isinstance(value, str) and (value == "own" or (value.startswith("pi:") and value[3:].strip()))
    return str(value) if known else None


def _bound(value: object) -> str | None:
    return value if isinstance(value, str) and value in _BOUND else None


def _digits(text: str) -> Json:
    match = _DIGITS.fullmatch(text)
    return int(match[1]) if match else None


def _json(text: str) -> Json:
    try:
        return loads(text)
    except ValueError:
        return None


def _word(expects: str, read: Callable[[object], str | None]) -> Kind:
    return Kind(expects=expects, typed=expects, read=read, from_text=str)


_SWITCH = Kind(expects="a boolean", typed="true or false", read=_boolean, from_text={"true": True, "false": False}.get)
_COUNT = Kind(
    expects="a positive integer",
    typed="a positive integer written in digits",
    read=_count,
    from_text=_digits,
)
_WINDOW = Kind(
    expects=f"a whole number from 1 to {MAX_WINDOW:,}",
    typed=f"a whole number from 1 to {MAX_WINDOW:,}, written in digits",
    read=_window,
    from_text=_digits,
)
_LIST = Kind(
    expects="a list of non-empty strings",
    typed='a JSON list of non-empty strings, such as ["one","two"]',
    read=_texts,
    from_text=_json,
)
TOKENS = Kind(
    expects="a non-negative integer",
    typed="a non-negative integer written in digits",
    read=_size,
    from_text=_digits,
)
"""Tokens that pi's section holds; 0 is legal."""

PRUNING = tuple(
    Key(path=("pruning", name), kind=kind)
    for name, kind in (("enabled", _SWITCH), ("minResultTokens", _COUNT), ("protectCurrentTurn", _SWITCH))
)
"""The three keys of section ``pruning``."""

COMPACTION = tuple(
    Key(path=("compaction", name), kind=kind)
    for name, kind in (("enabled", _SWITCH), ("reserveTokens", TOKENS), ("keepRecentTokens", TOKENS))
)
"""What leafscar reads, and never writes, in pi's section ``compaction``."""

OWN = tuple(
    Key(path=("leafscar", *name.split(".")), kind=kind)
    for name, kind in (
        ("policy", _word(f"one of {', '.join(POLICIES)} or compaction:FRACTION (above 0, up to 1)", _policy)),
        ("pins", _LIST),
        ("neverPrune.tools", _LIST),
        ("neverPrune.paths", _LIST),
        ("windowCap", _WINDOW),
        ("prompts", _word("own or pi:PATH", _prompts)),
        ("boundThinking", _word(f"one of {', '.join(_BOUND)}", _bound)),
        ("shedArguments", _SWITCH),
        ("continuity", _SWITCH),
    )
)
"""The keys of section ``leafscar``."""

EDITABLE = PRUNING + OWN
"""What a pair may set."""

_BY_DOTTED = {key.dotted: key for key in EDITABLE}
_BY_NAME = {key.name: key for key in EDITABLE}


def parse_pairs(args: Sequence[str]) -> dict[str, Json]:
    """Read ``key=value`` texts as values by dotted key; the first bad one raises SettingsError (docs/settings.md).

    A key stands bare (``policy``) or with its section (``leafscar.policy``). Of two equal keys the last wins.
    """
    return dict(_parse_pair(arg) for arg in args)


def _parse_pair(arg: str) -> tuple[str, Json]:
    name, equals, text = arg.partition("=")
    if not name or not equals:
        raise SettingsError(f"expected key=value, got: {plain(arg)}")
    key = _key_of(name)
    value = key.kind.from_text(text)
    if key.kind.read(value) is None:
        raise SettingsError(f"{name} must be {key.kind.typed}, got: {plain(text)}")
    return key.dotted, value


def _key_of(name: str) -> Key:
    key = _BY_DOTTED.get(name) or _BY_NAME.get(name)
    if key is not None:
        return key
    if name.partition(".")[0] == "compaction":
        raise SettingsError(f"{plain(name)} belongs to pi and is only read here; set it in pi")
    raise SettingsError(f"unknown key: {plain(name)}{nearest(name, _BY_NAME)}; known keys: {', '.join(_BY_NAME)}")


def checked_pairs(pairs: Mapping[str, object]) -> dict[tuple[str, ...], Json]:
    """Give JSON values by path for ``pairs`` (dotted or bare key to value); None means "leave as it is".

    Raises SettingsError with one line for each pair that does not fit.
    """
    given = [(_key_of(name), value) for name, value in pairs.items() if value is not None]
    read = [(key, value, key.kind.read(value)) for key, value in given]
    faults = [key.fault(value) for key, value, found in read if found is None]
    if faults:
        raise SettingsError(*faults)
    return {key.path: list(found) if isinstance(found, tuple) else found for key, _, found in read}


def nearest(name: str, known: Mapping[str, object]) -> str:
    """Give ``(did you mean …?)`` for the known name most like ``name``, or nothing."""
    words = (name, name.rpartition(".")[2])
    matches = [match for word in words for match in difflib.get_close_matches(word, known, n=1)]
    return f" (did you mean {matches[0]}?)" if matches else ""
