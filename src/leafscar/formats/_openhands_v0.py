"""Events of OpenHands before version 1: actions and observations that name their cause."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from leafscar.formats._cuts import Timeline
from leafscar.formats._json import as_arguments, as_json_text, fields_of
from leafscar.formats._openhands_usage import FORMAT, Metrics, key_of, litellm_usage, model_names
from leafscar.formats._pieces import (
    assistant_message,
    call_part,
    count,
    data_url,
    first_text,
    mappings,
    milliseconds,
    result_message,
    text_parts,
    thinking_part,
    without_nothing,
)
from leafscar.model.shapes import as_list, as_mapping, as_number, as_text

__all__ = ["EventsV0", "is_v0"]

_SILENT = ("recall", "change_agent_state", "agent_state_changed", "null", "condensation_request", "loop_recovery")
_RECALLED = ("repo_instructions", "additional_agent_instructions", "conversation_instructions")
_LONG_ID = 19
_STOPS = {"length": "length", "tool_calls": "toolUse"}


def is_v0(event: Mapping[str, Any]) -> bool:
    """Whether an event is an action or an observation of version 0."""
    return isinstance(event.get("action"), str) or isinstance(event.get("observation"), str)


class EventsV0:
    """Turns events into entries. Actions of one response are one message, their results follow it."""

    def __init__(self, timeline: Timeline, metrics: Metrics, events: Sequence[Mapping[str, Any]]) -> None:
        self.timeline = timeline
        self._metrics = metrics
        self.recalls = 0
        """Recalls whose words the file does not hold."""
        self._events = events
        self._batches: dict[str, list[Mapping[str, Any]]] = {}  # actions by response
        self._calls: dict[str, tuple[str, str]] = {}  # id and name of the call of an action
        self._commands: dict[str, str] = {}  # commands that the user ran
        self._used: set[str] = set()

    def read(self) -> None:
        """Read all events in order."""
        for event in self._events:
            if _is_call(event):
                self._batches.setdefault(_batch(event), []).append(event)
        for event in self._events:
            self._metrics.learn(fields_of(event.get("llm_metrics")))
        for event in self._events:
            self._event(event)

    def _event(self, event: Mapping[str, Any]) -> None:
        action, observation = as_text(event.get("action")), as_text(event.get("observation"))
        if action in _SILENT or observation in ("agent_state_changed", "null"):
            return
        match action:
            case "system":
                self._system(event)
            case "message":
                self._message(event)
            case "condensation":
                self._condensation(event)
            case None:
                self._observation(event, observation or "")
            case _:
                self._action(event, action)

    def _put(self, event: Mapping[str, Any], kind: str, fields: Mapping[str, Any], own: Iterable[str] = ()) -> None:
        key = key_of(event.get("id"))
        id_ = f"e{key or len(self.timeline.builder.entries)}"
        self.timeline.put(kind, fields, id_, as_text(event.get("timestamp")), own or (key,))

    def _system(self, event: Mapping[str, Any]) -> None:
        args = fields_of(event.get("args"))
        functions = [fields_of(tool.get("function")) for tool in mappings(args.get("tools"))]
        message = {
            "role": "system",
            "content": as_json_text(args.get("content", ""), FORMAT),
            **without_nothing(toolsAdded=functions or None, timestamp=milliseconds(event.get("timestamp"))),
        }
        self._put(event, "message", {"message": message})

    def _message(self, event: Mapping[str, Any]) -> None:
        args, when = fields_of(event.get("args")), milliseconds(event.get("timestamp"))
        pictures = [data_url(url) for url in as_list(args.get("image_urls")) or ()]
        content = [*text_parts(first_text(args.get("content"), event.get("message"))), *pictures]
        if event.get("source") == "user":
            message = {"role": "user", "content": content, **without_nothing(timestamp=when)}
        else:
            message = assistant_message(content, api="openai-completions", stop="stop", timestamp=when)
        self._put(event, "message", {"message": message})

    def _condensation(self, event: Mapping[str, Any]) -> None:
        args, key = fields_of(event.get("args")), key_of(event.get("id"))
        totals = fields_of(fields_of(event.get("llm_metrics")).get("accumulated_token_usage"))
        fields = {
            "summary": as_text(args.get("summary")) or "",
            **without_nothing(tokensBefore=count(totals.get("per_turn_token")) or None),
        }
        self.timeline.condense(self._forgotten(args), fields, f"e{key}", as_text(event.get("timestamp")))

    def _forgotten(self, args: Mapping[str, Any]) -> list[str]:
        start, end = as_number(args.get("forgotten_events_start_id")), as_number(args.get("forgotten_events_end_id"))
        named = [key_of(value) for value in as_list(args.get("forgotten_event_ids")) or ()]
        if start is None or end is None:
            return named
        known = (key for key in self.timeline.known_events() if key.isdecimal() and len(key) < _LONG_ID)
        return [*named, *(key for key in known if start <= int(key) <= end)]

    # --- what the agent did

    def _action(self, event: Mapping[str, Any], action: str) -> None:
        if event.get("source") == "user" and action == "run":
            self._commands[key_of(event.get("id"))] = as_text(fields_of(event.get("args")).get("command")) or ""
        elif not _is_call(event):
            self._put(event, "custom", {"customType": f"{FORMAT}.{action}"})
        elif batch := self._batches.pop(_batch(event), None):
            self._response(event, batch)

    def _response(self, event: Mapping[str, Any], batch: Sequence[Mapping[str, Any]]) -> None:
        response = _model_response(event)
        choice = fields_of(next(iter(mappings(response.get("choices"))), None))
        said = fields_of(choice.get("message"))
        calls = [self._call(action, said) for action in batch]
        thought = first_text(said.get("content"), fields_of(event.get("args")).get("thought"))
        reasoning = first_text(said.get("reasoning_content"))
        message = assistant_message(
            [*([thinking_part(reasoning)] if reasoning else ()), *text_parts(thought), *calls],
            api="openai-completions",
            stop=_STOPS.get(as_text(choice.get("finish_reason")) or "", "toolUse"),
            usage=litellm_usage(fields_of(response.get("usage"))) or self._metrics.usage_of(key_of(response.get("id"))),
            timestamp=milliseconds(event.get("timestamp")),
            **model_names(response.get("model")),
        )
        self._put(event, "message", {"message": message}, [key_of(action.get("id")) for action in batch])

    def _call(self, action: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
        """The call of an action; ids that were used before get the event's number behind them."""
        told = fields_of(action.get("tool_call_metadata"))
        key, stated = key_of(action.get("id")), as_text(told.get("tool_call_id"))
        made = next((call for call in mappings(said.get("tool_calls")) if stated and call.get("id") == stated), None)
        function = fields_of(fields_of(made).get("function"))
        name = first_text(told.get("function_name"), function.get("name"), action.get("action")) or ""
        id_ = stated if stated and stated not in self._used else f"{stated or 'event'}-{key}"
        self._used.add(id_)
        self._calls.setdefault(key, (id_, name))
        arguments = as_arguments(function["arguments"]) if "arguments" in function else _own_arguments(action)
        return call_part(id_, name, arguments)

    # --- what came back

    def _observation(self, event: Mapping[str, Any], kind: str) -> None:
        cause = key_of(event.get("cause"))
        if kind == "recall":
            self._recall(event)
        elif cause in self._commands:
            self._command(event, self._commands[cause])
        elif cause in self._calls:
            id_, name = self._calls[cause]
            failed = kind == "error" or event.get("success") is False
            when = milliseconds(event.get("timestamp"))
            message = result_message(id_, name, text_parts(_observed(event)), is_error=failed, timestamp=when)
            self._put(event, "message", {"message": message})
        elif text := _observed(event):
            fields = {"customType": f"{FORMAT}.{kind or 'event'}", "content": text, "display": False}
            self._put(event, "custom_message", fields)

    def _recall(self, event: Mapping[str, Any]) -> None:
        extras = fields_of(event.get("extras"))
        texts = [extras.get(name) for name in _RECALLED]
        texts += [item.get("content") for item in mappings(extras.get("microagent_knowledge"))]
        content = text_parts(*texts)
        self.recalls += 1
        if content:
            fields = {"customType": f"{FORMAT}.recall", "content": content, "display": False}
            self._put(event, "custom_message", fields)
        else:
            self._put(event, "custom", {"customType": f"{FORMAT}.recall"})

    def _command(self, event: Mapping[str, Any], command: str) -> None:
        code = as_number(fields_of(fields_of(event.get("extras")).get("metadata")).get("exit_code"))
        message = {
            "role": "bashExecution",
            "command": command,
            "output": as_json_text(event.get("content", ""), FORMAT),
            **without_nothing(exitCode=code, timestamp=milliseconds(event.get("timestamp"))),
        }
        self._put(event, "message", {"message": message})


def _is_call(event: Mapping[str, Any]) -> bool:
    """Whether an action was asked for by the model, as a tool."""
    action = as_text(event.get("action"))
    named = action is not None and action not in (*_SILENT, "system", "message", "condensation")
    return named and event.get("source", "agent") == "agent"


def _model_response(event: Mapping[str, Any]) -> Mapping[str, Any]:
    return fields_of(fields_of(event.get("tool_call_metadata")).get("model_response"))


def _batch(event: Mapping[str, Any]) -> str:
    """What the actions of one response share; an action without a response is alone."""
    response = key_of(_model_response(event).get("id"))
    return f"r{response}" if response else f"e{key_of(event.get('id'))}"


def _own_arguments(action: Mapping[str, Any]) -> Any:
    args = as_mapping(action.get("args"))
    return {} if args is None else {name: value for name, value in args.items() if name != "thought"}


def _observed(event: Mapping[str, Any]) -> str:
    """What the model read of an observation; a command's has words before and behind its output."""
    metadata = fields_of(fields_of(event.get("extras")).get("metadata"))
    text = as_json_text(event.get("content") or "", FORMAT)
    return (as_text(metadata.get("prefix")) or "") + text + (as_text(metadata.get("suffix")) or "")
