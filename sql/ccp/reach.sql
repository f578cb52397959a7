-- needs: ccp/move.sql
-- Where a ccp unit can go: the costs of ccp.move for all steps of a region, searched by least cost.
--
-- What a party may spend depends on the leaders who stay in the hex that it leaves, so a step is
-- allowed by the hex it begins in; having spent less is never worse. Wire ends a move, out of wire
-- there is one step only, and water is entered from the first hex alone: the hex is all the state that
-- the search has. Whether an enemy sees a road is asked last, and only of road hexes that could be
-- reached if none did.
--
-- The region is a square grid around the unit, read once into arrays: the neighbours of a cell are
-- found by adding to its number. Steps whose cost is not that of terrain and slope (along paths,
-- trenches, bridges) are few; ccp._entries prices them, and they override the rest.

create or replace function ccp._region(
  position_id bigint, map_id bigint, side text, night boolean, q integer, r integer, radius integer
)
returns table (
  labels text[],
  qs integer[],
  rs integer[],
  levels integer[],
  -- halves to enter by terrain; 0: only along a path or bridge, -1: not at all, -2: for all points
  ground integer[],
  -- whether wire ends a move there
  ends boolean[],
  in_wire boolean,
  bridges integer[]
)
language plpgsql stable rows 1
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  select
    array_agg(ground.label order by ground.i),
    array_agg(ground.q order by ground.i),
    array_agg(ground.r order by ground.i),
    array_agg(coalesce(ground.level, 0) order by ground.i),
    array_agg(
      case
        when ground.label is null or ground.enemy is not null or ground.word = 'prohibited' then -1
        when lattice.distance(_region.q, _region.r, ground.q, ground.r) > _region.radius then -1
        when ground.word = 'all' then -2
        else coalesce(ground.halves + ground.dark, 0)
      end order by ground.i
    ),
    array_agg(ground.wire order by ground.i),
    bool_or(ground.wire and ground.q = _region.q and ground.r = _region.r),
    array_agg(ground.i) filter (where ground.bridge is not null)
  from (
    select
      array_agg(across.q order by across.q, down.r) as qs,
      array_agg(down.r order by across.q, down.r) as rs
    -- with a rim of closed cells, so that no neighbour is outside the grid
    from generate_series(_region.q - _region.radius - 1, _region.q + _region.radius + 1) as across (q)
    cross join generate_series(_region.r - _region.radius - 1, _region.r + _region.radius + 1) as down (r)
  ) as grid
  cross join lateral ccp._ground(
    _region.position_id, _region.map_id, _region.side, _region.night, grid.qs, grid.rs
  ) as ground;
end
$$;

comment on function ccp._region(bigint, bigint, text, boolean, integer, integer, integer) is
'The ground around a hex as a square grid of cells, column by column, with what each costs to enter.';

create or replace function ccp._odd_steps(
  position_id bigint,
  map_id bigint,
  side text,
  night boolean,
  trench_reading text,
  bridge_reading text,
  q integer,
  r integer,
  radius integer,
  bridge_qs integer[],
  bridge_rs integer[]
)
returns table (fq integer, fr integer, direction integer, halves integer, unseen integer)
language plpgsql stable rows 20
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  with fort as materialized (
    select distinct
      marker.q,
      marker.r
    from public.marker
    where marker.position_id = _odd_steps.position_id
      and marker.kind in ('trench', 'bunker', 'pillbox')
      and lattice.distance(_odd_steps.q, _odd_steps.r, marker.q, marker.r) <= _odd_steps.radius
  ),
  bridge as materialized (
    select * from unnest(_odd_steps.bridge_qs, _odd_steps.bridge_rs) as bridge (q, r)
  ),
  pair as materialized (
    select
      hexes.q1,
      hexes.r1,
      hexes.q2,
      hexes.r2
    from ccp._crossings(_odd_steps.map_id, _odd_steps.q, _odd_steps.r, _odd_steps.radius) as crossing
    cross join lateral lattice.side_hexes(crossing.x, crossing.y) as hexes
    union
    select
      one.q,
      one.r,
      two.q,
      two.r
    from fort as one
    inner join fort as two on lattice.distance(one.q, one.r, two.q, two.r) = 1
    union
    select
      one.q,
      one.r,
      two.q,
      two.r
    from bridge as one
    inner join bridge as two on lattice.distance(one.q, one.r, two.q, two.r) = 1
  ),
  step as materialized (
    select
      start.q as fq,
      start.r as fr,
      next.nq as tq,
      next.nr as tr,
      next.direction,
      (row_number() over ())::integer as i
    from (
      select pair.* from pair
      union
      select
        pair.q2,
        pair.r2,
        pair.q1,
        pair.r1
      from pair
    ) as start (q, r, nq, nr)
    inner join lateral lattice.neighbours(start.q, start.r) as next on next.nq = start.nq and next.nr = start.nr
  )
  select
    step.fq,
    step.fr,
    step.direction,
    entry.halves + entry.dark + entry.uphill,
    entry.unseen + entry.dark + entry.uphill
  from (
    select
      array_agg(step.fq order by step.i) as fqs,
      array_agg(step.fr order by step.i) as frs,
      array_agg(step.tq order by step.i) as tqs,
      array_agg(step.tr order by step.i) as trs
    from step
  ) as way
  cross join lateral ccp._entries(
    _odd_steps.position_id, _odd_steps.map_id, _odd_steps.side, _odd_steps.night,
    _odd_steps.trench_reading, _odd_steps.bridge_reading, way.fqs, way.frs, way.tqs, way.trs
  ) as entry
  inner join step on step.i = entry.i
  where way.fqs is not null
    and entry.word is null
    and entry.enemy is null
    and entry.halves is not null;
