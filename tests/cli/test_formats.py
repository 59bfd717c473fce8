"""``leafscar formats``, and commands over recordings of other tools."""

import json
from pathlib import Path

import pytest

from leafscar.formats.registry import FORMATS

DATA = Path(__file__).parent.parent / "data" / "formats"
RECORDED = sorted(path for path in DATA.rglob("*") if path.is_file())


def test_every_format_is_listed(run):
    """Each has its tool and where its files lie; pi's own comes first."""
    rows = json.loads(run("formats", "--json").stdout)
    assert [row["name"] for row in rows] == ["pi", *(each.name for each in FORMATS)]
    lines = run("formats").stdout.splitlines()
    assert len(lines) == len(rows)
    assert all(row["tool"] in line and row["files"] in line for row, line in zip(rows, lines, strict=True))


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: str(path.relative_to(DATA)))
def test_commands_take_every_format(run, path):
    """The context of any recording that is read can be shown, and the outgoing messages of it built."""
    result = run("context", path, "--json", "--window", 200_000)
    assert result.exit_code in (0, 1)
    assert "Traceback" not in result.output
    if result.exit_code == 0:
        assert json.loads(result.stdout)["messages"] >= 0
        assert run("context", path, "--as-sent", "--json", "--window", 200_000).exit_code == 0


def test_a_recording_of_another_tool_is_never_written(run, project):
    """Compact --write refuses it before a summary is asked for, and not a byte changes."""
    source = next(path for path in RECORDED if path.parent.name == "claude_code")
    copy = project / source.name
    copy.write_bytes(source.read_bytes())
    (project / "script.json").write_text('{"responses": []}')
    result = run("compact", copy, "--summarizer", "script:script.json", "--write")
    assert result.exit_code == 1
    assert "recordings of other tools are only read" in result.output
    assert copy.read_bytes() == source.read_bytes()
