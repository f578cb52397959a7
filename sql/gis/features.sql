-- needs: gis/plane.sql, gis/layers.sql, maps/kept.sql
-- What lies on a map or stands in a position as GeoJSON, with the bounds of a map and its version.
--
-- Shapes stay on the lattice until they are written: every plane a map is shown in is an
-- affine image of it, and a box of the display plane is a box there, where the index is.

create or replace function gis.bounds(map_id bigint)
returns public.geometry
language sql stable strict parallel safe
return (
  select
    gis._place(
      public.st_makeenvelope(3 * kept.q_low - 2, kept.y_low - 1, 3 * kept.q_high + 2, kept.y_high + 1), map.scheme
    )
  from public.map_summary as kept
  inner join public.map on kept.map_id = map.id
  where kept.map_id = bounds.map_id
);

comment on function gis.bounds(bigint) is
'The box around all hexes of a map, in the display plane; null for a map without hexes.';

create or replace function gis.map_version(map_id bigint)
returns text
language sql stable strict parallel safe
return (
  select md5(concat_ws(' ', kept.version, state.verbs, state.rulesets))
  from public.map_summary as kept
  left join public.schema_state as state on true
  where kept.map_id = map_version.map_id
);

comment on function gis.map_version(bigint) is
'A word that is another one whenever anything on a map, or of our functions and rulesets, has changed.';

create or replace function gis._labels(map_id bigint, qs integer[], rs integer[])
returns jsonb
-- not in SQL: a query in a scalar function is planned at every call
language plpgsql stable strict parallel safe
set plan_cache_mode = force_generic_plan
as $$
begin
  return (
    select jsonb_agg(there.label order by step.n)
    from unnest(qs, rs) with ordinality as step (q, r, n)
    cross join lateral (
      select hex.label
      from public.hex
      where hex.map_id = _labels.map_id
        and hex.q = step.q
        and hex.r = step.r
      -- a look-up for each, however large the map is
      offset 0
    ) as there
  );
end
$$;

comment on function gis._labels(bigint, integer[], integer[]) is
'The labels of some hexes of a map, in their order.';

create or replace function gis._marked(feature bigint)
returns table (properties jsonb, geom public.geometry)
language sql stable strict parallel safe rows 1
begin atomic
  select
    jsonb_build_object(
      'hexes', jsonb_agg(hex.label order by hex.q, hex.r) filter (where part.role = 'at'),
      'intense', jsonb_agg(hex.label order by hex.q, hex.r) filter (where part.role = 'intense'),
      'steady', jsonb_agg(hex.label order by hex.q, hex.r) filter (where part.role = 'steady')
    ),
    public.st_multi(public.st_union(hex.geom) filter (where part.role = 'at'))
  from public.map_feature_hex as part
  inner join public.hex
    on part.map_id = hex.map_id
    and part.q = hex.q
    and part.r = hex.r
  where part.feature = _marked.feature;
end;

comment on function gis._marked(bigint) is
'The hexes of a marked place by their role, and its shape on the lattice.';

create or replace function gis._everywhere()
returns public.geometry
language sql immutable parallel safe
return public.st_makeenvelope(-1000000, -1000000, 1000000, 1000000);

comment on function gis._everywhere() is
'A box around every map: labels reach 9999, so that no lattice point lies beyond it.';

create or replace function gis._hex_properties(hex public.hex)
returns jsonb
language sql immutable parallel safe
return jsonb_build_object(
  'label', hex.label, 'q', hex.q, 'r', hex.r, 'terrain', hex.terrain, 'level', hex.level,
  'features', hex.features, 'name', hex.name
);

comment on function gis._hex_properties(public.hex) is
'What a feature tells of a hex.';

create or replace function gis._hexside_properties(hexside public.hexside)
returns jsonb
-- not in SQL: a query in a scalar function is planned at every call
language plpgsql stable parallel safe
as $$
declare
  beside record;
begin
  select * into beside
  from lattice.side_hexes(hexside.x, hexside.y);
  return jsonb_build_object(
    'kind', hexside.kind, 'x', hexside.x, 'y', hexside.y,
    'hexes', gis._labels(hexside.map_id, array[beside.q1, beside.q2], array[beside.r1, beside.r2])
  );
end
$$;

comment on function gis._hexside_properties(public.hexside) is
'What a feature tells of a hexside.';

create or replace view gis._hexside_rank as
select
  hexside_kind.ruleset,
  hexside_kind.code,
  row_number() over (partition by hexside_kind.ruleset order by hexside_kind.code)::integer as n
from public.hexside_kind;

comment on view gis._hexside_rank is
'The kinds of hexsides of each game, numbered in their order.';
comment on column gis._hexside_rank.ruleset is 'The game';
comment on column gis._hexside_rank.code is 'The kind';
comment on column gis._hexside_rank.n is 'Its number, from 1';

