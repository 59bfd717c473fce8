"""Every reader of another tool's recordings, by whatever name, against files that are no longer whole."""

from operator import attrgetter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.formats.documents import fixtures, mangled, read_or_refuse
from tests.formats.jsonl import damaged, disordered, numbered, read_anyway

from leafscar.formats.registry import FORMATS

DOCUMENTS = [each for each in FORMATS if not each.by_line]
JSON_DOCUMENTS = [each for each in DOCUMENTS if each.name != "aider"]
LINES = [each for each in FORMATS if each.by_line]


def of(formats):
    """A test for each of the formats."""
    return pytest.mark.parametrize("format_", formats, ids=attrgetter("name"))


def one_file(format_):
    """Bytes of one of our own files of a format."""
    return st.sampled_from(list(fixtures(format_.name).values()))


@of(DOCUMENTS)
@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_damaged_documents_are_read_or_refused(format_, data):
    """Flipped and cut bytes give a reading that holds together, or a refusal."""
    read_or_refuse(format_.read_document, data.draw(one_file(format_).flatmap(damaged)))


@of(JSON_DOCUMENTS)
@settings(max_examples=120, deadline=None)
@given(data=st.data())
def test_documents_with_odd_values_are_read_or_refused(format_, data):
    """Odd values anywhere give a reading that holds together, or a refusal."""
    read_or_refuse(format_.read_document, data.draw(one_file(format_).flatmap(mangled)))


@of(LINES)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_damaged_lines_are_read_or_refused(format_, data):
    """Whatever the bytes are, there is a reading that holds together, or a refusal."""
    read_anyway(format_.read_lines, format_.sniff, numbered(data.draw(one_file(format_).flatmap(damaged))))


@of(LINES)
@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_odd_values_and_orders_of_lines_do_no_harm(format_, data):
    """Whatever type a value has and wherever a line stands, the same holds."""
    read_anyway(format_.read_lines, format_.sniff, data.draw(one_file(format_).flatmap(disordered)))
