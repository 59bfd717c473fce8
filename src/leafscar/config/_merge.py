"""What two settings files say together, key by key, and where each value comes from (docs/settings.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct

from leafscar.config._json import Json, plain, shown
from leafscar.config._keys import COMPACTION, OWN, PRUNING, TOKENS, Key, Value, nearest
from leafscar.errors import SettingsError

__all__ = ["CompactionSection", "Layer", "NeverPrune", "OwnSection", "PruningSection", "Settings", "Source"]
__all__ += ["explicit_keep_recent_tokens", "explicit_reserve_tokens", "merge_settings", "patched", "reserve_tokens"]

Source: TypeAlias = Literal["default", "global", "project"]
"""Where a value comes from."""

_MOST_PROBLEMS = 50


class PruningSection(Struct, frozen=True, kw_only=True, rename="camel"):
    """Section ``pruning``: exactly the three keys that every host shares."""

    enabled: bool = True
    min_result_tokens: int = 1000
    """Tool outputs of this many tokens or fewer stay raw."""
    protect_current_turn: bool = True


class CompactionSection(Struct, frozen=True, kw_only=True, rename="camel"):
    """Section ``compaction``, which is pi's: read here, never written."""

    enabled: bool = True
    reserve_tokens: int = 16384
    """Tokens of the window kept free for the answer; ask ``reserve_tokens()``, which knows the model."""
    keep_recent_tokens: int = 20000
    """Tokens at the end that a cut keeps; ask ``explicit_keep_recent_tokens()``, which knows the model."""
    reserve_overrides: dict[str, int] = {}
    """Reserve in tokens by ``provider/id``."""
    keep_recent_overrides: dict[str, int] = {}
    """Kept tokens by ``provider/id``."""


class NeverPrune(Struct, frozen=True, kw_only=True):
    """Results that stay whatever happens."""

    tools: tuple[str, ...] = ()
    """Tool names."""
    paths: tuple[str, ...] = ()
    """Glob patterns for the path that a tool was called with."""


class OwnSection(Struct, frozen=True, kw_only=True, rename="camel"):
    """Section ``leafscar``."""

    policy: str = "balanced"
    """A name of POLICIES, or ``compaction:FRACTION`` with a fraction of the window."""
    pins: tuple[str, ...] = ()
    """Texts that every summary carries unchanged."""
    never_prune: NeverPrune = NeverPrune()
    window_cap: int | None = None
    """The window never counts as more than this many tokens; None: the model's own window."""
    prompts: str = "own"
    """``own``, or ``pi:PATH`` to take the summariser's texts from an installed pi."""
    bound_thinking: Literal["off", "drop_block", "strip"] = "off"
    shed_arguments: bool = False
    """No effect yet."""
    continuity: bool | None = None
    """None: nobody chose, the host's own default holds. No effect yet."""


class Settings(Struct, frozen=True, kw_only=True):
    """Both files merged with the defaults."""

    pruning: PruningSection = PruningSection()
    pruning_set: frozenset[str] = frozenset()
    """Keys of ``pruning`` that a file sets to a usable value; the others are *auto* outside ``classic``."""
    compaction: CompactionSection = CompactionSection()
    leafscar: OwnSection = OwnSection()
    sources: Mapping[str, Source] = {}
    """Where each value comes from, by dotted key."""
    problems: tuple[str, ...] = ()
    """One line for each thing in the files that could not be used."""
    project_path: Path = Path(".pi/settings.json")
    global_path: Path = Path(".pi/agent/settings.json")


class Layer(Struct, frozen=True, kw_only=True):
    """One settings file as read; an absent or unusable one has no data."""

    source: Source
    path: Path
    data: dict[str, Json] = {}
    problems: tuple[str, ...] = ()


class _Found(Struct, frozen=True):
    key: Key
    value: Value | None
    source: Source
    problems: tuple[str, ...]


def merge_settings(project: Layer, global_: Layer) -> Settings:
    """Merge per key: the project's value, else the global one, else the default (docs/adr/0032-invalid-values.md)."""
    layers = (project, global_)
    pruning = [_first_given(key, layers) for key in PRUNING]
    own = [_first_given(key, layers) for key in OWN]
    compaction = [_first_usable(key, layers) for key in COMPACTION]
    reserves = _overrides("reserveTokens", layers)
    keeps = _overrides("keepRecentTokens", layers)
    overrides = {"reserveOverrides": _by_model(reserves), "keepRecentOverrides": _by_model(keeps)}
    everything = [*pruning, *compaction, *reserves, *keeps, *own]
    problems = [line for layer in layers for line in (*layer.problems, *_section_faults(layer))]
    problems += [line for found in everything for line in found.problems]
    return Settings(
        pruning=msgspec.convert(_section(pruning), PruningSection),
        pruning_set=frozenset(found.key.name for found in pruning if found.source != "default"),
        compaction=msgspec.convert({**_section(compaction), **overrides}, CompactionSection),
        leafscar=msgspec.convert(_section(own), OwnSection),
        sources={found.key.dotted: found.source for found in everything},
        problems=_capped(list(dict.fromkeys(problems))),
        project_path=project.path,
        global_path=global_.path,
    )


