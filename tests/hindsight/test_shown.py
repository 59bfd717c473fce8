"""Which output shows which lines newest."""

from hypothesis import given
from hypothesis import strategies as st

from leafscar.hindsight.shown import Output, ShownFile, bare_lines, telling_lines

RANGES = st.tuples(st.integers(1, 60), st.integers(0, 40)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@given(st.lists(RANGES, max_size=25), RANGES)
def test_each_line_belongs_to_the_newest_output_that_shows_it(shown, asked):
    """The pieces agree with a plain list of owners by line."""
    file, plain = ShownFile(), {}
    for number, (first, last) in enumerate(shown):
        output = Output(f"o{number}", number, "")
        file.show(first, last, output)
        plain.update(dict.fromkeys(range(first, last + 1), output))
    first, last = asked
    hits = [plain[line] for line in range(first, last + 1) if line in plain]
    enough = min(10, (last - first + 1) / 2)
    expected = {output for output in hits if hits.count(output) >= enough}
    assert set(file.needed_by(first, last)) == expected
    newest = max(plain.values(), key=lambda output: output.position, default=None)
    assert file.needed_for("") is newest


def test_an_output_that_shows_a_file_twice_is_one():
    """Its pieces go one by one."""
    file, twice, other = ShownFile(), Output("a", 0, "the one line"), Output("b", 1, "")
    file.show(1, 20, twice)
    file.show(41, 60, twice)
    file.show(1, 20, other)
    assert file.needed_for("the one line") is twice
    file.show(41, 60, other)
    assert file.needed_for("the one line") is None
    assert file.needed_for("}") is other


def test_only_the_newest_outputs_are_searched():
    """Sixteen of them, however many parts of a file were read."""
    file = ShownFile()
    for number in range(17):
        file.show(number * 20 + 1, number * 20 + 20, Output(f"o{number}", number, f"only in part {number}"))
    assert file.needed_for("only in part 1").entry_id == "o1"
    assert file.needed_for("only in part 0") is None


def test_lines_without_their_numbers():
    """In the ways in which tools number them; what only looks like a number stays."""
    text = "   1→def a():\n  2\tb\n3| c\n4: d\n5  e\n2024 was odd\n}\n"
    assert list(bare_lines(text)) == ["def a():", "b", "c", "d", "e", "2024 was odd", "}"]
    assert telling_lines(text) == {"def a():", "2024 was odd"}
