-- needs: fpb/stack.sql
-- Retreats in fpb (Forgotten Pacific Battles): how far, where to, and whom they displace: 6.2, 8.1.5, 8.3, 8.3.1, 8.4, 12.1.
--
-- A retreat ends as many hexes from the combat hex as the result says, or as far off as there is a hex. In one
-- distance vacant ways come before ways through friends, and free hexes before those of friends who give way.

drop type if exists fpb.refuge cascade;
create type fpb.refuge as (
  q integer,
  r integer,
  label text,
  away integer,
  bar text,
  disputed boolean,
  friends integer,
  yields boolean
);

comment on type fpb.refuge is
'A hex as a retreat meets it: how far off, what bars it, which friends hold it and whether they can give way.';
comment on column fpb.refuge.bar is 'Why nobody retreats there: an enemy, an enemy zone, the sea; null where one may';
comment on column fpb.refuge.disputed is 'Whether only fpb-3 b has it in an enemy zone';
comment on column fpb.refuge.yields is 'Whether the friends there can be displaced (8.3.1)';

create or replace function fpb._havens(state positions.state, unit positions.counter)
returns table (q integer, r integer, label text, bar text, zoned boolean, disputed boolean)
language sql stable rows 300
as $$
  with zone as materialized (
    select
      zone.q,
      zone.r,
      bool_or(zone.counts) as zoned,
      bool_and(zone.point is not null) as disputed
    from fpb._enemy_zones(state, unit) as zone
    group by zone.q, zone.r
  )
  select
    hex.q,
    hex.r,
    hex.label,
    case
      when fpb._all_sea(hex.terrain, hex.features) then 'the open sea is prohibited'
      when exists (
        select
        from public.unit as enemy
        where enemy.position_id = state.position_id
          and enemy.side <> unit.side
          and enemy.q = hex.q
          and enemy.r = hex.r
      ) then 'an enemy is there'
      when zone.zoned then 'it is in an enemy zone of control'
    end,
    coalesce(zone.zoned, false),
    coalesce(zone.disputed, false)
  from public.hex
  left join zone on zone.q = hex.q and zone.r = hex.r
  where hex.map_id = state.map_id
$$;

comment on function fpb._havens(positions.state, positions.counter) is
'Every hex of the map with what bars a retreat into it (6.2, 8.3).';

create or replace function fpb._with_zone(unit positions.counter, zoc boolean)
returns positions.counter
language plpgsql immutable parallel safe
as $$
begin
  unit.attributes := unit.attributes || jsonb_build_object('zoc', zoc);
  return unit;
end
$$;

comment on function fpb._with_zone(positions.counter, boolean) is
'The unit as if it had a zone of control, or none: where enemies have one upon it may hang on that (fpb-3).';

create or replace function fpb._yielding(state positions.state, unit positions.counter)
returns table (q integer, r integer)
language sql stable rows 5
as $$
  with recursive friend as materialized (
    select
      other.*,
      fpb._exerts(other) as exerts,
      count(*) over (partition by other.q, other.r) as company
    from fpb._units(state) as other
    where other.side = unit.side and other.q is not null
  ),
  haven as materialized (
    select true as exerts, haven.*
    from fpb._havens(state, fpb._with_zone(unit, true)) as haven
    where haven.bar is null
    union all
    select false, haven.*
    from fpb._havens(state, fpb._with_zone(unit, false)) as haven
    where haven.bar is null
  ),
  -- 8.3.1: where each friend could go by itself
  way as materialized (
    select
      friend.q,
      friend.r,
      friend.company,
      beside.nq,
      beside.nr,
      count(*) = friend.company as open_to_all,
      not exists (select from friend as other where other.q = beside.nq and other.r = beside.nr) as free
    from friend
    cross join lateral lattice.neighbours(friend.q, friend.r) as beside
    inner join haven on haven.exerts = friend.exerts and haven.q = beside.nq and haven.r = beside.nr
    where friend.code <> unit.code
    group by friend.q, friend.r, friend.company, beside.nq, beside.nr
  ),
  yielding as (
    select way.q, way.r
    from way
    where way.free and way.open_to_all
    group by way.q, way.r, way.company
    having count(*) >= way.company
    union
    -- 8.3.1: one that is displaced may displace another
    select way.q, way.r
    from yielding
    inner join way on way.nq = yielding.q and way.nr = yielding.r
    where way.company = 1
      and (select count(*) from friend as other where other.q = yielding.q and other.r = yielding.r) = 1
  )
  select yielding.q, yielding.r
  from yielding
  where (yielding.q, yielding.r) <> (unit.q, unit.r)
