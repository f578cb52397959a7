-- needs: bob/units.sql, bob/command.sql
-- Morale in bob (Band of Brothers): the number that a check is rolled against: 5.1, 5.3, 7.0, 7.1, 11.2, 20.13, 59.5, 59.6, 60.1, 63.1, 64.2.
--
-- Fatigue is taken off first, to no less than 1 (64.2); then each modifier is a row.

create or replace function bob._step_morale(unit positions.counter)
returns integer
language sql immutable parallel safe
return case
  when bob._shown(unit.attributes, 'morale') is not null then (
    bob._shown(unit.attributes, 'morale')
    ->> array_position(array['none', 'suppressed', 'full'], coalesce(unit.attributes ->> 'suppression', 'none')) - 1
  )::integer
  -- 5.0: what a counter that is neither Suppressed nor Reduced commonly has
  when not bob._flag(unit, 'reduced') and coalesce(unit.attributes ->> 'suppression', 'none') = 'none' then 10
end;

comment on function bob._step_morale(positions.counter) is
'The Morale of a counter by its Suppression: white, yellow or red (7.0); null where its counter is not told.';

create or replace function bob._fatigue(state positions.state, unit positions.counter)
returns integer
language sql stable parallel safe
as $$
  select count(*)::integer
  from jsonb_array_elements(
    case jsonb_typeof(state.conditions -> 'thresholds')
      when 'array' then state.conditions -> 'thresholds'
      when 'object' then state.conditions -> 'thresholds' -> (unit.attributes ->> 'company')
    end
  ) as threshold (n)
  where threshold.n::integer <= coalesce(
    (
      select (position.tracks -> 'companies' -> (unit.attributes ->> 'company') ->> 'fatigue')::integer
      from public.position where position.id = state.position_id
    ),
    (state.conditions -> 'fatigue' -> (unit.attributes ->> 'company'))::integer,
    -1
  )
$$;

comment on function bob._fatigue(positions.state, positions.counter) is
'How many levels of Fatigue the company of a unit has reached (64.2).';

create or replace function bob._charging(state positions.state, unit positions.counter)
returns boolean
language sql immutable parallel safe
return bob._japanese(unit) and coalesce(
  unit.attributes ->> 'declared' = 'banzai' or (unit.attributes -> 'moving' ->> 'banzai')::boolean, false
);

comment on function bob._charging(positions.state, positions.counter) is
'Whether a unit takes part in a Banzai Charge (59.6).';

create or replace function bob._charge_ago(state positions.state)
returns integer
language sql immutable parallel safe
as $$
  select min((state.conditions ->> 'turn')::integer - turn.n::integer)
  from jsonb_array_elements(state.conditions -> 'banzai' -> 'called') as turn (n)
  where turn.n::integer <= (state.conditions ->> 'turn')::integer
$$;

comment on function bob._charge_ago(positions.state) is
'How many turns ago the last Banzai Charge was called: 0 this turn; null where none was (59.6).';

create or replace function bob._shocked(state positions.state, unit positions.counter)
returns boolean
language plpgsql stable parallel safe
as $$
#variable_conflict use_column
begin
  return (
    select bob._in_force(state, 'tank_shock')
      and exists (
        select
        from bob._counters(state) as enemy
        where enemy.side <> unit.side
          and enemy.kind in ('vehicle', 'carrier')
          and enemy.attributes ? 'fp'
          and coalesce((enemy.attributes ->> 'uk')::integer, 0) = 0
      )
      and not exists (
        select
        from bob._counters(state) as friend
        where friend.side = unit.side
          and (friend.kind in ('gun', 'vehicle') or friend.attributes ? 'satw')
      )
  );
end
$$;

comment on function bob._shocked(positions.state, positions.counter) is
'Whether Tank Shock holds for a unit: Vehicles that shoot against a side without Guns, tanks and SATWs (20.13).';

create or replace function bob._melee_foes(state positions.state, unit positions.counter)
returns text[]
language plpgsql stable parallel safe
as $$
#variable_conflict use_column
begin
  return (
    select array_agg(distinct coalesce(enemy.attributes ->> 'nation', enemy.side))
    from bob._counters(state) as enemy
    where enemy.side <> unit.side and bob._together(enemy, unit) and bob._soft(enemy) and not bob._mounted(enemy)
  );
end
$$;

comment on function bob._melee_foes(positions.state, positions.counter) is
'The nations that a unit fights in its location; null where there is nobody.';

drop type if exists bob.trial cascade;
create type bob.trial as (
  unit positions.counter,
  purpose text,
  foes text array,
  out_of_command boolean,
  base integer,
  tired integer,
  spared boolean
);

comment on type bob.trial is
'A Morale Check that is about to be taken: by whom, for what, among whom, with which Morale less Fatigue.';

create or replace function bob._check(state positions.state, unit positions.counter, purpose text)
returns bob.trial
language plpgsql stable
as $$
#variable_conflict use_variable
declare
  built bob.trial;
  enemies boolean;
