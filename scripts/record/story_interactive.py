"""A day with many prompts, pauses between them, a steer and an interruption."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import parts
from .migrate import Work, migrate, progress_page, run
from .phrases import Voice
from .steps import Step, bash, read
from .story import Recipe, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .demo import Demo

BUGS = {"condor": "fuel", "falcon": "bracket", "heron": "bracket", "tern": "bracket", "tundra": "fuel"}


def several(work: Work, names: list[str], closing: str) -> Iterator[Step]:
    """Migrate some adapters and close with a sentence."""
    for name in names:
        yield from migrate(work, name)
    yield Step("", (run(*(work.demo.carriers[name].test for name in names)),))
    yield Step(closing)


def steered(work: Work, names: list[str], skipped: str, text: str) -> Iterator[Step]:
    """Migrate, and be told meanwhile to leave one out."""
    yield from migrate(work, names[0])
    c = work.demo.carriers[skipped]
    yield Step(
        f"Next would be `{skipped}`; I look at it and at its callers.",
        (read(c.path), bash(f'grep -rn "{skipped}" parcelhub tests docs -l')),
        action="steer",
        argument=text,
    )
    work.facts.append(f"the user said: leave {skipped} alone, its contract ends in March")
    yield Step(
        f"Understood, I leave {skipped} as it is and go on with the next one.",
        (bash(f"ls -1 parcelhub/carriers | grep -v {skipped} | wc -l"),),
    )
    for name in names[1:]:
        yield from migrate(work, name)
    yield Step(f"Done: {', '.join(names)}. `{skipped}` still returns dicts, as you asked.")


def interrupted(work: Work) -> Iterator[Step]:
    """Begin something the user does not want."""
    yield Step(
        "I look at the label code of all adapters.",
        (bash("grep -n -A6 'def label_lines' parcelhub/carriers/*.py | head -120"),),
    )
    yield Step(
        "The method is the same everywhere, so I move it to a base class `BaseAdapter` in"
        " `parcelhub/core/base.py`, let all"
        " adapters inherit from it and delete the copies. While I am there I also give every"
        " adapter a `__repr__`, sort the"
        " methods, and rename `label_lines` to `label`, because the shorter name reads better"
        " in the handlers. The"
        " migrations that mention labels would follow the new name,",
        (bash("sed -i 's/label_lines/label/' parcelhub/carriers/*.py"),),
        action="abort",
    )
    work.facts.append("the user stopped a rename of `label_lines`: public method names stay, no base class for now")


def answer(text: str, *calls: object) -> Iterator[Step]:
    """Answer with at most one look."""
    if calls:
        yield Step("", calls)
    yield Step(text)


def review(work: Work, names: list[str]) -> Iterator[Step]:
    """Read migrated files again and report."""
    for name in names:
        c = work.demo.carriers[name]
        yield Step(
            f"Reading `{c.path}` again, as a reviewer this time.",
            (read(c.path), bash(f"grep -n 'event' {c.test} | head -12")),
        )
    yield progress_page(work)
    yield Step("", (run(),))
    yield Step(
        "I read them again from top to bottom. The four replacements are the same everywhere,"
        " no file still indexes an event,"
        " and no signature changed. One wording differed between two docstrings; I left it,"
        " since a diff only for words"
        " would hide the real change."
    )


def turns(work: Work) -> list[Turn]:
    """Return the day."""
    p = parts
    return [
        Turn(
            "Hi! I am new to this service. Read the docs and the main modules and explain to"
            " me how it hangs together. Do not change anything yet.",
            p.look_around(work),
        ),
        Turn(
            "Thanks, that helps. Some tests fail on main; condor, falcon and tern block a release."
            " Fix those three. Rules for everything today: never touch migrations/, keep the"
            " public API stable, prices are integer cents.",
            p.fix_failing(work, ["condor", "falcon", "tern"]),
            420,
        ),
        Turn(
            "Why per mille for fuel and not a float factor?",
            answer(
                "Because the product of two integers is exact and a float factor is not: 1145 cents"
                " times 0.085 is 97.325 only on paper. With per mille the one rounding happens in"
                " `round_half_up`, in a place with a name, and two machines always agree on the cent."
                " It also keeps the carrier pages honest, since the number in the page is the number"
                " in the code."
            ),
            65,
        ),
        Turn(
            "ok. Operations says carriers were flaky in the first days of February. Read the"
            " logs of 1 and 2 February, completely please, not only the errors.",
            p.read_logs(work, [1, 2]),
            780,
        ),
        Turn("Can you make that a script so that I do not need to ask you each time?", p.log_tool(work), 150),
        Turn(
            "Now the big thing: adapters should return TrackingEvent instead of dicts. Start"
            " with alderpost, amberline, arcfreight and bluejay, with tests and pages.",
            several(
                work,
                ["alderpost", "amberline", "arcfreight", "bluejay"],
                "The first four are through, each with five new tests.",
            ),
            1310,
        ),
        Turn(
            "looks good, continue with boxwood to coastal, then condor",
            steered(
                work,
                ["boxwood", "coastal", "condor"],
                "cargonaut",
                "wait, leave cargonaut out, their contract ends in March",
            ),
            240,
        ),
        Turn("Could label_lines move somewhere shared?", interrupted(work), 95),
        Turn(
            "Stop, no renames! label_lines is public, see CONTRIBUTING. Only tell me what you"
            " would do, without doing it.",
            answer(
                "Right, my mistake: `label_lines` is a method that callers outside this repository"
                " use, so its name stays. What I would do, later and only if you want it: a function"
                " `core.labels.standard_lines(name, parcel)` that every adapter calls from its own"
                " `label_lines`. No base class, no rename, and the four adapters that need another"
                " order of lines can differ. I checked that the interrupted command changed nothing.",
                bash(
                    "grep -rn 'def label' parcelhub/carriers | grep -vc label_lines; grep -rlc 'def label_lines'"
                    " parcelhub/carriers | wc -l"
                ),
            ),
            60,
        ),
        Turn(
            "Good. We need an export of quotes as plain lines with a separator, for customers."
            " New module in api, with tests.",
            p.exports(work),
            930,
        ),
        Turn(
            "Next adapters please: dashway, deltapak, eastgate, falcon, ferrous.",
            several(
                work,
                ["dashway", "deltapak", "eastgate", "falcon", "ferrous"],
                "Five more. `falcon` had its limit bug fixed this morning, so only the events changed there.",
            ),
            360,
        ),
        Turn(
            "Are the fixtures consistent with the code tables? Someone claimed they are not. Check a handful.",
            p.fixtures(work, ["alderpost", "boxwood", "condor", "eastgate", "ferrous", "globex"]),
            200,
        ),
        Turn(
            "back from lunch. And 4 February in the logs? The ticket mentions the label queue.",
            p.read_logs(work, [4]),
            1500,
        ),
        Turn(
            "Continue: fleetfoot to longhaul. heron has a failing test, careful.",
            several(
                work,
                ["fleetfoot", "globex", "harbor", "heron", "ironside", "juniper", "kestrel", "lantern", "longhaul"],
                "All nine pass. In `heron` the weight limit was exclusive; the page says inclusive,"
                " so I fixed the code, not the test.",
            ),
            110,
        ),
        Turn(
            "Good. magpie, meridian, northstar and oakline as the last ones for today.",
            several(work, ["magpie", "meridian", "northstar", "oakline"], "These four are done as well."),
            300,
        ),
        Turn(
            "Please review what you did in alderpost, boxwood, eastgate and heron with fresh eyes.",
            review(work, ["alderpost", "boxwood", "eastgate", "heron"]),
            640,
        ),
        Turn("Summarize for the pull request, short.", closing(work), 75),
    ]


def closing(work: Work) -> Iterator[Step]:
    """Write the text of a pull request."""
    yield Step("", (run(), bash("ls migrations | wc -l; cat docs/tracking-events.md | head -30")))
    yield Step(
        f"**Adapters return `TrackingEvent`** ({len(work.done)} of {work.total})\n\n- {', '.join(work.done)}\n"
        "- tests use attributes; five new cases each; a section on events in every page\n"
        "- not touched: `migrations/`, public names, `cargonaut` (contract ends in March)\n\n"
        "**Also in here**: four pricing bugs that tests proved (condor, falcon, tern, heron),"
        " `api/exports.py`,"
        " `tools/log_summary.py`.\n\n**Open**: `tundra` still fails one test, its fix comes"
        " with its adapter."
    )


def recipe() -> Recipe:
    """Describe the recording."""

    def begin(demo: Demo) -> tuple[Work, list[Turn]]:
        rules = [
            "never touch migrations/",
            "keep the public API stable, label_lines included",
            "prices are integer cents",
        ]
        work = Work(
            demo,
            Voice(23),
            "Fix failing tests, look into the February logs, and move adapters to `TrackingEvent`.",
            rules,
            36,
        )
        work.nexts = ["go on with the adapters the user names", "run the tests of every file that changed"]
        return work, turns(work)

    return Recipe("interactive", "0.82.1", "claude-opus-4-5", 200_000, 1_772_612_040_000, 77, BUGS, begin)
