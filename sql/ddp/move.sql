-- needs: lattice/cells.sql, positions/place.sql, ddp/command.sql, ddp/fields.sql, ddp/free_action.sql, ddp/overnight.sql, ddp/spots.sql, charts/cells.sql, rulings/step.sql
-- Moves of US units in ddp (D-Day at Peleliu): 7.3 to 7.35, 16.0, 18.21, 18.33, 19.2.
--
-- A move is one to three hexes; what ends it and what bars it is found once for the whole map, and a walk or a
-- search looks there. Whether a move past a position is an infiltration hangs on its first and last hex alone.

create or replace function ddp._night(conditions jsonb)
returns boolean
language sql immutable parallel safe
return coalesce(
  ddp._ridge(conditions)
  and (conditions ->> 'phase' = 'night' or (conditions ->> 'turn')::integer in (4, 8, 12, 16)),
  false
);

comment on function ddp._night(jsonb) is
'Whether it is a night turn of Bloody Nose Ridge (18.21).';

create or replace function ddp._stops(state positions.state)
returns table (label text, rule text, why text, point text)
language sql stable parallel safe rows 200
as $$
  select
    dot.label,
    '7.31' as rule,
    format('in the intense field of fire of %s', dot.place) as why,
    case when field.points && array['ddp-48'] then 'ddp-48' end as point
  from ddp._fields(state, 'move') as field
  cross join lateral ddp._dots_of(state, field, 'move') as dot
  where dot.grade = 'intense'
  union all
  select
    hex.label,
    case when ddp._ridge(state.conditions) then '18.33' else '7.31' end,
    format('adjacent to %s in %s', held.code, held.label),
    null
  from ddp._occupants(state) as held
  cross join lateral lattice.neighbours(held.q, held.r) as beside
  cross join lateral (
    select ground.label
    from public.hex as ground
    where ground.map_id = state.map_id and ground.q = beside.nq and ground.r = beside.nr
    offset 0
  ) as hex
  union all
  select
    hex.label,
    '7.31',
    format('%s ends a move', hex.terrain),
    null
  from public.hex
  where hex.map_id = state.map_id
    and hex.terrain in ('mountain', 'coral', 'jungle')
    and not ddp._ridge(state.conditions)
$$;

comment on function ddp._stops(positions.state) is
'The hexes in which a move ends, each with every reason (7.31, 18.33).';

create or replace function ddp._terrain_class(kind text)
returns text
language sql immutable parallel safe
return case
  when kind in ('tank', 'amphibious_tank') then 'tank'
  when kind = 'artillery' then 'artillery'
  else 'infantry'
end;

comment on function ddp._terrain_class(text) is
'The column of the Terrain Effects Chart that a unit looks in (7.3).';

create or replace function ddp._closed(state positions.state, kind text)
returns table (label text, rule text, effect text, why text)
language sql stable parallel safe rows 200
as $$
  select
    hex.label,
    '7.0' as rule,
    'forbids' as effect,
    format('%s: units move on land', hex.terrain) as why
  from public.hex
  where hex.map_id = state.map_id and hex.terrain in ('shallow', 'sea')
  union all
  select
    held.label,
    '7.4',
    'forbids',
    format('%s is there: it is entered for close combat, not by a move', held.code)
  from ddp._occupants(state) as held
  union all
  select
    hex.label,
    '7.3',
    case when cell.value = 'no' then 'forbids' else 'unknown' end,
    case
      when cell.value = 'no' then format('a unit of this type may not enter %s', hex.terrain)
      else 'terrain_effects_chart'
    end
  from public.hex
  left join lateral charts.cell('ddp', 'terrain_effects_chart', hex.terrain, ddp._terrain_class(kind)) as cell on true
  where hex.map_id = state.map_id
    and (
      cell.value = 'no'
      or (
        cell.value is null
        and ddp._terrain_class(kind) <> 'infantry'
        and hex.terrain not in ('clear', 'airstrip', 'beach', 'shallow', 'sea')
      )
    )
$$;

comment on function ddp._closed(positions.state, text) is
'The hexes that a unit of a kind may not enter by a move, or of which only the Terrain Effects Chart tells (7.0, 7.3, 7.4).';

create or replace function ddp._climbs(kind text, readings jsonb)
returns boolean
language sql immutable parallel safe
return coalesce(
  kind in ('infantry', 'heavy_infantry', 'engineer')
  or (kind = 'infantry_hq' and coalesce(readings ->> 'ddp-22' <> 'b', true)),
  false
);

