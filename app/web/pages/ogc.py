"""`/ogc`: OGC API – Features over maps, positions, games and campaigns, so that QGIS adds them by address.

Which classes are claimed stands in `CONFORMS`; each is tested in `tests/test_ogc.py`. It is JSON
throughout; people look at the pages of maps and campaigns instead.
"""

from __future__ import annotations

import datetime
import json
import math
import re
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Response, request, url_for

from app.play.views import observed_units
from app.web.site import database
from db import SightlineError, __version__
from db.features import (
    Collection,
    Query,
    collections,
    extent_of,
    find_collection,
    item,
    items,
    properties_of,
    utm_of,
)
from db.values import to_json

pages = Blueprint("ogc", __name__, url_prefix="/ogc")

PART1 = "http://www.opengis.net/spec/ogcapi-features-1/1.0/conf"
PART2 = "http://www.opengis.net/spec/ogcapi-features-2/1.0/conf"
PART3 = "http://www.opengis.net/spec/ogcapi-features-3/1.0/conf"
CONFORMS = (
    f"{PART1}/core",
    f"{PART1}/oas30",
    f"{PART1}/geojson",
    f"{PART2}/crs",
    f"{PART3}/queryables",
    f"{PART3}/queryables-query-parameters",
)
CRS84 = "http://www.opengis.net/def/crs/OGC/1.3/CRS84"
EPSG = "http://www.opengis.net/def/crs/EPSG/0/"
EVERYWHERE = {CRS84: 4326, f"{EPSG}4326": 4326, f"{EPSG}3857": 3857}
"""The CRS that every collection has, each with its code."""
QUERYABLES = "http://www.opengis.net/def/rel/ogc/1.0/queryables"
GEOJSON = "application/geo+json"
OPENAPI = "application/vnd.oai.openapi+json;version=3.0"
SCHEMA = "application/schema+json"
USUAL, MOST = 10, 10_000
OWN = ("bbox", "bbox-crs", "crs", "datetime", "limit", "offset", "known", "f")
NUMBER = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"


class BadQueryError(SightlineError):
    """A parameter that is not as the standard has it."""

    status = 400


@pages.get("")
def landing() -> Response:
    """What there is, and where it is described."""
    return _json(
        {
            "title": "Sightline",
            "description": "Maps, positions, games and recorded campaigns on real ground.",
            "links": [
                _link(".landing", "self", "This page"),
                _link(".api", "service-desc", "The API as OpenAPI 3.0", OPENAPI),
                _link(
                    "swagger.swagger", "service-doc", "The other API of Sightline, for people", "text/html"
                ),
                _link(".conformance", "conformance", "Which parts of the standard are kept"),
                _link(".all_collections", "data", "The collections"),
            ],
        }
    )


@pages.get("/conformance")
def conformance() -> Response:
    """Which classes of the standard are kept."""
    return _json({"conformsTo": list(CONFORMS)})


@pages.get("/collections")
def all_collections() -> Response:
    """Every collection."""
    _only("f")
    return _json(
        {
            "links": [_link(".all_collections", "self", "The collections")],
            "crs": list(EVERYWHERE),
            "collections": [_described(collection) for collection in collections(database())],
        }
    )


@pages.get("/collections/<id>")
def collection(id: str) -> Response:
    """One collection."""
    _only("f")
    return _json(_described(find_collection(database(), id)))


@pages.get("/collections/<id>/queryables")
def queryables(id: str) -> Response:
    """By which properties a collection may be asked."""
    _only("f")
    found = find_collection(database(), id)
    return _json(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": _address(".queryables", id=id),
            "type": "object",
            "title": found.title,
            "properties": properties_of(database(), found)
            | {"geometry": {"format": "geometry-any", "x-ogc-role": "primary-geometry"}},
            "additionalProperties": False,
        },
        SCHEMA,
    )


