"""Built assets: compressed ahead, cached forever, and nothing else in their folder."""

from collections.abc import Callable

from flask import Flask
from flask.testing import FlaskClient

from app.http.static_files import DIST
from app.portal.web.assets import AssetManifest


def test_an_asset_is_compressed_and_may_be_cached_forever(client: FlaskClient) -> None:
    url = AssetManifest(DIST, "/static/dist").url("css/app.css")
    answer = client.get(url, headers={"Accept-Encoding": "gzip, br"})
    assert answer.status_code == 200
    assert answer.headers["Content-Encoding"] == "br"
    assert answer.headers["Cache-Control"] == "max-age=315360000, public, immutable"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "Access-Control-Allow-Origin" not in answer.headers
    assert len(answer.data) < 25_000


def test_a_file_that_was_not_built_is_not_found(client: FlaskClient) -> None:
    assert client.get("/static/dist/css/app.0000000000.css").status_code == 404


def test_over_https_an_asset_carries_the_headers_that_protect_it(
    make_app: Callable[..., Flask],
) -> None:
    client = make_app(public_url="https://portal.example").test_client()
    answer = client.get(AssetManifest(DIST, "/static/dist").url("css/app.css"))
    names = ("Content-Security-Policy", "Strict-Transport-Security", "X-Content-Type-Options")
    assert {name: answer.headers.get(name) for name in names} == {
        "Content-Security-Policy": (
            "default-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'"
        ),
        "Strict-Transport-Security": "max-age=31536000",
        "X-Content-Type-Options": "nosniff",
    }
