"""One controller a session: the two levels as one decision per request."""

from leafscar.engine.controller import Controller, CutSettings
from leafscar.engine.events import Event
from leafscar.engine.facts import Facts, Lines, resolve_lines
from leafscar.engine.given import CacheFacts, ShedSettings
from leafscar.engine.plan import Fallback, Outcome, Plan, Send, Summarise, materialise
from leafscar.engine.policy import DEFAULT_POLICY, POLICIES, Policy, parse_policy
from leafscar.engine.state import ControlState

__all__ = [
    "DEFAULT_POLICY",
    "POLICIES",
    "CacheFacts",
    "ControlState",
    "Controller",
    "CutSettings",
    "Event",
    "Facts",
    "Fallback",
    "Lines",
    "Outcome",
    "Plan",
    "Policy",
    "Send",
    "ShedSettings",
    "Summarise",
    "materialise",
    "parse_policy",
    "resolve_lines",
]
