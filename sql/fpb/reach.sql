-- needs: fpb/move.sql, positions/wave.sql
-- Where an fpb unit can go: the legs of fpb.move over a region, searched by least cost.
--
-- A leg unit stops in an enemy zone and goes from zone to zone only as its first step, so the hex is all the
-- state that the search has. Hexes are done in order of cost.

create or replace function fpb._region(state positions.state, mover fpb.mover)
returns setof fpb.ground
language sql stable rows 300
as $$
  select ground.*
  from (
    select
      array_agg(hex.q order by hex.q, hex.r) as qs,
      array_agg(hex.r order by hex.q, hex.r) as rs
    from public.hex
    where hex.map_id = state.map_id
      -- 5.4.1: half a point a hex at the least; fpb-4 b: half of an allowance of 1 is nothing
      and (
        lattice.distance(hex.q, hex.r, mover.q, mover.r) <= greatest(mover.halves, 1)
        or (mover.fluid and mover.halves < 4 and state.readings ->> 'fpb-4' = 'b')
      )
  ) as near
  cross join lateral fpb._ground(state, mover, near.qs, near.rs) as ground
$$;

comment on function fpb._region(positions.state, fpb.mover) is
'Every hex that a mover could reach by road, as it meets them.';

create or replace function fpb._reached(mover fpb.mover, grounds fpb.ground[], legs fpb.leg[])
returns table (n integer, halves integer, previous integer)
language plpgsql stable rows 100
as $$
#variable_conflict use_column
declare
  net record;
begin
  with numbered as materialized (
    select ground.q, ground.r, ground.n::integer as n, ground.zoned
    from unnest(_reached.grounds) with ordinality
      as ground (q, r, label, halves, untold, shut, all_sea, plain, enemy, friends, zoneless, zoned, disputed, n)
  ),
  edge as materialized (
    select start.n as start, goal.n as goal, leg.price
    from unnest(_reached.legs) as leg
    inner join numbered as start on start.q = leg.fq and start.r = leg.fr
    inner join numbered as goal on goal.q = leg.tq and goal.r = leg.tr
    where not leg.shut and leg.price is not null
  )
  select
    (select numbered.n from numbered where numbered.q = mover.q and numbered.r = mover.r) as origin,
    (select array_agg(numbered.zoned and not mover.fluid order by numbered.n) from numbered) as last,
    array_agg(edge.start order by edge.start, edge.goal) as starts,
    array_agg(edge.goal order by edge.start, edge.goal) as goals,
    array_agg(edge.price order by edge.start, edge.goal) as prices
  into net
  from edge;
  return query
  select wave.*
  from positions._wave(
    net.origin, mover.spent, coalesce(mover.halves, 0), net.starts, net.goals, net.prices, net.last,
    cardinality(_reached.grounds)
  ) as wave;
end
$$;

comment on function fpb._reached(fpb.mover, fpb.ground[], fpb.leg[]) is
'The hexes of a region, by their number in it, that a mover can get to, and whence.';

drop type if exists fpb.outing cascade;
create type fpb.outing as (
  state positions.state,
  mover fpb.mover,
  permission rulings.move_step array,
  grounds fpb.ground array,
  crossings fpb.crossing array,
  legs fpb.leg array
);

comment on type fpb.outing is
'All that a search for where a unit can go begins with.';

create or replace function fpb._outing(position_id bigint, unit text, conditions jsonb, policy jsonb)
returns fpb.outing
language plpgsql stable
as $$
declare
  outing fpb.outing;
  state positions.state;
