-- needs: css/move.sql
-- Where a unit can go in css (Guam): the costs of css.move, searched as a wave from hex to hex.
--
-- A round takes all places that nobody reaches for less any more, and enters what lies beside them. A place is a
-- hex, or the inside of its cave. Where markers lower what is left on the way (8.7.2, 10.2.3), to spend least is
-- not always to have most left; then how much is left, and how disorganized the unit is, are part of the place.
-- All costs are above zero, so a unit with nothing left goes no farther.
--
-- The hexes that might be reached are a square window around the unit. A cell of it is a number, so is a hexside,
-- and what the search knows of them are arrays: to start a query costs more than a hundred steps of the wave. So
-- what there is little of (paths, markers, counters, caves) is read before, and the ground plot by plot, as the
-- wave comes to it: a paved road makes the window four times as large as what is reached.

drop type if exists css.survey cascade;
create type css.survey as (
  map_id bigint,
  q integer,
  r integer,
  radius integer,
  wide integer,
  plot integer,
  home integer,
  east integer,
  south integer,
  units integer,
  tax integer,
  terrains text array,
  halves integer array,
  side_kinds text array,
  off_road integer array,
  by_road integer array,
  free_kinds text array,
  dgs integer array,
  slow integer array,
  cave_dgs integer array,
  cave_slow integer array,
  pinned boolean array,
  fires integer array,
  held boolean array,
  filled integer array,
  mouths boolean array,
  caves boolean,
  gains boolean,
  least_cost integer,
  longest integer,
  variants integer
);

comment on type css.survey is
'What a search looks up: the window around a unit, what the ground costs it, and what lies in the window by cell.';
comment on column css.survey.radius is 'How far the unit might get';
comment on column css.survey.wide is 'How many cells the window is wide, some plots of that width side by side';
comment on column css.survey.home is 'The cell that the unit starts in; east and south: the corner of the window';
comment on column css.survey.terrains is 'Kinds of terrain; halves: what each costs off a road, null where it is closed';
comment on column css.survey.side_kinds is
'Kinds of hexside; off_road: what each adds off a road, null where it is closed; by_road: along one';
comment on column css.survey.free_kinds is 'Kinds of hexside that cost nothing either way';
comment on column css.survey.dgs is 'By cell, DG; cave_dgs: inside the cave there';
comment on column css.survey.slow is 'By cell, 1 halves what is left, 2 stops; cave_slow: inside the cave there';
comment on column css.survey.pinned is 'By cell, whether who is there does not move on: also who came out of its cave (10.2.1, 10.2.2)';
comment on column css.survey.fires is 'By cell, 1 burns, 2 is burnt';
comment on column css.survey.held is 'By cell, whether enemies hold it; filled: how many friends are inside its cave';
comment on column css.survey.mouths is 'By cell, whether there is a cave that the unit may go into';
comment on column css.survey.caves is 'Whether the window has such a cave';
comment on column css.survey.gains is 'Whether DG that it comes to lowers what it has left (css-58)';
comment on column css.survey.least_cost is 'What a step costs at least';
comment on column css.survey.longest is 'The most that it can spend';
comment on column css.survey.variants is 'States that the search tells apart in a cell; 1 where the cell is all';

drop type if exists css.burrow cascade;
create type css.burrow as (
  c integer,
  inside integer,
  cost integer
);

comment on type css.burrow is
'A step through a cave (6.3): the cell that it leads to, inside the cave there or not, and what it costs.';

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
language plpgsql stable
as $$
declare
  step rulings.move_step;
  purse integer := 0;
begin
  for step in select * from css._allowance_steps(mover, trail) loop
    if step.effect in ('forbids', 'unknown') then
      return 0;
    end if;
    purse := coalesce(step.remaining, purse);
  end loop;
  return purse;
end
$$;

comment on function css._purse(css.mover, boolean) is
'Halves a unit may spend; none where something forbids it to move, or is not told.';

create or replace function css._side_cell(wide integer, x integer, y integer)
returns integer
language sql immutable parallel safe
return 2 * wide * x + y + 1;

