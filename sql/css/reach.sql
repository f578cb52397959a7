-- needs: css/move.sql
-- Where a unit can go in css (Guam): the costs of css.move, searched as a wave from hex to hex.
--
-- A round takes all places that were reached more cheaply than before, and enters what lies beside them; what
-- the ground costs is looked up as the wave comes to it. A place is a hex, or the inside of its cave. Where
-- markers lower what is left on the way (8.7.2, 10.2.3), to spend least is not always to have most left; then
-- how much is left, and how disorganized the unit is, are part of the place. All costs are above zero, so a
-- unit with nothing left goes no farther.
--
-- The hexes that might be reached are a square window around the unit. A cell of it is a number, and what the
-- search looks up by cell is an array.

drop type if exists css.survey cascade;
create type css.survey as (
  map_id bigint,
  q integer,
  r integer,
  radius integer,
  wide integer,
  home integer,
  east integer,
  south integer,
  units integer,
  tax integer,
  terrains text array,
  halves integer array,
  side_kinds text array,
  off_road integer array,
  road_kinds text array,
  by_road integer array,
  dgs integer array,
  slow integer array,
  cave_dgs integer array,
  cave_slow integer array,
  fires integer array,
  held boolean array,
  filled integer array,
  caves boolean,
  gains boolean,
  least_cost integer,
  longest integer,
  variants integer
);

comment on type css.survey is
'What a search looks up: the window around a unit, what the ground costs it, and what lies in the window by cell.';
comment on column css.survey.radius is 'Half the width of the window; wide: its width';
comment on column css.survey.home is 'The cell that the unit starts in; east and south: the corner of the window';
comment on column css.survey.terrains is 'Kinds of terrain; halves: what each costs off a road, null where it is closed';
comment on column css.survey.side_kinds is
'Kinds of hexside; off_road: what each adds off a road, null where it is closed; road_kinds and by_road: along one';
comment on column css.survey.dgs is 'By cell, DG; cave_dgs: inside the cave there';
comment on column css.survey.slow is 'By cell, 1 halves what is left, 2 stops; cave_slow: inside the cave there';
comment on column css.survey.fires is 'By cell, 1 burns, 2 is burnt';
comment on column css.survey.held is 'By cell, whether enemies hold it; filled: how many friends are inside its cave';
comment on column css.survey.caves is 'Whether the unit may go into a cave of the window';
comment on column css.survey.gains is 'Whether DG that it comes to lowers what it has left (css-58)';
comment on column css.survey.least_cost is 'What a step costs at least';
comment on column css.survey.longest is 'The most that it can spend';
comment on column css.survey.variants is 'States that the search tells apart in a cell; 1 where the cell is all';

drop type if exists css.front cascade;
create type css.front as (
  q integer array,
  r integer array,
  inside integer array,
  cave boolean array,
  dg integer array,
  purse integer array,
  spent integer array,
  k integer array,
  via integer array
);

comment on type css.front is
'The places that a round of the search has come to, and how the unit is there; via: the state it comes from.';

drop type if exists css.reached cascade;
create type css.reached as (
  state integer,
  via integer,
  trail boolean,
  q integer,
  r integer,
  inside boolean,
  spent integer
);

comment on type css.reached is
'A place that a unit comes to, and the least it spends on the way there.';
comment on column css.reached.state is 'The place, and how the unit is there, as a number; via: the one it comes from, null at the start';
comment on column css.reached.trail is 'Whether it keeps to a trail all the way (6.2.1)';

drop type if exists css.verge cascade;
create type css.verge as (
  q integer,
  r integer,
  label text,
  terrain text
);

comment on type css.verge is
'A hex that a reach comes to or ends before.';

create or replace function css._purse(mover css.mover, trail boolean)
returns integer
language sql stable
as $$
  select
    case
      when not bool_or(step.effect in ('forbids', 'unknown'))
        then (array_agg(step.remaining order by step.ordinality desc) filter (where step.remaining is not null))[1]
      else 0
    end
  from css._allowance_steps(mover, trail) with ordinality as step
$$;

comment on function css._purse(css.mover, boolean) is
'Halves a unit may spend; none where something forbids it to move, or is not told.';

create or replace function css._side_cell(wide integer, x integer, y integer)
returns integer
language sql immutable parallel safe
return 2 * wide * x + y + 1;

comment on function css._side_cell(integer, integer, integer) is
'A hexside of the window as an index, by its doubled cell counted from the corner.';

create or replace function css._road_costs(survey css.survey, mobility text)
returns table (roads integer[], trails integer[], cheapest integer)
language plpgsql stable rows 1
as $$
#variable_conflict use_variable
declare
  link record;
