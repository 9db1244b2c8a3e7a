"""The adapter knows one version of DBOS: with another, read its notes and try it again."""

import ast
from importlib.metadata import version
from inspect import getsource, signature
from pathlib import Path

from dbos import DBOS, _dbos, _queue
from dbos._core import ActiveWorkflowById
from dbos._sys_db import SystemDatabase, WorkflowStatusString

from app.gateways import dbos_adapter

ROOT = Path(dbos_adapter.__file__).parents[1]


def test_the_adapter_is_for_this_version_of_dbos() -> None:
    assert version("dbos") == "3.4.0"


def test_the_replaced_functions_of_dbos_have_the_expected_parameters() -> None:
    read_queue, read_list = dbos_adapter._read_queue, dbos_adapter._read_queue_list
    assert [*signature(read_queue).parameters] == ["stop_event", "dbos", "queue"]
    assert [*signature(read_list).parameters] == ["stop_event", "dbos"]
    assert [*signature(ActiveWorkflowById._remove).parameters] == ["self", "key", "bucket"]
    assert getsource(read_queue).count("stop_event.wait(") == 1
    assert getsource(read_list).count("stop_event.wait(") == 1
    assert getsource(read_list).count("target=queue_worker_thread") == 1
    launch = getsource(DBOS._launch)
    assert launch.count("target=queue_thread, args=(evt, self)") == 1
    assert launch.count("target=background_jobs_thread") == 1
    transition = getsource(SystemDatabase.transition_delayed_workflows)
    assert transition.count("status=WorkflowStatusString.ENQUEUED.value") == 1
    assert WorkflowStatusString.ENQUEUED.value == "ENQUEUED"
    assert hasattr(_queue, "queue_worker_thread")
    assert hasattr(_dbos, "background_jobs_thread")


def test_no_other_module_uses_its_private_parts() -> None:
    users = set()
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = []
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "dbos":
                names = [*str(node.module).split("."), *(alias.name for alias in node.names)]
            elif isinstance(node, ast.Attribute):
                names = ["_sys_db"] if node.attr == "_sys_db" else []
            if any(name.startswith("_") for name in names):
                users.add(path.relative_to(ROOT).as_posix())
    assert users == {"gateways/dbos_adapter.py"}