end
$$;

comment on function ccp._odd_steps(
  bigint, bigint, text, boolean, text, text, integer, integer, integer, integer[], integer[]
) is
'Every step near a hex along a path, a trench or a bridge, with its whole cost, and that where no enemy sees it.';

create or replace function ccp._offsets(width integer)
returns integer[]
language sql immutable parallel safe
return array[-1, width - 1, width, 1, 1 - width, -width];

comment on function ccp._offsets(integer) is
'What to add to the number of a cell, in a grid of this width, for its neighbours in directions 1 to 6.';

create or replace function ccp._overriding(slots integer[], costs integer[], cells integer)
returns integer[]
language plpgsql immutable parallel safe
as $$
declare
  steps integer[];
begin
  if slots is not null then
    steps := array_fill(-1, array[6 * cells]);
    for i in 1 .. cardinality(slots) loop
      steps[slots[i]] := costs[i];
    end loop;
  end if;
  return steps;
end
$$;

comment on function ccp._overriding(integer[], integer[], integer) is
'Six steps a cell, of which a few have a cost of their own; null where none has.';

create or replace function ccp._wave(
  origin integer,
  width integer,
  levels integer[],
  ground integer[],
  allowances integer[],
  ends boolean[],
  odd integer[]
)
returns table (n integer, halves integer, previous integer)
language plpgsql immutable rows 100
as $$
#variable_conflict use_variable
declare
  offsets constant integer[] := ccp._offsets(width);
  far constant integer := 1000000;
  spent integer[] := array_fill(far, array[cardinality(ground)]);
  came_from integer[] := array_fill(0, array[cardinality(ground)]);
  strange constant boolean := odd is not null;
  latest integer := 0;
  cell integer;
  goal integer;
  price integer;
begin
  spent[origin] := 0;
  -- a step costs half a point at least, so no cell of the same bucket is changed
  for now in 0 .. far loop
    exit when now > latest;
    foreach cell in array array_positions(spent, now) loop
      continue when ends[cell];
      for direction in 1 .. 6 loop
        goal := cell + offsets[direction];
        price := ground[goal];
        continue when price = -1;
        if strange and odd[6 * cell + direction - 6] >= 0 then
          price := odd[6 * cell + direction - 6];
        elsif price <= 0 then
          continue;
        elsif levels[goal] > levels[cell] then
          -- T89.1
          price := price + 2 * (levels[goal] - levels[cell]);
        end if;
        price := now + price;
        if price <= allowances[cell] and price < spent[goal] then
          spent[goal] := price;
          came_from[goal] := cell;
          latest := greatest(latest, price);
        end if;
      end loop;
    end loop;
  end loop;
  -- T99: for all points, as the first and last hex
  foreach goal in array offsets loop
    goal := origin + goal;
    if ground[goal] = -2 and allowances[origin] between 1 and spent[goal] - 1 then
      spent[goal] := allowances[origin];
      came_from[goal] := origin;
    end if;
  end loop;
  return query
  select
    cell.n::integer,
    cell.spent,
    nullif(came_from[cell.n], 0)
  from unnest(spent) with ordinality as cell (spent, n)
  where cell.spent < far;
