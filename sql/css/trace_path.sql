-- needs: css/fire_zone.sql, css/costs.sql, css/command.sql
-- Traces in css (Guam): of leaders (13.1), Support Weapons (12.1, 12.2, 12.4.1) and routed units (8.5.1, 22.3.1).
--
-- A trace is as long as it needs to be, over passable hexes and out of enemy Fire Zones, but
-- for an end that its rule exempts. It is searched in waves over a grid of the whole map, where
-- a cell holds how it was reached: a direction 1 to 6, 0 not yet, -1 shut. What a counter or the
-- rulebook does not tell (-2) is first shut and then, if nothing else helps, open: a trace that
-- is open only then is unknown.

drop type if exists css.shut_hex cascade;
create type css.shut_hex as (
  q integer,
  r integer,
  cause text,
  rule text,
  doubtful boolean
);

comment on type css.shut_hex is
'A hex that a trace cannot go through, and why; doubtful is one that a counter might open.';

create or replace function css._shut(position_id bigint, side text, conditions jsonb, policy jsonb)
returns setof css.shut_hex
language sql stable rows 500
as $$
  with foe as materialized (
    select armed.*
    from public.position
    cross join lateral css._armed(
      position.id, null, null, '{}', positions.readings(position.id, _shut.policy)
    ) as armed
    where position.id = _shut.position_id
      and armed.side <> _shut.side
      and armed.q is not null
  )
  select
    zone.q,
    zone.r,
    'the Fire Zone of ' || zone.by,
    '7.2',
    false
  from (select distinct foe.side from foe) as enemy
  cross join lateral css.side_zone(_shut.position_id, enemy.side, _shut.conditions, _shut.policy) as zone
  where zone.arm = 'unit'
  union all
  select
    fan.q,
    fan.r,
    'the Fire Zone that ' || foe.code || ' may have',
    '7.2',
    true
  from foe
  cross join lateral css.fan(_shut.position_id, 'unit:' || foe.code, foe.most, _shut.conditions, _shut.policy) as fan
  where foe.reach is null
  union all
  -- 9.0: a hex that the enemy holds is not moved into; 6.3: who is inside a cave does not hold it
  select
    foe.q,
    foe.r,
    foe.code,
    '9.0',
    false
  from foe
  where not foe.in_cave and foe.fire_side <> 'marker'
  union all
  select
    marker.q,
    marker.r,
    'a fire',
    '8.8.1',
    false
  from public.marker
  where marker.position_id = _shut.position_id
    and marker.kind = 'on_fire'
    and marker.q is not null
$$;

comment on function css._shut(bigint, text, jsonb, jsonb) is
'Hexes that a trace of a side cannot go through, and why: zones and units of the enemy, fires.';

create or replace function css._road_sides(map_id bigint)
returns bigint[]
-- not in SQL: a query in a scalar function is planned at every call
language plpgsql stable
as $$
begin
  return (
    select array_agg(distinct css._spot(path.qs[link.n] + path.qs[link.n + 1], path.rs[link.n] + path.rs[link.n + 1]))
    from public.path
    cross join lateral generate_series(1, cardinality(path.qs) - 1) as link (n)
    where path.map_id = _road_sides.map_id
  );
end
$$;

comment on function css._road_sides(bigint) is
'The hexsides that roads and trails of a map go across; every kind of path is a Road (6.2.1).';

create or replace function css._passages(
  position_id bigint, mobility text, readings jsonb, roads bigint[], qs integer[], rs integer[]
)
returns table (
  direction integer,
  q integer,
  r integer,
  label text,
  -- passes, forbids or unknown
  effect text,
  rule text,
  note text,
  point text
)
language sql stable rows 100
as $$
  select
    beside.direction,
    hex.q,
    hex.r,
    hex.label,
    case
      when side.note is not null then 'forbids'
      when road.there or ground.effect = 'cost' then 'passes'
      else ground.effect
    end,
    coalesce(side.rule, ground.rule),
    coalesce(side.note, ground.note),
    case when side.note is null and not road.there then ground.point end
  from public.position
  cross join unnest(_passages.qs, _passages.rs) as start (q, r)
  cross join lateral lattice.neighbours(start.q, start.r) as beside
  inner join public.hex on hex.map_id = position.map_id and hex.q = beside.nq and hex.r = beside.nr
  cross join lateral (
    select coalesce(css._spot(start.q + beside.nq, start.r + beside.nr) = any(_passages.roads), false) as there
  ) as road
  inner join css._terrain_costs(_passages.mobility, false, _passages.readings) as ground
    on ground.terrain = case
      -- 8.8.1: burnt ground is clear
      when exists (
        select
        from public.marker
        where marker.position_id = _passages.position_id
          and marker.q = hex.q
          and marker.r = hex.r
          and marker.kind = 'fire_cleared'
      ) then 'clear'
      else css._ground(hex.terrain, hex.features)
    end
  left join lateral (
    select
      crossing.rule,
      crossing.note
    from public.hexside
    inner join css._crossings(_passages.mobility, false, false) as crossing
      on crossing.kind = hexside.kind and crossing.along = road.there
    where hexside.map_id = position.map_id
      and hexside.x = start.q + beside.nq
      and hexside.y = start.r + beside.nr
      and crossing.effect = 'forbids'
    order by crossing.kind
    limit 1
  ) as side on true
  where position.id = _passages.position_id
