"""Pieces of work that the interactive stories share: looking around, logs, fixtures, a new module."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .migrate import run
from .steps import Step, bash, edit, read, write

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .migrate import Work

LOG_TOOL = '''"""Counts errors of a log by carrier and by reason."""

import re
import sys
from collections import Counter

LINE = re.compile(r"(?P<at>\\\\S+) (?P<level>\\\\w+) +(?P<source>\\\\S+) request=(?P<request>\\\\w+) (?P<rest>.*)")


def summarize(lines):
    """Return counts of errors by carrier and by reason, and the number of lines that do not parse."""
    carriers, reasons, odd = Counter(), Counter(), 0
    for line in lines:
        match = LINE.match(line)
        if not match:
            odd += 1
            continue
        if match["level"] != "ERROR":
            continue
        carriers[match["source"].removeprefix("carriers.")] += 1
        reasons[re.sub(r"attempt=\\\\d+ ", "", match["rest"])] += 1
    return carriers, reasons, odd


def main(paths):
    """Print one table a log."""
    for path in paths:
        with open(path, encoding="utf-8") as stream:
            carriers, reasons, odd = summarize(stream)
        print(f"== {path}: {sum(carriers.values())} errors, {odd} odd lines")
        for name, count in sorted(carriers.items(), key=lambda item: (-item[1], item[0])){limit}:
            print(f"{count:5d}  {name}")
        for name, count in sorted(reasons.items(), key=lambda item: (-item[1], item[0])):
            print(f"{count:5d}  {name}")


if __name__ == "__main__":
    main(sys.argv[1:])
'''

EXPORTS = '''"""Exports of quotes as lines of text, for customers who load them into a spreadsheet."""

from parcelhub.core.errors import ParcelhubError, QuoteError
from parcelhub.core.money import format_cents
from parcelhub.core.registry import get

HEADER = ("reference", "carrier", "country", "weight_g", "cents", "price", "error")


class ExportError(ParcelhubError):
    """A row lacks a field that the export needs."""


def export_row(row):
    """Return one quote as a tuple in the order of HEADER; an impossible quote keeps its error text."""
    missing = [field for field in ("reference", "carrier", "country", "weight_g") if field not in row]
    if missing:
        raise ExportError("missing: " + ", ".join(missing))
    head = (row["reference"], row["carrier"], row["country"], row["weight_g"])
    try:
        cents = get(row["carrier"]).quote(row["weight_g"], row["country"])
    except QuoteError as error:
        return (*head, "", "", str(error))
    return (*head, cents, format_cents(cents), "")


def export_quotes(rows, separator=";"):
    """Return the whole export as text, header first, one line a row."""
    lines = [separator.join(HEADER)]
    for row in rows:
        lines.append(separator.join(str(value){quote} for value in export_row(row)))
    return "\\n".join(lines) + "\\n"
'''

EXPORT_TESTS = '''"""Tests of parcelhub/api/exports.py."""

from parcelhub.api.exports import HEADER, ExportError, export_quotes, export_row


def test_row_has_all_columns():
    row = export_row({"reference": "P-1", "carrier": "heron", "country": "DE", "weight_g": 900})
    assert len(row) == len(HEADER)
    assert row[4] > 0 and row[5].endswith("EUR")


def test_too_heavy_keeps_the_error():
    row = export_row({"reference": "P-2", "carrier": "heron", "country": "DE", "weight_g": 10**7})
    assert row[4] == "" and "too heavy" in row[6]


def test_missing_fields_are_named():
    try:
        export_row({"reference": "P-3"})
    except ExportError as error:
        assert str(error) == "missing: carrier, country, weight_g"
    else:
        raise AssertionError("no error")


def test_separator_inside_a_value_is_replaced():
    text = export_quotes([{"reference": "P;4", "carrier": "heron", "country": "DE", "weight_g": 900}])
    assert text.splitlines()[1].count(";") == len(HEADER) - 1


def test_export_ends_with_a_newline():
    assert export_quotes([]) == ";".join(HEADER) + "\\n"
'''
QUOTED = '.replace(separator, " ")'


def look_around(work: Work) -> Iterator[Step]:
    """Read what a newcomer reads and explain it."""
    api, jobs = work.demo.rooms["api"], work.demo.rooms["jobs"]
    yield Step("I start with the two documents, then the layout.", (read("README.md"), read("CONTRIBUTING.md")))
    yield Step("", (bash("find . -type f | grep -v '^./logs' | sed 's|/[^/]*$||' | sort | uniq -c"),))
    yield Step(
        "Core first, it is small.",
        tuple(read(f"parcelhub/core/{n}.py") for n in ("registry", "money", "events", "errors")),
    )
    yield Step("One adapter as a sample.", (read("parcelhub/carriers/heron.py"), read("tests/test_heron.py")))
    for path in api[:4] + jobs[:2]:
        yield Step(f"And `{path}`.", (read(path),))
    yield Step(
        "Where do the layers meet?", (bash("grep -rn '^from parcelhub' parcelhub --include=*.py | grep -v carriers/"),)
    )
    yield Step(
        "In short: an adapter is a class registered under the carrier's name, and `registry.get(name)`"
        " imports all adapters"
        " on the first miss and hands out a fresh object. Adapters hold no state. They do"
        " three jobs that have little to do"
        " with each other: turning scans into statuses, pricing, and label lines. Pricing"
        " looks up a zone by country, then"
        " the first weight bracket that fits, then adds fuel in per mille; all integers.\n\n"
        "The handlers in `api/` and the jobs do not know adapters at all, they work on plain"
        " rows. That is why a change of"
        " the result type of `fetch_status` stays inside an adapter and its tests. What I"
        " would look at first is the gap"
        " between `core/events.py`, which defines `TrackingEvent`, and the adapters, which"
        " all still return dicts."
    )
    work.facts.append("explained the layout to the user: registry, adapters, rows in api and jobs")


def read_logs(work: Work, days: list[int]) -> Iterator[Step]:
    """Read whole days of the log and say what is in them."""
    for day in days:
        path = f"logs/app-2026-02-{day:02d}.log"
        yield Step(work.voice.say("logs"), (read(path),))
        yield Step(
            "",
            (
                bash(
                    f"grep -c ERROR {path}; grep ERROR {path} | sed 's/.*attempt=[0-9]* //' | sort | uniq -c | sort -rn"
                ),
            ),
        )
        work.facts.append(f"read {path}: timeouts and 502s dominate")
    yield Step(work.voice.say("after_logs"))


def log_tool(work: Work) -> Iterator[Step]:
    """Write a small script, run it, change it, run it again."""
    days = "logs/app-2026-02-0[1-6].log"
    text = LOG_TOOL.replace("\\\\", "\\")
    yield Step(
        "I write it as a script of its own under `tools/`, with a pure function that a test can call.",
        (write("tools/log_summary.py", text.replace("{limit}", "")),),
    )
    yield Step("", (bash(f"python3 tools/log_summary.py {days}"),))
    yield Step(
        "That prints every carrier of every day, which is too long to read. I limit the first table to the ten worst.",
        (
            edit(
                "tools/log_summary.py",
                (
                    'item[0])):\n            print(f"{count:5d}  {name}")\n        for name, count in sorted(reasons',
                    (
                        'item[0]))[:10]:\n            print(f"{count:5d}  {name}")\n        for name, count'
                        " in sorted(reasons"
                    ),
                ),
            ),
        ),
    )
    yield Step("", (bash(f"python3 tools/log_summary.py {days}"),))
    work.facts.append("wrote `tools/log_summary.py` (errors by carrier and reason, ten worst carriers a day)")
    yield Step(
        "`tools/log_summary.py` is there. Over the six days the reasons are evenly spread:"
        " timeouts, 502s, schema mismatches"
        " and a full label queue come in about the same numbers, and no carrier leads on"
        " more than one day. If one of them"
        " were broken by a code change I would expect it to lead every day, so I read this"
        " as network noise plus a label"
        " queue that is too small at peak."
    )


def fixtures(work: Work, names: list[str]) -> Iterator[Step]:
    """Compare fixtures with the tables of their adapters."""
    for name in names:
        c = work.demo.carriers[name]
        yield Step(
            f"Fixture and table of {name} side by side.",
            (read(f"tests/fixtures/{name}.json"), bash(f"sed -n '/^STATUS_CODES/,/^}}/p' {c.path}")),
        )
    script = (
        "python3 - <<'EOF'\nimport json, importlib\n"
        f"for name in {names!r}:\n    rows = json.load(open(f'tests/fixtures/{{name}}.json'))\n"
        "    codes = importlib.import_module(f'parcelhub.carriers.{name}').STATUS_CODES\n"
        "    unknown = [row for row in rows if not codes.keys() & set(map(str, row.values()))]\n"
        "    print(name, len(rows), 'rows', len(unknown), 'without a known code')\nEOF"
    )
    yield Step("Counting instead of looking.", (bash(script),))
    work.facts.append(f"checked the fixtures of {', '.join(names)}: every code is known to its adapter")
    yield Step(
        "Every row of these fixtures has a code that its adapter knows, so nothing becomes"
        " `unknown` there. No change needed."
    )


def exports(work: Work) -> Iterator[Step]:
    """Add a module with a first version that one test refuses."""
    path, test = "parcelhub/api/exports.py", "tests/test_api_exports.py"
    yield Step(
        "Let me see how the neighbours look before I add one.",
        (read("parcelhub/api/__init__.py"), read("parcelhub/api/quotes.py")),
    )
    yield Step(
        "Tests first. Five cases: all columns, a quote that cannot be given, missing fields"
        " by name, a separator inside a"
        " value, and the trailing newline.",
        (write(test, EXPORT_TESTS),),
    )
    yield Step("", (write(path, EXPORTS.replace("{quote}", "")), run(test)))
    yield Step(
        "One left: a reference that holds the separator breaks the row. Quoting would be"
        " right for CSV, but the request"
        " said plain lines, so I replace the separator by a blank.",
        (
            edit(path, ("separator.join(str(value) for value", f"separator.join(str(value){QUOTED} for value")),
            run(test),
        ),
    )
    init = "from parcelhub.api import depots\n"
    yield Step(
        "Adding it to the public surface; the existing names stay as they are.",
        (edit("parcelhub/api/__init__.py", (init, init + "from parcelhub.api import exports\n")),),
    )
    yield Step(
        "",
        (
            run(),
            bash(
                'python3 -c \'import parcelhub.api as a; print(a.exports.export_quotes([{"reference":'
                ' "P-9", "carrier": "tern", "country": "FR", "weight_g": 1200}]))\''
            ),
        ),
    )
    work.facts.append(f"added `{path}` and `{test}`; the public names only grew by `exports`")
    yield Step(
        '`export_quotes(rows, separator=";")` is in and public. A row that cannot be priced'
        " stays in the export with its error in the last column, so that the customer sees"
        " it."
    )


def fix_failing(work: Work, names: list[str]) -> Iterator[Step]:
    """Run everything, then fix the failing adapters one by one."""
    from .migrate import fix_bug  # noqa: PLC0415

    yield Step("First the whole suite, with names.", (bash("python3 tools/run_tests.py -v"),))
    for name in names:
        c = work.demo.carriers[name]
        yield Step(
            f"`{name}`: the test and the method it calls.",
            (read(c.test), bash(f"sed -n '/def base_price/,/def pickup/p' {c.path}")),
        )
        yield from fix_bug(work, c)
    yield Step("Again everything.", (run(),))
    yield Step(
        f"Fixed: {', '.join(names)}. Each was one line, each had a test that failed before,"
        " and the carrier pages say the same as the tests."
    )
