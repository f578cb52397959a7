-- needs: lattice/cells.sql, maps/edits.sql
-- Drawn terrain as sight asks for it, hex by hex: rows for each hex of a map of ccp or bob, kept by triggers.
--
-- Where artwork decides, a line of sight asks of every hex that it passes which areas and crest lines have a part in it
-- and where their edges run. The views here tell that, `public.drawn_hex` and `public.drawn_edge` keep it, and every edit
-- of a hex or of artwork brings the rows that it touches up to date within its own statement. An edge stands in every
-- hex that it meets, sides and corners included and those off the map as well, as whole numbers of the 1/1024 grid; the
-- inside of an area is on its left. So what a line crosses in a hex is found in the rows of that hex, by whole numbers.

create or replace view maps.drawn_areas as
select
  hex.map_id,
  hex.q,
  hex.r,
  coalesce(art.drawn, false) as drawn,
  coalesce(art.areas, '{}') as areas,
  coalesce(art.whole, '{}') as whole,
  coalesce(art.within, '{}') as within,
  coalesce(art.brink, '{}') as brink
from public.hex
cross join lateral (
  select
    bool_or(part.terrain = hex.terrain) as drawn,
    array_agg(part.n order by part.n) as areas,
    array_agg(part.n order by part.n) filter (where part.relation like '______FF%') as whole,
    array_agg(part.n order by part.n) filter (where part.dot like '0%') as within,
    array_agg(part.n order by part.n) filter (where part.dot like 'F0%') as brink
  from (
    select
      near.n,
      near.terrain,
      near.relation,
      public.st_relate(hex.center, near.geom) as dot
    from (
      select
        area.n,
        area.terrain,
        area.geom,
        public.st_relate(area.geom, hex.geom) as relation
      from public.terrain_area as area
      where area.map_id = hex.map_id
        and public.st_intersects(area.geom, hex.geom)
      -- the relation is found out once, not once for each use
      offset 0
    ) as near
    where near.relation not like 'F%'
    offset 0
  ) as part
) as art
where hex.ruleset in ('bob', 'ccp');

comment on view maps.drawn_areas is
'The drawn areas of each hex of maps with drawn terrain, worked out from hexes and areas.';
comment on column maps.drawn_areas.map_id is 'The map';
comment on column maps.drawn_areas.q is 'Axial column';
comment on column maps.drawn_areas.r is 'Axial row';
comment on column maps.drawn_areas.drawn is 'Its own terrain is drawn in it; else it is taken to fill it';
comment on column maps.drawn_areas.areas is 'Drawn areas of which it has a part, by their numbers';
comment on column maps.drawn_areas.whole is 'Of these, those that cover all of it';
comment on column maps.drawn_areas.within is 'Drawn areas that its centre dot lies inside of';
comment on column maps.drawn_areas.brink is 'Drawn areas on whose outline its centre dot lies';

create or replace view maps.drawn_crests as
select
  hex.map_id,
  hex.q,
  hex.r,
  coalesce(hills.crests, '{}') as crests,
  coalesce(hills.levels, '{}') as crest_levels
from public.hex
cross join lateral (
  select
    array_agg(crest.n order by crest.n) as crests,
    array_agg(crest.level::integer order by crest.n) as levels
  from public.crest
  where crest.map_id = hex.map_id
    and public.st_intersects(crest.geom, hex.geom)
    and public.st_relate(crest.geom, hex.geom, 'T********')
) as hills
where hex.ruleset in ('bob', 'ccp');

comment on view maps.drawn_crests is
'The crest lines inside each hex of maps with drawn terrain, worked out from hexes and crest lines.';
comment on column maps.drawn_crests.map_id is 'The map';
comment on column maps.drawn_crests.q is 'Axial column';
comment on column maps.drawn_crests.r is 'Axial row';
comment on column maps.drawn_crests.crests is 'Crest lines drawn inside it, by their numbers';
comment on column maps.drawn_crests.crest_levels is 'The levels of these';

create or replace view maps.drawn_hexes as
select
  hex.map_id,
  hex.q,
  hex.r,
  hex.label,
  hex.terrain,
  hex.level,
  'ridge' = any(hex.features) as ridge,
  area.drawn,
  area.areas,
  area.whole,
  area.within,
  area.brink,
  crest.crests,
  crest.crest_levels