$$;

comment on function css._passages(bigint, text, jsonb, bigint[], integer[], integer[]) is
'All steps out of some hexes for a kind of mobility: which pass, which are forbidden, of which nothing is printed.';

drop type if exists css.trace_grid cascade;
create type css.trace_grid as (
  q0 integer,
  r0 integer,
  height integer,
  cells integer
);

comment on type css.trace_grid is
'The grid of a map that a trace is searched on: its corner, the height of a column, and how many cells.';

create or replace function css._trace_grid(position_id bigint)
returns setof css.trace_grid
language sql stable rows 1
as $$
  select
    min(hex.q),
    min(hex.r),
    max(hex.r) - min(hex.r) + 1,
    (max(hex.q) - min(hex.q) + 1) * (max(hex.r) - min(hex.r) + 1)
  from public.position
  inner join public.hex on hex.map_id = position.map_id
  where position.id = _trace_grid.position_id
$$;

comment on function css._trace_grid(bigint) is
'The grid of a position''s map.';

create or replace function css._trace_cell(grid css.trace_grid, q integer, r integer)
returns integer
language sql immutable parallel safe
return (q - grid.q0) * grid.height + r - grid.r0 + 1;

comment on function css._trace_cell(css.trace_grid, integer, integer) is
'The number of a hex in the grid of a map.';

drop type if exists css.tracer cascade;
create type css.tracer as (
  position_id bigint,
  owner text,
  start_q integer,
  start_r integer,
  start_label text,
  target_q integer,
  target_r integer,
  target_label text,
  mobility text,
  rule text,
  start_free boolean,
  target_free boolean,
  note text
);

comment on type css.tracer is
'Who traces, from where to where, over what, and by which rule.';
comment on column css.tracer.mobility is 'As which kind of unit it goes; null is not told';
comment on column css.tracer.start_free is 'Whether its first hex may be in an enemy zone';
comment on column css.tracer.target_free is 'Whether its last hex may be in an enemy zone';

drop type if exists css.tracer_way cascade;
create type css.tracer_way as (
  map_id bigint,
  roads bigint array,
  grounds text array,
  burnt bigint array,
  walls text array,
  walls_along text array
);

comment on type css.tracer_way is
'What a trace goes over: hexsides with roads, terrain that is open to it, burnt hexes, hexsides that stop it off a road and along one.';

create or replace function css._tracer_way(tracer css.tracer, readings jsonb, dare boolean)
returns css.tracer_way
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
declare
  way css.tracer_way;
begin
  select position.map_id, css._road_sides(position.map_id) into way.map_id, way.roads
  from public.position
  where position.id = tracer.position_id;
  way.grounds := array(
    select ground.terrain
    from css._terrain_costs(tracer.mobility, false, _tracer_way.readings) as ground
    where ground.effect = 'cost' or (ground.effect = 'unknown' and _tracer_way.dare)
  );
  if 'clear' = any(way.grounds) then
    -- 8.8.1: burnt ground is clear
    way.burnt := array(
      select css._spot(marker.q, marker.r)
      from public.marker
      where marker.position_id = tracer.position_id and marker.kind = 'fire_cleared' and marker.q is not null
    );
  end if;
  select
    array_agg(crossing.kind) filter (where not crossing.along),
    array_agg(crossing.kind) filter (where crossing.along)
  into way.walls, way.walls_along
  from css._crossings(tracer.mobility, false, false) as crossing
  where crossing.effect = 'forbids';
  way.walls := coalesce(way.walls, '{}');
  way.walls_along := coalesce(way.walls_along, '{}');
  return way;
end
$$;

