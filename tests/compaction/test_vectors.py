"""What the real pi answered on our cases, compared in full (docs/compaction.md, "Checking against pi")."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from scripts.pi_parity.answer import answer
from scripts.pi_parity.compare import compare, count_unknown
from scripts.pi_parity.engines import ENGINES, choose
from scripts.pi_parity.texts import MARKED

ROOT = Path(__file__).parent.parent.parent
DATA = ROOT / "tests" / "data" / "pi"
BY_NAME = {engine.name: engine for engine in ENGINES}
DOCUMENTS = [path for path in sorted(DATA.glob("*.json")) if not path.name.endswith(".case.json")]


@pytest.mark.parametrize("path", DOCUMENTS, ids=[path.name.removesuffix(".json") for path in DOCUMENTS])
def test_leafscar_answers_as_pi_did(path: Path) -> None:
    """Every field that needs no text of pi's is equal."""
    name, engine = path.name.removesuffix(".json").split(".", 1)
    case = json.loads((DATA / f"{name}.case.json").read_bytes())
    got = answer(case, BY_NAME[engine], MARKED)
    assert list(map(str, compare(json.loads(path.read_bytes()), got))) == []


def test_the_vectors_are_all_here() -> None:
    """A lost file would be a test that silently does not run."""
    assert len(DOCUMENTS) == 187
    assert {path.name.split(".", 1)[1] for path in DOCUMENTS} == {f"{name}.json" for name in BY_NAME}


def _conformance(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts" / "conformance"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_script_counts_and_exits(tmp_path: Path) -> None:
    """A difference is printed as a path with both values, and the exit code is 1."""
    for file in DATA.glob("s12b_empty.*"):
        shutil.copy(file, tmp_path)
    good = _conformance(str(tmp_path))
    assert (good.returncode, good.stdout.splitlines()[-1]) == (0, "3 passed, 0 failed")
    broken = tmp_path / "s12b_empty.agent-core-0.82.1.json"
    broken.write_text(broken.read_text().replace('"tokens": 0', '"tokens": 7', 1))
    bad = _conformance(str(tmp_path), "--engine", "agent-core")
    assert (bad.returncode, bad.stdout.splitlines()[-1]) == (1, "0 passed, 1 failed")
    assert "$.context.estimate.tokens: expected 7, got 0" in bad.stdout
    empty = _conformance(str(tmp_path), "--engine", "agent-core", "--version", "1.3.0")
    assert empty.returncode == 1


def test_engines_are_chosen_by_kind_and_version() -> None:
    """None is any."""
    assert [engine.name for engine in choose("coding-agent", None)] == ["coding-agent-0.82.1", "coding-agent-1.3.0"]
    assert [engine.name for engine in choose(None, "1.3.0")] == ["coding-agent-1.3.0"]


def test_a_document_says_what_was_not_compared() -> None:
    """Fields that hold pi's wording are counted."""
    case = json.loads((DATA / "s01_user_boundary.case.json").read_bytes())
    assert count_unknown(answer(case, ENGINES[0], MARKED)) >= 2
