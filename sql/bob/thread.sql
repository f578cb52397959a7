-- needs: lattice/trace.sql, maps/drawn.sql, positions/place.sql, positions/state.sql
-- The thread of a line of sight in bob (Band of Brothers): its ends, places along it, what is too high for it.
--
-- Exact. Artwork lies on the grid of 1/1024 lattice unit, so where an edge meets the
-- thread is a fraction of whole numbers. `bob._mark` writes it as a whole number in which
-- two places are the same, or one before the other, just when they are so in truth.

drop type if exists bob.sight_end cascade;
create type bob.sight_end as (
  map_id bigint,
  q integer,
  r integer,
  label text,
  terrain text,
  level integer,
  upper boolean,
  in_cave boolean,
  front integer,
  vehicle boolean,
  lit boolean,
  bridge boolean
);

comment on type bob.sight_end is
'One end of a thread: its hex, the level it sees from, and whether it is upstairs, in a cave or lit.';
comment on column bob.sight_end.bridge is 'Whether it is on a Bridge over a Gully, and not under it (45.4)';
comment on column bob.sight_end.front is 'Which way the cave of its hex faces; null where there is none, or it is not told';

drop type if exists bob.thread cascade;
create type bob.thread as (
  q integer,
  r integer,
  level integer,
  to_q integer,
  to_r integer,
  to_level integer,
  at_vehicle boolean,
  high integer,
  high_q integer,
  high_r integer,
  low integer,
  low_q integer,
  low_r integer
);

comment on type bob.thread is
'A thread from the dot of one hex to that of another; high and low: the same two ends by their levels.';

create or replace function bob._level(terrain text, level integer)
returns integer
language sql immutable parallel safe
return case when terrain = 'gully' then least(level, -1) else level end;

comment on function bob._level(text, integer) is
'The level of a hex''s centre dot: a gully is Level -1 (45.4).';

create or replace function bob._bridged(terrain text, features text[])
returns boolean
language sql immutable parallel safe
return terrain = 'gully' and 'bridge' = any(features);

comment on function bob._bridged(text, text[]) is
'Whether a Bridge crosses the Gully of a hex, so that it has two locations (45.4).';

create or replace function bob._end(position_id bigint, name text)
returns setof bob.sight_end
language sql stable parallel safe rows 1
as $$
  select
    hex.map_id,
    hex.q,
    hex.r,
    hex.label,
    hex.terrain,
    case
      -- 43.4: as high as the higher hex before its mouth
      when state.in_cave and cave.facing is not null then (
        select max(bob._level(front.terrain, front.level))
        from lattice.neighbours(hex.q, hex.r) as beside
        inner join public.hex as front
          on front.map_id = hex.map_id and front.q = beside.nq and front.r = beside.nr
        where beside.direction in (cave.facing, cave.facing % 6 + 1)
      )
      -- 45.4: on a Bridge it is out of the Gully
      when state.bridge then bob._level(hex.terrain, hex.level) + 1
      -- 40.2
      when state.upper then bob._level(hex.terrain, hex.level) + 1
      else bob._level(hex.terrain, hex.level)
    end,
    state.upper,
    state.in_cave,
    cave.facing::integer,
    coalesce(unit.kind in ('vehicle', 'carrier'), false),
    -- 50.1: in the hex of an illumination counter or next to it
    exists (
      select
      from public.marker
      where marker.position_id = _end.position_id
        and marker.kind = 'illumination'
        and lattice.distance(marker.q, marker.r, hex.q, hex.r) <= 1
    ),
    state.bridge
  from public.position
  cross join lateral positions.place(_end.position_id, _end.name) as place
  inner join public.hex on hex.map_id = position.map_id and hex.q = place.q and hex.r = place.r
  left join public.unit on unit.id = place.unit
  cross join lateral (
    select
      coalesce((place.attributes ->> 'upper_level')::boolean, false) as upper,
      coalesce((place.attributes ->> 'in_cave')::boolean, false) as in_cave,
      bob._bridged(hex.terrain, hex.features)
      and not coalesce((place.attributes ->> 'under_bridge')::boolean, false) as bridge
  ) as state
  left join lateral (
    select marker.facing
    from public.marker
    where marker.position_id = _end.position_id
      and marker.q = hex.q
      and marker.r = hex.r
      and marker.kind in ('cave', 'small_cave')
      and marker.facing is not null
    limit 1
  ) as cave on true
  where position.id = _end.position_id