comment on function css._tracer_way(css.tracer, jsonb, boolean) is
'The ground that a trace goes over, found once for all its hexes; a daring one takes ground whose cost is not told.';

create or replace function css._trace(tracer css.tracer, readings jsonb, grid integer[], dare boolean)
returns integer[]
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  size css.trace_grid;
  target integer;
  way css.tracer_way := css._tracer_way(tracer, _trace.readings, _trace.dare);
  qs integer[] := array[tracer.start_q];
  rs integer[] := array[tracer.start_r];
  found_directions integer[];
  came integer[] := grid;
begin
  select * into size from css._trace_grid(tracer.position_id);
  target := css._trace_cell(size, tracer.target_q, tracer.target_r);
  while cardinality(qs) > 0 and came[target] <= 0 loop
    select
      coalesce(array_agg(wave.q), '{}'),
      coalesce(array_agg(wave.r), '{}'),
      array_agg(wave.direction)
    into qs, rs, found_directions
    from (
      -- of several ways into a hex the first direction: always the same answer
      select distinct on (hex.q, hex.r)
        hex.q,
        hex.r,
        beside.direction
      from unnest(qs, rs) as start (q, r)
      cross join lateral lattice.neighbours(start.q, start.r) as beside
      inner join public.hex on hex.map_id = way.map_id and hex.q = beside.nq and hex.r = beside.nr
      cross join lateral (
        select
          came[(hex.q - size.q0) * size.height + hex.r - size.r0 + 1] as state,
          coalesce(css._spot(start.q + hex.q, start.r + hex.r) = any(way.roads), false) as road
      ) as cell
      where (cell.state = 0 or (cell.state = -2 and _trace.dare))
        and (
          cell.road or css._ground(hex.terrain, hex.features) = any(way.grounds)
          or coalesce(css._spot(hex.q, hex.r) = any(way.burnt), false)
        )
        and not exists (
          select
          from public.hexside
          where hexside.map_id = way.map_id
            and hexside.x = start.q + hex.q
            and hexside.y = start.r + hex.r
            and hexside.kind = any(case when cell.road then way.walls_along else way.walls end)
        )
      order by hex.q, hex.r, beside.direction
    ) as wave;
    for n in 1..cardinality(qs) loop
      came[css._trace_cell(size, qs[n], rs[n])] := found_directions[n];
    end loop;
  end loop;
  return came;
end
$$;

comment on function css._trace(css.tracer, jsonb, integer[], boolean) is
'How every hex of a map was reached, wave by wave, until the target is or nothing more can be.';

create or replace function css._way_back(tracer css.tracer, came integer[])
returns text[]
language plpgsql stable
as $$
declare
  size css.trace_grid;
  place_q integer := tracer.target_q;
  place_r integer := tracer.target_r;
  path text[];
begin
  select * into size from css._trace_grid(tracer.position_id);
  loop
    path := (
      select hex.label
      from public.position
      inner join public.hex on hex.map_id = position.map_id and hex.q = place_q and hex.r = place_r
      where position.id = tracer.position_id
    ) || path;
    exit when place_q = tracer.start_q and place_r = tracer.start_r;
    select
      2 * place_q - step.nq,
      2 * place_r - step.nr
    into place_q, place_r
    from lattice.neighbours(place_q, place_r) as step
    where step.direction = came[css._trace_cell(size, place_q, place_r)];
  end loop;
  return path;
end
$$;

comment on function css._way_back(css.tracer, integer[]) is
'The way that a trace took, by label, both ends included.';

create or replace function css._has_hq(position_id bigint, side text, q integer, r integer)
returns boolean
language sql stable
return exists (
  select
  from public.unit as head
  where head.position_id = _has_hq.position_id
    and head.side = _has_hq.side
    and head.kind = 'hq'
    and head.q = _has_hq.q
    and head.r = _has_hq.r
);

comment on function css._has_hq(bigint, text, integer, integer) is
'Whether an HQ of a side stands in a hex.';

drop type if exists css.trace_ends cascade;
create type css.trace_ends as (
  start_q integer,
  start_r integer,
  target_q integer,
  target_r integer,
  start_label text,
  target_label text,
  start_side text,
  target_side text,
  mover_kind text,
  goal_kind text,
  facts jsonb,
  goal_facts jsonb
);

comment on type css.trace_ends is
'The two ends of a trace: hexes, and the counters that were named.';

create or replace function css._trace_ends(position_id bigint, "from" text, "to" text, traced_for text)
returns css.trace_ends
language plpgsql stable
as $$
declare
  ends css.trace_ends;
