"""Routes whose addresses are compiled when they are first built."""

from inspect import getsource

from flask import Flask
from werkzeug.routing import Map, Rule

from app.http.access_log import LateRule


def test_every_address_is_built_as_by_werkzeug(app: Flask) -> None:
    own = list(app.url_map.iter_rules())
    theirs = Map(
        [
            Rule(each.rule, endpoint=str(number), methods=each.methods)
            for number, each in enumerate(own)
        ],
        converters=app.url_map.converters,
    )
    plain = list(theirs.iter_rules())
    assert {type(each) for each in own} == {LateRule}
    for mine, wanted in zip(own, plain, strict=True):
        values = {"q": "ü b"} | {
            name: min(getattr(kind, "items", "7")) for name, kind in mine._converters.items()
        }
        for append_unknown in (True, False):
            assert mine.build(values, append_unknown) == wanted.build(values, append_unknown)


def test_werkzeug_asks_for_the_two_functions_as_expected() -> None:
    source = getsource(Rule.compile)
    assert source.count("self._compile_builder(False).__get__(self, None)") == 1
    assert source.count("self._compile_builder(True).__get__(self, None)") == 1