@pages.get("/collections/<id>/items")
def all_items(id: str) -> Response:
    """Features of a collection, a page at a time."""
    found = find_collection(database(), id)
    query, crs = _query(found)
    features, more, matched = items(database(), found, query)
    links = [_page_link(id, "self", query.offset), _link(".collection", "collection", found.title, id=id)]
    if more:
        links.append(_page_link(id, "next", query.offset + query.limit))
    if query.offset:
        links.append(_page_link(id, "prev", max(0, query.offset - query.limit)))
    return _features(
        {
            "type": "FeatureCollection",
            "timeStamp": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            **({} if matched is None else {"numberMatched": matched}),
            "numberReturned": len(features),
            "links": links,
            "features": [_feature(feature, crs) for feature in features],
        },
        crs,
    )


@pages.get("/collections/<id>/items/<path:feature>")
def one_item(id: str, feature: str) -> Response:
    """One feature."""
    _only("crs", "known", "f")
    found = find_collection(database(), id)
    query, crs = _query(found)
    told = _feature(item(database(), found, feature, query), crs)
    told["links"] = [
        _link(".one_item", "self", "This feature", GEOJSON, id=id, feature=feature),
        _link(".collection", "collection", found.title, id=id),
    ]
    return _features(told, crs)


@pages.get("/api")
def api() -> Response:
    """The API as OpenAPI 3.0 describes it."""
    return _json(_openapi(), OPENAPI)


# What is asked


def _query(found: Collection) -> tuple[Query, str]:
    """The query that the address asks for, and the CRS of the answer."""
    properties = {name: value for name, value in request.args.items() if name not in OWN}
    crs = request.args.get("crs", CRS84)
    begins, ends = _datetime(request.args.get("datetime"))
    box = _box(request.args.get("bbox"), request.args.get("bbox-crs", CRS84))
    return (
        Query(
            limit=_whole("limit", USUAL, 1, MOST),
            offset=_whole("offset", 0, 0, 2**31),
            box=box,
            box_srid=_srid(request.args.get("bbox-crs", CRS84), found, "bbox-crs"),
            begins=begins,
            ends=ends,
            known=_moment(request.args["known"], "known") if "known" in request.args else None,
            properties=_checked(properties, found),
            srid=_srid(crs, found, "crs"),
            only=observed_units(database(), found.name) if found.kind == "game" else None,
        ),
        crs,
    )


def _checked(properties: dict[str, str], found: Collection) -> dict[str, str]:
    known = properties_of(database(), found) if properties else {}
    for name in properties:
        if name not in known:
            raise BadQueryError(
                f"{name[:80]!r} is no parameter and no property of {found.id}.",
                f"There are {', '.join((*OWN, *known))}.",
            )
    return properties


def _only(*known: str) -> None:
    for name in request.args:
        if name not in known:
            raise BadQueryError(f"{name[:80]!r} is no parameter here.", f"There are {', '.join(known)}.")


def _whole(name: str, usual: int, least: int, most: int) -> int:
    text = request.args.get(name)
    if text is None:
        return usual
    if not re.fullmatch(r"\d{1,10}", text) or int(text) < least:
        raise BadQueryError(f"{name} is a whole number from {least} on, not {text[:40]!r}.")
    return min(int(text), most)


def _box(text: str | None, crs: str) -> tuple[float, float, float, float] | None:
    """West, south, east and north; heights are passed over."""
    if text is None:
        return None
    if not re.fullmatch(rf"{NUMBER}(,{NUMBER}){{3}}((,{NUMBER}){{2}})?", text):
        raise BadQueryError("bbox is four numbers, or six with heights, such as 144.6,13.2,145.0,13.7.")
    numbers = [float(part) for part in text.split(",")]
    west, south, east, north = numbers if len(numbers) == 4 else (*numbers[:2], *numbers[3:5])
    if crs == f"{EPSG}4326":
        # that CRS has the latitude first
        west, south, east, north = south, west, north, east
    if not all(map(math.isfinite, numbers)) or south > north:
        raise BadQueryError(f"bbox {text[:80]}: the south is above the north.")
    if west > east:
        raise BadQueryError("A bbox across the antimeridian is not answered.", "Ask for its two halves.")
    return west, south, east, north


