"""What each policy costs over recordings and over generated sessions, by window, prices and lifetime of the cache.

    python benchmarks/policy_grid.py [--recordings FOLDER ...] [--generated 12] [--policy NAME ...] [--smoke]

Costs are ratios to `compaction` on the same window under the same prices, means over sessions. A policy may be a
variant: `balanced:shed_fraction=0.6,goal_fraction=0.5`. Without recordings the examples stand in. Tables are Markdown;
ADR 0051 holds those of the present policies.
"""

from __future__ import annotations

import argparse
import os
import sys
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean

import msgspec
from generate_sessions import generated, recorded
from msgspec import Struct, structs

from leafscar.engine import Policy, parse_policy
from leafscar.replay.corpus import Case, Outcome, Rates, play

EXAMPLES = Path(__file__).parents[1] / "examples"
OWN = 0
WINDOWS = (OWN, 64_000, 128_000, 200_000)
READS = (0.025, 0.05, 0.1, 0.25, 0.5)
WRITES = (1.0, 1.25, 2.0)
LIFETIMES = (300.0, 3600.0)
FRACTIONS = tuple(f"compaction:{share / 100:.2f}" for share in range(40, 100, 10))
POLICIES = ("balanced", "fewest-cuts", "thrifty")
USUAL = Rates()
CROSSES = 0.60
DEARER = 1.0005
PROCESSES = 2

Key = tuple[str, int, str, Rates]
Placed = tuple[Case, int]
Group = tuple[str, list[Placed]]


def variant(name: str) -> Policy:
    """A policy, or `NAME:field=value,field=value`."""
    base, _, detail = name.partition(":")
    if "=" not in detail:
        return parse_policy(name)
    changes = dict(part.split("=", 1) for part in detail.split(","))
    return msgspec.convert(
        {**msgspec.structs.asdict(parse_policy(base)), **changes, "name": name}, Policy, strict=False
    )


class Runs:
    """Outcomes by case, window, policy and what of the rates the policy looks at; filled two at a time."""

    def __init__(self, cases: Iterable[Case]) -> None:
        self.cases = {case.name: case for case in cases}
        self._known: dict[Key, Outcome] = {}

    def key(self, case: Case, window: int, policy: str, rates: Rates) -> Key:
        """Rates without effect on what a policy does are left out: the bill is computed afterwards."""
        seen = rates if variant(policy).looks_at_prices else Rates(ttl=rates.ttl)
        return case.name, window, policy, seen

    def fill(self, keys: Iterable[Key]) -> None:
        """Play what is not known yet."""
        todo = [key for key in dict.fromkeys(keys) if key not in self._known]
        if len(todo) < 8:
            self._known |= {key: _play(self.cases, key) for key in todo}
            return
        _SHARED.update(self.cases)
        with get_context("fork").Pool(PROCESSES, initializer=os.nice, initargs=(5,)) as pool:
            self._known |= dict(zip(todo, pool.imap(_play_shared, todo, chunksize=8), strict=True))

    def of(self, case: Case, window: int, policy: str, rates: Rates) -> Outcome:
        """One outcome that was filled in."""
        return self._known[self.key(case, window, policy, rates)]

    def played(self) -> Mapping[Key, Outcome]:
        """All of them."""
        return self._known


_SHARED: dict[str, Case] = {}


def _play_shared(key: Key) -> Outcome:
    return _play(_SHARED, key)


def _play(cases: Mapping[str, Case], key: Key) -> Outcome:
    name, window, policy, rates = key
    return play(cases[name], variant(policy), window=window, rates=rates)


# --- groups of sessions -----------------------------------------------------------------------------------


def on_window(cases: Iterable[Case], window: int) -> list[Placed]:
    """Cases with the window they run on; those without one of their own are left out there."""
    placed = ((case, window or case.window or 0) for case in cases)
    return [(case, size) for case, size in placed if size]


def crossing(runs: Runs, placed: Sequence[Placed]) -> list[Placed]:
    """Those whose context, never cut, crosses 60 % of the window."""
    runs.fill(runs.key(case, size, "none", USUAL) for case, size in placed)
    return [(case, size) for case, size in placed if runs.of(case, size, "none", USUAL).peak > CROSSES * size]


def half(case: Case) -> int:
    """0 or 1, by the name: rules are chosen on one half and shown on both."""
    return zlib.crc32(case.name.encode()) % 2


# --- numbers ----------------------------------------------------------------------------------------------


