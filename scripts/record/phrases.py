"""Sentences of the scripted assistant, by situation. Slots are filled by the story."""

from __future__ import annotations

import random

POOLS: dict[str, tuple[str, ...]] = {
    "open": (
        "Next is `{name}`. I want to see every use of the dict before I touch the adapter.",
        "Moving on to {name}.",
        "{name} now: where are its events read?",
        (
            "On to `{name}`. The pattern should be the same, but I check the key names first"
            " because each carrier uses its own."
        ),
        "Let me look at who depends on the {name} adapter.",
        "`{name}` is next on the list.",
    ),
    "read": (
        "Reading the adapter.",
        "I need the exact text for the edit, so I read the whole file.",
        "Let me see the module; the tables on top tell me which codes map to `exception`.",
        "Opening {path}.",
        "The grep shows only local uses. Reading the file to see the shape of the result.",
        "",
    ),
    "edit": (
        (
            "Same three places as before: the import, `fetch_status`, and the two readers below"
            " it. The pricing half of the"
            " file stays as it is."
        ),
        (
            "`fetch_status` builds the dict in two steps because of the reason. With the dataclass"
            " the reason becomes a plain"
            " argument that is `None` unless the status is `exception`, so the result no longer"
            " changes after it was made."
        ),
        "Replacing the dict with a `TrackingEvent`. The raw keys here are `{code}` and `{at}`, I keep them.",
        (
            "Now the change itself. I leave `history` alone: it only sorts raw scans and passes"
            " them on, so it returns events"
            " without any edit. `last_status` and `delays` index the dict and need attribute access."
        ),
        "Editing {path}.",
        "The adapter has no surprises. One edit call with separate replacements keeps the diff small.",
    ),
    "run": (
        "Running its tests.",
        "The tests still index the dict, so I expect failures here; I want to see which ones.",
        "Check.",
        "Let me run the file before I change the tests, to be sure the failures are only about indexing.",
        "",
        "Now the tests of {name}.",
    ),
    "expected": (
        (
            "As expected: `TypeError: 'TrackingEvent' object is not subscriptable` in the four"
            " tests that index the event, all"
            " others pass. The tests encode the old shape, so they change together with the adapter."
            " I also add one for the"
            " reason being absent, which the dict version could not express."
        ),
        (
            "Only the subscript failures. I move those assertions to attributes and add a case"
            " that the event is immutable."
        ),
        (
            'The failures are the old `["..."]` reads in the tests. Updating them, and adding'
            " a test for `final`, because"
            " jobs will use it once all carriers are done."
        ),
        "Nothing unexpected. The assertions move from keys to attributes one to one.",
    ),
    "bug": (
        (
            "One failure is not about the events: `{test}`. It fails before my change too, so"
            " this is an old bug in the"
            " pricing half. The documentation page says the limit is inclusive and that fuel"
            " rounds half up; let me compare."
        ),
        (
            "`{test}` fails for another reason. I did not touch pricing, so this was broken already."
            " I check the carrier's"
            " page before deciding who is right, the test or the code."
        ),
    ),
    "fix": (
        (
            "The page agrees with the test, so the code is wrong. The neighbouring adapters do"
            " it the way the test expects."
            " This is a one line fix and it needs no float."
        ),
        "The test is right: every other adapter has it that way and the page says so. Fixing the line.",
    ),
    "green": (
        "All green.",
        "{name} is done: {passed} passed.",
        "Passing. {done} of {total} adapters migrated.",
        "Good.",
        "That settles {name}; the public names are unchanged, `fetch_status` still takes one raw scan.",
    ),
    "pause": (
        (
            "A short stop before I go on. Done so far: {list}. What I keep to: nothing under"
            " `migrations/` is edited, the"
            " names in `parcelhub/api/__init__.py` stay, prices stay integers. Two things I noticed"
            " on the way and did not"
            " change: the fixtures contain codes that no table knows (they become `unknown`,"
            " which the tests accept), and"
            " `label_lines` repeats in every adapter. The second would be a good base class,"
            " but it is outside this task."
        ),
        (
            "Status: {done} of {total}. The remaining adapters follow the same pattern, so the"
            " risk is in the callers. I look"
            " at the callers in `jobs/` and `api/` again once the last adapter is through, because"
            " a caller that handles two"
            " carriers would see both shapes until then. Nothing in `migrations/` was touched."
        ),
        (
            "{done} adapters are through. I keep a list in `docs/tracking-events.md` so that"
            " a reviewer can follow what"
            " changed where, instead of reading that many nearly equal diffs. Next I take the"
            " ones whose tests I have not"
            " opened yet."
        ),
    ),
    "suite": (
        "Time for the whole suite, to see that no other file depended on the dict.",
        "Full run.",
        "Let me run everything once with names, so that I can compare with the list above.",
    ),
    "logs": (
        "Before I go on I want to know which of the remaining carriers fail in production, to take those first.",
        "The retry numbers in the log would tell me whether the `exception` path is really used. Looking at one day.",
        "Checking how often the carriers report schema mismatches; that is where a wrong key name would show.",
    ),
    "after_logs": (
        (
            "Mostly timeouts and 502s; the schema mismatches are spread over many carriers and"
            " none of them stands out, so the"
            " order of the list does not matter. I go on alphabetically."
        ),
        (
            "No carrier stands out. The warnings come from the retry job's backlog and have nothing"
            " to do with the shape of"
            " events."
        ),
    ),
}


class Voice:
    """Picks sentences from the pools without saying the same twice in a row."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311
        self.last: dict[str, str] = {}

    def say(self, kind: str, **slots: object) -> str:
        """Return one sentence of a pool."""
        choices = [text for text in POOLS[kind] if text != self.last.get(kind)]
        text = self.random.choice(choices)
        self.last[kind] = text
        return text.format(**slots)

    def chance(self, share: float) -> bool:
        """Tell whether something happens."""
        return self.random.random() < share
