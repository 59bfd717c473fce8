"""``leafscar context``: the next request as control sees it (docs/cli.md)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from leafscar.cli.context_view import context_data, context_lines
from leafscar.cli.control import Control, control_of
from leafscar.cli.options import window_option
from leafscar.cli.show import say
from leafscar.engine import Send, Summarise, materialise
from leafscar.errors import BadReference, ContextOverflow
from leafscar.model.shapes import as_list, as_mapping
from leafscar.pruning import parse_reference
from leafscar.session import Session, load
from leafscar.session.recall import find

__all__ = ["context_command"]


@click.command("context")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--at", metavar="ENTRY", help="Look from this entry (id or #LINE) instead of the newest one.")
@click.option("--as-sent", is_flag=True, help="Print the outgoing messages, with their markers.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@window_option
@click.option("--model", metavar="NAME", help="Take the window of this model instead of the recorded one.")
@click.option("--policy", metavar="NAME", help="Policy to look with, instead of the settings' one.")
@click.option("--cwd", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Folder of the settings.")
def context_command(
    file: Path,
    at: str | None,
    *,
    as_sent: bool,
    as_json: bool,
    window: int | None,
    model: str | None,
    policy: str | None,
    cwd: Path | None,
) -> None:
    """Show the next request of the session FILE as control sees it; nothing is sent or written.

    The estimate and what it rests on, the lines, what would happen and why, what could be shed with its size and
    reference, pins, and what is unknown.
    """
    session = load(file)
    control = control_of(session, leaf=_leaf(session, at), cwd=cwd, window=window, model=model, policy=policy)
    for problem in control.settings.problems:
        say(problem, err=True)
    if as_sent:
        _print_sent(control, as_json=as_json)
    elif as_json:
        click.echo(json.dumps(context_data(control), indent=2, ensure_ascii=True))
    else:
        for line in context_lines(context_data(control)):
            say(line)


def _leaf(session: Session, at: str | None) -> str | None:
    if at is None:
        return None
    try:
        reference = parse_reference(at)
        entry = find(session, reference)
    except BadReference as fault:
        words = str(fault).removeprefix("recall: ")
        raise BadReference(f"--at: {words}", reference=at, kind=fault.kind) from fault
    if reference.full:
        raise BadReference(f"--at {at}: an entry has no :full; leave it out", reference=at, kind="bad-reference")
    return entry.id


def _print_sent(control: Control, *, as_json: bool) -> None:
    messages = _sent(control)
    if as_json:
        click.echo(json.dumps(messages, indent=2, ensure_ascii=True))
        return
    for number, message in enumerate(messages, 1):
        label = " ".join(str(message[key]) for key in ("role", "toolName", "customType") if key in message)
        say(f"--- {number} {label}")
        say(_text(message))


def _sent(control: Control) -> list[dict[str, Any]]:
    controller = control.controller
    try:
        outcome = controller.before_request(control.path)
    except ContextOverflow as fault:
        say(f"leafscar: {fault}", err=True)
        outcome = Send(plan=controller.plan())
    if isinstance(outcome, Summarise):
        say(f"control would cut first ({outcome.reason}); below is the request before the cut", err=True)
        outcome = Send(plan=controller.plan())
    return materialise(controller.items, outcome.plan)


def _text(message: dict[str, Any]) -> str:
    """A message's text for reading: parts one below the other, calls and images named."""
    if (sections := as_mapping(message.get("sections"))) is not None:
        return "\n".join(str(each) for each in (message.get("content"), *sections.values()) if each)
    for key in ("output", "summary", "content"):
        if isinstance(value := message.get(key), str):
            return f"$ {message['command']}\n{value}" if "command" in message else value
    content = message.get("content") or ()
    parts = as_list(content)
    return _odd(content) if parts is None else "\n".join(map(_part, parts))


def _part(value: object) -> str:
    part = as_mapping(value)
    if part is None:
        return _odd(value)
    match part.get("type"):
        case "text":
            return str(part.get("text", ""))
        case "thinking":
            return f"(thinking) {part.get('thinking', '')}"
        case "toolCall":
            return f"(call {part.get('id')}) {part.get('name')} {json.dumps(part.get('arguments'), ensure_ascii=False)}"
        case kind:
            return f"({kind} {part.get('mimeType', '')})"


def _odd(value: object) -> str:
    return f"(not in pi's shape) {json.dumps(value, ensure_ascii=False)}"
