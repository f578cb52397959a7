-- needs: ccp/lines.sql
-- Hills and crest lines in ccp, as a line of sight meets them: T89, F102.2.
--
-- Ground in a hex is as high as the centre dot, and on the far side of a crest line that a probe
-- to the dot crosses an odd number of times it is on the other side of that level. A hex without
-- a crest line is all of its own level; where two such hexes differ, the crest line is taken to
-- run along their side and to belong to the higher one.

drop type if exists ccp.spot cascade;
create type ccp.spot as (
  map_id bigint,
  x bigint,
  y bigint,
  den bigint
);

comment on type ccp.spot is
'A point of a map: (x, y)/den on the lattice.';

create or replace function ccp._turn(ax numeric, ay numeric, bx numeric, by numeric, px numeric, py numeric)
returns integer
language sql immutable parallel safe
return sign((bx - ax) * (py - ay) - (by - ay) * (px - ax))::integer;

comment on function ccp._turn(numeric, numeric, numeric, numeric, numeric, numeric) is
'On which side of the line from a to b the point p lies: 1, -1, or 0 on it; exact.';

create or replace function ccp._high(spot ccp.spot, q integer, r integer, dot integer, floor integer)
returns boolean
language plpgsql stable parallel safe
set plan_cache_mode = force_generic_plan
as $$
declare
  outline public.geometry := lattice.hex(_high.q, _high.r);
  edge integer;
  crossings integer;
begin
  select min(crest.level)
  into edge
  from public.crest
  where crest.map_id = spot.map_id
    and crest.level >= _high.floor
    and crest.geom operator(public.&&) outline
    and public.st_relate(crest.geom, outline, 'T********');
  -- a higher line within ground that is high enough already does not matter
  if edge is null or (_high.dot >= _high.floor and edge > _high.floor) then
    return _high.dot >= _high.floor;
  end if;
  if exists (
    select
    from public.crest
    where crest.map_id = spot.map_id
      and crest.level = edge
      and crest.geom operator(public.&&) outline
      and public.st_intersects(
        public.st_makepoint(spot.x, spot.y), public.st_scale(crest.geom, spot.den, spot.den)
      )
  ) then
    return false;
  end if;
  select count(*)
  into crossings
  from public.crest
  cross join lateral public.st_dumpsegments(crest.geom) as segment
  cross join lateral (
    select
      1024 * spot.x::numeric as px,
      1024 * spot.y::numeric as py,
      1024 * spot.den::numeric * (3 * _high.q) as cx,
      1024 * spot.den::numeric * (2 * _high.r + _high.q) as cy,
      spot.den::numeric * (1024 * public.st_x(public.st_startpoint(segment.geom)))::bigint as ux,
      spot.den::numeric * (1024 * public.st_y(public.st_startpoint(segment.geom)))::bigint as uy,
      spot.den::numeric * (1024 * public.st_x(public.st_endpoint(segment.geom)))::bigint as vx,
      spot.den::numeric * (1024 * public.st_y(public.st_endpoint(segment.geom)))::bigint as vy
    -- once for each segment, not once for each use
    offset 0
  ) as at
  where crest.map_id = spot.map_id
    and crest.level = edge
    and crest.geom operator(public.&&) outline
    and segment.geom operator(public.&&) outline
    -- a vertex on the probe counts as on its left, so that a chain through it is counted once
    and (ccp._turn(at.px, at.py, at.cx, at.cy, at.ux, at.uy) >= 0)
    <> (ccp._turn(at.px, at.py, at.cx, at.cy, at.vx, at.vy) >= 0)
    and ccp._turn(at.ux, at.uy, at.vx, at.vy, at.px, at.py)
    * ccp._turn(at.ux, at.uy, at.vx, at.vy, at.cx, at.cy) < 0;
  return (_high.dot >= _high.floor) <> (crossings % 2 = 1);
end
$$;