begin
  select
    start.q,
    start.r,
    target.q,
    target.r,
    start_hex.label,
    target_hex.label,
    start.side,
    target.side,
    mover.kind,
    goal.kind,
    start.attributes,
    target.attributes
  into ends
  from public.position
  left join positions.place(_trace_ends.position_id, _trace_ends."from") as start on true
  left join positions.place(_trace_ends.position_id, _trace_ends."to") as target on true
  left join public.unit as mover on mover.id = start.unit
  left join public.unit as goal on goal.id = target.unit
  left join public.hex as start_hex
    on start_hex.map_id = position.map_id and start_hex.q = start.q and start_hex.r = start.r
  left join public.hex as target_hex
    on target_hex.map_id = position.map_id and target_hex.q = target.q and target_hex.r = target.r
  where position.id = _trace_ends.position_id;
  -- 22.3.1: who routs while it lands does so from the beach hex, who routs at sea goes back to the transports
  if _trace_ends.traced_for = 'routed' and ends.facts ? 'zone' then
    if ends.facts -> 'zone' ->> 'run' <> 'final_run_in' then
      raise exception '% is at sea: it goes back to its Transport Zone, and nothing is traced (22.3.1)',
        _trace_ends."from" using errcode = 'no_data_found';
    end if;
    select
      beach.q,
      beach.r,
      beach.label
    into ends.start_q, ends.start_r, ends.start_label
    from public.position
    inner join public.hex as beach
      on beach.map_id = position.map_id and beach.label = ends.facts -> 'zone' ->> 'beach'
    where position.id = _trace_ends.position_id;
  end if;
  if ends.start_q is null or ends.target_q is null then
    raise exception 'no trace from % to %: one of them is not on the map', _trace_ends."from", _trace_ends."to"
      using errcode = 'no_data_found';
  end if;
  return ends;
end
$$;

comment on function css._trace_ends(bigint, text, text, text) is
'The two ends of a trace by the names asked; who routs while it lands does so from its beach hex (22.3.1).';

create or replace function css._rout_tracer(tracer css.tracer, ends css.trace_ends, "from" text)
returns css.tracer
language plpgsql stable
as $$
begin
  if ends.mover_kind is null then
    raise exception 'which unit routs? Name it in place of %', _rout_tracer."from" using errcode = 'no_data_found';
  elsif (ends.facts ->> 'in_cave')::boolean then
    raise exception '% is inside a cave, where no unit routs (6.3)', _rout_tracer."from"
      using errcode = 'no_data_found';
  end if;
  tracer.rule := '8.5.1';
  tracer.start_free := true;
  tracer.target_free := false;
  tracer.mobility := ends.facts ->> 'mobility';
  tracer.note := case when ends.facts ? 'zone' then 'from the beach where it lands, ' else '' end
    || 'to an HQ of its Division; only the hex it flees from may be in an enemy zone';
  return tracer;
end
$$;

comment on function css._rout_tracer(css.tracer, css.trace_ends, text) is
'The trace of a unit that routs (8.5.1).';

create or replace function css._weapon_tracer(tracer css.tracer, ends css.trace_ends, traced_for text)
returns css.tracer
language plpgsql stable
as $$
begin
  tracer.start_free := css._has_hq(tracer.position_id, tracer.owner, ends.target_q, ends.target_r)
    and ends.mover_kind is distinct from 'hq';
  tracer.target_free := not tracer.start_free;
  tracer.rule := case when tracer.start_free then '12.2' else '12.1' end;
  tracer.mobility := 'leg';
  -- 12.4.1: tanks
  if _weapon_tracer.traced_for = 'tank_support_weapon'
    or (ends.mover_kind = 'support_weapon' and ends.facts ->> 'target' = 'tank')
    or (ends.goal_kind = 'support_weapon' and ends.goal_facts ->> 'target' = 'tank') then
    tracer.mobility := 'tracked';
    tracer.rule := '12.4.1';
  end if;
  tracer.note := format(
    '%s as a %s unit goes; only the %s hex may be in an enemy zone',
    case when tracer.start_free then 'taken off' else 'attached' end,
    initcap(tracer.mobility),
    case when tracer.start_free then 'first' else 'last' end
  );
  return tracer;
end
$$;

comment on function css._weapon_tracer(css.tracer, css.trace_ends, text) is
'The trace of a Support Weapon that is attached (12.1), taken off (12.2), or a tank (12.4.1).';