class Line(Struct, frozen=True, kw_only=True):
    """A policy over a group of sessions; costs are means of ratios, counts are sums."""

    ratio: float
    worst: float
    dearer: int
    cuts: int
    compaction_cuts: int
    moves: int
    equal: float
    """Cost against the compaction at the one fraction that makes the nearest number of cuts."""
    recalled: float
    """Cost with one more request for each output that was needed later, on both sides."""
    unbroken: float
    """Cost if neither moves nor cuts had broken a warm cache: a lower bound for these moves and cuts."""
    lost: int
    needed: int
    lost_tokens: float
    needed_tokens: float
    over: int
    refused: int


def _half_of(placed: Sequence[Placed], number: int) -> list[Placed]:
    return [each for each in placed if half(each[0]) == number]


def _on_window(runs: Runs, cases: Iterable[Case], window: int) -> list[Placed]:
    return crossing(runs, on_window(cases, window))


def line(runs: Runs, placed: Sequence[Placed], policy: str, rates: Rates, *, equal: bool = False) -> Line:
    """Sum up; ``equal`` also compares with compaction at the same number of cuts, or the next above."""
    names = (policy, "compaction", *(FRACTIONS if equal else ()))
    runs.fill(runs.key(case, size, name, rates) for case, size in placed for name in names)
    ratios = {case.name: _ratio(runs, case, size, policy, "compaction", rates) for case, size in placed}
    mine = [runs.of(case, size, policy, rates) for case, size in placed]
    cuts = sum(each.cuts for each in mine)
    other = _nearest(runs, placed, cuts, rates) if equal else "compaction"
    return Line(
        ratio=fmean(ratios.values()),
        worst=max(ratios.values()),
        dearer=sum(ratio > DEARER for ratio in ratios.values()),
        cuts=cuts,
        compaction_cuts=sum(runs.of(case, size, "compaction", rates).cuts for case, size in placed),
        moves=sum(each.moves for each in mine),
        equal=fmean(_ratio(runs, case, size, policy, other, rates) for case, size in placed),
        recalled=fmean(
            runs.of(case, size, policy, rates).with_recalls(rates, case.requests)
            / runs.of(case, size, "compaction", rates).with_recalls(rates, case.requests)
            for case, size in placed
        ),
        unbroken=fmean(
            runs.of(case, size, policy, rates).without_breaks(rates)
            / runs.of(case, size, "compaction", rates).units(rates)
            for case, size in placed
        ),
        lost=sum(each.lost for each in mine),
        needed=sum(each.needed for each in mine),
        lost_tokens=sum(each.lost_tokens for each in mine),
        needed_tokens=sum(each.needed_tokens for each in mine),
        over=sum(each.over for each in mine),
        refused=sum(each.refused for each in mine),
    )


def _ratio(runs: Runs, case: Case, size: int, policy: str, other: str, rates: Rates) -> float:
    base = runs.of(case, size, other, rates).units(rates)
    return runs.of(case, size, policy, rates).units(rates) / base if base else 1.0


def _nearest(runs: Runs, placed: Sequence[Placed], cuts: int, rates: Rates) -> str:
    """The compaction, at one fraction for all sessions, whose cuts come nearest; of equal ones the highest line."""
    names = ("compaction", *reversed(FRACTIONS))
    made = {name: sum(runs.of(case, size, name, rates).cuts for case, size in placed) for name in names}
    return min(names, key=lambda name: abs(made[name] - cuts))


# --- tables -----------------------------------------------------------------------------------------------


def summary(runs: Runs, groups: Sequence[Group], policies: Sequence[str], rates: Rates) -> str:
    """One row a group and policy."""
    names = (
        "sessions | n | policy | cost | dearest | dearer | cuts | moves | at equal cuts | with recalls | without breaks"
    )
    rows = [f"| {names} | needed later | of their tokens | over, refused |", "|---" * 14 + "|"]
    rows += [
        _summary_row(name, len(placed), policy, line(runs, placed, policy, rates, equal=True))
        for name, placed in groups
        for policy in policies
        if placed
    ]
    return "\n".join(rows)


def _summary_row(name: str, count: int, policy: str, each: Line) -> str:
    needed = f"{each.needed} of {each.lost} ({each.needed / max(1, each.lost):.1%})"
    cells = (
        *(name, count, f"`{policy}`", f"{each.ratio:.3f}", f"{each.worst:.3f}", each.dearer),
        *(f"{each.cuts} of {each.compaction_cuts}", each.moves, f"{each.equal:.3f}", f"{each.recalled:.3f}"),
        *(f"{each.unbroken:.3f}", needed, f"{each.needed_tokens / max(1, each.lost_tokens):.1%}"),
        f"{each.over}, {each.refused}",
    )
    return "| " + " | ".join(map(str, cells)) + " |"