begin
  roads := array_fill(null::integer, array[4 * survey.wide * survey.wide]);
  trails := '{}';
  for link in
    select
      css._side_cell(
        survey.wide,
        path.qs[n.n] + path.qs[n.n + 1] - 2 * survey.east,
        path.rs[n.n] + path.rs[n.n + 1] - 2 * survey.south
      ) as cell,
      min(road.halves) as halves,
      min(road.halves) filter (where path.kind = 'trail') as trail
    from public.path
    inner join css._roads(mobility) as road on road.kind = path.kind
    cross join lateral generate_series(1, cardinality(path.qs) - 1) as n (n)
    where path.map_id = survey.map_id
      and path.qs[n.n] > survey.east
      and path.qs[n.n] < survey.east + survey.wide - 1
      and path.rs[n.n] > survey.south
      and path.rs[n.n] < survey.south + survey.wide - 1
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

comment on function css._road_costs(css.survey, text) is
'What a step along a path costs, along any and along a trail, by hexside of the window around a unit.';

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

create or replace function css._with_markers(survey css.survey, mover css.mover)
returns css.survey
language plpgsql stable
as $$
declare
  after css.survey := survey;
  marker record;
begin
  after.dgs := '{}';
  after.slow := '{}';
  after.cave_dgs := '{}';
  after.cave_slow := '{}';
  after.fires := '{}';
  for marker in
    select
      survey.home + (found.q - survey.q) * survey.wide + found.r - survey.r as c,
      found.kind,
      found.value,
      coalesce((found.attributes ->> 'in_cave')::boolean, false) as inside,
      css._marker_does(found.kind) as does
    from public.marker as found
    where found.position_id = mover.position_id
      and found.q between survey.q - survey.radius and survey.q + survey.radius
      and found.r between survey.r - survey.radius and survey.r + survey.radius
      and (found.kind not in ('drunk', 'hungover') or mover.side = 'us')
      and not (found.kind = 'pinned' and mover.readings ->> 'css-6' = 'b')
  loop
    if marker.kind = 'dg' and marker.inside then
      after.cave_dgs[marker.c] := greatest(marker.value, after.cave_dgs[marker.c]);
    elsif marker.kind = 'dg' then
      after.dgs[marker.c] := greatest(marker.value, after.dgs[marker.c]);
    elsif marker.does = 'shuts' then
      after.fires[marker.c] := 1;
    elsif marker.kind = 'fire_cleared' then
      after.fires[marker.c] := coalesce(after.fires[marker.c], 2);
    elsif marker.does is not null and marker.inside then
      after.cave_slow[marker.c] := 2;
    elsif marker.does is not null then
      after.slow[marker.c] := greatest(after.slow[marker.c], case marker.does when 'halves' then 1 else 2 end);
    end if;
  end loop;
  return after;
end
$$;

comment on function css._with_markers(css.survey, css.mover) is
'A survey with what the markers around a unit do to movement.';

create or replace function css._with_units(survey css.survey, mover css.mover)
returns css.survey
language plpgsql stable
as $$
declare
  after css.survey := survey;
  spot record;
begin
  after.held := '{}';
  after.filled := '{}';
  for spot in
    select
      survey.home + (counter.q - survey.q) * survey.wide + counter.r - survey.r as c,
      counter.side = mover.side as friend,
      coalesce((counter.attributes ->> 'in_cave')::boolean, false) as inside
    from public.unit as counter
    where counter.position_id = mover.position_id
      and counter.q between survey.q - survey.radius and survey.q + survey.radius
      and counter.r between survey.r - survey.radius and survey.r + survey.radius
      and css._is_unit(counter.kind)
      and counter.code <> all(mover.codes)
  loop
    if not spot.friend and not spot.inside then
      after.held[spot.c] := true;
    elsif spot.friend and spot.inside then
      after.filled[spot.c] := coalesce(after.filled[spot.c], 0) + 1;
    end if;
  end loop;
  return after;
end
$$;

comment on function css._with_units(css.survey, css.mover) is
'A survey with who is in the way of a unit.';

create or replace function css._survey(mover css.mover, purse integer)
returns css.survey
language plpgsql stable
as $$
declare
  survey css.survey;
  price record;
