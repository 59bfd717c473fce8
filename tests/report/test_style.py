"""The style sheet: contrast in both schemes."""

from __future__ import annotations

import re

import pytest
from tests.report.samples import a_session

from leafscar.report.scatter import scatter
from leafscar.report.style import STYLE

SCHEMES = [dict(re.findall(r"--(\w+): (#\w+);", block)) for block in re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)]
LIGHT = SCHEMES[0]
DARK = LIGHT | SCHEMES[1]


def luminance(colour):
    """Relative luminance of a hexadecimal colour."""
    digits = colour[1:] if len(colour) == 7 else "".join(digit * 2 for digit in colour[1:])
    channels = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    """Contrast of two colours, 1 to 21."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("colour", "least"),
    [("ink", 7), ("soft", 4.5), ("good", 4.5), ("bad", 4.5), ("context", 4.5), ("line", 3), ("move", 3), ("cut", 3),
     ("break", 3)],
)  # fmt: skip
def test_contrast_is_enough(scheme, colour, least):
    """Text reaches AA and marks reach what graphics need, in both schemes."""
    assert contrast(scheme[colour], scheme["paper"]) >= least


def test_a_wide_drawing_scrolls_on_a_narrow_screen():
    """Cost against cuts keeps a width at which its labels stand apart, in a region that the keyboard reaches."""
    narrow = STYLE.partition("@media (max-width: 640px) {")[2].partition("@media")[0]
    assert "svg.scatter { min-width: 34rem; }" in narrow
    page = "\n".join(scatter(a_session(), 1))
    assert page.index('<div class="scroll" role="region"') < page.index('<svg class="scatter"')
    assert 'tabindex="0">' in page


def test_print_is_light():
    """The dark scheme is for screens only, so paper stays white."""
    assert "@media screen and (prefers-color-scheme: dark)" in STYLE
    assert "@media print" in STYLE