$$;

comment on function fpb._yielding(positions.state, positions.counter) is
'The hexes of friends who can be displaced: each to a free hex beside it, or by displacing others in turn (8.3.1).';

create or replace function fpb._refuges(state positions.state, unit positions.counter)
returns setof fpb.refuge
language sql stable rows 300
as $$
  select
    haven.q,
    haven.r,
    haven.label,
    lattice.distance(haven.q, haven.r, unit.q, unit.r),
    haven.bar,
    haven.disputed,
    coalesce(friend.count, 0)::integer,
    yielding.q is not null
  from fpb._havens(state, unit) as haven
  left join (
    select other.q, other.r, count(*) as count
    from fpb._units(state) as other
    where other.side = unit.side and other.code <> unit.code
    group by other.q, other.r
  ) as friend on friend.q = haven.q and friend.r = haven.r
  left join fpb._yielding(state, unit) as yielding on yielding.q = haven.q and yielding.r = haven.r
$$;

comment on function fpb._refuges(positions.state, positions.counter) is
'Every hex of the map as the retreat of a unit meets it.';

create or replace function fpb._ways_out(refuges fpb.refuge[], hexes integer, through boolean, roundabout boolean)
returns setof fpb.refuge
language sql stable rows 30
as $$
  with recursive place as materialized (
    select refuge.* from unnest(refuges) as refuge
  ),
  way as (
    select place.*
    from place
    where place.away = 0
    union
    select goal.*
    from way
    cross join lateral lattice.neighbours(way.q, way.r) as beside
    inner join place as goal on goal.q = beside.nq and goal.r = beside.nr
    where goal.bar is null
      and goal.away > 0
      -- 8.3: along vacant hexes, or through friends
      and (way.away = 0 or way.friends = 0 or _ways_out.through)
      -- fpb-42 a: every step leads farther off
      and (_ways_out.roundabout or (goal.away = way.away + 1 and goal.away <= _ways_out.hexes))
  )
  select way.* from way where way.away > 0
$$;

comment on function fpb._ways_out(fpb.refuge[], integer, boolean, boolean) is
'The hexes that a retreat can get to, along vacant hexes alone or through friends as well (8.3, fpb-42).';

drop type if exists fpb.exit cascade;
create type fpb.exit as (
  away integer,
  tier integer,
  goals fpb.refuge array
);

comment on type fpb.exit is
'Where a retreat ends: how far off, and by which of four ways, the first that is open.';
comment on column fpb.exit.tier is
'1 free hexes by vacant ways, 2 free hexes through friends, 3 and 4 friends who give way, reached in these two ways';

create or replace function fpb._exit(vacant fpb.refuge[], passing fpb.refuge[], hexes integer)
returns fpb.exit
language plpgsql stable
as $$
declare
  found_exit fpb.exit;
begin
  select choice.away, choice.tier, choice.goals
  into found_exit
  from (
    select
      way.away,
      way.tier + case when way.friends = 0 then 0 else 2 end as tier,
      array_agg(row(way.q, way.r, way.label, way.away, way.bar, way.disputed, way.friends, way.yields)::fpb.refuge
        order by way.label collate "C") as goals
    from (
      select 1 as tier, refuge.* from unnest(vacant) as refuge
      union all
      select 2, refuge.* from unnest(passing) as refuge
    ) as way
    where way.away <= hexes and (way.friends = 0 or way.yields)
    group by way.away, way.tier + case when way.friends = 0 then 0 else 2 end
  ) as choice
  order by choice.away desc, choice.tier
  limit 1;
  return found_exit;
end
$$;

comment on function fpb._exit(fpb.refuge[], fpb.refuge[], integer) is
'As far off as there is a hex, and there the first of the ways that is open (8.3, 8.3.1); null where there is none.';

