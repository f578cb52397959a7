-- Hills and crest lines in ccp, as a line of sight meets them: T89, F102.2.
--
-- Ground in a hex is as high as the centre dot, and on the far side of a crest line that a probe
-- to the dot crosses an odd number of times it is on the other side of that level. A hex without
-- a crest line is all of its own level; where two such hexes differ, the crest line is taken to
-- run along their side and to belong to the higher one.

create or replace function ccp._turn(ax numeric, ay numeric, bx numeric, by numeric, px numeric, py numeric)
returns integer
language sql immutable parallel safe
return sign((bx - ax) * (py - ay) - (by - ay) * (px - ax))::integer;

comment on function ccp._turn(numeric, numeric, numeric, numeric, numeric, numeric) is
'On which side of the line from a to b the point p lies: 1, -1, or 0 on it; exact.';

create or replace function ccp._high(
  map_id bigint, q integer, r integer, dot integer, floor integer, x bigint, y bigint, den bigint
)
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
  where crest.map_id = _high.map_id
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
    where crest.map_id = _high.map_id
      and crest.level = edge
      and crest.geom operator(public.&&) outline
      and public.st_intersects(
        public.st_makepoint(_high.x, _high.y), public.st_scale(crest.geom, _high.den, _high.den)
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
      1024 * _high.x::numeric as px,
      1024 * _high.y::numeric as py,
      1024 * _high.den::numeric * (3 * _high.q) as cx,
      1024 * _high.den::numeric * (2 * _high.r + _high.q) as cy,
      _high.den::numeric * (1024 * public.st_x(public.st_startpoint(segment.geom)))::bigint as ux,
      _high.den::numeric * (1024 * public.st_y(public.st_startpoint(segment.geom)))::bigint as uy,
      _high.den::numeric * (1024 * public.st_x(public.st_endpoint(segment.geom)))::bigint as vx,
      _high.den::numeric * (1024 * public.st_y(public.st_endpoint(segment.geom)))::bigint as vy
    -- once for each segment, not once for each use
    offset 0
  ) as at
  where crest.map_id = _high.map_id
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

comment on function ccp._high(bigint, integer, integer, integer, integer, bigint, bigint, bigint) is
'Whether the ground of a hex at the point (x, y)/den is of a level or above it; on the crest line itself it is not.';

create or replace function ccp._falls(
  map_id bigint, q integer, r integer, floor integer, x bigint, y bigint, den bigint, qs integer[], rs integer[]
)
returns table (lower boolean, assumed boolean)
language sql stable parallel safe rows 1
as $$
  select
    within.low or beyond.low,
    beyond.low and not within.low and not beyond.drawn
  from (
    select not ccp._high(
      _falls.map_id, _falls.q, _falls.r, _falls.floor, _falls.floor, _falls.x, _falls.y, _falls.den
    ) as low
  ) as within
  cross join lateral (
    select
      coalesce(bool_and(not ccp._high(
        _falls.map_id, hex.q, hex.r, hex.level, _falls.floor, _falls.x, _falls.y, _falls.den
      )), false) as low,
      coalesce(bool_or(exists (
        select
        from public.crest
        where crest.map_id = _falls.map_id
          and crest.level = _falls.floor
          and public.st_intersects(crest.geom, hex.geom)
      )), false) as drawn
    from unnest(_falls.qs, _falls.rs) as next (q, r)
    inner join public.hex
      on hex.map_id = _falls.map_id
        and hex.q = next.q
        and hex.r = next.r
    where not within.low
  ) as beyond
$$;

comment on function ccp._falls(
  bigint, integer, integer, integer, bigint, bigint, bigint, integer[], integer[]
) is
'Whether a line that leaves a hex at (x, y)/den for the given hexes is below a level there (T89.3.2, F102.2.1).';
