"""Reads and writes single rows with statements that are built once; decides nothing and opens no transaction.

Building a statement costs the ORM several times what the database needs to carry it out. The step of a loop is the
one path where that counts, so it comes here (docs/adr/0005); everything else uses the ORM. Values pass through the
fields of the model as they do in the ORM.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from django.db import connection
from django.db.models import Field, ForeignKey, Model
from django.db.models.base import ModelState

from trinity.kernel.statements import Answer, Statement, carry_out

Row = TypeVar("Row", bound=Model)
Names = tuple[str, ...]
Prepare = Callable[[Any], Any]


class Sql(NamedTuple):
    """A piece of SQL in the place of a value, with its own values."""

    text: str
    values: tuple[Any, ...] = ()


class _Reading(NamedTuple):
    columns: str
    names: Names
    converters: tuple[tuple[int, Any, tuple[Callable[..., Any], ...]], ...]  # position, column, what converts it


def read(model: type[Row], key: str | int) -> Row | None:
    """The row with this primary key, or None."""
    return row_in(model, carry_out(reading(model, key))[0])


def find(model: type[Row], column: str, value: Any) -> Row | None:
    """The row with this value in a column that is unique, or None."""
    return row_in(model, carry_out(finding(model, column, value))[0])


def insert(row: Model) -> None:
    """Insert a new row whose primary key is set, or is made by the database and not needed."""
    carry_out(insertion(row))


def update(model: type[Model], where: Mapping[str, Any], columns: Mapping[str, Any]) -> bool:
    """Set `columns` of the row that has these values; False when there is none: a guarded update."""
    return bool(carry_out(change(model, where, columns))[0].moved)


def reading(model: type[Model], key: str | int) -> Statement:
    """Reads the row with this primary key; `row_in` makes it of the answer."""
    return Statement(_selection(model, _vendor()), (key,))


def finding(model: type[Model], column: str, value: Any) -> Statement:
    """Reads the row with this value, which may be a piece of SQL, in a column that is unique."""
    if isinstance(value, Sql):
        return Statement(_selection(model, _vendor(), column, value.text), value.values)
    return Statement(_selection(model, _vendor(), column), (value,))


def locking(model: type[Model], key: str | int) -> Statement:
    """The same, and holds the row until the transaction ends. NO KEY UPDATE: a plain FOR UPDATE deadlocks with the
    foreign-key checks of children that are inserted meanwhile."""
    return Statement(_locking(model, _vendor()), (key,))


def row_in(model: type[Row], answer: Answer) -> Row | None:
    """The row that was read, or None when there is none."""
    return row_of(model, answer.rows[0]) if answer.rows else None


def row_of(model: type[Row], found: Sequence[Any]) -> Row:
    """A row of the values of `columns_of`, in their order."""
    form = _reading(model, _vendor())
    values = list(found)
    for position, column, converters in form.converters:
        for convert in converters:
            values[position] = convert(values[position], column, connection)
    row = model.__new__(model)  # as `from_db` makes it, without the signals that nobody here listens to
    row._state = ModelState()
    row._state.adding, row._state.db = False, connection.alias
    row.__dict__.update(zip(form.names, values, strict=True))
    return row


def columns_of(model: type[Model]) -> str:
    """All columns of a model, for a statement whose rows `row_of` makes."""
    return _reading(model, _vendor()).columns


def insertion(row: Model) -> Statement:
    """Inserts a row as it is now."""
    names = _all_names(type(row), row.pk is not None)
    columns = {name: getattr(row, name) for name in names}
    row._state.adding, row._state.db = False, connection.alias
    return insertion_of(type(row), [columns])


def insertion_of(model: type[Model], new: Sequence[Mapping[str, Any]]) -> Statement:
    """Inserts several rows, all with the same columns."""
    groups, values = [], []
    for columns in new:
        pieces, more = _written(model, columns)
        groups.append(pieces)
        values += more
    return Statement(_insertion(model, _vendor(), tuple(new[0]), tuple(groups)), values)


def change(model: type[Model], where: Mapping[str, Any], columns: Mapping[str, Any], must_move: str = "") -> Statement:
    """Sets `columns` of the row that has these values; `must_move` says what is wrong when there is none."""
    pieces, values = _written(model, columns)
    guards = [_stored(model, name, value) for name, value in where.items()]
    text = _change(model, _vendor(), tuple(columns), pieces, tuple(where))
    return Statement(text, values + guards, must_move)


def _written(model: type[Model], columns: Mapping[str, Any]) -> tuple[Names, list[Any]]:
    """What stands for each column in the statement, and the values in their order.

    What is blank stands in the text itself: most columns of a new row are, and a value costs more than a word.
    """
    prepares = _prepares(model, _vendor())
    pieces: list[str] = []
    values: list[Any] = []
    for name, value in columns.items():
        if value is None:
            pieces.append("NULL")
            continue
        prepare, plain = prepares[name]
        if value.__class__ is Sql:
            pieces.append(value.text)
            values += value.values
        elif plain and value == "":
            pieces.append("''")
        else:
            pieces.append("%s")
            values.append(value if prepare is None else prepare(value))
    return tuple(pieces), values


def _stored(model: type[Model], name: str, value: Any) -> Any:
    prepare, _ = _prepares(model, _vendor())[name]
    return value if prepare is None else prepare(value)


@functools.cache
def _vendor() -> str:
    """Asked of Django once: its connection is looked up anew, by thread and task, on every access."""
    return str(connection.vendor)


@functools.cache
def _prepares(model: type[Model], vendor: str) -> dict[str, tuple[Prepare | None, bool]]:
    """How each column's value is made ready for the database: None as it is; and whether it is text."""
    known = {field.attname: _prepare(field, vendor) for field in model._meta.concrete_fields}
    return known | {"pk": known[str(model._meta.pk.attname)]}


