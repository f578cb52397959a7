-- needs: css/move.sql
-- Where a unit can go in css (Guam): the costs of css.move, searched as a wave from hex to hex.
--
-- A round takes all places that were reached more cheaply than before, and enters what lies beside them; what
-- the ground costs is looked up as the wave comes to it. A place is a hex, or the inside of its cave. Where
-- markers lower what is left on the way (8.7.2, 10.2.3), to spend least is not always to have most left; then
-- how much is left, and how disorganized the unit is, are part of the place. All costs are above zero, so a
-- unit with nothing left goes no farther.

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

create or replace function css._side_cell(wide integer, x integer, y integer)
returns integer
language sql immutable parallel safe
return 2 * wide * x + y + 1;

comment on function css._side_cell(integer, integer, integer) is
'A hexside of the window as an index, by its doubled cell counted from the corner.';

create or replace function css._road_costs(
  map_id bigint, mobility text, east integer, south integer, wide integer
)
returns table (roads integer[], trails integer[], cheapest integer)
language plpgsql stable rows 1
as $$
#variable_conflict use_variable
declare
  link record;
begin
  roads := array_fill(null::integer, array[4 * wide * wide]);
  trails := '{}';
  for link in
    select
      css._side_cell(
        wide, path.qs[n.n] + path.qs[n.n + 1] - 2 * east, path.rs[n.n] + path.rs[n.n + 1] - 2 * south
      ) as cell,
      min(road.halves) as halves,
      min(road.halves) filter (where path.kind = 'trail') as trail
    from public.path
    inner join css._roads(mobility) as road on road.kind = path.kind
    cross join lateral generate_series(1, cardinality(path.qs) - 1) as n (n)
    where path.map_id = _road_costs.map_id
      and path.qs[n.n] > east
      and path.qs[n.n] < east + wide - 1
      and path.rs[n.n] > south
      and path.rs[n.n] < south + wide - 1
    group by 1
  loop
    roads[link.cell] := link.halves;
    cheapest := least(cheapest, link.halves);
    if link.trail is not null then
      trails[link.cell] := link.trail;
    end if;
  end loop;
  return next;
end
$$;

comment on function css._road_costs(bigint, text, integer, integer, integer) is
'What a step along a path costs, along any and along a trail, by hexside of the window around a unit.';

create or replace function css._reach_markers(
  position_id bigint, side text, readings jsonb, home integer, wide integer, q integer, r integer, radius integer
)
returns table (
  -- by cell of the window: DG; 1 halves, 2 stops; the same inside a cave; 1 burns, 2 is burnt
  dgs integer[], slow integer[], cave_dgs integer[], cave_slow integer[], fires integer[]
)
language plpgsql stable rows 1
as $$
#variable_conflict use_variable
declare
  marker record;
begin
  dgs := '{}';
  slow := '{}';
  cave_dgs := '{}';
  cave_slow := '{}';
  fires := '{}';
  for marker in
    select
      home + (found.q - _reach_markers.q) * wide + found.r - _reach_markers.r as c,
      found.kind,
      found.value,
      coalesce((found.attributes ->> 'in_cave')::boolean, false) as inside,
      css._marker_does(found.kind) as does
    from public.marker as found
    where found.position_id = _reach_markers.position_id
      and found.q between _reach_markers.q - radius and _reach_markers.q + radius
      and found.r between _reach_markers.r - radius and _reach_markers.r + radius
      and (found.kind not in ('drunk', 'hungover') or side = 'us')
      and not (found.kind = 'pinned' and readings ->> 'css-6' = 'b')
  loop
    if marker.kind = 'dg' and marker.inside then
      cave_dgs[marker.c] := greatest(marker.value, cave_dgs[marker.c]);
    elsif marker.kind = 'dg' then
      dgs[marker.c] := greatest(marker.value, dgs[marker.c]);
    elsif marker.does = 'shuts' then
      fires[marker.c] := 1;
    elsif marker.kind = 'fire_cleared' then
      fires[marker.c] := coalesce(fires[marker.c], 2);
    elsif marker.does is not null and marker.inside then
      cave_slow[marker.c] := 2;
    elsif marker.does is not null then
      slow[marker.c] := greatest(slow[marker.c], case marker.does when 'halves' then 1 else 2 end);
    end if;
  end loop;
  return next;