begin
  select * into state from positions.state(_outing.position_id, _outing.conditions, _outing.policy);
  outing.state := state;
  outing.mover := fpb._mover(state, _outing.unit);
  outing.permission := array(select step from fpb._permission_steps(state, outing.mover) as step);
  outing.grounds := array(select ground from fpb._region(state, outing.mover) as ground);
  -- who may not move, or of whom that is not told, is where it is
  if exists (select from unnest(outing.permission) as step where step.effect in ('forbids', 'unknown')) then
    outing.legs := '{}';
  else
    outing.crossings := array(select crossing from fpb._crossings(state, outing.mover) as crossing);
    outing.legs := array(
      select leg from fpb._legs(state, outing.mover, outing.grounds, outing.crossings) as leg
    );
  end if;
  return outing;
end
$$;

comment on function fpb._outing(bigint, text, jsonb, jsonb) is
'A unit, the hexes around it and every step between them; no step where it may not move.';

create or replace function fpb.reach(
  position_id bigint, unit text, options jsonb default '{}', conditions jsonb default null, policy jsonb default null
)
returns table (label text, halves integer)
language plpgsql stable rows 100
as $$
#variable_conflict use_column
declare
  outing fpb.outing := fpb._outing(reach.position_id, reach.unit, reach.conditions, reach.policy);
begin
  return query
  select
    ground.label,
    found.halves
  from fpb._reached(outing.mover, outing.grounds, outing.legs) as found
  cross join lateral (select (outing.grounds[found.n]).*) as ground
  where fpb._may_end(outing.mover, outing.grounds[found.n], (outing.state).readings)
  order by found.halves, ground.label collate "C";
end
$$;

comment on function fpb.reach(bigint, text, jsonb, jsonb, jsonb) is
'Every hex in which a unit can end its move, with the least cost in halves of a point.';

create or replace function fpb.reach_path(
  position_id bigint,
  unit text,
  "to" text,
  options jsonb default '{}',
  conditions jsonb default null,
  policy jsonb default null
)
returns table (n integer, label text)
language plpgsql stable rows 10
as $$
#variable_conflict use_column
declare
  outing fpb.outing := fpb._outing(reach_path.position_id, reach_path.unit, reach_path.conditions, reach_path.policy);
begin
  return query
  with recursive found as materialized (
    select * from fpb._reached(outing.mover, outing.grounds, outing.legs)
  ),
  back as (
    select found.n, found.previous, 0 as steps
    from found
    where (outing.grounds[found.n]).label = reach_path."to"
      and fpb._may_end(outing.mover, outing.grounds[found.n], (outing.state).readings)
    union all
    select found.n, found.previous, back.steps + 1
    from back
    inner join found on found.n = back.previous
  )
  select
    (row_number() over (order by back.steps desc))::integer,
    (outing.grounds[back.n]).label
  from back
  order by back.steps desc;
end
$$;

comment on function fpb.reach_path(bigint, text, text, jsonb, jsonb, jsonb) is
'A cheapest way to a hex, the unit''s own first; no row where it cannot end its move there.';

