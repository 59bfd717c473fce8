"""Writes the demo project: a few hundred files of code, tests, logs, fixtures and migrations, from a seed."""

from __future__ import annotations

import json
import random
import struct
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import demo_carriers, demo_core

if TYPE_CHECKING:
    from pathlib import Path

ROOMS = {
    "api": [
        "quotes",
        "labels",
        "tracking",
        "returns",
        "webhooks",
        "invoices",
        "parcels",
        "depots",
        "health",
        "search",
        "batches",
        "claims",
    ],
    "jobs": [
        "nightly_import",
        "retry_webhooks",
        "daily_report",
        "purge_labels",
        "sync_rates",
        "close_claims",
        "build_index",
    ],
    "store": ["parcels_store", "events_store", "rates_store", "labels_store", "claims_store", "batches_store"],
}
KEYS = ("carrier", "depot", "country", "service", "status", "customer")
ERROR_SHARE, WARN_SHARE = 0.07, 0.13
PLACES = ("Leipzig", "Lyon", "Gent", "Graz", "Porto", "Gdansk", "Aarhus", "Turku", "Brno", "Verona")


@dataclass
class Demo:
    """The project on disk and what a story needs to know about it."""

    root: Path
    carriers: dict[str, demo_carriers.Carrier]
    rooms: dict[str, list[str]]

    def text(self, path: str) -> str:
        """Return a file as it is now."""
        return (self.root / path).read_text(encoding="utf-8")


class Writer:
    """Writes files below one folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def put(self, path: str, text: str) -> None:
        """Write one text file."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def build(root: Path, seed: int, bugs: dict[str, str]) -> Demo:
    """Write the whole project."""
    rng = random.Random(seed)  # noqa: S311
    out = Writer(root)
    _core(out)
    carriers = {name: demo_carriers.make(rng, name, bugs.get(name, "")) for name in demo_carriers.NAMES}
    for carrier in carriers.values():
        out.put(carrier.path, demo_carriers.module(carrier))
        out.put(carrier.test, demo_carriers.tests(carrier))
        out.put(f"tests/fixtures/{carrier.name}.json", _fixture(rng, carrier))
        out.put(f"docs/carriers/{carrier.name}.md", _carrier_doc(carrier))
    rooms = {room: _room(out, rng, room, names) for room, names in ROOMS.items()}
    _migrations(out, rng)
    _logs(out, rng, list(carriers))
    return Demo(root, carriers, rooms)


def _core(out: Writer) -> None:
    out.put("README.md", demo_core.README)
    out.put("CONTRIBUTING.md", demo_core.CONTRIBUTING)
    out.put("tools/run_tests.py", demo_core.RUN_TESTS)
    for package in ("", "core/", "carriers/", "jobs/", "store/"):
        out.put(f"parcelhub/{package}__init__.py", "")
    for name in ("money", "errors", "registry", "events"):
        out.put(f"parcelhub/core/{name}.py", getattr(demo_core, name.upper()))


def _room(out: Writer, rng: random.Random, room: str, names: list[str]) -> list[str]:
    paths = []
    for name in names:
        kinds = rng.sample(sorted(demo_core.FUNCTIONS), rng.randint(4, 6))
        slots = {
            "n": name,
            "what": name.replace("_", " "),
            "key": rng.choice(KEYS),
            "size": rng.choice((10, 20, 25, 50)),
            "tries": rng.randint(2, 5),
        }
        body = "\n\n".join(demo_core.FUNCTIONS[kind].format(**slots) for kind in kinds)
        path = f"parcelhub/{room}/{name}.py"
        out.put(path, f'"""{slots["what"].capitalize()} of the {room} layer."""\n\n\n{body}')
        imports = f"from parcelhub.{room}.{name} import " + ", ".join(sorted(f"{kind}_{name}" for kind in kinds))
        checks = "\n\n".join(demo_core.FUNCTION_TESTS[kind].format(**slots) for kind in kinds)
        out.put(f"tests/test_{room}_{name}.py", f'"""Tests of {path}."""\n\n{imports}\n\n\n{checks}')
        paths.append(path)
    if room == "api":
        exports = "\n".join(f"from parcelhub.api import {name}" for name in sorted(names))
        out.put("parcelhub/api/__init__.py", f'"""Public surface. Do not rename."""\n\n{exports}\n')
    return paths


