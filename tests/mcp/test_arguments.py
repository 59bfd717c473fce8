import msgspec
import pytest

from leafscar.mcp.arguments import MAX_HITS, ContextArguments, RecallArguments, SearchArguments, schema_of

ALL = [ContextArguments, RecallArguments, SearchArguments]


@pytest.mark.parametrize("arguments", ALL)
def test_schemas_are_closed_and_stand_alone(arguments):
    """A schema refers to nothing outside, allows nothing unknown, and says what each field is."""
    schema = schema_of(arguments)
    assert (schema["type"], schema["additionalProperties"]) == ("object", False)
    assert "$ref" not in str(schema)
    assert all(
        field["description"] and field["type"] in ("string", "boolean", "integer")
        for field in schema["properties"].values()
    )


def test_what_is_required():
    """Only what a tool cannot do without is required."""
    assert [schema_of(each).get("required", []) for each in ALL] == [[], ["ref"], ["text"]]


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        (SearchArguments, {"text": ""}),
        (SearchArguments, {"text": "x" * 1001}),
        (SearchArguments, {"text": "x", "limit": MAX_HITS + 1}),
        (SearchArguments, {"text": "x", "limit": "5"}),
        (SearchArguments, {"text": "x", "regex": 1}),
        (SearchArguments, {"text": "x", "path": "/etc"}),
        (RecallArguments, {"ref": "#4", "lines": "9\n-1"}),
        (RecallArguments, {"ref": "#4", "lines": "٣"}),
        (RecallArguments, {"ref": "#4", "page": 0}),
        (RecallArguments, {"ref": "#4", "page": 10**30}),
        (RecallArguments, {"ref": None}),
        (RecallArguments, {}),
        (ContextArguments, {"before": -1}),
    ],
)
def test_what_does_not_fit_is_refused(arguments, given):
    """A wrong type, a value out of its range, and a field too many are no arguments."""
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(given, arguments)
