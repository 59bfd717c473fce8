"""A short session on a small window: image, non-ASCII log, user command, label, branch, abort, cut."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .migrate import Work, migrate
from .phrases import Voice
from .steps import Step, bash, read
from .story import Recipe, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .demo import Demo

ASIA = "logs/gateway-asia-2026-02-0{day}.log"
SETTINGS = {"compaction": {"enabled": True, "reserveTokens": 8192, "keepRecentTokens": 6000}}


def asia(work: Work) -> Iterator[Step]:
    """Read logs in three scripts."""
    yield Step(
        "Ich lese zuerst die Datei vom 1. Februar. (I answer in English from here on, as the rules say.)",
        (read(ASIA.format(day=1)),),
    )
    yield Step(
        "Failed deliveries only, over all days:",
        (bash("grep -hn '派送失败\\|보관 중' logs/gateway-asia-*.log | head -25"),),
    )
    yield Step(
        "",
        (
            bash(
                "for f in logs/gateway-asia-*.log; do echo \"$f $(grep -c '派送失败' $f) $(grep -c '부재'"
                " $f) $(grep -c '✅' $f)\"; done"
            ),
        ),
    )
    work.facts.append(
        "counted the Asian gateway's log: 派送失败 (address incomplete) and 수취인 부재 (nobody home) on every day"
    )
    yield Step(
        "The gateway writes each event in the language of its country:\n\n- `荷物を受け付けました 📦`"
        " accepted, `配達完了 ✅` delivered"
        " (Japan)\n- `派送失败 ⚠️` delivery failed because the address is incomplete, `等待清关 🛃`"
        " waiting for customs (China)\n"
        "- `배송 출발 🚚` on the way, `수취인 부재로 보관 중 🏠` held because nobody was at home (Korea)\n\nIncomplete"
        " addresses occur on"
        " all six days, so this is not one bad batch. I would map `⚠️` lines to `exception`"
        " and `🏠` lines to `held`."
    )


def chart(work: Work) -> Iterator[Step]:
    """Look at a picture."""
    yield Step("Let me look at the picture.", (read("docs/latency.png"),))
    work.facts.append("looked at docs/latency.png: twelve bars, uneven, no axis labels")
    yield Step(
        "It is a bar chart with twelve green bars and no labels. The heights vary a lot from"
        " bar to bar without a trend, so if these are months, no season shows. Without an"
        " axis I cannot say what the numbers are."
    )


def wrong_way() -> Iterator[Step]:
    """Try an idea that the user drops again."""
    yield Step(
        "I would start with a table of phrases. Which files mention the gateway at all?",
        (bash("grep -rln 'gateway' parcelhub docs logs | sort"),),
    )
    yield Step(
        "Only logs. Then the table needs a home; the nearest thing is the adapter with the most codes.",
        (bash("grep -c '^    \"[A-Z]' parcelhub/carriers/*.py | sort -t: -k2 -rn | head -12"),),
    )
    yield Step(
        "A phrase table would need about thirty entries and an owner who reads three languages."
        " I can do it, but every change of wording on their side would break it silently."
    )


def stopped() -> Iterator[Step]:
    """Be interrupted."""
    yield Step(
        "I write a script that translates the whole log line by line and compares every number"
        " with the fixtures of all"
        " carriers, then I prepare one report a day in three languages, with the counts in"
        " a table and the original lines"
        " below it, and afterwards",
        (bash("python3 tools/translate_all.py"),),
        action="abort",
    )


def adapters(work: Work, names: list[str]) -> Iterator[Step]:
    """Migrate some adapters."""
    yield Step("", (read("parcelhub/core/events.py"),))
    for name in names:
        yield from migrate(work, name)
    yield Step(f"{', '.join(names)} return events now; their tests pass.")


def thanks() -> Iterator[Step]:
    """Answer a last question."""
    yield Step("", (bash("ls migrations | wc -l && cat migrations/*.sql | md5sum"),))
    yield Step(
        "`migrations/` has the same 60 files as before, and nothing in `parcelhub/api` changed."
        " Five adapters return events, their pages say so, and the gateway's log stays untouched."
        " 終わりました 🎉"
    )


def turns(work: Work) -> list[Turn]:
    """Return the session."""
    prompt = (
        "Read the log of our Asian gateway and tell me what the failures are. Rules: never"
        " touch migrations/, public API stays, answer in English even if the log is 日本語,"
        " 中文 or 한국어. 🙏"
    )
    return [
        Turn("Asian gateway", kind="name"),
        Turn(prompt, asia(work)),
        Turn("/mark pin", kind="command", gap=20),
        Turn("wc -l logs/gateway-asia-*.log && head -3 logs/gateway-asia-2026-02-04.log", kind="bash", gap=45),
        Turn("I counted the lines myself, see above. What does docs/latency.png show?", chart(work), 30),
        Turn("How would you parse these phrases in code?", wrong_way(), 130),
        Turn("/rewind", kind="command", gap=50),
        Turn("Forget the phrase table. Translate everything into a report.", stopped(), 25),
        Turn(
            "No, too much. Rather move alderpost, amberline, boxwood, condor and dashway to TrackingEvent, with tests.",
            adapters(work, ["alderpost", "amberline", "boxwood", "condor", "dashway"]),
            400,
        ),
        Turn("Thanks! Is migrations/ really untouched?", thanks(), 65),
    ]


def recipe() -> Recipe:
    """Describe the recording."""

    def begin(demo: Demo) -> tuple[Work, list[Turn]]:
        rules = ["never touch migrations/", "the public API stays", "answer in English"]
        work = Work(
            demo, Voice(5), "Explain the gateway's failures, then move five adapters to `TrackingEvent`.", rules, 5
        )
        work.nexts = ["finish the five adapters", "check that migrations/ is unchanged"]
        return work, turns(work)

    return Recipe("small-window", "1.3.0", "claude-sonnet-4-5", 32_768, 1_772_700_300_000, 99, {}, begin, SETTINGS)
