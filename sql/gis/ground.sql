-- needs: gis/plane.sql, gis/sample.sql, gis/features.sql
-- The ground of a map square by square, in few words: what a script asks for that paints what a screen shows.
--
-- The display plane is cut into squares of 64 (at a step of 2, 128; and so on), numbered from its origin, x to the
-- right and y up. A square has every hex that reaches into it, and a rim of three hexes around it, so that it can be
-- painted by itself, with its shores and slopes; a hex belongs to the square that its centre lies in. From afar one hex in step · step stands for the rest.

create or replace function gis._square(x integer, y integer, step integer)
returns public.geometry
language sql immutable strict parallel safe
return public.st_makeenvelope(64.0 * step * x, 64.0 * step * y, 64.0 * step * (x + 1), 64.0 * step * (y + 1));

comment on function gis._square(integer, integer, integer) is
'A square of the display plane by its number.';

create or replace function gis._near_ground(map_id bigint, scheme jsonb, square public.geometry)
returns json
language sql stable strict parallel safe
return (
  with box as materialized (
    select gis._unplace(public.st_expand(square, 6), scheme) as geom
  ),
  hexes as materialized (
    select hex.q, hex.r, hex.label, hex.terrain, hex.level, hex.features, hex.name
    from box
    inner join public.hex on hex.map_id = _near_ground.map_id and hex.geom && box.geom
  )
  select
    json_build_object(
      'hexes',
      (
        select json_agg(json_build_array(q, r, label, terrain, level, nullif(features, '{}'), name) order by q, r)
        from hexes
      ),
      'sides',
      (
        select json_agg(json_build_array(side.x, side.y, side.kind) order by side.x, side.y, side.kind)
        from public.hexside as side
        where side.map_id = _near_ground.map_id and side.geom && box.geom
      ),
      'paths',
      (
        select json_agg(json_build_array(path.id, path.kind, path.qs, path.rs) order by path.id)
        from public.path
        where path.map_id = _near_ground.map_id and path.geom && box.geom
      ),
      'areas',
      (
        select
          json_agg(
            json_build_array(
              area.n, area.terrain, public.st_asgeojson(gis._place(area.geom, scheme), 4)::json -> 'coordinates'
            ) order by area.n
          )
        from public.terrain_area as area
        where area.map_id = _near_ground.map_id and area.geom && box.geom
      ),
      'crests',
      (
        select
          json_agg(
            json_build_array(
              crest.n, crest.level, public.st_asgeojson(gis._place(crest.geom, scheme), 4)::json -> 'coordinates'
            ) order by crest.n
          )
        from public.crest
        where crest.map_id = _near_ground.map_id and crest.geom && box.geom
      ),
      'marked',
      (
        select
          json_agg(
            json_build_array(place.code, place.attributes ->> 'color', part.role, part.q, part.r)
            order by place.id, part.role, part.q, part.r
          )
        from hexes
        inner join public.map_feature_hex as part
          on part.map_id = _near_ground.map_id and hexes.q = part.q and hexes.r = part.r
        inner join public.map_feature as place on part.feature = place.id
      )
    )
  from box
);

comment on function gis._near_ground(bigint, jsonb, public.geometry) is
'All that lies in a square of a map and on the hexes around it.';

create or replace function gis._far_ground(map_id bigint, scheme jsonb, square public.geometry, step integer)
returns json
language sql stable strict parallel safe
return (
  with box as materialized (
    select gis._unplace(square, scheme) as geom
  )
  select
    json_build_object(
      'hexes',
      (
        select json_agg(json_build_array(hex.q, hex.r, hex.label, hex.terrain, hex.level) order by hex.q, hex.r)
        from gis._sampled(_far_ground.map_id, box.geom, step) as hex
      ),
      'lines',
      (
        select
          json_agg(
            json_build_array(
              path.id,
              path.properties ->> 'kind',
              public.st_asgeojson(gis._place(path.geom, scheme), 1)::json -> 'coordinates'
            ) order by path.id
          )
        from gis._coarse(_far_ground.map_id, 'paths', box.geom, step) as path
      ),
      'areas',
      (
        select
          json_agg(
            json_build_array(
              area.id,
              area.properties ->> 'terrain',
              public.st_asgeojson(gis._place(area.geom, scheme), 2)::json -> 'coordinates'
            ) order by area.id
          )
        from gis._coarse(_far_ground.map_id, 'areas', box.geom, step) as area
      )
    )
  from box
);

comment on function gis._far_ground(bigint, jsonb, public.geometry, integer) is
'What is seen of a square of a map from afar.';

create or replace function gis.ground(map_id bigint, step integer, x integer, y integer)
returns text
language sql stable strict parallel safe
return (
  select
    case
      when step = 1 then gis._near_ground(map.id, map.scheme, gis._square(x, y, 1))
      else gis._far_ground(map.id, map.scheme, gis._square(x, y, step), step)
    end::text
  from public.map
  where map.id = ground.map_id
);

comment on function gis.ground(bigint, integer, integer, integer) is
'A square of the ground of a map as JSON, for a script that paints it; from afar one hex in step · step.';