create or replace function fpb._passed(passing fpb.refuge[], goals fpb.refuge[], roundabout boolean)
returns setof text
language sql stable rows 2
as $$
  with recursive back as (
    select goal.q, goal.r, goal.label, goal.away, 0 as friends
    from unnest(goals) as goal
    union
    select before.q, before.r, before.label, before.away, before.friends
    from back
    cross join lateral lattice.neighbours(back.q, back.r) as beside
    inner join unnest(passing) as before on before.q = beside.nq and before.r = beside.nr
    where _passed.roundabout or before.away = back.away - 1
  )
  select distinct back.label from back where back.friends > 0
$$;

comment on function fpb._passed(fpb.refuge[], fpb.refuge[], boolean) is
'The hexes of friends through which ways to these hexes lead; nobody is displaced there (8.3.1).';

create or replace function fpb._farther(state positions.state, unit positions.counter, goals fpb.refuge[])
returns fpb.refuge[]
language plpgsql stable
as $$
declare
  wanted fpb.refuge[];
begin
  with other as materialized (
    select
      one.side <> unit.side as hostile,
      one.q,
      one.r,
      lattice.distance(one.q, one.r, unit.q, unit.r) as away
    from fpb._units(state) as one
    where one.q is not null and one.code <> unit.code
  ),
  -- 8.1.5: the closest enemies; without any enemy the closest friends
  beacon as (
    select other.*
    from other
    where other.hostile = (select bool_or(every.hostile) from other as every)
      and other.away = (
        select min(every.away)
        from other as every
        where every.hostile = (select bool_or(each.hostile) from other as each)
      )
  )
  select array_agg(goal order by goal.label collate "C") into wanted
  from unnest(goals) as goal
  where (
    select case
      when bool_or(beacon.hostile)
        then bool_and(lattice.distance(goal.q, goal.r, beacon.q, beacon.r) > beacon.away)
      else bool_or(lattice.distance(goal.q, goal.r, beacon.q, beacon.r) < beacon.away)
    end
    from beacon
  );
  return coalesce(wanted, goals);
end
$$;

comment on function fpb._farther(positions.state, positions.counter, fpb.refuge[]) is
'Of these hexes those that lead away from the closest enemies, or toward friends where there is no enemy; else all (8.1.5).';

create or replace function fpb._refuge_steps(
  state positions.state, unit positions.counter, refuges fpb.refuge[], passing fpb.refuge[], hexes integer
)
returns setof rulings.ledger_step
language sql stable rows 12
as $$
  with near as materialized (
    select distinct refuge.*
    from (
      select unit.q, unit.r, 0 as away
      union all
      select way.q, way.r, way.away from unnest(passing) as way
    ) as way
    cross join lateral lattice.neighbours(way.q, way.r) as beside
    inner join unnest(refuges) as refuge on refuge.q = beside.nq and refuge.r = beside.nr
    where refuge.away between 1 and hexes
  )
  select
    entry.rule,
    null,
    near.label,
    entry.effect,
    entry.note,
    entry.point,
    null,
    null::integer,
    null::jsonb
  from near
  cross join lateral (
    values
    (
      1, near.disputed, '6.0', case when near.bar is null then 'no enemy zone' else 'enemy zone' end,
      'an enemy without a zone of its own is beside it', 'fpb-3'
    ),
    (
      2, near.bar is not null,
      case near.bar when 'it is in an enemy zone of control' then '6.2' else '8.3' end, 'forbids', near.bar, null
    ),
    (3, near.bar is null and near.friends > 0, '8.3', 'friend', 'a friend holds it', null),
    (
      4, near.bar is null and near.friends > 0, '8.3.1', case when near.yields then 'gives way' else 'stays' end,
      case when near.yields then 'who is there can be displaced' else 'who is there has nowhere to go' end, null
    )
  ) as entry (n, speaks, rule, effect, note, point)
  where entry.speaks
  order by near.away, near.label collate "C", entry.n
$$;

comment on function fpb._refuge_steps(positions.state, positions.counter, fpb.refuge[], fpb.refuge[], integer) is
'What bars each hex that a retreat meets, and which friends are in its way (6.2, 8.3, 8.3.1).';

drop type if exists fpb.fate cascade;
create type fpb.fate as (
  afloat boolean,
  last_step boolean,
  distance integer,
  hexes integer,
  barred_by_friends boolean,
  displaces boolean,
  shorter boolean
);

comment on type fpb.fate is
'What decides what a retreat costs a unit.';
comment on column fpb.fate.shorter is 'Whether a free hex is nearer than those of the friends who would be displaced';

