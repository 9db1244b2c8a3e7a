"""The smallest application that reads its body: what the web server's tests serve."""

import json
import time

from flask import Flask, Response, request

app = Flask("echo")
app.config["MAX_CONTENT_LENGTH"] = 1024 * 1024


@app.post("/echo")
def echo() -> Response:
    return Response(json.dumps(request.get_data(as_text=True)), mimetype="application/json")


@app.get("/slow")
def slow() -> str:
    time.sleep(1.5)
    return "done"
