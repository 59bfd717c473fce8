"""Which policy ``leafscar replay --explain`` looks at."""

from __future__ import annotations

from leafscar.engine import DEFAULT_POLICY, Policy
from leafscar.errors import LeafscarError
from leafscar.replay.choices import Choice, choice_of
from leafscar.replay.rival_run import Rival
from leafscar.replay.rows import NEVER_CUT

__all__ = ["row_to_explain"]


def row_to_explain(
    rows: tuple[str | Choice, ...], names: tuple[str, ...], *, needs_name: bool, is_swept: bool
) -> str | Policy:
    """Give the one policy to explain; of ``rows`` those that were named come first.

    Raises :class:`LeafscarError` where the command line names several, none of a file, or a rule of another tool.
    """
    if is_swept:
        raise LeafscarError("--explain looks at one policy; leave --sweep out")
    if len(names) > 1:
        raise LeafscarError(f"--explain looks at one policy; name one of {', '.join(names)}")
    if not names and needs_name:
        raise LeafscarError("--explain looks at one policy; name one of the file with --policy")
    row = rows[0] if names else DEFAULT_POLICY
    choice = choice_of(row) if isinstance(row, str) and row != NEVER_CUT else row
    if isinstance(choice, Rival):
        raise LeafscarError(f"--explain looks at policies of ours; {choice.name} is a rule of another tool")
    return row if isinstance(row, str) else choice