comment on function css._side_cell(integer, integer, integer) is
'A hexside of the window as an index, by its doubled cell counted from the corner.';

create or replace function css._drawn_window(survey css.survey)
returns public.geometry
language sql immutable parallel safe
return public.st_makeenvelope(
  3 * (survey.q - survey.radius),
  2 * (survey.r - survey.radius) + survey.q - survey.radius,
  3 * (survey.q + survey.radius),
  2 * (survey.r + survey.radius) + survey.q + survey.radius
);

comment on function css._drawn_window(css.survey) is
'The hexes that a unit might get to, as a rectangle on the lattice.';

create or replace function css._paths_around(survey css.survey, mobility text, around public.geometry)
returns table (
  sides integer[], halves integer[], trail_sides integer[], trail_halves integer[], cheapest integer, on_trail boolean
)
language sql stable rows 1
as $$
  select
    array_agg(step.side),
    array_agg(step.halves),
    array_agg(step.side) filter (where step.trail),
    array_agg(step.halves) filter (where step.trail),
    min(step.halves),
    bool_or(step.home)
  from (
    select
      css._side_cell(
        survey.wide, link.q + link.next_q - 2 * survey.east, link.r + link.next_r - 2 * survey.south
      ) as side,
      road.halves,
      path.kind = 'trail' as trail,
      path.kind = 'trail' and (survey.q, survey.r) in ((link.q, link.r), (link.next_q, link.next_r)) as home
    from public.path
    inner join css._roads(_paths_around.mobility) as road on road.kind = path.kind
    cross join lateral unnest(path.qs, path.rs, path.qs[2:], path.rs[2:]) as link (q, r, next_q, next_r)
    where path.map_id = survey.map_id
      and path.geom operator(public.&&) around
      and link.next_q is not null
      and link.q between survey.q - survey.radius and survey.q + survey.radius
      and link.r between survey.r - survey.radius and survey.r + survey.radius
    offset 0
  ) as step
$$;

comment on function css._paths_around(css.survey, text, public.geometry) is
'The hexsides of a window that paths cross, and what a step along each costs but for what lies along the side; those
of trails also by themselves, and whether the unit is on one.';