def explicit_reserve_tokens(settings: Settings, model: str | None = None) -> int | None:
    """Reserve in tokens that the files state for ``model`` (``provider/id``); None when they state none."""
    section = settings.compaction
    stated = section.reserve_tokens if _is_stated(settings, "compaction.reserveTokens") else None
    return section.reserve_overrides.get(model or "", stated)


def reserve_tokens(settings: Settings, model: str | None = None) -> int:
    """Reserve in tokens for ``model`` (``provider/id``): its override, else the plain value, else 16,384."""
    return settings.compaction.reserve_overrides.get(model or "", settings.compaction.reserve_tokens)


def explicit_keep_recent_tokens(settings: Settings, model: str | None = None) -> int | None:
    """Tokens to keep at a cut that the files state for ``model`` (``provider/id``); None when they state none."""
    section = settings.compaction
    stated = section.keep_recent_tokens if _is_stated(settings, "compaction.keepRecentTokens") else None
    return section.keep_recent_overrides.get(model or "", stated)


def _is_stated(settings: Settings, key: str) -> bool:
    return settings.sources.get(key, "default") != "default"


def patched(data: dict[str, Json], patch: Mapping[tuple[str, ...], Json]) -> dict[str, Json]:
    """Give ``data`` with each value of ``patch`` at its path; every other key keeps its value and place."""
    for path, value in patch.items():
        data = _put(data, path, 0, value)
    return data


def _put(data: dict[str, Json], path: tuple[str, ...], level: int, value: Json) -> dict[str, Json]:
    name = path[level]
    if level == len(path) - 1:
        return {**data, name: value}
    inner = data.get(name)
    if inner is None:
        inner = {}
    if not isinstance(inner, dict):
        where = ".".join(path[: level + 1])
        raise SettingsError(f"{where} must be an object, got: {shown(inner)}; correct it first, nothing was written")
    return {**data, name: _put(inner, path, level + 1, value)}


def _lookup(data: Json, path: tuple[str, ...]) -> Json:
    for name in path:
        if not isinstance(data, dict):
            return None
        data = data.get(name)
    return data


def _candidates(key: Key, layers: tuple[Layer, ...]) -> Iterator[tuple[Json, Source]]:
    for layer in layers:
        raw = _lookup(layer.data, key.path)
        if raw is not None:
            yield raw, layer.source


def _first_given(key: Key, layers: tuple[Layer, ...]) -> _Found:
    for raw, source in _candidates(key, layers):
        value = key.kind.read(raw)
        if value is None:
            return _Found(key, None, "default", (key.fault(raw),))
        return _Found(key, value, source, ())
    return _Found(key, None, "default", ())


def _first_usable(key: Key, layers: tuple[Layer, ...]) -> _Found:
    problems: list[str] = []
    for raw, source in _candidates(key, layers):
        value = key.kind.read(raw)
        if value is not None:
            return _Found(key, value, source, tuple(problems))
        problems.append(key.fault(raw))
    return _Found(key, None, "default", tuple(problems))


def _overrides(field: str, layers: tuple[Layer, ...]) -> list[_Found]:
    tables = [_lookup(layer.data, ("compaction", "modelOverrides")) for layer in layers]
    models = dict.fromkeys(model for table in tables if isinstance(table, dict) for model in table)
    keys = [Key(path=("compaction", "modelOverrides", model, field), kind=TOKENS) for model in models]
    return [_first_usable(key, layers) for key in keys]


def _by_model(overrides: list[_Found]) -> dict[str, Value]:
    return {found.key.path[2]: found.value for found in overrides if found.value is not None}


def _section(found: list[_Found]) -> dict[str, Json]:
    data: dict[str, Json] = {}
    for item in found:
        if item.value is not None:
            value = list[Json](item.value) if isinstance(item.value, tuple) else item.value
            data = _put(data, item.key.path, 1, value)
    return data


def _section_faults(layer: Layer) -> Iterator[str]:
    yield from _not_an_object(layer, ("compaction", "modelOverrides"))
    yield from _not_an_object(layer, ("leafscar",))
    yield from _not_an_object(layer, ("leafscar", "neverPrune"))
    yield from _unknown(layer, ("leafscar",))
    yield from _unknown(layer, ("leafscar", "neverPrune"))


def _not_an_object(layer: Layer, path: tuple[str, ...]) -> Iterator[str]:
    raw = _lookup(layer.data, path)
    if raw is not None and not isinstance(raw, dict):
        yield f"{'.'.join(path)} must be an object, got: {shown(raw)}"


def _unknown(layer: Layer, path: tuple[str, ...]) -> Iterator[str]:
    section = _lookup(layer.data, path)
    known = {key.path[len(path)]: key for key in OWN if key.path[: len(path)] == path}
    names = [name for name in section if name not in known] if isinstance(section, dict) else []
    for name in names[:_MOST_PROBLEMS]:
        label = plain(f"{'.'.join(path)}.{name}")
        yield f"{label} is not a known setting{nearest(name, known)}; it is kept in {plain(str(layer.path))}, unused"
    if len(names) > _MOST_PROBLEMS:
        yield f"{len(names) - _MOST_PROBLEMS} more unknown settings in {plain(str(layer.path))}"


def _capped(problems: list[str]) -> tuple[str, ...]:
    more = len(problems) - _MOST_PROBLEMS
    return (*problems[:_MOST_PROBLEMS], f"and {more} more problems") if more > 0 else tuple(problems)
