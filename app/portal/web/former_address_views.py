"""Addresses that pages had before: bookmarks and earlier emails have them."""

from flask import redirect, request
from werkzeug.wrappers import Response

from app.portal.web.blueprint import portal

NEW_WORDS = {"/people": "/users", "/line": "/carriers"}


@portal.get("/people")
@portal.get("/people/<path:rest>")
@portal.get("/organizations/<uuid:organization_id>/people")
@portal.get("/line")
@portal.get("/line/<path:rest>")
def former_address(**_parts: object) -> Response:
    path = request.full_path.removesuffix("?")
    word = next(word for word in NEW_WORDS if word in path)
    return redirect(path.replace(word, NEW_WORDS[word], 1), 308)