create or replace function gis._on_map(map_id bigint, layer text, box public.geometry default null)
returns table (id bigint, properties jsonb, geom public.geometry)
language sql stable parallel safe
begin atomic
  select
    gis._packed(0, hex.q, hex.r, 0),
    gis._hex_properties(hex),
    hex.geom
  from public.hex
  where _on_map.layer = 'hexes'
    and hex.map_id = _on_map.map_id
    and hex.geom && coalesce(box, gis._everywhere())
  union all
  select
    gis._packed(0, hexside.x, hexside.y, rank.n),
    gis._hexside_properties(hexside),
    hexside.geom
  from public.hexside
  inner join gis._hexside_rank as rank on hexside.ruleset = rank.ruleset and hexside.kind = rank.code
  where _on_map.layer = 'hexsides'
    and hexside.map_id = _on_map.map_id
    and hexside.geom && coalesce(box, gis._everywhere())
  union all
  select
    path.id,
    jsonb_build_object(
      'kind', path.kind, 'name', path.name, 'hexes', gis._labels(path.map_id, path.qs, path.rs)
    ),
    path.geom
  from public.path
  where _on_map.layer = 'paths'
    and path.map_id = _on_map.map_id
    and path.geom && coalesce(box, gis._everywhere())
  union all
  select
    terrain_area.n,
    jsonb_build_object('n', terrain_area.n, 'terrain', terrain_area.terrain),
    terrain_area.geom
  from public.terrain_area
  where _on_map.layer = 'areas'
    and terrain_area.map_id = _on_map.map_id
    and terrain_area.geom && coalesce(box, gis._everywhere())
  union all
  select
    crest.n,
    jsonb_build_object('n', crest.n, 'level', crest.level),
    crest.geom
  from public.crest
  where _on_map.layer = 'crests'
    and crest.map_id = _on_map.map_id
    and crest.geom && coalesce(box, gis._everywhere())
  union all
  select
    map_feature.id,
    jsonb_build_object('kind', map_feature.kind, 'code', map_feature.code, 'attributes', map_feature.attributes)
    || place.properties,
    place.geom
  from public.map_feature
  cross join lateral gis._marked(map_feature.id) as place
  where _on_map.layer = 'features'
    and map_feature.map_id = _on_map.map_id
    and (box is null or place.geom && box);
end;

comment on function gis._on_map(bigint, text, public.geometry) is
'One layer of a map (hexes, hexsides, paths, areas, crests or features), or what of it meets a box; on the lattice.';

create or replace function gis._rounded(number double precision)
returns numeric
language sql immutable strict parallel safe
return trim_scale(round(number::numeric, 6));

comment on function gis._rounded(double precision) is
'A coordinate of the display plane with six decimals, as features have it.';

create or replace function gis._feature(
  id bigint, properties jsonb, geom public.geometry, scheme jsonb, affine double precision[], srid integer
)
returns text
language sql stable parallel safe
return json_build_object(
  'type', 'Feature',
  'id', id,
  'properties', properties,
  'place', public.st_asgeojson(public.st_forcepolygonccw(gis._place(geom, scheme)), 6)::json,
  'geometry',
  public.st_asgeojson(
    public.st_forcepolygonccw(public.st_transform(gis._world(geom, affine, srid), 4326)), 7
  )::json
)::text;

comment on function gis._feature(
  bigint, jsonb, public.geometry, jsonb, double precision[], integer
) is
'A GeoJSON feature: geometry in longitude and latitude, or null; place in the display plane.';

create or replace function gis._with_center(layer text, properties jsonb, geom public.geometry, scheme jsonb)
returns jsonb
-- not in SQL: it is not inlined, and would be planned for every feature
language plpgsql immutable parallel safe
as $$
declare
  center public.geometry;
begin
  if layer <> 'hexes' then
    return properties;
  end if;
  center := gis._place(public.st_centroid(geom), scheme);
  return properties || jsonb_build_object(
    'cx', gis._rounded(public.st_x(center)), 'cy', gis._rounded(public.st_y(center))
  );
end
$$;

comment on function gis._with_center(text, jsonb, public.geometry, jsonb) is
'What is told of a feature; of a hex also where its centre lies in the display plane.';

create or replace function gis.features(map_id bigint, layer text, box public.geometry default null)
returns table (feature text)
language sql stable parallel safe
begin atomic
  select
    gis._feature(
      item.id,
      gis._with_center(features.layer, item.properties, item.geom, map.scheme),
      item.geom,
      map.scheme,
      map.affine,
      map.srid
    )
  from public.map
  cross join lateral gis._on_map(
    map.id, features.layer, gis._unplace(features.box, map.scheme)
  ) as item
  where map.id = features.map_id
  order by item.id;
end;

