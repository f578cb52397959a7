-- needs: css/move.sql
-- Where a unit can go in css (Guam): the costs of css.move, laid out around the unit and searched as a wave.
--
-- The ground within reach is read once, into arrays: the hexes of a window around the unit, and the six sides of
-- each. A round takes all places that were reached more cheaply than before and enters what lies beside them.
-- A place is a hex, or the inside of its cave. Where markers lower what is left on the way (8.7.2, 10.2.3), to
-- spend least is not always to have most left; then how much is left, and how disorganized the unit is, are part
-- of the place. All costs are above zero, so that a unit with nothing left goes no farther.

create or replace function css._ground_costs(
  position_id bigint,
  map_id bigint,
  side text,
  mobility text,
  tank boolean,
  readings jsonb,
  q integer,
  r integer,
  radius integer
)
returns table (q integer, r integer, halves integer, burns boolean, held boolean, cave boolean)
language sql stable rows 1000
as $$
  -- 8.8.1
  with fire as materialized (
    select
      css._spot(marker.q, marker.r) as spot,
      marker.kind = 'on_fire' as burns
    from public.marker
    where marker.position_id = _ground_costs.position_id
      and marker.kind in ('on_fire', 'fire_cleared')
  ),
  -- 9.0
  enemy as materialized (
    select css._spot(unit.q, unit.r) as spot
    from public.unit
    where unit.position_id = _ground_costs.position_id
      and unit.side <> _ground_costs.side
      and css._is_unit(unit.kind)
      and not coalesce((unit.attributes ->> 'in_cave')::boolean, false)
  )
  select
    hex.q,
    hex.r,
    cost.halves,
    css._spot(hex.q, hex.r) in (select fire.spot from fire where fire.burns),
    css._spot(hex.q, hex.r) in (select enemy.spot from enemy),
    'cave' = any(hex.features)
  from public.hex
  cross join lateral (
    select
      case
        when css._spot(hex.q, hex.r) in (select fire.spot from fire where not fire.burns) then 'clear'
        else css._ground(hex.terrain, hex.features)
      end as terrain
  ) as ground
  left join css._terrain_costs(mobility, tank, readings) as cost on cost.terrain = ground.terrain
  where hex.map_id = _ground_costs.map_id
    and hex.q between _ground_costs.q - radius and _ground_costs.q + radius
    and hex.r between _ground_costs.r - radius and _ground_costs.r + radius
$$;

comment on function css._ground_costs(
  bigint, bigint, text, text, boolean, jsonb, integer, integer, integer
) is
'What the hexes around a unit cost to enter off a road (null: they are closed), which burn and which the enemy holds.';

create or replace function css._side_costs(
  map_id bigint, mobility text, heavy boolean, q integer, r integer, radius integer
)
returns table (x integer, y integer, off_road integer, road integer, trail integer)
language sql stable rows 1000
as $$
  with crossing as materialized (
    select
      hexside.x,
      hexside.y,
      sum(kind.halves) filter (where not kind.along) as halves,
      bool_or(kind.halves is null) filter (where not kind.along) as shut,
      sum(kind.halves) filter (where kind.along) as along,
      bool_or(kind.halves is null) filter (where kind.along) as shut_along
    from public.hexside
    inner join css._crossings(mobility, heavy, false) as kind on kind.kind = hexside.kind
    where hexside.map_id = _side_costs.map_id
      and hexside.x between 2 * (q - radius) and 2 * (q + radius)
      and hexside.y between 2 * (r - radius) and 2 * (r + radius)
    group by 1, 2
  ),
  link as materialized (
    select
      path.qs[n.n] + path.qs[n.n + 1] as x,
      path.rs[n.n] + path.rs[n.n + 1] as y,
      min(road.halves) as halves,
      min(road.halves) filter (where path.kind = 'trail') as trail
    from public.path
    inner join css._roads(mobility) as road on road.kind = path.kind
    cross join lateral generate_series(1, cardinality(path.qs) - 1) as n (n)
    where path.map_id = _side_costs.map_id
      and path.qs[n.n] between q - radius and q + radius
      and path.rs[n.n] between r - radius and r + radius
    group by 1, 2
  )
  select
    coalesce(crossing.x, link.x),
    coalesce(crossing.y, link.y),
    case when not coalesce(crossing.shut, false) then coalesce(crossing.halves, 0)::integer end,
    case when not coalesce(crossing.shut_along, false) then (link.halves + coalesce(crossing.along, 0))::integer end,
    case when not coalesce(crossing.shut_along, false) then (link.trail + coalesce(crossing.along, 0))::integer end
  from crossing
  full join link on link.x = crossing.x and link.y = crossing.y
