-- needs: lattice/trace.sql, maps/edits.sql
-- Drawn terrain as sight asks for it, hex by hex: rows for each hex of a map of ccp or bob, kept by triggers.
--
-- Where artwork decides, a line of sight asks of every hex that it passes which areas and crest lines have a part in it
-- and where their edges run. The views here tell that, `public.drawn_hex` and `public.drawn_edge` keep it, and every edit
-- of a hex or of artwork brings the rows that it touches up to date within its own statement. An edge stands in every
-- hex that it meets, sides and corners included and those off the map as well, as whole numbers of the 1/1024 grid; the
-- inside of an area is on its left. So what a line crosses in a hex is found in the rows of that hex, by whole numbers.
-- Of a hex that is edited PostGIS tells what is drawn in it, as the view says; of artwork that is edited it is reckoned from
-- the edges, for all its hexes at once.

create or replace view maps.drawn_hexes as
select
  hex.map_id,
  hex.q,
  hex.r,
  hex.label,
  hex.terrain,
  hex.level,
  'ridge' = any(hex.features) as ridge,
  coalesce(art.drawn, false) as drawn,
  coalesce(art.areas, '{}') as areas,
  coalesce(art.whole, '{}') as whole,
  coalesce(art.within, '{}') as within,
  coalesce(art.brink, '{}') as brink,
  coalesce(hills.crests, '{}') as crests,
  coalesce(hills.levels, '{}') as crest_levels,
  coalesce(art.terrains, '{}') as area_terrains
from public.hex
cross join lateral (
  select
    bool_or(part.terrain = hex.terrain) as drawn,
    array_agg(part.n order by part.n) as areas,
    array_agg(part.terrain order by part.n) as terrains,
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
      order by area.n offset 0
    ) as near
    where near.relation not like 'F%'
    order by near.n offset 0
  ) as part
) as art
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
comment on column maps.drawn_hexes.area_terrains is 'The terrains of its drawn areas';

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

create or replace function maps._is_inside_hex(x integer, y integer)
returns boolean
language sql immutable parallel safe
return abs(y) < 1024 and abs(x) + abs(y) < 2048;

comment on function maps._is_inside_hex(integer, integer) is
'Whether a point lies inside a hex, not on its sides; in grid units from the centre of the hex.';

create or replace function maps._enters_hex(x1 integer, y1 integer, x2 integer, y2 integer)
returns boolean
language sql immutable parallel safe
-- As maps._meets_hex, but of the hex without its sides.
return maps._is_inside_hex(x1, y1)
or (
  least(y1, y2) < 1024
  and greatest(y1, y2) > -1024
  and least(x1 + y1, x2 + y2) < 2048
  and greatest(x1 + y1, x2 + y2) > -2048
  and least(x1 - y1, x2 - y2) < 2048
  and greatest(x1 - y1, x2 - y2) > -2048
  and abs((x2 - x1)::bigint * y1 - (y2 - y1)::bigint * x1)
  < 1024::bigint * greatest(2 * abs(y2 - y1), abs(x2 - x1) + abs(y2 - y1))
);

comment on function maps._enters_hex(integer, integer, integer, integer) is
'Whether an edge has a part inside a hex, not only on its sides; in grid units from the centre of the hex.';

create or replace function maps._column(x integer)
returns integer
language sql immutable parallel safe
-- divided by 3072 and rounded down; the integers divide towards 0, so what is divided is made positive before
return ((x >> 10) + 3145728) / 3 - 1048576;

comment on function maps._column(integer) is
'The last column of hexes whose centres lie at or before an x, in grid units.';