create or replace function fpb._fate_steps(fate fpb.fate, label text, after text, readings jsonb)
returns setof rulings.ledger_step
language sql immutable rows 4
as $$
  select
    entry.rule,
    null,
    _fate_steps.label,
    entry.effect,
    entry.note,
    entry.point,
    null,
    null::integer,
    null::jsonb
  from (
    values
    (
      1, fate.hexes > 1 and not fate.afloat, '8.3',
      case readings ->> 'fpb-42' when 'a' then format('%s steps', fate.hexes) else 'any way' end,
      'how it gets as far off as that', 'fpb-42'
    ),
    (
      2, fate.afloat, case readings ->> 'fpb-20' when 'a' then '12.1' else '8.3' end,
      case readings ->> 'fpb-20' when 'a' then 'repulsed' else 'depletes' end,
      'an assault that must retreat goes off the map', 'fpb-20'
    ),
    (3, after = 'bombardment' and not fate.afloat, '8.1.5', 'farther', 'away from the closest enemy if it can', null),
    (
      4, fate.distance = 0 and fate.barred_by_friends and not fate.afloat, '8.3.1',
      case readings ->> 'fpb-15' when 'a' then 'depletes' else 'eliminates' end,
      'only friends are in its way', 'fpb-15'
    ),
    (
      5, fate.displaces and not fate.shorter, '8.3.1',
      case readings ->> 'fpb-15' when 'a' then 'depletes' else 'eliminates' end,
      'if its owner displaces nobody', 'fpb-15'
    ),
    (
      6, fate.distance between 1 and fate.hexes - 1, '8.3', 'depletes', 'it cannot go as far as it must', null
    ),
    (
      7, fate.distance = 0 and not fate.barred_by_friends and not fate.afloat, '8.3', 'eliminates',
      'there is no hex to retreat to', null
    ),
    (
      8, true, '8.4',
      case
        when fate.distance = 0 and readings ->> 'fpb-16' = 'b' and not fate.afloat then 'forbids'
        when fate.last_step then 'eliminates'
        else 'depletes'
      end,
      'stiff resistance instead of a retreat', case when fate.distance = 0 and not fate.afloat then 'fpb-16' end
    )
  ) as entry (n, speaks, rule, effect, note, point)
  where entry.speaks
  order by entry.n
$$;

comment on function fpb._fate_steps(fpb.fate, text, text, jsonb) is
'What a retreat costs the unit, and what standing would (8.3, 8.3.1, 8.4, 12.1).';

create or replace function fpb._fate_facts(fate fpb.fate, readings jsonb)
returns jsonb
language sql immutable parallel safe
as $$
  select jsonb_build_object(
    'depletes', loss.depletes,
    'eliminated', loss.dies or (loss.depletes and fate.last_step),
    'repulsed', fate.afloat and not (loss.depletes and fate.last_step),
    'stiff', case
      when fate.distance = 0 and not fate.afloat and readings ->> 'fpb-16' = 'b' then null
      when fate.last_step then 'eliminated'
      else 'depletes'
    end,
    'unless_displaced', case
      when not fate.displaces then null
      when fate.shorter or readings ->> 'fpb-15' = 'a' then case when fate.last_step then 'eliminated' else 'depletes' end
      else 'eliminated'
    end
  )
  from (
    select
      case
        when fate.afloat then readings ->> 'fpb-20' = 'b'
        when fate.distance = 0 then fate.barred_by_friends and readings ->> 'fpb-15' = 'a'
        else fate.distance < fate.hexes
      end as depletes,
      not fate.afloat and fate.distance = 0 and not (fate.barred_by_friends and readings ->> 'fpb-15' = 'a') as dies
  ) as loss
$$;

comment on function fpb._fate_facts(fpb.fate, jsonb) is
'The losses of a retreat: by the retreat itself, by standing, by displacing nobody.';

