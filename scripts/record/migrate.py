"""The recurring piece of work of the stories: move one carrier adapter from dicts to events."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from . import demo_carriers as dc
from .steps import Call, Step, bash, edit, read, write

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .demo import Demo
    from .phrases import Voice


@dataclass
class Work:
    """What a story has done so far; the summaries are written from it."""

    demo: Demo
    voice: Voice
    goal: str
    rules: list[str]
    total: int
    done: list[str] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)
    nexts: list[str] = field(default_factory=list)

    def summary(self, prompt: str) -> str:
        """Write the summary that the CLI asks for."""
        if prompt.startswith("# Conversation"):
            return self._prefix()
        done = "\n".join(f"- [x] {item}" for item in self.facts[-18:]) or "- nothing finished yet"
        todo = "\n".join(f"{k}. {item}" for k, item in enumerate(self.nexts, 1)) or "1. wait for the user"
        rules = "\n".join(f"- {rule}" for rule in self.rules) or "- none stated"
        adapters = ", ".join(self.done) or "none"
        return (
            f"## Goal\n{self.goal}\n\n## Rules from the user\n{rules}\n\n## Done\n{done}\n\n"
            f"## State\nAdapters on `TrackingEvent`: {adapters} ({len(self.done)} of {self.total})."
            " Tests are run with"
            f" `python3 tools/run_tests.py`; the last run of every finished file passed.\n\n## Next\n{todo}"
        )

    def _prefix(self) -> str:
        done = "\n".join(f"- {item}" for item in self.facts[-14:]) or "- read the project"
        rules = "; ".join(self.rules)
        return (
            f"## Original Request\n{self.goal} Rules: {rules}.\n\n## Progress So Far\n{done}\n"
            f"- finished adapters ({len(self.done)} of {self.total}): {', '.join(self.done) or 'none'}\n\n"
            "## Context Needed to Continue\nEach adapter gets the same four replacements (import,"
            " `fetch_status`,"
            " `last_status`, `delays`); its tests move from keys to attributes and get five new"
            " cases. Tests run with"
            " `python3 tools/run_tests.py FILE`. The steps after this point are kept below."
        )


def adapter_edit(c: dc.Carrier) -> Call:
    """Return the edit that migrates an adapter."""
    return edit(
        c.path,
        (dc.OLD_IMPORT, dc.NEW_IMPORT),
        (dc.OLD_FETCH.format(**c.keys), dc.NEW_FETCH.format(**c.keys)),
        (dc.OLD_LAST, dc.NEW_LAST),
        (dc.OLD_DELAYS, dc.NEW_DELAYS),
    )


def test_edit(demo: Demo, c: dc.Carrier) -> Call:
    """Return the edit that moves a test file to attributes and adds cases."""
    text = demo.text(c.test)
    names = "test_fetch_status|test_exception_has_a_reason|test_unknown_code|test_history_is_sorted"
    pairs = []
    for block in re.findall(rf"^def (?:{names})\(\):\n(?:    .*\n)+", text, re.MULTILINE):
        fresh = re.sub(r'event\["(\w+)"\]', r"event.\1", block)
        pairs.append((block, fresh))
    last = f'def test_last_status():\n    assert {c.title}().last_status(SCANS) == "delivered"\n'
    return edit(c.test, *pairs, (last, last + new_cases(c)))


def doc_edit(c: dc.Carrier) -> Call:
    """Return the edit that describes the events on the carrier's page."""
    k = c.keys
    last = f"Heaviest parcel: {c.brackets[-1][0]} g (inclusive).\n"
    reasons = "\n".join(f"| `{code}` | {reason} |" for code, reason in c.reasons.items())
    added = (
        f"\n## Events\n\n`{c.title}.fetch_status(raw)` takes one raw scan and returns a `TrackingEvent`:\n\n"
        f"| field | from | if absent |\n|---|---|---|\n| carrier | the adapter's name | |\n"
        f"| reference | `{k['ref']}` | `None` |\n| status | `{k['code']}`, upper case, through"
        " `STATUS_CODES` | `unknown` |\n"
        f"| at | `{k['at']}` | `None` |\n| place | `{k['place']}` | `unknown` |\n"
        "| reason | `reason`, only for `exception` | `not given` |\n\nReasons:\n\n| code"
        f" | text |\n|---|---|\n{reasons}\n"
        f"\nEvents are immutable. `history(scans)` sorts by `{k['at']}`; `delays(scans)` keeps"
        " exception, held, returned.\n"
    )
    return edit(f"docs/carriers/{c.name}.md", (last, last + added))