$$;

comment on function css._side_costs(bigint, text, boolean, integer, integer, integer) is
'What the sides around a unit add off a road (null: not crossed), and what a step along a road or a trail costs.';

create or replace function css._purse(
  position_id bigint, unit text, trail boolean, options jsonb, conditions jsonb, policy jsonb
)
returns integer
language sql stable
as $$
  select
    case
      when not bool_or(told.effect in ('forbids', 'unknown'))
        then (array_agg(told.remaining order by told.n desc) filter (where told.remaining is not null))[1]
      else 0
    end
  from css._setting_out(position_id, unit, trail, options, conditions, policy) with ordinality
  as told (rule, clause, at, effect, note, point, halves, remaining, n)
$$;

comment on function css._purse(bigint, text, boolean, jsonb, jsonb, jsonb) is
'Halves a unit may spend; none where something forbids it to move, or is not told.';

create or replace function css._wave(position_id bigint, unit text, options jsonb, conditions jsonb, policy jsonb)
returns table (
  state integer,
  -- the state it was reached from; null at the start
  via integer,
  trail boolean,
  q integer,
  r integer,
  inside boolean,
  spent integer
)
language plpgsql stable rows 300
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  mover record;
  spot record;
  purse integer;
  longest integer;
  radius integer;
  least_cost integer;
  wide integer;
  home integer;
  steps integer[];
  ground integer[];
  off_road integer[];
  roads integer[];
  trails integer[];
  shut boolean[] := '{}';
  -- per hex: DG; 1 halves, 2 stops; the same inside the cave; whether a unit may go in, or come out
  dgs integer[] := '{}';
  slow integer[] := '{}';
  cave_dgs integer[] := '{}';
  cave_slow integer[] := '{}';
  rooms boolean[] := '{}';
  exits boolean[] := '{}';
  -- whether a unit may come in from the next cave
  tunnels boolean[] := '{}';
  caves boolean := false;
  varied boolean;
  variants integer := 1;
  disorder integer;
  gains boolean;
  best integer[];
  came integer[];
  touched integer[];
  found record;
  front record;
