-- needs: ccp/lines.sql, maps/drawn.sql
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

create or replace function ccp._high(spot ccp.spot, q integer, r integer, dot integer, floor integer)
returns boolean
language plpgsql stable parallel safe
set plan_cache_mode = force_generic_plan
as $$
declare
  -- where the spot is from the dot, in 1/den of the grid
  px bigint := 1024 * (spot.x - 3 * _high.q * spot.den);
  py bigint := 1024 * (spot.y - (2 * _high.r + _high.q) * spot.den);
  edge integer;
  crossings record;
begin
  select min(crest.level)
  into edge
  from public.drawn_hex as hex
  cross join lateral unnest(hex.crest_levels) as crest (level)
  where hex.map_id = spot.map_id
    and hex.q = _high.q
    and hex.r = _high.r
    and crest.level >= _high.floor;
  -- a higher line within ground that is high enough already does not matter
  if edge is null or (_high.dot >= _high.floor and edge > _high.floor) then
    return _high.dot >= _high.floor;
  end if;
  select
    bool_or(
      at.beyond = 0
      and px between least(at.ux, at.vx) * spot.den and greatest(at.ux, at.vx) * spot.den
      and py between least(at.uy, at.vy) * spot.den and greatest(at.uy, at.vy) * spot.den
    ) as on_it,
    count(*) filter (
      -- a vertex on the probe counts as on its left, so that a chain through it is counted once
      where (py * at.ux >= px * at.uy) <> (py * at.vx >= px * at.vy)
        and sign(at.beyond) * sign((at.vy - at.uy) * at.ux - (at.vx - at.ux) * at.uy) < 0
    ) % 2 = 1 as odd
  into crossings
  from (
    select
      point.*,
      (point.vx - point.ux) * (py - point.uy * spot.den) - (point.vy - point.uy) * (px - point.ux * spot.den) as beyond
    from public.drawn_edge as crest
    cross join lateral (
      select
        crest.x1 - 3072 * _high.q::bigint as ux,
        crest.y1 - 1024 * (2 * _high.r + _high.q)::bigint as uy,
        crest.x2 - 3072 * _high.q::bigint as vx,
        crest.y2 - 1024 * (2 * _high.r + _high.q)::bigint as vy
      -- once for each edge, not once for each use
      offset 0
    ) as point
    where crest.map_id = spot.map_id
      and crest.q = _high.q
      and crest.r = _high.r
      and crest.crest
      and crest.level = edge
    offset 0
  ) as at;
  return not coalesce(crossings.on_it, false)
    and (_high.dot >= _high.floor) <> coalesce(crossings.odd, false);
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
        from public.drawn_edge as crest
        where crest.map_id = spot.map_id
          and crest.q = hex.q
          and crest.r = hex.r
          and crest.crest
          and crest.level = _falls.floor
      )), false) as drawn
    from unnest(_falls.qs, _falls.rs) as next (q, r)
    inner join public.drawn_hex as hex
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