end
$$;

comment on function css._reach_markers(
  bigint, text, jsonb, integer, integer, integer, integer, integer
) is
'What the markers around a unit do to movement, laid out by the cells of the window.';

create or replace function css._slowed(remaining integer, slow integer)
returns integer
language sql immutable parallel safe
return case slow when 2 then 0 when 1 then css._halved(remaining) else remaining end;

comment on function css._slowed(integer, integer) is
'Halves left to a unit that enters a marked hex: 1 halves them, 2 stops it.';

create or replace function css._in_cave_hex(map_id bigint, q integer, r integer)
returns boolean
language sql stable parallel safe
as $$
  select 'cave' = any(hex.features)
  from public.hex
  where hex.map_id = _in_cave_hex.map_id
    and hex.q = _in_cave_hex.q
    and hex.r = _in_cave_hex.r
$$;

comment on function css._in_cave_hex(bigint, integer, integer) is
'Whether a hex has a cave.';

create or replace function css._beside(
  map_id bigint,
  q integer,
  r integer,
  c integer,
  wide integer,
  tax integer,
  terrains text[],
  halves integer[],
  side_kinds text[],
  off_road integer[],
  road_kinds text[],
  by_road integer[],
  -- what a step along a road costs, by hexside of the window, whose corner is at (east, south)
  east integer,
  south integer,
  roads integer[],
  fires integer[],
  -- what each cell was reached for, where that is all there is to a place, and what a step costs at least
  best integer[],
  dear integer
)
returns table (q integer, r integer, c integer, cave boolean, cost integer)
language sql stable rows 6
as $$
  select
    hex.q,
    hex.r,
    hop.c,
    'cave' = any(hex.features),
    least(
      halves[
        array_position(
          terrains, case when fires[hop.c] = 2 then 'clear' else css._ground(hex.terrain, hex.features) end
        )
      ] + crossing.off_road,
      roads[css._side_cell(wide, _beside.q + hex.q - 2 * east, _beside.r + hex.r - 2 * south)] + crossing.by_road
    ) + tax
  from (
    -- most hexes around were reached for less already: nothing is looked up for them
    select
      step.dq,
      step.dr,
      _beside.c + step.dq * wide + step.dr as c
    from (values (0, -1), (1, -1), (1, 0), (0, 1), (-1, 1), (-1, 0)) as step (dq, dr)
    where best[_beside.c + step.dq * wide + step.dr] > dear is not false
    offset 0
  ) as hop
  inner join public.hex
    on hex.map_id = _beside.map_id and hex.q = _beside.q + hop.dq and hex.r = _beside.r + hop.dr
  cross join lateral (
    select
      case when not coalesce(bool_or(off_road[array_position(side_kinds, hexside.kind)] is null), false)
        then coalesce(sum(off_road[array_position(side_kinds, hexside.kind)]), 0)::integer end as off_road,
      case when not coalesce(bool_or(by_road[array_position(road_kinds, hexside.kind)] is null), false)
        then coalesce(sum(by_road[array_position(road_kinds, hexside.kind)]), 0)::integer end as by_road
    from public.hexside
    where hexside.map_id = _beside.map_id
      and hexside.x = _beside.q + hex.q
      and hexside.y = _beside.r + hex.r
  ) as crossing
  where fires[hop.c] is distinct from 1
$$;

comment on function css._beside(
  bigint, integer, integer, integer, integer, integer, text[], integer[], text[], integer[], text[], integer[],
  integer, integer, integer[], integer[], integer[], integer
) is
'The hexes beside one, and the least that a step into each costs; null where it is closed.';