$$;

comment on function bob._end(bigint, text) is
'The end of a thread that a hex or unit is; no row where it is not on the map.';

create or replace function bob._thread(start bob.sight_end, target bob.sight_end)
returns setof bob.thread
language sql immutable parallel safe rows 1
as $$
  select
    start.q,
    start.r,
    start.level,
    target.q,
    target.r,
    target.level,
    target.vehicle,
    greatest(start.level, target.level),
    case when start.level >= target.level then start.q else target.q end,
    case when start.level >= target.level then start.r else target.r end,
    least(start.level, target.level),
    case when start.level >= target.level then target.q else start.q end,
    case when start.level >= target.level then target.r else start.r end
$$;

comment on function bob._thread(bob.sight_end, bob.sight_end) is
'The thread between two ends.';

create or replace function bob._is_cleared(state positions.state, x integer, y integer)
returns boolean
language plpgsql stable parallel safe
as $$
begin
  return exists (
    select
    from public.position
    cross join lateral jsonb_each(coalesce(position.tracks -> 'hexes', '{}')) as kept
    inner join public.hex as one on one.map_id = state.map_id and one.label = split_part(kept.key, '|', 1)
    inner join public.hex as two on two.map_id = state.map_id and two.label = split_part(kept.key, '|', 2)
    where position.id = state.position_id
      and kept.value ->> 'roadblock' = 'cleared'
      and one.q + two.q = _is_cleared.x
      and one.r + two.r = _is_cleared.y
  );
end
$$;

comment on function bob._is_cleared(positions.state, integer, integer) is
'Whether the Roadblock of a hexside has been taken away (43.7).';

create or replace function bob._hides(thread bob.thread, top integer, near integer, far integer)
returns text
language sql immutable parallel safe
return case
  -- 14.0, 47.2
  when top > thread.high then 'higher'
  -- 47.2: level with an end, toward lower ground
  when top = thread.high and thread.high > thread.low then 'level'
  -- 47.2: blind hexes behind it: its distance from the higher end, less the levels it lies below that
  when top > thread.low and top < thread.high and far <= near - (thread.high - top) then 'blind'
end;

comment on function bob._hides(bob.thread, integer, integer, integer) is
'Why terrain of a height hides the ends of a thread from each other; near is from the higher end, far from the lower.';

create or replace function bob._mark(num numeric, den numeric)
returns numeric
language sql immutable strict parallel safe
return maps._mark(num, den);

comment on function bob._mark(numeric, numeric) is
'A place num/den of the way along a thread, as a whole number: equal or ordered just as the fractions are.';

-- neither strict nor immutable, which format is not: else it would not be put into the query that asks it
create or replace function bob._way(enter numeric, leave numeric)
returns text
language sql stable parallel safe
return format('from %s to %s of the way', round(enter / 1e60, 3), round(leave / 1e60, 3));

comment on function bob._way(numeric, numeric) is
'Two marks in words, rounded: for a note, never for a ruling.';

drop type if exists bob.crossing cascade;
create type bob.crossing as (
  crest boolean,
  n integer,
  flank integer,
  mark numeric,
  rises integer
);

comment on type bob.crossing is
'Where an edge of an area or crest line, by its number, crosses a thread as seen from one flank; rises: 1 where the thread'
' comes to the left of the edge.';

drop type if exists bob.obstacle cascade;
create type bob.obstacle as (
  mark numeric,
  rule text,
  at text,
  effect text,
  note text,
  point text,
  hindrance integer
);

comment on type bob.obstacle is
'A step about what a thread meets, with the mark where it meets it.';
