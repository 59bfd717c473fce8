"""How a cut is made: one frozen set of flags (docs/compaction.md).

``DEFAULT`` is what leafscar does. The three ``PI_*`` sets reproduce the sources with their defects; they exist so
that conformance can be checked against the real packages (docs/adr/0010-rules-as-data.md).
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

__all__ = ["DEFAULT", "PI_0821_AGENT_CORE", "PI_0821_CODING_AGENT", "PI_130", "SUBMISSION_MARK", "Rules"]

SUBMISSION_MARK = "leafscar.submission"
"""``customType`` of the entry right before the prompt of a submission (docs/adr/0011-submission-mark.md)."""


class Rules(Struct, frozen=True, kw_only=True):
    """Every point at which the sources and leafscar differ. A docstring says what the flag does when it is set."""

    # --- where the cut goes
    by_entry_type: bool = False
    """Agent core: cut points, turn starts and the walk go by the entry's type, not by what it projects. Only
    ``message`` entries count toward keep-recent, those worth 0 included."""
    oversized_tail_cuts_last: bool = True
    """Trailing results larger than keep-recent cut at the last valid point; 0.82.1 cuts at the first: nothing."""
    recovery_suffix: bool = True
    """1.3.0: an over-budget prompt followed only by omitted attempts is itself summarised."""
    whole_pairs: bool = True
    """leafscar: a point between a tool call and its result is never a cut point, whatever stands between them."""

    # --- what is prepared
    on_projection: bool = True
    """1.3.0: the cut walks the projected context. 0.82.1 walks the raw path from the previous first kept entry."""
    fresh_anchor_only: bool = True
    """1.3.0: ``tokens_before`` rests on usage only when it is newer than the last cut or context edit."""
    empty_is_nothing: bool = True
    """Nothing to summarise is nothing to cut. Agent core asks the summariser about an empty conversation."""
    nested_calls: bool = True
    """1.3.0: file lists count the calls that a tool made itself."""

    # --- what is rebuilt
    older_summaries_reappear: bool = False
    """0.82.1: an older summary inside the kept range is sent again, after the newer one."""
    stored_tail: bool = False
    """Agent core: a cut that carries its retained tail is rebuilt from it, and ends the walk along the branch."""
    context_edits: bool = True
    """1.3.0: ``context_edit`` entries omit or replace the content of their target."""
    system_messages: bool = True
    """1.3.0: system messages are prompt state; a cut carries their replay and drops them from the kept range."""

    # --- what the summariser reads, and which answers are taken
    serialize_thinking: bool = True
    """0.82.1: thinking is part of the serialized conversation."""
    prefix_headings: bool = False
    """1.3.0: the turn prefix is laid out under headings instead of in conversation tags."""
    bounded_input: bool = True
    """leafscar: input that would not fit the window loses its oldest blocks, and says so."""
    keep_previous_on_split: bool = True
    """A split turn with empty history keeps the previous summary; 0.82.1 writes that there is none."""
    aborted_fails: bool = True
    """An aborted response is a failure; the coding agent takes its partial text."""
    refuse_truncated: bool = True
    """A response that stopped at its output limit is refused; 0.82.1 takes it."""
    refuse_tool_calls: bool = True
    """A response that calls a tool is refused; 0.82.1 takes its text."""
    refuse_empty: bool = True
    """leafscar: a summary without a visible character is refused."""
    second_try: bool = True
    """leafscar: a refused response is asked for once more on a shorter input, counted apart."""
    pins: bool = True
    """leafscar: the user's pinned rules stand verbatim in the summary message (docs/compaction.md)."""

    # --- branch summaries and retries
    branch_words: str = "Branch summarization failed: {}"
    """How a failed branch summary is worded."""
    branch_aborted: str = "Branch summary aborted"
    """How an aborted branch summary is worded when the response says nothing."""
    branch_output: int = 4096
    """Output tokens of a branch summary."""
    branch_output_capped: bool = True
    """1.3.0: ``branch_output`` is held below the model's own limit."""
    retry_cap_ms: int | None = 60_000
    """Longest pause between two attempts, in milliseconds; None is no limit (0.82.1)."""
    retry_words_130: bool = True
    """1.3.0: more provider messages count as passing trouble, one more as a limit."""
    overflow_words_130: bool = True
    """1.3.0: more provider messages mean that the window overflowed; bodyless 400/413 only from one provider."""


DEFAULT = Rules()
"""leafscar's own rules."""

_PI_0821 = Rules(
    oversized_tail_cuts_last=False,
    recovery_suffix=False,
    whole_pairs=False,
    on_projection=False,
    fresh_anchor_only=False,
    nested_calls=False,
    older_summaries_reappear=True,
    context_edits=False,
    system_messages=False,
    bounded_input=False,
    keep_previous_on_split=False,
    refuse_truncated=False,
    refuse_tool_calls=False,
    refuse_empty=False,
    second_try=False,
    pins=False,
    branch_output=2048,
    branch_output_capped=False,
    retry_cap_ms=None,
    retry_words_130=False,
    overflow_words_130=False,
)  # what both packages share

PI_0821_CODING_AGENT = replace(_PI_0821, aborted_fails=False, branch_words="{}")
"""pi-coding-agent 0.82.1."""

PI_0821_AGENT_CORE = replace(
    _PI_0821,
    by_entry_type=True,
    empty_is_nothing=False,
    stored_tail=True,
    branch_words="Branch summary failed: {}",
)
"""pi-agent-core 0.82.1."""

PI_130 = Rules(
    whole_pairs=False,
    serialize_thinking=False,
    prefix_headings=True,
    bounded_input=False,
    aborted_fails=False,
    refuse_empty=False,
    second_try=False,
    pins=False,
)
"""pi-coding-agent 1.3.0."""
