from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.model.strategies import values

from leafscar.formats._deep_head import plain_fields
from leafscar.formats.pi import Head, read_head

DEEP = b'{"x":' * 5_000 + b"[]" + b"}" * 5_000


def test_a_line_of_any_depth_has_its_head():
    """Type, id and parent are read however deep a message nests, and whatever it says inside."""
    line = b' {"type":"message","message":{"id":"inner","y":%s},"id":"a\\u00e9\\"","parentId":null}' % DEEP
    assert read_head(line) == Head(type="message", id='a\u00e9"', parentId=None)
    assert read_head(line.replace(b"null", b'"p"')).parentId == "p"
    assert read_head(line.replace(b"null", b"[]")).parentId != "p"
    assert read_head(line.replace(b'"a\\u00e9', b'"\\ud800')).id == '\ud800"'


@pytest.mark.parametrize("line", [DEEP[:-1], DEEP + b"}", DEEP[:-1] + b"]", b"[" + DEEP + b"]", DEEP[1:], b"[" * 9_000])
def test_what_is_no_object_has_no_head(line):
    """Brackets that do not match, and values that are no objects, make no entry."""
    assert plain_fields(line) is None
    assert read_head(line) is None


@given(st.dictionaries(st.text(), values, max_size=5), st.sampled_from([None, 1]))
def test_fields_are_those_of_the_decoder(fields, indent):
    """On any object the plain fields are what a full decoder gives, whatever stands in the others."""
    decoded = json.loads(json.dumps(fields, indent=indent))
    plain = {key: value for key, value in decoded.items() if not isinstance(value, dict | list)}
    assert repr(plain_fields(json.dumps(fields, indent=indent).encode())) == repr(plain)


def test_what_is_neither_text_nor_a_word_is_passed_over():
    """Tokens that are no JSON give no field, and a field without a name none either."""
    assert plain_fields(b'{"a":nope,5:"x","b":1,"a":2}') == {"b": 1, "a": 2}
