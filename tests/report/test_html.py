"""The whole page."""

from __future__ import annotations

import base64
import hashlib
import re

import pytest
from tests.report.pages import Page
from tests.report.samples import (
    LINES,
    RESULTS,
    a_cut,
    a_held,
    a_long_session,
    a_moment,
    a_money,
    a_policy,
    a_result,
    a_session,
    a_share,
    an_output,
)

from leafscar.replay.details import EqualCuts
from leafscar.replay.result import Assumption
from leafscar.report import render_html

HOSTILE = "</svg></style><script>alert('x')</script><img src=x onerror=y>\x1b\ud800"


@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)
def test_every_page_is_sound(result):
    """Elements are nested and closed, ids unique, references resolve, and no float of the machine shows."""
    text = render_html(result)
    page = Page(text)
    assert (page.faults, page.open) == ([], [])
    ids = [have["id"] for _, have in page.found if "id" in have]
    assert len(ids) == len(set(ids))
    used = {have["href"][1:] for _, have in page.found if have.get("href", "").startswith("#")}
    labels = {one for _, have in page.found for one in have.get("aria-labelledby", "").split()}
    assert used | labels <= set(ids)
    assert not re.search(r"\b(nan|inf|None)\b", page.text.partition("}\n")[2] or page.text)
    text.encode()


@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)
def test_nothing_is_fetched(result):
    """The page holds no address, no source and no import, one script that its policy knows by digest, and no other."""
    text = render_html(result)
    assert not re.search(r"https?://|\bsrc=|@import|url\(|\bon\w+=", text)
    [policy] = Page(text).all("meta", **{"http-equiv": "Content-Security-Policy"})
    assert policy["content"].startswith("default-src 'none'")
    [script] = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in policy["content"]
    assert text.count("<script") == 1


def test_the_verdict_is_the_headline():
    """The result stands first, in the one first-level heading; the title names what was replayed."""
    text = render_html(RESULTS["one request"])
    assert re.findall(r"<h1>(.*?)</h1>", text) == ["balanced would have saved $0.50 of $2.00."]
    assert "<title>leafscar replay: sessions/one.jsonl, 1 request, 2 policies</title>" in text
    assert '<html lang="en">' in text
    assert "<h1>Nothing was replayed.</h1>" in render_html(RESULTS["nothing"])
    assert "<title>leafscar replay: no session</title>" in render_html(RESULTS["nothing"])
    assert "1 request, 1 policy" in render_html(a_result(a_session([a_policy()])))


def test_several_sessions_have_a_total_and_links():
    """The total stands before the sessions, and every session can be reached."""
    text = render_html(RESULTS["several"])
    page = Page(text)
    assert [have["href"] for have in page.all("a")] == ["#session-1", "#session-2", "#session-3"]
    assert text.index("Sums over 2 of 3 sessions") < text.index('id="session-1"')
    assert "Sums over" not in render_html(RESULTS["different baselines"])
    assert "All sessions" not in render_html(RESULTS["one request"])


def test_foreign_text_cannot_act():
    """Paths, ids, models, notes and every other text from outside stays text."""
    policy = a_policy(HOSTILE, notes=[HOSTILE], lines={HOSTILE: 5_000.0}, cuts=[a_cut(reason=HOSTILE)],
                      moments=[a_moment(break_cause=HOSTILE, entry_id=HOSTILE)])  # fmt: skip
    session = a_session(
        [policy], path=HOSTILE, session_id=HOSTILE, model=HOSTILE, provider=HOSTILE, window_source=HOSTILE,
        baseline=HOSTILE, problems=[HOSTILE], not_helped=[HOSTILE], verdict=HOSTILE,
        assumptions=[Assumption(name=HOSTILE, value=HOSTILE, source=HOSTILE)], held=a_held(binds=True, way=HOSTILE),
        money=a_money(shares=[a_share(tool=HOSTILE)], outputs=[an_output(HOSTILE, tool=HOSTILE, path=HOSTILE)]),
        equal_cuts=[EqualCuts(policy=HOSTILE, cuts=1, cost=1.0, units=1.0)],
    )  # fmt: skip
    result = a_result(session, session, verdict=HOSTILE, skipped=[HOSTILE], version=HOSTILE)
    page = Page(render_html(result, command=HOSTILE))
    assert [tag for tag, _ in page.found if tag in ("script", "img")] == ["script"]
    assert (page.faults, page.open) == ([], [])
    assert "\x1b" not in page.text


def test_skipped_files_and_the_way_to_make_it_again():
    """The end of the page names what was left out, the version, and a command."""
    text = render_html(RESULTS["nothing"])
    assert "1 skipped file" in text
    assert "a.txt: not a session" in text
    assert "leafscar 0.1.0" in text
    assert "<code>leafscar replay FILE-OR-FOLDER... --html report.html</code>" in text
    assert "skipped" not in render_html(RESULTS["one request"])
    odd = render_html(a_result(a_session(path="my file.jsonl")))
    assert "leafscar replay &#x27;my file.jsonl&#x27; --html report.html" in odd
    assert "replay FILE-OR-FOLDER... --html" in render_html(a_result(*[a_session()] * 6))
    assert "<code>leafscar replay . --window 9</code>" in render_html(
        a_result(), command="leafscar replay . --window 9"
    )


def test_a_long_session_stays_light():
    """Eight policies over 1,600 requests weigh less than 1.5 MB, and their peaks and marks are all there."""
    session = a_long_session(1_600)
    text = render_html(a_result(session))
    assert len(text) < 1_500_000
    page = Page(text)
    assert page.counts("moves") == [policy.moves for policy in session.policies]
    assert page.counts("breaks") == [policy.breaks for policy in session.policies]
    assert [len(page.all("path", **{"class": "mark"}))] == [sum(len(policy.cuts) for policy in session.policies) + 1]
    assert all(name in page.text for name in LINES)


def test_the_worst_session_stays_light():
    """Even when every request moves, breaks the cache and is twice as long, the page stays under 1.5 MB."""
    moments = [a_moment(at, context=1e4 + at * 7919 % 9e4, shed=1, break_cause="shape") for at in range(1, 3_201)]
    policies = [a_policy(name, moments=moments) for name in LINES]
    assert len(render_html(a_result(a_session(policies, requests=3_200)))) < 1_500_000