create or replace function fpb.retreat(
  position_id bigint,
  unit text,
  hexes integer,
  after text default 'attack',
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 12
as $$
#variable_conflict use_variable
declare
  state positions.state;
  asked positions.counter;
  refuges fpb.refuge[];
  vacant fpb.refuge[];
  passing fpb.refuge[];
  out_by fpb.exit;
  goals fpb.refuge[];
  labels jsonb;
  fate fpb.fate;
  roundabout boolean;
begin
  select * into state from positions.state(position_id, conditions, policy);
  asked := positions._asked_counter(position_id, unit);
  if asked.q is null then
    raise exception 'the unit % is not on the map', unit using errcode = 'no_data_found';
  end if;
  roundabout := state.readings ->> 'fpb-42' = 'b';
  refuges := array(select refuge from fpb._refuges(state, asked) as refuge);
  vacant := array(select way from fpb._ways_out(refuges, hexes, false, roundabout) as way);
  passing := array(select way from fpb._ways_out(refuges, hexes, true, roundabout) as way);
  out_by := fpb._exit(vacant, passing, hexes);
  fate.afloat := (
    select fpb._all_sea(hex.terrain, hex.features)
    from public.hex where hex.map_id = state.map_id and hex.q = asked.q and hex.r = asked.r
  );
  if fate.afloat then
    out_by := null;
    passing := '{}';
  end if;
  goals := coalesce(out_by.goals, '{}');
  if after = 'bombardment' then
    goals := fpb._farther(state, asked, goals);
  end if;
  fate.last_step := coalesce((asked.attributes ->> 'depleted')::boolean, false)
    or coalesce((asked.attributes ->> 'one_step')::boolean, false);
  fate.hexes := hexes;
  fate.distance := coalesce(out_by.away, 0);
  fate.displaces := coalesce(out_by.tier > 2, false);
  fate.shorter := exists (select from unnest(passing) as way where way.friends = 0 and way.away < out_by.away);
  fate.barred_by_friends := cardinality(passing) > 0;
  labels := (select coalesce(jsonb_agg(goal.label order by goal.label collate "C"), '[]') from unnest(goals) as goal);
  if not fate.afloat then
    return query select * from fpb._refuge_steps(state, asked, refuges, passing, hexes);
  end if;
  return query select * from fpb._fate_steps(fate, asked.label, after, state.readings);
  return next row(
    '8.3',
    null,
    asked.label,
    case when fate.afloat then 'repulsed' when fate.distance = 0 then 'no retreat' else 'retreats' end,
    format('%s of %s hexes', fate.distance, hexes),
    null,
    null,
    null,
    fpb._fate_facts(fate, state.readings) || jsonb_build_object(
      'distance', case when not fate.afloat then fate.distance end,
      'ends', case when fate.displaces then '[]' else labels end,
      'displace', case when fate.displaces then labels else '[]' end,
      'through', (
        select coalesce(jsonb_agg(passed order by passed collate "C"), '[]')
        from fpb._passed(passing, goals, roundabout) as passed
        where out_by.tier in (2, 4)
      )
    )
  )::rulings.ledger_step;
end
$$;

comment on function fpb.retreat(bigint, text, integer, text, jsonb, jsonb) is
'Where a unit that must retreat so many hexes can end, whom it could displace, and what it loses; the verdict last.';

create or replace function fpb.retreat_ground(
  position_id bigint, unit text, hexes integer, conditions jsonb default null, policy jsonb default null
)
returns table (label text, q integer, r integer, away integer, friends text[], vacant boolean, roundabout boolean)
language plpgsql stable rows 20
as $$
#variable_conflict use_variable
declare
  state positions.state;
  asked positions.counter;
  refuges fpb.refuge[];
  winding boolean;
begin
  select * into state from positions.state(position_id, conditions, policy);
  asked := positions._asked_counter(position_id, unit);
  winding := state.readings ->> 'fpb-42' = 'b';
  refuges := array(select refuge from fpb._refuges(state, asked) as refuge);
  return query
  select
    way.label,
    way.q - asked.q,
    way.r - asked.r,
    way.away,
    array(
      select other.code
      from fpb._units(state) as other
      where other.side = asked.side and other.q = way.q and other.r = way.r
      order by other.code collate "C"
    ),
    exists (
      select from fpb._ways_out(refuges, hexes, false, winding) as clear where clear.q = way.q and clear.r = way.r
    ),
    winding
  from fpb._ways_out(refuges, hexes, true, winding) as way
  order by way.away, way.label collate "C";
end
$$;

comment on function fpb.retreat_ground(bigint, text, integer, jsonb, jsonb) is
'Every hex that a retreat can get to, as steps from where the unit stands, with the friends in it (8.3, fpb-42).';
