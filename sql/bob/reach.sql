-- needs: bob/drive.sql
-- Where a bob unit can go: the legs of bob.move over a region, searched by least cost.
--
-- Infantry stops in Wire and in an enemy's hex, so the hex is all the state that the search has; out of Wire, and in
-- a deluge, the hexes entered are few, and are counted instead. Where a Vehicle faces matters as well: bob/drive.sql.

drop type if exists bob.outing cascade;
create type bob.outing as (
  state positions.state,
  pieces bob.piece array,
  piece bob.piece,
  mover bob.mover,
  cp boolean,
  permission rulings.move_step array,
  grounds bob.ground array,
  legs bob.leg array
);

comment on type bob.outing is
'All that a search for where a unit can go begins with.';

create or replace function bob._radius(mover bob.mover)
returns integer
language sql stable
as $$
  select case
    when mover.wired then 1
    when mover.most is not null then mover.most
    -- a hex costs 1 at the least, unless the card tells, or is read to tell, of roads that cost less
    when mover.read is not null then coalesce(mover.halves, 0)
    when exists (
      select from charts.cell('bob', 'pac_terrain', 'road', case when mover.vehicle then 'mp_vehicle' else 'mp_infantry' end) as cell
      where cell.value is not null and cell.value <> '-'
    ) then coalesce(mover.halves, 0)
    else coalesce(mover.halves, 0) / 2
  end
$$;

comment on function bob._radius(bob.mover) is
'How many hexes a mover can get at the most.';

create or replace function bob._region(state positions.state, pieces bob.piece[], mover bob.mover, radius integer)
returns setof bob.ground
language plpgsql stable rows 100
as $$
#variable_conflict use_column
declare
  qs integer[];
  rs integer[];
begin
  select array_agg(hex.q order by hex.q, hex.r), array_agg(hex.r order by hex.q, hex.r)
  into qs, rs
  from public.hex
  where hex.map_id = state.map_id
    and (_region.radius is null or lattice.distance(hex.q, hex.r, mover.q, mover.r) <= _region.radius);
  return query
  select * from bob._ground(state, pieces, mover.side, qs, rs) as ground order by ground.q, ground.r;
end
$$;

comment on function bob._region(positions.state, bob.piece[], bob.mover, integer) is
'Every hex within a distance of a mover, or of the whole map, as it meets them.';

create or replace function bob._outing(
  position_id bigint, unit text, options jsonb, conditions jsonb, policy jsonb
)
returns bob.outing
language plpgsql stable
as $$
declare
  outing bob.outing;
  state positions.state;
  mover bob.mover;
  loose bob.mover;
  piece bob.piece;
begin
  select * into state from positions.state(_outing.position_id, _outing.conditions, _outing.policy);
  outing.state := state;
  outing.pieces := array(select counter from bob._pieces(_outing.position_id) as counter);
  outing.cp := coalesce((_outing.options ->> 'cp')::boolean, false);
  mover := bob._mover(
    state, outing.pieces, _outing.unit, _outing.options ->> 'as', outing.cp, (_outing.options ->> 'off_path')::boolean
  );
  mover.read := _outing.options -> 'read';
  outing.mover := mover;
  -- 20.3: which hexes lie in front changes as a Vehicle turns
  loose := mover;
  loose.facing := null;
  select * into piece from unnest(outing.pieces) as found where found.code = mover.code;
  outing.piece := piece;
  outing.permission := array(select step from bob._permission_steps(state, piece, mover, outing.cp) as step);
  outing.grounds := array(
    select ground from bob._region(state, outing.pieces, mover, bob._radius(mover)) as ground
  );
  outing.legs := case
    when exists (select from unnest(outing.permission) as step where step.effect in ('forbids', 'unknown')) then '{}'
    else array(select leg from bob._legs(state, loose, outing.grounds) as leg)
  end;
  return outing;
end
$$;

comment on function bob._outing(bigint, text, jsonb, jsonb, jsonb) is
'A unit, the hexes around it and every step between them; no step where it may not move.';

create or replace function bob._spread(mover bob.mover, grounds bob.ground[], legs bob.leg[])
returns table (n integer, halves integer, previous integer)
language plpgsql stable rows 100
as $$
#variable_conflict use_column
declare
  net record;
