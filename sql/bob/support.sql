-- needs: bob/attacks.sql
-- Assets in bob (Band of Brothers): artillery, aircraft, illumination, smoke: 32.0 to 32.2, 35.0, 35.1, 48.0 to 48.2, 50.1, 59.3.

create or replace function bob._asset(state positions.state, code text)
returns positions.counter
language sql stable
return positions._asked_counter(state.position_id, code);

comment on function bob._asset(positions.state, text) is
'An asset by its id.';

create or replace function bob._spotter_steps(state positions.state, side text, at text)
returns setof rulings.ledger_step
language sql stable rows 4
as $$
  select
    coalesce(bar.rule, '32.0'), null, unit.label, case when bar.rule is null then 'spots' else 'does not spot' end,
    coalesce(bar.note, format('%s sees the hex', unit.code)),
    case when unit.kind in ('vehicle', 'carrier') then 'bob-5' end, unit.code, null::integer, null::jsonb
  from bob._counters(state) as unit
  left join lateral (
    select entry.rule, entry.note
    from (
      values
      (
        0, unit.kind in ('vehicle', 'carrier') and coalesce((unit.attributes ->> 'uk')::integer, 0) > 0,
        '61.2', format('%s has an Unconfirmed Kill', unit.code)
      ),
      (1, unit.kind in ('vehicle', 'carrier') and state.readings ->> 'bob-5' = 'a', '32.0', format('%s is a Vehicle', unit.code)),
      (2, unit.attributes ->> 'suppression' = 'full', '32.0', format('%s is Fully Suppressed', unit.code)),
      (3, bob._in_melee(state, unit), '32.0', format('%s is in Melee', unit.code)),
      (4, bob._is_out_of_command(state, unit), '63.1', format('%s is Out of Command', unit.code)),
      (
        5,
        not exists (
          select from bob.los(state.position_id, bob._place_name(unit), case when at like 'hex:%' or at like 'unit:%' then at else 'hex:' || at end, state.conditions, state.readings) as step
          where step.effect = 'visible'
        ),
        '14.0', format('%s does not see the hex', unit.code)
      )
    ) as entry (n, speaks, rule, note)
    where entry.speaks
    order by entry.n
    limit 1
  ) as bar on true
  where unit.side = _spotter_steps.side
  order by unit.code collate "C"
$$;

comment on function bob._spotter_steps(positions.state, text, text) is
'Every unit of a side, with whether it may spot a hex for Artillery, and why not (32.0, 50.2, 61.2, 63.1, bob-5).';

