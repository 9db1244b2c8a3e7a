"""The names of the demo."""

from app.commands.demo_story import PARTNERS


def test_the_host_of_an_organization_keeps_every_letter_of_its_name() -> None:
    assert [story.host for story in PARTNERS[0].organizations] == [
        "castellpropertymanagement.example",
        "kowalczykdaughtersroofing.example",
        "lodzautoserwis.example",
    ]