create or replace function css._tracer(
  position_id bigint, "from" text, "to" text, traced_for text, side text
)
returns css.tracer
language plpgsql stable
as $$
declare
  ends css.trace_ends := css._trace_ends(_tracer.position_id, _tracer."from", _tracer."to", _tracer.traced_for);
  tracer css.tracer;
begin
  tracer.position_id := _tracer.position_id;
  tracer.owner := coalesce(ends.start_side, ends.target_side, _tracer.side);
  if tracer.owner is null then
    raise exception 'whose trace from % to %? Name a unit, or give a side', _tracer."from", _tracer."to"
      using errcode = 'no_data_found';
  elsif tracer.owner <> coalesce(ends.target_side, tracer.owner) or tracer.owner <> coalesce(_tracer.side, tracer.owner)
  then
    raise exception 'no trace from % to %: they are not of one side', _tracer."from", _tracer."to"
      using errcode = 'no_data_found';
  end if;
  tracer.start_q := ends.start_q;
  tracer.start_r := ends.start_r;
  tracer.start_label := ends.start_label;
  tracer.target_q := ends.target_q;
  tracer.target_r := ends.target_r;
  tracer.target_label := ends.target_label;
  if _tracer.traced_for = 'leader' then
    tracer.rule := '13.1';
    tracer.mobility := 'leg';
    tracer.start_free := true;
    tracer.target_free := true;
    tracer.note := 'as a Leg unit goes; only the first and the last hex may be in an enemy zone';
    return tracer;
  elsif _tracer.traced_for = 'routed' then
    return css._rout_tracer(tracer, ends, _tracer."from");
  elsif _tracer.traced_for not in ('support_weapon', 'tank_support_weapon') or _tracer.traced_for is null then
    raise exception 'nothing is traced for %: it is leader, support_weapon, tank_support_weapon or routed',
      _tracer.traced_for using errcode = 'no_data_found';
  end if;
  tracer := css._weapon_tracer(tracer, ends, _tracer.traced_for);
  if tracer.target_free and not css._has_hq(_tracer.position_id, tracer.owner, ends.start_q, ends.start_r) then
    raise exception
      'a Support Weapon is traced from or to an HQ of its side (12.1, 12.2), and neither % nor % has one',
      _tracer."from", _tracer."to" using errcode = 'no_data_found';
  end if;
  return tracer;
end
$$;

comment on function css._tracer(bigint, text, text, text, text) is
'Who traces, from where to where, over what, and which end may be in an enemy zone.';

create or replace function css._meant(position_id bigint, name text, side text)
returns setof public.unit
language sql stable rows 3
as $$
  select counter.*
  from public.position
  left join public.unit as named on named.position_id = position.id and named.code = positions.spoken(_meant.name)
      and _meant.name not like 'hex:%'
  left join public.hex on hex.map_id = position.map_id and hex.label = positions.spoken(_meant.name)
  inner join public.unit as counter
    on counter.position_id = position.id
      and counter.side = _meant.side
      and case
        when named.id is not null then counter.id = named.id
        else counter.q = hex.q and counter.r = hex.r
      end
  where position.id = _meant.position_id
$$;

comment on function css._meant(bigint, text, text) is
'The unit of that name, or all of a side that stand in the hex of that label.';

create or replace function css._ties(
  position_id bigint, "from" text, "to" text, traced_for text, side text, readings jsonb
)
returns table (rule text, effect text, note text)
language sql stable rows 1
as $$
  select
    tie.rule,
    case
      when tie.own then 'passes'
      when tie.own is null then 'unknown'
      else 'blocks'
    end,
    format(
      case
        when tie.own then '%s is one of its own for %s'
        when tie.own is null then 'whose %s and %s are'
        else '%s is none of its own for %s'
      end,
      other.code,
      traced.code
    )
  from (
    values (_ties."from", _ties."to", true), (_ties."to", _ties."from", false)
  ) as pair (one, two, forth)
  -- who is traced for has to be named; who is at the other end may be told by the hex
  inner join public.unit as traced on traced.position_id = _ties.position_id and traced.code = positions.spoken(pair.one)
      and pair.one not like 'hex:%'
  cross join lateral css._meant(_ties.position_id, pair.two, _ties.side) as other
  cross join lateral css._command_facts(traced.attributes, traced.kind) as his
  cross join lateral css._command_facts(other.attributes, other.kind) as hers
  cross join lateral (
    -- 13.1: a Leader goes to a unit of his Formation, white to white, No-Stripe to any of the Division; 2.0: a
    -- No-Stripe unit is part of every Formation of its Division
    select
      '13.1' as rule,
      case
        when his.stripe = 'none' or (his.stripe = 'formation' and hers.stripe = 'none')
          then hers.division = his.division
        when his.stripe = 'formation' then hers.formation = his.formation and hers.stripe = 'formation'
        when his.stripe = 'white' then hers.stripe = 'white'
      end as own
    where _ties.traced_for = 'leader'
      and pair.forth
      and traced.kind = 'leader'
      and css._is_unit(other.kind)
    union all
    -- 8.5.1: any HQ of its Division
    select
      '8.5.1',
      other.kind = 'hq' and his.division = hers.division
    where _ties.traced_for = 'routed'
      and pair.forth
      and (other.kind = 'hq' or other.code = pair.two)
    union all
    -- 12.1, 12.2: the HQ of its Formation or of its Division
    select
      case when pair.forth then '12.2' else '12.1' end,
      (
        select bool_or(head.tie in ('own', 'every'))
        from css._heads(_ties.position_id, traced.code, _ties.readings) as head
        where head.code = other.code
      )
    where _ties.traced_for in ('support_weapon', 'tank_support_weapon')
      and traced.kind = 'support_weapon'
      and other.kind = 'hq'
  ) as tie
  -- one of its own is enough
  order by tie.own is not true, tie.own is not null, other.code
  limit 1