create or replace function maps._hex_edges(drawn public.geometry)
returns table (q integer, r integer, e integer, x1 integer, y1 integer, x2 integer, y2 integer)
language sql immutable parallel safe rows 100
as $$
  -- each step is reckoned once for each edge, not once for each use
  select place.q, place.r, edge.e, edge.x1, edge.y1, edge.x2, edge.y2
  from (
    select
      begun.*,
      begun.up >> 11 as r,
      -- most edges: inside the hex in whose rows and column they begin
      maps._is_inside_hex(begun.x1 - 3072 * begun.q, (begun.up & 2047) - 1024)
      and maps._is_inside_hex(begun.x2 - 3072 * begun.q, (begun.up & 2047) - 1024 + begun.y2 - begun.y1) as inside
    from (
      select
        point.*,
        maps._column(point.x1 + 1536) as q,
        -- above the lower side of row 0
        point.y1 - 1024 * (maps._column(point.x1 + 1536) - 1) as up
      from (
        select
          part.e::integer as e,
          (1024 * public.st_x(public.st_startpoint(part.geom)))::integer as x1,
          (1024 * public.st_y(public.st_startpoint(part.geom)))::integer as y1,
          (1024 * public.st_x(public.st_endpoint(part.geom)))::integer as x2,
          (1024 * public.st_y(public.st_endpoint(part.geom)))::integer as y2
        from public.st_dumpsegments(_hex_edges.drawn) with ordinality as part (path, geom, e)
        offset 0
      ) as point
      offset 0
    ) as begun
    offset 0
  ) as edge
  cross join lateral (
    select edge.q, edge.r
    where edge.inside
    union all
    select across.q, down.r
    from generate_series(
      maps._column(least(edge.x1, edge.x2) + 1023), maps._column(greatest(edge.x1, edge.x2) + 2048)
    ) as across (q)
    cross join lateral generate_series(
      (least(edge.y1, edge.y2) - 1024 * (across.q - 1) - 1) >> 11, (greatest(edge.y1, edge.y2) - 1024 * (across.q - 1)) >> 11
    ) as down (r)
    where not edge.inside
      and maps._meets_hex(
        edge.x1 - 3072 * across.q::bigint,
        edge.y1 - 1024 * (2 * down.r + across.q)::bigint,
        edge.x2 - 3072 * across.q::bigint,
        edge.y2 - 1024 * (2 * down.r + across.q)::bigint
      )
  ) as place
$$;

comment on function maps._hex_edges(public.geometry) is
'The straight edges of an outline or a line, numbered from 1, in each hex that they meet; in grid units.';

create or replace view maps.drawn_edges as
select area.map_id, edge.q, edge.r, false as crest, area.n, edge.e, null::smallint as level, edge.x1, edge.y1, edge.x2, edge.y2
from public.terrain_area as area
cross join lateral maps._hex_edges(public.st_forcepolygonccw(area.geom)) as edge
where area.ruleset in ('bob', 'ccp')
union all
select crest.map_id, edge.q, edge.r, true, crest.n, edge.e, crest.level, edge.x1, edge.y1, edge.x2, edge.y2
from public.crest
cross join lateral maps._hex_edges(crest.geom) as edge
where crest.ruleset in ('bob', 'ccp');

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

create or replace function maps._mark(num numeric, den numeric)
returns numeric
language sql immutable strict parallel safe
return div(num * 1e60, den);

comment on function maps._mark(numeric, numeric) is
'A place num/den of the way along a line, as a whole number: equal or ordered just as the fractions are.';

drop type if exists maps.meeting cascade;
create type maps.meeting as (
  i integer,
  crest boolean,
  n integer,
  level integer,
  off1 bigint,
  off2 bigint,
  first numeric,
  last numeric
);

comment on type maps.meeting is
'Where one of many lines meets an edge of artwork: the sides of it on which the edge begins and ends, and the marks.';
comment on column maps.meeting.off1 is 'Positive on the line''s left, where y goes up; 0 on it';
comment on column maps.meeting.last is 'As first, but of an edge along the line';