begin
  select * into mover from css._mover(position_id, unit, options, conditions, policy);
  purse := css._purse(position_id, unit, false, options, conditions, policy);
  -- 6.2.1: two points more on a trail, which costs two points a hex
  longest := purse + 4;
  select least(min(cost.halves), case when not mover.off_road then min(road.halves) end) + mover.tax
  into least_cost
  from css._terrain_costs(mover.mobility, mover.tank, mover.readings) as cost
  cross join (
    select min(kind.halves) as halves
    from css._roads(mover.mobility) as kind
    where exists (select from public.path where path.map_id = mover.map_id and path.kind = kind.kind)
  ) as road;
  radius := greatest(purse / coalesce(least_cost, 1), 2);
  wide := 2 * radius + 3;
  home := (radius + 1) * wide + radius + 2;
  steps := array[-1, wide - 1, wide, 1, 1 - wide, -wide];
  ground := array_fill(null::integer, array[wide * wide]);
  off_road := array_fill(0, array[6 * wide * wide + 6]);
  roads := array_fill(null::integer, array[6 * wide * wide + 6]);
  trails := '{}';

  for spot in
    select
      home + (cost.q - mover.q) * wide + cost.r - mover.r as c,
      cost.*
    from css._ground_costs(
      position_id, mover.map_id, mover.side, mover.mobility, mover.tank, mover.readings, mover.q, mover.r, radius
    ) as cost
  loop
    ground[spot.c] := spot.halves;
    if spot.burns or spot.held then
      shut[spot.c] := true;
    end if;
    if spot.cave and mover.side = 'japan' and mover.mobility = 'leg' then
      caves := true;
      rooms[spot.c] := css._friends(position_id, mover.side, spot.q, spot.r, true, mover.codes) + mover.units <= 2;
      exits[spot.c] := not spot.held;
      tunnels[spot.c] := rooms[spot.c] and not spot.burns;
    end if;
  end loop;
  for spot in
    select
      home + (hexes.q1 - mover.q) * wide + hexes.r1 - mover.r as c,
      -- the direction from the first hex to the second: 2, 3 or 4
      case when hexes.q2 = hexes.q1 then 4 when hexes.r2 = hexes.r1 then 3 else 2 end as d,
      case when hexes.q2 = hexes.q1 then 1 when hexes.r2 = hexes.r1 then wide else wide - 1 end as hop,
      cost.off_road,
      cost.road,
      cost.trail
    from css._side_costs(mover.map_id, mover.mobility, mover.heavy, mover.q, mover.r, radius) as cost
    cross join lateral lattice.side_hexes(cost.x, cost.y) as hexes
  loop
    continue when spot.c < 1 or spot.c + spot.hop > wide * wide or spot.c > wide * wide or spot.c + spot.hop < 1;
    off_road[6 * spot.c + spot.d - 1] := spot.off_road;
    off_road[6 * (spot.c + spot.hop) + (spot.d + 2) % 6] := spot.off_road;
    if spot.road is not null and not mover.off_road then
      roads[6 * spot.c + spot.d - 1] := spot.road;
      roads[6 * (spot.c + spot.hop) + (spot.d + 2) % 6] := spot.road;
      if spot.trail is not null then
        trails[6 * spot.c + spot.d - 1] := spot.trail;
        trails[6 * (spot.c + spot.hop) + (spot.d + 2) % 6] := spot.trail;
      end if;
    end if;
  end loop;
  for spot in
    select
      home + (marker.q - mover.q) * wide + marker.r - mover.r as c,
      marker.kind,
      marker.value,
      coalesce((marker.attributes ->> 'in_cave')::boolean, false) as inside,
      css._marker_does(marker.kind) as does
    from public.marker
    where marker.position_id = _wave.position_id
      and (marker.kind = 'dg' or css._marker_does(marker.kind) in ('halves', 'holds', 'untold'))
      and (marker.kind not in ('drunk', 'hungover') or mover.side = 'us')
      and not (marker.kind = 'pinned' and mover.readings ->> 'css-6' = 'b')
      and marker.q between mover.q - radius and mover.q + radius
      and marker.r between mover.r - radius and mover.r + radius
  loop
    if spot.kind = 'dg' and spot.inside then
      cave_dgs[spot.c] := greatest(spot.value, cave_dgs[spot.c]);
    elsif spot.kind = 'dg' then
      dgs[spot.c] := greatest(spot.value, dgs[spot.c]);
    elsif spot.inside then
      cave_slow[spot.c] := 2;
    else
      slow[spot.c] := greatest(slow[spot.c], case spot.does when 'halves' then 1 else 2 end);
    end if;
  end loop;

  gains := mover.readings ->> 'css-58' = 'a';
  disorder := css._dg_at(position_id, mover.q, mover.r, mover.inside);
  varied := caves or (gains and (dgs <> '{}' or cave_dgs <> '{}')) or 1 = any(slow);
  for pass in 0..1 loop
    trail := pass = 1;
    if trail then
      exit when trails = '{}' or mover.inside;
      purse := css._purse(position_id, unit, true, options, conditions, policy);
      roads := trails;
      ground := '{}';
    end if;
    variants := case when varied then 6 * (longest + 1) else 1 end;
    best := array_fill(1 << 30, array[variants * wide * wide + variants]);
    came := best;
    select
      array[home] as c,
      array[mover.inside::integer] as inside,
      array[disorder] as dg,
      array[purse] as purse,
      array[0] as spent,
      array[
        case
          when varied
            then home * variants + (mover.inside::integer * 3 + (disorder + 1) / 2) * (longest + 1) + purse
          else home
        end
      ] as k
    into front;
    best[front.k[1]] := 0;
    came[front.k[1]] := null;
    touched := front.k;
    loop
      select
        array_agg(reached.c) as c,
        array_agg(reached.inside) as inside,
        array_agg(reached.dg) as dg,
        array_agg(reached.purse) as purse,
        array_agg((reached.told >> 32)::integer) as spent,
        array_agg(reached.k) as k,
        array_agg((reached.told & 4294967295)::integer) as via
      into found
      from (
        select
          keyed.k,
          min(keyed.c) as c,
          min(keyed.inside) as inside,
          max(keyed.dg) as dg,
          max(keyed.purse) as purse,
          min((keyed.spent::bigint << 32) + keyed.via) as told
        from (
          select
            entered.*,
            case
              when varied
                then entered.c * variants
                + (entered.inside * 3 + (entered.dg + 1) / 2) * (longest + 1) + entered.purse
              else entered.c
            end as k
          from (
            -- into the hexes around
            select
              beside.c,
              0 as inside,
              greatest(f.dg, dgs[beside.c]) as dg,
              case slow[beside.c]
                when 2 then 0
                when 1 then css._halved(
                  css._dg_left(f.purse - beside.cost, f.dg, case when gains then greatest(f.dg, dgs[beside.c]) else f.dg end)
                )
                else css._dg_left(
                  f.purse - beside.cost, f.dg, case when gains then greatest(f.dg, dgs[beside.c]) else f.dg end
                )
              end as purse,
              f.spent + beside.cost as spent,
              f.k as via
            from unnest(front.c, front.inside, front.dg, front.purse, front.spent, front.k)
              as f (c, inside, dg, purse, spent, k)
            cross join unnest(steps) with ordinality as hop (by, d)
            cross join lateral (
              select
                f.c + hop.by as c,
                least(
                  roads[6 * f.c + hop.d - 1], ground[f.c + hop.by] + off_road[6 * f.c + hop.d - 1]
                ) + mover.tax as cost
            ) as beside
            where f.inside = 0
              and beside.cost <= f.purse
              and shut[beside.c] is null
            union all
            -- 6.3: through the mouth of a cave
            select
              f.c,
              1 - f.inside,
              greatest(f.dg, case f.inside when 0 then cave_dgs[f.c] else dgs[f.c] end),
              case
                when f.inside = 0 and cave_slow[f.c] = 2 then 0
                else css._dg_left(
                  f.purse - 2,
                  f.dg,
                  case
                    when gains then greatest(f.dg, case f.inside when 0 then cave_dgs[f.c] else dgs[f.c] end) else f.dg
                  end
                )
              end,
              f.spent + 2,
              f.k
            from unnest(front.c, front.inside, front.dg, front.purse, front.spent, front.k)
              as f (c, inside, dg, purse, spent, k)
            where caves
              and not trail
              and f.purse >= 2
              and case f.inside when 0 then rooms[f.c] else exits[f.c] end
            union all
            -- 6.3: from cave to cave, with all it has
            select
              f.c + hop.by,
              1,
              f.dg,
              0,
              f.purse,
              f.k
            from unnest(front.c, front.inside, front.dg, front.purse, front.spent, front.k)
              as f (c, inside, dg, purse, spent, k)
            cross join unnest(steps) as hop (by)
            where caves
              and not trail
              and f.inside = 1
              and f.spent = 0
              and f.purse > 0
              and tunnels[f.c + hop.by]
          ) as entered
        ) as keyed
        group by keyed.k
      ) as reached
      where (reached.told >> 32) < best[reached.k];
      exit when found.k is null;
      for n in 1..cardinality(found.k) loop
        best[found.k[n]] := found.spent[n];
        came[found.k[n]] := found.via[n];
      end loop;
      touched := touched || found.k;
      front := found;
    end loop;
    return query
    select distinct
      reached.k,
      came[reached.k],
      trail,
      mover.q + (reached.k / variants - 1) / wide - radius - 1,
      mover.r + (reached.k / variants - 1) % wide - radius - 1,
      varied and reached.k % variants >= 3 * (longest + 1),
      best[reached.k]
    from unnest(touched) as reached (k);
  end loop;
