"""One throwaway cluster per run, a template database, a clone per worker, a savepoint per test."""

from __future__ import annotations

import gc
import os
import secrets
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, Engine, make_url

from db.cluster import Cluster
from db.database import make_engine
from db.roles import as_web
from db.schema import upgrade

pytest_plugins = ["tests.browsing", "tests.ruled"]
ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
RULEBOOKS = Path(os.environ.get("SIGHTLINE_RULEBOOKS", SHARED / "rulebooks"))
CATALOGUE = SHARED / "catalogue"
TEMPLATE = "template_sightline"
FOR_TESTS = (
    "SIGHTLINE_TEST_CLUSTER", "SIGHTLINE_RULEBOOKS", "SIGHTLINE_CHROMIUM", "SIGHTLINE_BARE", "SIGHTLINE_QGIS", "SIGHTLINE_FAULTS",
    "SIGHTLINE_FUZZ", "SIGHTLINE_FIRE", "SIGHTLINE_COMBAT_CSS", "SIGHTLINE_WORLDS", "SIGHTLINE_BENT", "SIGHTLINE_SEED",
)  # fmt: skip
"""Variables that tests read; all others would be settings of whoever runs them."""
CLUSTER = pytest.StashKey[Cluster]()


def pytest_configure(config: pytest.Config) -> None:
    """The controlling process makes the cluster; workers find it in the environment."""
    if hasattr(config, "workerinput") or config.option.collectonly:
        return
    home = Path(tempfile.mkdtemp(prefix="sightline-tests-"))
    home.chmod(0o755)
    cluster = Cluster(home, durable=False)
    cluster.start()
    config.stash[CLUSTER] = cluster
    os.environ["SIGHTLINE_TEST_CLUSTER"] = str(home)
    for name in list(os.environ):
        if name.startswith("SIGHTLINE_") and name not in FOR_TESTS:
            del os.environ[name]
    with psycopg.connect(cluster.url("postgres"), autocommit=True) as connection:
        connection.execute(f"create database {TEMPLATE}")
    engine = make_engine(_url(cluster, TEMPLATE))
    with engine.begin() as connection:
        upgrade(connection, lambda step: None)
    engine.dispose()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is loaded now stays: looking through it for garbage would take a third of the time, and go on later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_unconfigure(config: pytest.Config) -> None:
    cluster = config.stash.get(CLUSTER, None)
    if cluster is not None:
        cluster.destroy()


def _url(cluster: Cluster, database: str) -> URL:
    return make_url(cluster.url(database)).set(drivername="postgresql+psycopg")


@pytest.fixture(scope="session")
def cluster() -> Cluster:
    """The throwaway cluster of this run."""
    return Cluster(Path(os.environ["SIGHTLINE_TEST_CLUSTER"]), durable=False)


class Databases:
    """Makes databases on the throwaway cluster: clones of the template, or empty."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster

    def make(self, template: str | None = TEMPLATE) -> URL:
        name = f"test_{secrets.token_hex(6)}"
        source = f"template {template} strategy file_copy" if template else ""
        if self._version() < 150000:
            source = source.replace(" strategy file_copy", "")
        with psycopg.connect(self.cluster.url("postgres"), autocommit=True) as connection:
            connection.execute(f"create database {name} {source}")
        return _url(self.cluster, name)

    def _version(self) -> int:
        with psycopg.connect(self.cluster.url("postgres")) as connection:
            return connection.info.server_version


@pytest.fixture(scope="session")
def databases(cluster: Cluster) -> Databases:
    return Databases(cluster)


@pytest.fixture(scope="session")
def worker_url(databases: Databases) -> URL:
    """The address of this worker's clone of the template."""
    return databases.make()


@pytest.fixture(scope="session")
def engine(worker_url: URL) -> Iterator[Engine]:
    """This worker's clone of the template; changes stay inside a test's transaction."""
    engine = make_engine(worker_url)
    yield engine
    engine.dispose()


@pytest.fixture
def connection(engine: Engine) -> Iterator[Connection]:
    """A connection whose work is undone when the test ends, even what it commits."""
    with engine.connect() as connection:
        outer = connection.begin()
        connection.begin_nested()
        yield connection
        if outer.is_active:
            outer.rollback()


_DOORS: dict[URL, Engine] = {}


def web_engine(owner: Engine) -> Engine:
    """The same database as pages and API have it: as the web role.

    One engine a database; of those that were made before, a few keep their connections.
    """
    known = _DOORS.pop(owner.url) if owner.url in _DOORS else None
    engine = _DOORS[owner.url] = known or make_engine(as_web(owner.url))
    for earlier in list(_DOORS.values())[:-3]:
        earlier.dispose()
    return engine


@pytest.fixture
def own_engine(databases: Databases) -> Iterator[Engine]:
    """A clone of the template for one test alone, which may commit to it."""
    engine = make_engine(databases.make())
    yield engine
    engine.dispose()


@pytest.fixture
def rows(connection: Connection):  # type: ignore[no-untyped-def]
    """Ask SQL, get tuples."""

    def ask(query: str, **values: object) -> list[tuple[object, ...]]:
        return [tuple(row) for row in connection.execute(sa.text(query), values)]

    return ask


@pytest.fixture(scope="session")
def rulebooks() -> Path:
    if not RULEBOOKS.is_dir():
        pytest.skip("the rulebooks' texts are not here")
    return RULEBOOKS


@pytest.fixture(scope="session")
def catalogue() -> Path:
    if not CATALOGUE.is_dir():
        pytest.skip("the catalogue is not here")
    return CATALOGUE