create or replace function maps._line_meetings(
  map_id bigint, q integer, r integer, lines integer[], qs integer[], rs integer[], areas integer[], crests boolean
)
returns setof maps.meeting
language sql stable parallel safe rows 5000
as $$
  -- of the two hexes of a side that a line runs along either has all edges that meet it
  with course as materialized (
    select
      ray.i,
      ray.dx,
      ray.dy,
      -- off and along the line of the point (0, 0)
      1024 * (ray.dx * (2 * _line_meetings.r + _line_meetings.q) - ray.dy * 3 * _line_meetings.q) as off,
      1024 * (ray.dx * 3 * _line_meetings.q + ray.dy * (2 * _line_meetings.r + _line_meetings.q)) as along,
      hex.q,
      hex.r
    from (
      select
        line.i,
        line.q,
        line.r,
        3 * (line.q - _line_meetings.q)::bigint as dx,
        2 * (line.r - _line_meetings.r)::bigint + line.q - _line_meetings.q as dy
      from unnest(_line_meetings.lines, _line_meetings.qs, _line_meetings.rs) as line (i, q, r)
      offset 0
    ) as ray
    cross join lateral (
      select _line_meetings.q + trace.q1 as q, _line_meetings.r + trace.r1 as r
      from lattice.trace
      where trace.dq = ray.q - _line_meetings.q
        and trace.dr = ray.r - _line_meetings.r
        and trace.kind in ('hex', 'spine')
      union all
      select _line_meetings.q + far.q, _line_meetings.r + far.r
      from lattice._reckoned_hexes(ray.q - _line_meetings.q, ray.r - _line_meetings.r) as far
      where lattice.distance(_line_meetings.q, _line_meetings.r, ray.q, ray.r) > 24
        and far.kind in ('hex', 'spine')
      union all
      values (_line_meetings.q, _line_meetings.r), (ray.q, ray.r)
    ) as hex
  ),
  met as materialized (
    select distinct
      course.i,
      edge.crest,
      edge.n,
      edge.e,
      edge.level,
      course.dx * course.dx + course.dy * course.dy as far,
      course.dx * edge.y1 - course.dy * edge.x1 - course.off as off1,
      course.dx * edge.x1 + course.dy * edge.y1 - course.along as along1,
      course.dx * edge.y2 - course.dy * edge.x2 - course.off as off2,
      course.dx * edge.x2 + course.dy * edge.y2 - course.along as along2
    from course
    inner join public.drawn_edge as edge
      on edge.map_id = _line_meetings.map_id
        and edge.q = course.q
        and edge.r = course.r
        -- else the edges of the whole map are read
        and edge.q between (select min(course.q) from course) and (select max(course.q) from course)
        and case when edge.crest then _line_meetings.crests else edge.n = any(_line_meetings.areas) end
    where case
      when course.dx * edge.y1 - course.dy * edge.x1 < course.off then course.dx * edge.y2 - course.dy * edge.x2 >= course.off
      when course.dx * edge.y1 - course.dy * edge.x1 > course.off then course.dx * edge.y2 - course.dy * edge.x2 <= course.off
      else true
    end
  )
  select
    place.i,
    place.crest,
    place.n,
    place.level,
    place.off1,
    place.off2,
    place.first,
    place.last
  from (
    select
      met.i,
      met.crest,
      met.n,
      met.level::integer as level,
      met.off1,
      met.off2,
      case
        when met.off1 = met.off2 then maps._mark(least(met.along1, met.along2), 1024 * met.far)
        else maps._mark(
          met.along2::numeric * met.off1 - met.along1::numeric * met.off2, (met.off1 - met.off2)::numeric * (1024 * met.far)
        )
      end as first,
      case when met.off1 = met.off2 then maps._mark(greatest(met.along1, met.along2), 1024 * met.far) end as last
    from met
    offset 0
  ) as place
  where coalesce(place.last, place.first) >= 0
    and place.first <= 1e60
$$;

comment on function maps._line_meetings(bigint, integer, integer, integer[], integer[], integer[], integer[], boolean) is
'Where lines from a hex to others meet the edges of some areas, and of crest lines where these are asked for.';

