"""The smallest application that reads its body: what the web server's tests serve."""

import json
import time

from flask import Flask, Response, request

app = Flask("echo")
app.config["MAX_CONTENT_LENGTH"] = 1024 * 1024


@app.post("/echo")
def echo() -> Response:
    """The body; for "waited" the seconds that the request waited for a thread."""
    body = request.get_data(as_text=True)
    answer = request.headers["X-Portal-Waited"] if body == "waited" else body
    return Response(json.dumps(answer), mimetype="application/json")


@app.get("/slow")
def slow() -> str:
    time.sleep(1.5)
    return "done"
