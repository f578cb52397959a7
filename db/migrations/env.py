"""How Alembic runs our migrations: on the connection, and in the transaction, it is handed."""

from alembic import context

from db.tables import Base


def is_ours(name: str | None, kind: str, parents: object) -> bool:
    """Compare only tables of ours; PostGIS keeps one of its own in `public`."""
    if kind == "schema":
        return name in (None, "lattice")
    return not (kind == "table" and name == "spatial_ref_sys")


connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=Base.metadata,
    include_schemas=True,
    include_name=is_ours,
    compare_server_default=False,
)
with context.begin_transaction():
    context.run_migrations()