comment on function gis.features(bigint, text, public.geometry) is
'The GeoJSON features of one layer of a map, or those that meet a box of the display plane.';

create or replace function gis._after(map_id bigint, layer text, after bigint, most integer, box public.geometry)
returns table (id bigint, properties jsonb, geom public.geometry)
language sql stable parallel safe
begin atomic
  -- in the order of the key, so that each page begins where the last has ended and nothing is sorted
  (
    select gis._packed(0, hex.q, hex.r, 0), gis._hex_properties(hex), hex.geom
    from public.hex
    where _after.layer = 'hexes'
      and hex.map_id = _after.map_id
      and (hex.q, hex.r) > (((after >> 23) & 131071)::integer - 65536, ((after >> 6) & 131071)::integer - 65536)
      -- not by the spatial index: it has another order
      and (hex.geom && coalesce(box, gis._everywhere())) is true
    order by hex.q, hex.r
    limit most
  )
  union all
  (
    select gis._packed(0, side.x, side.y, rank.n), gis._hexside_properties(side), side.geom
    from (
      select hexside.*
      from public.hexside
      where _after.layer = 'hexsides'
        and hexside.map_id = _after.map_id
        and (hexside.x, hexside.y) >= (((after >> 23) & 131071)::integer - 65536, ((after >> 6) & 131071)::integer - 65536)
        and (hexside.geom && coalesce(box, gis._everywhere())) is true
      order by hexside.x, hexside.y, hexside.kind
      -- what has the same place as the last that was told comes once more
      limit most + 64
    ) as side
    inner join gis._hexside_rank as rank on side.ruleset = rank.ruleset and side.kind = rank.code
    where gis._packed(0, side.x, side.y, rank.n) > after
    order by side.x, side.y, rank.n
    limit most
  )
  union all
  (
    select item.id, item.properties, item.geom
    from gis._on_map(
      _after.map_id, case when _after.layer not in ('hexes', 'hexsides') then _after.layer end, box
    ) as item
    where item.id > after
    order by item.id
    limit most
  );
end;

comment on function gis._after(bigint, text, bigint, integer, public.geometry) is
'So many features of a layer that come after an id, in their order; of a box, where one is given.';

create or replace function gis.features_after(
  map_id bigint, layer text, after bigint, most integer, box public.geometry default null
)
returns table (id bigint, feature text)
language sql stable parallel safe
begin atomic
  select
    item.id,
    gis._feature(
      item.id,
      gis._with_center(features_after.layer, item.properties, item.geom, map.scheme),
      item.geom,
      map.scheme,
      map.affine,
      map.srid
    )
  from public.map
  cross join lateral gis._after(
    map.id, features_after.layer, features_after.after, features_after.most,
    gis._unplace(features_after.box, map.scheme)
  ) as item
  where map.id = features_after.map_id
  order by item.id;
end;

comment on function gis.features_after(bigint, text, bigint, integer, public.geometry) is
'A page of the GeoJSON features of a layer: so many that come after an id; 0 before the first.';

create or replace function gis._standing(position_id bigint, layer text)
returns table (id bigint, properties jsonb, geom public.geometry)
language sql stable parallel safe
begin atomic
  select
    unit.id,
    jsonb_build_object(
      'id', unit.code, 'side', unit.side, 'kind', unit.kind, 'at', hex.label,
      'stack', row_number() over (partition by unit.q, unit.r order by unit.id), 'counter', unit.attributes
    ),
    hex.center
  from public.unit
  left join public.hex on unit.map_id = hex.map_id and unit.q = hex.q and unit.r = hex.r
  where _standing.layer = 'units'
    and unit.position_id = _standing.position_id
  union all
  select
    marker.id,
    jsonb_build_object(
      'kind', marker.kind, 'at', hex.label, 'value', marker.value, 'facing', marker.facing,
      'stack', row_number() over (partition by marker.q, marker.r order by marker.id),
      'attributes', marker.attributes
    ),
    hex.center
  from public.marker
  left join public.hex on marker.map_id = hex.map_id and marker.q = hex.q and marker.r = hex.r
  where _standing.layer = 'markers'
    and marker.position_id = _standing.position_id;
end;

comment on function gis._standing(bigint, text) is
'The units or markers of a position, at the centre of their hex on the lattice; no shape off the map.';

create or replace function gis.position_features(position_id bigint, layer text)
returns table (feature text)
language sql stable parallel safe
begin atomic
  select gis._feature(item.id, item.properties, item.geom, map.scheme, map.affine, map.srid)
  from public.position
  inner join public.map on position.map_id = map.id
  cross join lateral gis._standing(position.id, position_features.layer) as item
  where position.id = position_features.position_id
  order by item.id;
end;

comment on function gis.position_features(bigint, text) is
'The GeoJSON features of the units or markers of a position.';
