import json
import math
import random
import shutil
import struct
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafscar.model.jsjson import js_number, stringify, utf16_key, utf16_length, utf16_prefix

ECHO = """
const lines = require("fs").readFileSync(0, "utf8").split("\\n").filter(Boolean);
process.stdout.write(lines.map((line) => JSON.stringify(JSON.parse(line))).join("\\n"));
"""
ANY_TEXT = st.text(st.characters(codec=None), max_size=12) | st.sampled_from(["😀\ud83d", "\udc00a", "a😀b"])


def units(text):
    """UTF-16 units the slow way."""
    return text.encode("utf-16-le", "surrogatepass")


@settings(max_examples=200)
@given(ANY_TEXT, st.integers(0, 30))
def test_lengths_and_prefixes_count_utf16(text, count):
    """Lengths, prefixes and order are those of UTF-16 code units; a pair may be cut in two."""
    assert utf16_length(text) == len(units(text)) // 2
    assert units(utf16_prefix(text, count)) == units(text)[: 2 * count]
    assert utf16_key(text) == text.encode("utf-16-be", "surrogatepass")


def test_a_cut_pair_leaves_half():
    """The first unit of an emoji is a lone surrogate."""
    assert utf16_prefix("a😀b", 2) == "a\ud83d"
    assert utf16_prefix("a😀b", 3) == "a😀"
    assert utf16_prefix("a😀b", 9) == "a😀b"


def test_order_by_units_differs_from_order_by_characters():
    """An emoji sorts before a private-use character, as its first unit is smaller."""
    assert sorted(["\ufb33", "😀"], key=utf16_key) == ["😀", "\ufb33"]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0, "0"),
        (-0.0, "0"),
        (2.0, "2"),
        (-1.5, "-1.5"),
        (0.1, "0.1"),
        (123.456, "123.456"),
        (100.0, "100"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (1.5e300, "1.5e+300"),
        (123456789012345680000.0, "123456789012345680000"),
        (1e-6, "0.000001"),
        (1.25e-6, "0.00000125"),
        (1e-7, "1e-7"),
        (1.25e-7, "1.25e-7"),
        (5e-324, "5e-324"),
        (2**53, "9007199254740992"),
        (2**53 + 1, "9007199254740992"),
        (-(2**63), "-9223372036854776000"),
        (10**400, "null"),
        (math.nan, "null"),
        (-math.inf, "null"),
    ],
)
def test_numbers_are_written_as_ecmascript_does(value, written):
    """Integers beyond 2**53 round to a double; what is not finite is null."""
    assert js_number(value) == written


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        ({}, "{}"),
        ([], "[]"),
        ((1, [2]), "[1,[2]]"),
        ({"b": 1, "10": 2, "2": 3, "a": 4}, '{"2":3,"10":2,"b":1,"a":4}'),
        ({"b": 1, "01": 2, "-1": 3, "1.5": 4, "4294967294": 5}, '{"4294967294":5,"b":1,"01":2,"-1":3,"1.5":4}'),
        ({"a": 1, "4294967295": 2, "12345678901": 3}, '{"a":1,"4294967295":2,"12345678901":3}'),
        ({"0": 1, "²": 2}, '{"0":1,"²":2}'),
        ('"\\\n\x7f\x01', '"\\"\\\\\\n\x7f\\u0001"'),
        ("é\u2028😀", '"é\u2028😀"'),
        ("😀\ud83d\udc00\udc00", '"😀\U0001f400\\udc00"'),
        ("\ud83dx", '"\\ud83dx"'),
    ],
)
def test_values_are_written_as_json_stringify_does(value, written):
    """Integer-like keys come first, characters stay raw, lone surrogates are escaped, two halves are one."""
    assert stringify(value) == written


@pytest.mark.parametrize("value", [{1}, b"x", object(), [object()], {"a": {1}}])
def test_refuses_what_is_no_json(value):
    """Anything but a JSON value is a TypeError that names its type."""
    with pytest.raises(TypeError, match="not a JSON value: "):
        stringify(value)


def random_number(rng):
    """A number from the whole range of doubles and from where their text changes its form."""
    match rng.randrange(5):
        case 0:
            bits = struct.unpack("<d", rng.randbytes(8))[0]
            return bits if math.isfinite(bits) else 0
        case 1:
            return rng.choice((-1, 1)) * rng.randrange(1, 10**6) * 10.0 ** rng.randint(-12, 24)
        case 2:
            return rng.randrange(-(2**70), 2**70)
        case 3:
            return round(rng.uniform(-1000, 1000), rng.randrange(6))
        case _:
            return rng.randrange(-1000, 1000)


def random_text(rng):
    """Text from all planes, with controls and lone surrogates."""
    ranges = ((0, 0x20), (0x20, 0x80), (0x80, 0x3000), (0x2028, 0x202A), (0xD800, 0xE000), (0x1F300, 0x1F700))
    return "".join(chr(rng.randrange(*rng.choice(ranges))) for _ in range(rng.randrange(8)))


def random_key(rng):
    """Keys that look like indexes, and others."""
    near = str(rng.choice((rng.randrange(20), 2**32 - rng.randrange(4), 10**10)))
    return rng.choice((near, "0" + near, "-" + near, random_text(rng)))


def random_value(rng, depth=3):
    """Any JSON value that JSON.parse can take."""
    kind = rng.randrange(7 if depth else 5)
    if kind == 5:
        return [random_value(rng, depth - 1) for _ in range(rng.randrange(5))]
    if kind == 6:
        return {random_key(rng): random_value(rng, depth - 1) for _ in range(rng.randrange(6))}
    return (random_number(rng), random_number(rng), random_text(rng), rng.choice((True, False)), None)[kind]


@pytest.mark.peer
@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
def test_agrees_with_node():
    """Thousands of random values are written as a real JSON.stringify writes them."""
    rng = random.Random(20)
    values = [random_value(rng) for _ in range(5000)]
    lines = "\n".join(map(json.dumps, values)).encode()
    done = subprocess.run(["node", "-e", ECHO], input=lines, capture_output=True, check=True, timeout=60)
    written = done.stdout.decode().split("\n")
    assert len(written) == len(values)
    for value, expected in zip(values, written, strict=True):
        assert stringify(value) == expected


def test_any_depth_is_written():
    """No value is too deep to be measured: Python's own stack is not used."""
    value = 1
    for _ in range(20_000):
        value = {"a": [value]}
    assert stringify(value) == '{"a":[' * 20_000 + "1" + "]}" * 20_000
    while isinstance(value, dict):  # taken apart by hand: freeing it at once would recurse as deeply
        (value,) = value["a"]
