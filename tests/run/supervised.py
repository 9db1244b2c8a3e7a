"""A supervisor of programs that a test chooses: ``python -m tests.run.supervised JSON``."""

import json
import sys

from supervisor.processes import Program, RestartRules, Supervisor


def main() -> int:
    given = json.loads(sys.argv[1])
    programs = [Program(name, tuple(command)) for name, command in given["programs"].items()]
    rules = RestartRules(**{**given["rules"], "pauses": tuple(given["rules"]["pauses"])})
    return Supervisor(programs, lambda text: print(text, flush=True), rules).run(lambda: None)  # noqa: T201 - what it prints is what is tested


if __name__ == "__main__":
    raise SystemExit(main())