end
$$;

comment on function css._wave(bigint, text, jsonb, jsonb, jsonb) is
'Every place a unit comes to, with the least it spends on the way there and the place it comes from.';

create or replace function css._few_steps(position_id bigint, unit text, options jsonb, conditions jsonb, policy jsonb)
returns table (q integer, r integer, label text, way text[])
language sql stable rows 10
as $$
  with mover as materialized (
    select * from css._mover(_few_steps.position_id, _few_steps.unit, _few_steps.options, _few_steps.conditions, _few_steps.policy)
  ),
  near as materialized (
    select
      mover.label as home,
      hex.q,
      hex.r,
      hex.label,
      lattice.distance(mover.q, mover.r, hex.q, hex.r) as away
    from mover
    cross join lateral lattice.disc(mover.q, mover.r, case mover.manner when 'advance' then 1 else 2 end) as disc
    inner join public.hex on hex.map_id = mover.map_id and hex.q = disc.hq and hex.r = disc.hr
  ),
  tried as (
    select
      hex.q,
      hex.r,
      hex.label,
      array[hex.label] as way
    from mover
    inner join public.hex on hex.map_id = mover.map_id and hex.label = mover.zone ->> 'beach'
    union all
    select near.q, near.r, near.label, array[near.home, near.label]
    from near
    where near.away = 1
    union all
    select far.q, far.r, far.label, array[near.home, near.label, far.label]
    from near
    inner join near as far on far.away = 2 and lattice.distance(near.q, near.r, far.q, far.r) = 1
    where near.away = 1
  )
  select distinct on (tried.label) tried.*
  from tried
  where exists (
    select
    from css.move(
      _few_steps.position_id, _few_steps.unit, tried.way, _few_steps.options, _few_steps.conditions, _few_steps.policy
    ) as told
    where told.effect = 'legal'
  )
  order by tried.label, cardinality(tried.way), tried.way