begin
  select * into price from css._reach_prices(mover.mobility, mover.heavy, mover.tank, mover.readings);
  survey.map_id := mover.map_id;
  survey.q := mover.q;
  survey.r := mover.r;
  -- no step is cheaper than half a point
  survey.radius := greatest(purse, 2);
  survey.wide := 2 * survey.radius + 3;
  survey.home := (survey.radius + 1) * survey.wide + survey.radius + 2;
  survey.east := mover.q - survey.radius - 1;
  survey.south := mover.r - survey.radius - 1;
  survey.units := mover.units;
  survey.tax := mover.tax;
  survey.terrains := price.terrains;
  survey.halves := price.halves;
  survey.side_kinds := price.side_kinds;
  survey.off_road := price.off_road;
  survey.road_kinds := price.road_kinds;
  survey.by_road := price.by_road;
  survey := css._with_markers(survey, mover);
  survey := css._with_units(survey, mover);
  survey.caves := mover.side = 'japan' and mover.mobility = 'leg' and exists (
    select
    from public.hex
    where hex.map_id = mover.map_id
      and hex.q between mover.q - survey.radius and mover.q + survey.radius
      and hex.r between mover.r - survey.radius and mover.r + survey.radius
      and 'cave' = any(hex.features)
  );
  survey.gains := mover.readings ->> 'css-58' = 'a';
  survey.least_cost := least(price.cheapest + mover.tax, case when survey.caves then 2 end);
  -- 6.2.1: two points more on a trail
  survey.longest := purse + 4;
  survey.variants := case
    when survey.caves or (survey.gains and (survey.dgs <> '{}' or survey.cave_dgs <> '{}')) or 1 = any(survey.slow)
      then 6 * (survey.longest + 1)
    else 1
  end;
  return survey;
end
$$;

comment on function css._survey(css.mover, integer) is
'What the search for where a unit can go looks up, before roads are known.';

create or replace function css._slowed(remaining integer, slow integer)
returns integer
language sql immutable parallel safe
return case slow when 2 then 0 when 1 then css._halved(remaining) else remaining end;

comment on function css._slowed(integer, integer) is
'Halves left to a unit that enters a marked hex: 1 halves them, 2 stops it.';

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

create or replace function css._slot(k integer, variants integer, slots integer[])
returns integer
language sql immutable parallel safe
return case when variants > 1 then slots[k / variants] * variants + k % variants else k end;

comment on function css._slot(integer, integer, integer[]) is
'Where what is known of a place of the search is kept. How a unit may be in a hex is many ways, so only hexes that
it comes to have room for them: the first that it reaches is 1 of slots, the second 2; 0 is none.';

create or replace function css._start(mover css.mover, survey css.survey, purse integer)
returns css.front
language plpgsql stable
as $$
declare
  disorder constant integer := css._dg_at(mover.position_id, mover.q, mover.r, mover.inside);
  inside constant integer := mover.inside::integer;
  front css.front;
begin
  front.q := array[mover.q];
  front.r := array[mover.r];
  front.inside := array[inside];
  front.cave := array[mover.inside or css._in_cave_hex(mover.map_id, mover.q, mover.r)];
  front.dg := array[disorder];
  front.purse := array[purse];
  front.spent := array[0];
  front.k := array[css._reach_key(survey.home, inside, disorder, purse, survey.variants, survey.longest)];
  return front;
end
$$;

comment on function css._start(css.mover, css.survey, integer) is
'The place that a unit starts from, as the first front of a search.';

create or replace function css._beside(
  survey css.survey, roads integer[], q integer, r integer, c integer, best integer[], dear integer
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
      survey.halves[
        array_position(
          survey.terrains,
          case when survey.fires[hop.c] = 2 then 'clear' else css._ground(hex.terrain, hex.features) end
        )
      ] + crossing.off_road,
      roads[
        css._side_cell(survey.wide, _beside.q + hex.q - 2 * survey.east, _beside.r + hex.r - 2 * survey.south)
      ] + crossing.by_road
    ) + survey.tax
  from (
    -- most hexes around were reached for less already: nothing is looked up for them
    select
      step.dq,
      step.dr,
      _beside.c + step.dq * survey.wide + step.dr as c
    from (values (0, -1), (1, -1), (1, 0), (0, 1), (-1, 1), (-1, 0)) as step (dq, dr)
    where best[_beside.c + step.dq * survey.wide + step.dr] > dear is not false
    offset 0
  ) as hop
  inner join public.hex
    on hex.map_id = survey.map_id and hex.q = _beside.q + hop.dq and hex.r = _beside.r + hop.dr
  cross join lateral (
    select
      case when not coalesce(bool_or(survey.off_road[array_position(survey.side_kinds, hexside.kind)] is null), false)
        then coalesce(sum(survey.off_road[array_position(survey.side_kinds, hexside.kind)]), 0)::integer
      end as off_road,
      case when not coalesce(bool_or(survey.by_road[array_position(survey.road_kinds, hexside.kind)] is null), false)
        then coalesce(sum(survey.by_road[array_position(survey.road_kinds, hexside.kind)]), 0)::integer
      end as by_road
    from public.hexside
    where hexside.map_id = survey.map_id
      and hexside.x = _beside.q + hex.q
      and hexside.y = _beside.r + hex.r
  ) as crossing
  where survey.fires[hop.c] is distinct from 1