$$;

comment on function css._ties(bigint, text, text, text, text, jsonb) is
'Whether those that a trace joins belong together, where who is traced for is named.';

create or replace function css._tie_steps(
  tracer css.tracer, "from" text, "to" text, traced_for text, readings jsonb
)
returns setof rulings.path_step
language plpgsql stable rows 1
as $$
declare
  step rulings.path_step;
begin
  step.at := tracer.target_label;
  for step.rule, step.effect, step.note in
    select tie.rule, tie.effect, tie.note
    from css._ties(
      tracer.position_id, _tie_steps."from", _tie_steps."to", _tie_steps.traced_for, tracer.owner,
      _tie_steps.readings
    ) as tie
  loop
    return next step;
  end loop;
  if tracer.rule = '8.5.1' and step.effect is distinct from 'blocks'
    and not css._has_hq(tracer.position_id, tracer.owner, tracer.target_q, tracer.target_r) then
    step.rule := '8.5.1';
    step.effect := 'blocks';
    step.note := 'no HQ of its side is there';
    return next step;
  end if;
end
$$;

comment on function css._tie_steps(css.tracer, text, text, text, jsonb) is
'Whether those that a trace joins belong together, and who routs has an HQ to go to (8.5.1).';

create or replace function css._end_is_free(tracer css.tracer, q integer, r integer)
returns boolean
language sql immutable parallel safe
return (q = tracer.start_q and r = tracer.start_r and tracer.start_free)
or (q = tracer.target_q and r = tracer.target_r and tracer.target_free);

comment on function css._end_is_free(css.tracer, integer, integer) is
'Whether a hex is an end of the trace that may be in an enemy zone.';

create or replace function css._end_steps(tracer css.tracer, shut css.shut_hex[])
returns setof rulings.path_step
language sql immutable rows 1
as $$
  -- an end in a zone is worth a row; where it is exempt, it stops nothing
  select
    case when ending.is_free then tracer.rule else '7.2' end,
    null,
    case when ending.is_start then tracer.start_label else tracer.target_label end,
    case when ending.is_free then 'passes' when hex.doubtful then 'unknown' else 'blocks' end,
    'in ' || hex.cause,
    null,
    null::text[]
  from unnest(shut) as hex
  cross join lateral (
    select
      hex.q = tracer.start_q and hex.r = tracer.start_r as is_start,
      hex.q = tracer.target_q and hex.r = tracer.target_r as is_target,
      css._end_is_free(tracer, hex.q, hex.r) as is_free
  ) as ending
  where hex.rule = '7.2'
    and (ending.is_start or ending.is_target)
  order by hex.doubtful desc, hex.cause, ending.is_start desc
$$;

comment on function css._end_steps(css.tracer, css.shut_hex[]) is
'Ends of a trace that are in an enemy zone (7.2), and whether its rule exempts them.';

create or replace function css._shut_grid(tracer css.tracer, shut css.shut_hex[])
returns integer[]
language plpgsql stable
as $$
declare
  size css.trace_grid;
  grid integer[];
  hex css.shut_hex;