def new_cases(c: dc.Carrier) -> str:
    """Return the added tests."""
    return (
        f"\n\ndef test_reason_only_on_exceptions():\n    events = {c.title}().history(SCANS)\n"
        "    assert [event.reason is not None for event in events] == [False, False, True, False]\n"
        f"\n\ndef test_delays_are_events():\n    (event,) = {c.title}().delays(SCANS)\n"
        '    assert (event.status, event.place, event.reference) == ("exception", "Leipzig", "P-1")\n'
        f"\n\ndef test_history_of_nothing():\n    adapter = {c.title}()\n    assert adapter.history([])"
        " == []\n"
        '    assert adapter.last_status([]) == "unknown"\n    assert adapter.delays([]) == []\n'
        f"\n\ndef test_final_events():\n    events = {c.title}().history(SCANS)\n"
        "    assert [event.final for event in events] == [False, False, False, True]\n"
        f"\n\ndef test_events_are_immutable():\n    event = {c.title}().fetch_status(SCANS[0])\n    try:\n"
        '        event.status = "delivered"\n    except AttributeError:\n        return\n'
        '    raise AssertionError("an event could be changed")\n'
    )


def run(*paths: str) -> Call:
    """Run test files."""
    return bash("python3 tools/run_tests.py " + " ".join(paths))


def migrate(work: Work, name: str) -> Iterator[Step]:
    """Migrate one adapter, with the usual detours."""
    c, voice = work.demo.carriers[name], work.voice
    slots = {"name": name, "path": c.path, **c.keys}
    grep = bash(f'grep -rn "{name}\\b" parcelhub tests/test_{name}.py docs --include=*.py --include=*.md')
    if voice.chance(0.7):
        yield Step(voice.say("open", **slots), (grep, read(c.path)))
    else:
        yield Step(voice.say("open", **slots), (grep,))
        yield Step(voice.say("read", **slots), (read(c.path),))
    yield Step(voice.say("edit", **slots), (adapter_edit(c),))
    if voice.chance(0.6):
        yield Step(voice.say("run", **slots), (run(c.test),))
    if c.bug and is_broken(work.demo, c):
        yield from fix_bug(work, c)
    yield Step(voice.say("expected", **slots), (read(c.test),))
    yield Step("", (test_edit(work.demo, c), doc_edit(c)))
    yield Step(voice.say("run", **slots), (bash(f"python3 tools/run_tests.py -v {c.test}"),))
    work.done.append(name)
    work.facts.append(f"`{c.path}` and `{c.test}` moved to `TrackingEvent`, tests pass")
    if voice.chance(0.3):
        green = voice.say("green", **slots, passed=14, done=len(work.done), total=work.total)
        yield Step(green, (bash(f"grep -n 'TrackingEvent' {c.path} && sed -n '/def history/,/def zone/p' {c.path}"),))


def is_broken(demo: Demo, c: dc.Carrier) -> bool:
    """Tell whether the adapter still has its pricing bug."""
    return (dc.WRONG_BRACKET if c.bug == "bracket" else dc.WRONG_FUEL) in demo.text(c.path)


def fix_bug(work: Work, c: dc.Carrier) -> Iterator[Step]:
    """Find an old pricing bug, compare with the documentation and fix it."""
    voice, bracket = work.voice, c.bug == "bracket"
    test = "test_bracket_limit_is_inclusive" if bracket else "test_quote"
    wrong, right = (dc.WRONG_BRACKET, dc.RIGHT_BRACKET) if bracket else (dc.WRONG_FUEL, dc.RIGHT_FUEL)
    yield Step(
        voice.say("bug", test=test),
        (read(f"docs/carriers/{c.name}.md"), bash(f"grep -rn '{right.strip()}' parcelhub/carriers | head -8")),
    )
    yield Step(voice.say("fix"), (edit(c.path, (wrong, right)),))
    yield Step("", (run(c.test),))
    kind = "inclusive weight limit" if bracket else "fuel rounding"
    work.facts.append(f"fixed an old pricing bug in `{c.path}` ({kind}); `{test}` now passes")


def progress_page(work: Work) -> Step:
    """Write the page that lists what was done."""
    rows = "\n".join(f"| {name} | `{work.demo.carriers[name].path}` | 5 new tests |" for name in work.done)
    text = (
        "# Tracking events\n\nAdapters return `parcelhub.core.events.TrackingEvent` instead of a dict.\n\n"
        f"| carrier | adapter | tests |\n|---|---|---|\n{rows}\n\n"
        "Rules kept: no file under `migrations/` is edited, public names stay, prices are"
        " integers in cents.\n"
    )
    said = work.voice.say("pause", list=", ".join(work.done[-8:]), done=len(work.done), total=work.total)
    return Step(said, (write("docs/tracking-events.md", text),))