$$;

comment on function css._beside(css.survey, integer[], integer, integer, integer, integer[], integer) is
'The hexes beside one, and the least that a step into each costs; null where it is closed. What was reached'
' for less than would be dear is left out.';

create or replace function css._burrows(
  survey css.survey, q integer, r integer, c integer, inside integer, purse integer, first boolean
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
      when 0 then coalesce(survey.filled[_burrows.c], 0) + survey.units <= 2 else survey.held[_burrows.c] is null
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
  inner join public.hex on hex.map_id = survey.map_id and hex.q = beside.nq and hex.r = beside.nr
  cross join lateral (
    select _burrows.c + (hex.q - _burrows.q) * survey.wide + hex.r - _burrows.r as c
  ) as cell
  where _burrows.inside = 1
    and _burrows.first
    and _burrows.purse > 0
    and 'cave' = any(hex.features)
    and survey.fires[cell.c] is distinct from 1
    and coalesce(survey.filled[cell.c], 0) + survey.units <= 2
$$;

comment on function css._burrows(css.survey, integer, integer, integer, integer, integer, boolean) is
'Where a unit in a cave hex can go through the mouth of its cave, or from inside it to the next, and for how much (6.3).';

create or replace function css._strides(
  survey css.survey, front css.front, roads integer[], best integer[], slots integer[], bound integer, trail boolean
)
returns table (
  q integer,
  r integer,
  c integer,
  inside integer,
  cave boolean,
  dg integer,
  -- DG that lies there, and what slows it down
  met integer,
  slow integer,
  purse integer,
  spent integer,
  cost integer,
  via integer
)
language sql stable rows 50
as $$
  -- into the hexes around
  select
    beside.q,
    beside.r,
    beside.c,
    0,
    beside.cave,
    f.dg,
    survey.dgs[beside.c],
    survey.slow[beside.c],
    f.purse,
    f.spent,
    beside.cost,
    f.k
  from unnest(front.q, front.r, front.inside, front.dg, front.purse, front.spent, front.k)
    as f (q, r, inside, dg, purse, spent, k)
  cross join lateral css._beside(
    survey, roads, f.q, f.r, survey.home + (f.q - survey.q) * survey.wide + f.r - survey.r,
    case when survey.variants = 1 then best end, f.spent + survey.least_cost
  ) as beside
  where f.spent < bound
    and f.spent = best[css._slot(f.k, survey.variants, slots)]
    and f.inside = 0
    and f.purse > 0
    and beside.cost <= f.purse
    and survey.held[beside.c] is null
  union all
  select
    burrow.q,
    burrow.r,
    burrow.c,
    burrow.inside,
    true,
    f.dg,
    case burrow.inside when 0 then survey.dgs[burrow.c] else survey.cave_dgs[burrow.c] end,
    case burrow.inside when 1 then survey.cave_slow[burrow.c] end,
    f.purse,
    f.spent,
    burrow.cost,
    f.k
  from unnest(front.q, front.r, front.inside, front.cave, front.dg, front.purse, front.spent, front.k)
    as f (q, r, inside, cave, dg, purse, spent, k)
  cross join lateral css._burrows(
    survey, f.q, f.r, survey.home + (f.q - survey.q) * survey.wide + f.r - survey.r, f.inside, f.purse, f.spent = 0
  ) as burrow
  where f.spent < bound
    and f.spent = best[css._slot(f.k, survey.variants, slots)]
    and survey.caves
    and not trail
    and f.cave
$$;

comment on function css._strides(css.survey, css.front, integer[], integer[], integer[], integer, boolean) is
'Every step from the places of a front that have spent less than a bound: beside them, and through caves.';

create or replace function css._entered_places(
  survey css.survey, front css.front, roads integer[], best integer[], slots integer[], bound integer, trail boolean
)
returns table (
  k integer,
  q integer,
  r integer,
  inside integer,
  cave boolean,
  dg integer,
  purse integer,
  -- what was spent, and below that the state it comes from
  cheapest bigint
)
language sql stable rows 50
as $$
  select
    css._reach_key(entered.c, entered.inside, entered.dg, entered.purse, survey.variants, survey.longest),
    min(entered.q),
    min(entered.r),
    min(entered.inside),
    bool_or(entered.cave),
    max(entered.dg),
    max(entered.purse),
    min((entered.spent::bigint << 32) + entered.via)
  from (
    select
      stride.q,
      stride.r,
      stride.c,
      stride.inside,
      stride.cave,
      greatest(stride.dg, stride.met) as dg,
      css._slowed(
        css._dg_left(
          stride.purse - stride.cost, stride.dg,
          case when survey.gains then greatest(stride.dg, stride.met) else stride.dg end
        ),
        stride.slow
      ) as purse,
      stride.spent + stride.cost as spent,
      stride.via
    from css._strides(survey, front, roads, best, slots, bound, trail) as stride
  ) as entered
  group by 1
$$;

comment on function css._entered_places(css.survey, css.front, integer[], integer[], integer[], integer, boolean) is
'The places that the steps from a front lead to, each once, as the unit is there when it has spent least.';

create or replace function css._gains(
  survey css.survey, front css.front, roads integer[], best integer[], slots integer[], bound integer, trail boolean
)
returns setof css.front
language sql stable rows 1
as $$
  select
    array_agg(entry.q),
    array_agg(entry.r),
    array_agg(entry.inside),
    array_agg(entry.cave),
    array_agg(entry.dg),
    array_agg(entry.purse),
    array_agg((entry.cheapest >> 32)::integer),
    array_agg(entry.k),
    array_agg((entry.cheapest & 4294967295)::integer)
  from css._entered_places(survey, front, roads, best, slots, bound, trail) as entry
  where (entry.cheapest >> 32) < best[css._slot(entry.k, survey.variants, slots)] is not false
$$;

comment on function css._gains(css.survey, css.front, integer[], integer[], integer[], integer, boolean) is
'The places that a round of the search reaches more cheaply than before.';

create or replace function css._next_front(front css.front, found css.front, bound integer)
returns setof css.front
language sql stable rows 1
as $$
  select
    array_agg(place.q),
    array_agg(place.r),
    array_agg(place.inside),
    array_agg(place.cave),
    array_agg(place.dg),
    array_agg(place.purse),
    array_agg(place.spent),
    array_agg(place.k),
    null::integer[]
  from (
    select *
    from unnest(front.q, front.r, front.inside, front.cave, front.dg, front.purse, front.spent, front.k)
    union all
    select *
    from unnest(found.q, found.r, found.inside, found.cave, found.dg, found.purse, found.spent, found.k)
  ) as place (q, r, inside, cave, dg, purse, spent, k)
  where place.spent >= bound and place.purse > 0
$$;

comment on function css._next_front(css.front, css.front, integer) is
'The places that are yet to be gone on from: those of a front beyond its bound, and those that were found.';

create or replace function css._wave(mover css.mover)
returns setof css.reached
language plpgsql stable rows 300
set plan_cache_mode = force_generic_plan
set join_collapse_limit = 1
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  trail boolean;
  purse integer := css._purse(mover, false);
  survey css.survey := css._survey(mover, purse);
  roads integer[];
  trails integer[];
  cheap integer;
  best integer[];
  came integer[];
  touched integer[];
  cells integer;
  slots integer[];
  room integer;
  -- by cell, cave and DG: one way to be there that spends little and leaves much
  frugal integer[];
  rich integer[];
  kin integer;
  pool css.front;
  bound integer;
  found css.front;
begin
  select costs.roads, costs.trails, costs.cheapest into roads, trails, cheap
  from css._road_costs(survey, mover.mobility) as costs;
  survey.least_cost := least(survey.least_cost, cheap + mover.tax);
  if mover.off_road then
    roads := '{}';
  end if;
  foreach trail in array array[false, true] loop
    if trail then
      exit when mover.inside or mover.off_road or trails = '{}';
      roads := trails;
      survey.halves := null;
      purse := css._purse(mover, true);
    end if;
    cells := survey.wide * survey.wide + 1;
    room := 0;
    best := array_fill(case when survey.variants = 1 then 1 << 30 end, array[case when survey.variants = 1 then cells else 1 end]);
    came := best;
    slots := array_fill(0, array[case when survey.variants = 1 then 0 else cells end]);
    frugal := array_fill(1 << 30, array[case when survey.variants = 1 then 0 else 6 * cells end]);
    rich := frugal;
    touched := '{}';
    found := css._start(mover, survey, purse);
    pool := null;
    bound := 0;
    loop
      for n in 1..coalesce(cardinality(found.k), 0) loop
        if survey.variants > 1 then
          -- who has spent more and has less left, and is as disorganized, gains nothing by going on
          kin := found.k[n] / (survey.longest + 1);
          continue when frugal[kin] <= found.spent[n] and rich[kin] >= found.purse[n];
          if found.spent[n] <= frugal[kin] then
            frugal[kin] := found.spent[n];
            rich[kin] := found.purse[n];
          end if;
          if slots[found.k[n] / survey.variants] = 0 then
            room := room + 1;
            slots[found.k[n] / survey.variants] := room;
          end if;
        end if;
        best[css._slot(found.k[n], survey.variants, slots)] := found.spent[n];
        came[css._slot(found.k[n], survey.variants, slots)] := found.via[n];
        touched := touched || found.k[n];
      end loop;
      select * into pool from css._next_front(pool, found, bound);
      -- who has spent least cannot be reached for less any more
      select min(place.spent) + survey.least_cost into bound from unnest(pool.spent) as place (spent);
      exit when bound is null;
      select * into found from css._gains(survey, pool, roads, best, slots, bound, trail);
    end loop;
    return query
    select distinct
      reached.k,
      came[reached.slot],
      trail,
      survey.q + (reached.k / survey.variants - 1) / survey.wide - survey.radius - 1,
      survey.r + (reached.k / survey.variants - 1) % survey.wide - survey.radius - 1,
      survey.variants > 1 and reached.k % survey.variants >= 3 * (survey.longest + 1),
      best[reached.slot]
    from (
      select place.k, css._slot(place.k, survey.variants, slots) as slot from unnest(touched) as place (k)
    ) as reached;
  end loop;
end
$$;

comment on function css._wave(css.mover) is
'Every place a unit comes to, with the least it spends on the way there and the place it comes from.';

create or replace function css._few_steps(mover css.mover)
returns table (q integer, r integer, label text, way text[])
language sql stable rows 10
as $$
  with near as materialized (
    select
      mover.label as home,
      hex.q,
      hex.r,
      hex.label,
      lattice.distance(mover.q, mover.r, hex.q, hex.r) as away
    from lattice.disc(mover.q, mover.r, case mover.manner when 'advance' then 1 else 2 end) as disc
    inner join public.hex on hex.map_id = mover.map_id and hex.q = disc.hq and hex.r = disc.hr
  ),
  tried as (
    select
      hex.q,
      hex.r,
      hex.label,
      array[hex.label] as way
    from public.hex
    where hex.map_id = mover.map_id and hex.label = mover.zone ->> 'beach'
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
      mover.position_id, mover.unit, tried.way, mover.options, mover.conditions, mover.policy
    ) as step
    where step.effect = 'legal'
  )
  order by tried.label, cardinality(tried.way), tried.way
