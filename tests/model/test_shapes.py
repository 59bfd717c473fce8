import pytest

from leafscar.model.shapes import as_list, as_mapping, as_number, as_text

VALUES = [None, True, 0, 1.5, "x", [1], (1,), {"a": 1}, b"x", {1}]


@pytest.mark.parametrize(
    ("look", "taken"),
    [
        (as_mapping, [{"a": 1}]),
        (as_list, [[1], (1,)]),
        (as_text, ["x"]),
        (as_number, [0, 1.5]),
    ],
)
def test_gives_only_its_type(look, taken):
    """Each look takes the values of its JSON type, by identity, and nothing else; a boolean is no number."""
    assert [value for value in map(look, VALUES) if value is not None] == taken
    assert all(look(value) is value for value in taken)