begin
  with numbered as materialized (
    select ground.q, ground.r, ground.n::integer as n, ground.wire, ground.enemy, ground.enemy_vehicle
    from unnest(_spread.grounds) with ordinality
      as ground (
        q, r, label, terrain, features, level, enemy, enemy_gun, enemy_vehicle, lurking, wire, breach, dug, trench, mines, n
      )
  ),
  edge as materialized (
    select start.n as start, goal.n as goal, leg.price
    from unnest(_spread.legs) as leg
    inner join numbered as start on start.q = leg.fq and start.r = leg.fr
    inner join numbered as goal on goal.q = leg.tq and goal.r = leg.tr
    where leg.shut is null
      and leg.price is not null
      -- 54.3: what takes the whole allowance begins where the mover stands
      and (not leg.whole or (leg.fq = mover.q and leg.fr = mover.r and mover.spent = 0))
  )
  select
    (select numbered.n from numbered where numbered.q = mover.q and numbered.r = mover.r) as origin,
    (
      select array_agg(not mover.vehicle and (numbered.wire or numbered.enemy or numbered.enemy_vehicle) order by numbered.n)
      from numbered
    ) as last,
    array_agg(edge.start order by edge.start, edge.goal) as starts,
    array_agg(edge.goal order by edge.start, edge.goal) as goals,
    array_agg(edge.price order by edge.start, edge.goal) as prices
  into net
  from edge;
  if mover.wired or mover.most is not null then
    return query
    with recursive gone as (
      select net.origin as n, mover.spent as halves, null::integer as previous, 0 as hexes
      union all
      select edge.goal, gone.halves + edge.price, gone.n, gone.hexes + 1
      from gone
      inner join unnest(net.starts, net.goals, net.prices) as edge (start, goal, price) on edge.start = gone.n
      where gone.hexes < case when mover.wired then 1 else mover.most end
        and (gone.hexes = 0 or not net.last[gone.n])
        and gone.halves + edge.price <= mover.halves
    )
    select distinct on (gone.n) gone.n, gone.halves, gone.previous
    from gone
    order by gone.n, gone.halves, gone.hexes;
    return;
  end if;
  return query
  select wave.*
  from positions._wave(
    net.origin, mover.spent, coalesce(mover.halves, 0), net.starts, net.goals, net.prices, net.last,
    cardinality(_spread.grounds)
  ) as wave;
end
$$;

comment on function bob._spread(bob.mover, bob.ground[], bob.leg[]) is
'The hexes of a region, by their number in it, that a mover can get to, for how much and whence.';

create or replace function bob._may_end(state positions.state, pieces bob.piece[], mover bob.mover, goal bob.ground)
returns boolean
language plpgsql stable
as $$
begin
  -- nobody is there, so nobody is in the way
  if not exists (
    select from unnest(pieces) as piece where piece.q = goal.q and piece.r = goal.r and piece.code <> mover.code
  ) then
    return true;
  end if;
  return not (not mover.vehicle and goal.enemy_vehicle) and not exists (
    select from bob._end_steps(state, pieces, mover, goal) as step where step.effect = 'forbids'
  );
end
$$;

comment on function bob._may_end(positions.state, bob.piece[], bob.mover, bob.ground) is
'Whether a mover may end its move in a hex: not over-stacked, not in a Vehicle''s hex.';

create or replace function bob._reached(outing bob.outing)
returns table (n integer, halves integer)
language plpgsql stable rows 100
as $$
#variable_conflict use_column
begin
  if bob._drives(outing.mover) then
    return query select way.n, way.halves from bob._drive(outing.mover, outing.grounds, outing.legs) as way;
  else
    return query select way.n, way.halves from bob._spread(outing.mover, outing.grounds, outing.legs) as way;
  end if;
end
$$;

comment on function bob._reached(bob.outing) is
'The hexes that a mover can get to, by their number in its region, and for how much.';

create or replace function bob._gone(outing bob.outing)
returns table (n integer, halves integer, path integer[], turns jsonb)
language plpgsql stable rows 100
as $$
#variable_conflict use_column
begin
  if bob._drives(outing.mover) then
    return query select * from bob._drive(outing.mover, outing.grounds, outing.legs);
    return;
  end if;
  return query
  with recursive found as materialized (
    select * from bob._spread(outing.mover, outing.grounds, outing.legs)
  ),
  gone as (
    select found.n, found.halves, array[]::integer[] as path
    from found
    where found.previous is null
    union all
    select found.n, found.halves, gone.path || found.n
    from gone
    inner join found on found.previous = gone.n
  )
  select gone.n, gone.halves, gone.path, '{}'::jsonb
  from gone;
end
$$;