def _srid(uri: str, found: Collection, parameter: str) -> int:
    """The code of a CRS that the collection lists."""
    if uri in EVERYWHERE:
        return EVERYWHERE[uri]
    known = _crs_of(extent_of(database(), found)["box"])
    if uri not in known:
        raise BadQueryError(
            f"{parameter}: {uri[:120]!r} is not among the CRS of {found.id}.",
            f"There are {', '.join(known)}.",
        )
    return int(uri.removeprefix(EPSG))


def _datetime(text: str | None) -> tuple[datetime.datetime | None, datetime.datetime | None]:
    """A moment, or a beginning and an end, either of which may be open."""
    if text is None:
        return None, None
    first, slash, last = text.partition("/")
    if not slash:
        moment = _moment(first, "datetime")
        end = moment + datetime.timedelta(days=1, microseconds=-1) if len(first) == 10 else moment
        return moment, end
    begins, ends = (None if part in ("", "..") else _moment(part, "datetime") for part in (first, last))
    if ends is not None and len(last) == 10:
        ends += datetime.timedelta(days=1, microseconds=-1)
    if begins is None and ends is None and first != ".." and last != "..":
        raise BadQueryError("datetime has neither a beginning nor an end.")
    if begins is not None and ends is not None and begins > ends:
        raise BadQueryError(f"datetime {text[:60]!r} ends before it begins.")
    return begins, ends


def _moment(text: str, parameter: str) -> datetime.datetime:
    try:
        moment = datetime.datetime.fromisoformat(text.replace(" ", "+"))
    except ValueError:
        raise BadQueryError(
            f"{parameter}: {text[:60]!r} is no moment of RFC 3339.",
            "Write it as 1944-07-21T08:30:00Z, or ../1944-08-10T00:00:00Z.",
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)


# What is told


def _described(found: Collection) -> dict[str, Any]:
    extent = extent_of(database(), found)
    told: dict[str, Any] = {
        "id": found.id,
        "title": found.title,
        "itemType": "feature",
        "storageCrs": CRS84,
        "crs": _crs_of(extent["box"]),
        "links": [
            _link(".collection", "self", found.title, id=found.id),
            _link(".all_items", "items", "Its features", GEOJSON, id=found.id),
            _link(".queryables", QUERYABLES, "By what it may be asked", SCHEMA, id=found.id),
        ],
    }
    if extent["box"] is not None:
        told["extent"] = {"spatial": {"bbox": [extent["box"]], "crs": CRS84}}
        if found.in_time:
            interval = [
                None if moment is None else _rfc3339(moment) for moment in (extent["begins"], extent["ends"])
            ]
            told["extent"]["temporal"] = {
                "interval": [interval],
                "trs": "http://www.opengis.net/def/uom/ISO-8601/0/Gregorian",
            }
    return told


def _crs_of(box: list[float] | None) -> list[str]:
    """Longitude and latitude in both orders, Web Mercator, and the UTM zone where the collection lies."""
    utm = utm_of(box)
    return [*EVERYWHERE, *([f"{EPSG}{utm}"] if utm else [])]


def _feature(feature: dict[str, Any], crs: str) -> dict[str, Any]:
    shape = None if feature["shape"] is None else json.loads(feature["shape"])
    if shape is not None and crs == f"{EPSG}4326":
        shape["coordinates"] = _swapped(shape["coordinates"])
    properties = {
        key: _rfc3339(value) if isinstance(value, datetime.datetime) else value
        for key, value in feature["properties"].items()
    }
    return {"type": "Feature", "id": feature["id"], "geometry": shape, "properties": properties}


def _swapped(coordinates: Any) -> Any:
    if coordinates and isinstance(coordinates[0], int | float):
        return [coordinates[1], coordinates[0]]
    return [_swapped(part) for part in coordinates]


