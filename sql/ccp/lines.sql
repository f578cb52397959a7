-- needs: lattice/trace.sql, positions/state.sql
-- Lines of sight in ccp before anything is met: who looks where, and from how high: O24.4, O24.5, T89, F102.1.

drop type if exists ccp.sighting cascade;
create type ccp.sighting as (
  state positions.state,
  q integer,
  r integer,
  unit bigint,
  qs integer array,
  rs integer array,
  target bigint
);

comment on type ccp.sighting is
'Lines of sight that are asked about: from a hex and who is in it (null: nobody in particular) to each of some hexes,
and who is looked at there.';

drop type if exists ccp.line_end cascade;
create type ccp.line_end as (
  q integer,
  r integer,
  label text,
  terrain text,
  level integer,
  height integer,
  aloft boolean,
  in_cave boolean,
  smoke integer
);

comment on type ccp.line_end is
'An end of a line: its hex, how high it looks from, whether it is inside a cave, the smoke in its hex.';

drop type if exists ccp.line cascade;
create type ccp.line as (
  i integer,
  q integer,
  r integer,
  label text,
  terrain text,
  level integer,
  height integer,
  aloft boolean,
  in_cave boolean,
  smoke integer,
  away integer,
  high integer,
  low integer,
  floor integer,
  barrier integer,
  first bigint,
  last bigint,
  den bigint
);

comment on type ccp.line is
'A line from the viewer: its number, its far end, the height of its higher and of its lower end.';
comment on column ccp.line.floor is
'Ground from here up stands in the way: above both ends, or as high as the higher (T89.3.2, T89.3.3)';
comment on column ccp.line.barrier is 'Obstacles from here up bar the line (T89.4, ccp-7)';
comment on column ccp.line.first is 'Where it leaves the viewer''s hex and enters the target''s: first/den, last/den of the way';

create or replace function ccp._line_end(state positions.state, q integer, r integer, unit bigint)
returns setof ccp.line_end
language sql stable parallel safe rows 1
as $$
  select
    hex.q,
    hex.r,
    hex.label,
    hex.terrain,
    hex.level::integer,
    -- O24.4, O24.5: an aircraft looks as if from a hill of level 5
    case when craft.aloft then 5 else hex.level::integer end,
    craft.aloft,
    -- F102.1: nobody but the Japanese is ever inside
    coalesce((unit.attributes ->> 'in_cave')::boolean and unit.side = 'japan', false),
    (
      select max(marker.value)::integer
      from public.marker
      where marker.position_id = state.position_id
        and marker.q = _line_end.q
        and marker.r = _line_end.r
        and marker.kind = 'smoke'
    )
  from public.drawn_hex as hex
  left join public.unit on unit.id = _line_end.unit
  cross join lateral (
    select coalesce(unit.kind in ('aircraft', 'dive_bomber', 'fighter'), false) as aloft
  ) as craft
  where hex.map_id = state.map_id
    and hex.q = _line_end.q
    and hex.r = _line_end.r
$$;

comment on function ccp._line_end(positions.state, integer, integer, bigint) is
'The end of a line in a hex, for whoever of the unit is there.';

create or replace function ccp._lines(sighting ccp.sighting, viewer ccp.line_end)
returns setof ccp.line
language sql stable parallel safe rows 20
as $$
  select
    wanted.i::integer,
    target.*,
    lattice.distance(viewer.q, viewer.r, wanted.q, wanted.r),
    height.high,
    height.low,
    height.high + case when height.high = height.low then 1 else 0 end,
    case
      when (sighting.state).readings ->> 'ccp-7' = 'b' and height.low > 0 then height.low
      else height.high
    end,
    edge.first,
    edge.last,
    edge.den
  from unnest(sighting.qs, sighting.rs) with ordinality as wanted (q, r, i)
  cross join lateral ccp._line_end(sighting.state, wanted.q, wanted.r, sighting.target) as target
  cross join lateral (
    select
      greatest(viewer.height, target.height) as high,
      least(viewer.height, target.height) as low
  ) as height
  cross join lateral (
    select
      min(passed.enter) as first,
      max(passed.leave) as last,
      min(passed.den) as den
    from lattice.line(viewer.q, viewer.r, wanted.q, wanted.r) as passed
  ) as edge
$$;

comment on function ccp._lines(ccp.sighting, ccp.line_end) is
'The lines of a sighting, from the viewer''s end.';
