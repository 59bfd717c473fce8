"""Random sessions: scripts of steps that a host plays."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from tests.engine.build import Host, call, execution, facts, result, text, user

SIZES = st.sampled_from([10, 120, 320, 700, 1100, 1800, 3200])
TOOLS = st.sampled_from(["read", "bash", "edit", "other"])
PATHS = st.sampled_from(["a.py", "b.py"])
CANARY = "CANARY"

_use = st.fixed_dictionaries(
    {
        "name": TOOLS,
        "path": PATHS,
        "tokens": SIZES,
        "part": st.booleans(),
        "error": st.sampled_from([False, False, False, True]),
        "images": st.sampled_from([0, 0, 0, 1]),
        "answered": st.sampled_from([True, True, True, True, False]),
    }
)
_step = st.one_of(
    st.tuples(st.just("tools"), st.lists(_use, min_size=1, max_size=3)),
    st.tuples(st.just("tools"), st.lists(_use, min_size=1, max_size=2)),
    st.tuples(st.just("user"), SIZES),
    st.tuples(st.just("say"), SIZES),
    st.tuples(st.just("bash"), SIZES),
    st.tuples(st.just("fail"), st.sampled_from(["error", "aborted"])),
    st.tuples(st.just("idle"), st.just(400)),
    st.tuples(st.just("note"), st.just(0)),
)

_stray = st.one_of(
    st.tuples(st.just("rewind"), st.integers(1, 9)),
    st.tuples(st.just("rewind"), st.integers(1, 30)),
    st.tuples(st.just("late"), SIZES),
    st.tuples(st.just("orphan"), SIZES),
    st.tuples(st.just("again"), SIZES),
    st.tuples(st.just("half"), st.tuples(st.sampled_from(["error", "aborted"]), SIZES)),
)
_odd = st.one_of(
    st.tuples(st.just("restore"), st.just(0)),
    st.tuples(st.just("custom"), SIZES),
    st.tuples(st.just("picture"), SIZES),
    st.tuples(st.just("branch"), SIZES),
    st.tuples(st.just("edit"), st.tuples(st.integers(1, 30), st.sampled_from([None, 10, 1800]))),
)
odd = st.lists(st.one_of(_step, _step, _stray, _odd), min_size=6, max_size=36)
"""What hosts put on a path beside messages, on branches, and states that are written down and read again."""
branched = st.lists(st.one_of(_step, _step, _stray), min_size=6, max_size=36)
scripts = st.lists(_step, min_size=4, max_size=26)
SMALL = {"window": 16_000, "reserve_tokens": 2_000}


def small_host(policy: str, **given: Any) -> Host:
    """A host on a window that a few dozen steps fill."""
    given.setdefault("facts", facts(**SMALL))
    return Host(policy, **given)


def play(host: Host, script: list[Any], check: Any = lambda host: None) -> None:
    """Play a script; ``check`` is called after each request, before its response."""

    def request() -> None:
        host.clock += 1
        host.request(now=host.clock)
        check(host)

    host.add(user(20))
    for kind, detail in script:
        match kind:
            case "tools":
                request()
                _use_tools(host, detail)
            case "user":
                host.add(user(detail))
            case "say":
                request()
                host.respond("CANARY " * detail)
            case "bash":
                host.add(execution(detail, excludeFromContext=detail == 700))
            case "fail":
                request()
                host.respond(f"{CANARY} half", call(f"x{len(host.path)}", "other"), stop=detail)
            case "idle":
                host.clock += detail
            case "note":
                host.append({"type": "label", "targetId": "e1", "label": f"{CANARY}"})
            case _:
                _go_astray(host, kind, detail, request)
    request()
    host.respond("done")


def _go_astray(host: Host, kind: str, detail: Any, request: Any) -> None:
    """What a host should not do, or what goes wrong under it."""
    match kind:
        case "rewind":
            host.rewind(max(1, len(host.path) - detail))
        case "half":
            stop, size = detail
            id_ = f"h{host.added}"
            request()
            host.respond(call(id_, "other"), stop=stop)
            host.add(result(id_, size, "other"))
        case "orphan":
            host.add(result(f"o{host.added}", detail, "other"))
        case "restore":
            host.restore()
        case "custom" | "picture" | "branch" | "edit":
            host.append(_odd_entry(host, kind, detail))
        case _:
            _answer_once_more(host, detail, answered=kind == "again")


def _odd_entry(host: Host, kind: str, detail: Any) -> dict[str, Any]:
    """An entry that is no plain message."""
    match kind:
        case "custom":
            return {"type": "custom_message", "customType": "x", "content": text(detail), "display": True}
        case "branch":
            return {"type": "branch_summary", "fromId": "e1", "summary": text(detail)}
        case "picture":
            message = user(detail)
            message["content"].append({"type": "image", "data": "pic", "mimeType": "image/png"})
            return {"type": "message", "message": message}
        case _:
            back, size = detail
            replacement = None if size is None else {"content": text(size)}
            target = host.path[-min(back, len(host.path))]["id"]
            return {"type": "context_edit", "targetId": target, "replacement": replacement}


def _answer_once_more(host: Host, size: int, *, answered: bool) -> None:
    """Answer a call that has its answer already, or one that never had any."""
    messages = [entry.get("message", {}) for entry in host.path]
    calls = [part["id"] for m in messages if m.get("role") == "assistant" for part in m["content"] if "name" in part]
    done = {m["toolCallId"] for m in messages if m.get("role") == "toolResult"}
    open_ = [id_ for id_ in calls if (id_ in done) == answered]
    if open_:
        host.add(result(open_[-1], size, "other"))


def _use_tools(host: Host, uses: list[Any]) -> None:
    at = len(host.path)
    calls = [(f"c{at}-{number}", use) for number, use in enumerate(uses)]
    thought = {"type": "thinking", "thinking": f"{CANARY} hm", "thinkingSignature": "s"}
    host.respond(thought, f"{CANARY} look", *(call(id_, use["name"], **_arguments(use)) for id_, use in calls))
    for id_, use in calls:
        if use["answered"]:
            host.add(result(id_, use["tokens"], use["name"], images=use["images"], error=use["error"]))


def _arguments(use: Any) -> dict[str, Any]:
    if use["name"] == "bash":
        return {"command": f"make {CANARY}"}
    part = {"offset": 3} if use["part"] else {}
    return {"path": f"{CANARY}/{use['path']}", **part}