begin
  select * into size from css._trace_grid(tracer.position_id);
  grid := array_fill(0, array[size.cells]);
  -- what is shut for certain goes over what is doubtful
  for hex in
    select * from unnest(shut) as listed
    order by listed.doubtful desc
  loop
    continue when case
      when hex.rule = '7.2' then css._end_is_free(tracer, hex.q, hex.r)
      else hex.q = tracer.start_q and hex.r = tracer.start_r
    end;
    grid[css._trace_cell(size, hex.q, hex.r)] := case when hex.doubtful then -2 else -1 end;
  end loop;
  return grid;
end
$$;

comment on function css._shut_grid(css.tracer, css.shut_hex[]) is
'The grid that a trace is searched on: 0 is open, -1 shut, -2 shut unless a counter tells otherwise.';

create or replace function css._steps_out(position_id bigint, mobility text, readings jsonb, came integer[])
returns table (
  label text,
  q integer,
  r integer,
  effect text,
  rule text,
  note text,
  point text,
  -- whether the trace has reached that hex
  reached boolean
)
language sql stable rows 100
as $$
  with reached as materialized (
    select
      array_agg(hex.q) as qs,
      array_agg(hex.r) as rs,
      css._road_sides(position.map_id) as roads
    from public.position
    cross join css._trace_grid(position.id) as size
    inner join public.hex on hex.map_id = position.map_id
    where position.id = _steps_out.position_id
      and _steps_out.came[css._trace_cell(size, hex.q, hex.r)] > 0
    group by position.map_id
  )
  select
    step.label,
    step.q,
    step.r,
    step.effect,
    step.rule,
    step.note,
    step.point,
    _steps_out.came[css._trace_cell(size, step.q, step.r)] > 0
  from reached
  cross join css._trace_grid(_steps_out.position_id) as size
  cross join lateral css._passages(
    _steps_out.position_id, _steps_out.mobility, _steps_out.readings, reached.roads, reached.qs, reached.rs
  ) as step
$$;

comment on function css._steps_out(bigint, text, jsonb, integer[]) is
'All steps out of the hexes that a trace has reached.';

create or replace function css._contested_ground_steps(
  position_id bigint, mobility text, readings jsonb, came integer[]
)
returns setof rulings.path_step
language sql stable rows 1
as $$
  select
    step.rule,
    null,
    case when count(distinct step.label) = 1 then min(step.label) end,
    step.effect,
    format('%s: %s', step.note, css._hexes(count(distinct step.label)::integer)),
    step.point,
    null::text[]
  from css._steps_out(
    _contested_ground_steps.position_id, _contested_ground_steps.mobility, _contested_ground_steps.readings, _contested_ground_steps.came
  ) as step
  where step.point is not null
    -- css-54 is the only point of passable ground: most maps need not be searched for it
    and exists (
      select
      from public.position
      inner join public.hex on hex.map_id = position.map_id
      where position.id = _contested_ground_steps.position_id and hex.terrain = 'sugar_cane'
    )
  group by step.rule, step.effect, step.note, step.point
  order by step.rule, step.note, step.effect, step.point
$$;

comment on function css._contested_ground_steps(bigint, text, jsonb, integer[]) is
'Ground beside an open trace that a contested point would open or shut.';

create or replace function css._barrier_steps(
  tracer css.tracer, readings jsonb, came integer[], shut css.shut_hex[]
)
returns setof rulings.path_step
language sql stable rows 8
as $$
  with stopped as (
    select
      step.label,
      case when step.effect = 'passes' then hex.rule else step.rule end as rule,
      case when step.effect = 'passes' then hex.cause else step.note end as cause,
      case when step.effect = 'passes' then hex.doubtful else step.effect = 'unknown' end as doubtful,
      case when step.effect <> 'passes' then step.point end as point
    from css._steps_out(
      tracer.position_id, tracer.mobility, _barrier_steps.readings, _barrier_steps.came
    ) as step
    left join unnest(_barrier_steps.shut) as hex
      on hex.q = step.q and hex.r = step.r and step.effect = 'passes'
    where not step.reached
  )
  select
    stopped.rule,
    null,
    -- a place where it is one
    case when count(distinct stopped.label) = 1 then min(stopped.label) end,
    case when bool_and(stopped.doubtful) then 'unknown' else 'blocks' end,
    case
      when bool_and(stopped.doubtful) then stopped.cause
      else format('%s: %s shut', stopped.cause, css._hexes(count(distinct stopped.label)::integer))
    end,
    stopped.point,
    null::text[]
  from stopped
  where stopped.cause is not null
  group by stopped.rule, stopped.cause, stopped.point
  order by stopped.rule, stopped.cause, stopped.point
$$;