comment on function bob._gone(bob.outing) is
'The hexes that a mover can get to, each with a cheapest way and where a Vehicle turns on it.';

create or replace function bob.reach(
  position_id bigint, unit text, options jsonb default '{}', conditions jsonb default null, policy jsonb default null
)
returns table (label text, halves integer)
language plpgsql stable rows 100
as $$
#variable_conflict use_column
declare
  outing bob.outing := bob._outing(reach.position_id, reach.unit, reach.options, reach.conditions, reach.policy);
begin
  return query
  select
    ground.label,
    found.halves - (outing.mover).spent
  from bob._reached(outing) as found
  cross join lateral (select (outing.grounds[found.n]).*) as ground
  where (ground.q = (outing.mover).q and ground.r = (outing.mover).r)
    or bob._may_end(outing.state, outing.pieces, outing.mover, outing.grounds[found.n])
  order by found.halves, ground.q, ground.r;
end
$$;

comment on function bob.reach(bigint, text, jsonb, jsonb, jsonb) is
'Every hex in which a unit can end its move, with the least cost in halves of a point.';

create or replace function bob.reach_path(
  position_id bigint, unit text, "to" text, options jsonb default '{}', conditions jsonb default null, policy jsonb default null
)
returns table (n integer, label text)
language plpgsql stable rows 6
as $$
#variable_conflict use_column
declare
  outing bob.outing := bob._outing(
    reach_path.position_id, reach_path.unit, reach_path.options, reach_path.conditions, reach_path.policy
  );
begin
  return query
  select
    (step.n - 1)::integer,
    coalesce((outing.grounds[step.hex]).label, (outing.mover).label)
  from bob._gone(outing) as way
  cross join lateral unnest(null::integer || way.path) with ordinality as step (hex, n)
  where (outing.grounds[way.n]).label = reach_path."to"
  order by step.n;
end
$$;

comment on function bob.reach_path(bigint, text, text, jsonb, jsonb, jsonb) is
'A cheapest way to a hex, from where the unit stands; no row where it cannot get there.';

create or replace function bob.reach_paths(
  position_id bigint, unit text, options jsonb default '{}', conditions jsonb default null, policy jsonb default null
)
returns table (label text, halves integer, path text[], turns jsonb)
language plpgsql stable rows 100
as $$
#variable_conflict use_column
declare
  outing bob.outing := bob._outing(
    reach_paths.position_id, reach_paths.unit, reach_paths.options, reach_paths.conditions, reach_paths.policy
  );
begin
  return query
  select
    (outing.grounds[way.n]).label,
    way.halves - (outing.mover).spent,
    array(
      select (outing.grounds[step.hex]).label from unnest(way.path) with ordinality as step (hex, n) order by step.n
    ),
    way.turns
  from bob._gone(outing) as way
  where cardinality(way.path) > 0
    and bob._may_end(outing.state, outing.pieces, outing.mover, outing.grounds[way.n])
  order by way.halves, way.n;
end
$$;

comment on function bob.reach_paths(bigint, text, jsonb, jsonb, jsonb) is
'Every other hex in which a unit can end its move: the least cost in halves, a way that costs no more, where a Vehicle turns on it.';

create or replace function bob._change_cost(
  position_id bigint, unit text, way text[], options jsonb, conditions jsonb, policy jsonb
)
returns integer
language plpgsql stable
as $$
declare
  verdict rulings.move_step;
  step rulings.move_step;
begin
  for step in select * from bob.move(position_id, unit, way, options, conditions, policy) loop
    verdict := step;
  end loop;
  return case when verdict.effect = 'legal' then verdict.halves end;
end
$$;

comment on function bob._change_cost(bigint, text, text[], jsonb, jsonb, jsonb) is
'What a move costs that ends in another location of its last hex; null where it may not be made.';

create or replace function bob.reach_locations(
  position_id bigint, unit text, options jsonb default '{}', conditions jsonb default null, policy jsonb default null
)
returns table (label text, location text, halves integer, path text[])
language plpgsql stable rows 2
as $$
#variable_conflict use_column
declare
  own bob.piece := (
    select piece from bob._pieces(reach_locations.position_id) as piece where piece.code = reach_locations.unit
  );
  place record;
  reached text[];