comment on function ccp._high(ccp.spot, integer, integer, integer, integer) is
'Whether the ground of a hex is at that point of a level or above it; on the crest line itself it is not.';

create or replace function ccp._falls(
  spot ccp.spot, q integer, r integer, floor integer, qs integer[], rs integer[]
)
returns table (lower boolean, assumed boolean)
language sql stable parallel safe rows 1
as $$
  select
    within.low or beyond.low,
    beyond.low and not within.low and not beyond.drawn
  from (
    select not ccp._high(spot, _falls.q, _falls.r, _falls.floor, _falls.floor) as low
  ) as within
  cross join lateral (
    select
      coalesce(bool_and(not ccp._high(spot, hex.q, hex.r, hex.level, _falls.floor)), false) as low,
      coalesce(bool_or(exists (
        select
        from public.crest
        where crest.map_id = spot.map_id
          and crest.level = _falls.floor
          and public.st_intersects(crest.geom, hex.geom)
      )), false) as drawn
    from unnest(_falls.qs, _falls.rs) as next (q, r)
    inner join public.hex
      on hex.map_id = spot.map_id
        and hex.q = next.q
        and hex.r = next.r
    where not within.low
  ) as beyond
$$;

comment on function ccp._falls(ccp.spot, integer, integer, integer, integer[], integer[]) is
'Whether a line that leaves a hex at that point for the given hexes is below a level there (T89.3.2, F102.2.1).';

drop type if exists ccp.slope cascade;
create type ccp.slope as (
  i integer,
  task text,
  label text,
  lower boolean,
  assumed boolean
);

comment on type ccp.slope is
'How a line leaves the hex of one of its ends: asked for a cave there or for the crest of the higher end, whether it is
lower beyond, and whether that is so though no crest line is drawn.';

create or replace function ccp._slopes(map_id bigint, viewer ccp.line_end, line ccp.line)
returns setof ccp.slope
language sql stable parallel safe rows 1
as $$
  select
    line.i,
    own.task,
    own.label,
    falls.lower,
    falls.assumed
  from (
    values
    ('cave', viewer.in_cave, true, viewer.level, viewer.label),
    ('cave', line.in_cave, false, line.level, line.label),
    ('crest', viewer.height > line.height and not viewer.aloft, true, viewer.level, viewer.label),
    ('crest', line.height > viewer.height and not line.aloft, false, line.level, line.label)
  ) as own (task, asked, at_start, level, label)
  cross join lateral (
    select
      array_agg(beyond.q) as qs,
      array_agg(beyond.r) as rs
    from (
      select
        side.q,
        side.r
      from lattice.line(viewer.q, viewer.r, line.q, line.r) as passed
      cross join lateral (values (passed.q1, passed.r1), (passed.q2, passed.r2)) as side (q, r)
      where passed.kind in ('hex', 'spine')
        and case when own.at_start then passed.enter = line.first else passed.leave = line.last end
      union
      select
        case when own.at_start then line.q else viewer.q end,
        case when own.at_start then line.r else viewer.r end
      where line.away = 1
    ) as beyond
  ) as next
  cross join lateral (select case when own.at_start then line.first else line.last end as t) as leaves
  cross join lateral ccp._falls(
    row(
      _slopes.map_id,
      3 * viewer.q * line.den + 3 * (line.q - viewer.q) * leaves.t,
      (2 * viewer.r + viewer.q) * line.den + (2 * (line.r - viewer.r) + line.q - viewer.q) * leaves.t,
      line.den
    )::ccp.spot,
    case when own.at_start then viewer.q else line.q end,
    case when own.at_start then viewer.r else line.r end,
    own.level,
    next.qs,
    next.rs
  ) as falls
  where own.asked
    and line.away > 0
$$;

comment on function ccp._slopes(bigint, ccp.line_end, ccp.line) is
'The slope at the edge of the hexes in which a line ends, where a rule asks for it (T89.3.2, F102.2).';
