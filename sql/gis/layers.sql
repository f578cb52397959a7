-- needs: gis/plane.sql
-- The layers of all maps in the display plane: one view each, with a whole-numbered id
-- first and one geometry column of one type last, as desktop GIS wants them.
--
-- Hexes and hexsides have no number of their own. Theirs is packed from map and place,
-- so that it stays the same whatever is filtered or added: 17 bits for each coordinate
-- (labels reach 9999, doubled cells 40000), 6 for the kind.

create or replace function gis._packed(map_id bigint, x integer, y integer, n integer)
returns bigint
language sql immutable strict parallel safe
return (map_id << 40) | ((x + 65536)::bigint << 23) | ((y + 65536)::bigint << 6) | n;

comment on function gis._packed(bigint, integer, integer, integer) is
'A whole number for what stands at a place of a map, different for each.';

create or replace view gis.hex as
select
  gis._packed(hex.map_id, hex.q, hex.r, 0) as id,
  hex.map_id,
  map.name as map,
  hex.ruleset,
  hex.label,
  hex.terrain,
  terrain.title as terrain_title,
  terrain.sight,
  hex.level,
  hex.features,
  hex.name,
  hex.q,
  hex.r,
  gis._place(hex.geom, map.scheme)::public.geometry (polygon, 0) as geom
from public.hex
inner join public.map on hex.map_id = map.id
inner join public.terrain on hex.ruleset = terrain.ruleset and hex.terrain = terrain.code;

comment on view gis.hex is
'Hexes of all maps in the display plane; filter by map.';
comment on column gis.hex.id is 'Whole number, the same at every look';
comment on column gis.hex.map_id is 'The map';
comment on column gis.hex.map is 'Short name of the map';
comment on column gis.hex.ruleset is 'The game';
comment on column gis.hex.label is 'Printed number';
comment on column gis.hex.terrain is 'Kind of terrain that fills it';
comment on column gis.hex.terrain_title is 'The same as the rulebook heads it';
comment on column gis.hex.sight is 'What the terrain does to sight; null where the rulebook does not say';
comment on column gis.hex.level is 'Elevation level';
comment on column gis.hex.features is 'cave, village, airstrip, coast, …';
comment on column gis.hex.name is 'A place name';
comment on column gis.hex.q is 'Axial column';
comment on column gis.hex.r is 'Axial row';
comment on column gis.hex.geom is 'The hex, regular, corner radius 1, y up';

create or replace view gis.hexside as
select
  gis._packed(
    hexside.map_id,
    hexside.x,
    hexside.y,
    (
      select count(*)
      from public.hexside_kind as before
      where before.ruleset = hexside.ruleset
        and before.code < hexside.kind
    )::integer
  ) as id,
  hexside.map_id,
  map.name as map,
  hexside.ruleset,
  hexside.kind,
  hexside_kind.title,
  hexside_kind.sight,
  concat_ws('|', one.label, other.label) as hexes,
  hexside.x,
  hexside.y,
  gis._place(hexside.geom, map.scheme)::public.geometry (linestring, 0) as geom
from public.hexside
inner join public.map on hexside.map_id = map.id
inner join public.hexside_kind
  on hexside.ruleset = hexside_kind.ruleset
  and hexside.kind = hexside_kind.code
cross join lateral lattice.side_hexes(hexside.x, hexside.y) as beside
left join public.hex as one
  on hexside.map_id = one.map_id
  and beside.q1 = one.q
  and beside.r1 = one.r
left join public.hex as other
  on hexside.map_id = other.map_id
  and beside.q2 = other.q
  and beside.r2 = other.r;

comment on view gis.hexside is
'Features on hexsides of all maps in the display plane; filter by map.';
comment on column gis.hexside.id is 'Whole number, the same at every look';
comment on column gis.hexside.map_id is 'The map';
comment on column gis.hexside.map is 'Short name of the map';
comment on column gis.hexside.ruleset is 'The game';
comment on column gis.hexside.kind is 'Kind of feature';
comment on column gis.hexside.title is 'The same as the rulebook heads it';
comment on column gis.hexside.sight is 'What it does to sight; null where the rulebook does not say';
comment on column gis.hexside.hexes is 'The two hexes that share it; one on the rim of the map';
comment on column gis.hexside.x is 'q of both hexes, added';
comment on column gis.hexside.y is 'r of both hexes, added';
comment on column gis.hexside.geom is 'The side, y up';

create or replace view gis.path as
select
  path.id,
  path.map_id,
  map.name as map,
  path.ruleset,
  path.kind,
  path_kind.title,
  path.name,
  cardinality(path.qs) - 1 as steps,
  gis._place(path.geom, map.scheme)::public.geometry (linestring, 0) as geom