$$;

comment on function css._few_steps(bigint, text, jsonb, jsonb, jsonb) is
'Where a landing, an advance or a shift by night leads: every way of a step or two that css.move allows.';

create or replace function css._by_points(mover_zone jsonb, manner text)
returns boolean
language sql immutable parallel safe
return mover_zone is null and manner = 'move';

comment on function css._by_points(jsonb, text) is
'Whether a move spends movement points: not on landing, on an advance, or when artillery shifts by night.';

create or replace function css.reach(
  position_id bigint,
  unit text,
  options jsonb default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns table (q integer, r integer, label text, halves integer)
language plpgsql stable rows 300
as $$
#variable_conflict use_column
declare
  mover record;
begin
  select * into mover from css._mover(reach.position_id, reach.unit, reach.options, reach.conditions, reach.policy);
  if mover.zone is null and mover.q is null then
    raise exception 'the unit % is not on the map', reach.unit using errcode = 'no_data_found';
  elsif not css._by_points(mover.zone, mover.manner) then
    return query
    select step.q, step.r, step.label, 0
    from css._few_steps(reach.position_id, reach.unit, reach.options, reach.conditions, reach.policy) as step;
    return;
  end if;
  return query
  select
    wave.q,
    wave.r,
    hex.label,
    min(wave.spent)
  from css._wave(reach.position_id, reach.unit, reach.options, reach.conditions, reach.policy) as wave
  inner join public.hex on hex.map_id = mover.map_id and hex.q = wave.q and hex.r = wave.r
  where (wave.q, wave.r) not in (
    select rival.q, rival.r
    from css._rivals(reach.position_id, mover.side, mover.service, mover.codes) as rival
  )
  group by 1, 2, 3;
end
$$;

comment on function css.reach(bigint, text, jsonb, jsonb, jsonb) is
'Every hex a unit can end its move in, its own included, with the least cost in halves of a point.';

create or replace function css.reach_path(
  position_id bigint,
  unit text,
  "to" text,
  options jsonb default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns table (n integer, q integer, r integer, label text, halves integer)
language plpgsql stable rows 10
as $$
#variable_conflict use_column
declare
  mover record;
begin
  select * into mover
  from css._mover(reach_path.position_id, reach_path.unit, reach_path.options, reach_path.conditions, reach_path.policy);
  if not exists (select from public.hex where hex.map_id = mover.map_id and hex.label = reach_path."to") then
    raise exception 'there is no hex % on the map', reach_path."to" using errcode = 'no_data_found';
  elsif not exists (
    select
    from css.reach(reach_path.position_id, reach_path.unit, reach_path.options, reach_path.conditions, reach_path.policy)
      as goal
    where goal.label = reach_path."to"
  ) then
    return;
  elsif not css._by_points(mover.zone, mover.manner) then
    return query
    select way.n::integer, hex.q, hex.r, hex.label, 0
    from css._few_steps(
      reach_path.position_id, reach_path.unit, reach_path.options, reach_path.conditions, reach_path.policy
    ) as step
    cross join lateral unnest(step.way) with ordinality as way (label, n)
    inner join public.hex on hex.map_id = mover.map_id and hex.label = way.label
    where step.label = reach_path."to"
    order by 1;
    return;
  end if;
  return query
  with recursive wave as materialized (
    select * from css._wave(
      reach_path.position_id, reach_path.unit, reach_path.options, reach_path.conditions, reach_path.policy
    )
  ),
  back as (
    (
      select
        0 as n,
        wave.*
      from wave
      inner join public.hex on hex.map_id = mover.map_id and hex.q = wave.q and hex.r = wave.r
      where hex.label = reach_path."to"
      order by wave.spent, wave.trail desc, wave.inside, wave.state
      limit 1
    )
    union all
    select
      back.n + 1,
      wave.*
    from back
    inner join wave on wave.state = back.via and wave.trail = back.trail
  )
  select
    (row_number() over (order by back.n desc))::integer,
    back.q,
    back.r,
    hex.label,
    back.spent
  from back
  inner join public.hex on hex.map_id = mover.map_id and hex.q = back.q and hex.r = back.r
  order by 1;
end
$$;

comment on function css.reach_path(bigint, text, text, jsonb, jsonb, jsonb) is
'A cheapest way to a hex, its own hex first; no row where the hex is out of reach.';

create or replace function css.reach_reasons(
  position_id bigint,
  unit text,
  options jsonb default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns table (rule text, clause text, at text, effect text, note text, point text, halves integer)
language plpgsql stable rows 20
as $$
#variable_conflict use_column
declare
  mover record;
begin
  select * into mover
  from css._mover(
    reach_reasons.position_id, reach_reasons.unit, reach_reasons.options, reach_reasons.conditions,
    reach_reasons.policy
  );
  if not css._by_points(mover.zone, mover.manner) then
    return query
    select
      case when mover.zone is not null then '22.1' when mover.manner = 'advance' then '9.4' else '27.0' end,
      null::text,
      mover.label,
      'without points',
      case
        when mover.zone is not null then 'it lands on the beach of its zone, if at all'
        when mover.manner = 'advance' then 'one hex, after an assault'
        else 'two hexes at most'
      end,
      null::text,
      null::integer;
    return;
  end if;
  return query
  select
    told.rule,
    told.clause,
    told.at,
    told.effect,
    told.note,
    told.point,
    coalesce(told.halves, told.remaining)
  from css._setting_out(
    reach_reasons.position_id, reach_reasons.unit, false, reach_reasons.options, reach_reasons.conditions,
    reach_reasons.policy
  ) as told;
  if mover.mobility is null or mover.movement is null then
    return;
  end if;
  return query
  with reached as materialized (
    select distinct
      wave.q,
      wave.r,
      wave.trail
    from css._wave(
      reach_reasons.position_id, reach_reasons.unit, reach_reasons.options, reach_reasons.conditions,
      reach_reasons.policy
    ) as wave
    where not wave.inside
  ),
  edge as materialized (
    select distinct
      hex.q,
      hex.r,
      hex.label,
      css._ground(hex.terrain, hex.features) as terrain
    from reached
    cross join lateral lattice.neighbours(reached.q, reached.r) as beside
    inner join public.hex on hex.map_id = mover.map_id and hex.q = beside.nq and hex.r = beside.nr
  ),
  -- what the ground costs, or forbids: once a kind
  ground as (
    select distinct on (cost.terrain)
      cost.rule,
      edge.label as at,
      cost.effect,
      cost.note,
      cost.point,
      cost.halves
    from edge
    inner join css._terrain_costs(mover.mobility, mover.tank, mover.readings) as cost on cost.terrain = edge.terrain
    order by cost.terrain, edge.label
  ),
  sides as (
    select distinct on (cost.kind)
      cost.rule,
      positions.cell_label(mover.map_id, reached.q, reached.r, beside.nq, beside.nr) as at,
      cost.effect,
      cost.note,
      cost.point,
      cost.halves
    from reached
    cross join lateral lattice.neighbours(reached.q, reached.r) as beside
    inner join public.hexside
      on hexside.map_id = mover.map_id
        and hexside.x = reached.q + beside.nq
        and hexside.y = reached.r + beside.nr
    inner join css._crossings(mover.mobility, mover.heavy, mover.tank) as cost
      on cost.kind = hexside.kind and not cost.along
    order by cost.kind, reached.q, reached.r, beside.direction
  ),
  roads as (
    select distinct on (road.kind)
      road.rule,
      edge.label as at,
      'cost' as effect,
      road.note,
      null as point,
      road.halves
    from public.path
    inner join css._roads(mover.mobility) as road on road.kind = path.kind
    cross join lateral unnest(path.qs, path.rs) as link (q, r)
    inner join edge on edge.q = link.q and edge.r = link.r
    where path.map_id = mover.map_id
      and not mover.off_road
    order by road.kind, edge.label
  )
  select told.rule, null::text, told.at, told.effect, told.note, told.point, told.halves
  from (select * from ground union all select * from sides union all select * from roads) as told
  union all
  select '6.2.1', null, mover.label, '+2', 'on a trail from beginning to end', null, 4
  where exists (select from reached where reached.trail and (reached.q, reached.r) <> (mover.q, mover.r))
  union all
  select '16.0', null, null, 'cost', 'interdiction, every hex', 'css-57', mover.tax
  where mover.tax > 0
  union all
  -- what shuts a hex, or does something to who enters it
  select
    bar.rule,
    null,
    edge.label,
    bar.effect,
    bar.note,
    bar.point,
    null
  from edge
  -- few hexes have a counter or a marker in them
  inner join (
    select unit.q, unit.r from public.unit where unit.position_id = reach_reasons.position_id
    union
    select marker.q, marker.r from public.marker where marker.position_id = reach_reasons.position_id
  ) as busy on busy.q = edge.q and busy.r = edge.r
  cross join lateral (
    select * from css._step_bars(
      reach_reasons.position_id, mover.side, mover.mobility, mover.units, mover.codes, false,
      edge.q, edge.r - 1, edge.q, edge.r, true, mover.readings
    )
    union all
    select * from css._entered(
      reach_reasons.position_id, mover.side, edge.q, edge.r, false, false, null, mover.now, mover.readings
    )
    union all
    select '10.2.3', 'dg', format('DG%s lies there', disorder.value), 'css-58'
    from css._dg_at(reach_reasons.position_id, edge.q, edge.r, false) as disorder (value)
    where disorder.value > 0
    union all
    select '6.1.2', rival.effect, 'navy and army do not stack', null
    from css._rivals(reach_reasons.position_id, mover.side, mover.service, mover.codes) as rival
    where (rival.q, rival.r) = (edge.q, edge.r)
  ) as bar;
end
$$;

comment on function css.reach_reasons(bigint, text, jsonb, jsonb, jsonb) is
'What shapes a reach: the allowance and what lowers it, what each kind of ground costs, what shuts hexes out.';