from public.hex
inner join maps.drawn_areas as area on hex.map_id = area.map_id and hex.q = area.q and hex.r = area.r
inner join maps.drawn_crests as crest on hex.map_id = crest.map_id and hex.q = crest.q and hex.r = crest.r;

comment on view maps.drawn_hexes is
'What artwork tells of the hexes of maps with drawn terrain, worked out from hexes, areas and crest lines; drawn_hex keeps it.';
comment on column maps.drawn_hexes.map_id is 'The map';
comment on column maps.drawn_hexes.q is 'Axial column';
comment on column maps.drawn_hexes.r is 'Axial row';
comment on column maps.drawn_hexes.label is 'Printed number';
comment on column maps.drawn_hexes.terrain is 'Kind of terrain at its centre dot';
comment on column maps.drawn_hexes.level is 'Elevation level of its centre dot';
comment on column maps.drawn_hexes.ridge is 'It has the feature ridge';
comment on column maps.drawn_hexes.drawn is 'Its own terrain is drawn in it; else it is taken to fill it';
comment on column maps.drawn_hexes.areas is 'Drawn areas of which it has a part, by their numbers';
comment on column maps.drawn_hexes.whole is 'Of these, those that cover all of it';
comment on column maps.drawn_hexes.within is 'Drawn areas that its centre dot lies inside of';
comment on column maps.drawn_hexes.brink is 'Drawn areas on whose outline its centre dot lies';
comment on column maps.drawn_hexes.crests is 'Crest lines drawn inside it, by their numbers';
comment on column maps.drawn_hexes.crest_levels is 'The levels of these';

create or replace function maps._meets_hex(x1 bigint, y1 bigint, x2 bigint, y2 bigint)
returns boolean
language sql immutable parallel safe
-- A hex is |y| ≤ 1, |x + y| ≤ 2 and |x - y| ≤ 2 about its centre. Two convex figures are apart just when they are so along
-- a normal of one of their edges: the hex has three, the edge one.
return least(y1, y2) <= 1024
and greatest(y1, y2) >= -1024
and least(x1 + y1, x2 + y2) <= 2048
and greatest(x1 + y1, x2 + y2) >= -2048
and least(x1 - y1, x2 - y2) <= 2048
and greatest(x1 - y1, x2 - y2) >= -2048
and abs((x2 - x1) * y1 - (y2 - y1) * x1) <= 1024 * greatest(2 * abs(y2 - y1), abs(x2 - x1) + abs(y2 - y1));

comment on function maps._meets_hex(bigint, bigint, bigint, bigint) is
'Whether an edge meets a hex, sides and corners included; in grid units from the centre of the hex.';

create or replace view maps.drawn_edges as
select
  edge.map_id,
  place.q,
  place.r,
  edge.crest,
  edge.n,
  edge.e,
  edge.level,
  edge.x1,
  edge.y1,
  edge.x2,
  edge.y2
from (
  select
    segment.map_id,
    segment.crest,
    segment.n,
    segment.e::integer as e,
    segment.level,
    coordinate.x1,
    coordinate.y1,
    coordinate.x2,
    coordinate.y2
  from (
    select area.map_id, false as crest, area.n, null::smallint as level, part.geom, part.e
    from public.terrain_area as area
    cross join lateral public.st_dumpsegments(public.st_forcepolygonccw(area.geom)) with ordinality as part (path, geom, e)
    where area.ruleset in ('bob', 'ccp')
    union all
    select crest.map_id, true, crest.n, crest.level, part.geom, part.e
    from public.crest
    cross join lateral public.st_dumpsegments(crest.geom) with ordinality as part (path, geom, e)
    where crest.ruleset in ('bob', 'ccp')
  ) as segment
  cross join lateral (
    select
      (1024 * public.st_x(public.st_startpoint(segment.geom)))::integer as x1,
      (1024 * public.st_y(public.st_startpoint(segment.geom)))::integer as y1,
      (1024 * public.st_x(public.st_endpoint(segment.geom)))::integer as x2,
      (1024 * public.st_y(public.st_endpoint(segment.geom)))::integer as y2
    -- once for each edge, not once for each use
    offset 0
  ) as coordinate
) as edge
cross join lateral (
  select
    across.q,
    down.r
  from generate_series(
    ceil((least(edge.x1, edge.x2) - 2048) / 3072.0)::integer, floor((greatest(edge.x1, edge.x2) + 2048) / 3072.0)::integer
  ) as across (q)
  cross join lateral generate_series(
    ceil((least(edge.y1, edge.y2) - 1024 * (across.q + 1)) / 2048.0)::integer,
    floor((greatest(edge.y1, edge.y2) - 1024 * (across.q - 1)) / 2048.0)::integer
  ) as down (r)
  where maps._meets_hex(
      edge.x1 - 3072 * across.q::bigint,
      edge.y1 - 1024 * (2 * down.r + across.q)::bigint,
      edge.x2 - 3072 * across.q::bigint,
      edge.y2 - 1024 * (2 * down.r + across.q)::bigint
    )
) as place;

