-- needs: gis/plane.sql, gis/layers.sql
-- The same layers on real ground, for maps that are georeferenced.
--
-- A view can declare one CRS only, and GIS wants it declared: hex_world, hexside_world, …
-- hold all georeferenced maps in longitude and latitude (EPSG:4326), which every GIS
-- shows in the CRS of the project at hand. Who needs the map's own CRS asks layer_in_crs.

create or replace function gis.layers()
returns table (layer text, title text)
language sql immutable parallel safe rows 9
begin atomic
  select
    known.layer,
    known.title
  from (
    values
    ('hex', 'Hexes'),
    ('hexside', 'Hexsides'),
    ('path', 'Paths'),
    ('terrain_area', 'Drawn terrain'),
    ('crest', 'Crest lines'),
    ('map_feature', 'Marked places'),
    ('field_of_fire', 'Fields of fire'),
    ('unit', 'Units'),
    ('marker', 'Markers')
  ) as known (layer, title);
end;

comment on function gis.layers() is
'The layers; each is a view gis.<layer> in the display plane and gis.<layer>_world in EPSG:4326.';

do $make_world_views$
declare
  known record;
begin
  for known in
    select
      layer.layer,
      string_agg(format('layer.%I', columns.attname), ', ' order by columns.attnum)
        filter (where columns.attname <> 'geom') as listed,
      string_agg(public.postgis_typmod_type(columns.atttypmod), '')
        filter (where columns.attname = 'geom') as kind
    from gis.layers() as layer
    inner join pg_catalog.pg_attribute as columns
      on columns.attrelid = format('gis.%I', layer.layer)::regclass
      and columns.attnum > 0
    group by layer.layer
  loop
    execute format(
      $view$
        create or replace view gis.%1$I as
        select
          %2$s,
          public.st_transform(
            gis._world(gis._unplace(layer.geom, map.scheme), map.affine, map.srid), 4326
          )::public.geometry (%3$s, 4326) as geom
        from gis.%4$I as layer
        inner join public.map on layer.map_id = map.id
        where map.srid is not null
      $view$,
      known.layer || '_world', known.listed, known.kind, known.layer
    );
  end loop;
end
$make_world_views$;

do $comment_world_views$
declare
  known record;
begin
  for known in
    select
      layer.layer,
      columns.attname,
      col_description(shown.oid, columns.attnum) as column_words,
      obj_description(shown.oid, 'pg_class') as view_words
    from gis.layers() as layer
    inner join pg_catalog.pg_class as shown on shown.oid = format('gis.%I', layer.layer)::regclass
    inner join pg_catalog.pg_attribute as columns
      on columns.attrelid = shown.oid
      and columns.attnum > 0
  loop
    execute format(
      'comment on view gis.%I is %L',
      known.layer || '_world',
      replace(known.view_words, 'in the display plane', 'on real ground (EPSG:4326)')
    );
    execute format(
      'comment on column gis.%I.%I is %L',
      known.layer || '_world',
      known.attname,
      regexp_replace(known.column_words, ', (regular|corner radius 1|y up)', '', 'g')
    );
  end loop;
end
$comment_world_views$;

create or replace function gis.layer_in_crs(map_name text, layer text)
returns table (id bigint, properties jsonb, geom public.geometry)
language plpgsql stable strict parallel safe
as $$
declare
  own public.map;
begin
  select * into own from public.map where map.name = map_name;
  if own.id is null then
    raise exception 'no map %', map_name;
  elsif own.srid is null then
    raise exception 'the map % is not georeferenced', map_name
      using hint = 'Give control points first, see docs/maps.md.';
  elsif layer not in (select known.layer from gis.layers() as known) then
    raise exception 'no layer %', layer using
      hint = 'Layers: ' || (select string_agg(known.layer, ', ') from gis.layers() as known);
  end if;
  return query execute format(
    $layer$
      select
        layer.id,
        to_jsonb(layer) - array['id', 'map_id', 'geom'],
        gis._world(gis._unplace(layer.geom, $2), $3, $4)
      from gis.%I as layer
      where layer.map_id = $1
    $layer$, layer
  ) using own.id, own.scheme, own.affine, own.srid;
end
$$;

comment on function gis.layer_in_crs(text, text) is
'A layer of a georeferenced map in the map''s own CRS.';
