"""What ``--policy`` names: a policy of ours, or a rule of another tool; and the numbers of each that may be changed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta, Struct, structs

from leafscar.config import parse_fraction
from leafscar.engine import Policy, parse_policy
from leafscar.engine.policy import POLICIES
from leafscar.errors import PolicyError
from leafscar.replay.rival_run import Rival
from leafscar.replay.rivals import ClearToolUses, LangChainClear, MaskLastN, OpencodePrune, Rule, SummarizeAt

__all__ = ["BREAKPOINT", "RIVALS", "Choice", "Key", "changed", "choice_of", "converted", "keys_of", "rival_of"]

Choice: TypeAlias = Policy | Rival
"""One row of a replay that is not the recording itself."""

RIVALS: Mapping[str, Rule] = {
    "mask-last-n": MaskLastN(),
    "clear-tool-uses": ClearToolUses(),
    "langchain-clear": LangChainClear(),
    "opencode-prune": OpencodePrune(),
    "summarize-at": SummarizeAt(),
}
"""Rules of other tools by name, with the parameters that those tools have by default."""

BREAKPOINT = "+breakpoint"
"""Ends the name of a rule that places a cache breakpoint at its boundary."""

_FIXED = frozenset({"name", "sheds", "cuts", "own_rules", "source_defects"})
_STICKY = frozenset({"min_result_tokens", "absolute_turn"})
_AT_LEAST_ONE = ("_divisor", "polling", "turns", "uses")
_ABOVE_NOTHING = ("shed_fraction", "cut_fraction", "goal_fraction", "fraction", "keep_fraction")
_MOST = 10**9
_MOST_PAYBACK = 1000
_NEWEST = re.compile("[1-9][0-9]{0,8}")
_Tool: TypeAlias = Annotated[str, Meta(min_length=1, max_length=200)]


class Key(Struct, frozen=True, kw_only=True):
    """One number, or switch, that a policy file and ``--sweep`` may set."""

    field: str
    """Field of the policy or of the rule."""
    type: Any
    """What msgspec converts a value to, limits included."""


def choice_of(name: str) -> Choice:
    """Give the policy or the rule of a name. Raises :class:`PolicyError`."""
    base = name.partition(BREAKPOINT)[0].partition(":")[0]
    if base in RIVALS:
        return rival_of(name)
    try:
        return parse_policy(name)
    except PolicyError as fault:
        if base in POLICIES:
            raise
        raise PolicyError(f"{fault}, and rules of other tools: {', '.join(RIVALS)}", name=name) from None


def rival_of(name: str) -> Rival:
    """Give the rule behind ``NAME[:PARAMETER][+breakpoint]``. Raises :class:`PolicyError`."""
    plain = name.removesuffix(BREAKPOINT)
    tool, colon, detail = plain.partition(":")
    rule = RIVALS.get(tool)
    if rule is None or (colon and not detail):
        raise PolicyError(f"{name!r} is no rule; known: {', '.join(RIVALS)}", name=name)
    return Rival(name=name, tool=tool, rule=_detailed(rule, detail, name), breakpoint=plain != name)


def _detailed(rule: Rule, detail: str, name: str) -> Rule:
    if not detail:
        return rule
    match rule:
        case MaskLastN():
            if _NEWEST.fullmatch(detail):
                return structs.replace(rule, keep=int(detail))
            raise PolicyError(
                f"{name!r}: the newest outputs to keep are a number from 1, like mask-last-n:10", name=name
            )
        case SummarizeAt():
            fraction = parse_fraction(detail)
            if fraction is None:
                raise PolicyError(f"{name!r}: the fraction is above 0 and at most 1, like summarize-at:0.70", name=name)
            return structs.replace(rule, fraction=fraction)
        case _:
            raise PolicyError(f"{name!r}: this rule takes no {detail!r}; use --policy-file or --sweep", name=name)


def keys_of(choice: Choice) -> dict[str, Key]:
    """What may be changed of a policy or a rule, by its name in a file; what would change nothing is left out."""
    if isinstance(choice, Rival):
        keys = {_camel(field.name): _key(field.name, field.type) for field in structs.fields(choice.rule)}
        return {**keys, "breakpoint": Key(field="breakpoint", type=bool)}
    used = [field for field in structs.fields(choice) if field.name not in _FIXED and _is_used(choice, field.name)]
    return {_camel(field.name): _key(field.name, field.type) for field in used}


def _is_used(policy: Policy, field: str) -> bool:
    draws_cut_line = policy.cuts == "above-line" or not policy.must_reach_goal
    match policy.sheds:
        case "batch":
            return field != "cut_fraction" or draws_cut_line
        case "sticky":
            return field in _STICKY
        case _:
            return field == "cut_fraction" and policy.cuts == "above-line"


def _key(field: str, kind: Any) -> Key:
    return Key(field=field, type=_limited(field, kind))


def _limited(field: str, kind: Any) -> Any:
    if kind is float:
        most = _MOST_PAYBACK if field == "payback" else 1
        return Annotated[float, Meta(gt=0, le=1) if field in _ABOVE_NOTHING else Meta(ge=0, le=most)]
    if kind in (int, int | None):
        return Annotated[int, Meta(ge=1 if field.endswith(_AT_LEAST_ONE) else 0, le=_MOST)]
    if kind == tuple[str, ...]:
        return Annotated[tuple[_Tool, ...], Meta(max_length=100)]
    return kind


def converted(key: Key, value: object, where: str, name: str) -> object:
    """Give a value as its key takes it. Raises :class:`PolicyError` that begins with ``where``."""
    try:
        return msgspec.convert(value, key.type)
    except msgspec.ValidationError as fault:
        raise PolicyError(f"{where}: {fault}", name=name) from None
    except UnicodeEncodeError:
        raise PolicyError(f"{where}: holds half a character", name=name) from None


def changed(choice: Choice, name: str, values: Mapping[str, object]) -> Choice:
    """Give the policy or the rule under another name and with other values, by field."""
    if isinstance(choice, Policy):
        return structs.replace(choice, name=name, **values)
    own = dict(values)
    marks = bool(own.pop("breakpoint", choice.breakpoint))
    return structs.replace(choice, name=name, breakpoint=marks, rule=structs.replace(choice.rule, **own))


def _camel(field: str) -> str:
    head, *rest = field.split("_")
    return head + "".join(part.capitalize() for part in rest)