create or replace function maps._one_line_meetings(
  map_id bigint, q integer, r integer, to_q integer, to_r integer, qs integer[], rs integer[]
)
returns setof maps.meeting
language sql stable parallel safe rows 20
as $$
  select
    1,
    met.crest,
    met.n,
    met.level,
    met.off1,
    met.off2,
    met.first,
    met.last
  from (
    -- an edge may stand in several hexes
    select distinct on (edge.crest, edge.n, edge.e)
      edge.crest,
      edge.n,
      edge.level::integer as level,
      edge.off1,
      edge.off2,
      case
        when edge.off1 = edge.off2 then maps._mark(least(edge.along1, edge.along2), 1024 * edge.far)
        else maps._mark(
          edge.along2::numeric * edge.off1 - edge.along1::numeric * edge.off2, (edge.off1 - edge.off2)::numeric * (1024 * edge.far)
        )
      end as first,
      case when edge.off1 = edge.off2 then maps._mark(greatest(edge.along1, edge.along2), 1024 * edge.far) end as last
    from (
      select
        ray.dx * ray.dx + ray.dy * ray.dy as far,
        drawn.crest,
        drawn.n,
        drawn.e,
        drawn.level,
        ray.dx * drawn.y1 - ray.dy * drawn.x1 - ray.away as off1,
        ray.dx * drawn.x1 + ray.dy * drawn.y1 - ray.along as along1,
        ray.dx * drawn.y2 - ray.dy * drawn.x2 - ray.away as off2,
        ray.dx * drawn.x2 + ray.dy * drawn.y2 - ray.along as along2
      from (
        select
          course.dx,
          course.dy,
          -- off and along the line of the point (0, 0)
          1024 * (course.dx * (2 * _one_line_meetings.r + _one_line_meetings.q) - course.dy * 3 * _one_line_meetings.q) as away,
          1024 * (course.dx * 3 * _one_line_meetings.q + course.dy * (2 * _one_line_meetings.r + _one_line_meetings.q)) as along
        from (
          select
            3 * (_one_line_meetings.to_q - _one_line_meetings.q)::bigint as dx,
            2 * (_one_line_meetings.to_r - _one_line_meetings.r)::bigint + _one_line_meetings.to_q - _one_line_meetings.q as dy
          offset 0
        ) as course
        -- reckoned once, not once for each use
        offset 0
      ) as ray
      cross join unnest(_one_line_meetings.qs, _one_line_meetings.rs) as hex (q, r)
      inner join public.drawn_edge as drawn
        on drawn.map_id = _one_line_meetings.map_id
          and drawn.q = hex.q
          and drawn.r = hex.r
      -- once for each edge, not once for each use
      offset 0
    ) as edge
    where case
      when edge.off1 < 0 then edge.off2 >= 0
      when edge.off1 > 0 then edge.off2 <= 0
      else true
    end
    order by edge.crest, edge.n, edge.e
  ) as met
  where coalesce(met.last, met.first) >= 0
    and met.first <= 1e60
$$;

comment on function maps._one_line_meetings(bigint, integer, integer, integer, integer, integer[], integer[]) is
'Where one line from a hex to another meets edges of artwork in some hexes; the two at its ends are to be among them.';

-- The plan takes longer to make than to run: it is made once a session, one for few lines and one for many.
create or replace function maps._few_meetings(
  map_id bigint, q integer, r integer, lines integer[], qs integer[], rs integer[], areas integer[], crests boolean
)
returns setof maps.meeting
language plpgsql stable parallel safe rows 10
set plan_cache_mode = force_generic_plan
set enable_nestloop = on
as $$
begin
  return query select met.* from maps._line_meetings(map_id, q, r, lines, qs, rs, areas, crests) as met;
end
$$;

comment on function maps._few_meetings(bigint, integer, integer, integer[], integer[], integer[], integer[], boolean) is
'maps._line_meetings for a line or two: edges are looked up hex by hex.';

create or replace function maps._meetings(
  map_id bigint, q integer, r integer, lines integer[], qs integer[], rs integer[], areas integer[], crests boolean
)
returns setof maps.meeting
language plpgsql stable parallel safe rows 1000
set plan_cache_mode = force_generic_plan
set enable_nestloop = off
set enable_mergejoin = off
as $$
begin
  if cardinality(lines) < 12 then
    return query select met.* from maps._few_meetings(map_id, q, r, lines, qs, rs, areas, crests) as met;
  else
    return query select met.* from maps._line_meetings(map_id, q, r, lines, qs, rs, areas, crests) as met;
  end if;
end
$$;

comment on function maps._meetings(bigint, integer, integer, integer[], integer[], integer[], integer[], boolean) is
'Where lines from a hex to others meet the edges of some areas, and of crest lines where these are asked for.';

