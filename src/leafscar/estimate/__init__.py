"""How many tokens a message and a context hold."""

from leafscar.estimate.anchor import ContextEstimate, anchor_tokens, context_tokens, estimate_context
from leafscar.estimate.calibrated import Calibrated, estimate_text, message_tokens
from leafscar.estimate.chars import estimate_tokens

__all__ = [
    "Calibrated",
    "ContextEstimate",
    "anchor_tokens",
    "context_tokens",
    "estimate_context",
    "estimate_text",
    "estimate_tokens",
    "message_tokens",
]