comment on function ddp._climbs(text, jsonb) is
'Whether a unit crosses a cliff hexside (7.32, ddp-22).';

create or replace function ddp._is_cliff(map_id bigint, q1 integer, r1 integer, q2 integer, r2 integer)
returns boolean
language plpgsql stable parallel safe
as $$
begin
  return exists (
    select
    from public.hexside
    where hexside.map_id = _is_cliff.map_id
      and hexside.kind = 'cliff'
      and hexside.x = _is_cliff.q1 + _is_cliff.q2
      and hexside.y = _is_cliff.r1 + _is_cliff.r2
  );
end
$$;

comment on function ddp._is_cliff(bigint, integer, integer, integer, integer) is
'Whether a cliff runs between two hexes (7.32).';

create or replace function ddp._is_blocked(position_id bigint, map_id bigint, fort_q integer, fort_r integer, q integer, r integer)
returns boolean
language plpgsql stable parallel safe
as $$
begin
  return exists (
    select
    from public.marker
    where marker.position_id = _is_blocked.position_id
      and marker.kind = 'fortification'
      and marker.q = _is_blocked.fort_q
      and marker.r = _is_blocked.fort_r
      and ddp._flag(marker.attributes, 'revealed')
      and marker.attributes -> 'blocked'
      @> to_jsonb(lattice.direction(_is_blocked.q - _is_blocked.fort_q, _is_blocked.r - _is_blocked.fort_r))
  );
end
$$;

comment on function ddp._is_blocked(bigint, bigint, integer, integer, integer, integer) is
'Whether a revealed fortification makes the side between its hex and an adjacent one impassable (19.2).';

create or replace function ddp._infiltration_goals(state positions.state, q1 integer, r1 integer)
returns table (place text, color text, q integer, r integer, blocked boolean)
language sql stable parallel safe rows 4
as $$
  with spot as materialized (
    select one.* from ddp._spots(state.map_id) as one
  ),

  past as materialized (
    select field.*
    from ddp._fields(state, 'move') as field
    where field.active
      and exists (
        select from spot where spot.place = field.place and lattice.distance(spot.q, spot.r, q1, r1) = 1
      )
      and exists (
        select
        from ddp._dots_of(state, field, 'move') as dot
        where dot.q = q1 and dot.r = r1
      )
  )

  select
    past.place,
    past.color,
    dot.q,
    dot.r,
    -- 19.2: behind a blocked side nobody is fired at
    ddp._ridge(state.conditions)
    and exists (
      select
      from spot
      where spot.place = past.place
        and (
          (
            lattice.distance(spot.q, spot.r, q1, r1) = 1
            and ddp._is_blocked(state.position_id, state.map_id, spot.q, spot.r, q1, r1)
          )
          or (
            lattice.distance(spot.q, spot.r, dot.q, dot.r) = 1
            and ddp._is_blocked(state.position_id, state.map_id, spot.q, spot.r, dot.q, dot.r)
          )
        )
    )
  from past
  cross join lateral ddp._dots_of(state, past::ddp.field, 'move') as dot
  where not (dot.q = q1 and dot.r = r1)
    and exists (
      select from spot where spot.place = past.place and lattice.distance(spot.q, spot.r, dot.q, dot.r) = 1
    )
$$;

comment on function ddp._infiltration_goals(positions.state, integer, integer) is
'The hexes to which a move out of a hex infiltrates, each by the undisrupted position that it passes (7.33, 19.2).';

drop type if exists ddp.passing cascade;
create type ddp.passing as (
  place text,
  color text,
  blocked boolean
);

comment on type ddp.passing is
'A position past which a move infiltrates; `blocked`: over a blocked side, so that nobody is fired at (19.2).';

create or replace function ddp._infiltrated(state positions.state, q1 integer, r1 integer, q2 integer, r2 integer)
returns setof ddp.passing
language sql stable parallel safe rows 1
as $$
  select
    goal.place,
    goal.color,
    goal.blocked
  from ddp._infiltration_goals(state, q1, r1) as goal
  where goal.q = q2 and goal.r = r2
  order by goal.place
$$;

comment on function ddp._infiltrated(positions.state, integer, integer, integer, integer) is
'The undisrupted positions past which a move from one hex to another infiltrates (7.33).';

