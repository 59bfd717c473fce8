"""Settings files: the project's and the user's, read, merged, checked and written (docs/settings.md)."""

from leafscar.config._files import (
    MAX_BYTES,
    SettingsPaths,
    Written,
    current_folder,
    read_settings,
    settings_paths,
    write_settings,
)
from leafscar.config._json import plain, shown
from leafscar.config._keys import MAX_WINDOW, parse_pairs
from leafscar.config._merge import (
    CompactionSection,
    Layer,
    NeverPrune,
    OwnSection,
    PruningSection,
    Settings,
    Source,
    explicit_keep_recent_tokens,
    explicit_reserve_tokens,
    merge_settings,
    reserve_tokens,
)
from leafscar.config._policies import POLICIES, parse_fraction

__all__ = [
    "MAX_BYTES",
    "MAX_WINDOW",
    "POLICIES",
    "CompactionSection",
    "Layer",
    "NeverPrune",
    "OwnSection",
    "PruningSection",
    "Settings",
    "SettingsPaths",
    "Source",
    "Written",
    "current_folder",
    "explicit_keep_recent_tokens",
    "explicit_reserve_tokens",
    "merge_settings",
    "parse_fraction",
    "parse_pairs",
    "plain",
    "read_settings",
    "reserve_tokens",
    "settings_paths",
    "shown",
    "write_settings",
]