create or replace function bob.spotters(
  position_id bigint, asset text, at text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 5
as $$
#variable_conflict use_variable
declare
  state positions.state;
  battery positions.counter;
begin
  select * into state from positions.state(position_id, conditions, policy);
  battery := bob._asset(state, asset);
  return query select * from bob._spotter_steps(state, battery.side, at);
  return next (
    select row(
      '32.0', null, positions.spoken(at), case when count(*) = 0 then 'nobody' else 'spotted' end,
      case when count(*) = 0 then 'nobody spots the hex' else 'the hex is spotted' end, null, asset, null,
      jsonb_build_object('by', coalesce(jsonb_agg(step.by order by step.by collate "C"), '[]'))
    )::rulings.ledger_step
    from bob._spotter_steps(state, battery.side, at) as step
    where step.effect = 'spots'
  );
end
$$;

comment on function bob.spotters(bigint, text, text, jsonb, jsonb) is
'Who may spot a hex for an Artillery asset, and why others may not (32.0).';

create or replace function bob._battery_rows(state positions.state, battery positions.counter, op boolean)
returns setof bob.cover_row
language sql stable rows 2
as $$
  select 1, cell.rule, cell.value::integer, 'Op Fire', null, 'prof', case when cell.value is null then 'artillery_prof' end
  from bob._pac('artillery_prof', coalesce(battery.attributes ->> 'nation', battery.side), 'op_fire') as cell
  where op and cell.value is distinct from '-'
  union all
  select 2, cell.rule, cell.value::integer, 'it is marked Op Fire', null, 'prof', null
  from bob._pac('artillery_prof', coalesce(battery.attributes ->> 'nation', battery.side), 'marked_op_fire') as cell
  where bob._flag(battery, 'op_fire') and cell.value is distinct from '-'
$$;

comment on function bob._battery_rows(positions.state, positions.counter, boolean) is
'What changes the Prof Rating of a battery: Op Fire by nation, and being marked for it; nothing else (32.0).';

create or replace function bob.indirect_fire(
  position_id bigint, by text, at text, manner text default 'fire', spotter text default null, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 6
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  state positions.state;
  battery positions.counter;
  place record;
  steps rulings.ledger_step[];
  seen text[];
  movers record;
begin
  select * into state from positions.state(position_id, conditions, policy);
  battery := bob._asset(state, by);
  select hex.q, hex.r, hex.label into place
  from positions.place(position_id, at) as spot inner join public.hex on hex.map_id = state.map_id and hex.q = spot.q and hex.r = spot.r;
  steps := array(select step from bob._spotter_steps(state, battery.side, 'hex:' || place.label) as step);
  seen := array(select step.by from unnest(steps) as step where step.effect = 'spots');
  select
    bool_and((mover.attributes -> 'moving' ->> 'hexes')::integer = 1) filter (where area.reached) as first_hex,
    bool_or(area.reached) as reached,
    count(*) as n
  into movers
  from bob._counters(state) as mover
  cross join lateral (select lattice.distance(mover.q, mover.r, place.q, place.r) <= 1 as reached) as area
  where mover.attributes ? 'moving' and mover.side <> battery.side;
  steps := steps || array(
    select row(entry.rule, null, place.label, 'forbids', entry.note, entry.point, battery.code, null, null)::rulings.ledger_step
    from (
      values
      (1, battery.kind <> 'artillery', '32.0', 'it is no Artillery', null),
      (2, bob._flag(battery, 'used'), '32.0', 'each battery fires once a turn', null),
      (3, bob._flag(battery, 'ammo_out') or battery.attributes ->> 'status' = 'eliminated', '32.2', 'it has fired its rockets', null),
      (4, cardinality(seen) = 0, '32.0', 'nobody spots the hex', case when exists (select from bob._counters(state) as unit where unit.side = battery.side and unit.kind in ('vehicle', 'carrier')) then 'bob-5' end),
      (5, spotter is not null and not spotter = any(seen), '32.0', format('%s cannot spot it', spotter), null),
      (6, manner = 'op_fire' and coalesce(movers.first_hex, false), '32.0', 'Artillery does not Op Fire at a mover in its first hex', null),
      (7, manner = 'op_fire' and movers.n > 0 and not movers.reached, '32.0', 'the area must include the mover', null),
      (8, manner = 'smoke' and not bob._flag(battery, 'smoke'), '48.0', 'it fires Smoke only where the scenario says so', null),
      (9, manner = 'smoke' and state.conditions ->> 'weather' = 'monsoon', '55.2', 'there is no Smoke in the deluge', null),
      (10, manner <> 'op_fire' and state.conditions ->> 'active' <> battery.side, '32.0', 'it is not the Operations Range of its side', null)
    ) as entry (n, speaks, rule, note, point)
    where entry.speaks order by entry.n
  );
  steps := steps || row('32.0', null, place.label, coalesce(battery.attributes ->> 'prof', 'unknown'), case when battery.attributes ? 'prof' then 'its Prof Rating' else 'counter' end, null, battery.code, 2 * (battery.attributes ->> 'prof')::integer, null)::rulings.ledger_step
    || array(
      select row(item.rule, null, place.label, to_char(item.value, 'SG9'), item.note, null, battery.code, 2 * item.value, null)::rulings.ledger_step
      from bob._battery_rows(state, battery, manner = 'op_fire') as item order by item.n
    );
  return query select * from unnest(steps);
  return next (
    select row(
      '32.0', null, place.label, case when count(*) filter (where step.effect = 'forbids') > 0 then 'not allowed' else 'allowed' end,
      coalesce((array_agg(step.note) filter (where step.effect = 'forbids'))[1], 'the battery may fire'), null, battery.code, null,
      jsonb_build_object(
        'allowed', case when count(*) filter (where step.effect = 'forbids') > 0 then false when not battery.attributes ?& array['prof', 'accuracy'] then null else true end,
        'why', (array_agg(step.note) filter (where step.effect = 'forbids'))[1], 'rule', (array_agg(step.rule) filter (where step.effect = 'forbids'))[1],
        'prof', sum(step.halves) / 2, 'accuracy', battery.attributes -> 'accuracy', 'hex', place.label, 'side', battery.side,
        't44', bob._flag(battery, 't44'), 'spotters', to_jsonb(seen)
      )
    )::rulings.ledger_step
    from unnest(steps) as step
  );
end
$$;

comment on function bob.indirect_fire(bigint, text, text, text, text, jsonb, jsonb) is
'A Fire Mission before its dice: who spots it, and the Prof Rating of the battery (32.0).';

create or replace function bob.drifted(position_id bigint, at text, direction integer, hexes integer)
returns table (label text)
language sql stable
as $$
  select hex.label
  from public.position
  cross join lateral positions.place(drifted.position_id, drifted.at) as place
  left join public.hex
    on hex.map_id = position.map_id
      and hex.q = place.q + drifted.hexes * lattice.step_q(drifted.direction)
      and hex.r = place.r + drifted.hexes * lattice.step_r(drifted.direction)
  where position.id = drifted.position_id
$$;

comment on function bob.drifted(bigint, text, integer, integer) is
'Where a Fire Mission ends that drifts so many hexes in a direction; null off the map (32.0).';

create or replace function bob._reverse_slope(state positions.state, side text, q integer, r integer)
returns boolean
language sql stable
as $$
  -- 32.1: behind a higher hex as seen from the firing side's own edge
  select coalesce(bool_or(bob._level(before.terrain, before.level) >= 1 and bob._level(before.terrain, before.level) > bob._level(hex.terrain, hex.level)), false)
  from public.hex
  cross join lateral unnest(
    case state.conditions -> 'rout_edge' ->> _reverse_slope.side
      when 'north' then array[1] when 'south' then array[4] when 'west' then array[5, 6] when 'east' then array[2, 3]
    end
  ) as back (direction)
  inner join public.hex as before
    on before.map_id = hex.map_id and before.q = hex.q + lattice.step_q(back.direction) and before.r = hex.r + lattice.step_r(back.direction)
  where hex.map_id = state.map_id and hex.q = _reverse_slope.q and hex.r = _reverse_slope.r
$$;

comment on function bob._reverse_slope(positions.state, text, integer, integer) is
'Whether a hex is a Reverse Slope Blind Hex for a side''s heavy Artillery (32.1).';

create or replace function bob._vehicle_bonus(unit positions.counter)
returns integer
language sql immutable parallel safe
return case when bob._flag(unit, 'open_topped') or unit.attributes ? 'unarmored' then 1 else 0 end
- case when least((unit.attributes -> 'armor' ->> 0)::integer, (unit.attributes -> 'armor' ->> 1)::integer) > 3 then 1 else 0 end;

comment on function bob._vehicle_bonus(positions.counter) is
'What a Vehicle adds to or takes from bombs and shells: +1 open-topped or unarmored, -1 where its lowest armor is above 3 (32.0, 35.0).';

create or replace function bob._burst_rows(
  state positions.state, unit positions.counter, column_key text, read jsonb, op boolean default false
)
returns setof bob.cover_row
language sql stable rows 2
as $$
  select item.*
  from bob._cover_rows(
    state, bob._aim(state, 'hex:' || unit.label, bob._place_name(unit), false), unit, column_key, unit.attributes ? 'moving', 'artillery', true, read
  ) as item
  where item.kind in ('terrain', 'building', 'fortification')
  union all
  select 20, cell.rule, cell.value::integer, 'it is Concealed', null, 'situation', null
  from bob._pac('pac_situation', case (unit.attributes ->> 'concealed')::integer when 2 then 'concealed_japanese' else 'concealed' end, 'artillery') as cell
  where bob._is_concealed(unit) and _burst_rows.column_key = 'artillery'
  union all
  -- 41.0: Op Fire of Artillery at infantry moving in the open; by how much is on the card
  select 19, '41.0', cell.value::integer, 'moving in Open Ground', null, 'situation', case when cell.value is null then 'pac_situation' end
  from bob._pac('pac_situation', bob._open_key(state, 1), 'artillery', read) as cell
  where op and _burst_rows.column_key = 'artillery' and cell.value is distinct from '-'
    and unit.attributes ? 'moving' and unit.kind in ('squad', 'wt', 'decoy') and not bob._mounted(unit)
    and bob._is_open(bob._ground(state, unit.q, unit.r))
$$;

comment on function bob._burst_rows(positions.state, positions.counter, text, jsonb, boolean) is
'What the ground does to shells or bombs at a unit; who throws them from where does not matter (32.0, 35.0).';

create or replace function bob._struck(
  state positions.state, unit positions.counter, fp jsonb, column_key text, read jsonb, op boolean default false
)
returns jsonb
language sql stable
as $$
  select case
    when unit.kind in ('vehicle', 'carrier') then jsonb_build_object(
      'unit', unit.code, 'kind', unit.kind, 'vehicle', true, 'arm', column_key, 'value', bob._nth(fp, 1) + bob._vehicle_bonus(unit), 'moving', unit.attributes ? 'moving'
    )
    else jsonb_build_object(
      'unit', unit.code, 'kind', unit.kind, 'reduced', bob._flag(unit, 'reduced'), 'concealed', bob._is_concealed(unit),
      'class', case column_key when 'aircraft' then 'heavy' else 'artillery' end,
      'value', (
        select bob._nth(fp, 2) + case when count(*) = count(item.value) then coalesce(sum(item.value), 0) end
        from bob._burst_rows(state, unit, column_key, read, op) as item
      ),
      'casualties', to_jsonb(bob._casualties(state, unit, case column_key when 'aircraft' then 'heavy' else 'artillery' end, works.kind)),
      'suppression', coalesce(unit.attributes ->> 'suppression', 'none'), 'adjacent', false, 'in_range', true, 'hidden', false,
      'moving', unit.attributes ? 'moving', 'works', works.kind
    )
  end
  from (
    select (
      select fort.kind from bob._fortification(state, unit.q, unit.r, bob._storey(unit)) as fort
      where not bob._flag(unit, 'entered') and not unit.attributes ? 'moving'
    ) as kind
  ) as works
$$;

comment on function bob._struck(positions.state, positions.counter, jsonb, text, jsonb, boolean) is
'A unit under shells or bombs, as a roll is judged: Vehicles by the first FP without their armor, others by the second (32.0, 35.0).';

create or replace function bob.barrage(
  position_id bigint, by text, at text, unit text default null, read jsonb default '{}', conditions jsonb default null,
  policy jsonb default null, op boolean default false
)
returns setof rulings.ledger_step
language plpgsql stable rows 8
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  state positions.state;
  battery positions.counter;
  place record;
  cell record;
  struck positions.counter[];
  one positions.counter;
  hexes jsonb := '[]';
  shelled jsonb;
  blind boolean;
begin
  select * into state from positions.state(position_id, conditions, policy);
  battery := bob._asset(state, by);
  select spot.q, spot.r into place from positions.place(position_id, at) as spot;
  for cell in
    select hex.q, hex.r, hex.label
    from (select 0 as n, place.q as hq, place.r as hr union all select beside.direction, beside.nq, beside.nr from lattice.neighbours(place.q, place.r) as beside) as around
    inner join public.hex on hex.map_id = state.map_id and hex.q = around.hq and hex.r = around.hr
    order by around.n
  loop
    blind := coalesce((battery.attributes ->> 'caliber')::integer, 0) >= 100 and bob._reverse_slope(state, battery.side, cell.q, cell.r);
    struck := array(
      select counter from bob._counters(state) as counter
      where counter.q = cell.q and counter.r = cell.r and not blind
        and (unit is null or counter.code = unit)
        -- 21.5: only the Carrier of a mounted unit (bob-48); riders on a tank are hit as well (22.0)
        and (not bob._mounted(counter) or bob._flag(counter, 'tank_rider') or state.readings ->> 'bob-48' = 'b')
      order by counter.code collate "C"
    );
    shelled := '[]';
    foreach one in array struck loop
      return query
      select (bob._entry(item, one)).* from bob._burst_rows(state, one, 'artillery', read, op) as item where one.kind not in ('vehicle', 'carrier');
      if one.kind = 'gun' and exists (
        select from bob._fortification(state, one.q, one.r, bob._storey(one)) as fort where fort.kind in ('pillbox', 'bunker')
      ) then
        return next row('43.3', null, one.label, 'counts', 'the casualty numbers of a Gun in a Pillbox', 'bob-9', one.code, null, null)::rulings.ledger_step;
      end if;
      if one.kind = 'gun' and exists (
        select from bob._fortification(state, one.q, one.r, bob._storey(one)) as fort
        where bob._shields_gun(state, 'artillery', fort.kind)
      ) then
        return next row('43.0', null, one.label, 'counts', 'the casualty number of a Gun in a fortification is one less', null, one.code, null, null)::rulings.ledger_step;
      end if;
      if one.kind in ('vehicle', 'carrier') and bob._vehicle_bonus(one) <> 0 then
        return next row('32.0', null, one.label, to_char(bob._vehicle_bonus(one), 'SG9'), 'by its armor', null, one.code, 2 * bob._vehicle_bonus(one), null)::rulings.ledger_step;
      end if;
      shelled := shelled || jsonb_build_array(bob._struck(state, one, battery.attributes -> 'fp', 'artillery', read, op));
    end loop;
    if blind then
      return next row('32.1', null, cell.label, 'unaffected', 'a Reverse Slope Blind Hex', null, battery.code, null, null)::rulings.ledger_step;
    end if;
    hexes := hexes || jsonb_build_array(jsonb_build_object(
      'hex', cell.label, 'targets', shelled,
      'wire', not blind and exists (select from public.marker where marker.position_id = state.position_id and marker.kind = 'wire' and marker.q = cell.q and marker.r = cell.r)
    ));
  end loop;
  return next row(
    '32.0', null, positions.spoken(at), 'strikes', 'the hex and the six around it',
    case when exists (select from bob._counters(state) as rider where bob._mounted(rider) and lattice.distance(rider.q, rider.r, place.q, place.r) <= 1) then 'bob-48' end,
    battery.code, null, jsonb_build_object('hexes', hexes, 'fp', battery.attributes -> 'fp', 'wire_fp', bob._nth(battery.attributes -> 'fp', 2))
  )::rulings.ledger_step;
end
$$;

comment on function bob.barrage(bigint, text, text, text, jsonb, jsonb, jsonb, boolean) is
'What a Fire Mission strikes, hex by hex, with the FP against each unit; or one unit that enters it (32.0, 32.1).';

create or replace function bob._bombable(state positions.state, unit positions.counter)
returns text
language sql stable
return case
  when bob._flag(unit, 'in_cave') then 'it is in a cave'
  when bob._ground(state, unit.q, unit.r) in ('woods', 'jungle', 'swamp') then format('it is in %s', bob._ground(state, unit.q, unit.r))
  when bob._in_melee(state, unit) then 'it is in Melee'
end;

comment on function bob._bombable(positions.state, positions.counter) is
'Why an aircraft may not attack a unit; null where it may (35.0).';

create or replace function bob._flown(state positions.state, plane positions.counter)
returns text
language sql stable
as $$
  -- 35.0, 35.1, bob-7: another aircraft of the side has been used this turn
  select case
    when not exists (
      select from public.unit as other
      where other.position_id = state.position_id and other.kind = 'aircraft' and other.side = plane.side and other.code <> plane.code
        and (other.attributes ->> 'used')::boolean
    ) then null
    when state.readings ->> 'bob-7' <> 'c' and plane.attributes ->> 'type' in ('ju87g', 'jabo') then null
    when state.readings ->> 'bob-7' = 'b' and plane.attributes ->> 'type' = 'sturmovik' then null
    else 'one aircraft a side and turn'
  end
$$;

comment on function bob._flown(positions.state, positions.counter) is
'Why an aircraft may not fly this turn after another; null where it may (35.0, 35.1, bob-7).';

create or replace function bob.air_attack(
  position_id bigint, by text, target text, read jsonb default '{}', conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 6
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  state positions.state;
  plane positions.counter;
  unit positions.counter;
  steps rulings.ledger_step[];
  fp jsonb;
begin
  select * into state from positions.state(position_id, conditions, policy);
  plane := bob._asset(state, by);
  unit := bob._counter(state, target);
  fp := plane.attributes -> 'fp';
  -- 35.1: of a fighter-bomber the side that is up
  if plane.attributes ->> 'type' in ('sturmovik', 'jabo') and jsonb_array_length(fp) = 2 then
    fp := jsonb_build_array(fp -> case plane.attributes ->> 'side_up' when 'mg' then 1 else 0 end);
  end if;
  steps := array(
    select row(entry.rule, null, unit.label, 'forbids', entry.note, entry.point, plane.code, null, null)::rulings.ledger_step
    from (
      values
      (1, plane.kind <> 'aircraft', '35.0', 'it is no aircraft', null),
      (2, bob._flag(plane, 'used') or plane.attributes ->> 'status' = 'eliminated', '35.0', 'it has been used this turn', null),
      (3, bob._flown(state, plane) is not null, '35.0', bob._flown(state, plane), 'bob-7'),
      (4, bob._bombable(state, unit) is not null, '35.0', bob._bombable(state, unit), null),
      (5, plane.attributes ->> 'type' = 'ju87g' and unit.kind not in ('vehicle', 'carrier'), '35.1', 'a JU-87G selects a Vehicle', null)
    ) as entry (n, speaks, rule, note, point)
    where entry.speaks order by entry.n
  );
  if bob._flown(state, plane) is null and exists (
    select from public.unit as other where other.position_id = state.position_id and other.kind = 'aircraft' and other.side = plane.side and other.code <> plane.code and (other.attributes ->> 'used')::boolean
  ) then
    steps := steps || row('35.1', null, unit.label, 'allows', 'several of these fly in one turn', 'bob-7', plane.code, null, null)::rulings.ledger_step;
  end if;
  return query select * from unnest(steps);
  return next row(
    '35.0', null, unit.label, coalesce(bob._nth(fp, 1)::text, 'unknown'), case when fp is null then 'counter' else 'FP of the aircraft' end, null, plane.code, 2 * bob._nth(fp, 1), null
  )::rulings.ledger_step;
  if unit.kind in ('vehicle', 'carrier') then
    if bob._vehicle_bonus(unit) <> 0 then
      return next row('35.0', null, unit.label, to_char(bob._vehicle_bonus(unit), 'SG9'), 'by its armor', null, unit.code, 2 * bob._vehicle_bonus(unit), null)::rulings.ledger_step;
    end if;
  else
    return query select (bob._entry(item, unit)).* from bob._burst_rows(state, unit, 'aircraft', read) as item;
  end if;
  return next row(
    '35.0', null, unit.label, case when cardinality(steps) > 0 and steps[1].effect = 'forbids' then 'not allowed' else 'allowed' end,
    coalesce(case when steps[1].effect = 'forbids' then steps[1].note end, 'the attack may be made'), null, plane.code, null,
    jsonb_build_object(
      'allowed', case when steps[1].effect = 'forbids' then false when fp is null or not plane.attributes ? 'prof' then null else true end,
      'why', case when steps[1].effect = 'forbids' then steps[1].note end, 'rule', case when steps[1].effect = 'forbids' then steps[1].rule end,
      'prof', plane.attributes -> 'prof', 'type', plane.attributes -> 'type', 'side', plane.side, 'hex', unit.label, 'fp', bob._nth(fp, 1),
      'targets', jsonb_build_array(bob._struck(state, unit, fp, 'aircraft', read)),
      'here', (select jsonb_agg(other.code order by other.code collate "C") from bob._counters(state) as other where other.q = unit.q and other.r = unit.r)
    )
  )::rulings.ledger_step;
end
$$;

comment on function bob.air_attack(bigint, text, text, jsonb, jsonb, jsonb) is
'An attack by an aircraft on a unit before its dice (35.0, 35.1).';

create or replace function bob.diversions(position_id bigint, by text, target text, conditions jsonb default null, policy jsonb default null)
returns table (unit text, of_the_plane boolean)
language sql stable
as $$
  select other.code, other.side = plane.side
  from positions.state(diversions.position_id, diversions.conditions, diversions.policy) as state
  cross join lateral bob._asset(state, diversions.by) as plane
  cross join lateral bob._counter(state, diversions.target) as first
  inner join lateral bob._counters(state) as other
    on other.code <> first.code
      and lattice.distance(other.q, other.r, first.q, first.r) <= 5
      and bob._bombable(state, other) is null
      and not bob._mounted(other)
  order by other.side <> plane.side, other.code collate "C"
$$;

comment on function bob.diversions(bigint, text, text, jsonb, jsonb) is
'Other targets within 5 hexes that the opponent may name for an aircraft, its own side''s first (35.0).';
