"""What must hold for the package as a whole: what is installed, what importing costs, and what pure rooms may do."""

import ast
import importlib.metadata
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import leafscar

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "leafscar"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PURE_ROOMS = "compaction decisions estimate evaluation formats hindsight model pruning wire".split()  # noqa: SIM905
PURE = [path for room in PURE_ROOMS for path in sorted((SOURCE / room).rglob("*.py"))]
MODULES = sorted(SOURCE.rglob("*.py"))
FACES = "adapters agent cli gateway mcp pi report".split()  # noqa: SIM905
BELOW = [path for path in MODULES if path.relative_to(SOURCE).parts[0] not in ("__init__.py", "__main__.py", *FACES)]

FORBIDDEN = set(
    "anyio asyncio concurrent glob http httpx2 io logging multiprocessing os pathlib platformdirs random "  # noqa: SIM905
    "secrets select shutil signal socket sqlite3 subprocess tempfile threading time urllib uuid".split()
)
CALLS = {"open", "print", "input", "eval", "exec", "now", "today", "utcnow"}
MEMORIES = {"cache", "lru_cache"}
MUTABLE = ast.List | ast.ListComp | ast.Set | ast.SetComp | ast.DictComp | ast.GeneratorExp
MAKES_MUTABLE = {"list", "set", "dict", "defaultdict", "deque", "Counter", "OrderedDict", "bytearray"}


def tree(path):
    """Syntax tree of a module."""
    return ast.parse(path.read_text(encoding="utf-8"))


def named(path):
    """A test id for a module."""
    return pytest.param(path, id=str(path.relative_to(SOURCE)))


def called(node):
    """Name of what a call or a decorator calls, without what it hangs on."""
    target = node.func if isinstance(node, ast.Call) else node
    return target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")


def imported(node):
    """Top names that an import statement brings in."""
    if isinstance(node, ast.Import):
        return {name.name.split(".")[0] for name in node.names}
    return {(node.module or "").split(".")[0]} if isinstance(node, ast.ImportFrom) else set()


def only_for_types(module):
    """Nodes below ``if TYPE_CHECKING``."""
    guards = [n for n in ast.walk(module) if isinstance(n, ast.If) and called(n.test) == "TYPE_CHECKING"]
    return {id(inner) for guard in guards for inner in ast.walk(guard)}


def test_version_is_stated_once():
    """The installed metadata, the project file and the package agree."""
    assert leafscar.__version__ == PROJECT["version"]
    assert importlib.metadata.version("leafscar") == PROJECT["version"]


def test_ships_its_types():
    """The marker for type checkers is part of the package."""
    assert (SOURCE / "py.typed").is_file()


def test_the_command_can_be_loaded():
    """What the project names as its command exists."""
    module, function = PROJECT["scripts"]["leafscar"].split(":")
    code = f"import {module} as m; assert callable(m.{function})"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_rooms_are_reached_through_the_package():
    """Each room that the package names can be used without an import of its own."""
    rooms = sorted(set(dir(leafscar)) - set(leafscar.__all__))
    assert "hindsight" in rooms
    assert [getattr(leafscar, room).__name__ for room in rooms] == [f"leafscar.{room}" for room in rooms]


def test_importing_is_light():
    """Importing the package loads msgspec and nothing heavier."""
    code = "import leafscar, json, sys; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    loaded = {name.split(".")[0] for name in json.loads(done.stdout)}
    assert not loaded & {
        "anyio",
        "asyncio",
        "click",
        "genai_prices",
        "httpx2",
        "numpy",
        "platformdirs",
        "pydantic",
        "rich",
    }


@pytest.mark.parametrize("path", [named(path) for path in MODULES])
def test_modules_are_small_and_say_what_they_are_for(path):
    """Every module begins with a docstring and stays under 400 lines."""
    text = path.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text))
    assert len(text.splitlines()) < 400


@pytest.mark.parametrize("path", [named(path) for path in BELOW])
def test_no_room_imports_the_public_face(path):
    """``leafscar`` re-exports the rooms, so only the faces above them may import from it."""
    faces = [
        node
        for node in ast.walk(tree(path))
        if (isinstance(node, ast.ImportFrom) and node.module == "leafscar")
        or (isinstance(node, ast.Import) and any(name.name == "leafscar" for name in node.names))
    ]
    assert not faces


@pytest.mark.parametrize("path", [named(path) for path in PURE])
def test_pure_rooms_reach_nothing_outside(path):
    """A pure room imports no I/O, clock or randomness, calls none, and remembers nothing between calls."""
    module = tree(path)
    skipped = only_for_types(module)
    nodes = [node for node in ast.walk(module) if id(node) not in skipped]
    assert not {name for node in nodes for name in imported(node)} & FORBIDDEN
    assert not {called(node) for node in nodes if isinstance(node, ast.Call)} & CALLS
    assert not [node.lineno for node in nodes if isinstance(node, ast.Global)]
    decorators = [d for n in nodes if isinstance(n, ast.FunctionDef | ast.ClassDef) for d in n.decorator_list]
    assert not set(map(called, decorators)) & MEMORIES


@pytest.mark.parametrize("path", [named(path) for path in PURE])
def test_pure_rooms_hold_no_state(path):
    """What a module of a pure room holds is a constant: private or upper-case tables, no lists and no sets."""
    values = [node for node in tree(path).body if isinstance(node, ast.Assign | ast.AnnAssign) and node.value]
    for node in values:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if [getattr(target, "id", "") for target in targets] == ["__all__"]:
            continue
        made = isinstance(node.value, ast.Call) and called(node.value) in MAKES_MUTABLE
        assert not made, f"line {node.lineno}"
        assert not isinstance(node.value, MUTABLE), f"line {node.lineno}"