create or replace function ddp._mover_bars(state positions.state, unit positions.counter, manner text)
returns setof rulings.step
language sql stable rows 4
as $$
  select
    bar.rule,
    null,
    unit.label,
    'forbids',
    format(bar.note, unit.code),
    bar.point
  from (
    values
    (1, unit.side <> 'us', '7.0', '%s is Japanese: the rules move it', null),
    (2, unit.q is null, '7.3', '%s is not on the map', null),
    (3, not ddp._acts(unit.kind), '14.41', '%s does not move', null),
    (4, ddp._flag(unit.attributes, 'disrupted'), '7.6', '%s is disrupted: all that it may do is lose the marker', null),
    (5, ddp._flag(unit.attributes, 'acted'), '7.2', '%s has performed its action of this turn', null),
    (
      6,
      manner = 'preservation'
      and not ddp._on_foot(unit.kind)
      and not (unit.kind = 'engineer' and coalesce(state.readings ->> 'ddp-5' <> 'b', true)),
      '7.35',
      '%s is neither infantry nor an engineer',
      case when unit.kind = 'engineer' then 'ddp-5' end
    ),
    (
      7,
      manner = 'preservation'
      and not exists (
        select from ddp._landing_beaches(state.map_id) as beach where beach.q = unit.q and beach.r = unit.r
      ),
      '7.35',
      '%s does not stand in a landing beach hex',
      null
    ),
    (
      8,
      ddp._night(state.conditions)
      and coalesce((state.conditions ->> 'rupertus')::boolean, true)
      and exists (
        select from ddp._occupants(state) as held where lattice.distance(held.q, held.r, unit.q, unit.r) = 1
      ),
      '18.21',
      '%s is adjacent to an occupied Japanese position at night',
      null
    ),
    (
      9,
      ddp._night(state.conditions) and coalesce((state.conditions ->> 'drawn')::integer >= 1, false),
      '18.21',
      '%s moves before the Japanese reorganize, not after',
      null
    )
  ) as bar (n, holds, rule, note, point)
  where bar.holds
  order by bar.n
$$;

comment on function ddp._mover_bars(positions.state, positions.counter, text) is
'Why a unit may not move at all, or not in this manner (7.2, 7.35, 7.6, 14.41, 18.21).';

create or replace function ddp._farthest(state positions.state, manner text)
returns integer
language sql immutable parallel safe
return case
  when manner = 'preservation' or ddp._overnight(state.conditions) or ddp._night(state.conditions) then 1
  else 3
end;

comment on function ddp._farthest(positions.state, text) is
'How many hexes a unit may move: three, but one overnight, on a night of Bloody Nose Ridge, and to preserve itself (7.3, 7.35, 16.0, 18.21).';

create or replace function ddp._infiltration_steps(
  passed ddp.passing[], units positions.counter[], label text, manner text
)
returns setof rulings.step
language plpgsql stable rows 2
as $$
#variable_conflict use_column
declare
  past ddp.passing;
  lead boolean := exists (
    select from unnest(units) as unit
    where unit.kind in ('infantry', 'heavy_infantry', 'engineer', 'tank', 'amphibious_tank')
  );
begin
  foreach past in array passed loop
    if past.blocked then
      return next row(
        '19.2', null, label, 'passes', format('a blocked side shields it from %s: no infiltration', past.place), null
      )::rulings.step;
      continue;
    end if;
    return next row('7.33', null, label, 'infiltrates', format('past %s', past.place), null)::rulings.step;
    if manner = 'preservation' then
      return next row('7.35', null, label, 'forbids', 'a preservation move may not infiltrate', null)::rulings.step;
    end if;
    return query
    select
      '7.33',
      null::text,
      label,
      'forbids',
      case
        when unit.kind = 'artillery' then format('%s is artillery and may not infiltrate', unit.code)
        else format('%s is an HQ and infiltrates only with another unit', unit.code)
      end,
      null::text
    from unnest(units) as unit
    where unit.kind = 'artillery' or (unit.kind in ('regimental_hq', 'infantry_hq') and not lead)
    order by unit.code;
  end loop;
end
$$;

comment on function ddp._infiltration_steps(ddp.passing[], positions.counter[], text, text) is
'Whether a move to a hex infiltrates past positions, and who may not (7.33, 7.35, 19.2).';

create or replace function ddp._cliff_steps(
  state positions.state, units positions.counter[], q1 integer, r1 integer, q2 integer, r2 integer, done integer
)
returns setof rulings.step
language sql stable rows 2
as $$
  select
    '7.32',
    null,
    positions.cell_label(state.map_id, q1, r1, q2, r2),
    case when climber.able then 'disrupts' else 'forbids' end,
    case
      when climber.able then format('%s crosses a cliff: one hex, then disrupted', climber.code)
      when done > 0 then 'a cliff is crossed from the hex in which the move begins, or not at all'
      else format('%s may not cross a cliff', climber.code)
    end,
    case when climber.kind = 'infantry_hq' and done = 0 then 'ddp-22' end
  from (
    select unit.code, unit.kind, done = 0 and ddp._climbs(unit.kind, state.readings) as able
    from unnest(units) as unit
  ) as climber