begin
  built.unit := unit;
  built.foes := bob._melee_foes(state, unit);
  enemies := cardinality(built.foes) > 0;
  -- 5.1: moving out of an enemy's hex is withdrawing
  built.purpose := case when purpose = 'move' and enemies then 'withdraw' else purpose end;
  built.base := bob._step_morale(unit);
  built.tired := case
    -- 59.6, 64.2: not on the turn of a Charge and the next
    when bob._japanese(unit) and bob._charge_ago(state) between 0 and 1
      and (state.readings ->> 'bob-30' <> 'b' or not bob._is_out_of_command(state, unit)) then 0
    else bob._fatigue(state, unit)
  end;
  built.spared := built.tired = 0 and bob._fatigue(state, unit) > 0;
  built.out_of_command := built.purpose in ('move', 'withdraw', 'retreat') and bob._is_out_of_command(state, unit);
  return built;
end
$$;

comment on function bob._check(positions.state, positions.counter, text) is
'A Morale Check of a unit for a purpose, with what bears on it.';

create or replace function bob._is_out_of_command(state positions.state, unit positions.counter)
returns boolean
language sql stable
as $$
  select unit.attributes ? 'company'
    and exists (
      select from public.marker where marker.position_id = state.position_id and marker.kind = 'company_hub'
    )
    and exists (
      select
      from bob.command(state.position_id, unit.code, state.conditions, state.readings) as step
      where step.effect = 'out of command'
    )
$$;

comment on function bob._is_out_of_command(positions.state, positions.counter) is
'Whether a unit is beyond the range of its Company Hub (63.1).';

create or replace function bob._morale_steps(state positions.state, checked bob.trial)
returns setof rulings.ledger_step
language sql stable rows 4
as $$
  select entry.rule, null, (checked.unit).label, to_char(entry.value, 'SG9'), entry.note, entry.point, (checked.unit).code, 2 * entry.value, null::jsonb
  from (
    select
      (checked.unit).attributes as says,
      coalesce((checked.unit).attributes ->> 'suppression', 'none') as suppression,
      coalesce((checked.unit).attributes ->> 'nation', (checked.unit).side) as nation,
      (state.conditions ->> 'year')::integer as year
  ) as fact
  cross join lateral (
    values
    (1, checked.tired > 0, '64.2', -least(checked.tired, checked.base - 1), format('level %s of Fatigue, to no less than 1', checked.tired), case when bob._japanese(checked.unit) and bob._charge_ago(state) between 0 and 1 then 'bob-30' end),
    (
      1, checked.spared, '64.2', 0, 'Fatigue is ignored on the turn of a Charge and the next', 'bob-30'
    ),
    (2, checked.purpose = 'withdraw', '5.1', -3, 'it withdraws from the hex of an enemy', 'bob-47'),
    (
      3,
      (checked.purpose = 'retreat' or (checked.purpose = 'mid_move' and bob._retreats(checked.unit)))
      and (checked.purpose = 'mid_move' or checked.foes is null),
      '5.3', 4, 'it has declared that it retreats', null
    ),
    (
      4, checked.out_of_command and not (bob._japanese(checked.unit) and coalesce(bob._charge_ago(state) = 0, false)),
      '63.1', -3, 'it is Out of Command, to no less than 1', null
    ),
    (
      5,
      checked.purpose in ('mid_move', 'fire', 'op_fire', 'satw', 'assault_fire') and not bob._charging(state, checked.unit)
      and coalesce(fact.says ->> 'declared' = 'seishin' or (fact.says -> 'moving' ->> 'seishin')::boolean, false),
      '59.5', 1, 'it has declared Seishin', null
    ),
    (6, bob._charging(state, checked.unit), '59.6', 2, 'it charges', null),
    (
      7,
      checked.purpose = 'mid_move' and bob._flag(checked.unit, 'pluck') and fact.suppression <> 'none'
      and not bob._mounted(checked.unit),
      '60.1', 1, 'Pluck, Suppressed on the way', null
    ),
    (
      8, checked.purpose = 'rout' and fact.nation <> 'japan' and coalesce('japan' = any(checked.foes), false),
      '11.2', 2, 'in Melee with Japanese', null
    ),
    (
      9,
      checked.purpose = 'rout' and fact.year >= 1942
      and coalesce(
        fact.nation = 'german' and 'russian' = any(checked.foes) or fact.nation = 'russian' and 'german' = any(checked.foes),
        false
      ),
      '11.2', 1, 'Germans and Russians in Melee, from 1942', null
    ),
    (10, bob._shocked(state, checked.unit), '20.13', -1, 'Tank Shock, to no less than 1', null)
  ) as entry (n, speaks, rule, value, note, point)
  where entry.speaks
  order by entry.n
$$;

comment on function bob._morale_steps(positions.state, bob.trial) is
'What changes the Morale of a unit that checks it, a row each, in order.';

create or replace function bob._retreats(unit positions.counter)
returns boolean
language sql immutable parallel safe
return coalesce(unit.attributes ->> 'declared' = 'retreat' or (unit.attributes -> 'moving' ->> 'retreat')::boolean, false);

