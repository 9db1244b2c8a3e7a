"""Exports of lists that the worker writes: requested, written, downloaded for some days."""

from app.services.exports.requesting import (
    MAX_EXPORTS,
    RETENTION,
    ExportInput,
    create,
    delete,
    file_of,
    of_user,
)
from app.services.exports.writing import ExportTask, begin, fail, finish, purge
