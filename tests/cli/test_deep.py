from __future__ import annotations

import json

import pytest
from tests.replay.sessions import autonomous

SCRIPT = {"responses": [{"text": "## Goal\ngo on"}] * 9}


def deepen(path, levels, field="arguments"):
    """Make one line of a session so many levels deep, in the field of its first call, or in one of its message."""
    lines = path.read_text().splitlines()
    at = next(n for n, line in enumerate(lines) if '"toolCall"' in line)
    entry = json.loads(lines[at])
    inner = 6 if field == "arguments" else 4
    nest = '{"a":' * (levels - inner + 2) + "1" + "}" * (levels - inner + 2)
    if field == "arguments":
        entry["message"]["content"][-1]["arguments"] = 31_337
    else:
        entry["message"][field] = 31_337
    lines[at] = json.dumps(entry).replace("31337", nest)
    path.write_text("\n".join(lines) + "\n")
    return at + 1


@pytest.mark.parametrize("levels", [128, 129, 400, 900, 5_000])
@pytest.mark.parametrize("field", ["arguments", "details"])
def test_every_command_takes_deep_lines(run, project, levels, field):
    """However deep a message nests, every command works, and what is left out is said."""
    path = autonomous(45).write(project / "session.jsonl")
    number = deepen(path, levels, field)
    before = path.read_bytes()
    (project / "script.json").write_text(json.dumps(SCRIPT))
    for args in (
        ["replay", path, "--window", 60_000, "--json", "out.json", "--html", "out.html"],
        ["context", path, "--window", 60_000],
        ["context", path, "--window", 60_000, "--json"],
        ["context", path, "--window", 60_000, "--as-sent"],
        ["context", path, "--window", 60_000, "--as-sent", "--json"],
        ["recall", path, "#4:full"],
        ["compact", path, "--window", 60_000],
        ["compact", path, "--window", 60_000, "--summarizer", "script:script.json", "--write"],
    ):
        result = run(*args)
        assert result.exit_code == 0, (args, result.output)
    assert path.read_bytes().startswith(before)
    replayed = json.loads((project / "out.json").read_text())["sessions"][0]
    told = f"line {number}: nested deeper than 128 levels; the entry is kept and gives no message"
    assert (told in replayed["problems"]) is (levels > 128)