def _prepare(field: "Field[Any, Any]", vendor: str) -> tuple[Prepare | None, bool]:
    target = field.target_field if isinstance(field, ForeignKey) else field
    kind = target.get_internal_type()
    if kind in ("CharField", "TextField"):
        return str, True  # a word of a vocabulary becomes plain text
    if kind in _AS_THEY_ARE or (kind == "DateTimeField" and vendor == "postgresql"):
        return None, False
    return lambda value: field.get_db_prep_save(value, connection), False


_AS_THEY_ARE = frozenset(
    {"AutoField", "BigAutoField", "IntegerField", "BigIntegerField", "PositiveIntegerField", "BooleanField"}
    | {"PositiveSmallIntegerField", "SmallIntegerField", "FloatField"}
)


@functools.cache
def _all_names(model: type[Model], with_key: bool) -> Names:
    """A key that the database makes is left out."""
    return tuple(field.attname for field in model._meta.concrete_fields if with_key or not field.primary_key)


@functools.cache
def _reading(model: type[Model], vendor: str) -> _Reading:
    fields = model._meta.concrete_fields
    columns = [field.get_col(model._meta.db_table) for field in fields]
    converters = [
        (position, column, (*connection.ops.get_db_converters(column), *column.get_db_converters(connection)))
        for position, column in enumerate(columns)
    ]
    return _Reading(
        _listed(field.column for field in fields),
        tuple(field.attname for field in fields),
        tuple(one for one in converters if one[2]),
    )


@functools.cache
def _selection(model: type[Model], vendor: str, column: str = "id", value: str = "%s") -> str:
    return f"SELECT {columns_of(model)} FROM {_table(model)} WHERE {_quoted(column)} = {value}"  # noqa: S608


@functools.cache
def _locking(model: type[Model], vendor: str) -> str:
    suffix = " FOR NO KEY UPDATE" if connection.features.has_select_for_no_key_update else ""
    return _selection(model, vendor) + suffix


@functools.lru_cache(maxsize=2_000)
def _insertion(model: type[Model], vendor: str, names: Names, groups: tuple[Names, ...]) -> str:
    columns = _listed(_column(model, name) for name in names)
    rows = ", ".join(f"({', '.join(pieces)})" for pieces in groups)
    return f"INSERT INTO {_table(model)} ({columns}) VALUES {rows}"  # noqa: S608


@functools.lru_cache(maxsize=2_000)
def _change(model: type[Model], vendor: str, names: Names, pieces: Names, guards: Names) -> str:
    columns = (f"{_quoted(_column(model, name))} = {piece}" for name, piece in zip(names, pieces, strict=True))
    where = (f"{_quoted(_column(model, name))} = %s" for name in guards)
    return f"UPDATE {_table(model)} SET {', '.join(columns)} WHERE {' AND '.join(where)}"  # noqa: S608


@functools.cache
def _column(model: type[Model], name: str) -> str:
    known = {field.attname: field.column for field in model._meta.concrete_fields}
    return str(known[model._meta.pk.attname if name == "pk" else name])


def _listed(columns: "Sequence[str] | Any") -> str:
    return ", ".join(_quoted(column) for column in columns)


def _table(model: type[Model]) -> str:
    return _quoted(model._meta.db_table)


def _quoted(name: str | None) -> str:
    return connection.ops.quote_name(name or "")
