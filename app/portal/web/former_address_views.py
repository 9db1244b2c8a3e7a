"""Former URLs of pages, which bookmarks and earlier emails have."""

from flask import redirect, request
from werkzeug.wrappers import Response

from app.portal.web.blueprint import portal

NEW_WORDS = {
    "/people": "/users",
    "/line": "/carriers",
    "/find": "/search",
    "/left-out": "/excluded",
    "/again": "/call-again",
    "/roll": "/rotate",
}


@portal.get("/people")
@portal.get("/people/<path:rest>")
@portal.get("/organizations/<uuid:organization_id>/people")
@portal.get("/line")
@portal.get("/line/<path:rest>")
@portal.get("/api-access/keys/<uuid:key_id>/roll")
@portal.get("/api-access/clients/<uuid:client_id>/roll")
@portal.get("/api-access/webhooks/<uuid:webhook_id>/roll")
@portal.get("/settings/directory/tokens/<uuid:token_id>/roll")
@portal.get("/find")
@portal.get("/campaigns/<uuid:campaign_id>/outreach/left-out")
@portal.get("/campaigns/<uuid:campaign_id>/outreach/again")
def redirect_former_address(**_parts: object) -> Response:
    segment = next(segment for segment in NEW_WORDS if segment in str(request.url_rule))
    path, query = request.full_path.split("?", 1)
    new = path.replace(segment, NEW_WORDS[segment], 1)
    return redirect(f"{new}?{query}".removesuffix("?"), 308)
