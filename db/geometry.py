"""The type of geometry columns: GeoAlchemy2's, which is loaded once a geometry is really read or written.

Most questions are integer joins and meet no geometry; GeoAlchemy2 brings shapely and numpy along,
which take longer to load than such a question to answer.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.engine import Dialect

if TYPE_CHECKING:
    import geoalchemy2


class Geometry(sa.types.TypeDecorator[Any]):
    """A geometry of one kind: on the lattice, which has no CRS, or in a CRS of the world."""

    impl = sa.types.NullType
    cache_ok = True

    def __init__(self, kind: str, srid: int = 0) -> None:
        super().__init__()
        self.kind = kind
        self.srid = srid

    @functools.cached_property
    def geometry(self) -> geoalchemy2.Geometry:
        """The type itself; indexes are declared with the table."""
        import geoalchemy2

        return geoalchemy2.Geometry(self.kind, srid=self.srid, spatial_index=False)

    def load_dialect_impl(self, dialect: Dialect) -> sa.types.TypeEngine[Any]:
        return dialect.type_descriptor(self.geometry)

    def bind_expression(self, bindvalue: sa.BindParameter[Any]) -> sa.ColumnElement[Any] | None:
        found: sa.ColumnElement[Any] | None = self.geometry.bind_expression(bindvalue)  # type: ignore[no-untyped-call]
        return found

    def column_expression(self, column: sa.ColumnElement[Any]) -> sa.ColumnElement[Any] | None:
        found: sa.ColumnElement[Any] | None = self.geometry.column_expression(column)  # type: ignore[no-untyped-call]
        return found
