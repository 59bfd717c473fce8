"""The host that the architecture page shows."""

import re
from pathlib import Path

import pytest

from leafscar.engine.policy import POLICIES

DOCS = Path(__file__).parents[2] / "docs"


def test_the_example_host_runs(capsys):
    """The page's code runs as it stands, and control acts in it."""
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(compile(code, "architecture.md", "exec"), {})
    assert "'shed'" in capsys.readouterr().out


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_is_described(name):
    """The users' page has a row for each name."""
    assert f"| `{name}`" in (DOCS / "policies.md").read_text(encoding="utf-8")
