import pytest

from leafscar.errors import SettingsError
from leafscar.pruning import PruningSettings, as_settings


@pytest.mark.parametrize("given", [None, {}, {"enabled": None, "minResultTokens": None}])
def test_absent_keys_have_defaults(given):
    """What is not set is on, 1,000 tokens, and protects the current turn."""
    expected = PruningSettings(enabled=True, min_result_tokens=1000, protect_current_turn=True)
    assert as_settings(given) == expected


def test_keys_of_a_settings_file_are_read():
    """A dict has the keys of the file."""
    given = {"enabled": False, "minResultTokens": 7, "protectCurrentTurn": False}
    expected = PruningSettings(enabled=False, min_result_tokens=7, protect_current_turn=False)
    assert as_settings(given) == expected
    assert as_settings(expected) is expected


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("enabled", 1),
        ("protectCurrentTurn", "yes"),
        ("minResultTokens", 0),
        ("minResultTokens", 1.5),
        ("minResultTokens", True),
        ("min_result_tokens", 5),
    ],
)
def test_a_wrong_key_or_value_is_told(key, value):
    """The error names the key, one line a fault."""
    with pytest.raises(SettingsError, match=key) as caught:
        as_settings({key: value})
    assert len(caught.value.problems) == 1
