"""Former URLs of pages, which bookmarks and earlier emails have."""

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
    word = next(word for word in NEW_WORDS if word in str(request.url_rule))
    path, query = request.full_path.split("?", 1)
    new = path.replace(word, NEW_WORDS[word], 1)
    return redirect(f"{new}?{query}".removesuffix("?"), 308)
