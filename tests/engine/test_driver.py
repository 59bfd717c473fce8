"""Driving a controller: summaries, retries, pauses."""

from __future__ import annotations

import anyio
import pytest
from tests.engine.build import assistant, call, facts, result, user

from leafscar.compaction import RetryPolicy, SummaryResponse
from leafscar.engine import Controller, Fallback, Policy, Send
from leafscar.engine.driver import drive, drive_async
from leafscar.engine.sizers import chars_sizer
from leafscar.errors import SummaryFailed

OK = SummaryResponse(texts=("S",))
BUSY = SummaryResponse(stop_reason="error", error_message="503 service unavailable")
KEY = SummaryResponse(stop_reason="error", error_message="invalid api key")
EMPTY = SummaryResponse(texts=("",))


def session(turns=9):
    """A path above T of the ``compaction`` policy."""
    path = [user()]
    for number in range(turns):
        path += [assistant(call(f"c{number}")), result(f"c{number}", 10_500)]
    return [{"type": "message", "id": f"e{n}", "message": message} for n, message in enumerate(path)]


def run(answers, *, policy="compaction", asynchronous=False, pruning=True, turns=9, **options):
    """Drive one request; gives what came of it, how often the model was asked, and the pauses in seconds."""
    known = facts(pruning_enabled=pruning)
    controller = Controller(policy=policy, facts=known, sizer=chars_sizer)
    queue, asked, pauses = list(answers), [], []

    def ask(request):
        asked.append(request)
        return queue.pop(0)

    async def ask_async(request):
        return ask(request)

    async def pause_async(seconds):
        pauses.append(seconds)

    async def main():
        return await drive_async(controller, outcome, ask_async, sleep=pause_async, **options)

    outcome = controller.before_request(session(turns))
    try:
        if asynchronous:
            found = anyio.run(main, backend="asyncio")
        else:
            found = drive(controller, outcome, ask, sleep=pauses.append, **options)
    except SummaryFailed as fault:
        found = fault.words
    kinds = [event.kind for event in controller.take_events()]
    return found, len(asked), pauses, kinds


CUTS_FIRST = Policy(name="cuts-first", sheds="batch", cuts="unless-shed", goal_fraction=0.01)
"""No move reaches its goal, so it asks for a cut, and sheds when that fails."""

CASES = {
    "no-cut": ([], {"turns": 2}),
    "first": ([OK], {}),
    "b7-transient": ([BUSY, OK], {}),
    "b7-persistent": ([BUSY, BUSY, BUSY], {"pruning": False}),
    "b7-bad-key": ([KEY], {"pruning": False}),
    "b7-no-retries": ([BUSY], {"pruning": False, "retries": RetryPolicy(enabled=False)}),
    "five-retries": ([BUSY] * 5 + [OK], {"retries": RetryPolicy(max_retries=5)}),
    "second-try": ([EMPTY, BUSY, OK], {}),
    "fallback": ([BUSY, BUSY, BUSY], {"policy": CUTS_FIRST}),
}


@pytest.mark.parametrize("case", CASES)
def test_both_drivers_do_the_same(case):
    """Awaiting changes nothing: same outcome, same questions, same pauses, same events."""
    answers, options = CASES[case]
    found, asked, pauses, kinds = run(answers, **options)
    other, *rest = run(answers, asynchronous=True, **options)
    assert rest == [asked, pauses, kinds]
    assert type(other) is type(found)
    assert getattr(other, "plan", other) == getattr(found, "plan", found)


@pytest.mark.parametrize(
    ("case", "asked", "pauses", "kind"),
    [
        ("no-cut", 0, [], Send),
        ("first", 1, [], Send),
        ("b7-transient", 2, [0.5], Send),
        ("b7-persistent", 3, [0.5, 1.0], str),
        ("b7-bad-key", 1, [], str),
        ("b7-no-retries", 1, [], str),
        ("five-retries", 6, [0.5, 1.0, 2.0, 4.0, 8.0], Send),
        ("second-try", 3, [0.5], Send),
        ("fallback", 3, [0.5, 1.0], Fallback),
    ],
)
def test_two_retries_with_doubling_pauses(case, asked, pauses, kind):
    """Passing trouble is tried twice more, a bad key never; a refused answer starts a count of its own."""
    answers, options = CASES[case]
    found, count, slept, _ = run(answers, **options)
    assert (count, slept, type(found)) == (asked, pauses, kind)


def test_the_words_of_a_failure_are_the_sources():
    """A persistent failure carries what the provider said."""
    assert run([KEY], pruning=False)[0] == "Turn prefix summarization failed: invalid api key"
