-- needs: bob/attacks.sql
-- Infantry against Vehicles, and satchel charges, in bob (Band of Brothers): 20.9, 33.0, 36.0, 59.4.

create or replace function bob._satw_value(shot bob.shot, key text)
returns integer
language sql stable
-- 33.0: on the counter, else on the card: by name
return coalesce(
  ((shot.firer).attributes -> 'satw' ->> key)::integer,
  (
    select cell.value::integer
    from bob._pac('satw_values', (shot.firer).attributes -> 'satw' ->> 'name', key, shot.read) as cell
    where cell.value ~ '^[0-9]+$'
  )
);

comment on function bob._satw_value(bob.shot, text) is
'FP or range of an anti-tank weapon; null where neither counter nor chart tells (33.0).';

create or replace function bob._satw_forbids(state positions.state, shot bob.shot)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  select entry.rule, null, (shot.aim).target.label, entry.effect, entry.note, null, (shot.firer).code, null::integer, null::jsonb
  from (
    values
    (1, not (shot.firer).attributes ? 'satw', '33.0', 'forbids', 'it has no anti-tank weapon'),
    (2, shot.manner = 'final_op_fire', '33.0', 'forbids', 'anti-tank weapons do not Final Op Fire'),
    (3, not shot.at_vehicle, '33.0', 'forbids', 'it is used against Vehicles'),
    (4, (shot.aim).away > shot.far, '33.0', 'forbids', format('%s hexes away: its weapon reaches %s', (shot.aim).away, shot.far)),
    (5, shot.far is null and (shot.aim).away > 1 and not ((shot.firer).attributes -> 'satw' ->> 'name' = 'panzerfaust' and (shot.aim).away = 2), '33.0', 'unknown', 'satw_values'),
    (6, bob._satw_value(shot, 'fp') is null, '33.0', 'unknown', 'satw_values')
  ) as entry (n, speaks, rule, effect, note)
  where entry.speaks
  union all
  select * from bob._state_forbids(state, shot) as step where not ((shot.firer).kind = 'decoy' and step.rule = '15.0')
  union all
  select * from bob._mover_forbids(state, shot)
  union all
  select * from bob._sight_steps(state, shot)
$$;

comment on function bob._satw_forbids(positions.state, bob.shot) is
'What stands against a shot with an anti-tank weapon (33.0, 57.5).';

create or replace function bob._satw_rows(state positions.state, shot bob.shot)
returns setof bob.cover_row
language sql stable rows 3
as $$
  select 1, '33.0', -((shot.firer).attributes -> 'satw' ->> 'number')::integer, 'its SATW number', null, 'check',
    case when (shot.firer).attributes -> 'satw' ->> 'number' is null then 'counter' end
  union all
  select item.*
  from bob._cell_row(2, 'pac_satw', 'range/' || (shot.aim).away, 'value', 'check', format('%s hexes away', (shot.aim).away), null, shot.read) as item
  where (shot.aim).away <= 3
  union all
  select 2, '33.0', bob._told(shot.read, 'pac_satw', 'range'), format('%s hexes away', (shot.aim).away), null, 'check',
    case when bob._told(shot.read, 'pac_satw', 'range') is null then 'pac_satw' end
  where (shot.aim).away > 3
  union all
  select 3, item.rule, item.value * (shot.aim).hindrance, item.note, null, 'check', item.chart
  from bob._cell_row(3, 'pac_satw', 'hindrance', 'value', 'check', format('%s Hindrance(s)', (shot.aim).hindrance)) as item
  where (shot.aim).hindrance > 0
  union all
  select 4, item.rule, case state.readings ->> 'bob-8' when 'b' then item.value else 0 end, 'the Vehicle is directly behind a wall', 'bob-8', 'check', null
  from bob._cell_row(4, 'pac_satw', 'hindrance', 'value', 'check', '') as item
  where exists (
    select from bob._side_cover(state, shot.aim, shot.vehicle, 'v_gun', false, null, '{}') as side where side.note ~ 'wall|dike|roadblock'
  )
  union all
  select item.* from bob._cell_row(5, 'pac_satw', 'smoke', 'value', 'check', 'smoke on the line') as item where (shot.aim).smoke = 'smoke'
  union all
  select item.* from bob._cell_row(6, 'pac_satw', 'backblast', 'value', 'check', 'backblast in a closed place') as item
  where (shot.firer).attributes -> 'satw' ->> 'name' in ('bazooka', 'panzerfaust', 'panzerschreck')
    and (
      bob._pillbox(shot)
      or (shot.ground in ('stone_building', 'wooden_building') and not bob._has(state, (shot.aim).start, 'rail'))
    )
$$;

