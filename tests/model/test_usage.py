import math

import pytest

from leafscar.model import Usage, as_usage

PARTS = {"input": 1, "output": 2, "cacheRead": 3, "cacheWrite": 4}


@pytest.mark.parametrize(
    ("plain", "total"),
    [
        pytest.param(PARTS | {"totalTokens": 99}, 99, id="stated"),
        pytest.param(PARTS, 10, id="sum"),
        pytest.param(PARTS | {"totalTokens": 0}, 10, id="b10_69_zero_total_is_the_sum"),
        pytest.param(PARTS | {"totalTokens": None}, 10, id="null_total_is_the_sum"),
        pytest.param(PARTS | {"input": None}, 9, id="null_part_adds_zero"),
        pytest.param({"input": 5, "output": 6}, math.nan, id="missing_part"),
        pytest.param({}, math.nan, id="nothing"),
        pytest.param(PARTS | {"output": "2"}, math.nan, id="a_part_that_is_no_number"),
        pytest.param(PARTS | {"output": True}, math.nan, id="a_part_that_is_a_boolean"),
        pytest.param(PARTS | {"totalTokens": "many"}, math.nan, id="a_total_that_is_no_number"),
        pytest.param(dict.fromkeys(PARTS, 0) | {"totalTokens": 0}, 0, id="zero"),
    ],
)
def test_total(plain, total):
    """The stated total counts unless it is 0 or absent; then the sum does, if every part is there."""
    assert as_usage(plain).total == pytest.approx(total, nan_ok=True)


def test_prompt_is_the_input_side():
    """Uncached, read and written tokens make the prompt; what is not reported counts as nothing."""
    assert as_usage(PARTS).prompt == 8
    assert Usage(input=5, output=6).prompt == 5
    assert Usage().prompt == 0


def test_not_reported_is_not_zero():
    """An absent field is None, a null among the four counts is 0, and a null elsewhere is not reported."""
    assert as_usage({}) == Usage()
    assert as_usage(dict.fromkeys([*PARTS, "cacheWrite1h", "totalTokens"])) == Usage(
        input=0, output=0, cache_read=0, cache_write=0
    )


@pytest.mark.parametrize("value", [None, "x", 5, [PARTS], True])
def test_what_is_no_usage(value):
    """Only an object is a usage report."""
    assert as_usage(value) is None


def test_a_typed_report_passes():
    """A typed report is its own reading."""
    usage = Usage(input=1)
    assert as_usage(usage) is usage


def test_faults_name_the_bad_fields():
    """NaN, infinities and negative numbers are named; absent and good fields are not."""
    assert Usage(input=1, output=0).faults == ()
    bad = Usage(input=math.nan, output=math.inf, cache_read=-1, cache_write=-math.inf, total_tokens=3)
    assert bad.faults == ("input", "output", "cache_read", "cache_write")
