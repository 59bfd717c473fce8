"""Fixed texts of the demo project: core modules, the test runner and the rules."""

README = """# parcelhub

A small service that prices, labels and tracks parcels over many carriers.

* `parcelhub/carriers/`: one adapter a carrier, found through `parcelhub.core.registry`
* `parcelhub/api/`: handlers; a handler takes a request dict and returns `(status, body)`
* `parcelhub/jobs/`: nightly work (imports, retries, reports)
* `parcelhub/store/`: in-memory stores used by tests and by the demo
* `migrations/`: applied in production, frozen

Run the tests: `python3 tools/run_tests.py [-v] [FILE...]`
"""

CONTRIBUTING = """# Contributing

1. Never edit anything under `migrations/`; add a new file and let the data team number it.
2. The names in `parcelhub/api/__init__.py` are public. Keep them and their arguments.
3. Prices are integers in cents. No floats in pricing code.
4. Every bug fix comes with a test that failed before.
5. No new dependencies.
"""

MONEY = '''"""Whole cents only."""


def round_half_up(numerator: int, denominator: int) -> int:
    """Divide and round half up, without floats."""
    return (numerator * 2 + denominator) // (denominator * 2)


def format_cents(cents: int, currency: str = "EUR") -> str:
    """Return a price as text."""
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100}.{abs(cents) % 100:02d} {currency}"
'''

ERRORS = '''"""Errors of the service."""


class ParcelhubError(Exception):
    """Base of all errors."""


class QuoteError(ParcelhubError):
    """A price cannot be given."""


class UnknownCarrier(ParcelhubError):
    """No adapter has that name."""
'''

REGISTRY = '''"""Carrier adapters by name."""

import importlib
import pkgutil

from parcelhub.core.errors import UnknownCarrier

_ADAPTERS = {}


def register(name):
    """Class decorator: make an adapter known under a name."""

    def add(cls):
        _ADAPTERS[name] = cls
        return cls

    return add


def load_all():
    """Import every adapter module."""
    import parcelhub.carriers

    for info in pkgutil.iter_modules(parcelhub.carriers.__path__):
        importlib.import_module(f"parcelhub.carriers.{info.name}")


def get(name):
    """Return an adapter or raise UnknownCarrier."""
    if name not in _ADAPTERS:
        load_all()
    try:
        return _ADAPTERS[name]()
    except KeyError:
        raise UnknownCarrier(name) from None
'''

EVENTS = '''"""Events as the rest of the service sees them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class TrackingEvent:
    """One scan of one parcel, in our words."""

    carrier: str
    reference: str | None
    status: str
    at: str | None
    place: str = "unknown"
    reason: str | None = None

    @property
    def final(self) -> bool:
        """Nothing follows after this event."""
        return self.status in {"delivered", "returned"}
'''

RUN_TESTS = '''"""Runs test functions and prints what a larger runner would print, without times."""

import importlib.util
import sys
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def explain(error):
    frames = traceback.extract_tb(error.__traceback__)
    lines = []
    for frame in frames[1:]:
        name = Path(frame.filename)
        shown = name.relative_to(ROOT) if name.is_relative_to(ROOT) else name.name
        lines.append(f"    {shown}:{frame.lineno}: in {frame.name}")
        lines.append(f">       {frame.line}")
    lines.append(f"E       {type(error).__name__}: {error}")
    return lines


def run(path, verbose):
    passed, failures = 0, []
    marks = ""
    module = load(path)
    for name, function in list(vars(module).items()):
        if not name.startswith("test_"):
            continue
        try:
            function()
        except Exception as error:
            failures.append((f"{path.relative_to(ROOT)}::{name}", explain(error)))
            marks += "F"
            state = "FAILED"
        else:
            passed += 1
            marks += "."
            state = "PASSED"
        if verbose:
            print(f"{path.relative_to(ROOT)}::{name} {state}")
    if not verbose:
        print(f"{path.relative_to(ROOT)} {marks}")
    return passed, failures


def main(args):
    verbose = "-v" in args
    files = [ROOT / arg for arg in args if not arg.startswith("-")] or sorted((ROOT / "tests").glob("test_*.py"))
    print(f"collected {len(files)} files")
    passed, failures = 0, []
    for path in files:
        good, bad = run(path, verbose)
        passed += good
        failures += bad
    if failures:
        print("\\n" + "=" * 30 + " FAILURES " + "=" * 30)
    for name, lines in failures:
        print(f"____ {name} ____")
        print("\\n".join(lines))
    if failures:
        print("=" * 22 + " short test summary info " + "=" * 22)
        for name, lines in failures:
            print(f"FAILED {name} - {lines[-1][8:]}")
    print(f"==== {len(failures)} failed, {passed} passed ====" if failures else f"==== {passed} passed ====")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
'''