comment on function bob._satw_rows(positions.state, bob.shot) is
'What a SATW Check takes from Morale, a row each (33.0, 43.3, 46.0, 46.1, 48.0, bob-8).';

create or replace function bob.satw(
  position_id bigint, by text, target text, manner text default 'fire', read jsonb default '{}', conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 10
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  state positions.state;
  shot bob.shot;
  steps rulings.ledger_step[];
  rows bob.cover_row[];
  check_on rulings.ledger_step;
  fp integer;
  number jsonb;
begin
  select * into state from positions.state(position_id, conditions, policy);
  shot := bob._shot(state, by, target, manner, null, null, null, read);
  shot.arm := 'satw';
  shot.at_vehicle := (shot.vehicle).id is not null and (shot.vehicle).kind in ('vehicle', 'carrier');
  if shot.at_vehicle and cardinality(shot.movers) = 0 and ((shot.vehicle).attributes ? 'moving' or manner = 'op_fire') then
    shot.movers := array[(shot.vehicle).code];
  end if;
  shot.far := bob._satw_value(shot, 'range');
  fp := bob._satw_value(shot, 'fp');
  steps := array(select step from bob._satw_forbids(state, shot) as step);
  rows := array(select one from bob._satw_rows(state, shot) as one);
  select * into check_on from bob.morale(position_id, by, 'satw', conditions, policy) as step where step.facts is not null;
  steps := steps || array(
    select row(one.rule, null, (shot.firer).label, case when one.value is null then 'unknown' else 'check ' || to_char(one.value, 'SG99FM') end, coalesce(one.chart, one.note), one.point, (shot.firer).code, 2 * one.value, null)::rulings.ledger_step
    from unnest(rows) as one order by one.n
  );
  if shot.at_vehicle then
    steps := steps
      || row('33.0', null, (shot.firer).label, coalesce(fp::text, 'untold'), 'FP of its weapon', null, (shot.firer).code, 2 * fp, null)::rulings.ledger_step
      || array(select step from bob._vehicle_steps(state, shot, fp, null) as step);
    number := steps[cardinality(steps)].facts -> 'value';
  end if;
  return query select step.rule, step.clause, step.at, step.effect, step.note, step.point, step.by, step.halves, null::jsonb from unnest(steps) as step;
  return next bob._attack_verdict(
    shot, steps,
    jsonb_build_object(
      'fp', fp,
      -- a Decoy with a Panzerfaust has no Morale of its own told (57.5)
      'check', coalesce((check_on.facts ->> 'morale')::integer, case when (shot.firer).kind = 'decoy' then 10 end) + (select case when bool_and(one.value is not null) then sum(one.value) end from unnest(rows) as one),
      'targets', jsonb_build_array(jsonb_build_object(
        'unit', (shot.vehicle).code, 'kind', (shot.vehicle).kind, 'vehicle', true, 'arm', 'satw', 'value', number,
        'moving', (shot.vehicle).code = any(shot.movers)
      ))
    )
  );
end
$$;

comment on function bob.satw(bigint, text, text, text, jsonb, jsonb, jsonb) is
'A shot with an anti-tank weapon before its dice: the SATW Check and the attack number (33.0).';

create or replace function bob._melee_fp(state positions.state, unit positions.counter)
returns integer
language sql stable
return case
  when unit.kind = 'gun' then 2
  when bob._shown(unit.attributes, 'melee_fp') is not null then bob._shown(unit.attributes, 'melee_fp')::integer
  when unit.kind = 'wt' and state.readings ->> 'bob-4' = 'a' then case when bob._flag(unit, 'reduced') then 1 else 2 end
  else bob._nth(bob._shown(unit.attributes, 'fp'), 1)
end;

comment on function bob._melee_fp(positions.state, positions.counter) is
'Melee FP: printed, of a WT 2 or 1, of a Gun 2, else Normal FP (2.0, 12.0, bob-4); null where the counter is not told.';

create or replace function bob._assault_forbids(state positions.state, unit positions.counter, target positions.counter, weapon text)
returns setof rulings.ledger_step
language sql stable rows 1
as $$
  select entry.rule, null, target.label, 'forbids', entry.note, null, unit.code, null::integer, null::jsonb
  from (
    values
    (1, target.kind not in ('vehicle', 'carrier'), '20.9', 'Close Assault is on Vehicles'),
    (2, target.side = unit.side, '20.9', 'it is a friend'),
    (3, weapon <> 'satt' and unit.kind not in ('squad', 'wt'), '20.9', 'a Squad or WT makes a Close Assault'),
    (4, weapon = 'satchel' and not bob._flag(unit, 'satchel'), '36.0', 'it has no Satchel Charge'),
    (
      5,
      exists (
        select from bob._counters(state) as other
        where other.side = target.side and bob._soft(other) and not bob._mounted(other) and other.q = target.q and other.r = target.r
      ),
      '20.9', 'a Vehicle together with unmounted infantry is not Close Assaulted'
    ),
    (6, weapon <> 'satt' and bob._flag(unit, 'used'), '4.2', 'it is Used'),
    (7, weapon <> 'satt' and lattice.distance(unit.q, unit.r, target.q, target.r) > 1, '20.9', 'it must move into the hex of the Vehicle'),
    (8, weapon <> 'satt' and bob._retreats(unit), '5.3', 'who retreats keeps away from enemies')
  ) as entry (n, speaks, rule, note)
  where entry.speaks
  order by entry.n
$$;

comment on function bob._assault_forbids(positions.state, positions.counter, positions.counter, text) is
'What stands against a Close Assault (20.9, 36.0).';

create or replace function bob._assault_steps(state positions.state, target positions.counter, weapon text)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  select entry.rule, null, target.label, to_char(entry.value, 'SG9'), entry.note, entry.point, target.code, 2 * entry.value, null::jsonb
  from (
    select
      coalesce(bob._nth(target.attributes -> 'armor', 1), 0) >= 1 and not bob._flag(target, 'open_topped') as closed,
      state.conditions ->> 'module' = 'desert' as desert,
      -- bob-21: whether these count for a Satchel Charge
      weapon = 'satchel' and state.readings ->> 'bob-21' = 'b' as bare
  ) as fact
  cross join lateral (
    values
    (1, fact.closed, '20.9', case when fact.bare then 0 else -1 end, 'closed armor', case when weapon = 'satchel' then 'bob-21' end),
    (2, fact.desert, '20.9', case when fact.bare then 0 else -1 end, 'in the desert', case when weapon = 'satchel' then 'bob-21' end)
  ) as entry (n, speaks, rule, value, note, point)
  where entry.speaks
  order by entry.n
$$;

comment on function bob._assault_steps(positions.state, positions.counter, text) is
'What lowers the FP of a Close Assault (20.9, 36.0, 59.4, bob-21).';

create or replace function bob.close_assault(
  position_id bigint, unit text, target text, weapon text default 'melee', conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 5
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  state positions.state;
  asked positions.counter;
  vehicle positions.counter;
  steps rulings.ledger_step[];
  fp integer;
  cost numeric;
begin
  select * into state from positions.state(position_id, conditions, policy);
  vehicle := bob._counter(state, target);
  asked := case when weapon = 'satt' then vehicle else bob._counter(state, unit) end;
  fp := case weapon when 'satchel' then 9 when 'satt' then 8 else bob._melee_fp(state, asked) end;
  select cell.value::numeric + 1 into cost
  from bob._pac('pac_terrain', bob._ground(state, vehicle.q, vehicle.r), 'mp_infantry') as cell
  where cell.value ~ '^[0-9.]+$';
  steps := case when weapon = 'satt' then array(select step from bob._assault_forbids(state, asked, vehicle, weapon) as step where step.rule = '20.9' and step.note like '%unmounted%')
    else array(select step from bob._assault_forbids(state, asked, vehicle, weapon) as step) end;
  if fp is null then
    steps := steps || row('2.1', null, asked.label, 'unknown', 'counter', null, asked.code, null, null)::rulings.ledger_step;
  end if;
  steps := steps
    || row(case weapon when 'satchel' then '36.0' when 'satt' then '59.4' else '20.9' end, null, vehicle.label, coalesce(fp::text, 'untold'),
      case weapon when 'satchel' then 'a Satchel Charge' when 'satt' then 'a Suicide Anti-Tank Team' else 'its Melee FP' end,
      case when asked.kind = 'wt' and weapon = 'melee' then 'bob-4' end, case when weapon = 'satt' then 'satt' else asked.code end, 2 * fp, null)::rulings.ledger_step
    || array(select step from bob._assault_steps(state, vehicle, weapon) as step);
  return query select step.rule, step.clause, step.at, step.effect, step.note, step.point, step.by, step.halves, null::jsonb from unnest(steps) as step;
  return next (
    select row(
      '20.9', null, vehicle.label,
      case when count(*) filter (where step.effect = 'forbids') > 0 then 'not allowed' when fp is null then 'not told' else 'allowed' end,
      coalesce((array_agg(step.note) filter (where step.effect = 'forbids'))[1], 'the Vehicle is destroyed on this or less'), null, null, null,
      jsonb_build_object(
        'allowed', case when count(*) filter (where step.effect = 'forbids') > 0 then false when fp is null then null else true end,
        'why', (array_agg(step.note) filter (where step.effect = 'forbids'))[1],
        'rule', (array_agg(step.rule) filter (where step.effect = 'forbids'))[1],
        'value', fp + coalesce(sum(step.halves) filter (where step.by = vehicle.code), 0) / 2,
        'cost', cost, 'hex', vehicle.label, 'at', asked.label, 'from', asked.attributes -> 'moving' ->> 'from', 'side', asked.side,
        'retention', (state.conditions ->> 'sc_retention')::integer
      )
    )::rulings.ledger_step
    from unnest(steps) as step
  );
end
$$;

comment on function bob.close_assault(bigint, text, text, text, jsonb, jsonb) is
'A Close Assault before its die: whether it may be made, its cost, and what must be rolled (20.9, 36.0, 59.4).';

create or replace function bob._charge_rows(state positions.state, aim bob.aim, target positions.counter)
returns setof bob.cover_row
language sql stable rows 2
as $$
  -- 36.0: a fortification or building counts with its sign turned; situations do not count
  select
    item.n, item.rule,
    case when item.kind in ('fortification', 'building') then -item.value else item.value end,
    item.note || case when item.kind in ('fortification', 'building') then ', its sign turned' else '' end,
    item.point, item.kind, item.chart
  from bob._cover_rows(state, aim, target, 'infantry', false, 'satchel', true, '{}') as item
  where item.kind in ('fortification', 'building')
    or (
      item.kind in ('terrain', 'hexside')
      and not exists (
        select from bob._cover_rows(state, aim, target, 'infantry', false, 'satchel', true, '{}') as works
        where works.kind in ('fortification', 'building')
      )
    )
$$;

comment on function bob._charge_rows(positions.state, bob.aim, positions.counter) is
'What terrain does to a Satchel Charge (36.0).';

create or replace function bob.satchel_charge(
  position_id bigint, unit text, at text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 6
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  state positions.state;
  asked positions.counter;
  shot bob.shot;
  steps rulings.ledger_step[] := '{}';
  targets jsonb;
begin
  select * into state from positions.state(position_id, conditions, policy);
  asked := bob._counter(state, unit);
  shot := bob._aimed(state, asked, at, 'infantry');
  shot.firer := asked;
  shot.manner := 'satchel';
  shot.arm := 'flame';
  shot.movers := '{}';
  shot.aim := bob._aim(state, bob._place_name(asked), case when cardinality(shot.targets) > 0 then bob._place_name(shot.targets[1]) when at like 'unit:%' or at like 'hex:%' then at else 'hex:' || at end, false);
  steps := array(
    select row(entry.rule, null, (shot.aim).target.label, 'forbids', entry.note, null, asked.code, null, null)::rulings.ledger_step
    from (
      values
      (1, not bob._flag(asked, 'satchel'), '36.0', 'it has no Satchel Charge'),
      (2, bob._flag(asked, 'used'), '4.2', 'it is Used'),
      (3, not (shot.aim).adjacent and not ((shot.aim).away = 0 and (shot.aim).target.in_cave), '36.0', 'it is placed in an adjacent hex, or in a Cave beneath'),
      (4, cardinality(shot.targets) = 0, '36.0', 'there is no infantry or Gun; a Vehicle is Close Assaulted with it'),
      (5, bob._in_melee(state, asked), '6.1', 'an enemy is in its location')
    ) as entry (n, speaks, rule, note)
    where entry.speaks
    order by entry.n
  );
  steps := steps
    || row('36.0', null, (shot.aim).target.label, '8', 'a Satchel Charge', null, asked.code, 16, null)::rulings.ledger_step
    || array(
      select bob._entry(item, one) from unnest(shot.targets) as one cross join lateral bob._charge_rows(state, shot.aim, one) as item
    );
  targets := coalesce((
    select jsonb_agg(jsonb_build_object(
      'unit', one.code, 'kind', one.kind, 'reduced', bob._flag(one, 'reduced'), 'concealed', bob._is_concealed(one), 'class', 'heavy',
      'value', 8 + coalesce((select sum(item.value) from bob._charge_rows(state, shot.aim, one) as item), 0),
      'casualties', to_jsonb(bob._casualties(state, one, 'heavy', bob._works(state, shot.aim, one, false))),
      'suppression', coalesce(one.attributes ->> 'suppression', 'none'), 'adjacent', true, 'in_range', true, 'hidden', false,
      'moving', false
    )) from unnest(shot.targets) as one
  ), '[]');
  shot.turned := false;
  return query select * from unnest(steps);
  return next bob._attack_verdict(shot, steps, jsonb_build_object('fp', 8, 'targets', targets, 'retention', (state.conditions ->> 'sc_retention')::integer));
end
$$;

comment on function bob.satchel_charge(bigint, text, text, jsonb, jsonb) is
'A Satchel Charge at infantry and Guns before its die: whether it may be placed, and the FP against each (36.0).';