comment on view maps.drawn_edges is
'The edges of artwork in each hex that they meet, worked out from areas and crest lines; drawn_edge keeps them.';
comment on column maps.drawn_edges.map_id is 'The map';
comment on column maps.drawn_edges.q is 'Axial column';
comment on column maps.drawn_edges.r is 'Axial row';
comment on column maps.drawn_edges.crest is 'Of a crest line; else of an area';
comment on column maps.drawn_edges.n is 'The artwork''s number';
comment on column maps.drawn_edges.e is 'Which of its edges; the inside of an area on the left';
comment on column maps.drawn_edges.level is 'Of a crest line, its level';
comment on column maps.drawn_edges.x1 is 'Where it begins, in 1/1024 lattice unit';
comment on column maps.drawn_edges.y1 is 'Where it begins';
comment on column maps.drawn_edges.x2 is 'Where it ends';
comment on column maps.drawn_edges.y2 is 'Where it ends';

create or replace function maps._refresh_drawn_hexes(map_id bigint, qs integer[], rs integer[])
returns void
language plpgsql volatile
set enable_mergejoin = off
as $$
begin
  delete from public.drawn_hex as kept
  using unnest(_refresh_drawn_hexes.qs, _refresh_drawn_hexes.rs) as edited (q, r)
  where kept.map_id = _refresh_drawn_hexes.map_id
    and kept.q = edited.q
    and kept.r = edited.r;
  insert into public.drawn_hex (
    map_id, q, r, label, terrain, level, ridge, drawn, areas, whole, within, brink, crests, crest_levels
  )
  select fresh.*
  from (
    select distinct hex.q, hex.r from unnest(_refresh_drawn_hexes.qs, _refresh_drawn_hexes.rs) as hex (q, r)
  ) as edited
  inner join maps.drawn_hexes as fresh
    on fresh.map_id = _refresh_drawn_hexes.map_id and fresh.q = edited.q and fresh.r = edited.r
  -- neighbours side by side on disk
  order by edited.q, edited.r;
end
$$;

comment on function maps._refresh_drawn_hexes(bigint, integer[], integer[]) is
'Work out anew what artwork tells of some hexes of a map.';

create or replace function maps._after_drawn_hex_edit()
returns trigger
language plpgsql
as $$
declare
  edit record;
begin
  if tg_op = 'TRUNCATE' then
    perform maps._rebuild_drawn();
    return null;
  end if;
  for edit in execute format(
    'select map_id, array_agg(q) as qs, array_agg(r) as rs from (%s) as changed group by map_id',
    maps._changed_rows(tg_op, tg_argv[0])
  )
  loop
    perform maps._lock(edit.map_id);
    perform maps._refresh_drawn_hexes(edit.map_id, edit.qs, edit.rs);
  end loop;
  return null;
end
$$;

comment on function maps._after_drawn_hex_edit() is
'Trigger: bring what artwork tells of hexes up to date where they were made, changed or taken away.';

create or replace function maps._refresh_artwork(map_id bigint, crest boolean, ns integer[])
returns void
language plpgsql volatile
as $$
begin
  delete from public.drawn_edge as kept
  where kept.map_id = _refresh_artwork.map_id
    and kept.crest = _refresh_artwork.crest
    and kept.n = any(_refresh_artwork.ns);
  insert into public.drawn_edge (map_id, q, r, crest, n, e, level, x1, y1, x2, y2)
  select fresh.*
  from maps.drawn_edges as fresh
  where fresh.map_id = _refresh_artwork.map_id
    and fresh.crest = _refresh_artwork.crest
    and fresh.n = any(_refresh_artwork.ns)
  -- a hex's edges side by side on disk
  order by fresh.q, fresh.r, fresh.n, fresh.e;