end
$$;

comment on function ccp._wave(integer, integer, integer[], integer[], integer[], boolean[], integer[]) is
'Least cost from a cell of a grid to every cell within the allowances, and the cell before it on a cheapest way.';

create or replace function ccp._reached(position_id bigint, unit text, options jsonb, conditions jsonb, policy jsonb)
returns table (
  q integer,
  r integer,
  label text,
  -- null: not a hex that is reached, but a line of sight on which the cost of a road hex hangs
  halves integer,
  n integer,
  previous integer,
  -- who sees the road hex, and the points that the line touches
  watcher text,
  points text[]
)
language plpgsql stable rows 100
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  party record;
  region record;
  post record;
  odd record;
  -- lines of sight to road hexes; one without a watcher where there is no enemy
  lines jsonb := '[]';
  most integer;
  radius integer;
  width integer;
  origin integer;
  allowances integer[];
  ends boolean[];
  steps integer[];
  seen integer[];
begin
  select *
  into party
  from ccp._party(_reached.position_id, _reached.unit, _reached.options, _reached.conditions, _reached.policy);
  select
    ccp._allowance(
      party.told, party.untold, party.squads, party.leaders, party.carried, coalesce(max(post.led), 0)
    )
  into most
  from ccp._posts(_reached.position_id, party.side, party.ids, _reached.policy) as post;
  if most is null or party.apart is not null then
    return;
  end if;
  -- a step costs a point, but half of one along an unseen road
  radius := greatest(1, most / 2);
  loop
    width := 2 * radius + 3;
    origin := (radius + 1) * width + radius + 2;
    select * into region
    from ccp._region(
      _reached.position_id, party.map_id, party.side, party.night, party.q, party.r, radius
    );
    allowances := array_fill(
      ccp._allowance(party.told, party.untold, party.squads, party.leaders, party.carried, 0),
      array[cardinality(region.ground)]
    );
    for post in
      select
        post.*,
        origin + (post.q - party.q) * width + post.r - party.r as cell
      from ccp._posts(_reached.position_id, party.side, party.ids, _reached.policy) as post
      where lattice.distance(post.q, post.r, party.q, party.r) <= radius
    loop
      allowances[post.cell] := ccp._allowance(
        party.told, party.untold, party.squads, party.leaders, party.carried, post.led
      );
    end loop;
    -- F107.2: out of wire a move ends in the first hex
    ends := case
      when region.in_wire then array_fill(true, array[cardinality(region.ground)])
      else region.ends
    end;
    ends[origin] := false;
    select
      array_agg(6 * start.cell + step.direction - 6) as slots,
      array_agg(start.cell) as cells,
      array_agg(start.cell + (ccp._offsets(width))[step.direction]) as goals,
      array_agg(step.halves) as costs,
      array_agg(coalesce(step.unseen, step.halves)) as unseens,
      bool_or(step.unseen < step.halves) as roads
    into odd
    from ccp._odd_steps(
      _reached.position_id, party.map_id, party.side, party.night, party.trench, party.bridge,
      party.q, party.r, radius,
      (select array_agg(region.qs[cell]) from unnest(region.bridges) as cell),
      (select array_agg(region.rs[cell]) from unnest(region.bridges) as cell)
    ) as step
    cross join lateral (select origin + (step.fq - party.q) * width + step.fr - party.r as cell) as start
    where lattice.distance(step.fq, step.fr, party.q, party.r) <= radius;
    steps := ccp._overriding(odd.slots, odd.unseens, cardinality(region.ground));
    exit when odd.roads is not true or radius >= most;
    -- as if no enemy saw any road: the region is too small if one could go on at its edge
    exit when not exists (
      select
      from ccp._wave(origin, width, region.levels, region.ground, allowances, ends, steps) as wave
      where wave.halves < allowances[wave.n]
        and lattice.distance(region.qs[wave.n], region.rs[wave.n], party.q, party.r) = radius
    );
    radius := least(most, radius + greatest(2, most / 4));
  end loop;
  if odd.roads then
    with road as materialized (
      select distinct
        step.goal as cell,
        region.qs[step.goal] as q,
        region.rs[step.goal] as r
      from ccp._wave(origin, width, region.levels, region.ground, allowances, ends, steps) as wave
      inner join unnest(odd.cells, odd.goals, odd.costs, odd.unseens) as step (cell, goal, cost, unseen)
        on step.cell = wave.n and step.unseen < step.cost
      where wave.halves + step.unseen <= allowances[wave.n]
        and not ends[wave.n]
    )
    select
      coalesce(array_agg(road.cell) filter (where line.watcher is not null), '{}'),
      coalesce(
        jsonb_agg(jsonb_build_object('q', road.q, 'r', road.r, 'watcher', line.watcher, 'points', line.points)), '[]'
      )
    into seen, lines
    from road
    left join ccp._watched(
      _reached.position_id, party.side,
      (select array_agg(road.q order by road.cell) from road),
      (select array_agg(road.r order by road.cell) from road),
      _reached.conditions, _reached.policy
    ) as line on line.q = road.q and line.r = road.r;
    steps := ccp._overriding(
      odd.slots,
      (
        select array_agg(case when step.goal = any(seen) then step.cost else step.unseen end order by step.i)
        from unnest(odd.goals, odd.costs, odd.unseens) with ordinality as step (goal, cost, unseen, i)
      ),
      cardinality(region.ground)
    );
  end if;
  return query
  select
    region.qs[wave.n],
    region.rs[wave.n],
    region.labels[wave.n],
    wave.halves,
    wave.n,
    wave.previous,
    null::text,
    null::text[]
  from ccp._wave(origin, width, region.levels, region.ground, allowances, ends, steps) as wave
  union all
  select
    line.q,
    line.r,
    null,
    null,
    null,
    null,
    line.watcher,
    line.points
  from jsonb_to_recordset(lines) as line (q integer, r integer, watcher text, points text[]);
