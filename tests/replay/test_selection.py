from __future__ import annotations

import json

import pytest

from leafscar.errors import PolicyError
from leafscar.replay.run import DEFAULT_POLICIES
from leafscar.replay.selection import chosen_rows


@pytest.fixture
def file(tmp_path):
    """A file of two policies."""
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"early": {"base": "balanced", "shedFraction": 0.5}, "m": {"rule": "mask-last-n"}}))
    return path


def names_of(rows):
    """Names of the rows."""
    return tuple(row if isinstance(row, str) else row.name for row in rows)


def test_the_usual_rows():
    """Without a choice the usual rows are shown."""
    assert chosen_rows(()) == DEFAULT_POLICIES


def test_each_row_once():
    """Names given twice are shown once, in the order given."""
    assert chosen_rows(("thrifty", "none:never-cut", "thrifty")) == ("thrifty", "none:never-cut")


def test_a_file_adds_its_policies(file):
    """What the file holds follows the names given, or the usual rows; a name may be one of the file."""
    assert names_of(chosen_rows((), file)) == (*DEFAULT_POLICIES, "early", "m")
    assert names_of(chosen_rows(("m", "none"), file)) == ("m", "none", "early")


def test_a_sweep_of_the_file_alone(file):
    """With a sweep and no name, the policies of the file are swept."""
    assert names_of(chosen_rows((), file, ["keep=1,2"])) == ("early", "m[keep=1]", "m[keep=2]")


def test_faults(file):
    """Unknown names are refused, and a sweep of nothing."""
    with pytest.raises(PolicyError, match="no policy 'late'"):
        chosen_rows(("late",), file)
    with pytest.raises(PolicyError, match="name some with --policy"):
        chosen_rows((), None, ["keep=1"])
