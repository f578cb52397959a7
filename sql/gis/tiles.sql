-- needs: gis/plane.sql, gis/features.sql, gis/sample.sql
-- Vector tiles (MVT) of a map, in its display plane.
--
-- Tile 0/0/0 is the smallest square that holds the map and has its upper left corner in
-- common with it. At each zoom a tile is cut into four; x counts to the right, y down.
-- The steps are materialized: inlined into each other, bounds would be sought for every hex.
--
-- A tile shows at most a hundred hexes side by side: of more, one in four, in sixteen and so on stands for those
-- around it (gis/sample.sql), and hexsides are left out.

create or replace function gis.tile_square(map_id bigint)
returns public.geometry
language sql stable strict parallel safe
begin atomic
  with whole as materialized (
    select gis.bounds(tile_square.map_id)::public.box2d as box
  ),
  square as (
    select
      public.st_xmin(whole.box) as left_edge,
      public.st_ymax(whole.box) as upper_edge,
      greatest(
        public.st_xmax(whole.box) - public.st_xmin(whole.box),
        public.st_ymax(whole.box) - public.st_ymin(whole.box)
      ) as side
    from whole
  )
  select
    public.st_makeenvelope(
      square.left_edge, square.upper_edge - square.side, square.left_edge + square.side, square.upper_edge
    )
  from square;
end;

comment on function gis.tile_square(bigint) is
'The square that tile 0/0/0 of a map covers, in the display plane; null for a map without hexes.';

create or replace function gis.tile(map_id bigint, z integer, x integer, y integer)
returns bytea
language sql stable strict parallel safe
begin atomic
  with square as materialized (
    select gis.tile_square(tile.map_id)::public.box2d as box
  ),
  side as materialized (
    select
      public.st_xmin(square.box) as left_edge,
      public.st_ymax(square.box) as upper_edge,
      (public.st_xmax(square.box) - public.st_xmin(square.box)) / (1 << z) as length
    from square
  ),
  piece as materialized (
    select
      map.scheme,
      public.st_makeenvelope(
        side.left_edge + x * side.length,
        side.upper_edge - (y + 1) * side.length,
        side.left_edge + (x + 1) * side.length,
        side.upper_edge - y * side.length
      ) as geom,
      gis._step(side.length / 1.5, 100) as step,
      side.length
    from side, public.map
    where map.id = tile.map_id
  ),
  box as materialized (
    select
      -- shapes reach over the edge by 1/64 of a tile, so that their cuts do not show
      gis._unplace(public.st_expand(piece.geom, piece.length / 64), piece.scheme) as geom
    from piece
  ),
  shape as materialized (
    select
      layer.n,
      layer.name as layer,
      item.id,
      item.properties,
      public.st_asmvtgeom(
        gis._place(item.geom, piece.scheme), piece.geom::public.box2d, 4096, 64, true
      ) as geom
    from piece
    cross join box
    cross join (
      values (1, 'hexes'), (2, 'areas'), (3, 'crests'), (4, 'hexsides'), (5, 'paths')
    ) as layer (n, name)
    cross join lateral (
      select near.id, near.properties, near.geom
      from gis._on_map(tile.map_id, layer.name, box.geom) as near
      where piece.step = 1
      union all
      select far.id, far.properties, far.geom
      from gis._coarse(tile.map_id, layer.name, box.geom, piece.step) as far
      where piece.step > 1
    ) as item
  ),
  encoded as (
    select
      shape.n,
      public.st_asmvt(feature, shape.layer, 4096, 'geom', 'id') as data
    from shape
    cross join lateral (select shape.id, shape.properties, shape.geom) as feature
    where shape.geom is not null
    group by shape.n
  )
  select string_agg(encoded.data, '' order by encoded.n)
  from encoded;
end;

comment on function gis.tile(bigint, integer, integer, integer) is
'A vector tile of a map with the layers hexes, areas, crests, hexsides and paths, thinned out where it shows many; null where it is empty.';
