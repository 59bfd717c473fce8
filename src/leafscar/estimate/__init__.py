"""How many tokens a message and a context hold."""

from leafscar.estimate.anchor import ContextEstimate, context_tokens, estimate_context, is_anchor
from leafscar.estimate.chars import content_chars, estimate_tokens

__all__ = [
    "ContextEstimate",
    "content_chars",
    "context_tokens",
    "estimate_context",
    "estimate_tokens",
    "is_anchor",
]
