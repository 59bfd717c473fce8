"""Which rows a replay has: the policies named, those of a file, and one for each value of a sweep."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from leafscar.errors import PolicyError
from leafscar.replay.choices import Choice, choice_of
from leafscar.replay.policy_file import read_policies
from leafscar.replay.rows import NEVER_CUT
from leafscar.replay.run import DEFAULT_POLICIES
from leafscar.replay.sweep import swept

__all__ = ["chosen_rows"]


def chosen_rows(names: Sequence[str], file: Path | None = None, sweeps: Sequence[str] = ()) -> tuple[str | Choice, ...]:
    """Give the rows, each once: ``names`` (the usual ones without any), then what else the file holds, swept.

    A name may be that of a policy in the file. Raises :class:`PolicyError`.
    """
    own = {} if file is None else {choice.name: choice for choice in read_policies(file)}
    if sweeps and not names and not own:
        raise PolicyError("--sweep changes policies that are asked for: name some with --policy", name="--sweep")
    if not names:
        names = () if sweeps else DEFAULT_POLICIES
    for name in names:
        if name != NEVER_CUT and name not in own:
            choice_of(name)
    rows = [own.get(name, name) for name in dict.fromkeys((*names, *own))]
    return tuple(swept(rows, sweeps))
