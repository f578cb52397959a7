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

drop type if exists ccp.region cascade;
create type ccp.region as (
  radius integer,
  width integer,
  origin integer,
  labels text array,
  qs integer array,
  rs integer array,
  levels integer array,
  ground integer array,
  ends boolean array,
  allowances integer array,
  bridge_qs integer array,
  bridge_rs integer array
);

comment on type ccp.region is
'The ground around a party as a square grid of cells, column by column; the party is in cell `origin`.';
comment on column ccp.region.ground is
'Halves to enter by terrain; 0: only along a path or bridge, -1: not at all, -2: for all points';
comment on column ccp.region.ends is 'Whether a move ends there';
comment on column ccp.region.allowances is 'What the party has in all in that cell, in halves';

drop type if exists ccp.odd_steps cascade;
create type ccp.odd_steps as (
  slots integer array,
  cells integer array,
  goals integer array,
  costs integer array,
  unseens integer array,
  roads boolean
);

comment on type ccp.odd_steps is
'Steps of a region along paths, trenches and bridges: from cell to cell, the cost and that where no enemy sees the hex,
and whether sight bears on any.';
comment on column ccp.odd_steps.slots is 'Number of the step among the six of each cell';

drop type if exists ccp.reached_hex cascade;
create type ccp.reached_hex as (
  q integer,
  r integer,
  label text,
  halves integer,
  n integer,
  previous integer,
  watcher text,
  points text array
);

comment on type ccp.reached_hex is
'A hex that a Move can end in: the least cost, the hex before it on the way; or, without a cost, a line of sight on which
the cost of a road hex hangs: who sees it, and the points that the line touches.';

create or replace function ccp._region(party ccp.party, posts ccp.post[], radius integer)
returns ccp.region
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  region ccp.region;
  in_wire boolean;
  stays ccp.post;
begin
  select
    _region.radius,
    2 * _region.radius + 3,
    (_region.radius + 1) * (2 * _region.radius + 3) + _region.radius + 2,
    array_agg(ground.label order by ground.i),
    array_agg(ground.q order by ground.i),
    array_agg(ground.r order by ground.i),
    array_agg(coalesce(ground.level, 0) order by ground.i),
    array_agg(
      case
        when ground.label is null or ground.enemy is not null or ground.word = 'prohibited' then -1
        when lattice.distance(party.q, party.r, ground.q, ground.r) > _region.radius then -1
        when ground.word = 'all' then -2
        else coalesce(ground.halves + ground.dark, 0)
      end order by ground.i
    ),
    array_agg(ground.wire order by ground.i),
    array_fill(ccp._allowance(party, 0), array[count(*)::integer]),
    array_agg(ground.q order by ground.i) filter (where ground.bridge is not null),
    array_agg(ground.r order by ground.i) filter (where ground.bridge is not null)
  into region
  from (
    select
      array_agg(across.q order by across.q, down.r) as qs,
      -- the corners of the grid, where nobody comes, are looked up nowhere
      array_agg(
        case when lattice.distance(across.q, down.r, party.q, party.r) <= _region.radius + 1 then down.r end
        order by across.q, down.r
      ) as rs
    -- with a rim of closed cells, so that no neighbour is outside the grid
    from generate_series(party.q - _region.radius - 1, party.q + _region.radius + 1) as across (q)
    cross join generate_series(party.r - _region.radius - 1, party.r + _region.radius + 1) as down (r)
  ) as grid
  cross join lateral ccp._ground(party, grid.qs, grid.rs) as ground;
  -- F107.2: out of wire a move ends in the first hex
  if region.ends[region.origin] then
    region.ends := array_fill(true, array[cardinality(region.ground)]);
  end if;
  region.ends[region.origin] := false;
  foreach stays in array posts loop
    if lattice.distance(stays.q, stays.r, party.q, party.r) <= _region.radius then
      region.allowances[region.origin + (stays.q - party.q) * region.width + stays.r - party.r]
        := ccp._allowance(party, stays.led);
    end if;
  end loop;
  return region;