def _rfc3339(moment: datetime.datetime) -> str:
    return moment.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _features(value: dict[str, Any], crs: str) -> Response:
    response = _json(value, GEOJSON)
    response.headers["Content-Crs"] = f"<{crs}>"
    return response


def _json(value: Any, kind: str = "application/json") -> Response:
    return Response(to_json(value, indent=None), content_type=kind)


def _address(endpoint: str, **values: str) -> str:
    return url_for(endpoint, _external=True, **values)


def _link(
    endpoint: str, rel: str, title: str, kind: str = "application/json", **values: str
) -> dict[str, str]:
    return {"href": _address(endpoint, **values), "rel": rel, "type": kind, "title": title}


def _page_link(id: str, rel: str, offset: int) -> dict[str, str]:
    """This page or another of the same question."""
    asked = {**request.args.to_dict(), "offset": str(offset)}
    if not offset:
        del asked["offset"]
    address = _address(".all_items", id=id)
    return {
        "href": f"{address}?{urlencode(asked)}" if asked else address,
        "rel": rel,
        "type": GEOJSON,
        "title": rel,
    }


def _openapi() -> dict[str, Any]:
    def parameter(name: str, place: str, schema: dict[str, Any], description: str) -> dict[str, Any]:
        return {
            "name": name, "in": place, "required": place == "path", "description": description, "schema": schema,
            **({"style": "form", "explode": False} if place == "query" else {}),
        }  # fmt: skip

    text = {"type": "string"}
    named = {
        "id": parameter("id", "path", text, "Id of the collection"),
        "feature": parameter("feature", "path", text, "Id of the feature"),
        "bbox": parameter("bbox", "query", {"type": "array", "minItems": 4, "maxItems": 6, "items": {"type": "number"}}, "A box: west, south, east, north"),
        "bbox-crs": parameter("bbox-crs", "query", text | {"format": "uri"}, "The CRS of the box"),
        "crs": parameter("crs", "query", text | {"format": "uri"}, "The CRS of the answer"),
        "datetime": parameter("datetime", "query", text, "A moment, or two with a slash between, .. for open"),
        "limit": parameter("limit", "query", {"type": "integer", "minimum": 1, "maximum": MOST, "default": USUAL}, "Features of a page"),
        "offset": parameter("offset", "query", {"type": "integer", "minimum": 0, "default": 0}, "Features passed over"),
        "known": parameter("known", "query", text | {"format": "date-time"}, "As a campaign was known then"),
    }  # fmt: skip
    paths = {
        "/": ("Landing page", (), "application/json"),
        "/conformance": ("Classes of the standard that are kept", (), "application/json"),
        "/api": ("This description", (), OPENAPI),
        "/collections": ("The collections", (), "application/json"),
        "/collections/{id}": ("A collection", ("id",), "application/json"),
        "/collections/{id}/queryables": ("By what it may be asked", ("id",), SCHEMA),
        "/collections/{id}/items": ("Features", ("id", "bbox", "bbox-crs", "crs", "datetime", "limit", "offset", "known"), GEOJSON),
        "/collections/{id}/items/{feature}": ("A feature", ("id", "feature", "crs", "known"), GEOJSON),
    }  # fmt: skip
    problem = {
        "description": "What is wrong",
        "content": {"application/problem+json": {"schema": {"type": "object"}}},
    }
    return {
        "openapi": "3.0.3",
        "info": {
            "title": "Sightline: OGC API – Features",
            "version": __version__,
            "license": {"name": "MIT"},
        },
        "servers": [{"url": _address(".landing")}],
        "paths": {
            path: {
                "get": {
                    "summary": title,
                    "operationId": re.sub(r"\W+", "_", path).strip("_") or "landing",
                    "parameters": [{"$ref": f"#/components/parameters/{name}"} for name in used],
                    "responses": {
                        "200": {"description": title, "content": {kind: {"schema": {"type": "object"}}}},
                        "400": problem,
                        **({"404": problem} if used else {}),
                    },
                }
            }
            for path, (title, used, kind) in paths.items()
        },
        "components": {"parameters": named},
    }
