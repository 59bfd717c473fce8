import json
import tomllib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leafscar.errors import LeafscarError, SettingsError
from leafscar.mcp import install, plan

COMMAND = ["/opt/py thon", "-P", "-m", "leafscar", "mcp"]
ENTRY = {"command": COMMAND[0], "args": COMMAND[1:]}
CODEX = """# my settings
model = "gpt-5"   # the good one

[mcp_servers.other]
command = "other"

[profiles.fast]
model = "mini"
"""


@pytest.fixture
def ask(project, home):
    """Plan an installation, with the file of the client filled before."""

    def planned(client, before=None, **environ):
        path = target(project, home, client)
        path.parent.mkdir(exist_ok=True)
        if before is not None:
            path.write_bytes(before if isinstance(before, bytes) else before.encode())
        return plan(client, COMMAND, project=project, home=home, environ=environ)

    return planned


def target(project, home, client):
    """Give the settings file of a client."""
    return project / ".mcp.json" if client == "claude" else home / ".codex" / "config.toml"


def test_claude_code_without_settings(ask, project):
    """A new file holds the server alone."""
    install(ask("claude"))
    assert json.loads((project / ".mcp.json").read_text()) == {"mcpServers": {"leafscar": {"type": "stdio", **ENTRY}}}


def test_claude_code_with_other_servers(ask, project):
    """What stands in the file stays, in its order, characters as they were."""
    before = {"z": "ü", "mcpServers": {"other": {"url": "http://x"}}, "a": [1.5, None, 10**30]}
    install(ask("claude", json.dumps(before, ensure_ascii=False)))
    text = (project / ".mcp.json").read_text()
    after = json.loads(text)
    assert list(after) == ["z", "mcpServers", "a"]
    assert list(after["mcpServers"]) == ["other", "leafscar"]
    assert "ü" in text
    del after["mcpServers"]["leafscar"]
    assert after == before


def test_codex_without_settings(ask, home):
    """A new file, also without its folder, holds the table alone."""
    install(ask("codex"))
    assert tomllib.loads((home / ".codex" / "config.toml").read_text()) == {"mcp_servers": {"leafscar": ENTRY}}


@pytest.mark.parametrize(
    "before", [CODEX, CODEX.rstrip("\n"), "# only a comment", "\n\n", "[mcp_servers]\n", 'x = "\\u00fc"\r\n']
)
def test_codex_keeps_every_byte(ask, home, before):
    """The table is appended; comments and all that stood before stay byte for byte."""
    install(ask("codex", before))
    after = (home / ".codex" / "config.toml").read_bytes().decode()
    assert after.startswith(before)
    assert tomllib.loads(after)["mcp_servers"]["leafscar"] == ENTRY


def test_codex_elsewhere(ask, tmp_path):
    """``CODEX_HOME`` moves the file."""
    assert ask("codex", CODEX_HOME=str(tmp_path / "moved")).path == tmp_path / "moved" / "config.toml"


@pytest.mark.parametrize(
    ("client", "before"), [("claude", None), ("claude", '{"mcpServers": {}}'), ("codex", None), ("codex", CODEX)]
)
def test_twice_is_once(ask, project, home, client, before):
    """A second installation changes nothing."""
    install(ask(client, before))
    first = target(project, home, client).read_bytes()
    second = ask(client)
    assert second.after == second.before == first
    install(second)
    assert target(project, home, client).read_bytes() == first


@pytest.mark.parametrize("client", ["claude", "codex"])
def test_more_keys_of_the_users_own_are_kept(ask, project, home, client):
    """An entry with the same command and settings of the user's own is there already."""
    before = (
        json.dumps({"mcpServers": {"leafscar": {**ENTRY, "env": {"A": "b"}}}})
        if client == "claude"
        else ask("codex").after.decode() + "startup_timeout_sec = 30\n"
    )
    change = ask(client, before)
    assert change.after == change.before