$$;

comment on function ddp._cliff_steps(positions.state, positions.counter[], integer, integer, integer, integer, integer) is
'What a cliff hexside does to each of the units that would cross it after so many hexes (7.32).';

create or replace function ddp._too_far(state positions.state, manner text, most integer, label text)
returns rulings.step
language sql immutable parallel safe
return row(
  case
    when manner = 'preservation' then '7.35'
    when ddp._overnight(state.conditions) then '16.0'
    when ddp._night(state.conditions) then '18.21'
    else '7.3'
  end,
  null, label, 'forbids', format('a move of more than %s', case most when 1 then 'one hex' else 'three hexes' end), null
)::rulings.step;

comment on function ddp._too_far(positions.state, text, integer, text) is
'That a hex is one more than a unit may move, and by which rule.';

create or replace function ddp._goal_bars(
  state positions.state, head positions.counter, q integer, r integer, label text, manner text
)
returns setof rulings.step
language sql stable rows 1
as $$
  select '7.35', null, label, 'forbids', 'a preservation move leaves the landing beaches', null
  where manner = 'preservation'
    and exists (select from ddp._landing_beaches(state.map_id) as beach where (beach.q, beach.r) = (_goal_bars.q, _goal_bars.r))
  union all
  select '18.21', null, label, 'forbids', 'by night a unit beside the enemy moves away from him only', null
  where ddp._night(state.conditions)
    and exists (select from ddp._occupants(state) as held where lattice.distance(held.q, held.r, head.q, head.r) = 1)
    and exists (select from ddp._occupants(state) as held where lattice.distance(held.q, held.r, _goal_bars.q, _goal_bars.r) = 1)
$$;

comment on function ddp._goal_bars(positions.state, positions.counter, integer, integer, text, text) is
'Why a move may not end where it does: on a landing beach that it was to leave, by night beside the enemy still.';

create or replace function ddp._move_verdict(
  units text[], bars rulings.step[], passed ddp.passing[], done integer, spare integer, "end" text, barred boolean, cliff boolean
)
returns setof rulings.ledger_step
language sql stable rows 1
as $$
  select
    case when cardinality(bars) > 0 then (bars[1]).rule else '7.3' end,
    null::text,
    "end",
    case when barred then 'illegal' when known.unknown then 'undecided' else 'legal' end,
    coalesce(known.why, format('%s moves to %s', array_to_string(units, ' and '), "end")),
    null::text,
    null::text,
    null::integer,
    jsonb_build_object(
      'legal', case when barred then to_jsonb(false) when known.unknown then 'null' else to_jsonb(true) end,
      'cost', done,
      'left', spare,
      'ends_at', "end",
      'cliff', cliff,
      'infiltration', coalesce(gone.places, '[]'),
      'colors', coalesce(gone.colors, '[]')
    )
  from (
    select
      coalesce(bool_or(bar.effect = 'unknown'), false) as unknown,
      string_agg(bar.note, '; ') filter (where bar.effect = 'forbids') as why
    from unnest(bars) as bar
  ) as known
  cross join (
    select
      jsonb_agg(past.place) as places,
      jsonb_agg(distinct past.color) filter (where past.color is not null) as colors
    from unnest(passed) as past
    where not barred and not past.blocked
  ) as gone
$$;

comment on function ddp._move_verdict(text[], rulings.step[], ddp.passing[], integer, integer, text, boolean, boolean) is
'Whether a move stands, where it ends, what it cost, and past which positions it infiltrates.';