create or replace function css._reach_prices(mobility text, heavy boolean, tank boolean, readings jsonb)
returns table (
  terrains text[],
  halves integer[],
  cheapest integer,
  side_kinds text[],
  off_road integer[],
  by_road integer[],
  free_kinds text[]
)
language sql stable rows 1
as $$
  select
    ground.kinds,
    ground.halves,
    ground.cheapest,
    sides.kinds,
    sides.off_road,
    sides.by_road,
    sides.free
  from (
    select
      array_agg(cost.terrain) as kinds,
      array_agg(cost.halves) as halves,
      min(cost.halves) as cheapest
    from css._terrain_costs(_reach_prices.mobility, _reach_prices.tank, readings) as cost
  ) as ground
  cross join (
    select
      array_agg(off_road.kind) as kinds,
      array_agg(off_road.halves) as off_road,
      array_agg(by_road.halves) as by_road,
      coalesce(array_agg(off_road.kind) filter (where off_road.halves = 0 and by_road.halves = 0), '{}') as free
    from css._crossings(_reach_prices.mobility, _reach_prices.heavy, _reach_prices.tank) as off_road
    inner join css._crossings(_reach_prices.mobility, _reach_prices.heavy, _reach_prices.tank) as by_road
      on by_road.kind = off_road.kind and by_road.along and not off_road.along
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
  after.pinned := '{}';
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
    if marker.kind in ('pinned', 'suppressed') and not marker.inside then
      after.pinned[marker.c] := true;
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

create or replace function css._with_caves(survey css.survey)
returns css.survey
language plpgsql stable
as $$
declare
  after css.survey := survey;
  c integer;
begin
  for c in
    select survey.home + (hex.q - survey.q) * survey.wide + hex.r - survey.r
    from public.hex
    where hex.map_id = survey.map_id
      and hex.q between survey.q - survey.radius and survey.q + survey.radius
      and hex.r between survey.r - survey.radius and survey.r + survey.radius
      and 'cave' = any(hex.features)
  loop
    after.mouths[c] := true;
  end loop;
  return after;
end
$$;

comment on function css._with_caves(css.survey) is
'A survey with the caves around a unit that may go into them (6.3).';

create or replace function css._survey(mover css.mover, purse integer)
returns css.survey
language plpgsql stable
as $$
declare
  survey css.survey;
  price record;
  rim integer;
begin
  select * into price from css._reach_prices(mover.mobility, mover.heavy, mover.tank, mover.readings);
  survey.map_id := mover.map_id;
  survey.q := mover.q;
  survey.r := mover.r;
  -- no step is cheaper than half a point
  survey.radius := greatest(purse, 2);
  -- the unit is in the middle of a plot, and nobody gets to the rim
  survey.plot := 7;
  rim := survey.plot / 2 + survey.plot * ((survey.radius + survey.plot / 2) / survey.plot);
  survey.wide := 2 * rim + 1;
  survey.home := rim * survey.wide + rim + 1;
  survey.east := mover.q - rim;
  survey.south := mover.r - rim;
  survey.units := mover.units;
  survey.tax := mover.tax;
  survey.terrains := price.terrains;
  survey.halves := price.halves;
  survey.side_kinds := price.side_kinds;
  survey.off_road := price.off_road;
  survey.by_road := price.by_road;
  survey.free_kinds := price.free_kinds;
  survey := css._with_markers(survey, mover);
  survey := css._with_units(survey, mover);
  survey.mouths := '{}';
  if mover.side = 'japan' and mover.mobility = 'leg' then
    survey := css._with_caves(survey);
  end if;
  survey.caves := survey.mouths <> '{}';
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
it comes to have room for them: the first that it reaches is 1 of slots, the second 2.';

create or replace function css._plot_hexes(survey css.survey, x integer, y integer)
returns table (cells integer[], halves integer[])
language sql stable rows 1
as $$
  select
    array_agg(cell.c),
    array_agg(
      survey.halves[
        array_position(survey.terrains, case when survey.fires[cell.c] = 2 then 'clear' else cell.terrain end)
      ]
    )
  from generate_series(0, survey.plot - 1) as line (n)
  cross join lateral (
    select
      survey.home + (ground.q - survey.q) * survey.wide + ground.r - survey.r as c,
      ground.terrain
    from public.css_ground as ground
    where ground.map_id = survey.map_id
      and ground.q = survey.east + survey.plot * _plot_hexes.x + line.n
      and ground.r >= survey.south + survey.plot * _plot_hexes.y
      and ground.r < survey.south + survey.plot * (_plot_hexes.y + 1)
    -- line by line, whatever the planner thinks
    offset 0
  ) as cell
$$;

comment on function css._plot_hexes(css.survey, integer, integer) is
'What the hexes of a plot cost off a road. Plots are counted from the corner of the window.';

create or replace function css._plot_sides(survey css.survey, x integer, y integer)
returns table (sides integer[], off_road integer[], by_road integer[])
language sql stable rows 1
as $$
  select
    array_agg(css._side_cell(survey.wide, side.x - 2 * survey.east, side.y - 2 * survey.south)),
    array_agg(survey.off_road[side.kind]),
    array_agg(survey.by_road[side.kind])
  from generate_series(0, 2 * survey.plot - 1) as line (n)
  cross join lateral (
    select
      hexside.x,
      hexside.y,
      array_position(survey.side_kinds, hexside.kind) as kind
    from public.hexside
    where hexside.map_id = survey.map_id
      and hexside.x = 2 * (survey.east + survey.plot * _plot_sides.x) + line.n
      and hexside.y >= 2 * (survey.south + survey.plot * _plot_sides.y) - 1
      and hexside.y < 2 * (survey.south + survey.plot * (_plot_sides.y + 1)) - 1
      and hexside.kind <> all(survey.free_kinds)
    -- line by line, whatever the planner thinks
    offset 0
  ) as side
$$;

comment on function css._plot_sides(css.survey, integer, integer) is
'What lies along the hexsides of a plot, and what it adds off a road and along one; null where it closes them. Every
side is of one plot, that of one of its two hexes; who steps over it has come to both.';

create or replace function css._hops(wide integer)
returns integer[]
language sql immutable parallel safe
return array[-1, wide - 1, wide, 1, 1 - wide, -wide];

comment on function css._hops(integer) is
'How far the six cells around a cell are from it; in a window twice as wide, its six sides.';

create or replace function css._burrows(survey css.survey, c integer, inside integer, purse integer, first boolean)
returns css.burrow[]
language plpgsql stable
as $$
declare
  burrows css.burrow[] := '{}';
  hop integer;
begin
  -- through the mouth
  if purse >= 2 and (
    (inside = 0 and coalesce(survey.filled[c], 0) + survey.units <= 2) or (inside = 1 and survey.held[c] is null)
  ) then
    burrows := burrows || row(c, 1 - inside, 2)::css.burrow;
  end if;
  -- from cave to cave, with all it has
  if inside = 1 and first and purse > 0 then
    foreach hop in array css._hops(survey.wide) loop
      continue when survey.mouths[c + hop] is null
        or survey.fires[c + hop] = 1
        or coalesce(survey.filled[c + hop], 0) + survey.units > 2;
      burrows := burrows || row(c + hop, 1, purse)::css.burrow;
    end loop;
  end if;
  return burrows;
end
$$;

comment on function css._burrows(css.survey, integer, integer, integer, boolean) is
'Where a unit in a cave hex can go through the mouth of its cave, or from inside it to the next, and for how much (6.3).';

create or replace function css._entered_state(survey css.survey, c integer, burrow integer, dg integer, purse integer)
returns integer
language plpgsql stable
as $$
declare
  met constant integer := greatest(dg, case burrow when 1 then survey.cave_dgs[c] else survey.dgs[c] end);
  -- who comes out of a cave does not enter the hex, but is among those who are pinned there
  slow constant integer := case burrow
    when 1 then survey.cave_slow[c] when 0 then case when survey.pinned[c] then 2 end else survey.slow[c]
  end;
begin
  purse := css._dg_left(purse, dg, case when survey.gains then met else dg end);
  return css._reach_key(
    c, coalesce(burrow, 0), met, css._slowed(purse, slow), survey.variants, survey.longest
  );
end
$$;

comment on function css._entered_state(css.survey, integer, integer, integer, integer) is
'How a unit is in a place that it enters with so much left, as a number, by the markers there (8.7.2, 10.2.3). Burrow is
null for a step from hex to hex, else whether it leads into a cave (6.3).';

create or replace function css._reached(
  survey css.survey, trail boolean, places integer[], slots integer[], best bigint[]
)
returns setof css.reached
language sql stable rows 300
as $$
  select
    place.k,
    nullif(best[place.slot] & 4294967295, place.k)::integer,
    trail,
    survey.east + (place.k / survey.variants - 1) / survey.wide,
    survey.south + (place.k / survey.variants - 1) % survey.wide,
    place.k % survey.variants >= 3 * (survey.longest + 1),
    (best[place.slot] >> 32)::integer
  from (
    select found.k, css._slot(found.k, survey.variants, slots) as slot from unnest(places) as found (k)
  ) as place
$$;

comment on function css._reached(css.survey, boolean, integer[], integer[], bigint[]) is
'The places that a search has come to, as rows.';

create or replace function css._search(survey css.survey, start integer, roads integer[], purse integer, trail boolean)
returns setof css.reached
language plpgsql stable rows 300
as $$
#variable_conflict use_variable
declare
  wide constant integer := survey.wide;
  plots constant integer := wide / survey.plot;
  variants constant integer := survey.variants;
  plain constant boolean := variants = 1;
  purses constant integer := survey.longest + 1;
  least_cost constant integer := survey.least_cost;
  barred constant boolean := survey.held <> '{}' or survey.fires <> '{}';
  hops constant integer[] := css._hops(wide);
  turns constant integer[] := css._hops(2 * wide);
  -- the ground as far as it is known: by cell its price off a road, by side what that adds; the plots that were read
  price integer[] := array_fill(null::integer, array[wide * wide]);
  adds integer[] := array_fill(0, array[4 * wide * wide]);
  read boolean[] := array_fill(false, array[plots * plots]);
  -- by place, the least that was spent, above the place that it comes from: so far, and what a round offers
  best bigint[] := array_fill(null::bigint, array[wide * wide]);
  offers bigint[] := best;
  slots integer[] := case when plain then '{}' else price end;
  room integer := 1;
  -- by hex, cave and DG: one way to be there that spends little and leaves much
  frugal integer[] := '{}';
  rich integer[] := '{}';
  reached integer[] := '{}';
  gained integer[] := array[start];
  -- those who go on: by what they have spent the last of them, and who comes after each
  last integer[] := array_fill(null::integer, array[purses]);
  waiting integer[] := '{}';
  next integer[] := '{}';
  low integer := 0;
  dear bigint;
  n integer;
  -- the place that is left, and the one that is entered
  k integer;
  c integer;
  inside integer := 0;
  dg integer;
  remaining integer;
  burrows css.burrow[];
  s integer;
  c2 integer;
  k2 integer;
  i integer;
  cost integer;
  x integer;
  y integer;
  ahead record;
begin
  slots[survey.home] := room;
  offers[css._slot(start, variants, slots)] := start;
  loop
    if not plain then
      gained := array(select place.k from unnest(gained) as place (k) order by place.k);
    end if;
    foreach k in array gained loop
      i := css._slot(k, variants, slots);
      cost := offers[i] >> 32;
      remaining := case when plain then css._slowed(purse - cost, survey.slow[k]) else k % purses end;
      if remaining > 0 then
        waiting := waiting || k;
        next := next || last[cost + 1];
        last[cost + 1] := cardinality(waiting);
      end if;
      -- who has spent more and has less left, and is as disorganized, gains nothing by going on
      if plain or (frugal[i / purses] <= cost and rich[i / purses] >= remaining) is not true then
        if best[i] is null then
          reached := reached || k;
        end if;
        best[i] := offers[i];
        if not plain and cost <= frugal[i / purses] is not false then
          frugal[i / purses] := cost;
          rich[i / purses] := remaining;
        end if;
      end if;
      offers[i] := null;
    end loop;
    gained := '{}';
    while low < purses and last[low + 1] is null loop
      low := low + 1;
    end loop;
    exit when low >= purses or least_cost is null;
    -- who has spent least cannot be reached for less any more, nor who has spent less than a step more
    for spent in low..least(low + least_cost, purses) - 1 loop
      dear := (spent + least_cost + 1)::bigint << 32;
      n := last[spent + 1];
      while n is not null loop
        k := waiting[n];
        n := next[n];
        continue when best[css._slot(k, variants, slots)] >> 32 is distinct from spent;
        c := k / variants;
        remaining := purse - spent;
        if not plain then
          inside := k / (3 * purses) % 2;
          dg := greatest(2 * (k / purses % 3) - 1, 0);
          remaining := k % purses;
          burrows := case when survey.mouths[c] then css._burrows(survey, c, inside, remaining, spent = 0) end;
        end if;
        s := css._side_cell(wide, 2 * ((c - 1) / wide), 2 * ((c - 1) % wide));
        for d in 1 + 6 * inside..6 + coalesce(cardinality(burrows), 0) loop
          -- most hexes around were reached for less already
          continue when plain and best[c + hops[d]] < dear;
          if d <= 6 then
            c2 := c + hops[d];
            if price[c2] is null then
              x := (c2 - 1) / wide / survey.plot;
              y := (c2 - 1) % wide / survey.plot;
              if not read[x * plots + y + 1] then
                read[x * plots + y + 1] := true;
                select * into ahead from css._plot_hexes(survey, x, y) cross join css._plot_sides(survey, x, y);
                for j in 1..coalesce(cardinality(ahead.cells), 0) loop
                  price[ahead.cells[j]] := ahead.halves[j];
                end loop;
                for j in 1..coalesce(cardinality(ahead.sides), 0) loop
                  adds[ahead.sides[j]] := adds[ahead.sides[j]] + ahead.off_road[j];
                  roads[ahead.sides[j]] := roads[ahead.sides[j]] + ahead.by_road[j];
                end loop;
              end if;
            end if;
            cost := least(price[c2] + adds[s + turns[d]], roads[s + turns[d]]) + survey.tax;
            continue when barred and (survey.held[c2] or survey.fires[c2] = 1);
          else
            c2 := (burrows[d - 6]).c;
            cost := (burrows[d - 6]).cost;
          end if;
          continue when cost <= remaining is not true;
          k2 := c2;
          i := c2;
          if not plain then
            k2 := css._entered_state(survey, c2, (burrows[d - 6]).inside, dg, remaining - cost);
            if slots[c2] is null then
              room := room + 1;
              slots[c2] := room;
            end if;
            i := css._slot(k2, variants, slots);
          end if;
          if spent + cost < best[i] >> 32 is not false then
            if offers[i] is null then
              gained := gained || k2;
            end if;
            offers[i] := least(offers[i], ((spent + cost)::bigint << 32) + k);
          end if;
        end loop;
      end loop;
    end loop;
    low := low + least_cost;
  end loop;
  return query select * from css._reached(survey, trail, reached, slots, best);
end
$$;

comment on function css._search(css.survey, integer, integer[], integer, boolean) is
'Every place a unit comes to from the one it starts in, through the terrain and along some roads.';

create or replace function css._wave(mover css.mover)
returns setof css.reached
language plpgsql stable rows 300
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  purse integer := css._purse(mover, false);
  survey css.survey := css._survey(mover, purse);
  disorder integer := 0;
  paths record;
  roads integer[] := array_fill(null::integer, array[4 * survey.wide * survey.wide]);
begin
  select * into paths from css._paths_around(survey, mover.mobility, css._drawn_window(survey));
  survey.least_cost := least(survey.least_cost, paths.cheapest + survey.tax);
  if not mover.off_road then
    for n in 1..coalesce(cardinality(paths.sides), 0) loop
      roads[paths.sides[n]] := least(roads[paths.sides[n]], paths.halves[n]);
    end loop;
  end if;
  if survey.variants > 1 then
    disorder := css._dg_at(mover.position_id, mover.q, mover.r, mover.inside);
  end if;
  if mover.inside and survey.caves then
    survey.mouths[survey.home] := true;
  elsif mover.inside then
    -- 6.3: only the Japanese come out of a cave
    purse := 0;
  end if;
  return query
  select * from css._search(
    survey,
    css._reach_key(survey.home, mover.inside::integer, disorder, purse, survey.variants, survey.longest),
    roads, purse, false
  );
  if paths.on_trail and not mover.inside and not mover.off_road then
    roads := array_fill(null::integer, array[4 * survey.wide * survey.wide]);
    for n in 1..cardinality(paths.trail_sides) loop
      roads[paths.trail_sides[n]] := paths.trail_halves[n];
    end loop;
    purse := css._purse(mover, true);
    survey.halves := null;
    survey.mouths := '{}';
    return query
    select * from css._search(
      survey, css._reach_key(survey.home, 0, disorder, purse, survey.variants, survey.longest), roads, purse, true
    );
  end if;
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
set plan_cache_mode = force_generic_plan
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
    -- a look-up for each, whatever the planner thinks
    (
      select ground.label
      from public.css_ground as ground
      where ground.map_id = mover.map_id and ground.q = wave.q and ground.r = wave.r
    ),
    min(wave.spent)
  from css._wave(mover) as wave
  where (wave.q, wave.r, wave.inside) not in (
    select rival.q, rival.r, rival.inside
    from css._rivals(mover) as rival
  )
  group by 1, 2;
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
