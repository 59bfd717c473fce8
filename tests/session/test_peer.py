"""The real pi opens what leafscar writes."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.session.build import answered, entry, header, ids, kinds, result, said, written

from leafscar.session import Session, append, load, save
from leafscar.session.recall import renew

MODULES = [Path(it) for it in os.environ.get("LEAFSCAR_PI_MODULES", "").split(":") if it]
MANAGERS = [it / "@earendil-works/pi-coding-agent/dist/core/session-manager.js" for it in MODULES]
NODE = shutil.which("node")
NEEDS = {"0": 20, "1": 22}
"""Major version of pi, and of the Node that it needs."""

ASK = """
import { pathToFileURL } from "node:url";
const [manager, path, ask] = process.argv.slice(1);
const { SessionManager } = await import(pathToFileURL(manager).href);
const session = SessionManager.open(path);
const tell = {
  all: () => ({
    context: session.buildContextEntries().map((entry) => entry.id),
    messages: session.buildSessionContext().messages.map((message) => message.role),
    entries: session.getEntries().map((entry) => entry.id),
    leaf: session.getLeafId(),
  }),
  append: () => session.appendCustomEntry("theirs", {}),
  fork: () => session.createBranchedSession(session.getLeafId()),
};
console.log(JSON.stringify(tell[ask]()));
"""


def node_version():
    """Major version of the Node on the path; 0 without one."""
    if NODE is None:
        return 0
    asked = subprocess.run([NODE, "--version"], capture_output=True, text=True, check=True)
    return int(asked.stdout.lstrip("v").split(".")[0])


def pi(manager, path, ask="all"):
    """What pi says about a file."""
    version = json.loads((manager.parents[2] / "package.json").read_text())["version"]
    if node_version() < NEEDS[version[0]]:
        pytest.skip(f"pi {version} needs Node {NEEDS[version[0]]}; put it on PATH")
    asked = subprocess.run(
        [NODE, "--input-type=module", "-e", ASK, str(manager), str(path), ask],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert asked.returncode == 0, asked.stderr
    return json.loads(asked.stdout)


pytestmark = [
    pytest.mark.peer,
    pytest.mark.skipif(
        not any(it.is_file() for it in MANAGERS),
        reason="LEAFSCAR_PI_MODULES names no node_modules folder with pi in it",
    ),
]
every_pi = pytest.mark.parametrize("manager", MANAGERS or [None], ids=lambda it: it.parents[5].name if it else "none")


def session():
    """Give a session with an abandoned branch, a label, an odd text."""
    return Session.memory(
        [
            said("aaaaaaa1", None), answered("aaaaaaa2", "aaaaaaa1"), said("aaaaaaa3", "aaaaaaa2", "left"),
            said("aaaaaaa4", "aaaaaaa2", "\ud83d \u2028 é"), result("aaaaaaa5", "aaaaaaa4"),
            entry("aaaaaaa6", "aaaaaaa5", targetId="aaaaaaa1", label="x"), said("aaaaaaa7", "aaaaaaa6"),
        ],
        cwd="/home/user/demo",
    )  # fmt: skip


def agree(manager, path):
    """Check that pi and leafscar see the same in a file."""
    ours, theirs = load(path), pi(manager, path)
    context = ours.context()
    roles = [it["message"]["role"] if it.type == "message" else "compactionSummary" for it in context.entries]
    projecting = {it.id for it in ours.entries if it.message is not None}
    assert theirs["leaf"] == ours.leaf_id
    assert theirs["entries"] == ids(ours.entries)
    assert theirs["messages"] == roles
    assert [id_ for id_ in theirs["context"] if id_ in projecting] == ids(context.entries)


@every_pi
def test_pi_opens_what_is_saved_and_appended(tmp_path, manager):
    """A saved session, a cut appended to it and an entry after that: pi builds the context that leafscar builds."""
    path = tmp_path / "s.jsonl"
    save(session(), path)
    agree(manager, path)
    usage = {"input": 5, "output": 6, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 11, "cost": {"total": 0}}
    fields = {"summary": "so far", "firstKeptEntryId": "aaaaaaa4", "tokensBefore": 9, "usage": usage, "fromHook": False}
    cut = append(load(path), "compaction", fields)
    agree(manager, path)
    append(cut, "message", {"message": {"role": "user", "content": "go on", "timestamp": 5}})
    before = path.read_bytes()
    agree(manager, path)
    assert path.read_bytes() == before
    own = pi(manager, path, "append")
    assert load(path).leaf_id == own
    assert kinds(load(path)) == [("lone-surrogate", 5)]


@every_pi
def test_a_torn_line_that_was_ended_is_no_trouble_for_pi(tmp_path, manager):
    """What stands after the next append of a file that a dying process left is what pi reads too."""
    path = tmp_path / "s.jsonl"
    save(session(), path)
    with path.open("ab") as stream:
        stream.write(b'{"type":"message","id":"aaaa')
    append(load(path), "label", {"targetId": "aaaaaaa1", "label": "y"})
    agree(manager, path)


@every_pi
def test_a_fork_of_pi_resolves_old_lines(tmp_path, manager):
    """A line in a call from before a fork that pi made is found through the file it was forked from."""
    early = [said("a1", None), entry("l1", "a1", targetId="a1", label="x"), result("r1", "l1"), answered("ask1", "r1")]
    path = written(tmp_path / "s.jsonl", header(id="019e0000-0000-7000-8000-000000000000", cwd=str(tmp_path)), *early)
    assert load(path).reference_for(load(path).entry("r1")) == "#4"
    forked = load(pi(manager, path, "fork"))
    assert forked.header.parent_session == str(path)
    assert renew(forked, "#4:full", forked.entry("ask1")) == "#3:full"
    assert forked.reference_for(forked.entry("r1")) == "#3"