create or replace function fpb._edge_steps(outing fpb.outing)
returns setof rulings.move_step
language sql stable rows 10
as $$
  with found as materialized (
    select (outing.grounds[reached.n]).*
    from fpb._reached(outing.mover, outing.grounds, outing.legs) as reached
  ),
  met as materialized (
    select leg.way, leg.flat, leg.zone, leg.ends, leg.base, leg.price, leg.shut, side.path, goal.ground
    from unnest(outing.legs) as leg
    inner join found on found.q = leg.fq and found.r = leg.fr
    inner join (select ground, (ground).* from unnest(outing.grounds) as ground) as goal
      on goal.q = leg.tq and goal.r = leg.tr
    left join unnest(outing.crossings) as side on side.x = leg.fq + leg.tq and side.y = leg.fr + leg.tr
    where not (found.zoned and not (outing.mover).fluid and (found.q, found.r) <> ((outing.mover).q, (outing.mover).r))
  )
  select distinct on (entry.n, (met.ground).label)
    entry.rule,
    entry.clause,
    (met.ground).label,
    entry.effect,
    entry.note,
    entry.point,
    null::integer,
    null::integer,
    null
  from met
  cross join lateral (
    values
    (1, (met.ground).enemy is not null, '5.2', 'd', 'forbids', 'an enemy is there', null),
    (2, (met.ground).all_sea, '5.2', 'e', 'forbids', 'the open sea is prohibited', null),
    (
      3, met.shut and (met.ground).enemy is null and not (met.ground).all_sea,
      '5.2', 'e', 'forbids', 'hex or hexside is prohibited to it', null
    ),
    (
      4, met.base is null and not met.flat and not met.shut,
      '5.4', null, 'unknown', format('what %s costs', replace((met.ground).untold, '_', ' ')), null
    ),
    (5, met.ends, '6.1', null, 'stops', 'a leg unit stops in an enemy zone of control', null),
    (
      6, (met.ground).zoned and (outing.mover).fluid, '6.1', null, trim_scale(met.zone / 2.0)::text,
      'half the allowance, for an enemy zone of control', 'fpb-4'
    ),
    (
      7, (met.ground).disputed, '6.0', null,
      case when (met.ground).zoned then 'enemy zone' else 'no enemy zone' end,
      'an enemy without a zone of its own is beside it', 'fpb-3'
    ),
    (
      8, met.path is not null and not (met.ground).plain,
      case met.path when 'road' then '5.4.1' else '5.4.2' end, null,
      case when met.way = 'terrain' then 'disregarded' else 'counts' end,
      'road or trail in other than clear terrain', 'fpb-28'
    )
  ) as entry (n, speaks, rule, clause, effect, note, point)
  where entry.speaks
  order by entry.n, (met.ground).label
$$;

comment on function fpb._edge_steps(fpb.outing) is
'What bounds a reach or bears on it: hexes that cannot be entered, enemy zones, costs that nobody has told.';

create or replace function fpb.reach_reasons(
  position_id bigint, unit text, options jsonb default '{}', conditions jsonb default null, policy jsonb default null
)
returns setof rulings.move_step
language plpgsql stable rows 20
as $$
#variable_conflict use_variable
declare
  outing fpb.outing := fpb._outing(position_id, unit, conditions, policy);
begin
  return query select * from unnest(outing.permission);
  return query select * from fpb._allowance_steps(outing.mover);
  return query select * from fpb._edge_steps(outing);
  return query
  select step.*
  from fpb._reached(outing.mover, outing.grounds, outing.legs) as found
  cross join lateral fpb._end_steps(outing.mover, outing.grounds[found.n], (outing.state).readings) as step
  order by step.at collate "C", step.rule;
end
$$;

comment on function fpb.reach_reasons(bigint, text, jsonb, jsonb, jsonb) is
'Every rule that bounds where a unit can go: its points, enemy zones, closed hexes, friends, what nobody has told.';

create or replace function fpb.reach_paths(
  position_id bigint, unit text, conditions jsonb default null, policy jsonb default null
)
returns table (label text, path text array)
language plpgsql stable rows 100
as $$
#variable_conflict use_column
declare
  outing fpb.outing := fpb._outing(reach_paths.position_id, reach_paths.unit, reach_paths.conditions, reach_paths.policy);
begin
  return query
  with recursive found as materialized (
    select * from fpb._reached(outing.mover, outing.grounds, outing.legs)
  ),
  way as (
    select found.n, array[]::text[] as path
    from found
    where found.previous is null
    union all
    select found.n, way.path || (outing.grounds[found.n]).label
    from way
    inner join found on found.previous = way.n
  )
  select
    (outing.grounds[way.n]).label,
    way.path
  from way
  where cardinality(way.path) > 0
    and fpb._may_end(outing.mover, outing.grounds[way.n], (outing.state).readings)
  order by (outing.grounds[way.n]).label collate "C";
end
$$;

comment on function fpb.reach_paths(bigint, text, jsonb, jsonb) is
'Every hex in which a unit can end its move, each with a cheapest way there: the hexes that it enters.';
