"""What each policy would have done to a recorded session."""

from leafscar.replay.result import Assumption, CutMark, Moment, PolicyResult, ReplayResult, SessionResult
from leafscar.replay.run import DEFAULT_POLICIES, Options, find_sessions, replay_files, replay_session

__all__ = [
    "DEFAULT_POLICIES",
    "Assumption",
    "CutMark",
    "Moment",
    "Options",
    "PolicyResult",
    "ReplayResult",
    "SessionResult",
    "find_sessions",
    "replay_files",
    "replay_session",
]