create or replace function maps._beginnings(
  map_id bigint, q integer, r integer, lines integer[], qs integer[], rs integer[], areas integer[]
)
returns table (i integer, n integer, leftward integer, rightward integer)
language plpgsql stable parallel safe rows 100
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  if not exists (
    select
    from public.drawn_hex as hex
    where hex.map_id = _beginnings.map_id
      and hex.q = _beginnings.q
      and hex.r = _beginnings.r
      and hex.within || hex.brink && _beginnings.areas
  ) then
    return;
  end if;
  return query
  with dot as materialized (
    select hex.within, hex.brink
    from public.drawn_hex as hex
    where hex.map_id = _beginnings.map_id
      and hex.q = _beginnings.q
      and hex.r = _beginnings.r
  )
  select line.i, area.n, 1, 1
  from dot
  cross join lateral unnest(dot.within) as area (n)
  cross join unnest(_beginnings.lines) as line (i)
  where area.n = any(_beginnings.areas)
  union all
  -- a dot on the very outline: how often the way there from far off crosses it, just beside the line
  select
    line.i,
    area.n,
    (count(*) filter (where (edge.off1 > 0) <> (edge.off2 > 0)) % 2)::integer,
    (count(*) filter (where (edge.off1 < 0) <> (edge.off2 < 0)) % 2)::integer
  from dot
  cross join lateral unnest(dot.brink) as area (n)
  cross join unnest(_beginnings.lines, _beginnings.qs, _beginnings.rs) as line (i, q, r)
  cross join lateral (
    select distinct
      drawn.e,
      ray.dx * point.y1 - ray.dy * point.x1 as off1,
      ray.dx * point.x1 + ray.dy * point.y1 as along1,
      ray.dx * point.y2 - ray.dy * point.x2 as off2,
      ray.dx * point.x2 + ray.dy * point.y2 as along2
    from public.drawn_edge as drawn
    cross join lateral (
      select
        3 * (line.q - _beginnings.q)::bigint as dx,
        2 * (line.r - _beginnings.r)::bigint + line.q - _beginnings.q as dy
    ) as ray
    cross join lateral (
      select
        drawn.x1 - 3072 * _beginnings.q::bigint as x1,
        drawn.y1 - 1024 * (2 * _beginnings.r + _beginnings.q)::bigint as y1,
        drawn.x2 - 3072 * _beginnings.q::bigint as x2,
        drawn.y2 - 1024 * (2 * _beginnings.r + _beginnings.q)::bigint as y2
    ) as point
    where drawn.map_id = _beginnings.map_id
      and not drawn.crest
      and drawn.n = area.n
  ) as edge
  where area.n = any(_beginnings.areas)
    and sign(edge.off1) <> sign(edge.off2)
    and (edge.along2::numeric * edge.off1 - edge.along1::numeric * edge.off2) * sign(edge.off1 - edge.off2) <= 0
  group by line.i, area.n;
end
$$;

comment on function maps._beginnings(bigint, integer, integer, integer[], integer[], integer[], integer[]) is
'The areas that lines from a hex begin in, just beside them: 1 on its left and on its right where it is inside.';