create or replace function ddp.move(
  position_id bigint,
  units text[],
  path text[],
  manner text default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 10
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  state positions.state;
  movers positions.counter[] := array(
    select positions._asked_counter(move.position_id, code) from unnest(move.units) with ordinality as one (code, n) order by n
  );
  head positions.counter := movers[1];
  at_q integer := head.q;
  at_r integer := head.r;
  at_label text := head.label;
  done integer := 0;
  most integer;
  steps rulings.step[] := '{}';
  bars rulings.step[];
  halted rulings.step;
  cliff boolean := false;
  ended text;
  entered text;
  spot record;
  stops rulings.step[];
  closed rulings.step[];
  crossing rulings.step[];
  passed ddp.passing[] := '{}';
begin
  select * into state from positions.state(move.position_id, move.conditions, move.policy);
  most := ddp._farthest(state, move.manner);
  stops := array(
    select row(stop.rule, null, stop.label, 'stops', stop.why, stop.point)::rulings.step
    from ddp._stops(state) as stop
    where stop.label = any(move.path)
    order by stop.rule, stop.why
  );
  closed := array(
    select row(bar.rule, null, bar.label, bar.effect, bar.why, null)::rulings.step
    from (
      select distinct one.rule, one.label, one.effect, one.why
      from (select distinct unit.kind from unnest(movers) as unit) as kind
      cross join lateral ddp._closed(state, kind.kind) as one
      where one.label = any(move.path)
    ) as bar
    order by bar.effect, bar.rule, bar.why
  );
  bars := array(
    select bar from unnest(movers) as unit cross join lateral ddp._mover_bars(state, unit, move.manner) as bar
  ) || array(
    select row('7.21', null, head.label, 'forbids', format('%s does not stand with %s', unit.code, head.code), null)::rulings.step
    from unnest(movers) as unit
    where unit.q is distinct from head.q or unit.r is distinct from head.r
  );
  ended := case when cardinality(bars) > 0 then head.label end;
  foreach entered in array move.path loop
    exit when ended is not null;
    if entered = at_label and done = 0 then
      continue;
    end if;
    select hex.q, hex.r, hex.terrain into spot from public.hex where hex.map_id = state.map_id and hex.label = entered;
    if lattice.distance(at_q, at_r, spot.q, spot.r) <> 1 then
      bars := bars || row('7.3', null, entered, 'forbids', format('%s is not adjacent to %s', entered, at_label), null)::rulings.step;
    end if;
    if done >= most then
      bars := bars || ddp._too_far(state, move.manner, most, entered);
    end if;
    if halted.rule is not null then
      bars := bars || row(halted.rule, null, entered, 'forbids', format('the move had to end in %s: %s', at_label, halted.note), halted.point)::rulings.step;
    end if;
    if ddp._is_cliff(state.map_id, at_q, at_r, spot.q, spot.r) then
      crossing := array(select step from ddp._cliff_steps(state, movers, at_q, at_r, spot.q, spot.r, done) as step);
      bars := bars || array(select step from unnest(crossing) as step where step.effect = 'forbids');
      steps := steps || array(select step from unnest(crossing) as step where step.effect = 'disrupts');
      cliff := true;
    end if;
    bars := bars || array(select bar from unnest(closed) as bar where bar.at = entered);
    if exists (select from unnest(bars) as bar where bar.effect = 'forbids') then
      ended := entered;
      exit;
    end if;
    done := done + 1;
    at_q := spot.q;
    at_r := spot.r;
    at_label := entered;
    steps := steps || array(select stop from unnest(stops) as stop where stop.at = entered);
    select stop.* into halted from unnest(steps) as stop where stop.at = entered and stop.effect = 'stops' limit 1;
    if cliff then
      halted := row('7.32', null, entered, 'stops', 'it crossed a cliff', null)::rulings.step;
    end if;
  end loop;
  if ended is null then
    bars := bars || array(select bar from ddp._goal_bars(state, head, at_q, at_r, at_label, move.manner) as bar);
    ended := case when exists (select from unnest(bars) as bar where bar.effect = 'forbids') then at_label end;
  end if;
  if ended is null then
    passed := array(select past from ddp._infiltrated(state, head.q, head.r, at_q, at_r) as past);
    steps := steps || array(select step from ddp._infiltration_steps(passed, movers, at_label, move.manner) as step);
    if exists (select from unnest(steps) as step where step.effect = 'forbids') then
      bars := bars || array(select step from unnest(steps) as step where step.effect = 'forbids');
      ended := at_label;
    end if;
  end if;
  return query
  select step.rule, step.clause, step.at, step.effect, step.note, step.point, null::text, null::integer, null::jsonb
  from unnest(steps || bars) with ordinality as step (rule, clause, at, effect, note, point, n)
  where step.effect <> 'forbids' or step.n > cardinality(steps);
  return query
  select verdict.*
  from ddp._move_verdict(
    move.units, bars, passed, done, case when halted.rule is not null or ended is not null then 0 else most - done end,
    coalesce(ended, at_label), ended is not null, cliff
  ) as verdict;
end
$$;

comment on function ddp.move(bigint, text[], text[], text, jsonb, jsonb) is
'A move of a US unit or stack along a way, step by step: what ends it, what forbids it, past which positions it infiltrates. The verdict last.';

create or replace function ddp.reach(
  position_id bigint, unit text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 10
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  state positions.state;
  mover positions.counter := positions._asked_counter(reach.position_id, reach.unit);
  most integer;
  stops text[];
  closed text[];
  unknown text[];
  bars rulings.step[];
  found jsonb := '{}';
  past jsonb := '{}';
begin
  select * into state from positions.state(reach.position_id, reach.conditions, reach.policy);
  most := ddp._farthest(state, null);
  bars := array(select bar from ddp._mover_bars(state, mover, null) as bar);
  if cardinality(bars) = 0 then
    stops := array(select distinct stop.label from ddp._stops(state) as stop);
    closed := array(select distinct one.label from ddp._closed(state, mover.kind) as one where one.effect = 'forbids');
    unknown := array(select distinct one.label from ddp._closed(state, mover.kind) as one where one.effect = 'unknown');
    with recursive walk as (
      select mover.q as q, mover.r as r, mover.label as label, 0 as n, false as ended
      union
      select
        hex.q,
        hex.r,
        hex.label,
        walk.n + 1,
        hex.label = any(stops) or ddp._is_cliff(state.map_id, walk.q, walk.r, hex.q, hex.r)
      from walk
      cross join lateral lattice.neighbours(walk.q, walk.r) as beside
      inner join public.hex on hex.map_id = state.map_id and beside.nq = hex.q and beside.nr = hex.r
      where walk.n < most
        and not walk.ended
        and hex.label <> all(closed)
        and hex.label <> all(unknown)
        and hex.label <> mover.label
        and (
          not ddp._is_cliff(state.map_id, walk.q, walk.r, hex.q, hex.r)
          or (walk.n = 0 and ddp._climbs(mover.kind, state.readings))
        )
        and (
          not ddp._night(state.conditions)
          or not exists (select from ddp._occupants(state) as held where lattice.distance(held.q, held.r, mover.q, mover.r) = 1)
          or not exists (select from ddp._occupants(state) as held where lattice.distance(held.q, held.r, hex.q, hex.r) = 1)
        )
    ),

    least as (
      select walk.label, walk.q, walk.r, min(walk.n) as n from walk where walk.n > 0 group by walk.label, walk.q, walk.r
    ),

    goal as materialized (
      select way.* from ddp._infiltration_goals(state, mover.q, mover.r) as way where not way.blocked
    ),

    judged as (
      select
        least.label,
        least.n,
        near.places,
        -- 7.33: alone, artillery and HQs do not infiltrate
        cardinality(near.places) > 0 and coalesce(mover.kind in ('artillery', 'regimental_hq', 'infantry_hq'), false) as barred
      from least
      cross join lateral (
        select array(select goal.place from goal where goal.q = least.q and goal.r = least.r order by goal.place) as places
      ) as near
    )

    select
      coalesce(jsonb_object_agg(judged.label, judged.n) filter (where not judged.barred), '{}'),
      coalesce(
        jsonb_object_agg(judged.label, judged.places) filter (where not judged.barred and cardinality(judged.places) > 0),
        '{}'
      )
    into found, past
    from judged;
  end if;
  return query
  select bar.rule, bar.clause, bar.at, bar.effect, bar.note, bar.point, null::text, null::integer, null::jsonb
  from unnest(bars) as bar;
  return query
  select stop.rule, null::text, stop.label, 'stops', string_agg(stop.why, '; ' order by stop.why), min(stop.point), null::text, null::integer, null::jsonb
  from ddp._stops(state) as stop
  where found ? stop.label
  group by stop.rule, stop.label
  order by stop.label, stop.rule;
  return query
  select '7.33', null::text, way.key, 'infiltrates', format('past %s', array_to_string(array(select jsonb_array_elements_text(way.value)), ', ')), null::text, null::text, null::integer, null::jsonb
  from jsonb_each(past) as way
  order by way.key;
  return query
  select distinct '7.3', null::text, one.label, 'unknown', 'terrain_effects_chart', null::text, null::text, null::integer, null::jsonb
  from ddp._closed(state, mover.kind) as one
  inner join public.hex on hex.map_id = state.map_id and one.label = hex.label
  where one.effect = 'unknown'
    and cardinality(bars) = 0
    and lattice.distance(hex.q, hex.r, mover.q, mover.r) <= most
  order by 3;
  return query
  select
    '7.3', null::text, mover.label, 'reach',
    format('%s hexes', (select count(*) from jsonb_object_keys(found))),
    null::text, null::text, null::integer,
    jsonb_build_object(
      'hexes', found,
      'infiltration', coalesce(
        (
          select jsonb_agg(distinct place.name order by place.name)
          from jsonb_each(past) as way
          cross join lateral jsonb_array_elements_text(way.value) as place (name)
        ),
        '[]'
      ),
      'past', past
    );
end
$$;

comment on function ddp.reach(bigint, text, jsonb, jsonb) is
'The hexes in which a US unit can end a move, with the hexes that it takes, and past whom it infiltrates to get there (7.3, 7.33).';

create or replace function ddp._enter_bars(state positions.state, unit positions.counter, q integer, r integer, label text)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  select
    bar.rule,
    null,
    _enter_bars.label,
    'forbids',
    format(bar.note, unit.code, _enter_bars.label),
    bar.point,
    unit.code,
    null::integer,
    null::jsonb
  from ddp._at_start(unit) as began
  cross join lateral (
    select
      exists (select from ddp._occupants(state) as held where held.q = _enter_bars.q and held.r = _enter_bars.r) as occupied,
      exists (
        select from ddp._occupants(state) as held
        where held.q = _enter_bars.q and held.r = _enter_bars.r and held.fortification
      ) as fortified,
      not exists (
        select from ddp._occupants(state) as held
        where held.q = _enter_bars.q and held.r = _enter_bars.r and held.revealed
      ) as hidden
  ) as there
  cross join lateral (
    values
    (1, not there.occupied, '7.4', 'nobody is in %2$s', null),
    (
      2,
      not (ddp._on_foot(unit.kind) or coalesce(unit.kind = 'engineer', false)),
      case when unit.kind = 'regimental_hq' then '10.22' else '7.4' end,
      '%s is neither infantry nor an engineer',
      null
    ),
    (3, there.occupied and there.hidden, '7.4', 'the enemy in %2$s is not revealed', null),
    (
      4,
      lattice.distance(began.q, began.r, _enter_bars.q, _enter_bars.r) <> 1,
      '7.4',
      '%s was not adjacent to %2$s when the phase began',
      null
    ),
    (
      5,
      lattice.distance(unit.q, unit.r, _enter_bars.q, _enter_bars.r) <> 1,
      '7.4',
      '%s is not adjacent to %2$s',
      null
    ),
    (6, coalesce(state.conditions -> 'attacked' ? _enter_bars.label, false), '7.4', '%2$s was attacked in this phase', null),
    (
      7,
      ddp._is_blocked(state.position_id, state.map_id, _enter_bars.q, _enter_bars.r, unit.q, unit.r),
      '19.2',
      'the side between %s and %2$s is impassable',
      null
    ),
    (
      8,
      ddp._is_cliff(state.map_id, unit.q, unit.r, _enter_bars.q, _enter_bars.r) and not ddp._climbs(unit.kind, state.readings),
      '7.32',
      '%s may not cross the cliff into %2$s',
      case when unit.kind = 'infantry_hq' then 'ddp-22' end
    ),
    (
      9,
      unit.kind = 'infantry_hq' and there.fortified and state.readings ->> 'ddp-32' = 'b',
      '19.1',
      '%s is an infantry/HQ, and %2$s is fortified',
      'ddp-32'
    ),
    (10, ddp._night(state.conditions), '18.21', 'nobody enters %2$s on a night of Bloody Nose Ridge', null),
    (11, ddp._fresh_morning(state.conditions), '18.22', 'nobody enters %2$s in a morning under the new command', null)
  ) as bar (n, holds, rule, note, point)
  where bar.holds
  order by bar.n
$$;

comment on function ddp._enter_bars(positions.state, positions.counter, integer, integer, text) is
'Why a unit may not enter an enemy hex (7.32, 7.4, 10.22, 18.21, 18.22, 19.1, 19.2).';

create or replace function ddp.enter(
  position_id bigint, units text[], target text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 4
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  state positions.state;
  spot record;
  bars rulings.ledger_step[];
  climbers positions.counter[];
begin
  select * into state from positions.state(enter.position_id, enter.conditions, enter.policy);
  select place.q, place.r, hex.label into spot
  from positions.place(enter.position_id, enter.target) as place
  inner join public.hex on hex.map_id = state.map_id and place.q = hex.q and place.r = hex.r;
  bars := array(
    select bar
    from unnest(enter.units) as code
    cross join lateral positions.counter(enter.position_id, code) as unit
    cross join lateral ddp._enter_bars(state, unit, spot.q, spot.r, spot.label) as bar
  );
  climbers := array(
    select unit
    from unnest(enter.units) as code
    cross join lateral positions.counter(enter.position_id, code) as unit
    where cardinality(bars) = 0 and ddp._is_cliff(state.map_id, unit.q, unit.r, spot.q, spot.r)
  );
  return query select * from unnest(bars);
  return query
  select
    '19.1',
    null::text,
    spot.label,
    'passes',
    format('%s is an infantry/HQ, and enters a fortification like infantry', unit.code),
    'ddp-32',
    unit.code,
    null::integer,
    null::jsonb
  from unnest(enter.units) as code
  cross join lateral positions.counter(enter.position_id, code) as unit
  where cardinality(bars) = 0
    and unit.kind = 'infantry_hq'
    and exists (
      select from ddp._occupants(state) as held where held.q = spot.q and held.r = spot.r and held.fortification
    );
  return query
  select
    '7.32',
    null::text,
    spot.label,
    'disrupts',
    format('%s crosses a cliff into %s', climber.code, spot.label),
    case when climber.kind = 'infantry_hq' then 'ddp-22' end,
    climber.code,
    null::integer,
    null::jsonb
  from unnest(climbers) as climber;
  return query
  select
    '7.4',
    null::text,
    spot.label,
    'passes',
    format('%s was barraged, which does not bar entry', spot.label),
    null::text,
    null::text,
    null::integer,
    null::jsonb
  where coalesce(state.conditions -> 'barraged' ? spot.label, false);
  return query
  select
    case when cardinality(bars) > 0 then (bars[1]).rule else '7.4' end,
    null::text,
    spot.label,
    case when cardinality(bars) > 0 then 'may not enter' else 'may enter' end,
    coalesce((select string_agg(distinct bar.note, '; ') from unnest(bars) as bar), 'the enemy there is revealed and adjacent'),
    null::text,
    null::text,
    null::integer,
    jsonb_build_object(
      'allowed', cardinality(bars) = 0,
      'at', spot.label,
      'climbers', array(select climber.code from unnest(climbers) as climber)
    );
end
$$;

comment on function ddp.enter(bigint, text[], text, jsonb, jsonb) is
'Whether US units may enter an enemy hex for close combat, and what bars it (7.4): the verdict last.';

create or replace function ddp.reach_paths(
  position_id bigint, unit text, conditions jsonb default null, policy jsonb default null
)
returns table (label text, path text[])
language plpgsql stable rows 30
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  state positions.state;
  mover positions.counter := positions._asked_counter(reach_paths.position_id, reach_paths.unit);
  most integer;
  stops text[];
  closed text[];
begin
  select * into state from positions.state(reach_paths.position_id, reach_paths.conditions, reach_paths.policy);
  most := ddp._farthest(state, null);
  if exists (select from ddp._mover_bars(state, mover, null)) then
    return;
  end if;
  stops := array(select distinct stop.label from ddp._stops(state) as stop);
  closed := array(select distinct one.label from ddp._closed(state, mover.kind) as one);
  return query
  with recursive walk as (
    select mover.q as q, mover.r as r, array[]::text[] as path, false as ended
    union all
    select
      hex.q,
      hex.r,
      walk.path || hex.label,
      hex.label = any(stops) or ddp._is_cliff(state.map_id, walk.q, walk.r, hex.q, hex.r)
    from walk
    cross join lateral lattice.neighbours(walk.q, walk.r) as beside
    inner join public.hex on hex.map_id = state.map_id and beside.nq = hex.q and beside.nr = hex.r
    where cardinality(walk.path) < most
      and not walk.ended
      and hex.label <> all(closed)
      and hex.label <> mover.label
      and hex.label <> all(walk.path)
      and (
        not ddp._is_cliff(state.map_id, walk.q, walk.r, hex.q, hex.r)
        or (cardinality(walk.path) = 0 and ddp._climbs(mover.kind, state.readings))
      )
  )

  select distinct on (found.label) found.label, found.path
  from (select walk.path[cardinality(walk.path)] as label, walk.path from walk where cardinality(walk.path) > 0) as found
  order by found.label, cardinality(found.path), found.path;
end
$$;

comment on function ddp.reach_paths(bigint, text, jsonb, jsonb) is
'A shortest way to each hex to which a US unit can move; whether it may infiltrate there the move itself tells (7.3).';
