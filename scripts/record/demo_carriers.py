"""Text of the demo project's carrier adapters and their tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

NAMES = [
    "alderpost",
    "amberline",
    "arcfreight",
    "bluejay",
    "boxwood",
    "cargonaut",
    "coastal",
    "condor",
    "dashway",
    "deltapak",
    "eastgate",
    "falcon",
    "ferrous",
    "fleetfoot",
    "globex",
    "harbor",
    "heron",
    "ironside",
    "juniper",
    "kestrel",
    "lantern",
    "longhaul",
    "magpie",
    "meridian",
    "northstar",
    "oakline",
    "osprey",
    "paragon",
    "quickship",
    "redwood",
    "riverrun",
    "saltmarsh",
    "swiftair",
    "tern",
    "tundra",
    "westbound",
]
SERVICES = ("economy", "standard", "express", "same_day", "freight", "pallet", "letter", "locker")
COUNTRIES = [
    "DE",
    "FR",
    "NL",
    "BE",
    "LU",
    "AT",
    "CH",
    "IT",
    "ES",
    "PT",
    "PL",
    "CZ",
    "SK",
    "HU",
    "SI",
    "HR",
    "DK",
    "SE",
    "NO",
    "FI",
    "IE",
    "GB",
    "EE",
    "LV",
    "LT",
    "GR",
    "RO",
    "BG",
    "CY",
    "MT",
    "US",
    "CA",
    "MX",
    "JP",
    "KR",
    "AU",
    "NZ",
]
CITIES = [
    "Leipzig",
    "Lyon",
    "Gent",
    "Graz",
    "Porto",
    "Gdansk",
    "Aarhus",
    "Turku",
    "Brno",
    "Verona",
    "Kassel",
    "Nantes",
    "Breda",
    "Linz",
    "Faro",
    "Lodz",
    "Odense",
    "Oulu",
    "Plzen",
    "Parma",
    "Bremen",
    "Lille",
    "Namur",
    "Wels",
    "Braga",
    "Opole",
    "Malmo",
    "Bergen",
    "Cork",
    "Leeds",
]
STATUSES = ("created", "picked_up", "in_transit", "out_for_delivery", "delivered", "exception", "returned", "held")
REASONS = (
    "recipient not at home",
    "address incomplete",
    "damaged in sorting",
    "customs papers missing",
    "weather delay",
    "refused by recipient",
    "vehicle breakdown",
    "wrong depot",
)

OLD_FETCH = '''    def fetch_status(self, raw: dict) -> dict:
        """Turn one raw scan of the carrier into our status dict."""
        code = str(raw.get("{code}", "")).upper()
        status = STATUS_CODES.get(code, "unknown")
        result = {{
            "carrier": self.name,
            "reference": raw.get("{ref}"),
            "status": status,
            "at": raw.get("{at}"),
            "place": raw.get("{place}") or "unknown",
        }}
        if status == "exception":
            result["reason"] = REASONS.get(raw.get("reason"), "not given")
        return result
'''
NEW_FETCH = '''    def fetch_status(self, raw: dict) -> TrackingEvent:
        """Turn one raw scan of the carrier into a TrackingEvent."""
        code = str(raw.get("{code}", "")).upper()
        status = STATUS_CODES.get(code, "unknown")
        reason = REASONS.get(raw.get("reason"), "not given") if status == "exception" else None
        return TrackingEvent(
            carrier=self.name,
            reference=raw.get("{ref}"),
            status=status,
            at=raw.get("{at}"),
            place=raw.get("{place}") or "unknown",
            reason=reason,
        )
'''
OLD_LAST = """        events = self.history(scans)
        return events[-1]["status"] if events else "unknown"
"""
NEW_LAST = """        events = self.history(scans)
        return events[-1].status if events else "unknown"
"""
OLD_DELAYS = """        return [event for event in self.history(scans) if event["status"] in DELAYED]
"""
NEW_DELAYS = """        return [event for event in self.history(scans) if event.status in DELAYED]
"""
OLD_IMPORT = "from parcelhub.core.registry import register\n"
NEW_IMPORT = "from parcelhub.core.events import TrackingEvent\nfrom parcelhub.core.registry import register\n"
RIGHT_BRACKET = "            if weight_g <= limit:\n"
WRONG_BRACKET = "            if weight_g < limit:\n"
RIGHT_FUEL = "        return round_half_up(base * FUEL_PERMILLE, 1000)\n"
WRONG_FUEL = "        return base * FUEL_PERMILLE // 1000\n"


@dataclass(frozen=True)
class Carrier:
    """The seeded facts of one adapter."""

    name: str
    keys: dict[str, str]
    codes: dict[str, str]
    zones: dict[str, int]
    brackets: list[tuple[int, list[int]]]
    reasons: dict[str, str]
    services: list[str]
    fuel: int
    pickup: list[tuple[str, int, int]]
    bug: str = ""

    @property
    def path(self) -> str:
        """The adapter's file."""
        return f"parcelhub/carriers/{self.name}.py"

    @property
    def test(self) -> str:
        """The adapter's test file."""
        return f"tests/test_{self.name}.py"

    @property
    def title(self) -> str:
        """The adapter's class."""
        return self.name.capitalize() + "Adapter"


