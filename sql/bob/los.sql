-- needs: bob/hills.sql, bob/hedgerows.sql, bob/hindering_terrain.sql, bob/smoke.sql, rulings/step.sql
-- Line of sight in bob (Band of Brothers): 14, and 40.2, 43.4, 45.3, 50, 55.2 of the thread as a whole.
--
-- The files of the chapters (`hills`, `hedgerows`, `hindering_terrain`, `smoke`) tell what the
-- thread meets; `bob.los` gathers them, a row for every rule that speaks. `bob.fan` asks
-- `bob.los` of every hex, so the two cannot disagree.

create or replace function bob._one_building(one bob.sight_end, other bob.sight_end)
returns boolean
language sql stable parallel safe
as $$
  with recursive room as (
    select
      hex.q,
      hex.r,
      hex.terrain,
      hex.geom
    from public.hex
    where hex.map_id = one.map_id
      and hex.q = one.q
      and hex.r = one.r
      and hex.terrain in ('stone_building', 'wooden_building')
    union
    select
      next.q,
      next.r,
      next.terrain,
      next.geom
    from room
    cross join lateral lattice.neighbours(room.q, room.r) as beside
    inner join public.hex as next
      on next.map_id = one.map_id
        and next.q = beside.nq
        and next.r = beside.nr
        and next.terrain = room.terrain
    where exists (
      select
      from bob._artwork(one.map_id, room.terrain, room.geom) as here
      inner join bob._artwork(one.map_id, room.terrain, next.geom) as there on there.n = here.n
    )
    or not (
      exists (select from bob._artwork(one.map_id, room.terrain, room.geom))
      or exists (select from bob._artwork(one.map_id, room.terrain, next.geom))
    )
  )
  select exists (select from room where room.q = other.q and room.r = other.r)
$$;

comment on function bob._one_building(bob.sight_end, bob.sight_end) is
'Whether two hexes hold one building: joined by its artwork or, where none is drawn, side by side.';

create or replace function bob._place_steps(start bob.sight_end, target bob.sight_end, away integer)
returns setof rulings.sight_step
language sql stable parallel safe rows 1
as $$
  select
    fact.rule,
    null,
    target.label,
    fact.effect,
    fact.note,
    null,
    away,
    0
  from (
    values
    (
      away = 0 and start.in_cave <> target.in_cave,
      '43.4', 'blocks', 'a cave and the ground above it do not see each other'
    ),
    (
      away = 0 and start.upper <> target.upper,
      '40.2', 'passes', 'two levels of one hex see each other, one hex apart'
    ),
    (
      away > 0 and start.upper <> target.upper and bob._one_building(start, target),
      '40.2', 'blocks', 'another level of the same building in another hex'
    ),
    (away = 1, '14.0', 'passes', 'nothing lies between two neighbouring hexes')
  ) as fact (holds, rule, effect, note)
  where fact.holds
$$;

comment on function bob._place_steps(bob.sight_end, bob.sight_end, integer) is
'What is settled by where the two ends are: in one hex, in one building, side by side (14.0, 40.2, 43.4).';

create or replace function bob._visibility_steps(state positions.state, target bob.sight_end, away integer)
returns setof rulings.sight_step
language sql immutable parallel safe rows 1
as $$
  select
    fact.rule,
    null,
    target.label,
    fact.effect,
    fact.note,
    null,
    away,
    0
  from (
    select
      (state.conditions -> 'night' ->> 'visibility')::integer as range,
      state.conditions ->> 'weather' is not distinct from 'monsoon' as deluge
  ) as sight
  cross join lateral (
    values
    (
      sight.deluge,
      '55.2', case when away > 3 then 'blocks' else 'passes' end, 'in the deluge three hexes are the limit'
    ),
    (away <= sight.range, '50.0', 'passes', format('within the Visibility Range of %s', sight.range)),
    (
      away > sight.range and target.lit and not sight.deluge,
      '50.1', 'passes', format('%s is illuminated', target.label)
    ),
    (
      away > sight.range and not (target.lit and not sight.deluge),
      '50.2', 'blocks', format('beyond the Visibility Range of %s and not illuminated', sight.range)
    )
  ) as fact (holds, rule, effect, note)
  where fact.holds
$$;