FUNCTIONS = {
    "page": '''def page_{n}(rows, page=1, size={size}):
    """Return one page of {what} and whether more follow."""
    if page < 1:
        raise ValueError("pages start at 1")
    start = (page - 1) * size
    return rows[start : start + size], len(rows) > start + size
''',
    "group": '''def group_{n}(rows):
    """Group {what} by their {key}; rows without one go to the group "none"."""
    groups = {{}}
    for row in rows:
        groups.setdefault(row.get("{key}") or "none", []).append(row)
    return dict(sorted(groups.items()))
''',
    "clean": '''def clean_{n}(row):
    """Strip texts, drop empty fields and check the required ones of {what}."""
    out = {{}}
    for field, value in row.items():
        if isinstance(value, str):
            value = value.strip()
        if value not in ("", None):
            out[field] = value
    missing = [field for field in ("reference", "{key}") if field not in out]
    if missing:
        raise ValueError("missing: " + ", ".join(missing))
    return out
''',
    "retry": '''def retry_{n}(action, attempts={tries}):
    """Try an action on {what} up to {tries} times; the last error goes through."""
    for attempt in range(1, attempts + 1):
        try:
            return action(attempt)
        except OSError:
            if attempt == attempts:
                raise
    return None
''',
    "total": '''def total_{n}(rows):
    """Sum the cents of {what} and count the rows without a price."""
    cents, unpriced = 0, 0
    for row in rows:
        if isinstance(row.get("cents"), int):
            cents += row["cents"]
        else:
            unpriced += 1
    return {{"cents": cents, "unpriced": unpriced}}
''',
    "window": '''def window_{n}(rows, since, until):
    """Return {what} with since <= at < until, oldest first."""
    chosen = [row for row in rows if since <= (row.get("at") or "") < until]
    return sorted(chosen, key=lambda row: row["at"])
''',
}

FUNCTION_TESTS = {
    "page": """def test_page_{n}():
    rows = list(range({size} + 3))
    assert page_{n}(rows) == (rows[:{size}], True)
    assert page_{n}(rows, 2) == (rows[{size}:], False)
""",
    "group": """def test_group_{n}():
    groups = group_{n}([{{"{key}": "b"}}, {{"{key}": "a"}}, {{}}])
    assert list(groups) == ["a", "b", "none"]
""",
    "clean": """def test_clean_{n}():
    assert clean_{n}({{"reference": " P-1 ", "{key}": "x", "note": ""}}) == {{"reference": "P-1", "{key}": "x"}}
""",
    "retry": """def test_retry_{n}():
    assert retry_{n}(lambda attempt: attempt) == 1
""",
    "total": """def test_total_{n}():
    assert total_{n}([{{"cents": 120}}, {{"cents": 30}}, {{}}]) == {{"cents": 150, "unpriced": 1}}
""",
    "window": """def test_window_{n}():
    rows = [{{"at": "2026-02-03"}}, {{"at": "2026-02-01"}}, {{"at": "2026-02-09"}}]
    assert [row["at"] for row in window_{n}(rows, "2026-02-01", "2026-02-05")] == ["2026-02-01", "2026-02-03"]
""",
}