def make(rng: random.Random, name: str, bug: str) -> Carrier:
    """Draw a carrier."""
    letters = "ABCDEFGHKLMNPRSTUVWXYZ"
    codes: dict[str, str] = {}
    for status in STATUSES:
        for _ in range(rng.randint(2, 3)):
            codes[rng.choice(letters) + rng.choice(letters) + str(rng.randint(10, 99))] = status
    limits = sorted(rng.sample(range(500, 31_500, 500), rng.randint(9, 14)))
    brackets = [(limit, [300 + limit // 12 + zone * rng.randint(80, 260) for zone in range(4)]) for limit in limits]
    keys = {
        "code": rng.choice(["statusCode", "event_code", "scan", "evt"]),
        "at": rng.choice(["timestamp", "scanned_at", "eventTime", "ts"]),
        "place": rng.choice(["depot", "location", "facility", "hub"]),
        "ref": rng.choice(["trackingNo", "reference", "parcel_id", "awb"]),
    }
    reasons = {f"R{rng.randint(100, 999)}": reason for reason in rng.sample(REASONS, 6)}
    zones = {country: rng.randint(0, 3) for country in COUNTRIES}
    services = sorted(rng.sample(SERVICES, 4))
    pickup = [(city, rng.randint(6, 10), rng.randint(14, 19)) for city in rng.sample(CITIES, rng.randint(12, 30))]
    return Carrier(name, keys, codes, zones, brackets, reasons, services, rng.randint(35, 145), pickup, bug)


def _table(name: str, rows: list[str], opening: str = "{", closing: str = "}") -> str:
    return f"{name} = {opening}\n" + "".join(f"    {row},\n" for row in rows) + f"{closing}\n\n"


def _tables(c: Carrier) -> str:
    countries = list(c.zones.items())
    zone_rows = [
        ", ".join(f'"{country}": {zone}' for country, zone in countries[k : k + 6]) for k in range(0, len(countries), 6)
    ]
    return (
        _table("STATUS_CODES", [f'"{code}": "{status}"' for code, status in c.codes.items()])
        + _table("REASONS", [f'"{code}": "{reason}"' for code, reason in c.reasons.items()])
        + _table("ZONES", zone_rows)
        + _table("BRACKETS", [f"({limit}, {prices})" for limit, prices in c.brackets], "[", "]")
        + _table("PICKUP", [f'"{city}": ("{a:02d}:00", "{b:02d}:30")' for city, a, b in c.pickup])
        + f"SERVICES = {tuple(c.services)!r}\n".replace("'", '"')
        + 'DELAYED = {"exception", "held", "returned"}\n'
        + f"FUEL_PERMILLE = {c.fuel}\n"
    )


def module(c: Carrier) -> str:
    """Return the adapter's source as it is before the migration."""
    bracket = WRONG_BRACKET if c.bug == "bracket" else RIGHT_BRACKET
    fuel = WRONG_FUEL if c.bug == "fuel" else RIGHT_FUEL
    return (
        f'"""Adapter of the carrier {c.name}: tracking scans, prices and labels."""\n\n'
        "from parcelhub.core.errors import QuoteError\n"
        "from parcelhub.core.money import round_half_up\n"
        + OLD_IMPORT
        + "\n"
        + _tables(c)
        + f'\n\n@register("{c.name}")\nclass {c.title}:\n    """Speaks the dialect of {c.name}."""\n\n'
        f'    name = "{c.name}"\n    services = SERVICES\n\n'
        + OLD_FETCH.format(**c.keys)
        + '\n    def history(self, scans: list) -> list:\n        """Return all events of a'
        ' parcel, oldest first."""\n'
        f'        ordered = sorted(scans, key=lambda scan: scan.get("{c.keys["at"]}") or "")\n'
        "        return [self.fetch_status(scan) for scan in ordered]\n"
        '\n    def last_status(self, scans: list) -> str:\n        """Return the newest status."""\n'
        + OLD_LAST
        + '\n    def delays(self, scans: list) -> list:\n        """Return the events that'
        ' hold a parcel up."""\n'
        + OLD_DELAYS
        + '\n    def zone(self, country: str) -> int:\n        """Return the price zone of a country."""\n'
        "        try:\n            return ZONES[country.upper()]\n        except KeyError:\n"
        '            raise QuoteError(f"{self.name} does not deliver to {country}") from None\n'
        "\n    def base_price(self, weight_g: int, country: str) -> int:\n"
        '        """Return the price in cents without surcharges."""\n        zone = self.zone(country)\n'
        "        for limit, prices in BRACKETS:\n" + bracket + "                return prices[zone]\n"
        '        raise QuoteError(f"{weight_g} g is too heavy for {self.name}")\n'
        '\n    def fuel_surcharge(self, base: int) -> int:\n        """Return the fuel share'
        ' of a base price."""\n'
        + fuel
        + '\n    def quote(self, weight_g: int, country: str) -> int:\n        """Return the'
        ' price in cents."""\n'
        "        base = self.base_price(weight_g, country)\n        return base + self.fuel_surcharge(base)\n"
        '\n    def pickup_window(self, city: str) -> str:\n        """Return the daily pickup'
        ' hours of a city."""\n'
        '        opens, closes = PICKUP.get(city, ("08:00", "16:00"))\n'
        '        return f"{city} {opens}-{closes}"\n'
        '\n    def label_lines(self, parcel: dict) -> list:\n        """Return the lines'
        ' of a shipping label."""\n'
        '        lines = [parcel["recipient"], parcel["street"], f"{parcel[\'zip\']} {parcel[\'city\']}"]\n'
        '        if parcel.get("country", "DE") != "DE":\n            lines.append(parcel["country"])\n'
        "        lines.append(f\"{self.name}:{parcel['reference']}\")\n        return lines\n"
    )


def tests(c: Carrier) -> str:
    """Return the adapter's tests as they are before the migration."""
    code = {
        status: next(k for k, s in c.codes.items() if s == status) for status in STATUSES if status in c.codes.values()
    }
    k = c.keys
    limit, prices = c.brackets[3]
    reason_code, reason = next(iter(c.reasons.items()))
    zone0 = next((country for country, zone in c.zones.items() if zone == 1), "DE")
    base = prices[c.zones[zone0]]
    fuel = (base * c.fuel + 500) // 1000

    def scan(status: str, at: str, extra: str = "") -> str:
        return (
            f'{{"{k["code"]}": "{code[status]}", "{k["at"]}": "{at}", "{k["place"]}": "Leipzig",'
            f' "{k["ref"]}": "P-1"{extra}}}'
        )

    why = f', "reason": "{reason_code}"'
    return (
        f'"""Tests of the {c.name} adapter."""\n\nfrom parcelhub.carriers.{c.name} import {c.title}\n\n'
        f"SCANS = [\n    {scan('in_transit', '2026-02-02T08:10:00Z')},\n"
        f"    {scan('created', '2026-02-01T17:45:00Z')},\n"
        f"    {scan('exception', '2026-02-03T11:00:00Z', why)},\n"
        f"    {scan('delivered', '2026-02-04T09:30:00Z')},\n]\n\n\n"
        f"def test_fetch_status():\n    event = {c.title}().fetch_status(SCANS[0])\n"
        '    assert event["status"] == "in_transit"\n    assert event["place"] == "Leipzig"\n'
        f'    assert event["carrier"] == "{c.name}"\n\n\n'
        f"def test_exception_has_a_reason():\n    event = {c.title}().fetch_status(SCANS[2])\n"
        f'    assert event["status"] == "exception"\n    assert event["reason"] == "{reason}"\n\n\n'
        f"def test_unknown_code():\n    event = {c.title}().fetch_status({{}})\n"
        '    assert event["status"] == "unknown"\n    assert event["place"] == "unknown"\n\n\n'
        f"def test_history_is_sorted():\n    events = {c.title}().history(SCANS)\n"
        '    assert [event["at"][:10] for event in events] == ["2026-02-01", "2026-02-02",'
        ' "2026-02-03", "2026-02-04"]\n\n\n'
        f'def test_last_status():\n    assert {c.title}().last_status(SCANS) == "delivered"\n\n\n'
        f"def test_delays():\n    assert len({c.title}().delays(SCANS)) == 1\n\n\n"
        f"def test_bracket_limit_is_inclusive():\n    assert {c.title}().base_price({limit},"
        f' "{zone0}") == {base}\n\n\n'
        f'def test_quote():\n    assert {c.title}().quote({limit - 1}, "{zone0}") == {base + fuel}\n\n\n'
        f'def test_label():\n    parcel = {{"recipient": "R. Weber", "street": "Lindenallee'
        ' 4", "zip": "04107", "city": "Leipzig",'
        f' "country": "{zone0}", "reference": "P-1"}}\n'
        f'    assert {c.title}().label_lines(parcel)[-1] == "{c.name}:P-1"\n'
    )