comment on function bob._visibility_steps(positions.state, bob.sight_end, integer) is
'How far is seen at night and in the deluge, where nothing is illuminated (50.0 to 50.2, 55.2).';

create or replace function bob._stream_steps(viewer bob.sight_end, other bob.sight_end, away integer)
returns setof rulings.sight_step
language sql immutable parallel safe rows 1
as $$
  select
    '45.3',
    null,
    viewer.label,
    case when away <= 1 or other.level > viewer.level then 'passes' else 'blocks' end,
    case
      when away <= 1 then 'a unit in a stream sees adjacent hexes'
      when other.level > viewer.level then 'from a stream higher ground is seen'
      else 'a unit in a stream sees only adjacent hexes and higher ground'
    end,
    null,
    away,
    0
  where viewer.terrain = 'stream'
    and away > 0
$$;

comment on function bob._stream_steps(bob.sight_end, bob.sight_end, integer) is
'What an end in a stream sees of the other (45.3).';

create or replace function bob._cave_steps(viewer bob.sight_end, other bob.sight_end, away integer)
returns setof rulings.sight_step
language sql stable parallel safe rows 1
as $$
  select
    '43.4',
    null,
    viewer.label,
    case when viewer.front is null then 'unknown' when through.front then 'passes' else 'blocks' end,
    case
      when viewer.front is null then format('the facing of the cave in %s', viewer.label)
      when through.front then 'the line goes through a front hex of the cave'
      else 'a cave is seen only through its two front hexes'
    end,
    null,
    away,
    0
  from (
    -- along their sides included
    select
      exists (
        select
        from lattice.neighbours(viewer.q, viewer.r) as beside
        where beside.direction in (viewer.front, viewer.front % 6 + 1)
          and (
            (beside.nq = other.q and beside.nr = other.r)
            or exists (
              select
              from lattice.line(viewer.q, viewer.r, other.q, other.r) as line
              where line.kind in ('hex', 'spine')
                and (beside.nq, beside.nr) in ((line.q1, line.r1), (line.q2, line.r2))
            )
          )
      ) as front
  ) as through
  where viewer.in_cave
    and away > 0
$$;

comment on function bob._cave_steps(bob.sight_end, bob.sight_end, integer) is
'Whether a thread leaves the cave of one end through its front (43.4).';

create or replace function bob._whole_line_speaks(
  state positions.state, start bob.sight_end, target bob.sight_end, away integer
)
returns boolean
language sql immutable parallel safe
return away <= 1
or start.upper <> target.upper
or start.in_cave
or target.in_cave
or 'stream' in (start.terrain, target.terrain)
or state.conditions ->> 'weather' = 'monsoon'
or state.conditions -> 'night' ->> 'visibility' is not null;

comment on function bob._whole_line_speaks(positions.state, bob.sight_end, bob.sight_end, integer) is
'Whether a rule of a thread as a whole has anything to say of it.';

create or replace function bob._whole_line_steps(
  state positions.state, start bob.sight_end, target bob.sight_end, away integer
)
returns setof rulings.sight_step
language sql stable parallel safe rows 3
as $$
  select * from bob._place_steps(start, target, away)
  union all
  select * from bob._visibility_steps(state, target, away)
  union all
  select * from bob._stream_steps(start, target, away)
  union all
  select * from bob._stream_steps(target, start, away)
  union all
  select * from bob._cave_steps(start, target, away)
  union all
  select * from bob._cave_steps(target, start, away)
$$;

comment on function bob._whole_line_steps(positions.state, bob.sight_end, bob.sight_end, integer) is
'The rules that speak of a thread as a whole: levels of a building, night, deluge, streams, caves.';

create or replace function bob._obstacles(state positions.state, thread bob.thread)
returns setof bob.obstacle
language plpgsql stable parallel safe rows 10
set plan_cache_mode = force_generic_plan
-- a map without hexsides is no reason to read those of all others
set enable_seqscan = off
as $$
declare
  hexes bob.bordering_hex[];
  strips bob.strip[];
  hexsides bob.hexside[];
  growths bob.growth[];
  crested boolean;
  filled boolean;
  ridged boolean;
  grown boolean;