end
$$;

comment on function ccp._reached(bigint, text, jsonb, jsonb, jsonb) is
'Every hex that a Move can end in, its own among them, with the least cost and the hex before it on the way; and every
line of sight that was asked about for it.';

create or replace function ccp._reached_by(
  position_id bigint, unit text, options jsonb, conditions jsonb, policy jsonb
)
returns table (
  q integer,
  r integer,
  label text,
  halves integer,
  n integer,
  previous integer,
  watcher text,
  points text[]
)
language plpgsql stable rows 100
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  if _reached_by.options ->> 'as' = 'advance' then
    return query
    with party as materialized (
      select *
      from ccp._party(
        _reached_by.position_id, _reached_by.unit, _reached_by.options, _reached_by.conditions, _reached_by.policy
      )
    )
    select
      party.q,
      party.r,
      party.label,
      0,
      1,
      null::integer,
      null::text,
      null::text[]
    from party
    union all
    select
      goal.q,
      goal.r,
      goal.label,
      0,
      (1 + row_number() over (order by goal.q, goal.r))::integer,
      1,
      null,
      null
    from party
    cross join lateral ccp._advance_goals(
      _reached_by.position_id, party.map_id, party.q, party.r, party.side
    ) as goal
    where not goal.blaze
      and party.apart is null;
  else
    return query
    select *
    from ccp._reached(
      _reached_by.position_id, _reached_by.unit, _reached_by.options, _reached_by.conditions, _reached_by.policy
    );
  end if;
end
$$;

comment on function ccp._reached_by(bigint, text, jsonb, jsonb, jsonb) is
'Every hex that a Move or an Advance can end in, and the unit''s own first; lines of sight as ccp._reached tells them.';