def _fixture(rng: random.Random, carrier: demo_carriers.Carrier) -> str:
    keys = carrier.keys
    codes = list(carrier.codes)
    rows = [
        {
            keys["ref"]: f"{carrier.name[:3].upper()}{rng.randint(10**8, 10**9 - 1)}",
            keys["code"]: rng.choice(codes),
            keys["at"]: f"2026-02-{rng.randint(1, 28):02d}T{rng.randint(0, 23):02d}:{rng.randint(0, 59):02d}:00Z",
            keys["place"]: rng.choice(PLACES),
            "weight_g": rng.randint(80, 29_000),
        }
        for _ in range(rng.randint(18, 40))
    ]
    return json.dumps(rows, indent=1) + "\n"


def _carrier_doc(carrier: demo_carriers.Carrier) -> str:
    codes = "\n".join(f"| `{code}` | {status} |" for code, status in carrier.codes.items())
    return (
        f"# {carrier.name}\n\nServices: {', '.join(carrier.services)}. Fuel: {carrier.fuel} per mille.\n\n"
        f"| code | our status |\n|---|---|\n{codes}\n\nHeaviest parcel: {carrier.brackets[-1][0]} g (inclusive).\n"
    )


def _migrations(out: Writer, rng: random.Random) -> None:
    for number in range(1, 61):
        table = rng.choice(("parcels", "events", "labels", "rates", "claims", "batches"))
        column = rng.choice(("note", "depot", "carrier", "weight_g", "cents", "closed_at")) + f"_{number}"
        out.put(
            f"migrations/{number:04d}_{table}.sql",
            f"-- applied; frozen\nALTER TABLE {table} ADD COLUMN {column} TEXT;\n"
            f"CREATE INDEX idx_{table}_{column} ON {table} ({column});\n",
        )


def _logs(out: Writer, rng: random.Random, carriers: list[str]) -> None:
    for day in range(1, 15):
        lines = [_log_line(rng, day, second, carriers) for second in sorted(rng.sample(range(86_400), 330))]
        out.put(f"logs/app-2026-02-{day:02d}.log", "\n".join(lines) + "\n")
    for day in range(1, 7):
        lines = [_world_line(rng, day, minute) for minute in sorted(rng.sample(range(1440), 60))]
        out.put(f"logs/gateway-asia-2026-02-{day:02d}.log", "\n".join(lines) + "\n")


def _log_line(rng: random.Random, day: int, second: int, carriers: list[str]) -> str:
    stamp = f"2026-02-{day:02d}T{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}Z"
    carrier, request = rng.choice(carriers), f"{rng.getrandbits(32):08x}"
    kind = rng.random()
    if kind < ERROR_SHARE:
        reason = rng.choice(("timeout after 8000 ms", "HTTP 502 from carrier", "schema mismatch", "label queue full"))
        return f"{stamp} ERROR carriers.{carrier} request={request} attempt={rng.randint(1, 4)} {reason}"
    if kind < ERROR_SHARE + WARN_SHARE:
        return f"{stamp} WARN  jobs.retry_webhooks request={request} backlog={rng.randint(3, 400)} carrier={carrier}"
    return (
        f"{stamp} INFO  api.{rng.choice(ROOMS['api'])} request={request} carrier={carrier}"
        f" status={rng.choice((200, 200, 200, 201, 204, 404, 422))} ms={rng.randint(4, 900)}"
    )


def _world_line(rng: random.Random, day: int, minute: int) -> str:
    texts = (
        "荷物を受け付けました 📦 伝票番号={n}",
        "配達完了 ✅ 受取人確認済み 伝票番号={n}",
        "包裹已到达上海转运中心等待清关 🛃 单号={n}",
        "地址不完整 派送失败 ⚠️ 单号={n}",
        "배송 출발 🚚 운송장={n}",
        "수취인 부재로 보관 중 🏠 운송장={n}",
        "gateway retry token refresh ok n={n}",
    )
    stamp = f"2026-02-{day:02d}T{minute // 60:02d}:{minute % 60:02d}:00+09:00"
    return f"{stamp} {rng.choice(texts).format(n=rng.randint(10**9, 10**10 - 1))}"


def png(path: Path, rng: random.Random, width: int = 300, height: int = 160) -> None:
    """Write a small bar chart as PNG."""
    bars = [rng.randint(10, height - 10) for _ in range(12)]
    rows = b""
    for y in range(height):
        row = bytearray(b"\x00")
        for x in range(width):
            bar, inside = bars[x * 12 // width], x * 12 % width > width // 5
            row.append(1 if inside and height - y <= bar else 0)
        rows += bytes(row)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    palette = bytes((250, 250, 248, 46, 110, 92))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"PLTE", palette)
        + chunk(b"IDAT", zlib.compress(rows, 9))
        + chunk(b"IEND", b"")
    )
