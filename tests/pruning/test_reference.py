import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.pruning.build import assistant, execution, image, result, text, user, vectors

from leafscar.errors import BadReference
from leafscar.model.jsjson import utf16_length
from leafscar.pruning import SOURCE, Reference, cap_text, not_a_result, not_found, parse_reference, result_text


@pytest.mark.parametrize(
    ("given_text", "line", "entry_id", "full"),
    [
        pytest.param("#412", 412, None, False, id="a14_71_line"),
        pytest.param("#412:full", 412, None, True, id="a14_71_full"),
        pytest.param("k9-zz_4", None, "k9-zz_4", False, id="a14_72_id"),
        pytest.param("k9-zz_4:full", None, "k9-zz_4", True, id="a14_72_full"),
        pytest.param(" \t#913\u00a0\ufeff\n", 913, None, False, id="a14_74"),
        pytest.param("#007", 7, None, False, id="leading_zeros"),
    ],
)
def test_a_reference_is_a_line_or_an_id(given_text, line, entry_id, full):
    """Both forms, each with the optional suffix, blanks around them ignored."""
    assert parse_reference(given_text) == Reference(line=line, entry_id=entry_id, full=full)


@pytest.mark.parametrize(
    ("given_text", "kind"),
    [
        pytest.param("#", "bad-line", id="a14_73_hash"),
        pytest.param("#0", "bad-line", id="a14_73_0"),
        pytest.param("#1", "bad-line", id="a14_73_header"),
        pytest.param("#4.2", "bad-line", id="a14_73_fraction"),
        pytest.param(":full", "bare-suffix", id="a14_73_bare_suffix"),
        pytest.param("", "empty", id="a14_73_empty"),
        pytest.param("two words", "bad-reference", id="a14_73_inner_blank"),
        pytest.param("#7:FULL", "bad-line", id="a14_75_upper"),
        pytest.param("a:b", "bad-reference", id="a14_75_colon"),
        pytest.param("#" + "9" * 5000, "bad-line", id="huge"),
        pytest.param("#\u0663", "bad-line", id="other_digits"),
    ],
)
def test_anything_else_is_invalid(given_text, kind):
    """The error says what was given and what would do, on one line."""
    with pytest.raises(BadReference) as caught:
        parse_reference(given_text)
    message = str(caught.value)
    assert (caught.value.kind, caught.value.reference) == (kind, given_text)
    assert message.startswith("recall: invalid reference")
    assert "\n" not in message
    assert len(message) < 250


JS_NUMBERS = {"#1e2": 100, "#0x10": 16, "#0b11": 3, "# 5": 5, "#+5": 5, "#5.0": 5, "#5.": 5}


@pytest.mark.parametrize(("given_text", "line"), JS_NUMBERS.items())
def test_source_reads_a_line_as_javascript_does(given_text, line):
    """The sources take whatever JavaScript turns into a whole number."""
    assert parse_reference(given_text, SOURCE) == Reference(line=line)


@pytest.mark.parametrize("given_text", JS_NUMBERS)
def test_ours_reads_decimal_digits_only(given_text):
    """A line is # and digits."""
    with pytest.raises(BadReference):
        parse_reference(given_text)


@pytest.mark.parametrize("given_text", ["#1_0", "#1e400", "#-4", "#", "#abc", "#4.2", "#Infinity"])
def test_source_refuses_what_is_no_whole_number(given_text):
    """Not everything is a number to JavaScript."""
    with pytest.raises(BadReference):
        parse_reference(given_text, SOURCE)


@pytest.mark.parametrize("case", vectors("recall_parse"), ids=lambda case: case["ref"] or "empty")
def test_golden_values(case):
    """Every case of the golden values."""
    if case["kind"] == "invalid":
        with pytest.raises(BadReference):
            parse_reference(case["ref"])
    else:
        parsed = parse_reference(case["ref"])
        assert (parsed.line if case["kind"] == "line" else parsed.entry_id) == case["value"]
        assert parsed.full is case["full"]


@settings(max_examples=200)
@given(st.text(max_size=20))
def test_every_text_is_a_reference_or_a_one_line_error(given_text):
    """What parses is written back in a form that parses to the same."""
    try:
        shown = str(parse_reference(given_text))
    except BadReference as fault:
        shown = str(fault)
    else:
        assert str(parse_reference(shown)) == shown
    assert len(shown.splitlines()) == 1


def test_the_session_room_finds_its_errors_here():
    """Rows 83 and 84 of a session: what was not found, and what is no result."""
    assert "line 99" in str(not_found(Reference(line=99)))
    assert "abc; copy it from a marker" in str(not_found(Reference(entry_id="abc")))
    assert "did you mean #42?" in str(not_found(Reference(entry_id="42")))
    fault = not_a_result(Reference(entry_id="abc", full=True), "a label")
    assert "abc is not a tool result" in str(fault)
    assert (fault.kind, fault.reference) == ("not-a-result", "abc:full")


@pytest.mark.parametrize(
    ("reference", "form"),
    [(Reference(line=7), "#7:full"), (Reference(entry_id="ab12"), "ab12:full")],
    ids=["a14_78", "a14_79"],
)
def test_a_long_text_is_cut_with_a_hint(reference, form):
    """12,000 units, a blank line, and the form that gives everything."""
    long = "0123456789" * 2000
    got = cap_text(long, reference)
    hint = f'... [truncated at 12000 characters. Use "{form}" for the full output.]'
    assert got.truncated
    assert got.text == long[:12_000] + "\n\n" + hint
    assert len(got.text) == 12_000 + 2 + len(hint)


@pytest.mark.parametrize(("length", "truncated"), [(12_000, False), (12_001, True)], ids=["a14_80_whole", "a14_80_cut"])
def test_the_limit_itself_is_given_whole(length, truncated):
    """Only a longer text is cut."""
    assert cap_text("x" * length, Reference(line=2)).truncated is truncated


def test_the_full_form_is_not_capped():
    """Asked for in full, given in full."""
    assert cap_text("x" * 20_000, Reference(line=2, full=True)) == ("x" * 20_000, False)


def test_source_cuts_a_character_in_half_and_ours_does_not():
    """A length is UTF-16 units in both; ours gives back the unit that would break a pair."""
    wide = "x" + "\U0001f600" * 6000
    assert utf16_length(wide) == 12_001
    assert "\ud83d\n\n" in cap_text(wide, Reference(line=2), SOURCE).text
    assert cap_text(wide, Reference(line=2)).text.startswith("x" + "\U0001f600" * 5999 + "\n\n... [")


def test_a14_86_text_parts_are_joined_and_images_counted():
    """One newline between parts, a note for what a text cannot show."""
    message = result("c1", "browse", [text("one"), image(), text("two")])
    assert result_text(message) == "one\ntwo\n\n[1 image part(s) not included in this recall]"
    assert result_text(result("c1", "browse", [image(), image()])).startswith("[2 image")
    assert result_text(result("c1", "bash", "out")) == "out"


def test_only_outputs_have_a_result_text():
    """An execution gives its output, a person's or a model's words are no output."""
    assert result_text(execution("ls", "a\nb")) == "a\nb"
    assert result_text(user()) is None
    assert result_text(assistant(text("hi"))) is None
    assert result_text({"role": "never heard of"}) is None
