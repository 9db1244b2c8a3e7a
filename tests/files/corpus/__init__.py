"""Realistic contact files, each with the expected result."""

from tests.files.corpus.cases import Case
from tests.files.corpus.cells import CELLS
from tests.files.corpus.exporters import EXPORTERS
from tests.files.corpus.refusals import REFUSALS
from tests.files.corpus.refused import REFUSED
from tests.files.corpus.texts import TEXTS
from tests.files.corpus.vcards import VCARDS
from tests.files.corpus.workbooks import WORKBOOKS

CORPUS: dict[str, Case] = {
    **EXPORTERS,
    **TEXTS,
    **CELLS,
    **WORKBOOKS,
    **VCARDS,
    **REFUSED,
    **REFUSALS,
}

__all__ = ["CORPUS", "Case"]
