"""Sentences of a user that look like lasting instructions, and where words of a text stand again (docs/cuts.md).

A heuristic: it knows words, no meaning.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from leafscar.model import Entry, User
from leafscar.model.messages import text_of

__all__ = ["Rule", "Words", "is_said", "rules_of", "significant"]

_MOST_RULES = 20
_MOST_TEXT = 20_000
"""Characters of a message that are looked at; what is longer is a pasted document."""
_SHORTEST, _LONGEST = 12, 400
_ENOUGH = 2 / 3

_LASTING = re.compile(
    r"""
    \b(?: always | never | must | from\ now\ on | make\ sure | be\ sure\ to | keep\ in\ mind | remember\ (?:to|that)
        | (?:please\ )?avoid | under\ no\ circumstances | at\ all\ times | every\ time
        | immer | niemals | nie | auf\ keinen\ fall | siempre | nunca | sempre | jamais | toujours )\b
    | ^ rules? \b [^:]{0,40} :
    | (?: ^ | [,;:.!(–—-]\s* | \b(?:please|and|but|also|so|then)\s+ ) (?: do\ not | don['’]?t ) \s+ \w
    | 必须 | 不要 | 始终 | 절대 | 항상 | 반드시 | 必ず | 絶対
    """,  # noqa: RUF001
    re.IGNORECASE | re.VERBOSE,
)
_FENCED = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_TAG = re.compile(r"<(/?)([a-z][\w-]*)[^<>]*>")
_SENTENCES = re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])|\n")
_MARKS = " \t-*#0123456789.)•·"
_WORD = re.compile(r"[^\W_]{2,}")
_COMMON = frozenset(
    (  # noqa: SIM905 - a list of words reads better as one text
        "a about after all also always an and any are as at avoid be been before but by can do does dont "
        "down each every for from get has have if in into is it its just keep make mind must need never no "
        "not now of on one only or our out please remember should so sure that the their them then there "
        "these they this those time to up us use very want was we when where which while will with without "
        "would you your "
    ).split()
)


class Rule(NamedTuple):
    """One sentence that looks like a lasting instruction."""

    position: int
    """Index on the path of the message that holds it."""
    text: str


Words = frozenset[str]
"""Words of a text that tell what it is about."""


def rules_of(entries: Iterable[tuple[int, Entry]]) -> Iterator[Rule]:
    """Give the sentences of users' messages that look like lasting instructions: at most 20 a message.

    Questions, code between fences, what stands in tags, and all behind the first 20,000 characters are left out.
    """
    for position, entry in entries:
        message = entry.message if entry.type == "message" else None
        if isinstance(message, User):
            for text in _lasting(text_of(message.content)):
                yield Rule(position, text)


def significant(text: str) -> Words:
    """Words of a text without the common ones, in lower case."""
    return frozenset(word for word in _WORD.findall(text.lower()) if word not in _COMMON)


def is_said(words: Words, where: Words) -> bool:
    """Whether two thirds of ``words`` stand in ``where``; text without a telling word is never said."""
    return bool(words) and len(words & where) >= _ENOUGH * len(words)


def _lasting(text: str) -> Sequence[str]:
    plain = _without_tagged(_FENCED.sub("\n", text[:_MOST_TEXT]))
    found = (" ".join(sentence.lstrip(_MARKS).rstrip(" \t*").split()) for sentence in _SENTENCES.split(plain))
    return list(dict.fromkeys(sentence for sentence in found if _is_lasting(sentence)))[:_MOST_RULES]


def _without_tagged(text: str) -> str:
    """Leave out what stands between a tag and its end: a host, not the user, puts it there."""
    tags = list(_TAG.finditer(text))
    ends: dict[str, list[int]] = {}
    for tag in tags:
        if tag[1]:
            ends.setdefault(tag[2], []).append(tag.end())
    pieces: list[str] = []
    at = 0
    for tag in tags:
        closing = ends.get(tag[2], [])
        behind = bisect_right(closing, tag.end())
        if not tag[1] and tag.start() >= at and behind < len(closing):
            pieces.append(text[at : tag.start()])
            at = closing[behind]
    return "\n".join([*pieces, text[at:]])


def _is_lasting(sentence: str) -> bool:
    if (
        not _SHORTEST <= len(sentence) <= _LONGEST
        or sentence.startswith((">", "|"))
        or sentence.rstrip("\"'”»)").endswith(("?", "\uff1f"))
    ):
        return False
    return _LASTING.search(sentence) is not None
