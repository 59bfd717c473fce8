import ast
import io
import json
import sys
from pathlib import Path

import pytest

from leafscar.session import _pattern_worker
from leafscar.session._pattern_worker import answer, main


def asked(pattern, *texts, **other):
    """Give what the process is asked."""
    return {"pattern": pattern, "texts": texts, "ignoreCase": True, "most": 2, **other}


def test_lines_are_counted_once():
    """A line counts once however often it matches, and only the first ones are given."""
    text = "aa a\nb\nxa\nA\n"
    assert answer(asked("a", text, "none", "a")) == {"found": [(0, 3, [(0, 1), (8, 9)]), (2, 1, [(0, 1)])]}
    assert answer(asked("a", "A", ignoreCase=False)) == {"found": []}


def test_a_match_over_several_lines():
    """A match counts for the line that it begins on."""
    assert answer(asked(r"a\nb", "a\nb\na\nb")) == {"found": [(0, 2, [(0, 3), (4, 7)])]}
    assert answer(asked("^b$", "a\nb")) == {"found": [(0, 1, [(2, 3)])]}


def test_nothing_is_no_match():
    """Matches of no length are none."""
    assert answer(asked("x*", "abc")) == {"found": []}


@pytest.mark.parametrize("pattern", ["(", "a{99999999999999999999}", "(?<=a*)b", "(" * 500 + ")" * 500, "\\"])
def test_what_is_no_pattern(pattern):
    """A pattern that cannot be read gives a sentence, or is read after all; nothing is raised."""
    given = answer(asked(pattern, "a"))
    assert given.get("error") or given == {"found": []}


@pytest.mark.parametrize(("most", "platform", "bounded"), [(-1, "linux", True), (5, "linux", 5), (-1, "darwin", None)])
def test_it_speaks_json_within_bounds(monkeypatch, capsys, most, platform, bounded):
    """One object comes in, one goes out, half characters included, and memory is bounded where the system can."""
    resource = pytest.importorskip("resource")
    limits = []
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (most, most))
    monkeypatch.setattr(resource, "setrlimit", lambda _, both: limits.append(both))
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(asked("b", "a\ud83db", room=1000))))
    main()
    assert json.loads(capsys.readouterr().out) == {"found": [[0, 1, [[2, 3]]]]}
    match limits:
        case [(soft, hard)]:
            assert hard == most
            assert soft == bounded or (bounded is True and soft > 1000)
        case _:
            assert bounded is None


def test_it_stands_alone():
    """The file imports nothing but the standard library, since it runs without any other."""
    tree = ast.parse(Path(_pattern_worker.__file__).read_text())
    names = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    names |= {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names
