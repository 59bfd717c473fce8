"""Level 2: the cut. What is summarised, what stays raw, and the context that follows (docs/compaction.md).

Pure: nothing here reads a file, asks a model or looks at a clock.
"""

from leafscar.compaction.branch import (
    BranchPreparation,
    BranchResult,
    BranchWalk,
    collect_branch,
    prepare_branch,
    summarise_branch,
)
from leafscar.compaction.convert import bash_text, to_model_messages
from leafscar.compaction.cut import Cut, find_cut
from leafscar.compaction.files import FileLists, FileOps, file_ops, file_text
from leafscar.compaction.measure import estimate_projection
from leafscar.compaction.overflow import is_overflow
from leafscar.compaction.pi_texts import PI_SOURCES, texts_from_sources
from leafscar.compaction.pins import PIN_LABEL, pins_block, pins_intact, pins_of, without_pins
from leafscar.compaction.prepare import Preparation, prepare
from leafscar.compaction.prompts import OWN, Texts
from leafscar.compaction.rebuild import ModelRef, Projection, newest_cut, project_context
from leafscar.compaction.requests import (
    Refused,
    SummaryOptions,
    SummaryRequest,
    SummaryResponse,
    combine_usage,
    reasoning_level,
)
from leafscar.compaction.retry import Retry, RetryPolicy, is_retryable, next_retry, retry_policy
from leafscar.compaction.rules import (
    DEFAULT,
    PI_0821_AGENT_CORE,
    PI_0821_CODING_AGENT,
    PI_130,
    SUBMISSION_MARK,
    Rules,
)
from leafscar.compaction.serialize import serialize
from leafscar.compaction.settle import answer_orphans, check_pairs, gather_results, settle, settle_abandoned
from leafscar.compaction.slots import Item, entry_messages
from leafscar.compaction.summarise import CompactionResult, compact
from leafscar.compaction.system import replay_system
from leafscar.compaction.thresholds import (
    CompactionSettings,
    Reserve,
    as_settings,
    derive_reserve,
    keep_recent,
    should_compact,
    summary_budget,
)
from leafscar.compaction.walk import branch_walk

__all__ = [
    "DEFAULT",
    "OWN",
    "PIN_LABEL",
    "PI_0821_AGENT_CORE",
    "PI_0821_CODING_AGENT",
    "PI_130",
    "PI_SOURCES",
    "SUBMISSION_MARK",
    "BranchPreparation",
    "BranchResult",
    "BranchWalk",
    "CompactionResult",
    "CompactionSettings",
    "Cut",
    "FileLists",
    "FileOps",
    "Item",
    "ModelRef",
    "Preparation",
    "Projection",
    "Refused",
    "Reserve",
    "Retry",
    "RetryPolicy",
    "Rules",
    "SummaryOptions",
    "SummaryRequest",
    "SummaryResponse",
    "Texts",
    "answer_orphans",
    "as_settings",
    "bash_text",
    "branch_walk",
    "check_pairs",
    "collect_branch",
    "combine_usage",
    "compact",
    "derive_reserve",
    "entry_messages",
    "estimate_projection",
    "file_ops",
    "file_text",
    "find_cut",
    "gather_results",
    "is_overflow",
    "is_retryable",
    "keep_recent",
    "newest_cut",
    "next_retry",
    "pins_block",
    "pins_intact",
    "pins_of",
    "prepare",
    "prepare_branch",
    "project_context",
    "reasoning_level",
    "replay_system",
    "retry_policy",
    "serialize",
    "settle",
    "settle_abandoned",
    "should_compact",
    "summarise_branch",
    "summary_budget",
    "texts_from_sources",
    "to_model_messages",
    "without_pins",
]
