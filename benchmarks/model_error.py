"""How far the cache model is from what recordings were billed: one row for each recording with usage.

    python benchmarks/model_error.py FOLDER [FOLDER...]

Prints the table of docs/cost-model.md and, below it, what was passed over and why. Nothing is sent anywhere; the
result depends on the recordings and the installed price table alone. ``--smoke`` runs over ``examples/``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from leafscar.errors import LeafscarError
from leafscar.replay import find_sessions
from leafscar.replay.check import ModelCheck, check_model
from leafscar.replay.numbers import percent
from leafscar.session import load

_HEAD = (
    "recording", "model", "requests", "read share", "modelled", "bill", "modelled", "error", "unexplained losses",
    "error beside them",
)  # fmt: skip
_FEW = 5
_EXAMPLES = Path(__file__).parents[1] / "examples"


def row(name: str, check: ModelCheck) -> tuple[str, ...]:
    """Cells of one recording."""
    return (
        name,
        check.model or "unknown",
        f"{check.requests}",
        percent(check.read_share),
        percent(check.modelled_share),
        *_bills(check),
        percent(check.error),
        str(check.losses or ""),
        percent(check.rest) if check.losses else "",
    )


def _bills(check: ModelCheck) -> tuple[str, str]:
    """Both in dollars where both are known, else in million input-token equivalents."""
    if check.cost is not None and check.modelled_cost is not None:
        return f"${check.cost:,.2f}", f"${check.modelled_cost:,.2f}"
    recorded = "unknown" if check.units is None else f"{check.units / 1e6:.2f}M units"
    return recorded, f"{check.modelled_units / 1e6:.2f}M units"


def table(folders: Iterable[Path]) -> tuple[list[tuple[str, ...]], list[str]]:
    """Rows, and sentences about what is in none."""
    rows: list[tuple[str, ...]] = []
    skipped: list[str] = []
    for folder in folders:
        for path in find_sessions([folder]):
            name = path.relative_to(folder).with_suffix("").as_posix() if path != folder else path.stem
            try:
                check = check_model(load(path))
            except LeafscarError as fault:
                skipped.append(f"{name}: {getattr(fault, 'reason', fault)}")
                continue
            if check.read_share is None:
                skipped.append(f"{name}: no cache use is reported")
            elif check.requests < _FEW:
                skipped.append(f"{name}: fewer than {_FEW} requests")
            else:
                rows.append(row(name, check))
    return rows, skipped


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--smoke", action="store_true")
    arguments = parser.parse_args()
    folders = [_EXAMPLES] if arguments.smoke else arguments.folders
    if not folders:
        parser.error("name a folder of recordings")
    rows, skipped = table(folders)
    for cells in (_HEAD, ("---",) * len(_HEAD), *rows):
        print(f"| {' | '.join(cells)} |")
    for sentence in skipped:
        print(sentence, file=sys.stderr)


if __name__ == "__main__":
    main()
