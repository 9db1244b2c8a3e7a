"""The commands of the quick start in the API documentation, with the installation's addresses."""

from uuid import UUID


def commands(address: str, auth: str, campaign_id: UUID | None) -> dict[str, str]:
    """Return the commands by what they are about: ``address`` is that of the API, ``auth`` that of
    tokens; the campaign is one of the reader, if there is any."""
    return {
        "key": "read -rs API_KEY && export API_KEY",
        "campaigns": _campaigns(f"{address}/api/v1/campaigns", campaign_id),
        "token": _token(f"{auth}/oauth2/token"),
        "partners": _get(f"{address}/api/partners", "Authorization: Bearer $TOKEN"),
    }


def _get(url: str, header: str) -> str:
    return f"""curl '{url}' \\\n  -H "{header}\""""


def _campaigns(url: str, campaign_id: UUID | None) -> str:
    urls = [url, f"{url}/{campaign_id}/contacts"] if campaign_id else [url]
    return "\n\n".join(_get(each, "x-api-key: $API_KEY") for each in urls)


def _token(url: str) -> str:
    return f"""read -rs CLIENT_SECRET && export CLIENT_SECRET
export CLIENT_ID=ppc_…   # the id of your client
TOKEN=$(curl -sS '{url}' \\
  -d grant_type=client_credentials \\
  -d client_id="$CLIENT_ID" \\
  --data-urlencode "client_secret=$CLIENT_SECRET" \\
  | python3 -c 'import json, sys; print(json.load(sys.stdin)["access_token"])')"""