end
$$;

comment on function ccp._region(ccp.party, ccp.post[], integer) is
'The ground around a party, with what each cell costs to enter and what the party may spend in it.';

create or replace function ccp._odd_pairs(party ccp.party, region ccp.region)
returns table (q1 integer, r1 integer, q2 integer, r2 integer)
language sql stable rows 20
as $$
  with fort as materialized (
    select distinct
      marker.q,
      marker.r
    from public.marker
    where marker.position_id = (party.state).position_id
      and marker.kind in ('trench', 'bunker', 'pillbox')
      and lattice.distance(party.q, party.r, marker.q, marker.r) <= region.radius
  ),
  bridge as materialized (
    select * from unnest(region.bridge_qs, region.bridge_rs) as bridge (q, r)
  )
  select hexes.*
  from ccp._crossings((party.state).map_id, party.q, party.r, region.radius) as crossing
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
$$;

comment on function ccp._odd_pairs(ccp.party, ccp.region) is
'Hexes beside each other in a region with a path, a trench or a bridge from one to the other.';

create or replace function ccp._odd_steps(party ccp.party, region ccp.region)
returns ccp.odd_steps
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  odd ccp.odd_steps;
begin
  with pair as materialized (
    select * from ccp._odd_pairs(party, region)
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
    array_agg(6 * start.cell + step.direction - 6),
    array_agg(start.cell),
    array_agg(start.cell + (ccp._offsets(region.width))[step.direction]),
    array_agg(cost.seen),
    array_agg(coalesce(cost.unseen, cost.seen)),
    bool_or(cost.unseen < cost.seen)
  into odd
  from (
    select
      array_agg(step.fq order by step.i) as fqs,
      array_agg(step.fr order by step.i) as frs,
      array_agg(step.tq order by step.i) as tqs,
      array_agg(step.tr order by step.i) as trs
    from step
  ) as way
  cross join lateral ccp._entries(party, way.fqs, way.frs, way.tqs, way.trs) as entry
  inner join step on step.i = entry.i
  cross join lateral (
    select region.origin + (step.fq - party.q) * region.width + step.fr - party.r as cell
  ) as start
  cross join lateral (
    select
      entry.halves + entry.dark + entry.uphill as seen,
      entry.unseen + entry.dark + entry.uphill as unseen
  ) as cost
  where way.fqs is not null
    and entry.word is null
    and entry.enemy is null
    and entry.halves is not null
    and lattice.distance(step.fq, step.fr, party.q, party.r) <= region.radius;
  return odd;
end
$$;

comment on function ccp._odd_steps(ccp.party, ccp.region) is
'Every step of a region along a path, a trench or a bridge, with its whole cost, and that where no enemy sees it.';

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

create or replace function ccp._wave(region ccp.region, odd integer[])
returns table (n integer, halves integer, previous integer)
language plpgsql immutable rows 100
as $$
#variable_conflict use_variable
declare
  -- a variable is read faster than the field of a row
  origin constant integer := region.origin;
  levels constant integer[] := region.levels;
  ground constant integer[] := region.ground;
  allowances constant integer[] := region.allowances;
  ends constant boolean[] := region.ends;
  offsets constant integer[] := ccp._offsets(region.width);
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
  -- T99: for all points, as the first and last hex; but along a path or bridge nobody goes into the water (T84)
  for direction in 1 .. 6 loop
    continue when strange and odd[6 * origin + direction - 6] >= 0;
    goal := origin + offsets[direction];
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

comment on function ccp._wave(ccp.region, integer[]) is
'Least cost from the party''s cell to every cell within the allowances, and the cell before it on a cheapest way.';

create or replace function ccp._road_lines(
  party ccp.party, region ccp.region, odd ccp.odd_steps, steps integer[], told boolean
)
returns table (cell integer, q integer, r integer, watcher text, points text[])
language plpgsql stable rows 10
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  cells integer[] := array(
    select distinct step.goal
    from ccp._wave(region, steps) as wave
    inner join unnest(odd.cells, odd.goals, odd.costs, odd.unseens) as step (cell, goal, cost, unseen)
      on step.cell = wave.n and step.unseen < step.cost
    where wave.halves + step.unseen <= region.allowances[wave.n]
      and not region.ends[wave.n]
    order by 1
  );
  qs integer[] := array(select region.qs[road.cell] from unnest(cells) with ordinality as road (cell, n) order by road.n);
  rs integer[] := array(select region.rs[road.cell] from unnest(cells) with ordinality as road (cell, n) order by road.n);
begin
  if told then
    return query
    select road.cell, road.q, road.r, line.watcher, line.points
    from unnest(cells, qs, rs) as road (cell, q, r)
    left join ccp._watched(party, qs, rs) as line on line.q = road.q and line.r = road.r;
  else
    return query
    select road.cell, road.q, road.r, line.watcher, null::text[]
    from unnest(cells, qs, rs) as road (cell, q, r)
    left join ccp._watchers(party, qs, rs) as line on line.q = road.q and line.r = road.r;
  end if;
end
$$;

comment on function ccp._road_lines(ccp.party, ccp.region, ccp.odd_steps, integer[], boolean) is
'The lines of sight to the road hexes that could be entered if no enemy saw them; one without a watcher where there is no
enemy. To be told: with the points that they touch, else one line a hex (T94).';

create or replace function ccp._reached(party ccp.party, told boolean)
returns setof ccp.reached_hex
language plpgsql stable rows 100
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  posts ccp.post[] := array(select post from ccp._posts(party) as post);
  -- a step costs a point, but half of one along an unseen road
  most integer := ccp._allowance(party, coalesce((select max(post.led) from unnest(posts) as post), 0));
  -- who wants to know only whether it can move at all looks at the hexes beside it
  beside boolean := coalesce((party.options ->> 'beside')::boolean, false);
  radius integer := case when beside then 1 else greatest(1, most / 2) end;
  region ccp.region;
  odd ccp.odd_steps;
  steps integer[];
  seen integer[];
  lines jsonb := '[]';
begin
  if most is null or party.apart is not null then
    return;
  end if;
  loop
    region := ccp._region(party, posts, radius);
    odd := ccp._odd_steps(party, region);
    steps := ccp._overriding(odd.slots, odd.unseens, cardinality(region.ground));
    exit when beside or odd.roads is not true or radius >= most;
    -- as if no enemy saw any road: the region is too small if one could go on at its edge
    exit when not exists (
      select
      from ccp._wave(region, steps) as wave
      where wave.halves < region.allowances[wave.n]
        and lattice.distance(region.qs[wave.n], region.rs[wave.n], party.q, party.r) = radius
    );
    radius := least(most, radius + greatest(2, most / 4));
  end loop;
  if odd.roads then
    select
      coalesce(array_agg(line.cell) filter (where line.watcher is not null), '{}'),
      coalesce(
        jsonb_agg(jsonb_build_object('q', line.q, 'r', line.r, 'watcher', line.watcher, 'points', line.points)), '[]'
      )
    into seen, lines
    from ccp._road_lines(party, region, odd, steps, told) as line;
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
  from ccp._wave(region, steps) as wave
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

comment on function ccp._reached(ccp.party, boolean) is
'Every hex that a Move can end in, its own among them, with the least cost and the hex before it on the way; and every
line of sight that was asked about for it.';

create or replace function ccp._reached_by(party ccp.party, told boolean)
returns setof ccp.reached_hex
language plpgsql stable rows 100
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  if party.options ->> 'as' = 'advance' then
    return query
    select
      party.q,
      party.r,
      party.label,
      0,
      1,
      null::integer,
      null::text,
      null::text[]
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
    from ccp._advance_goals(party) as goal
    where not goal.blaze
      and party.apart is null;
  else
    return query select * from ccp._reached(party, told);
  end if;
end
$$;

comment on function ccp._reached_by(ccp.party, boolean) is
'Every hex that a Move or an Advance can end in, and the unit''s own first; lines of sight as ccp._reached tells them, with
the points that they touch where these are to be told.';

create or replace function ccp._asked_party(
  position_id bigint, unit text, options jsonb, conditions jsonb, policy jsonb
)
returns ccp.party
language plpgsql stable
as $$
declare
  state positions.state;
begin
  select * into state from positions.state(_asked_party.position_id, _asked_party.conditions, _asked_party.policy);
  return ccp._party(state, _asked_party.unit, _asked_party.options);
end
$$;

comment on function ccp._asked_party(bigint, text, jsonb, jsonb, jsonb) is
'Those of whom a question about reach is asked.';

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
  from ccp._reached_by(
    ccp._asked_party(reach.position_id, reach.unit, reach.options, reach.conditions, reach.policy), false
  ) as reached
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
      ccp._asked_party(
        reach_path.position_id, reach_path.unit, reach_path.options, reach_path.conditions, reach_path.policy
      ),
      false
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

drop type if exists ccp.reach_entry cascade;
create type ccp.reach_entry as (
  entry ccp.entry,
  label text,
  first boolean,
  near boolean,
  fq integer,
  fr integer,
  tq integer,
  tr integer,
  seen boolean
);

comment on type ccp.reach_entry is
'A step from a hex that is reached to one beside it: whether it is the first, whether it goes beside the party, whether
an enemy sees the road (null: nobody asked).';

create or replace function ccp._reach_entries(party ccp.party, reached ccp.reached_hex[])
returns setof ccp.reach_entry
language sql stable rows 100
as $$
  with step as materialized (
    select
      hex.q as fq,
      hex.r as fr,
      goal.q as tq,
      goal.r as tr,
      goal.label,
      hex.previous is null as first,
      lattice.distance(party.q, party.r, goal.q, goal.r) <= 1 as near,
      (row_number() over (order by hex.n, next.direction))::integer as i
    from unnest(reached) as hex
    cross join lateral lattice.neighbours(hex.q, hex.r) as next
    inner join public.hex as goal on goal.map_id = (party.state).map_id and goal.q = next.nq and goal.r = next.nr
    where hex.halves is not null
  ),
  road as materialized (
    select
      line.q,
      line.r,
      bool_or(line.watcher is not null) as seen
    from unnest(reached) as line
    where line.halves is null
    group by line.q, line.r
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
    from (
      select
        array_agg(step.fq order by step.i) as fqs,
        array_agg(step.fr order by step.i) as frs,
        array_agg(step.tq order by step.i) as tqs,
        array_agg(step.tr order by step.i) as trs
      from step
    ) as way
    cross join lateral ccp._entries(party, way.fqs, way.frs, way.tqs, way.trs) as entry
    inner join step on step.i = entry.i
  )
  select
    row(
      priced.i, priced.way, priced.terrain, priced.rule, priced.halves, priced.unseen, priced.dark, priced.uphill,
      priced.word, priced.enemy, priced.bridge, priced.out_of_wire, priced.into_wire, priced.out_of_mines,
      priced.into_mines, priced.point
    )::ccp.entry,
    priced.label,
    priced.first,
    priced.near,
    priced.fq,
    priced.fr,
    priced.tq,
    priced.tr,
    road.seen
  from priced
  left join road on road.q = priced.tq and road.r = priced.tr
  -- nobody goes on from wire or water, nor farther than one hex out of wire
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
$$;

comment on function ccp._reach_entries(ccp.party, ccp.reached_hex[]) is
'Every step from the hexes that are reached to those beside them, with what it costs and meets.';

create or replace function ccp._reach_command_steps(
  party ccp.party, reached ccp.reached_hex[], entries ccp.reach_entry[]
)
returns setof ccp.order_step
language sql stable rows 2
as $$
  with post as materialized (
    select
      post.*,
      hex.label,
      hex.previous is not null as entered
    from ccp._posts(party) as post
    inner join unnest(reached) as hex on hex.q = post.q and hex.r = post.r and hex.halves is not null
  )
  select distinct
    1,
    50,
    '3.3.1.2',
    post.label,
    to_char(post.led / 2, 'FMSG9'),
    'command of the leaders who stay there, for squads and teams that come by',
    case when post.broken is not null then 'ccp-29' end,
    post.led,
    null::text
  from post
  where post.entered
    and (post.led > 0 or post.broken is not null)
    and exists (select from unnest(entries) as entry where entry.fq = post.q and entry.fr = post.r)
  union all
  select
    1,
    60,
    '3.3.1.2',
    null,
    'unknown',
    format('the command number of %s', doubtful.code),
    null,
    null,
    null
  from (select coalesce(party.untold_command, min(post.untold)) as code from post) as doubtful
  where doubtful.code is not null
$$;

comment on function ccp._reach_command_steps(ccp.party, ccp.reached_hex[], ccp.reach_entry[]) is
'What leaders who stay where they are add to squads and teams that come by, and whose command is not told (3.3.1.2).';

create or replace function ccp._reach_cost_steps(entry ccp.entry, seen boolean)
returns setof ccp.order_step
language sql stable rows 2
as $$
  select
    2,
    fact.m,
    fact.rule,
    null,
    'cost',
    fact.note,
    fact.point,
    fact.halves,
    null
  from (
    values
    (
      coalesce(entry.unseen, entry.halves) = entry.halves or (entry.unseen < entry.halves and seen), 1,
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
      entry.unseen < entry.halves and not seen, 2, entry.rule,
      format('along the %s, where no enemy sees it', entry.way), entry.point, entry.unseen
    ),
    (entry.dark > 0, 3, '18.2', 'at night', entry.point, entry.dark),
    (entry.uphill > 0, 4, 'T89.1', 'for each level up', null, 2)
  ) as fact (holds, m, rule, note, point, halves)
  where fact.holds
    and entry.word is null
$$;

comment on function ccp._reach_cost_steps(ccp.entry, boolean) is
'The parts of a step''s cost, as they are told of a whole reach (O29, 18.2, T89.1, T94).';

create or replace function ccp._reach_bar_steps(entry ccp.entry, label text, first boolean, near boolean)
returns setof ccp.order_step
language sql stable rows 1
as $$
  select
    3,
    fact.m,
    fact.rule,
    _reach_bar_steps.label,
    fact.effect,
    fact.note,
    null,
    null::integer,
    null
  from (
    values
    (entry.enemy is not null, 1, 'O29.4', 'forbids', 'enemy-occupied'),
    (entry.word = 'prohibited', 2, 'O29.4', 'forbids', 'a blaze is impassable'),
    (
      entry.word = 'all', 3, 'T99', case when near then 'stops' else 'forbids' end,
      'a water barrier is entered only as the first and last hex of a move, for all points'
    ),
    (entry.into_wire, 4, 'F107.2', 'stops', 'all points are lost in the wire'),
    (first and entry.out_of_wire, 4, 'F107.2', 'stops', 'out of wire it stops in the first hex'),
    (
      entry.word is null and entry.halves is null, 5, entry.rule, 'unknown',
      format('the other terrain in the bridge hex %s', _reach_bar_steps.label)
    )
  ) as fact (holds, m, rule, effect, note)
  where fact.holds
$$;

comment on function ccp._reach_bar_steps(ccp.entry, text, boolean, boolean) is
'What shuts a hex out of a reach, ends the move in it, or leaves it open (O29.4, T99, F107.2).';

create or replace function ccp._reach_whole_steps(party ccp.party, reached ccp.reached_hex[])
returns setof ccp.order_step
language sql stable rows 1
as $$
  select
    5,
    fact.m,
    fact.rule,
    party.label,
    fact.effect,
    fact.note,
    null,
    null::integer,
    null
  from (
    select
      coalesce(party.options ->> 'as', 'move') = 'advance' as advances,
      count(*) filter (where hex.previous is not null) as hexes,
      bool_or(lattice.distance(party.q, party.r, hex.q, hex.r) > 1) as far
    from unnest(reached) as hex
    where hex.halves is not null
  ) as found
  cross join lateral (
    values
    (
      party.apart is not null, 1, case when found.advances then 'O22.1' else 'O29.2' end, 'forbids',
      format('%s does not begin in this hex and cannot move along', party.apart)
    ),
    (
      not found.advances and found.hexes = 0 and party.apart is null
      and (party.points is not null or party.untold is null),
      2, 'O29', 'forbids', 'no hex can be entered: it cannot be activated to Move'
    ),
    (
      found.advances and party.apart is null, 3, 'O22.1', 'advances',
      'one hex, whatever it costs and whoever is there, but for a blaze'
    ),
    (
      found.advances and party.apart is null and found.far, 4, 'F102.3', 'tunnel',
      'from inside its cave straight to another'
    )
  ) as fact (holds, m, rule, effect, note)
  where fact.holds
$$;

comment on function ccp._reach_whole_steps(ccp.party, ccp.reached_hex[]) is
'What is so of a reach as a whole: nobody can move, or it is an Advance (O22.1, O29, F102.3).';

create or replace function ccp.reach_reasons(
  position_id bigint,
  unit text,
  options jsonb default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.move_step
language plpgsql stable rows 20
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  party ccp.party := ccp._asked_party(
    reach_reasons.position_id, reach_reasons.unit, reach_reasons.options, reach_reasons.conditions,
    reach_reasons.policy
  );
  reached ccp.reached_hex[] := array(select hex from ccp._reached_by(party, true) as hex);
  moves boolean := coalesce(reach_reasons.options ->> 'as', 'move') <> 'advance';
  entries ccp.reach_entry[] := '{}';
begin
  if moves then
    entries := array(select goal from ccp._reach_entries(party, reached) as goal);
  end if;
  return query
  select step.rule, null::text, step.at, step.effect, step.note, step.point, step.halves, null::integer, null::text
  from (
    select 1 as i, step.m, step.rule, step.at, step.effect, step.note, step.point, step.halves, step.by
    from ccp._allowance_steps(party) as step
    where moves
    union all
    select *
    from ccp._reach_command_steps(party, reached, entries)
    where moves
      and party.squads is not null
      and party.points is null
    union all
    select distinct step.*
    from unnest(entries) as goal
    cross join lateral ccp._reach_cost_steps(goal.entry, goal.seen) as step
    union all
    select distinct step.*
    from unnest(entries) as goal
    cross join lateral ccp._reach_bar_steps(goal.entry, goal.label, goal.first, goal.near) as step
    union all
    select distinct
      4, 1, 'T94', hex.label, case when line.watcher is null then 'unseen' else 'seen' end,
      'a line of sight to this hex could be read otherwise', touched.point, null::integer, null::text
    from unnest(reached) as line
    cross join lateral unnest(line.points) as touched (point)
    inner join public.hex on hex.map_id = (party.state).map_id and hex.q = line.q and hex.r = line.r
    where line.halves is null
    union all
    select * from ccp._reach_whole_steps(party, reached)
  ) as step
  order by step.i, step.m, step.rule, step.at, step.note, step.effect, step.point, step.halves;
end
$$;

comment on function ccp.reach_reasons(bigint, text, jsonb, jsonb, jsonb) is
'The rules that shape a unit''s reach: its movement and what changed it, each cost applied, what shuts hexes out.';