begin
  if not exists (
    select
    from public.marker
    where marker.position_id = reach_locations.position_id and marker.kind in ('cave', 'small_cave', 'upper_level')
  ) then
    return;
  end if;
  reached := array(
    select hex.label
    from bob.reach(
      reach_locations.position_id, reach_locations.unit, reach_locations.options, reach_locations.conditions,
      reach_locations.policy
    ) as hex
  );
  for place in
    select
      hex.label,
      case
        when marker.kind <> 'upper_level' then 'cave'
        when own.location = 'upper' then 'ground'
        else 'upper'
      end as location,
      -- 43.4: through its mouth; 40.2: in the hex itself
      array(
        select way.label
        from bob.reach_path(
          reach_locations.position_id, reach_locations.unit, mouth.label, reach_locations.options,
          reach_locations.conditions, reach_locations.policy
        ) as way
      ) || case when marker.kind = 'upper_level' then '{}' else array[hex.label] end as way
    from public.marker
    inner join public.hex on hex.map_id = marker.map_id and hex.q = marker.q and hex.r = marker.r
    cross join lateral (
      select beside.label
      from lattice.neighbours(hex.q, hex.r) as step
      inner join public.hex as beside on beside.map_id = hex.map_id and beside.q = step.nq and beside.r = step.nr
      where marker.kind <> 'upper_level'
        and (marker.facing is null or step.direction in (marker.facing, marker.facing % 6 + 1))
      union all
      select hex.label where marker.kind = 'upper_level'
    ) as mouth
    where marker.position_id = reach_locations.position_id
      and marker.kind in ('cave', 'small_cave', 'upper_level')
      -- from an Upper Level it goes down where it is
      and (own.location <> 'upper' or (hex.q = own.q and hex.r = own.r))
      and mouth.label = any(reached)
  loop
    label := place.label;
    location := place.location;
    halves := bob._change_cost(
      reach_locations.position_id, reach_locations.unit, place.way,
      reach_locations.options || jsonb_build_object('into', place.location), reach_locations.conditions, reach_locations.policy
    );
    path := case when cardinality(place.way) > 1 then place.way[2:] else place.way end;
    if halves is not null then
      return next;
    end if;
  end loop;
end
$$;

comment on function bob.reach_locations(bigint, text, jsonb, jsonb, jsonb) is
'Caves and levels of buildings into which a unit can go in one move: what that costs in halves, and a way (40.2, 43.4).';

create or replace function bob.reach_reasons(
  position_id bigint, unit text, options jsonb default '{}', conditions jsonb default null, policy jsonb default null
)
returns setof rulings.move_step
language plpgsql stable rows 10
as $$
declare
  outing bob.outing := bob._outing(
    reach_reasons.position_id, reach_reasons.unit, reach_reasons.options, reach_reasons.conditions, reach_reasons.policy
  );
begin
  return query
  select * from unnest(outing.permission)
  union all
  select *
  from bob._bonus_steps(outing.piece, (outing.mover).manner, outing.cp, (outing.state).conditions)
  union all
  (
    select
      leg.rule, null, null, 'cost', replace(leg.ground, '_', ' '), null,
      leg.halves, null::integer, null
    from unnest(outing.legs) as leg
    where leg.shut is null and leg.halves is not null
    group by leg.rule, leg.ground, leg.halves
    order by leg.ground
  )
  union all
  (
    select leg.least_rule, null, null, 'cost', leg.least_note, null, leg.least, null::integer, null
    from unnest(outing.legs) as leg
    where leg.least is not null
    group by leg.least_rule, leg.least_note, leg.least
    order by leg.least_rule
  )
  union all
  (
    select leg.shut_rule, null, min(leg.label), 'bars', leg.shut, null, null::integer, null::integer, null
    from unnest(outing.legs) as leg
    where leg.shut is not null
    group by leg.shut_rule, leg.shut
    order by leg.shut_rule, leg.shut
  )
  union all
  select
    '20.3', null, null, case when turn.price is null then 'unknown' else 'cost' end,
    case when turn.price is null then 'pac_terrain turning' else 'to turn by a corner' end, null, turn.price, null::integer, null
  from (select bob._turning(outing.mover) as price) as turn
  where bob._drives(outing.mover)
  union all
  (
    select '5.0', null, min(leg.label), 'unknown', leg.untold, null, null::integer, null::integer, null
    from unnest(outing.legs) as leg
    where leg.shut is null and leg.untold is not null
    group by leg.untold
    order by leg.untold
  );
end
$$;

comment on function bob.reach_reasons(bigint, text, jsonb, jsonb, jsonb) is
'What a reach is made of: the allowance, what terrains cost, what bars hexes and what is not told.';
