"""The condition of a partial index in words that SQLite recognises again; knows no table."""

from django.db.models import BooleanField, F, Func


def is_named(column: str) -> Func:
    """That a text column is not blank: what `~Q(column="")` says in an index.

    The blank stands in the statement and not among its values. SQLite decides for an index before it knows the
    values, so that it would read the whole table.
    """
    return Func(F(column), template="NOT (%(expressions)s = '')", output_field=BooleanField())