create or replace function css._burrows(
  map_id bigint,
  q integer,
  r integer,
  c integer,
  wide integer,
  inside integer,
  purse integer,
  first boolean,
  units integer,
  held boolean[],
  filled integer[],
  fires integer[]
)
returns table (q integer, r integer, c integer, inside integer, cost integer)
language sql stable rows 2
as $$
  -- through the mouth
  select
    _burrows.q,
    _burrows.r,
    _burrows.c,
    1 - _burrows.inside,
    2
  where _burrows.purse >= 2
    and case _burrows.inside
      when 0 then coalesce(_burrows.filled[_burrows.c], 0) + _burrows.units <= 2 else _burrows.held[_burrows.c] is null
    end
  union all
  -- from cave to cave, with all it has
  select
    hex.q,
    hex.r,
    cell.c,
    1,
    _burrows.purse
  from lattice.neighbours(_burrows.q, _burrows.r) as beside
  inner join public.hex on hex.map_id = _burrows.map_id and hex.q = beside.nq and hex.r = beside.nr
  cross join lateral (
    select _burrows.c + (hex.q - _burrows.q) * _burrows.wide + hex.r - _burrows.r as c
  ) as cell
  where _burrows.inside = 1
    and _burrows.first
    and _burrows.purse > 0
    and 'cave' = any(hex.features)
    and _burrows.fires[cell.c] is distinct from 1
    and coalesce(_burrows.filled[cell.c], 0) + _burrows.units <= 2
$$;

comment on function css._burrows(
  bigint, integer, integer, integer, integer, integer, integer, boolean, integer, boolean[], integer[], integer[]
) is
'Where a unit in a cave hex can go through the mouth of its cave, or from inside it to the next, and for how much (6.3).';

create or replace function css._reach_units(
  position_id bigint, side text, but text[], home integer, wide integer, q integer, r integer, radius integer
)
returns table (
  -- by cell of the window: enemies hold it; so many friends are inside its cave
  held boolean[], filled integer[]
)
language plpgsql stable rows 1
as $$
#variable_conflict use_variable
declare
  spot record;
begin
  held := '{}';
  filled := '{}';
  for spot in
    select
      home + (counter.q - _reach_units.q) * wide + counter.r - _reach_units.r as c,
      counter.side = _reach_units.side as friend,
      coalesce((counter.attributes ->> 'in_cave')::boolean, false) as inside
    from public.unit as counter
    where counter.position_id = _reach_units.position_id
      and counter.q between _reach_units.q - radius and _reach_units.q + radius
      and counter.r between _reach_units.r - radius and _reach_units.r + radius
      and css._is_unit(counter.kind)
      and counter.code <> all(but)
  loop
    if not spot.friend and not spot.inside then
      held[spot.c] := true;
    elsif spot.friend and spot.inside then
      filled[spot.c] := coalesce(filled[spot.c], 0) + 1;
    end if;
  end loop;
  return next;
end
$$;

comment on function css._reach_units(
  bigint, text, text[], integer, integer, integer, integer, integer
) is
'Who is in the way of a unit, laid out by the cells of the window.';

create or replace function css._reach_prices(mobility text, heavy boolean, tank boolean, readings jsonb)
returns table (
  terrains text[],
  halves integer[],
  cheapest integer,
  side_kinds text[],
  off_road integer[],
  road_kinds text[],
  by_road integer[]
)
language sql stable rows 1
as $$
  select
    ground.kinds,
    ground.halves,
    ground.cheapest,
    sides.kinds,
    sides.off_road,
    sides.road_kinds,
    sides.by_road
  from (
    select
      array_agg(cost.terrain) as kinds,
      array_agg(cost.halves) as halves,
      min(cost.halves) as cheapest
    from css._terrain_costs(_reach_prices.mobility, _reach_prices.tank, readings) as cost
  ) as ground
  cross join (
    select
      array_agg(cost.kind) filter (where not cost.along) as kinds,
      array_agg(cost.halves) filter (where not cost.along) as off_road,
      array_agg(cost.kind) filter (where cost.along) as road_kinds,
      array_agg(cost.halves) filter (where cost.along) as by_road
    from css._crossings(_reach_prices.mobility, _reach_prices.heavy, _reach_prices.tank) as cost
  ) as sides
$$;

comment on function css._reach_prices(text, boolean, boolean, jsonb) is
'What terrain and hexsides cost a mover, as lists that the wave looks up; null where they are closed.';

create or replace function css._reach_key(
  c integer, inside integer, dg integer, purse integer, variants integer, longest integer
)
returns integer
language sql immutable parallel safe
return case
  -- DG1 and DG2 do the same, and so do DG3 and DG4
  when variants > 1 then c * variants + (inside * 3 + (dg + 1) / 2) * (longest + 1) + purse
  else c
