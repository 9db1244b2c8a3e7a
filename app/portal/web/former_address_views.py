"""Addresses that pages had before: bookmarks and earlier emails have them."""

from flask import redirect, request
from werkzeug.wrappers import Response

from app.portal.web.blueprint import portal


@portal.get("/users")
@portal.get("/users/<path:rest>")
@portal.get("/organizations/<uuid:organization_id>/users")
@portal.get("/carriers")
@portal.get("/carriers/<path:rest>")
def former_address(**_parts: object) -> Response:
    path = request.full_path.removesuffix("?")
    new = {"/users": "/users", "/carriers": "/carriers"}
    word = next(word for word in new if word in path)
    return redirect(path.replace(word, new[word], 1), 308)
