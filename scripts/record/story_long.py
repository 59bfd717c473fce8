"""One long autonomous turn: move many carrier adapters from dicts to events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .migrate import Work, migrate, progress_page, run
from .phrases import Voice
from .steps import Step, bash, read
from .story import Recipe, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .demo import Demo

COUNT = 26
BUGS = {"bluejay": "bracket", "deltapak": "bracket", "harbor": "bracket", "magpie": "fuel", "northstar": "bracket"}
PROMPT = (
    "Please move the carrier adapters from status dicts to `TrackingEvent` (parcelhub/core/events.py)."
    " Take the first"
    f" {COUNT} adapters in alphabetical order, one at a time: adapter, its tests, run"
    " the tests, next. Rules: never touch"
    " migrations/. Keep the public API stable (the names in parcelhub/api/__init__.py"
    " and the arguments of every adapter"
    " method). Prices stay integers in cents. If you find a bug on the way, fix it only"
    " when a test or a document proves"
    " it. Keep docs/tracking-events.md up to date, and do not stop to ask me, I am in"
    " meetings until the afternoon."
)


def story(work: Work) -> Iterator[Step]:
    """Yield the whole turn."""
    names = list(work.demo.carriers)[:COUNT]
    work.nexts = ["go on with the next adapter in alphabetical order", "run the whole suite", "report to the user"]
    yield Step(
        "I start with the rules of the project and the target type, then the callers, and only then the adapters.",
        (read("CONTRIBUTING.md"), read("parcelhub/core/events.py"), read("README.md")),
    )
    yield Step("", (bash("ls parcelhub/* && ls tests | wc -l"),))
    yield Step(
        "Who reads the result of `fetch_status`?",
        (bash('grep -rn "fetch_status\\|history(" parcelhub --include=*.py'),),
    )
    yield Step("A baseline of the tests before any change, so that old failures are not mine.", (run(),))
    work.facts.append("baseline run: 5 adapters have failing pricing tests that are older than this work")
    yield Step(
        "Five failures exist already, all in pricing tests (weight limits and fuel). I note"
        " them and come back to each one"
        " when I reach its adapter. The callers only pass events through, so the change is"
        " local to the adapters and"
        " their tests. Order of work: adapter, tests, run, next.",
        (bash("sed -n 1,40p tools/run_tests.py"),),
    )
    for position, name in enumerate(names, 1):
        yield from migrate(work, name)
        if position % 7 == 0:
            yield progress_page(work)
        if (position + 5) % 9 == 0:
            yield from look_at_logs(work, position)
        if position % 12 == 0:
            yield Step(work.voice.say("suite"), (run(),))
    yield from finish(work)


def look_at_logs(work: Work, position: int) -> Iterator[Step]:
    """Read one day's log, in full or filtered."""
    day = f"logs/app-2026-02-{position % 14 + 1:02d}.log"
    yield Step(work.voice.say("logs"), (bash(f'grep -c "" {day} && grep -n "ERROR\\|WARN" {day}'),))
    yield Step(work.voice.say("after_logs"), (bash(f'grep -o "schema mismatch" {day} | wc -l'),))
    work.facts.append(f"checked {day}: errors are spread over many carriers, no order of work follows from it")


def finish(work: Work) -> Iterator[Step]:
    """Run everything and report."""
    yield progress_page(work)
    yield Step(
        "Last check: the whole suite, and that nothing under `migrations/` changed.",
        (run(), bash("ls migrations | wc -l && cat migrations/*.sql | md5sum")),
    )
    listed = "\n".join(f"- `{name}`" for name in work.done)
    yield Step(
        f"All {len(work.done)} adapters return `TrackingEvent` now, and the whole suite passes.\n\n{listed}\n\n"
        "Five old pricing bugs were proven by tests and the carrier pages, and are fixed:"
        " four weight limits that were"
        " exclusive and one fuel surcharge that rounded down. `migrations/` is untouched"
        " and the public names are the"
        " same. The other ten adapters still return dicts; the callers accept both because"
        " they only pass events on.\n\n"
        "Two things I left alone: `label_lines` is the same in every adapter and could move"
        " to a base class, and the"
        " fixtures hold codes that no table knows."
    )


def recipe() -> Recipe:
    """Describe the recording."""

    def begin(demo: Demo) -> tuple[Work, list[Turn]]:
        rules = [
            "never touch migrations/",
            "keep the public API stable",
            "prices stay integers in cents",
            "fix a bug only when a test or a document proves it",
            "do not stop to ask",
        ]
        work = Work(demo, Voice(11), "Move the first adapters from status dicts to `TrackingEvent`.", rules, COUNT)
        return work, [Turn(PROMPT, story(work))]

    return Recipe("long-autonomous", "1.3.0", "claude-sonnet-4-5", 100_000, 1_772_529_120_000, 41, BUGS, begin)