comment on function bob._retreats(positions.counter) is
'Whether a unit has declared that it retreats (5.3).';

create or replace function bob._morale_sum(checked bob.trial, steps rulings.ledger_step[], readings jsonb)
returns integer
language plpgsql immutable parallel safe
as $$
declare
  sum integer := checked.base;
  step rulings.ledger_step;
begin
  foreach step in array steps loop
    sum := case
      -- 20.13, 63.1: to no less than 1; 5.1 as bob-47 has it
      when step.rule in ('20.13', '63.1') or (step.rule = '5.1' and readings ->> 'bob-47' = 'b')
        then greatest(least(sum, 1), sum + step.halves / 2)
      else sum + step.halves / 2
    end;
  end loop;
  return sum;
end
$$;

comment on function bob._morale_sum(bob.trial, rulings.ledger_step[], jsonb) is
'Morale with all its modifiers, in their order.';

create or replace function bob._checker(state positions.state, unit positions.counter)
returns positions.counter
language sql stable
as $$
  -- 21.1: of the passengers of a Carrier the one with the highest Morale checks
  select coalesce(
    (
      select rider
      from bob._counters(state) as rider
      where rider.attributes ->> 'in' = unit.code and unit.kind = 'carrier' and bob._soft(rider)
      order by bob._step_morale(rider) desc nulls last, rider.code collate "C"
      limit 1
    ),
    unit
  )
$$;

comment on function bob._checker(positions.state, positions.counter) is
'Who checks Morale for a unit: of a Carrier its best passenger (21.1).';

create or replace function bob._afloat(state positions.state, unit positions.counter)
returns boolean
language sql stable parallel safe
as $$
  select exists (
    select
    from bob._counters(state) as craft
    inner join public.hex on hex.map_id = state.map_id and hex.q = craft.q and hex.r = craft.r
    where craft.code in (unit.code, unit.attributes ->> 'in')
      and craft.attributes ? 'landing_craft'
      and hex.terrain in ('ocean', 'surf')
  )
$$;

comment on function bob._afloat(positions.state, positions.counter) is
'Whether a unit is in a landing craft in Ocean or Surf, where it is never Suppressed and always passes (21.1, 21.5).';

create or replace function bob.morale(
  position_id bigint, unit text, purpose text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 4
set plan_cache_mode = force_generic_plan
as $$
declare
  state positions.state;
  asked positions.counter;
  checked bob.trial;
  steps rulings.ledger_step[];
  sum integer;
  easy boolean;
begin
  select * into state from positions.state(morale.position_id, morale.conditions, morale.policy);
  asked := bob._checker(state, bob._counter(state, morale.unit));
  if asked.kind in ('vehicle', 'carrier', 'artillery', 'aircraft', 'illumination', 'satt', 'decoy') or bob._afloat(state, asked) then
    return next row(
      case when bob._afloat(state, asked) then '21.1' else '20.3' end, null, asked.label, 'automatic',
      case when bob._afloat(state, asked) then 'a passenger of a landing craft at sea always passes' else 'it takes no Morale Check' end,
      null, asked.code, null, jsonb_build_object('morale', null, 'automatic', true, 'unit', asked.code)
    )::rulings.ledger_step;
    return;
  end if;
  checked := bob._check(state, asked, morale.purpose);
  if checked.base is null then
    return next row(
      '7.0', null, asked.label, 'unknown', 'counter', null, asked.code, null,
      jsonb_build_object('morale', null, 'automatic', null, 'unit', asked.code)
    )::rulings.ledger_step;
    return;
  end if;
  steps := array(select step from bob._morale_steps(state, checked) as step);
  sum := bob._morale_sum(checked, steps, state.readings);
  easy := sum >= 10 and checked.purpose <> 'withdraw' and (state.readings ->> 'bob-23' = 'a' or checked.base >= 10);
  return next row('7.0', null, asked.label, checked.base::text, format('its Morale, %s', bob._colour(asked)), null, asked.code, 2 * checked.base, null)::rulings.ledger_step;
  return query select * from unnest(steps);
  return next row(
    '7.1', null, asked.label, case when easy then 'automatic' else sum::text end,
    case when easy then 'with a Morale of 10 no roll is needed' else format('it passes on %s or less', sum) end,
    case when sum >= 10 and checked.base < 10 and checked.purpose <> 'withdraw' then 'bob-23' end, asked.code, 2 * sum,
    jsonb_build_object('morale', sum, 'automatic', easy, 'unit', asked.code, 'purpose', checked.purpose)
  )::rulings.ledger_step;
end
$$;

comment on function bob.morale(bigint, text, text, jsonb, jsonb) is
'The Morale that a unit rolls against for a purpose (move, fire, op_fire, withdraw, retreat, mid_move, rout, satw), with every modifier.';

create or replace function bob._colour(unit positions.counter)
returns text
language sql immutable parallel safe
return case unit.attributes ->> 'suppression' when 'suppressed' then 'yellow' when 'full' then 'red' else 'white' end;

comment on function bob._colour(positions.counter) is
'The colour of the Morale that a unit uses (7.0).';
