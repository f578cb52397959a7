-- needs: fpb/combat.sql, charts/cells.sql
-- What a step costs in fpb (Forgotten Pacific Battles): 5.2, 5.4, 5.4.1, 5.4.2, 6.1, 13.1. Points are counted in halves.
--
-- The numbers are cells of the Terrain Key, most of which the map prints and the book does not. fpb.move and
-- fpb.reach take a step's price from the same legs, so they cannot disagree.

drop type if exists fpb.mover cascade;
create type fpb.mover as (
  code text,
  side text,
  q integer,
  r integer,
  label text,
  mobility text,
  fluid boolean,
  exerts boolean,
  halves integer,
  spent integer,
  landing boolean,
  zoned boolean
);

comment on type fpb.mover is
'Who moves: what it pays by, what it has and has spent, and whether it begins in an enemy zone of control.';
comment on column fpb.mover.fluid is 'Whether enemy zones of control cost it points and do not stop it (6.1, 13.1)';
comment on column fpb.mover.halves is 'Halves of its movement allowance; null where its counter does not tell';
comment on column fpb.mover.spent is 'Halves spent on coming ashore (11.2)';
comment on column fpb.mover.landing is 'Whether it lands in this phase and moves on from the beach (11.2)';

create or replace function fpb._landing_cost(unit positions.counter, zoned boolean, readings jsonb)
returns integer
language sql immutable parallel safe
return 4 + case
  -- fpb-47 b: and half the allowance in whole points
  when zoned and readings ->> 'fpb-47' = 'b' and unit.attributes ->> 'mobility' = 'mobile'
    then (2 * (unit.attributes ->> 'movement')::numeric)::integer / 4 * 2
  else 0
end;

comment on function fpb._landing_cost(positions.counter, boolean, jsonb) is
'Halves that it costs to land in the Mobile Movement Phase, in an enemy zone or not (11.2, fpb-47).';

create or replace function fpb._mover(state positions.state, unit text)
returns fpb.mover
language plpgsql stable
as $$
declare
  counter positions.counter := positions._asked_counter(state.position_id, unit);
  ashore boolean := coalesce(counter.attributes ->> 'landed' = 'mobile_movement', false);
  zoned boolean;
begin
  if counter.q is null then
    raise exception 'the unit % is not on the map', unit using errcode = 'no_data_found';
  end if;
  zoned := exists (
    select
    from fpb._enemy_zones(state, counter) as zone
    where zone.q = counter.q and zone.r = counter.r and zone.counts
  );
  return row(
    counter.code,
    counter.side,
    counter.q,
    counter.r,
    counter.label,
    coalesce(counter.attributes ->> 'mobility', 'leg'),
    -- 13.1: to the Japanese a zone is as to mobile units
    counter.side = 'japan' or coalesce(counter.attributes ->> 'mobility' = 'mobile', false),
    fpb._exerts(counter),
    (2 * (counter.attributes ->> 'movement')::numeric)::integer,
    case when ashore then fpb._landing_cost(counter, zoned, state.readings) else 0 end,
    ashore,
    zoned
  )::fpb.mover;
end
$$;

comment on function fpb._mover(positions.state, text) is
'The unit that moves, or an error that says that it is not there or not on the map.';

create or replace function fpb._terrain_key(mobility text)
returns table (name text, halves integer, word text, plus integer, untold boolean, rule text, source text)
language sql stable rows 14
as $$
  select
    cell.row_key,
    max((2 * cell.value::numeric)::integer) filter (where cell.entry and cell.value ~ '^[0-9.]+$'),
    max(cell.value) filter (where cell.entry and cell.value in ('prohibited', 'all')),
    max((2 * cell.value::numeric)::integer) filter (where not cell.entry and cell.value ~ '^[0-9.]+$'),
    bool_or(cell.value is null),
    min(cell.rule),
    min(cell.source)
  from (
    select found.*, found.column_key = _terrain_key.mobility as entry
    from charts.cells('fpb', 'terrain_key') as found
    where found.column_key in (_terrain_key.mobility, 'plus') and found.value is distinct from '-'
  ) as cell
  group by cell.row_key
$$;

comment on function fpb._terrain_key(text) is
'The Terrain Key for a mobility: to enter, to add to other terrain (plus), or that nobody has told it yet (5.4).';

drop type if exists fpb.ground cascade;
create type fpb.ground as (
  q integer,
  r integer,
  label text,
  halves integer,
  untold text,
  shut boolean,
  all_sea boolean,
  plain boolean,
  enemy text,
  friends integer,
  zoneless integer,
  zoned boolean,
  disputed boolean
);

