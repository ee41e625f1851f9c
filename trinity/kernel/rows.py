"""Reads and writes single rows with statements that are built once; decides nothing and opens no transaction.

Building a statement costs the ORM several times what the database needs to carry it out. The step of a loop is the
one path where that counts, so it comes here (docs/adr/0005); everything else uses the ORM. Values pass through the
fields of the model as they do in the ORM, and Django's cursor carries the statements out, so wrappers see them.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from django.db import connection
from django.db.models import Field, Model

Row = TypeVar("Row", bound=Model)
Names = tuple[str, ...]


class Sql(NamedTuple):
    """A piece of SQL in the place of a value, with its own values."""

    text: str
    values: tuple[Any, ...] = ()


class _Reading(NamedTuple):
    statement: str
    names: Names
    converters: tuple[tuple[int, Any, tuple[Callable[..., Any], ...]], ...]  # position, column, what converts it


def read(model: type[Row], key: str | int, *, lock: bool = False) -> Row | None:
    """The row with this primary key, or None; locked against writers with `lock`, as `no_key` locks it."""
    reading = _reading(model, connection.vendor, lock)
    with connection.cursor() as cursor:
        cursor.execute(reading.statement, (key,))
        found = cursor.fetchone()
    if found is None:
        return None
    values = list(found)
    for position, column, converters in reading.converters:
        for convert in converters:
            values[position] = convert(values[position], column, connection)
    return model.from_db(connection.alias, reading.names, values)


def insert(row: Model) -> None:
    """Insert a new row whose primary key is set, or is made by the database and not needed."""
    model = type(row)
    fields = [field for field in model._meta.concrete_fields if field.attname != "id" or row.pk is not None]
    pieces, values = _written(model, {field.attname: getattr(row, field.attname) for field in fields})
    with connection.cursor() as cursor:
        cursor.execute(_insertion(model, connection.vendor, pieces), values)
    row._state.adding, row._state.db = False, connection.alias


def update(model: type[Model], where: Mapping[str, Any], columns: Mapping[str, Any]) -> bool:
    """Set `columns` of the row that has these values; False when there is none: a guarded update."""
    pieces, values = _written(model, columns)
    guards = [_stored(model, name, value) for name, value in where.items()]
    with connection.cursor() as cursor:
        cursor.execute(_change(model, connection.vendor, tuple(columns), pieces, tuple(where)), values + guards)
        return bool(cursor.rowcount)


def _written(model: type[Model], columns: Mapping[str, Any]) -> tuple[Names, list[Any]]:
    """What stands for each column in the statement, and the values in their order."""
    pieces = tuple(value.text if isinstance(value, Sql) else "%s" for value in columns.values())
    values: list[Any] = []
    for name, value in columns.items():
        values += value.values if isinstance(value, Sql) else [_stored(model, name, value)]
    return pieces, values


def _stored(model: type[Model], name: str, value: Any) -> Any:
    return _field(model, name).get_db_prep_save(value, connection)


@functools.cache
def _field(model: type[Model], name: str) -> "Field[Any, Any]":
    known = {field.attname: field for field in model._meta.concrete_fields}
    return known["id" if name == "pk" else name]


@functools.cache
def _reading(model: type[Model], vendor: str, lock: bool) -> _Reading:
    fields = model._meta.concrete_fields
    columns = [field.get_col(model._meta.db_table) for field in fields]
    converters = [
        (position, column, (*connection.ops.get_db_converters(column), *column.get_db_converters(connection)))
        for position, column in enumerate(columns)
    ]
    suffix = " FOR NO KEY UPDATE" if lock and connection.features.has_select_for_no_key_update else ""
    statement = f"SELECT {_listed(fields)} FROM {_table(model)} WHERE {_quoted('id')} = %s{suffix}"  # noqa: S608
    return _Reading(
        statement,
        tuple(field.attname for field in fields),
        tuple(one for one in converters if one[2]),
    )


@functools.cache
def _insertion(model: type[Model], vendor: str, pieces: Names) -> str:
    fields = model._meta.concrete_fields[-len(pieces) :]  # a key that the database makes comes first, and is left out
    return f"INSERT INTO {_table(model)} ({_listed(fields)}) VALUES ({', '.join(pieces)})"  # noqa: S608


@functools.cache
def _change(model: type[Model], vendor: str, names: Names, pieces: Names, guards: Names) -> str:
    columns = (f"{_quoted(_field(model, name).column)} = {piece}" for name, piece in zip(names, pieces, strict=True))
    where = (f"{_quoted(_field(model, name).column)} = %s" for name in guards)
    return f"UPDATE {_table(model)} SET {', '.join(columns)} WHERE {' AND '.join(where)}"  # noqa: S608


def _listed(fields: Sequence["Field[Any, Any]"]) -> str:
    return ", ".join(_quoted(field.column) for field in fields)


def _table(model: type[Model]) -> str:
    return _quoted(model._meta.db_table)


def _quoted(name: str | None) -> str:
    return connection.ops.quote_name(name or "")
