"""Which tests count for the coverage."""

from tests.fixtures.counting import is_left_out


def test_a_test_on_postgresql_counts_where_the_run_has_none_on_sqlite() -> None:
    both = ["tests/api/test_a.py::test_it[sqlite-1]", "tests/api/test_a.py::test_it[postgresql-1]"]
    alone = ["tests/portal/test_b.py::test_it[postgresql]", "tests/phone/test_c.py::test_it"]
    contract = ["tests/contract/test_roles.py::test_it[sqlite]"]
    run = {*both, *alone, *contract}
    assert {test for test in run if is_left_out(test, run)} == {both[1], *contract}
