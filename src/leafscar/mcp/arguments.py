"""What the tools take; each struct is a closed JSON schema and the check of what comes in."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

__all__ = ["MAX_HITS", "ContextArguments", "RecallArguments", "SearchArguments", "schema_of"]

MAX_HITS = 12
"""Hits of one search."""

_SESSION = "Name of a session, as search and context give it. Default: your current session, else the newest one."

_Session = Annotated[str, Meta(min_length=1, max_length=1000, description=_SESSION)]
_Text = Annotated[str, Meta(min_length=1, max_length=1000, description="Words to look for, or a pattern.")]
_Reference = Annotated[
    str, Meta(min_length=1, max_length=200, description="Reference of an entry: #LINE or an entry id.")
]
_Range = Annotated[
    str,
    Meta(pattern=r"^[0-9]{1,9}(-([0-9]{1,9})?)?$", description="Lines of it, counted from 1: 120-180, 120- or 120."),
]
_Page = Annotated[int, Meta(ge=1, le=10**9, description="Page of 12,000 characters, from 1. Default: 1.")]
_Count = Annotated[int, Meta(ge=1, le=MAX_HITS, description=f"Hits at most, up to {MAX_HITS}. Default: 10.")]
_Regex = Annotated[bool, Meta(description="Whether text is a regular expression. Default: false.")]
_Case = Annotated[bool, Meta(description="Whether upper and lower case differ. Default: false.")]
_Lost = Annotated[bool, Meta(description="Only what the context of its session holds no more. Default: false.")]
_Cursor = Annotated[str, Meta(max_length=2000, description="Go on: the cursor that an earlier search ended with.")]
_Around = Annotated[int, Meta(ge=0, le=10, description="Entries on this side of ref, up to 10. Default: 3.")]


class RecallArguments(Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``recall``."""

    ref: _Reference
    session: _Session | UnsetType = UNSET
    lines: _Range | UnsetType = UNSET
    page: _Page | UnsetType = UNSET


class SearchArguments(Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``search``."""

    text: _Text
    regex: _Regex = False
    case_sensitive: _Case = False
    lost_only: _Lost = False
    session: _Session | UnsetType = UNSET
    limit: _Count = 10
    after: _Cursor | UnsetType = UNSET


class ContextArguments(Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``context``."""

    session: _Session | UnsetType = UNSET
    ref: _Reference | UnsetType = UNSET
    before: _Around = 3
    after: _Around = 3


def schema_of(arguments: type[Struct]) -> dict[str, Any]:
    """Closed JSON schema of the arguments, without references."""
    schema = dict(msgspec.json.schema(arguments)["$defs"][arguments.__name__])
    schema.pop("title", None)
    schema.pop("description", None)
    return schema
