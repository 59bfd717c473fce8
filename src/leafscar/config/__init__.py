"""Settings files: the project's and the user's, read, merged, checked and written (docs/settings.md)."""

from leafscar.config._files import MAX_BYTES, SettingsPaths, Written, read_settings, settings_paths, write_settings
from leafscar.config._json import plain, shown
from leafscar.config._keys import POLICIES, parse_pairs
from leafscar.config._merge import (
    CompactionSettings,
    Layer,
    NeverPrune,
    OwnSettings,
    PruningSettings,
    Settings,
    Source,
    explicit_reserve_tokens,
    keep_recent_tokens,
    merge_settings,
    reserve_tokens,
)

__all__ = [
    "MAX_BYTES",
    "POLICIES",
    "CompactionSettings",
    "Layer",
    "NeverPrune",
    "OwnSettings",
    "PruningSettings",
    "Settings",
    "SettingsPaths",
    "Source",
    "Written",
    "explicit_reserve_tokens",
    "keep_recent_tokens",
    "merge_settings",
    "parse_pairs",
    "plain",
    "read_settings",
    "reserve_tokens",
    "settings_paths",
    "shown",
    "write_settings",
]