comment on type fpb.ground is
'A hex as a mover meets it: what it costs off the road, who is there, and whether an enemy zone covers it.';
comment on column fpb.ground.untold is 'The terrain whose cost nobody has told';
comment on column fpb.ground.plain is 'Whether it shows clear terrain and no other (fpb-28)';
comment on column fpb.ground.disputed is 'Whether only fpb-3 b has it in an enemy zone';

create or replace function fpb._terrains(terrain text, features text[])
returns setof text
language sql immutable parallel safe rows 2
as $$
  select ground.code from fpb._grounds(_terrains.terrain, _terrains.features, true, 'a') as ground (code)
  union
  select 'airstrip' where 'airstrip' = any(_terrains.features)
  union
  -- a village is added to something
  select 'clear' where _terrains.terrain = 'village'
$$;

comment on function fpb._terrains(text, text[]) is
'The terrains of a hex that the Terrain Key prices (5.4).';

create or replace function fpb._ground(state positions.state, mover fpb.mover, qs integer[], rs integer[])
returns setof fpb.ground
language sql stable rows 300
as $$
  with key as materialized (
    select * from fpb._terrain_key(mover.mobility)
  ),
  zone as materialized (
    select
      zone.q,
      zone.r,
      bool_or(zone.counts) as zoned,
      bool_and(zone.point is not null) as disputed
    from positions.counter(state.position_id, mover.code) as unit
    cross join lateral fpb._enemy_zones(state, unit) as zone
    group by zone.q, zone.r
  ),
  others as materialized (
    select
      unit.q,
      unit.r,
      min(unit.code) filter (where unit.side <> mover.side) as enemy,
      count(*) filter (where unit.side = mover.side)::integer as friends,
      count(*) filter (where unit.side = mover.side and not fpb._exerts(unit))::integer as zoneless
    from fpb._units(state) as unit
    where unit.code <> mover.code
    group by unit.q, unit.r
  )
  select
    hex.q,
    hex.r,
    hex.label,
    -- 5.4: the highest of its terrains, plus what is added
    case when not cost.untold then
      case when cost.all_points then mover.halves else cost.highest end + cost.added
    end,
    cost.wanting,
    cost.shut,
    fpb._all_sea(hex.terrain, hex.features),
    cost.plain,
    others.enemy,
    coalesce(others.friends, 0),
    coalesce(others.zoneless, 0),
    coalesce(zone.zoned, false),
    coalesce(zone.disputed, false)
  from unnest(_ground.qs, _ground.rs) as place (q, r)
  inner join public.hex on hex.map_id = state.map_id and hex.q = place.q and hex.r = place.r
  cross join lateral (
    select
      max(key.halves) as highest,
      coalesce(sum(key.plus), 0)::integer as added,
      bool_or(key.untold) as untold,
      min(key.name) filter (where key.untold) as wanting,
      coalesce(bool_or(key.word = 'prohibited'), false) as shut,
      coalesce(bool_or(key.word = 'all'), false) as all_points,
      bool_and(key.name in ('clear', 'airstrip')) as plain
    from fpb._terrains(hex.terrain, hex.features) as shown (code)
    inner join key on key.name = shown.code
  ) as cost
  left join others on others.q = hex.q and others.r = hex.r
  left join zone on zone.q = hex.q and zone.r = hex.r
$$;

comment on function fpb._ground(positions.state, fpb.mover, integer[], integer[]) is
'These hexes as a mover meets them.';

drop type if exists fpb.crossing cascade;
create type fpb.crossing as (
  x integer,
  y integer,
  river boolean,
  toll integer,
  path text,
  rate integer
);

comment on type fpb.crossing is
'A hexside with a river, a road or a trail: the cheapest path over it and the rate along that.';
comment on column fpb.crossing.toll is 'Halves that the river adds off the road; null where it is not to be crossed';

