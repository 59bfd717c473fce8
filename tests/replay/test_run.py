from __future__ import annotations

import json
import os
import re
from pathlib import Path

import msgspec
import pytest
from tests.replay.sessions import Story, autonomous, interactive, text_of
from tests.session.opencode import database

from leafscar.config import CompactionSection, NeverPrune, OwnSection, PruningSection, Settings
from leafscar.errors import SessionError, WindowUnknown
from leafscar.replay import DEFAULT_POLICIES, Options, ReplayResult, find_sessions, replay_files, replay_session, run
from leafscar.report import render_html
from leafscar.session import load

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.jsonl"))
SHARED = Path(__file__).parents[3] / "shared" / "data"
RECORDED = sorted([*SHARED.glob("recorded/pi/*.jsonl"), *SHARED.glob("pi-recorded/*.jsonl")] if SHARED.is_dir() else [])


def replayed(story, **options):
    """Replay a story in memory."""
    return replay_session(story.memory(), Options(**{"window": 60_000, **options}))


def assumptions(result):
    """What a result rests on, by name."""
    return {each.name: (each.value, each.source) for each in result.assumptions}


def by_name(result):
    """Rows by policy."""
    return {each.policy: each for each in result.policies}


def check(result):
    """What holds for every session and every policy."""
    assert all(len(each.moments) == result.requests for each in result.policies)
    for policy in result.policies:
        booked = [moment.cost for moment in policy.moments]
        if policy.cost is not None and not any(cut.request > result.requests for cut in policy.cuts):
            assert policy.cost == pytest.approx(sum(booked))
        if policy.saving is not None:
            assert abs(1 - policy.ratio) > max(result.error, 0.01)
        if not policy.recorded:
            assert policy.units > 0
            assert all(moment.context is not None for moment in policy.moments)
    assert result.verdict
    assert msgspec.json.decode(msgspec.json.encode(result))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples(path):
    """The shipped recordings replay, and the cache model gives their bills back within 3 %."""
    result = replay_session(load(path), Options())
    check(result)
    assert [each.policy for each in result.policies] == list(DEFAULT_POLICIES)
    assert result.error < 0.03
    prompts = [moment.context for moment in by_name(result)["none"].moments]
    first = by_name(result)["none"].cuts[0].request - 1
    inferred = [moment.context for moment in by_name(result)["none:never-cut"].moments]
    assert inferred[:first] == pytest.approx(prompts[:first], rel=0.05)


def test_the_compaction_row_cuts_where_pi_did():
    """The virtual cut stands at the recorded place: like the controller, pi 1.3.0 checks before each request."""
    path = next(path for path in EXAMPLES if path.stem == "long-autonomous")
    rows = by_name(replay_session(load(path), Options()))
    recorded, virtual = rows["none"].cuts[0], rows["compaction"].cuts[0]
    assert virtual.request == recorded.request
    assert virtual.before == pytest.approx(recorded.before, rel=0.01)
    assert virtual.after == pytest.approx(recorded.after, rel=0.05)
    assert virtual.summariser_input == pytest.approx(recorded.summariser_input, rel=0.1)
    assert virtual.cost == pytest.approx(recorded.cost, rel=0.15)


@pytest.mark.slow
@pytest.mark.skipif(not RECORDED, reason="the recordings of real sessions are not here")
@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_recorded_sessions(path):
    """Every recorded pi session replays, or is skipped with the reason that it holds no request."""
    result = replay_files([path], Options(window=400_000), "1")
    assert len(result.sessions) + len(result.skipped) == 1
    if result.skipped:
        assert "holds no request to replay" in result.skipped[0]
    for session in result.sessions:
        check(session)