create or replace function ccp.reach(
  position_id bigint,
  unit text,
  options jsonb default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns table (q integer, r integer, label text, halves integer)
language sql stable rows 100
as $$
  select
    reached.q,
    reached.r,
    reached.label,
    reached.halves
  from ccp._reached_by(reach.position_id, reach.unit, reach.options, reach.conditions, reach.policy) as reached
  where reached.halves is not null
  order by reached.halves, reached.q, reached.r
$$;

comment on function ccp.reach(bigint, text, jsonb, jsonb, jsonb) is
'Every hex that a unit can end its Move or Advance in, with the least cost in halves of a point; its own at 0.';

create or replace function ccp.reach_path(
  position_id bigint,
  unit text,
  "to" text,
  options jsonb default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns table (n integer, q integer, r integer, label text, halves integer)
language sql stable rows 10
as $$
  with recursive reached as materialized (
    select *
    from ccp._reached_by(
      reach_path.position_id, reach_path.unit, reach_path.options, reach_path.conditions, reach_path.policy
    )
  ),
  way as (
    select
      reached.*,
      1 as back
    from reached
    where reached.label = reach_path."to"
    union all
    select
      reached.*,
      way.back + 1
    from way
    inner join reached on reached.n = way.previous
  )
  select
    (row_number() over (order by way.back desc))::integer,
    way.q,
    way.r,
    way.label,
    way.halves
  from way
  order by way.back desc
$$;

comment on function ccp.reach_path(bigint, text, text, jsonb, jsonb, jsonb) is
'A cheapest way to a hex, the unit''s own hex first, with what has been spent; no row where there is none.';

create or replace function ccp.reach_reasons(
  position_id bigint,
  unit text,
  options jsonb default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.move_step
language sql stable rows 20
as $$
  with party as materialized (
    select
      party.*,
      coalesce(reach_reasons.options ->> 'as', 'move') = 'advance' as advances
    from ccp._party(
      reach_reasons.position_id, reach_reasons.unit, reach_reasons.options, reach_reasons.conditions,
      reach_reasons.policy
    ) as party
  ),
  asked as materialized (
    select *
    from ccp._reached_by(
      reach_reasons.position_id, reach_reasons.unit, reach_reasons.options, reach_reasons.conditions,
      reach_reasons.policy
    )
  ),
  reached as materialized (
    select asked.* from asked where asked.halves is not null
  ),
  line as materialized (
    select asked.* from asked where asked.halves is null
  ),
  step as materialized (
    select
      reached.q as fq,
      reached.r as fr,
      hex.q as tq,
      hex.r as tr,
      hex.label,
      reached.previous is null as first,
      lattice.distance(party.q, party.r, hex.q, hex.r) <= 1 as near,
      (row_number() over (order by reached.n, next.direction))::integer as i
    from party
    cross join reached
    cross join lateral lattice.neighbours(reached.q, reached.r) as next
    inner join public.hex on hex.map_id = party.map_id and hex.q = next.nq and hex.r = next.nr
    where not party.advances
  ),
  priced as materialized (
    select
      entry.*,
      step.label,
      step.first,
      step.near,
      step.fq,
      step.fr,
      step.tq,
      step.tr
    from party
    cross join (
      select
        array_agg(step.fq order by step.i) as fqs,
        array_agg(step.fr order by step.i) as frs,
        array_agg(step.tq order by step.i) as tqs,
        array_agg(step.tr order by step.i) as trs
      from step
    ) as way
    cross join lateral ccp._entries(
      reach_reasons.position_id, party.map_id, party.side, party.night, party.trench, party.bridge,
      way.fqs, way.frs, way.tqs, way.trs
    ) as entry
    inner join step on step.i = entry.i
  ),
  -- nobody goes on from wire or water, nor farther than one hex out of wire
  entry as materialized (
    select priced.*
    from priced
    where priced.first
      or (
        not (select bool_or(start.first and start.out_of_wire) from priced as start)
        and (priced.fq, priced.fr) not in (
          select
            halt.tq,
            halt.tr
          from priced as halt
          where halt.into_wire
            or (halt.word = 'all' and not halt.bridge)
        )
      )
  ),
  told as (
    select
      1 as part,
      allowance.n,
      allowance.rule,
      allowance.at,
      allowance.effect,
      allowance.note,
      allowance.point,
      allowance.halves
    from party
    cross join lateral ccp._allowance_told(
      reach_reasons.position_id, reach_reasons.unit, reach_reasons.options, reach_reasons.policy
    ) as allowance
    where not party.advances
    union all
    select distinct
      1,
      50,
      '3.3.1.2',
      reached.label,
      to_char(post.led / 2, 'FMSG9'),
      'command of the leaders who stay there, for squads and teams that come by',
      case when post.broken is not null then 'ccp-29' end,
      post.led
    from party
    cross join lateral ccp._posts(reach_reasons.position_id, party.side, party.ids, reach_reasons.policy) as post
    inner join reached on reached.q = post.q and reached.r = post.r and reached.previous is not null
    where party.squads is not null
      and party.told is null
      and not party.advances
      and (post.led > 0 or post.broken is not null)
      and exists (select from entry where entry.fq = post.q and entry.fr = post.r)
    union all
    select
      1,
      60,
      '3.3.1.2',
      null,
      'unknown',
      format('the command number of %s', coalesce(party.untold_command, min(post.untold))),
      null,
      null
    from party
    left join lateral ccp._posts(
      reach_reasons.position_id, party.side, party.ids, reach_reasons.policy
    ) as post on exists (select from reached where reached.q = post.q and reached.r = post.r)
    where party.squads is not null
      and party.told is null
      and not party.advances
    group by party.untold_command
    having coalesce(party.untold_command, min(post.untold)) is not null
    union all
    select distinct
      2,
      fact.n,
      fact.rule,
      null,
      'cost',
      fact.note,
      fact.point,
      fact.halves
    from entry
    left join (
      select
        line.q,
        line.r,
        bool_or(line.watcher is not null) as seen
      from line
      group by line.q, line.r
    ) as road on road.q = entry.tq and road.r = entry.tr
    cross join lateral (
      values
      (
        coalesce(entry.unseen, entry.halves) = entry.halves or (entry.unseen < entry.halves and road.seen), 1,
        entry.rule,
        case
          when entry.way = 'trench' then 'between trench and trench, bunker or pillbox'
          when entry.way = 'bridge' then 'over the bridge'
          when entry.way = 'terrain' then replace(entry.terrain, '_', ' ')
          else format('along the %s', entry.way)
        end,
        entry.point, entry.halves
      ),
      (
        entry.unseen < entry.halves and not road.seen, 2, entry.rule,
        format('along the %s, where no enemy sees it', entry.way), entry.point, entry.unseen
      ),
      (entry.dark > 0, 3, '18.2', 'at night', entry.point, entry.dark),
      (entry.uphill > 0, 4, 'T89.1', 'for each level up', null, 2)
    ) as fact (holds, n, rule, note, point, halves)
    where fact.holds
      and entry.word is null
    union all
    select distinct
      3,
      fact.n,
      fact.rule,
      entry.label,
      fact.effect,
      fact.note,
      null,
      null::integer
    from entry
    cross join lateral (
      values
      (entry.enemy is not null, 1, 'O29.4', 'forbids', 'enemy-occupied'),
      (entry.word = 'prohibited', 2, 'O29.4', 'forbids', 'a blaze is impassable'),
      (
        entry.word = 'all', 3, 'T99', case when entry.near then 'stops' else 'forbids' end,
        'a water barrier is entered only as the first and last hex of a move, for all points'
      ),
      (entry.into_wire, 4, 'F107.2', 'stops', 'all points are lost in the wire'),
      (entry.first and entry.out_of_wire, 4, 'F107.2', 'stops', 'out of wire it stops in the first hex'),
      (
        entry.word is null and entry.halves is null, 5, entry.rule, 'unknown',
        format('the other terrain in the bridge hex %s', entry.label)
      )
    ) as fact (holds, n, rule, effect, note)
    where fact.holds
    union all
    select distinct
      4,
      1,
      'T94',
      hex.label,
      case when line.watcher is null then 'unseen' else 'seen' end,
      'a line of sight to this hex could be read otherwise',
      touched.point,
      null::integer
    from party
    cross join line
    cross join lateral unnest(line.points) as touched (point)
    inner join public.hex on hex.map_id = party.map_id and hex.q = line.q and hex.r = line.r
    union all
    select
      5,
      fact.n,
      fact.rule,
      party.label,
      fact.effect,
      fact.note,
      null,
      null
    from party
    cross join lateral (
      select count(*) as hexes
      from reached
      where reached.previous is not null
    ) as found
    cross join lateral (
      values
      (
        party.apart is not null, 1, case when party.advances then 'O22.1' else 'O29.2' end, 'forbids',
        format('%s does not begin in this hex and cannot move along', party.apart)
      ),
      (
        not party.advances and found.hexes = 0 and party.apart is null and (party.told is not null or party.untold is null),
        2, 'O29', 'forbids', 'no hex can be entered: it cannot be activated to Move'
      ),
      (
        party.advances and party.apart is null, 3, 'O22.1', 'advances',
        'one hex, whatever it costs and whoever is there, but for a blaze'
      ),
      (
        party.advances and party.apart is null and exists (
          select from reached where lattice.distance(party.q, party.r, reached.q, reached.r) > 1
        ), 4, 'F102.3', 'tunnel', 'from inside its cave straight to another'
      )
    ) as fact (holds, n, rule, effect, note)
    where fact.holds
  )
  select
    told.rule,
    null::text,
    told.at,
    told.effect,
    told.note,
    told.point,
    told.halves,
    null::integer,
    null::text
  from told
  order by told.part, told.n, told.rule, told.at, told.note
$$;

comment on function ccp.reach_reasons(bigint, text, jsonb, jsonb, jsonb) is
'The rules that shape a unit''s reach: its movement and what changed it, each cost applied, what shuts hexes out.';