create or replace function fpb._crossings(state positions.state, mover fpb.mover)
returns setof fpb.crossing
language sql stable rows 100
as $$
  with link as (
    select
      path.qs[at.n] + path.qs[at.n + 1] as x,
      path.rs[at.n] + path.rs[at.n + 1] as y,
      path.kind,
      key.halves
    from public.path
    cross join lateral generate_series(1, cardinality(path.qs) - 1) as at (n)
    inner join fpb._terrain_key(mover.mobility) as key on key.name = path.kind
    where path.map_id = state.map_id
  ),
  side as (
    select hexside.x, hexside.y, true as river, key.halves as toll, null as path, null::integer as rate
    from public.hexside
    inner join fpb._terrain_key(mover.mobility) as key on key.name = hexside.kind
    where hexside.map_id = state.map_id and hexside.kind = 'river'
    union all
    select link.x, link.y, false, null, link.kind, link.halves from link
  )
  select
    side.x,
    side.y,
    bool_or(side.river),
    max(side.toll),
    (array_agg(side.path order by side.rate, side.path) filter (where side.path is not null))[1],
    min(side.rate)
  from side
  group by side.x, side.y
$$;

comment on function fpb._crossings(positions.state, fpb.mover) is
'Every hexside of the map that a river, a road or a trail has to do with (5.4, 5.4.1, 5.4.2).';

drop type if exists fpb.leg cascade;
create type fpb.leg as (
  fq integer,
  fr integer,
  tq integer,
  tr integer,
  way text,
  river boolean,
  base integer,
  zone integer,
  flat boolean,
  whole boolean,
  price integer,
  shut boolean,
  ends boolean
);

comment on type fpb.leg is
'A step from a hex to the next: along what, what it costs with and without the enemy zone, whether it ends the move.';
comment on column fpb.leg.base is 'Halves for terrain and hexside, or along the path; null where it is not told';
comment on column fpb.leg.zone is 'Halves that the enemy zone costs a mobile unit (6.1)';
comment on column fpb.leg.flat is 'Whether that is all that the hex costs (fpb-4 b)';
comment on column fpb.leg.whole is 'Whether a leg unit goes from zone to zone for its whole allowance (6.1)';

create or replace function fpb._legs(
  state positions.state, mover fpb.mover, grounds fpb.ground[], crossings fpb.crossing[]
)
returns setof fpb.leg
language sql stable rows 500
as $$
  select
    start.q,
    start.r,
    goal.q,
    goal.r,
    along.way,
    along.river,
    cost.base,
    zone.halves,
    zone.flat,
    zone.whole,
    case
      when zone.whole then case when cost.base <= mover.halves then mover.halves end
      when zone.flat then zone.halves
      else cost.base + zone.halves
    end,
    goal.all_sea or goal.enemy is not null
    or (along.way = 'terrain' and (goal.shut or (along.river and side.toll is null))),
    goal.zoned and not mover.fluid
  from unnest(grounds) as start
  cross join lateral lattice.neighbours(start.q, start.r) as beside
  inner join unnest(grounds) as goal on goal.q = beside.nq and goal.r = beside.nr
  left join unnest(crossings) as side on side.x = start.q + goal.q and side.y = start.r + goal.r
  cross join lateral (
    select
      -- 5.4.1, 5.4.2: whatever else is there; fpb-28 b: in clear hexes only
      case
        when side.path is not null and (goal.plain or state.readings ->> 'fpb-28' = 'a') then side.path
        else 'terrain'
      end as way,
      coalesce(side.river, false) as river
  ) as along
  cross join lateral (
    select
      case
        when along.way <> 'terrain' then side.rate
        else goal.halves + case when along.river then side.toll else 0 end
      end as base
  ) as cost
  cross join lateral (
    select
      -- fpb-4 b: half the allowance in all
      goal.zoned and mover.fluid and state.readings ->> 'fpb-4' = 'b' as flat,
      -- 6.1: half the printed allowance, rounded down to whole points
      case when goal.zoned and mover.fluid then mover.halves / 4 * 2 else 0 end as halves,
      goal.zoned and not mover.fluid and mover.zoned and start.q = mover.q and start.r = mover.r as whole
  ) as zone
$$;

comment on function fpb._legs(positions.state, fpb.mover, fpb.ground[], fpb.crossing[]) is
'Every step between these hexes with its price (5.4, 5.4.1, 5.4.2, 6.1).';

create or replace function fpb._may_end(mover fpb.mover, goal fpb.ground, readings jsonb)
returns boolean
language sql immutable parallel safe
return case
  when goal.friends = 0 then true
  -- 5.3, 10.6
  when mover.side <> 'us' or goal.friends > 1 or (mover.exerts and goal.zoneless = 0) then false
  -- 11.2: who lands goes on until it finds a free hex
  when mover.landing then readings ->> 'fpb-5' = 'b'
  else true
end;

comment on function fpb._may_end(fpb.mover, fpb.ground, jsonb) is
'Whether a mover may end its move in a hex, for the friends who are there (5.3, 10.6, fpb-5).';
