"""The studio reports how a colour is used: as given, as a shade of it, or with dark text."""

import pytest

from app.services.branding.contrast_report import contrast_report

REPORTS = {
    "#7a2e6b": (
        [
            ("Button text", "#7a2e6b", "As given", 8.6),
            ("Link on page and tint", "#7a2e6b", "As given", 7.7),
            ("Chart on page", "#7a2e6b", "As given", 8.6),
            ("Text on large areas", "#7a2e6b", "As given", 8.6),
        ],
        "White on your colour reaches 8.6 : 1, so buttons use it as it is.",
        None,
    ),
    "#e4688a": (
        [
            ("Button text", "#c54c70", "Shade used", 4.5),
            ("Link on page and tint", "#b84065", "Shade used", 4.7),
            ("Chart on page", "#e4688a", "As given", 3.2),
            ("Text on large areas", "#e4688a", "Dark text", 5.4),
        ],
        (
            "White on your colour reaches 3.2 : 1; 4.5 is needed. "
            "Buttons use #C54C70, the nearest shade that passes."
        ),
        "#c54c70",
    ),
    "#ffc800": (
        [
            ("Button text", "#ffc800", "Dark text", 11.0),
            ("Link on page and tint", "#8b6700", "Shade used", 4.6),
            ("Chart on page", "#b98b00", "Shade used", 3.1),
            ("Text on large areas", "#ffc800", "Dark text", 11.0),
        ],
        (
            "White on your colour reaches 1.6 : 1; 4.5 is needed. "
            "Buttons keep your colour and carry dark text."
        ),
        None,
    ),
}


@pytest.mark.parametrize("colour", REPORTS)
def test_each_use_of_the_colour_has_its_verdict(colour: str) -> None:
    report = contrast_report(colour)
    rows = [(row.label, row.shade, row.verdict, round(row.ratio, 1)) for row in report.rows]
    assert (rows, report.message, report.nearest) == REPORTS[colour]


def test_an_offered_shade_is_used_unchanged_once_it_is_chosen() -> None:
    offered = contrast_report("#e4688a").nearest
    assert offered is not None
    taken = contrast_report(offered)
    assert (taken.rows[0].verdict, taken.nearest) == ("As given", None)


def test_a_ratio_is_never_rounded_up_to_a_target_that_was_missed() -> None:
    sentence = contrast_report("#777777").message
    assert sentence == (
        "White on your colour reaches 4.4 : 1; 4.5 is needed. "
        "Buttons use #767676, the nearest shade that passes."
    )
