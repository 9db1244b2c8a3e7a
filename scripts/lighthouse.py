"""Runs Lighthouse on every screen; prints its four figures (goal 95 each) and the transferred
bytes.

``python -m scripts.lighthouse [WORD …]`` (only URLs that contain one of the words). Needs npm's
registry the first time: Lighthouse is fetched by npx. Its is-crawlable audit is left out: a private
portal asks not to be indexed.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from scripts.demo_stack import at_work, showing, signed_in
from tests.e2e.chromium import program
from tests.e2e.crawl import walk
from tests.e2e.visits import Look

VERSION = "12.8.2"
GOAL = 95
CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
LOOK = Look(0, "light", 1360)
FLAGS = "--headless --no-sandbox --disable-gpu --disable-quic"


def run(url: str, cookies: str) -> dict[str, Any]:
    """Return Lighthouse's report on one page."""
    with tempfile.TemporaryDirectory() as folder:
        report, headers = Path(folder) / "report.json", Path(folder) / "headers.json"
        headers.write_text(json.dumps({"Cookie": cookies}))
        npx = shutil.which("npx") or "npx"
        command = [
            *(npx, "--yes", f"lighthouse@{VERSION}", url, "--quiet", "--preset=desktop"),
            *("--output=json", f"--output-path={report}", f"--extra-headers={headers}"),
            *("--skip-audits=is-crawlable", f"--chrome-flags={FLAGS}"),
        ]
        environment = {**os.environ, "CHROME_PATH": program()}
        # On a busy machine Lighthouse occasionally loses a trace and has to run again.
        for last in (False, True):
            if subprocess.run(command, env=environment, check=last).returncode == 0:
                break
        content: dict[str, Any] = json.loads(report.read_text())
        return content


def line(path: str, report: dict[str, Any]) -> str:
    scores = [round(100 * (report["categories"][name]["score"] or 0)) for name in CATEGORIES]
    weight = report["audits"]["total-byte-weight"]["numericValue"] / 1000
    low = "  LOW" if min(scores) < GOAL else ""
    figures = "  ".join(f"{score:3}" for score in scores)
    return f"{figures}  {weight:7.1f} kB  {path}{low}"


def main(terms: list[str]) -> None:
    with showing() as (stack, browser):
        among = at_work(stack, browser, LOOK)
        inside = signed_in(stack, browser, LOOK)
        paths = [path for path, _status in walk(inside, among=among)]
        cookies = "; ".join(
            f"{cookie.get('name')}={cookie.get('value')}"
            for cookie in inside.page.context.cookies()
        )
        print("  ".join(CATEGORIES))
        for path in paths:
            if not terms or any(term in path for term in terms):
                print(line(path, run(stack.base_url + path, cookies)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