from public.path
inner join public.map on path.map_id = map.id
inner join public.path_kind on path.ruleset = path_kind.ruleset and path.kind = path_kind.code;

comment on view gis.path is
'Roads, trails and railways of all maps in the display plane; filter by map.';
comment on column gis.path.id is 'Whole number, the same at every look';
comment on column gis.path.map_id is 'The map';
comment on column gis.path.map is 'Short name of the map';
comment on column gis.path.ruleset is 'The game';
comment on column gis.path.kind is 'Kind of path';
comment on column gis.path.title is 'The same as the rulebook heads it';
comment on column gis.path.name is 'A name, e.g. of a road';
comment on column gis.path.steps is 'From hex to hex along it';
comment on column gis.path.geom is 'The line through the centres of its hexes, y up';

create or replace view gis.terrain_area as
select
  terrain_area.id,
  terrain_area.map_id,
  map.name as map,
  terrain_area.ruleset,
  terrain_area.n,
  terrain_area.terrain,
  terrain.title as terrain_title,
  terrain.sight,
  gis._place(terrain_area.geom, map.scheme)::public.geometry (polygon, 0) as geom
from public.terrain_area
inner join public.map on terrain_area.map_id = map.id
inner join public.terrain
  on terrain_area.ruleset = terrain.ruleset
  and terrain_area.terrain = terrain.code;

comment on view gis.terrain_area is
'Terrain as it is drawn, where the artwork decides, of all maps in the display plane; filter by map.';
comment on column gis.terrain_area.id is 'Whole number, the same at every look';
comment on column gis.terrain_area.map_id is 'The map';
comment on column gis.terrain_area.map is 'Short name of the map';
comment on column gis.terrain_area.ruleset is 'The game';
comment on column gis.terrain_area.n is 'Its number on the map, as rulings cite it';
comment on column gis.terrain_area.terrain is 'Kind of terrain drawn';
comment on column gis.terrain_area.terrain_title is 'The same as the rulebook heads it';
comment on column gis.terrain_area.sight is
'What the terrain does to sight; null where the rulebook does not say';
comment on column gis.terrain_area.geom is 'The outline, y up';

create or replace view gis.crest as
select
  crest.id,
  crest.map_id,
  map.name as map,
  crest.ruleset,
  crest.n,
  crest.level,
  gis._place(crest.geom, map.scheme)::public.geometry (linestring, 0) as geom
from public.crest
inner join public.map on crest.map_id = map.id;

comment on view gis.crest is
'Crest lines of all maps in the display plane, the higher ground on the left; filter by map.';
comment on column gis.crest.id is 'Whole number, the same at every look';
comment on column gis.crest.map_id is 'The map';
comment on column gis.crest.map is 'Short name of the map';
comment on column gis.crest.ruleset is 'The game';
comment on column gis.crest.n is 'Its number on the map, as rulings cite it';
comment on column gis.crest.level is 'Level of the higher ground';
comment on column gis.crest.geom is 'The line, y up, the higher ground on its left';

create or replace view gis.map_feature as
select
  map_feature.id,
  map_feature.map_id,
  map.name as map,
  map_feature.ruleset,
  map_feature.kind,
  map_feature.code,
  map_feature.attributes,
  place.hexes,
  gis._place(place.geom, map.scheme)::public.geometry (multipolygon, 0) as geom
from public.map_feature
inner join public.map on map_feature.map_id = map.id
cross join lateral (
  select
    array_agg(hex.label order by hex.q, hex.r) as hexes,
    public.st_multi(public.st_collect(hex.geom order by hex.q, hex.r)) as geom
  from public.map_feature_hex as part
  inner join public.hex
    on part.map_id = hex.map_id
    and part.q = hex.q
    and part.r = hex.r
  where part.feature = map_feature.id
    and part.role = 'at'
) as place;

comment on view gis.map_feature is
'Marked places of all maps in the display plane: objectives, printed positions, exits, boxes; filter by map.';
comment on column gis.map_feature.id is 'Whole number, the same at every look';
comment on column gis.map_feature.map_id is 'The map';
comment on column gis.map_feature.map is 'Short name of the map';
comment on column gis.map_feature.ruleset is 'The game';
comment on column gis.map_feature.kind is 'objective, position, exit, box, …';
comment on column gis.map_feature.code is 'Its printed name';
comment on column gis.map_feature.attributes is 'What else is printed';
comment on column gis.map_feature.hexes is 'Labels of its hexes; null off the map';
comment on column gis.map_feature.geom is 'Its hexes, y up; null off the map';

