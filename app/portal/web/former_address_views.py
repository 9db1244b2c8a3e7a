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
def redirect_former_address(**_parts: object) -> Response:
    segment = next(segment for segment in NEW_WORDS if segment in str(request.url_rule))
    path, query = request.full_path.split("?", 1)
    new = path.replace(segment, NEW_WORDS[segment], 1)
    return redirect(f"{new}?{query}".removesuffix("?"), 308)