end;

comment on function css._reach_key(integer, integer, integer, integer, integer, integer) is
'A place of the search as a number: a cell of the window, and where it matters how the unit is when it is there.';

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
set join_collapse_limit = 1
set enable_hashjoin = off
set enable_mergejoin = off
as $$
#variable_conflict use_variable
declare
  mover record;
  price record;
  marks record;
  others record;
  purse integer;
  longest integer;
  least_cost integer;
  -- the window around the unit: its half width, its width, the unit's cell, its corner
  radius integer;
  wide integer;
  home integer;
  east integer;
  south integer;
  roads integer[];
  trails integer[];
  cheap integer;
  caves boolean;
  variants integer;
  gains boolean;
  disorder integer;
  best integer[];
  came integer[];
  touched integer[];
  -- by cell, cave and DG: one way to be there that spends little and leaves much
  frugal integer[];
  rich integer[];
  kin integer;
  pool record;
  bound integer;
  found record;
begin
  select * into mover from css._mover(position_id, unit, options, conditions, policy);
  purse := css._purse(position_id, unit, false, options, conditions, policy);
  -- 6.2.1: two points more on a trail
  longest := purse + 4;
  -- no step is cheaper than half a point
  radius := greatest(purse, 2);
  wide := 2 * radius + 3;
  home := (radius + 1) * wide + radius + 2;
  east := mover.q - radius - 1;
  south := mover.r - radius - 1;
  select * into price from css._reach_prices(mover.mobility, mover.heavy, mover.tank, mover.readings);
  select costs.roads, costs.trails, costs.cheapest into roads, trails, cheap
  from css._road_costs(mover.map_id, mover.mobility, east, south, wide) as costs;
  select * into marks
  from css._reach_markers(position_id, mover.side, mover.readings, home, wide, mover.q, mover.r, radius);
  select * into others
  from css._reach_units(position_id, mover.side, mover.codes, home, wide, mover.q, mover.r, radius);
  caves := mover.side = 'japan' and mover.mobility = 'leg' and exists (
    select
    from public.hex
    where hex.map_id = mover.map_id
      and hex.q between mover.q - radius and mover.q + radius
      and hex.r between mover.r - radius and mover.r + radius
      and 'cave' = any(hex.features)
  );
  least_cost := least(least(price.cheapest, cheap) + mover.tax, case when caves then 2 end);
  gains := mover.readings ->> 'css-58' = 'a';
  disorder := css._dg_at(position_id, mover.q, mover.r, mover.inside);
  variants := case
    when caves or (gains and (marks.dgs <> '{}' or marks.cave_dgs <> '{}')) or 1 = any(marks.slow)
      then 6 * (longest + 1)
    else 1
  end;

  foreach trail in array array[false, true] loop
    if mover.off_road then
      roads := '{}';
    end if;
    if trail then
      exit when mover.inside or mover.off_road or trails = '{}';
      roads := trails;
      price.halves := null;
      purse := css._purse(position_id, unit, true, options, conditions, policy);
    end if;
    best := array_fill(1 << 30, array[variants * (wide * wide + 1)]);
    came := best;
    select
      array[mover.q] as q,
      array[mover.r] as r,
      array[mover.inside::integer] as inside,
      array[mover.inside or css._in_cave_hex(mover.map_id, mover.q, mover.r)] as cave,
      array[disorder] as dg,
      array[purse] as purse,
      array[0] as spent,
      array[css._reach_key(home, mover.inside::integer, disorder, purse, variants, longest)] as k
    into pool;
    best[pool.k[1]] := 0;
    came[pool.k[1]] := null;
    touched := pool.k;
    frugal := array_fill(1 << 30, array[case when variants > 1 then 6 * (wide * wide + 1) else 0 end]);
    rich := frugal;
    loop
      -- who has spent least cannot be reached for less any more
      select min(place.spent) + least_cost into bound from unnest(pool.spent) as place (spent);
      exit when bound is null;
      select
        array_agg(reached.q) as q,
        array_agg(reached.r) as r,
        array_agg(reached.inside) as inside,
        array_agg(reached.cave) as cave,
        array_agg(reached.dg) as dg,
        array_agg(reached.purse) as purse,
        array_agg((reached.told >> 32)::integer) as spent,
        array_agg(reached.k) as k,
        array_agg((reached.told & 4294967295)::integer) as via
      into found
      from (
        select
          css._reach_key(entered.c, entered.inside, entered.dg, entered.purse, variants, longest) as k,
          min(entered.q) as q,
          min(entered.r) as r,
          min(entered.inside) as inside,
          bool_or(entered.cave) as cave,
          max(entered.dg) as dg,
          max(entered.purse) as purse,
          min((entered.spent::bigint << 32) + entered.via) as told
        from (
          select
            stepped.q,
            stepped.r,
            stepped.c,
            stepped.inside,
            stepped.cave,
            greatest(stepped.dg, stepped.met) as dg,
            css._slowed(
              css._dg_left(
                stepped.purse - stepped.cost, stepped.dg,
                case when gains then greatest(stepped.dg, stepped.met) else stepped.dg end
              ),
              stepped.slow
            ) as purse,
            stepped.spent + stepped.cost as spent,
            stepped.via
          from (
            -- into the hexes around
            select
              beside.q,
              beside.r,
              beside.c,
              0 as inside,
              beside.cave,
              f.dg,
              -- DG that lies there, and what slows it down
              marks.dgs[beside.c] as met,
              marks.slow[beside.c] as slow,
              f.purse,
              f.spent,
              beside.cost,
              f.k as via
            from unnest(pool.q, pool.r, pool.inside, pool.dg, pool.purse, pool.spent, pool.k)
              as f (q, r, inside, dg, purse, spent, k)
            cross join lateral css._beside(
              mover.map_id, f.q, f.r, home + (f.q - mover.q) * wide + f.r - mover.r, wide, mover.tax,
              price.terrains, price.halves, price.side_kinds, price.off_road, price.road_kinds, price.by_road,
              east, south, roads, marks.fires, case when variants = 1 then best end, f.spent + least_cost
            ) as beside
            where f.spent < bound
              and f.spent = best[f.k]
              and f.inside = 0
              and f.purse > 0
              and beside.cost <= f.purse
              and others.held[beside.c] is null
            union all
            select
              burrow.q,
              burrow.r,
              burrow.c,
              burrow.inside,
              true,
              f.dg,
              case burrow.inside when 0 then marks.dgs[burrow.c] else marks.cave_dgs[burrow.c] end,
              case burrow.inside when 1 then marks.cave_slow[burrow.c] end,
              f.purse,
              f.spent,
              burrow.cost,
              f.k
            from unnest(pool.q, pool.r, pool.inside, pool.cave, pool.dg, pool.purse, pool.spent, pool.k)
              as f (q, r, inside, cave, dg, purse, spent, k)
            cross join lateral css._burrows(
              mover.map_id, f.q, f.r, home + (f.q - mover.q) * wide + f.r - mover.r, wide, f.inside, f.purse,
              f.spent = 0, mover.units, others.held, others.filled, marks.fires
            ) as burrow
            where f.spent < bound
              and f.spent = best[f.k]
              and caves
              and not trail
              and f.cave
          ) as stepped
        ) as entered
        group by 1
      ) as reached
      where (reached.told >> 32) < best[reached.k];
      for n in 1..coalesce(cardinality(found.k), 0) loop
        if variants > 1 then
          -- who has spent more and has less left, and is as disorganized, gains nothing by going on
          kin := found.k[n] / (longest + 1);
          continue when frugal[kin] <= found.spent[n] and rich[kin] >= found.purse[n];
          if found.spent[n] <= frugal[kin] then
            frugal[kin] := found.spent[n];
            rich[kin] := found.purse[n];
          end if;
        end if;
        best[found.k[n]] := found.spent[n];
        came[found.k[n]] := found.via[n];
        touched := touched || found.k[n];
      end loop;
      select
        array_agg(place.q) as q,
        array_agg(place.r) as r,
        array_agg(place.inside) as inside,
        array_agg(place.cave) as cave,
        array_agg(place.dg) as dg,
        array_agg(place.purse) as purse,
        array_agg(place.spent) as spent,
        array_agg(place.k) as k
      into pool
      from (
        select *
        from unnest(pool.q, pool.r, pool.inside, pool.cave, pool.dg, pool.purse, pool.spent, pool.k)
        union all
        select *
        from unnest(found.q, found.r, found.inside, found.cave, found.dg, found.purse, found.spent, found.k)
      ) as place (q, r, inside, cave, dg, purse, spent, k)
      where place.spent >= bound and place.purse > 0;
    end loop;
    return query
    select distinct
      reached.k,
      came[reached.k],
      trail,
      mover.q + (reached.k / variants - 1) / wide - radius - 1,
      mover.r + (reached.k / variants - 1) % wide - radius - 1,
      variants > 1 and reached.k % variants >= 3 * (longest + 1),
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
    select * from css._mover(
      _few_steps.position_id, _few_steps.unit, _few_steps.options, _few_steps.conditions, _few_steps.policy
    )
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
  where (wave.q, wave.r, wave.inside) not in (
    select rival.q, rival.r, rival.inside
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
  from css._mover(
    reach_path.position_id, reach_path.unit, reach_path.options, reach_path.conditions, reach_path.policy
  );
  if not exists (select from public.hex where hex.map_id = mover.map_id and hex.label = reach_path."to") then
    raise exception 'there is no hex % on the map', reach_path."to" using errcode = 'no_data_found';
  elsif not exists (
    select
    from css.reach(
      reach_path.position_id, reach_path.unit, reach_path.options, reach_path.conditions, reach_path.policy
    ) as goal
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
        and (wave.q, wave.r, wave.inside) not in (
          select rival.q, rival.r, rival.inside
          from css._rivals(reach_path.position_id, mover.side, mover.service, mover.codes) as rival
        )
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
returns setof rulings.move_step
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
      null::integer,
      null::integer,
      null::text;
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
    coalesce(told.halves, told.remaining),
    null::integer,
    null::text
  from css._setting_out(
    reach_reasons.position_id, reach_reasons.unit, false, reach_reasons.options, reach_reasons.conditions,
    reach_reasons.policy
  ) as told;
  if mover.mobility is null or mover.movement is null then
    return;
  end if;
  return query
  with wave as materialized (
    select *
    from css._wave(
      reach_reasons.position_id, reach_reasons.unit, reach_reasons.options, reach_reasons.conditions,
      reach_reasons.policy
    )
  ),
  reached as materialized (
    select distinct
      wave.q,
      wave.r,
      wave.trail
    from wave
    where not wave.inside
  ),
  -- 6.3: in or out through the mouth of a cave, and from cave to cave
  caves as (
    select distinct on (burrows.yes)
      hex.label as at,
      case when burrows.yes then 'from cave to cave, with all it has' else 'through the mouth of a cave' end as note,
      here.spent - there.spent as halves
    from wave as here
    inner join wave as there on there.state = here.via and there.trail = here.trail
    inner join public.hex on hex.map_id = mover.map_id and hex.q = here.q and hex.r = here.r
    cross join lateral (select here.inside and there.inside as yes) as burrows
    where here.inside or there.inside
    order by burrows.yes, hex.label, here.spent - there.spent
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
  select told.rule, null::text, told.at, told.effect, told.note, told.point, told.halves, null::integer, null::text
  from (select * from ground union all select * from sides union all select * from roads) as told
  union all
  select '6.3', null, caves.at, 'cost', caves.note, null, caves.halves, null, null
  from caves
  union all
  select '6.2.1', null, mover.label, '+2', 'on a trail from beginning to end', null, 4, null, null
  where exists (select from reached where reached.trail and (reached.q, reached.r) <> (mover.q, mover.r))
  union all
  select
    '16.0', null, null, 'cost', 'interdiction, every hex', case when mover.side = 'us' then 'css-57' end, mover.tax,
    null, null
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
    null,
    null,
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
      edge.q, edge.r - 1, edge.q, edge.r, true
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
    where (rival.q, rival.r) = (edge.q, edge.r) and not rival.inside
  ) as bar;
end
$$;

comment on function css.reach_reasons(bigint, text, jsonb, jsonb, jsonb) is
'What shapes a reach: the allowance and what lowers it, what each kind of ground costs, what shuts hexes out.';