def each_session(runs: Runs, placed: Sequence[Placed], policies: Sequence[str], rates: Rates) -> str:
    """One row a session: cost against compaction and number of cuts."""
    head = "| session | window | half | compaction | " + " | ".join(f"`{policy}`" for policy in policies) + " |"
    rows = [head, "|---|---|---|---|" + "---|" * len(policies)]
    for case, size in placed:
        base = runs.of(case, size, "compaction", rates)
        cells = [f"{base.cuts} cuts"]
        for policy in policies:
            got = runs.of(case, size, policy, rates)
            cells.append(
                f"{_ratio(runs, case, size, policy, 'compaction', rates):.3f}, {got.cuts} cuts, {got.moves} moves"
            )
        rows.append(f"| {case.name} | {size:,} | {half(case)} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def grid(runs: Runs, groups: Sequence[Group], policy: str) -> str:
    """Mean cost of one policy at every price; rows are groups and lifetimes."""
    prices = list(product(READS, WRITES))
    rows = ["| sessions | n | TTL | " + " | ".join(f"{read:g} / {write:g}" for read, write in prices) + " |"]
    rows.append("|---|---|---|" + "---|" * len(prices))
    for (name, placed), ttl in product(groups, LIFETIMES):
        if not placed:
            continue
        all_rates = [Rates(read=read, write=write, ttl=ttl) for read, write in prices]
        runs.fill(runs.key(c, s, p, r) for c, s in placed for p in (policy, "compaction") for r in all_rates)
        cells = [f"{line(runs, placed, policy, rates).ratio:.2f}" for rates in all_rates]
        rows.append(f"| {name} | {len(placed)} | {ttl / 60:g} min | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _with_arguments(case: Case) -> Case:
    setup = structs.replace(case.setup, shed=structs.replace(case.setup.shed, arguments=True))
    return structs.replace(case, setup=setup)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--recordings", nargs="*", type=Path, default=[EXAMPLES], metavar="FOLDER")
    parser.add_argument("--generated", type=int, default=12, help="generated sessions of each kind")
    parser.add_argument("--policy", action="append", metavar="NAME", help="policy or variant, several times")
    parser.add_argument("--arguments", action="store_true", help="let old write and edit arguments go too")
    parser.add_argument("--only", default="", metavar="TEXT", help="groups of sessions with this in their name")
    parser.add_argument("--quick", action="store_true", help="the usual prices only")
    parser.add_argument("--smoke", action="store_true", help="a few sessions and prices only")
    options = parser.parse_args(arguments)
    policies = options.policy or list(POLICIES)
    count = 1 if options.smoke else options.generated
    own = recorded(options.recordings)
    made = [(kind, generated(count, interactive=kind == "interactive")) for kind in ("interactive", "autonomous")]
    if options.arguments:
        own = [_with_arguments(case) for case in own]
        made = [(kind, [_with_arguments(case) for case in cases]) for kind, cases in made]
    runs = Runs([*own, *(case for _, cases in made for case in cases)])
    crossed = crossing(runs, on_window(own, OWN))
    sets = [("recorded", own), *made]
    wanted: list[tuple[str, Callable[[], list[Placed]]]] = [
        ("recorded, own window", lambda: crossed),
        *((f"half {number}", partial(_half_of, crossed, number)) for number in (0, 1)),
        *(
            (f"{kind}, {size // 1000}k", partial(_on_window, runs, cases, size))
            for kind, cases in sets
            for size in WINDOWS[1:]
        ),
    ]
    groups: list[Group] = [(name, choose()) for name, choose in wanted if options.only in name]
    print(f"Read 0.1x, write 1.25x, 5 minutes\n\n{summary(runs, groups, policies, USUAL)}\n", flush=True)
    runs.fill(runs.key(case, size, name, USUAL) for case, size in crossed for name in ("compaction", *policies))
    print(each_session(runs, crossed, policies, USUAL) + "\n", flush=True)
    if not (options.quick or options.smoke):
        for policy in policies:
            print(
                f"`{policy}`: cost against compaction by read / write price\n\n{grid(runs, groups, policy)}\n",
                flush=True,
            )
    sent_over = sum(each.over for key, each in runs.played().items() if key[2] != "none")
    print(f"{len(runs.played())} runs; requests sent that were over the window: {sent_over}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