end
$$;

comment on function maps._refresh_artwork(bigint, boolean, integer[]) is
'Work out anew in which hexes the edges of some areas, or of some crest lines, lie.';

create or replace function maps._after_artwork_edit()
returns trigger
language plpgsql
as $$
declare
  edit record;
  is_crest boolean := tg_table_name = 'crest';
begin
  if tg_op = 'TRUNCATE' then
    perform maps._rebuild_drawn();
    return null;
  end if;
  for edit in execute format(
    'select map_id, array_agg(n) as ns, public.st_extent(geom)::public.geometry as extent'
    ' from (%s) as changed group by map_id',
    maps._changed_rows(tg_op, tg_argv[0])
  )
  loop
    perform maps._lock(edit.map_id);
    perform maps._refresh_artwork(edit.map_id, is_crest, edit.ns);
    if is_crest then
      update public.drawn_hex as kept
      set crests = fresh.crests, crest_levels = fresh.crest_levels
      from maps.drawn_crests as fresh
      inner join public.hex on hex.map_id = fresh.map_id and hex.q = fresh.q and hex.r = fresh.r
      where fresh.map_id = edit.map_id
        and hex.geom operator(public.&&) edit.extent
        and kept.map_id = fresh.map_id
        and kept.q = fresh.q
        and kept.r = fresh.r
        and (kept.crests, kept.crest_levels) is distinct from (fresh.crests, fresh.crest_levels);
    else
      update public.drawn_hex as kept
      set
        drawn = fresh.drawn,
        areas = fresh.areas,
        whole = fresh.whole,
        within = fresh.within,
        brink = fresh.brink
      from maps.drawn_areas as fresh
      inner join public.hex on hex.map_id = fresh.map_id and hex.q = fresh.q and hex.r = fresh.r
      where fresh.map_id = edit.map_id
        and hex.geom operator(public.&&) edit.extent
        and kept.map_id = fresh.map_id
        and kept.q = fresh.q
        and kept.r = fresh.r
        and (kept.drawn, kept.areas, kept.whole, kept.within, kept.brink)
        is distinct from (fresh.drawn, fresh.areas, fresh.whole, fresh.within, fresh.brink);
    end if;
  end loop;
  return null;
end
$$;

comment on function maps._after_artwork_edit() is
'Trigger: bring what is kept of drawn terrain up to date where areas or crest lines were drawn, changed or taken away.';

create or replace function maps._rebuild_drawn()
returns void
language plpgsql volatile
as $$
begin
  delete from public.drawn_hex;
  delete from public.drawn_edge;
  insert into public.drawn_hex (
    map_id, q, r, label, terrain, level, ridge, drawn, areas, whole, within, brink, crests, crest_levels
  )
  select fresh.*
  from maps.drawn_hexes as fresh
  order by fresh.map_id, fresh.q, fresh.r;
  insert into public.drawn_edge (map_id, q, r, crest, n, e, level, x1, y1, x2, y2)
  select fresh.*
  from maps.drawn_edges as fresh
  order by fresh.map_id, fresh.q, fresh.r;
end
$$;

comment on function maps._rebuild_drawn() is
'Work out anew what is kept of the drawn terrain of all maps.';

select maps._watch(watched.name, 'drawn', watched.handler, watched.query)
from (
  values
  ('hex', 'maps._after_drawn_hex_edit', 'select map_id, q, r from %s where ruleset in (''bob'', ''ccp'')'),
  ('terrain_area', 'maps._after_artwork_edit', 'select map_id, n, geom from %s where ruleset in (''bob'', ''ccp'')'),
  ('crest', 'maps._after_artwork_edit', 'select map_id, n, geom from %s where ruleset in (''bob'', ''ccp'')')
) as watched (name, handler, query);

-- What an earlier version's functions worked out is not trusted.
truncate public.drawn_hex, public.drawn_edge;

select maps._rebuild_drawn();

analyze public.drawn_hex, public.drawn_edge;
