import pytest

from leafscar.model.facts import binds_thinking


@pytest.mark.parametrize(
    ("model", "bound"),
    [
        ("claude-opus-5-5", True),
        ("claude-sonnet-5-5-20260101", True),
        ("anthropic/claude-haiku-5-5", True),
        ("claude-fable-5-1", True),
        ("claude-mythos-5-2", True),
        ("claude-fable-5-3", False),
        ("claude-opus-5-50", False),
        ("claude-opus-5", False),
        ("gpt-5.5", False),
        ("", False),
    ],
)
def test_which_models_bind_thinking(model, bound):
    """Only the named families and versions bind their thinking, whatever stands around the name."""
    assert binds_thinking(model) is bound
