-- The planes a map is shown in: the display plane, and the world where it is georeferenced.
--
-- The lattice has whole numbers and y down. The display plane has SRID 0, y up and
-- regular hexes with a corner radius of 1: x = X / 2, y = −Y · √3 / 2. A pointed map
-- is the lattice's picture turned by a quarter circle clockwise, see db/labels.py.
-- A corner that two hexes share is computed from the same whole numbers, so it comes
-- out the same to the last bit and layers stay without slivers.

create or replace function gis._place(geom public.geometry, scheme jsonb)
returns public.geometry
language sql immutable strict parallel safe
return case
  when scheme ->> 'orientation' = 'pointed'
    then public.st_affine(geom, 0, -sqrt(0.75::double precision), -0.5, 0, 0, 0)
  else public.st_affine(geom, 0.5, 0, 0, -sqrt(0.75::double precision), 0, 0)
end;

comment on function gis._place(public.geometry, jsonb) is
'From the lattice to the display plane of a map with this label scheme.';

create or replace function gis._unplace(geom public.geometry, scheme jsonb)
returns public.geometry
language sql immutable strict parallel safe
return case
  when scheme ->> 'orientation' = 'pointed'
    then public.st_affine(geom, 0, -2, -1 / sqrt(0.75::double precision), 0, 0, 0)
  else public.st_affine(geom, 2, 0, 0, -1 / sqrt(0.75::double precision), 0, 0)
end;

comment on function gis._unplace(public.geometry, jsonb) is
'From the display plane of a map with this label scheme back to the lattice.';

create or replace function gis._world(geom public.geometry, affine double precision[], srid integer)
returns public.geometry
language sql immutable strict parallel safe
return public.st_setsrid(
  public.st_affine(geom, affine[1], affine[2], affine[3], affine[4], affine[5], affine[6]), srid
);

comment on function gis._world(public.geometry, double precision[], integer) is
'From the lattice to a CRS, by the affine of a georeferenced map.';

create or replace function gis._unworld(geom public.geometry, affine double precision[])
returns public.geometry
language sql immutable strict parallel safe
return (
  select
    public.st_affine(
      public.st_translate(public.st_setsrid(geom, 0), -affine[5], -affine[6]),
      affine[4] / whole.det,
      -affine[2] / whole.det,
      -affine[3] / whole.det,
      affine[1] / whole.det,
      0,
      0
    )
  from (select affine[1] * affine[4] - affine[2] * affine[3] as det) as whole
);

comment on function gis._unworld(public.geometry, double precision[]) is
'From the CRS of a georeferenced map back to the lattice.';

create or replace function gis.place(map_id bigint, geom public.geometry)
returns public.geometry
language sql stable strict parallel safe
return (
  select gis._place(place.geom, map.scheme)
  from public.map
  where map.id = place.map_id
);

comment on function gis.place(bigint, public.geometry) is
'A geometry of the lattice in the display plane of a map: SRID 0, y up, hexes of corner radius 1.';

create or replace function gis.world(map_id bigint, geom public.geometry)
returns public.geometry
language sql stable strict parallel safe
return (
  select gis._world(world.geom, map.affine, map.srid)
  from public.map
  where map.id = world.map_id
);

comment on function gis.world(bigint, public.geometry) is
'A geometry of the lattice in the CRS of a georeferenced map; null where the map is not georeferenced.';

create or replace function gis.hex_at(map_id bigint, point public.geometry)
returns table (q integer, r integer, label text)
language sql stable strict parallel safe rows 1
begin atomic
  with map as (
    select
      map.scheme,
      map.affine,
      map.srid
    from public.map
    where map.id = hex_at.map_id
  ),
  on_lattice as (
    select
      case
        when public.st_srid(point) = 0 then gis._unplace(point, map.scheme)
        else gis._unworld(public.st_transform(point, map.srid), map.affine)
      end as geom
    from map
  )
  select
    hex.q,
    hex.r,
    hex.label
  from on_lattice, public.hex
  where hex.map_id = hex_at.map_id
    and public.st_intersects(hex.geom, on_lattice.geom)
  order by public.st_distance(hex.center, on_lattice.geom)
  limit 1;
end;

comment on function gis.hex_at(bigint, public.geometry) is
'The hex of a map under a point: SRID 0 is the display plane, any other CRS needs a georeferenced map.';
