"""Which hexes of an island are land: its numbers laid on the real coast by the plan's control points."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal

import shapely

from db.coasts import coasts
from db.labels import Axial, Scheme
from db.map_draft import ControlPoint
from importers.georeference import Affine, fit
from importers.islands.plans import ControlPoint as Corner
from importers.islands.plans import Plan
from importers.land_reference import printed_hexes

NEARLY_HALF = 0.45
"""Of a hex: what has so much land is land."""


def land_shares(plan: Plan, scheme: Scheme) -> dict[Axial, float]:
    """How much of every hex of an island's map is land: nothing, all, or a part."""
    return shares_of_land(plan.island, plan.control, scheme, scheme.rectangle(plan.corner, plan.far_corner))


def shares_of_land(
    island: str, control: Sequence[Corner], scheme: Scheme, places: Iterable[Axial]
) -> dict[Axial, float]:
    """How much of each hex is land, where control points lay a map on a coast."""
    a, b, d, e, east, north = (float(number) for number in affine_of(control, scheme))
    coast = shapely.geometry.shape(coasts()[island])
    shapely.prepare(coast)
    found = {}
    for place in places:
        # parts of an area are the same whichever way a plane is stretched
        ring = [(a * u + b * v + east, d * u + e * v + north) for u, v in place.corners]
        ground = shapely.Polygon(ring)
        found[place] = ground.intersection(coast).area / ground.area if ground.intersects(coast) else 0.0
    return found


def affine_of(control: Sequence[Corner], scheme: Scheme) -> Affine:
    """From the lattice to longitude and latitude."""
    return fit(
        [ControlPoint(scheme.hex(label), Decimal(str(lon)), Decimal(str(lat))) for label, lon, lat in control]
    )


def real_land(plan: Plan, scheme: Scheme) -> set[Axial]:
    """Hexes that are land: nearly half of them is, or a placement table (19.0) names them."""
    printed = {scheme.hex(label) for label in printed_hexes(plan.island)}
    return printed | {place for place, share in land_shares(plan, scheme).items() if share >= NEARLY_HALF}
