"""Level 1: old tool outputs leave the request, a marker takes their place, nothing is lost (docs/pruning.md).

Pure: no I/O, no clock, no state. A session's references are resolved by the session room.
"""

from leafscar.pruning.align import Alignment, align
from leafscar.pruning.eligible import Candidate, Never, candidate_for
from leafscar.pruning.engagement import next_engagement
from leafscar.pruning.gate import GateDecision, gate, new_savings
from leafscar.pruning.markers import Marker, Resolve, is_marker, marker_for, marker_text
from leafscar.pruning.plan import PruneRecord, ReferenceFor, Replacement, calls_by_id, plan, watermark
from leafscar.pruning.prune import Pruned, prune, replaced
from leafscar.pruning.reference import (
    RECALL_LIMIT,
    Capped,
    Reference,
    cap_text,
    not_a_result,
    not_found,
    parse_reference,
    result_text,
)
from leafscar.pruning.rules import CLASSIC, DEFAULT, SOURCE, PruningRules
from leafscar.pruning.settings import PruningSettings, as_settings
from leafscar.pruning.sizes import HeadTail, format_size, head_tail
from leafscar.pruning.tools import TABLES, ExitRule, Tool, ToolTable

__all__ = [
    "CLASSIC",
    "DEFAULT",
    "RECALL_LIMIT",
    "SOURCE",
    "TABLES",
    "Alignment",
    "Candidate",
    "Capped",
    "ExitRule",
    "GateDecision",
    "HeadTail",
    "Marker",
    "Never",
    "PruneRecord",
    "Pruned",
    "PruningRules",
    "PruningSettings",
    "Reference",
    "ReferenceFor",
    "Replacement",
    "Resolve",
    "Tool",
    "ToolTable",
    "align",
    "as_settings",
    "calls_by_id",
    "candidate_for",
    "cap_text",
    "format_size",
    "gate",
    "head_tail",
    "is_marker",
    "marker_for",
    "marker_text",
    "new_savings",
    "next_engagement",
    "not_a_result",
    "not_found",
    "parse_reference",
    "plan",
    "prune",
    "replaced",
    "result_text",
    "watermark",
]