create or replace function maps._refresh_drawn_hexes(map_id bigint, qs integer[], rs integer[])
returns void
language plpgsql volatile
set enable_nestloop = off
set enable_mergejoin = off
as $$
begin
  delete from public.drawn_hex as kept
  using unnest(_refresh_drawn_hexes.qs, _refresh_drawn_hexes.rs) as edited (q, r)
  where kept.map_id = _refresh_drawn_hexes.map_id
    and kept.q = edited.q
    and kept.r = edited.r;
  insert into public.drawn_hex (
    map_id, q, r, label, terrain, level, ridge, drawn, areas, whole, within, brink, crests, crest_levels,
    area_terrains
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

create or replace function maps._redraw_areas(map_id bigint, extent public.geometry, west integer, east integer)
returns void
language plpgsql volatile
as $$
begin
  with near as materialized (
    select area.n, area.terrain
    from public.terrain_area as area
    where area.map_id = _redraw_areas.map_id
      -- as far as a hex reaches that is touched
      and area.geom operator(public.&&) public.st_expand(_redraw_areas.extent, 4)
  ),
  edge as materialized (
    select
      kept.q,
      kept.r,
      kept.n,
      kept.e,
      kept.x1 - 3072 * kept.q as x1,
      kept.y1 - 1024 * (2 * kept.r + kept.q) as y1,
      kept.x2 - 3072 * kept.q as x2,
      kept.y2 - 1024 * (2 * kept.r + kept.q) as y2
    from public.drawn_edge as kept
    inner join near on near.n = kept.n
    where kept.map_id = _redraw_areas.map_id
      and kept.q between west and east
      and not kept.crest
  ),
  outline as (
    select
      edge.q,
      edge.r,
      edge.n,
      bool_or(maps._enters_hex(edge.x1, edge.y1, edge.x2, edge.y2)) as cut,
      bool_or(
        least(edge.x1, edge.x2) <= 0
        and greatest(edge.x1, edge.x2) >= 0
        and least(edge.y1, edge.y2) <= 0
        and greatest(edge.y1, edge.y2) >= 0
        and edge.x1::bigint * edge.y2 = edge.x2::bigint * edge.y1
      ) as brink
    from edge
    group by edge.q, edge.r, edge.n
  ),
  -- the dots of a column lie on one line: between each first and second edge across it they are inside
  crossing as (
    select
      across.n,
      across.q,
      across.r,
      lead(across.r) over crossings as beyond,
      row_number() over crossings as nth
    from (
      -- an edge may stand in several hexes
      select distinct
        edge.n,
        edge.q,
        edge.e,
        -- the first row whose dot lies beyond: rounded down, and one more
        edge.r + 1 + (rise.num / rise.den - (rise.num % rise.den < 0)::integer)::integer as r
      from edge
      cross join lateral (
        select
          sign(edge.x2 - edge.x1)::integer * (edge.x2::bigint * edge.y1 - edge.x1::bigint * edge.y2) as num,
          2048 * abs(edge.x2 - edge.x1)::bigint as den
      ) as rise
      where (edge.x1 < 0) <> (edge.x2 < 0)
    ) as across
    window crossings as (partition by across.n, across.q order by across.r)
  ),
  inside as (
    select crossing.n, crossing.q, dot.r
    from crossing
    cross join lateral generate_series(crossing.r, crossing.beyond - 1) as dot (r)
    where crossing.nth % 2 = 1
  ),
  -- a hex that no edge of an area enters is covered by it wholly or not at all, as its dot tells
  part as (
    select
      hex.q,
      hex.r,
      hex.n,
      near.terrain,
      inside.n is not null and outline.cut is not true as whole,
      inside.n is not null and outline.brink is not true as within,
      outline.brink is true as brink
    from outline
    full join inside on inside.q = outline.q and inside.r = outline.r and inside.n = outline.n
    cross join lateral (
      select coalesce(outline.q, inside.q) as q, coalesce(outline.r, inside.r) as r, coalesce(outline.n, inside.n) as n
    ) as hex
    inner join near on near.n = hex.n
    where outline.cut
      or inside.n is not null
  ),
  fresh as (
    select
      hex.q,
      hex.r,
      coalesce(bool_or(part.terrain = hex.terrain), false) as drawn,
      coalesce(array_agg(part.n order by part.n) filter (where part.n is not null), '{}') as areas,
      coalesce(array_agg(part.terrain order by part.n) filter (where part.n is not null), '{}') as terrains,
      coalesce(array_agg(part.n order by part.n) filter (where part.whole), '{}') as whole,
      coalesce(array_agg(part.n order by part.n) filter (where part.within), '{}') as within,
      coalesce(array_agg(part.n order by part.n) filter (where part.brink), '{}') as brink
    from public.drawn_hex as hex
    left join part on part.q = hex.q and part.r = hex.r
    where hex.map_id = _redraw_areas.map_id
      and hex.q between west and east
      and 2 * hex.r + hex.q between public.st_ymin(_redraw_areas.extent) - 1 and public.st_ymax(_redraw_areas.extent) + 1
    group by hex.q, hex.r
  )
  update public.drawn_hex as kept
  set
    drawn = fresh.drawn,
    areas = fresh.areas,
    area_terrains = fresh.terrains,
    whole = fresh.whole,
    within = fresh.within,
    brink = fresh.brink
  from fresh
  where kept.map_id = _redraw_areas.map_id
    and kept.q between west and east
    and kept.q = fresh.q
    and kept.r = fresh.r
    and (kept.drawn, kept.areas, kept.area_terrains, kept.whole, kept.within, kept.brink)
    is distinct from (fresh.drawn, fresh.areas, fresh.terrains, fresh.whole, fresh.within, fresh.brink);
end
$$;

comment on function maps._redraw_areas(bigint, public.geometry, integer, integer) is
'Reckon from the edges that are kept what areas tell of the hexes near some that were edited.';

create or replace function maps._redraw_crests(map_id bigint, extent public.geometry, west integer, east integer)
returns void
language plpgsql volatile
as $$
begin
  with part as (
    select distinct
      edge.q,
      edge.r,
      edge.n,
      edge.level::integer as level
    from public.drawn_edge as edge
    where edge.map_id = _redraw_crests.map_id
      and edge.q between west and east
      and edge.crest
      and maps._enters_hex(
        edge.x1 - 3072 * edge.q,
        edge.y1 - 1024 * (2 * edge.r + edge.q),
        edge.x2 - 3072 * edge.q,
        edge.y2 - 1024 * (2 * edge.r + edge.q)
      )
  ),
  fresh as (
    select
      hex.q,
      hex.r,
      coalesce(array_agg(part.n order by part.n) filter (where part.n is not null), '{}') as crests,
      coalesce(array_agg(part.level order by part.n) filter (where part.n is not null), '{}') as levels
    from public.drawn_hex as hex
    left join part on part.q = hex.q and part.r = hex.r
    where hex.map_id = _redraw_crests.map_id
      and hex.q between west and east
      and 2 * hex.r + hex.q between public.st_ymin(_redraw_crests.extent) - 1 and public.st_ymax(_redraw_crests.extent) + 1
    group by hex.q, hex.r
  )
  update public.drawn_hex as kept
  set crests = fresh.crests, crest_levels = fresh.levels
  from fresh
  where kept.map_id = _redraw_crests.map_id
    and kept.q between west and east
    and kept.q = fresh.q
    and kept.r = fresh.r
    and (kept.crests, kept.crest_levels) is distinct from (fresh.crests, fresh.levels);
end
$$;

comment on function maps._redraw_crests(bigint, public.geometry, integer, integer) is
'Reckon from the edges that are kept which crest lines lie inside the hexes near some that were edited.';

-- Hashed, whatever the planner thinks of tables that were tiny a moment ago.
create or replace function maps._after_artwork_edit()
returns trigger
language plpgsql
set enable_nestloop = off
set enable_mergejoin = off
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
    'select changed.*, ceil((public.st_xmin(extent) - 2) / 3)::integer as west,'
    ' floor((public.st_xmax(extent) + 2) / 3)::integer as east'
    ' from (select map_id, array_agg(n) as ns, public.st_extent(geom)::public.geometry as extent'
    ' from (%s) as row group by map_id) as changed',
    maps._changed_rows(tg_op, tg_argv[0])
  )
  loop
    perform maps._lock(edit.map_id);
    if tg_op <> 'INSERT' then
      delete from public.drawn_edge as kept
      -- joined: the index would be read once for each number
      using unnest(edit.ns) as gone (n)
      where kept.map_id = edit.map_id
        and kept.q between edit.west and edit.east
        and kept.crest = is_crest
        and kept.n = gone.n;
    end if;
    -- a map that is deleted as a whole takes its hexes along
    continue when not exists (select from public.map where map.id = edit.map_id);
    if tg_op <> 'DELETE' then
      insert into public.drawn_edge (map_id, q, r, crest, n, e, level, x1, y1, x2, y2)
      select fresh.*
      from maps.drawn_edges as fresh
      where fresh.map_id = edit.map_id
        and fresh.crest = is_crest
        and fresh.n = any(edit.ns)
      -- a hex's edges side by side on disk
      order by fresh.q, fresh.r, fresh.n, fresh.e;
    end if;
    if is_crest then
      perform maps._redraw_crests(edit.map_id, edit.extent, edit.west, edit.east);
    else
      perform maps._redraw_areas(edit.map_id, edit.extent, edit.west, edit.east);
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
    map_id, q, r, label, terrain, level, ridge, drawn, areas, whole, within, brink, crests, crest_levels,
    area_terrains
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