$$;

comment on function css._few_steps(css.mover) is
'Where a landing, an advance or a shift by night leads: every way of a step or two that css.move allows.';

create or replace function css._by_points(mover css.mover)
returns boolean
language sql immutable parallel safe
return mover.zone is null and mover.manner = 'move';

comment on function css._by_points(css.mover) is
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
  mover css.mover := css._mover(reach.position_id, reach.unit, reach.options, reach.conditions, reach.policy);
begin
  if mover.zone is null and mover.q is null then
    raise exception 'the unit % is not on the map', reach.unit using errcode = 'no_data_found';
  elsif not css._by_points(mover) then
    return query
    select step.q, step.r, step.label, 0
    from css._few_steps(mover) as step;
    return;
  end if;
  return query
  select
    wave.q,
    wave.r,
    hex.label,
    min(wave.spent)
  from css._wave(mover) as wave
  inner join public.hex on hex.map_id = mover.map_id and hex.q = wave.q and hex.r = wave.r
  where (wave.q, wave.r, wave.inside) not in (
    select rival.q, rival.r, rival.inside
    from css._rivals(mover) as rival
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
  mover css.mover := css._mover(
    reach_path.position_id, reach_path.unit, reach_path.options, reach_path.conditions, reach_path.policy
  );
begin
  if not exists (select from public.hex where hex.map_id = mover.map_id and hex.label = reach_path."to") then
    raise exception 'there is no hex % on the map', reach_path."to" using errcode = 'no_data_found';
  elsif mover.zone is null and mover.q is null then
    raise exception 'the unit % is not on the map', reach_path.unit using errcode = 'no_data_found';
  elsif not css._by_points(mover) then
    return query
    select way.n::integer, hex.q, hex.r, hex.label, 0
    from css._few_steps(mover) as step
    cross join lateral unnest(step.way) with ordinality as way (label, n)
    inner join public.hex on hex.map_id = mover.map_id and hex.label = way.label
    where step.label = reach_path."to"
    order by 1;
    return;
  end if;
  return query
  with recursive wave as materialized (
    select * from css._wave(mover)
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
          from css._rivals(mover) as rival
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

create or replace function css.reach_paths(
  position_id bigint,
  unit text,
  options jsonb default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns table (label text, path text[], halves integer)
language plpgsql stable rows 100
as $$
#variable_conflict use_column
declare
  mover css.mover := css._mover(
    reach_paths.position_id, reach_paths.unit, reach_paths.options, reach_paths.conditions, reach_paths.policy
  );
begin
  if mover.zone is null and mover.q is null then
    return;
  elsif not css._by_points(mover) then
    return query
    select step.label, array_remove(step.way, mover.label), 0
    from css._few_steps(mover) as step
    order by step.label;
    return;
  end if;
  return query
  with recursive wave as materialized (
    select place.*, hex.label
    from css._wave(mover) as place
    inner join public.hex on hex.map_id = mover.map_id and hex.q = place.q and hex.r = place.r
  ),
  way as (
    select wave.state, wave.trail, array[]::text[] as path
    from wave
    where wave.via is null
    union all
    select wave.state, wave.trail, way.path || wave.label
    from way
    inner join wave on wave.via = way.state and wave.trail = way.trail
  )
  select distinct on (wave.label) wave.label, way.path, wave.spent
  from way
  inner join wave on wave.state = way.state and wave.trail = way.trail
  where cardinality(way.path) > 0
    and wave.label <> mover.label
    and (wave.q, wave.r, wave.inside) not in (
      select rival.q, rival.r, rival.inside
      from css._rivals(mover) as rival
    )
  order by wave.label, wave.spent, wave.trail desc, wave.inside, wave.state;
end
$$;

comment on function css.reach_paths(bigint, text, jsonb, jsonb, jsonb) is
'Every other hex that a unit can end its move in, each with a cheapest way there: the hexes that it enters.';

create or replace function css._ground_cost_steps(mover css.mover, verges css.verge[])
returns setof rulings.move_step
language sql stable rows 5
as $$
  select distinct on (cost.terrain)
    cost.rule,
    null,
    verge.label,
    cost.effect,
    cost.note,
    cost.point,
    cost.halves,
    null::integer,
    null
  from unnest(verges) as verge
  inner join css._terrain_costs(mover.mobility, mover.tank, mover.readings) as cost on cost.terrain = verge.terrain
  order by cost.terrain, verge.label
$$;

comment on function css._ground_cost_steps(css.mover, css.verge[]) is
'What the ground of a reach costs, or forbids: once a kind.';

create or replace function css._side_cost_steps(mover css.mover, wave css.reached[])
returns setof rulings.move_step
language sql stable rows 3
as $$
  select distinct on (cost.kind)
    cost.rule,
    null,
    positions.cell_label(mover.map_id, reached.q, reached.r, beside.nq, beside.nr),
    cost.effect,
    cost.note,
    cost.point,
    cost.halves,
    null::integer,
    null
  from unnest(wave) as reached
  cross join lateral lattice.neighbours(reached.q, reached.r) as beside
  inner join public.hexside
    on hexside.map_id = mover.map_id
      and hexside.x = reached.q + beside.nq
      and hexside.y = reached.r + beside.nr
  inner join css._crossings(mover.mobility, mover.heavy, mover.tank) as cost
    on cost.kind = hexside.kind and not cost.along
  where not reached.inside
  order by cost.kind, reached.q, reached.r, beside.direction
$$;

comment on function css._side_cost_steps(css.mover, css.reached[]) is
'What the hexsides of a reach add off a road, or forbid: once a kind.';

create or replace function css._road_cost_steps(mover css.mover, verges css.verge[])
returns setof rulings.move_step
language sql stable rows 2
as $$
  select distinct on (road.kind)
    road.rule,
    null,
    verge.label,
    'cost',
    road.note,
    null,
    road.halves,
    null::integer,
    null
  from public.path
  inner join css._roads(mover.mobility) as road on road.kind = path.kind
  cross join lateral unnest(path.qs, path.rs) as link (q, r)
  inner join unnest(verges) as verge on verge.q = link.q and verge.r = link.r
  where path.map_id = mover.map_id
    and not mover.off_road
  order by road.kind, verge.label
$$;

comment on function css._road_cost_steps(css.mover, css.verge[]) is
'What a hex of a reach costs along a road: once a kind.';

create or replace function css._cave_cost_steps(mover css.mover, wave css.reached[])
returns setof rulings.move_step
language sql stable rows 2
as $$
  -- 6.3: in or out through the mouth of a cave, and from cave to cave
  select distinct on (burrows.yes)
    '6.3',
    null,
    hex.label,
    'cost',
    case when burrows.yes then 'from cave to cave, with all it has' else 'through the mouth of a cave' end,
    null,
    here.spent - there.spent,
    null::integer,
    null
  from unnest(wave) as here
  inner join unnest(wave) as there on there.state = here.via and there.trail = here.trail
  inner join public.hex on hex.map_id = mover.map_id and hex.q = here.q and hex.r = here.r
  cross join lateral (select here.inside and there.inside as yes) as burrows
  where here.inside or there.inside
  order by burrows.yes, hex.label, here.spent - there.spent
$$;

comment on function css._cave_cost_steps(css.mover, css.reached[]) is
'What the caves of a reach cost (6.3).';

create or replace function css._verge_steps(mover css.mover, verges css.verge[])
returns setof rulings.move_step
language plpgsql stable rows 3
as $$
declare
  verge css.verge;
  leg css.leg;
begin
  for verge in
    select bordering.*
    from unnest(verges) as bordering
    -- few hexes have a counter or a marker in them
    where exists (
      select
      from public.unit
      where unit.position_id = mover.position_id and unit.q = bordering.q and unit.r = bordering.r
    )
    or exists (
      select
      from public.marker
      where marker.position_id = mover.position_id and marker.q = bordering.q and marker.r = bordering.r
    )
    order by bordering.q, bordering.r
  loop
    -- from outside, by whatever side
    leg := row(1, verge.q, verge.r - 1, null, false, verge.q, verge.r, verge.label, false)::css.leg;
    return query
    select bar.*, null::integer, null::integer, null::text
    from css._step_bars(mover, leg) as bar
    union all
    select entered.*, null, null, null
    from css._entered_steps(mover, leg, null) as entered
    union all
    select
      '10.2.3', null, verge.label, 'dg', format('DG%s lies there', disorder.value), 'css-58', null, null, null
    from css._dg_at(mover.position_id, verge.q, verge.r, false) as disorder (value)
    where disorder.value > 0
    union all
    select '6.1.2', null, verge.label, rival.effect, 'navy and army do not stack', null, null, null, null
    from css._rivals(mover) as rival
    where (rival.q, rival.r) = (verge.q, verge.r) and not rival.inside;
  end loop;
end
$$;

comment on function css._verge_steps(css.mover, css.verge[]) is
'What shuts a hex of a reach, or does something to who enters it.';

create or replace function css._without_points(mover css.mover)
returns rulings.move_step
language plpgsql stable
as $$
declare
  step rulings.move_step;
begin
  step.at := mover.label;
  step.effect := 'without points';
  if mover.zone is not null then
    step.rule := '22.1';
    step.note := 'it lands on the beach of its zone, if at all';
  elsif mover.manner = 'advance' then
    step.rule := '9.4';
    step.note := 'one hex, after an assault';
  else
    step.rule := '27.0';
    step.note := 'two hexes at most';
  end if;
  return step;
end
$$;

comment on function css._without_points(css.mover) is
'Why a move spends no points: a landing, an advance or a shift by night (9.4, 22.1, 27.0).';

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
  mover css.mover := css._mover(
    reach_reasons.position_id, reach_reasons.unit, reach_reasons.options, reach_reasons.conditions,
    reach_reasons.policy
  );
  wave css.reached[];
  verges css.verge[];
begin
  if not css._by_points(mover) then
    return next css._without_points(mover);
    return;
  end if;
  return query
  select
    step.rule, step.clause, step.at, step.effect, step.note, step.point, coalesce(step.halves, step.remaining),
    null::integer, null::text
  from css._allowance_steps(mover, false) as step;
  if mover.mobility is null or mover.movement is null then
    return;
  end if;
  wave := array(select reached from css._wave(mover) as reached);
  verges := array(
    select row(around.*)::css.verge
    from (
      select distinct
        hex.q,
        hex.r,
        hex.label,
        css._ground(hex.terrain, hex.features) as terrain
      from unnest(wave) as reached
      cross join lateral lattice.neighbours(reached.q, reached.r) as beside
      inner join public.hex on hex.map_id = mover.map_id and hex.q = beside.nq and hex.r = beside.nr
      where not reached.inside
    ) as around
  );
  return query
  select * from css._ground_cost_steps(mover, verges)
  union all
  select * from css._side_cost_steps(mover, wave)
  union all
  select * from css._road_cost_steps(mover, verges)
  union all
  select * from css._cave_cost_steps(mover, wave)
  union all
  select '6.2.1', null, mover.label, '+2', 'on a trail from beginning to end', null, 4, null, null
  where exists (
    select
    from unnest(wave) as reached
    where reached.trail
      and not reached.inside
      and (reached.q, reached.r) <> (mover.q, mover.r)
  )
  union all
  select
    '16.0', null, null, 'cost', 'interdiction, every hex', case when mover.side = 'us' then 'css-57' end, mover.tax,
    null, null
  where mover.tax > 0
  union all
  select * from css._verge_steps(mover, verges);
end
$$;

comment on function css.reach_reasons(bigint, text, jsonb, jsonb, jsonb) is
'What shapes a reach: the allowance and what lowers it, what each kind of ground costs, what shuts hexes out.';
