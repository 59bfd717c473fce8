"""``--sweep KEY=V1,V2``: one row for each value of a policy's number (docs/policies.md)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import product

from leafscar.config import plain
from leafscar.errors import PolicyError
from leafscar.replay.choices import Choice, changed, choice_of, converted, keys_of
from leafscar.replay.rows import NEVER_CUT, RECORDED

__all__ = ["MOST_ROWS", "swept"]

MOST_ROWS = 64
"""Rows that one replay may be asked for with ``--sweep``."""

_Values = dict[str, list[str]]


def swept(chosen: Sequence[str | Choice], sweeps: Sequence[str]) -> list[str | Choice]:
    """Put one row for each combination of values in the place of every policy that has the keys.

    Raises :class:`PolicyError` for a sweep that is not ``KEY=V1,V2``, fits no policy, or makes too many rows.
    """
    if not sweeps:
        return list(chosen)
    values = _parsed(sweeps)
    known = {key for each in chosen for key in _keys(each)}
    for key in values:
        if key not in known:
            can = f"they have {', '.join(sorted(known))}" if known else "none of them can be changed"
            raise PolicyError(f"--sweep {key}: no policy asked for has this key; {can}", name=key)
    rows: list[str | Choice] = []
    for each in chosen:
        for row in _rows(each, values):
            rows.append(row)
            if len(rows) > MOST_ROWS:
                raise PolicyError(f"--sweep: more than {MOST_ROWS} rows; give fewer values", name="--sweep")
    return rows


def _parsed(sweeps: Sequence[str]) -> _Values:
    values: _Values = {}
    for text in sweeps:
        key, sign, listed = text.partition("=")
        each = list(dict.fromkeys(value.strip() for value in listed.split(",")))
        key = key.strip()
        if not (key and sign and all(each)):
            raise PolicyError(f"--sweep {plain(text)}: write KEY=VALUE,VALUE, like shedFraction=0.6,0.7", name=text)
        if key in values:
            raise PolicyError(f"--sweep {plain(key)}: given twice; list all its values in one", name=key)
        values[plain(key)] = each
    return values


def _keys(chosen: str | Choice) -> Iterable[str]:
    return () if chosen in (RECORDED, NEVER_CUT) else keys_of(_choice(chosen))


def _choice(chosen: str | Choice) -> Choice:
    return choice_of(chosen) if isinstance(chosen, str) else chosen


def _rows(chosen: str | Choice, values: _Values) -> Iterable[str | Choice]:
    mine = [key for key in values if key in set(_keys(chosen))]
    if not mine:
        yield chosen
        return
    choice = _choice(chosen)
    keys = keys_of(choice)
    for combination in product(*(values[key] for key in mine)):
        said = ",".join(f"{key}={value}" for key, value in zip(mine, combination, strict=True))
        read = {
            keys[key].field: converted(keys[key], _value(value), f"--sweep {key}={plain(value)}", choice.name)
            for key, value in zip(mine, combination, strict=True)
        }
        yield changed(choice, f"{choice.name}[{said}]", read)


def _value(text: str) -> object:
    try:
        return json.loads(text, parse_constant=str)
    except (ValueError, RecursionError):
        return text