create or replace view gis.field_of_fire as
select
  2 * map_feature.id + (part.role = 'steady')::integer as id,
  map_feature.map_id,
  map.name as map,
  map_feature.ruleset,
  map_feature.code,
  map_feature.attributes,
  part.role,
  part.hexes,
  gis._place(part.geom, map.scheme)::public.geometry (multipoint, 0) as geom
from public.map_feature
inner join public.map on map_feature.map_id = map.id
cross join lateral (
  select
    dot.role,
    array_agg(hex.label order by hex.q, hex.r) as hexes,
    public.st_multi(public.st_collect(hex.center order by hex.q, hex.r)) as geom
  from public.map_feature_hex as dot
  inner join public.hex
    on dot.map_id = hex.map_id
    and dot.q = hex.q
    and dot.r = hex.r
  where dot.feature = map_feature.id
    and dot.role in ('intense', 'steady')
  group by dot.role
) as part;

comment on view gis.field_of_fire is
'Printed fire dots of positions, intense and steady apart, in the display plane; filter by map.';
comment on column gis.field_of_fire.id is 'Whole number, the same at every look';
comment on column gis.field_of_fire.map_id is 'The map';
comment on column gis.field_of_fire.map is 'Short name of the map';
comment on column gis.field_of_fire.ruleset is 'The game';
comment on column gis.field_of_fire.code is 'Printed name of the position';
comment on column gis.field_of_fire.attributes is 'What else is printed of it';
comment on column gis.field_of_fire.role is 'intense or steady';
comment on column gis.field_of_fire.hexes is 'Labels of the hexes under fire';
comment on column gis.field_of_fire.geom is 'The dots, y up';

create or replace view gis.unit as
select
  unit.id,
  unit.position_id,
  position.name as position,
  unit.map_id,
  map.name as map,
  position.ruleset,
  unit.code,
  unit.side,
  unit.kind,
  hex.label,
  row_number() over (partition by unit.position_id, unit.q, unit.r order by unit.id) as stack,
  unit.attributes,
  gis._place(hex.center, map.scheme)::public.geometry (point, 0) as geom
from public.unit
inner join public.position on unit.position_id = position.id
inner join public.map on unit.map_id = map.id
left join public.hex on unit.map_id = hex.map_id and unit.q = hex.q and unit.r = hex.r;

comment on view gis.unit is
'Units of all positions in the display plane; filter by position.';
comment on column gis.unit.id is 'Whole number, the same at every look';
comment on column gis.unit.position_id is 'The position';
comment on column gis.unit.position is 'Short name of the position';
comment on column gis.unit.map_id is 'The map';
comment on column gis.unit.map is 'Short name of the map';
comment on column gis.unit.ruleset is 'The game';
comment on column gis.unit.code is 'Identity within the position';
comment on column gis.unit.side is 'us, japan, allied, …';
comment on column gis.unit.kind is 'infantry, tank, squad, …';
comment on column gis.unit.label is 'Its hex; null off the map';
comment on column gis.unit.stack is '1, 2, … within its hex, for drawing stacks';
comment on column gis.unit.attributes is 'The rest of the counter';
comment on column gis.unit.geom is 'Centre of its hex, y up; null off the map';

create or replace view gis.marker as
select
  marker.id,
  marker.position_id,
  position.name as position,
  marker.map_id,
  map.name as map,
  position.ruleset,
  marker.kind,
  marker.value,
  marker.facing,
  hex.label,
  row_number() over (partition by marker.position_id, marker.q, marker.r order by marker.id) as stack,
  marker.attributes,
  gis._place(hex.center, map.scheme)::public.geometry (point, 0) as geom
from public.marker
inner join public.position on marker.position_id = position.id
inner join public.map on marker.map_id = map.id
left join public.hex on marker.map_id = hex.map_id and marker.q = hex.q and marker.r = hex.r;

comment on view gis.marker is
'Markers of all positions in the display plane; filter by position.';
comment on column gis.marker.id is 'Whole number, the same at every look';
comment on column gis.marker.position_id is 'The position';
comment on column gis.marker.position is 'Short name of the position';
comment on column gis.marker.map_id is 'The map';
comment on column gis.marker.map is 'Short name of the map';
comment on column gis.marker.ruleset is 'The game';
comment on column gis.marker.kind is 'dg, smoke, foxhole, …';
comment on column gis.marker.value is 'Its number, where it has one';
comment on column gis.marker.facing is 'Direction 1 to 6, where it has one';
comment on column gis.marker.label is 'Its hex; null off the map';
comment on column gis.marker.stack is '1, 2, … within its hex, for drawing stacks';
comment on column gis.marker.attributes is 'What else it says';
comment on column gis.marker.geom is 'Centre of its hex, y up; null off the map';