comment on function css._barrier_steps(css.tracer, jsonb, integer[], css.shut_hex[]) is
'What stops a trace at the rim of all that it reaches, and how many hexes of the rim.';

create or replace function css._zone_point_steps(tracer css.tracer, conditions jsonb, policy jsonb)
returns setof rulings.path_step
language sql stable rows 1
as $$
  select
    min(zone.rule),
    null,
    null,
    'contested',
    'an enemy Fire Zone turns on it',
    zone.point,
    null::text[]
  from css.side_zone_reasons(
    tracer.position_id, case tracer.owner when 'us' then 'japan' else 'us' end, _zone_point_steps.conditions,
    _zone_point_steps.policy
  ) as zone
  where zone.point is not null
  group by zone.point
  order by zone.point
$$;

comment on function css._zone_point_steps(css.tracer, jsonb, jsonb) is
'The contested points that enemy Fire Zones turn on.';

create or replace function css._trace_verdict(tracer css.tracer, verdict text, why text, came integer[])
returns rulings.path_step
language plpgsql stable
as $$
begin
  return row(
    tracer.rule,
    null,
    tracer.target_label,
    verdict,
    case verdict
      when 'open' then 'there is a way out of enemy zones'
      when 'unknown' then 'what a counter or the rulebook does not tell would decide it'
      else why
    end,
    null,
    case when verdict = 'open' then css._way_back(tracer, came) else '{}' end
  )::rulings.path_step;
end
$$;

comment on function css._trace_verdict(css.tracer, text, text, integer[]) is
'The last row of css.trace_path: the verdict, and the way where it is open.';

create or replace function css.trace_path(
  position_id bigint,
  "from" text,
  "to" text,
  traced_for text,
  side text default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.path_step
language plpgsql stable rows 8
as $$
declare
  readings jsonb := positions.readings(trace_path.position_id, trace_path.policy);
  tracer css.tracer := css._tracer(
    trace_path.position_id, trace_path."from", trace_path."to", trace_path.traced_for, trace_path.side
  );
  shut css.shut_hex[] := array(
    select hex
    from css._shut(trace_path.position_id, tracer.owner, trace_path.conditions, trace_path.policy) as hex
  );
  size css.trace_grid;
  step rulings.path_step;
  grid integer[];
  came integer[];
  start integer;
  target integer;
  verdict text := 'open';
  why text := 'there is no such way';
  barred boolean := false;
begin
  return next row(tracer.rule, null, tracer.start_label, 'traces', tracer.note, null, null)::rulings.path_step;
  for step in
    select * from css._tie_steps(tracer, trace_path."from", trace_path."to", trace_path.traced_for, readings)
  loop
    verdict := case step.effect when 'blocks' then 'closed' when 'unknown' then 'unknown' else verdict end;
    why := case step.effect when 'blocks' then step.note else why end;
    return next step;
  end loop;
  for step in
    select * from css._end_steps(tracer, shut)
  loop
    barred := barred or step.effect = 'blocks';
    return next step;
  end loop;
  if tracer.mobility is null then
    return next row(
      '8.5.1', null, tracer.start_label, 'unknown', format('the mobility of %s', trace_path."from"), null, null
    )::rulings.path_step;
    verdict := case verdict when 'closed' then 'closed' else 'unknown' end;
  elsif barred then
    verdict := 'closed';
  else
    select * into size from css._trace_grid(trace_path.position_id);
    start := css._trace_cell(size, tracer.start_q, tracer.start_r);
    target := css._trace_cell(size, tracer.target_q, tracer.target_r);
    grid := css._shut_grid(tracer, shut);
    verdict := case when grid[start] = -2 and verdict = 'open' then 'unknown' else verdict end;
    grid[start] := 7;
    came := css._trace(tracer, readings, grid, false);
    if came[target] <= 0 then
      return query
      select * from css._barrier_steps(tracer, readings, came, shut);
      came := css._trace(tracer, readings, grid, true);
      verdict := case when came[target] <= 0 or verdict = 'closed' then 'closed' else 'unknown' end;
    else
      return query
      select * from css._contested_ground_steps(trace_path.position_id, tracer.mobility, readings, came);
    end if;
  end if;
  return query
  select * from css._zone_point_steps(tracer, trace_path.conditions, trace_path.policy);
  return next css._trace_verdict(tracer, verdict, why, came);
end
$$;

comment on function css.trace_path(bigint, text, text, text, text, jsonb, jsonb) is
'Whether a leader, a Support Weapon or a routed unit has a way: the reasons, the verdict last with a shortest way.';
