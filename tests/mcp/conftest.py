from __future__ import annotations

import pytest
from tests.mcp.transcripts import claude_code

from leafscar.mcp import Scope


@pytest.fixture
def home(tmp_path):
    """An empty home folder."""
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def project(tmp_path):
    """An empty project folder."""
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def scope(home, project):
    """The scope of a project with one compacted session of Claude Code."""
    claude_code(home, project)
    return Scope(project=project, environ={}, home=home)