FOREIGN = {
    "claude": [
        "[]",
        "{",
        "1",
        '{"mcpServers": []}',
        '{"mcpServers": {"leafscar": {"command": "evil"}}}',
        '{"mcpServers": {"leafscar": 1}}',
        '{"a": 1, "a": 2}',
        '{"a": 1e999}',
        "[" * 100_000,
        b"\xff{}",
    ],
    "codex": [
        "x",
        "mcp_servers = 1",
        "mcp_servers = {}",
        'mcp_servers = {a = {command = "b"}}',
        '[mcp_servers.leafscar]\ncommand = "evil"',
        "mcp_servers.leafscar = 1",
        "a = 1\na = 2",
        "[[mcp_servers]]\n",
        "not_even_itself = nan",
        "x = " + "[" * 100_000,
        b"\xff",
    ],
}


@pytest.mark.parametrize(
    ("client", "before"), [(client, each) for client, some in FOREIGN.items() for each in some], ids=range(21)
)
def test_backing_out(ask, project, home, client, before):
    """What cannot be added to without losing or guessing is left as it is, with one line."""
    with pytest.raises(SettingsError, match=r"\A[^\n]*(nothing was written|by hand)[^\n]*\Z"):
        ask(client, before)
    left = target(project, home, client).read_bytes()
    assert left == (before if isinstance(before, bytes) else before.encode())


def test_pi_has_none(ask, home, project):
    """For pi the answer is what to use instead."""
    with pytest.raises(LeafscarError, match=r"pi has no MCP of its own.*leafscar recall --search"):
        ask("pi")
    with pytest.raises(LeafscarError, match="give one of claude, codex, pi"):
        ask("vim")


def test_files_that_are_none(ask, project):
    """A folder, a link to nothing, and a giant file in the place of the settings are left alone."""
    path = project / ".mcp.json"
    path.symlink_to(project / "nothing")
    with pytest.raises(SettingsError, match="no regular file"):
        ask("claude")
    path.unlink()
    with pytest.raises(SettingsError, match="larger than 4 MiB"):
        ask("claude", b" " * (4 * 1024 * 1024 + 1))
    path.unlink()
    path.mkdir()
    with pytest.raises(SettingsError, match="no regular file"):
        ask("claude")


def test_what_cannot_be_read(ask, monkeypatch):
    """A file that is not ours to read is one line."""
    monkeypatch.setattr(
        "pathlib.Path.read_bytes", lambda _: (_ for _ in ()).throw(PermissionError(13, "Permission denied"))
    )
    with pytest.raises(SettingsError, match="Permission denied; nothing was written"):
        ask("claude", "{}")


def test_half_a_character_is_kept(ask, project):
    """A string that no UTF-8 can hold is written as an escape."""
    install(ask("claude", '{"a": "\\ud83d"}'))
    assert json.loads((project / ".mcp.json").read_text())["a"] == "\ud83d"


def test_through_a_link(ask, project, tmp_path):
    """Settings behind a link are written where they are, and the link stays."""
    real = tmp_path / "dotfiles.json"
    real.write_text("{}")
    (project / ".mcp.json").symlink_to(real)
    install(ask("claude"))
    assert (project / ".mcp.json").is_symlink()
    assert "leafscar" in real.read_text()


def test_a_file_that_changed_meanwhile(ask, project):
    """What somebody else wrote since it was read is not overwritten."""
    change = ask("claude", "{}")
    (project / ".mcp.json").write_text('{"mine": 1}')
    with pytest.raises(SettingsError, match="changed meanwhile"):
        install(change)
    assert (project / ".mcp.json").read_text() == '{"mine": 1}'


def test_a_write_that_fails(ask, project, monkeypatch):
    """A full disk leaves the file as it was, and nothing beside it."""
    change = ask("claude", "{}")
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(SettingsError, match="No space left on device; nothing was written"):
        install(change)
    assert [each.name for each in project.iterdir()] == [".mcp.json"]
    assert (project / ".mcp.json").read_text() == "{}"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(words=st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs"])), min_size=1, max_size=3))
def test_any_command_reads_back(project, home, words):
    """Whatever characters a command has, both clients read the same words back."""
    toml = plan("codex", words, project=project, home=home, environ={}).after.decode()
    data = json.loads(plan("claude", words, project=project, home=home, environ={}).after)
    entry = {"command": words[0], "args": words[1:]}
    assert tomllib.loads(toml) == {"mcp_servers": {"leafscar": entry}}
    assert data["mcpServers"]["leafscar"] == {"type": "stdio", **entry}