begin
  select
    array_agg(hex),
    bool_or(hex.crested),
    bool_or(hex.fills),
    bool_or(hex.ridge),
    bool_or(hex.terrain in ('wheat_field', 'kunai_grass', 'orchard', 'palm_trees'))
  into hexes, crested, filled, ridged, grown
  from bob._bordering_hexes(state, thread) as hex;
  -- a part is asked only where it may have something to say: to start a query costs more than most of them take
  if hexes is not null then
    strips := array(select strip from bob._strips(state, thread, hexes, crested) as strip);
    return query select step.* from bob._height_steps(thread, strips) as step;
    if filled then
      return query select step.* from bob._assumed_steps(strips) as step;
    end if;
    if ridged then
      return query select step.* from bob._ridge_steps(state, thread, strips) as step;
    end if;
    if grown then
      growths := array(select growth from bob._growth(state, strips) as growth);
      return query select step.* from bob._growth_steps(state, thread, growths) as step;
    end if;
  end if;
  if exists (select from public.hexside where hexside.map_id = state.map_id) then
    hexsides := array(select hexside from bob._hexsides(state, thread) as hexside);
    return query select step.* from bob._hedgerow_steps(hexsides) as step;
    return query select step.* from bob._cliff_steps(hexsides) as step;
  end if;
  if hexsides <> '{}' or exists (select from public.path where path.map_id = state.map_id and path.kind = 'dike_road') then
    return query select step.* from bob._wall_steps(state, thread, strips, hexsides) as step;
  end if;
  if exists (
    select
    from public.marker
    where marker.position_id = state.position_id
      and marker.kind in ('smoke', 'dispersed_smoke')
  ) then
    return query select step.* from bob._smoke_steps(state, thread) as step;
  end if;
end
$$;

comment on function bob._obstacles(positions.state, bob.thread) is
'What a thread meets between its ends, in no order: what blocks, hinders, is grazed or seen over.';

create or replace function bob.los(
  position_id bigint,
  "from" text,
  "to" text,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.sight_step
language plpgsql stable rows 8
set plan_cache_mode = force_generic_plan
as $$
declare
  state positions.state;
  start bob.sight_end;
  target bob.sight_end;
  thread bob.thread;
  wholes rulings.sight_step[];
  step rulings.sight_step;
  away integer;
  stopped boolean := false;
  unknown boolean := false;
  hindered integer := 0;
begin
  select * into start from bob._end(los.position_id, los."from");
  select * into target from bob._end(los.position_id, los."to");
  if start.q is null or target.q is null then
    raise exception 'no line of sight from % to %: one of them is not on the map', los."from", los."to"
      using errcode = 'no_data_found';
  end if;
  select * into state from positions.state(los.position_id, los.conditions, los.policy);
  select * into thread from bob._thread(start, target);
  away := lattice.distance(start.q, start.r, target.q, target.r);

  if bob._whole_line_speaks(state, start, target, away) then
    wholes := array(select whole from bob._whole_line_steps(state, start, target, away) as whole);
  end if;
  for step in
    select * from unnest(wholes)
    union all
    (
      select
        met.rule,
        null,
        met.at,
        met.effect,
        met.note,
        met.point,
        away,
        met.hindrance
      from bob._obstacles(state, thread) as met
      order by met.mark, met.rule, met.at, met.effect, met.note
    )
  loop
    stopped := stopped or step.effect = 'blocks';
    unknown := unknown or step.effect = 'unknown';
    hindered := hindered + step.hindrance;
    return next step;
  end loop;

  return next row(
    '14.0',
    null,
    positions.spoken(los."to"),
    case when stopped then 'blocked' when unknown then 'unknown' else 'visible' end,
    case
      when stopped then 'the line of sight is blocked'
      when unknown then 'the position does not say what would decide it'
      when hindered > 0 then 'nothing stops the line of sight; it is hindered'
      else 'nothing stops the line of sight'
    end,
    null,
    -- 40.2: two levels of one hex are one hex apart
    case when away = 0 and start.upper <> target.upper then 1 else away end,
    hindered
  )::rulings.sight_step;
end
$$;

comment on function bob.los(bigint, text, text, jsonb, jsonb) is
'Whether one hex or unit sees another, and through how many Hindrances: a row for every rule that speaks, the verdict last.';
