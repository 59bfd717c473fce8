import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.formats.documents import raw, rows

from leafscar.errors import SessionRefused
from leafscar.formats import _json
from leafscar.formats._json import as_arguments, as_json_text, outline, read_document, read_records
from leafscar.formats.reading import Builder


def test_giant_documents_are_refused(monkeypatch):
    """A document over the limit is refused before anything of it is decoded."""
    monkeypatch.setattr(_json, "MAX_DOCUMENT_BYTES", 10)
    with pytest.raises(SessionRefused, match="11 bytes are more than the 10"):
        read_document(b'"123456789"', "gemini_cli")
    assert read_document(b'"12345678"', "gemini_cli") == "12345678"


def test_records_are_objects():
    """Lines that are no object are noted, blank ones are not."""
    builder = Builder()
    records = read_records(rows({"a": 1}, b"", b"[1]", b"{", b"null"), "x", builder)
    assert [(record.line, record.fields) for record in records] == [(1, {"a": 1})]
    kinds = [(problem.kind, problem.line) for problem in builder.problems]
    assert kinds == [("not-an-object", 3), ("broken-line", 4), ("broken-line", 5)]


@pytest.mark.parametrize(
    ("given_", "arguments"),
    [
        (None, {}),
        ("", {}),
        (" ", {}),
        ('{"a":1}', {"a": 1}),
        ("[1]", "[1]"),
        ("text", "text"),
        ({"b": 2}, {"b": 2}),
        (5, 5),
    ],
)
def test_arguments_are_objects_or_free_text(given_, arguments):
    """A JSON object in a text is that object; other texts stay."""
    assert as_arguments(given_) == arguments


@pytest.mark.parametrize("code", ["utf-8-sig", "utf-16"])
def test_files_of_windows_shells_are_read(code):
    """A mark before the text, and UTF-16 with its mark, are read."""
    assert _json.decode('{"a": "\u00e9"}'.encode(code)) == {"a": "\u00e9"}
    assert outline('{"a": "\u00e9"}'.encode(code)) == {"a": "\u00e9"}


def test_values_as_text():
    """A text is itself, another value its JSON, however deep."""
    assert as_json_text("x", "f") == "x"
    assert as_json_text({"a": [1, None]}, "f") == '{"a":[1,null]}'
    deep = []
    for _ in range(3000):
        deep = [deep]
    assert as_json_text(deep, "f") == "[" * 3001 + "]" * 3001
    while deep:  # taken apart by hand: freeing it at once would recurse as deeply
        (deep,) = deep


@pytest.mark.parametrize(
    ("head", "found"),
    [
        (b"", None),
        (b"  5 6", 5),
        (b"nope", None),
        (b'{"a":1}\n{"b":2}', {"a": 1}),
        (b'[{"a":1},{"b":[2,3', [{"a": 1}, {"b": [2, 3]}]),
        (b'{"a":{"b":"cut off', {"a": {"b": None}}),
        (b'{"a":1,"b"', {"a": 1}),
        (b'{"a":1 "b":2}', {"a": 1}),
        (b'{"a" 1', {}),
        (b"{5:1", {}),
        (b"[1 2", [1]),
        (b"[" * 50, [[[[[[[]]]]]]]),
        (b"\xef\xbb\xbf[1", [1]),
    ],
)
def test_outlines(head, found):
    """What a head holds of a value is there, the rest is not."""
    assert outline(head) == found


@given(
    value=st.recursive(
        st.integers(-(2**53), 2**53) | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    ),
    cut=st.integers(0, 99),
)
def test_outlines_of_cut_documents(value, cut):
    """A whole value is outlined as itself; a cut one is outlined without a crash."""
    data = json.dumps(value).encode()
    whole = outline(data)
    assert whole == value or isinstance(value, int)
    outline(data[:cut])


def test_outlines_are_quick_on_nesting():
    """Nesting beyond the interpreter's limit does not stop an outline."""
    assert outline(raw({"a": 1})[:-1] + b',"b":' + b"[" * 60_000)["a"] == 1