@pytest.mark.parametrize(
    "story",
    [
        Story().user("hello").reply(),
        Story().user("hello").reply(usage=None),
        Story().user("hello").reply(usage={"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}),
        Story().user("hello").reply(stop="aborted"),
        Story(model="llama-local", provider="ollama").user("hello").calls(3).reply(),
        Story().user("hello").reply().user(text_of(90_000)).reply(),
        interactive(4, pause=400, k=1.4),
        autonomous(50),
    ],
    ids=["one", "no-usage", "zero-usage", "aborted", "no-price", "huge", "cold", "long"],
)
def test_all_kinds_of_sessions(story):
    """Sessions of one request, without usage, prices or room replay all the same."""
    check(replayed(story))


def test_unknown_stays_unknown():
    """A session without usage has no recorded bill, size or error, and no saving is told."""
    result = replayed(autonomous(40, model="llama", provider="ollama"))
    blind = Story(model="llama", provider="ollama").user("start")
    for _ in range(40):
        blind.call(text_of(1_500), usage=None)
    result = replayed(blind)
    recorded = by_name(result)["none"]
    assert (recorded.cost, recorded.units, recorded.peak, recorded.hit_ratio) == (None,) * 4
    assert result.error is None
    assert {each.saving for each in result.policies} == {None}
    assert "this recording cannot check" in result.verdict
    assert assumptions(result)["system prompt and tools"] == ("unknown, counted as 0", "assumed")
    assert assumptions(result)["size of a message"] == ("characters / 4: there is no reading to check it", "assumed")


@pytest.mark.parametrize(("calls", "checked"), [(4, False), (5, True)])
def test_few_requests_check_nothing(calls, checked):
    """Where the sizes come from the very readings that would check them, the model's error is unknown."""
    story = Story().user("start")
    for _ in range(calls):
        story.call(text_of(1_500))
    assert (replayed(story).error is not None) is checked


@pytest.mark.parametrize(("settings", "source"), [({}, "assumed"), ({"reserve_tokens": 9_000}, "settings")])
def test_the_reserve_is_told(settings, source):
    """What is kept free below the window is listed, whether stated or assumed."""
    result = replayed(
        autonomous(8), settings=stated(compaction=CompactionSection(**settings)) if settings else Settings()
    )
    value, said = assumptions(result)["reserve"]
    assert said == source
    assert value.startswith("9,000 tokens" if settings else "16,384 tokens")


def test_without_prices_units_are_compared():
    """Where no price is known costs are None, and ratios are those of the units."""
    result = replayed(autonomous(45, model="llama", provider="ollama"))
    rows = by_name(result)
    assert {each.cost for each in result.policies} == {None}
    assert {each.saving for each in result.policies} == {None}
    assert rows["balanced"].ratio == pytest.approx(rows["balanced"].units / rows["none:never-cut"].units)
    assert assumptions(result)["prices"] == ("unknown; bills are input-token equivalents, output counted 5x", "assumed")
    assert assumptions(result)["the session under the cache model"][0] == "unknown"


def test_assumptions_name_their_source():
    """Everything that the numbers rest on is listed with its source."""
    result = replayed(autonomous(20))
    known = assumptions(result)
    assert known["window"] == ("60,000 tokens", "flag")
    assert known["system prompt and tools"] == ("3,000 tokens", "measured")
    assert known["size of a message"] == ("characters / 4 x 1.00, corrected between 21 readings", "measured")
    assert known["prices"][0].startswith(
        "input $3, output $15, read $0.3, write $3.75 per million tokens (genai-prices"
    )
    assert known["cache model"][0].startswith("anthropic: ")
    assert known["virtual summary"] == ("1,500 tokens a call, its input uncached", "assumed")
    assert known["behaviour"][1] == "assumed"
    assert "models" not in known


def test_what_cannot_be_explained_is_counted():
    """Readings that moved for no visible reason are named, and so is a system prompt among the messages."""
    story = Story(overhead=0)
    story.message("system", content="", sections={"preamble": "You help. " * 400})
    story.user("start").call(text_of(800), usage={"input": 700, "output": 20})
    story.reply(usage={"input": 40_000, "output": 20})
    known = assumptions(replayed(story))
    assert known["system prompt and tools"] == ("nothing beyond the recorded messages", "measured")
    assert known["size of a message"][0].endswith("1 of them moved for reasons that the recording does not show")


def test_a_virtual_summary_is_as_long_as_recorded_ones():
    """With recorded summaries their median length is assumed."""
    story = autonomous(20)
    story.cut(story.entries[-5]["id"], summary="x" * 4_000).user().reply()
    value, source = assumptions(replayed(story, window=200_000))["virtual summary"]
    assert value.startswith("1,0")
    assert source == "recorded"


def test_the_baseline_needs_no_row():
    """Ratios and the cuts that were made are the same whether or not the recorded row is asked for."""
    story = autonomous(30)
    story.cut(story.entries[-5]["id"]).user().calls(3).reply()
    whole, alone = replayed(story), replayed(story, policies=("balanced",))
    assert [each.policy for each in alone.policies] == ["balanced"]
    assert by_name(alone)["balanced"] == by_name(whole)["balanced"]
    assert alone.verdict == whole.verdict
    assert whole.cuts == alone.cuts == 1


def test_another_model_is_a_what_if():
    """With another model the recorded row stays as it was, the rest is priced anew, and the error is still honest."""
    story = autonomous(45)
    own, other = replayed(story), replayed(story, model="claude-opus-4-5")
    assert by_name(other)["none"].cost == by_name(own)["none"].cost
    assert by_name(other)["none"].notes == [
        "the bill of claude-sonnet-4-5 as it was; the other rows are priced as claude-opus-4-5"
    ]
    assert other.error == pytest.approx(own.error)
    mine, theirs = by_name(own)["none:never-cut"], by_name(other)["none:never-cut"]
    assert theirs.cost == pytest.approx(mine.cost * 5 / 3, rel=0.05)
    assert theirs.ratio == pytest.approx(1)


def test_several_models_are_said():
    """A session of two models is priced by both and says so."""
    story = Story().user("start").calls(5)
    story.model = "claude-opus-4-5"
    result = replayed(story.calls(5).reply())
    check(result)
    assert result.error < 0.05
    text, source = assumptions(result)["models"]
    assert text == "2, each at its own prices; window and the cache model below are those of claude-opus-4-5"
    assert source == "recorded"


def stated(**sections):
    """Settings of which a file states every value that is given."""
    keys = {f"compaction.{key}": "project" for key in ("reserveTokens", "keepRecentTokens")}
    return Settings(sources=keys if "compaction" in sections else {}, **sections)


def test_settings_reach_the_policies():
    """A reserve, a cap and what may be shed change what the policies do."""
    story = autonomous(45)
    usual = by_name(replayed(story))
    reserved = by_name(replayed(story, settings=stated(compaction=CompactionSection(reserve_tokens=30_000))))
    assert reserved["compaction"].lines["threshold"] == 30_000 < usual["compaction"].lines["threshold"]
    capped = by_name(replayed(story, settings=stated(leafscar=OwnSection(window_cap=40_000))))
    assert capped["balanced"].peak < usual["balanced"].peak
    for settings in (
        Settings(pruning=PruningSection(min_result_tokens=5_000), pruning_set=frozenset({"minResultTokens"})),
        Settings(leafscar=OwnSection(never_prune=NeverPrune(tools=("read",)))),
    ):
        assert by_name(replayed(story, settings=settings))["balanced"].moves == 0 < usual["balanced"].moves


def test_the_settings_of_one_model_reach_it_alone():
    """An override by provider and model draws the lines, for the recorded model and for one that is asked for."""
    compaction = CompactionSection(
        reserve_overrides={"anthropic/claude-sonnet-4-5": 30_000, "anthropic/claude-opus-4-5": 25_000}
    )
    options = {"settings": Settings(compaction=compaction), "policies": ("compaction",)}
    lines = [
        by_name(replayed(autonomous(10), model=model, **options))["compaction"].lines["threshold"]
        for model in (None, "claude-opus-4-5")
    ]
    assert lines == [30_000, 35_000]


def test_pins_and_what_a_cut_keeps_reach_the_cuts():
    """Rules that every summary carries make the context after a cut larger, a shorter tail makes it smaller."""
    story = autonomous(45)
    settings = {
        "usual": Settings(),
        "pinned": stated(leafscar=OwnSection(pins=("never do that " * 800,))),
        "kept": Settings(compaction=CompactionSection(keep_recent_overrides={"anthropic/claude-sonnet-4-5": 5_000})),
    }
    after = {
        name: by_name(replayed(story, settings=one, policies=("compaction",)))["compaction"].cuts[0].after
        for name, one in settings.items()
    }
    assert after["pinned"] > after["usual"] + 1_000
    assert after["kept"] < after["usual"] - 5_000


def test_switches_reach_the_policies_and_are_told():
    """What the settings turn off does not happen in a replay either, and the reason is told."""
    off = Settings(pruning=PruningSection(enabled=False), compaction=CompactionSection(enabled=False))
    result = replayed(autonomous(45), settings=off, policies=("compaction", "balanced"))
    assert [(row.moves, row.cuts) for row in result.policies] == [(0, []), (0, [])]
    assert result.not_helped == [
        "compaction: nothing was cut: compaction.enabled is false",
        "balanced: nothing was shed: pruning.enabled is false; nothing was cut: compaction.enabled is false",
    ]
    assert result.verdict.endswith(
        "of the window, but under balanced nothing was shed: pruning.enabled is false; "
        "nothing was cut: compaction.enabled is false"
    )


@pytest.mark.parametrize(("way", "sheds"), [("off", False), ("strip", True), ("drop_block", True)])
def test_bound_thinking_is_treated_as_the_settings_say(way, sheds):
    """On a model that binds its thinking nothing is shed unless the settings name a way."""
    story = autonomous(45, model="claude-fable-5-1")
    (row,) = replayed(
        story, settings=Settings(leafscar=OwnSection(bound_thinking=way)), policies=("balanced",)
    ).policies
    assert (row.moves > 0) == sheds
    words = "nothing was shed: this model binds its thinking, and leafscar.boundThinking is off"
    assert row.off == ([] if sheds else [words])


def test_stripped_thinking_is_not_billed():
    """Under strip a move takes the thinking behind it out too, so requests are smaller than under drop_block."""
    story = Story(model="claude-fable-5-1").user("start")
    for number in range(45):
        story.call(text_of(1_500), path=f"f{number}.py", thinking=text_of(400))
    story.reply()
    sizes = {}
    for way in ("strip", "drop_block"):
        (row,) = replayed(
            story, settings=Settings(leafscar=OwnSection(bound_thinking=way)), policies=("balanced",)
        ).policies
        first = next(at for at, moment in enumerate(row.moments) if moment.shed)
        sizes[way] = row.moments[first].context
        assert row.moves
    assert sizes["strip"] < sizes["drop_block"] - 5 * 400


def test_windows_are_taken_in_order():
    """Flag, recorded cut, price list; without any the session says what is missing."""
    story = autonomous(45)
    assert replayed(story).window_source.startswith("from --window")
    assert replayed(story, window=None).window_source.startswith("from genai-prices")
    unknown = autonomous(3, model="llama", provider="ollama")
    with pytest.raises(WindowUnknown, match="pass --window TOKENS"):
        replayed(unknown, window=None)
    cut = autonomous(60)
    cut.cut(cut.entries[-5]["id"], tokensBefore=119_000).user().reply()
    inferred = replayed(cut, window=None)
    assert inferred.window == 128_000
    assert "inferred: the recorded cut at 119,000 tokens" in inferred.window_source


def test_problems_and_notes_stand_together(tmp_path):
    """Broken lines and what was left out are told with the session."""
    story = Story().user("start").reply(stop="error", usage=None).reply()
    path = story.write(tmp_path / "s.jsonl")
    path.write_bytes(path.read_bytes() + b"{broken\n")
    result = replay_session(load(path), Options(window=60_000))
    assert result.problems[0] == "1 failed or aborted request without usage is left out"
    assert result.problems[1].startswith("line 5: not JSON")
    assert result.path == str(path)
    assert result.session_id == "story"


def test_times_before_1973_are_no_dates():
    """Old recordings number their messages; their prices are those of the entry's own time."""
    story = Story().user("start").reply()
    story.entries[-1]["message"]["timestamp"] = 12
    check(replayed(story))
    story.entries[-1].pop("timestamp")
    check(replayed(story))


def test_a_session_without_requests():
    """Nothing was asked, so there is nothing to replay."""
    with pytest.raises(SessionError, match="holds no request to replay; name a session with answers"):
        replayed(Story().user("hello"))


def test_a_link_that_goes_away_while_it_is_looked_at(tmp_path, monkeypatch):
    """It still counts as a file that was named, and what is wrong with it is said where it is read."""

    def gone(_):
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr("leafscar.replay.run.os.path.realpath", gone)
    assert find_sessions([tmp_path / "a.jsonl"]) == [tmp_path / "a.jsonl"]


def test_files_and_folders(tmp_path):
    """Folders are searched, each file is taken once, and what cannot be replayed is named with its reason."""
    good = Story().user("hello").reply().write(tmp_path / "a" / "good.jsonl")
    empty = Story().user("hello").write(tmp_path / "a" / "b" / "silent.jsonl")
    (tmp_path / "a" / "notes.txt").write_text("no session")
    (tmp_path / "none").mkdir()
    found = find_sessions([tmp_path / "a", good, tmp_path / "none", tmp_path / "missing.jsonl"])
    assert found == [empty, good, tmp_path / "none", tmp_path / "missing.jsonl"]
    result = replay_files(found, Options(window=60_000), "1.2")
    assert result.version == "1.2"
    assert [session.path for session in result.sessions] == [str(good)]
    assert result.verdict == result.sessions[0].verdict
    assert result.skipped == [
        f"{empty}: holds no request to replay; name a session with answers",
        f"{tmp_path / 'none'}: holds no session file; name a folder of sessions",
        f"{tmp_path / 'missing.jsonl'}: No such file or directory; check the path",
    ]


def test_what_was_warm_before_a_session_is_said():
    """The first request read a prefix that other sessions had left; every row starts with it."""
    story = Story(k=1.0).user()
    usage = story.usage()
    first = {**usage, "cacheRead": 2_500, "cacheWrite": usage["totalTokens"] - 40 - 2_500}
    story.call("x" * 9_000, usage=first).calls(6)
    result = replayed(story)
    assert assumptions(result)["warm start"][1] == "recorded"
    assert {row.moments[0].read for row in result.policies} == {2_500}
    assert result.error < 0.01
    assert "warm start" not in assumptions(replayed(story, model="claude-haiku-4-5"))


def test_hours_that_were_asked_for_are_said():
    """Writes with the long lifetime set lifetime and price of the cache model."""
    story = Story(ttl=3600).user()
    for _ in range(8):
        usage = story.usage()
        story.wait(900).call("x" * 4_000, usage={**usage, "cacheWrite1h": usage["cacheWrite"]})
    result = replayed(story)
    assert "lives 3600 s" in assumptions(result)["cache model"][0]
    assert assumptions(result)["cache model"][0].endswith("most recorded writes asked for one hour")
    assert result.error < 0.01


def test_a_database_stands_for_its_sessions(tmp_path):
    """Named or found in a folder; one that cannot be read, or holds none, stays and is told why."""
    path = database(tmp_path / "opencode.db", "ses_a", "ses_b")
    torn, other = tmp_path / "b" / "torn.db", tmp_path / "c.db"
    torn.parent.mkdir()
    torn.write_bytes(path.read_bytes()[:5000])
    database(other)
    named = [tmp_path / "opencode.db#ses_a", tmp_path / "opencode.db#ses_b"]
    assert find_sessions([path]) == named
    assert find_sessions([tmp_path]) == [torn, other, *named]
    result = replay_files(find_sessions([tmp_path]), Options(window=60_000), "1")
    assert [session.path for session in result.sessions] == [str(each) for each in named]
    assert ["opencode export" in result.skipped[0], "holds no session" in result.skipped[1]] == [True, True]


def test_an_unknown_window_names_the_file(tmp_path):
    """A fault that is not the file's own is told with the file's name."""
    path = autonomous(3, model="llama", provider="ollama").write(tmp_path / "s.jsonl")
    (skipped,) = replay_files([path], Options(), "1").skipped
    assert skipped == f"{path}: nothing states the context window of llama; pass --window TOKENS"


def test_a_fault_of_ours_costs_one_file_only(tmp_path, monkeypatch):
    """Whatever breaks over one file is told in one line without its words, and the other files are replayed."""
    good = Story().user("hello").reply().write(tmp_path / "good.jsonl")
    bad = Story().user("a secret").reply().write(tmp_path / "bad.jsonl")

    def failing(session, options, **more):
        if session.path == bad:
            raise KeyError("a secret\nof the session")
        return replay_session(session, options, **more)

    monkeypatch.setattr(run, "replay_session", failing)
    result = replay_files([bad, good], Options(window=60_000), "1")
    assert [session.path for session in result.sessions] == [str(good)]
    (line,) = result.skipped
    assert line.startswith(f"{bad}: leafscar itself failed (KeyError in failing, test_run.py line ")
    assert line.endswith("); please report this line")
    assert "secret" not in line


def test_links_and_pipes_in_a_folder_are_passed_over(tmp_path):
    """A link to itself and a pipe without a writer are no files; a link that is named is told as one."""
    good = Story().user("hello").reply().write(tmp_path / "good.jsonl")
    loop = tmp_path / "loop.jsonl"
    loop.symlink_to(loop)
    os.mkfifo(tmp_path / "pipe.json")
    os.mkfifo(tmp_path / "pipe.jsonl")
    assert find_sessions([tmp_path]) == [good]
    (line,) = replay_files(find_sessions([loop]), Options(window=60_000), "1").skipped
    assert line.startswith(f"{loop}: ")


@pytest.mark.parametrize("part", ["input", "output", "cacheRead", "cacheWrite", "cacheWrite1h", "totalTokens", "cost"])
@pytest.mark.parametrize("number", [float("nan"), float("inf"), -1, -1e308, 1e308, 10**300, 10**400, "many"])
def test_every_number_of_a_result_is_finite(tmp_path, part, number):
    """Whatever a session reports, all rows can be written as JSON, and the page is made."""
    story = autonomous(50)
    usage = story.entries[41]["message"]["usage"]
    usage[part] = {"total": number} if part == "cost" else number
    story.cut(story.entries[-3]["id"], tokensBefore=number, usage=dict(usage)).user().reply()
    result = replay_session(story.open(tmp_path), Options(policies=("none", "balanced", "compaction"), window=60_000))
    text = json.dumps(msgspec.to_builtins(result), allow_nan=False)
    assert json.loads(text)["policies"]
    whole = ReplayResult(verdict="", sessions=[result], skipped=[], version="1")
    assert not re.search(r"(?<![a-z])(nan|inf)(?![a-z])", render_html(whole, command="leafscar").lower())


def test_what_is_done_next_is_told(tmp_path):
    """Each file, and each policy of it, is named before it is replayed."""
    story, heard = Story().user("hello").reply(), []
    paths = [story.write(tmp_path / name) for name in ("a.jsonl", "b.jsonl")]
    replay_files(paths, Options(policies=("none", "balanced"), window=60_000), "1", tell=heard.append)
    assert heard == [
        "1 of 2: a.jsonl",
        "1 of 2: a.jsonl, none",
        "1 of 2: a.jsonl, balanced",
        "2 of 2: b.jsonl",
        "2 of 2: b.jsonl, none",
        "2 of 2: b.jsonl, balanced",
    ]
