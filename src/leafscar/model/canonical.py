"""Canonical JSON (RFC 8785) and digests over it."""

from __future__ import annotations

import hashlib

import rfc8785

__all__ = ["canonical_json", "digest"]


def canonical_json(value: object) -> str:
    """RFC 8785 text of a JSON value: keys by UTF-16 units, no blanks, ECMAScript numbers.

    Raises ``ValueError`` for NaN, infinities, integers beyond 2**53 - 1, lone surrogates and non-JSON values.
    """
    try:
        return rfc8785.dumps(value).decode()  # pyright: ignore[reportArgumentType]
    except (rfc8785.CanonicalizationError, UnicodeEncodeError, RecursionError) as fault:
        raise ValueError(f"no canonical JSON for this value: {fault}") from fault


def digest(value: object) -> str:
    """``sha256:`` and the lower-case hex SHA-256 of the UTF-8 bytes of :func:`canonical_json`."""
    return "sha256:" + hashlib.sha256(canonical_json(value).encode()).hexdigest()
