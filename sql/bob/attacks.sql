-- needs: bob/morale.sql, bob/prof.sql, bob/units.sql
-- An attack by fire of bob (Band of Brothers) as a whole, and what its roll does to each target: 6.1, 6.2, 20.2, 20.6, 20.11, 21.5, 32.0, 43.0, 61.2, 61.3.

create or replace function bob._entry(item bob.cover_row, target positions.counter)
returns rulings.ledger_step
language sql immutable parallel safe
return row(
  item.rule, null, target.label, case when item.value is null then 'unknown' when item.value = 0 then 'passes' else to_char(item.value, 'SG99FM') end,
  case when item.value is null then item.chart else item.note end, item.point, target.code, 2 * item.value, null
)::rulings.ledger_step;

comment on function bob._entry(bob.cover_row, positions.counter) is
'A row of cover or situation as an entry of the ledger.';

create or replace function bob._class(shot bob.shot, target positions.counter)
returns text
language sql immutable parallel safe
return case
  when shot.arm in ('v_gun', 'canister', 'flame') then 'heavy'
  when (shot.firer).kind = 'gun' then 'heavy'
  when target.kind = 'gun' and bob._satw_known(shot, target) = 'yes' then 'heavy'
  else 'infantry'
end;

comment on function bob._class(bob.shot, positions.counter) is
'Whether a Gun''s second casualty number counts against this fire: heavy, or else infantry (20.2, 33.0, 34.0).';

create or replace function bob._target_facts(
  state positions.state, shot bob.shot, target positions.counter, fp integer, seen bob.cover_row[], hidden boolean
)
returns jsonb
language plpgsql stable
as $$
#variable_conflict use_variable
declare
  moving boolean := target.code = any(shot.movers);
  works text := bob._works(state, shot.aim, target, moving);
begin
  return jsonb_build_object(
    'unit', target.code,
    'kind', target.kind,
    'moving', moving,
    'value', bob._value(state, shot, target, fp, seen),
    'casualties', to_jsonb(bob._casualties(state, target, bob._class(shot, target), works)),
    'reduced', bob._flag(target, 'reduced'),
    'concealed', bob._is_concealed(target),
    'exposed', exists (select from unnest(seen) as one where one.kind = 'lost'),
    'suppression', coalesce(target.attributes ->> 'suppression', 'none'),
    'works', works,
    'hidden', hidden,
    'revealed_value', case
      when hidden then bob._value(state, shot, target, fp, array(select one from bob._target_rows(state, shot, target, true) as one))
    end,
    'adjacent', (shot.aim).adjacent,
    'in_range', shot.far is null or (shot.aim).away <= shot.far,
    'class', bob._class(shot, target)
  );
end
$$;

comment on function bob._target_facts(positions.state, bob.shot, positions.counter, integer, bob.cover_row[], boolean) is
'One target of an attack: the adjusted FP against it, its casualty numbers, and what the roll is to be judged by.';

create or replace function bob._is_hidden(state positions.state, shot bob.shot, target positions.counter)
returns boolean
language plpgsql stable
as $$
#variable_conflict use_column
begin
  return (
    select bob._works(state, shot.aim, target, target.code = any(shot.movers)) is not null
      and coalesce(bool_or((fort.attributes ->> 'concealed')::boolean), false)
    from bob._fortification(state, target.q, target.r, bob._storey(target)) as fort
  );
end
$$;

comment on function bob._is_hidden(positions.state, bob.shot, positions.counter) is
'Whether a fortification that the firer does not know of covers a target (43.0).';

create or replace function bob.fire(
  position_id bigint, by text, at text, manner text default 'fire', weapon text default null, facing integer default null,
  cp text default null, options jsonb default '{}', read jsonb default '{}', conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 16
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  state positions.state;
  shot bob.shot;
  steps rulings.ledger_step[];
  last_step rulings.ledger_step;
  facts jsonb := '{}';
  targets jsonb := '[]';
  fp integer;
  heavy boolean;
  against text := options ->> 'against';
  target positions.counter;
  seen bob.cover_row[];
  hidden boolean;
  soft boolean := false;
begin
  select * into state from positions.state(position_id, conditions, policy);
  shot := bob._shot(state, by, at, manner, weapon, facing, cp, read);
  if shot.at_vehicle and against = 'casualty' then
    shot.at_vehicle := false;
    fp := bob._printed(shot, false);
    shot.at_vehicle := true;
  end if;
  heavy := (shot.firer).kind in ('gun', 'vehicle', 'carrier');
  steps := array(select step from bob._forbids(state, shot) as step)
    || array(select step from bob._fp_steps(state, shot, coalesce((options ->> 'fireteam')::boolean, false)) as step);
  fp := coalesce(fp, (steps[cardinality(steps)].facts ->> 'fp')::integer);
  if shot.at_vehicle then
    steps := steps || array(select step from bob._vehicle_steps(state, shot, fp, against) as step);
    last_step := steps[cardinality(steps)];
    targets := jsonb_build_array(last_step.facts || jsonb_build_object('unit', (shot.vehicle).code, 'kind', (shot.vehicle).kind, 'vehicle', true, 'arm', shot.arm, 'unarmored', (shot.vehicle).attributes ? 'unarmored', 'moving', (shot.vehicle).code = any(shot.movers)));
    if (shot.vehicle).attributes ? 'unarmored' and not heavy then
      soft := true;
    end if;
  else
    soft := true;
  end if;
  if soft then
    foreach target in array shot.targets loop
      hidden := bob._is_hidden(state, shot, target);
      seen := array(select one from bob._target_rows(state, shot, target, not hidden) as one order by one.n, one.rule, one.note);
      steps := steps || array(select bob._entry(one, target) from unnest(seen) as one);
      targets := targets || jsonb_build_array(bob._target_facts(state, shot, target, fp, seen, hidden));
    end loop;
  end if;
  if heavy then
    steps := steps || array(select step from bob._prof_steps(state, shot) as step);
    facts := steps[cardinality(steps)].facts;
  end if;
  if not shot.at_vehicle and (shot.aim).away > shot.far and not heavy and cardinality(shot.targets) > 0 and (
    select bool_and(coalesce((one ->> 'value')::integer < 1, false)) from jsonb_array_elements(targets) as aimed_at (one)
  ) then
    steps := steps || row('6.1', null, (shot.aim).target.label, 'forbids', 'beyond normal Range an FP below 1 does not fire', null, by, null, null)::rulings.ledger_step;
  end if;
  return query select step.rule, step.clause, step.at, step.effect, step.note, step.point, step.by, step.halves, null::jsonb from unnest(steps) as step;
  return next bob._attack_verdict(shot, steps, facts || jsonb_build_object('fp', fp, 'targets', targets));
end
$$;

comment on function bob.fire(bigint, text, text, text, text, integer, text, jsonb, jsonb, jsonb, jsonb) is
'An attack by fire before its dice: whether it may be made, FP step by step, the adjusted FP against each target, the Prof Check; the verdict last.';

create or replace function bob._attack_rule(shot bob.shot)
returns text
language sql immutable parallel safe
return case shot.manner
  when 'op_fire' then '9.0'
  when 'final_op_fire' then case when (shot.firer).kind in ('squad', 'wt') then '10.0' else '20.7' end
  when 'assault_fire' then '5.2'
  when 'muzzle_flash' then '50.2'
  else case when (shot.firer).kind in ('squad', 'wt') then '6.0' when shot.at_vehicle then '20.6' else '20.5' end
end;

comment on function bob._attack_rule(bob.shot) is
'The rule by which an attack of its kind is made at all.';

create or replace function bob._attack_verdict(shot bob.shot, steps rulings.ledger_step[], facts jsonb)
returns rulings.ledger_step
language plpgsql stable
as $$
#variable_conflict use_variable
declare
  why text;
  rule text;
  blocked boolean := exists (select from unnest(steps) as step where step.effect = 'blocked');
  unknown boolean := exists (select from unnest(steps) as step where step.effect = 'unknown');
begin
  select step.note, step.rule into why, rule from unnest(steps) as step where step.effect = 'forbids' limit 1;
  return row(
    coalesce(rule, case when blocked then '14.0' else bob._attack_rule(shot) end), null, (shot.aim).target.label,
    case when why is not null or blocked then 'not allowed' when unknown then 'not told' else 'allowed' end,
    coalesce(why, case when blocked then 'the line of sight is blocked' when unknown then 'something that is not printed would decide it' else 'the attack may be made' end),
    null, (shot.firer).code, null,
    facts || jsonb_build_object(
      'allowed', case when why is not null or blocked then false when unknown then null else true end,
      'why', coalesce(why, case when blocked then 'the line of sight is blocked' end),
      'rule', coalesce(rule, case when blocked then '14.0' end),
      'blocked', why is null and blocked,
      'side', (shot.firer).side, 'kind', (shot.firer).kind, 'arm', shot.arm, 'hex', (shot.aim).target.label,
      'away', (shot.aim).away, 'adjacent', (shot.aim).adjacent, 'turned', shot.turned, 'facing', shot.facing,
      'at_vehicle', shot.at_vehicle, 'firer', (shot.firer).attributes, 'flare', (shot.aim).dark and shot.manner = 'op_fire'
    )
  )::rulings.ledger_step;
end
$$;

comment on function bob._attack_verdict(bob.shot, rulings.ledger_step[], jsonb) is
'The last row of an attack: allowed, refused or not told, with its sums.';

create or replace function bob._soft_result(target jsonb, value integer, roll integer)
returns text
language sql immutable parallel safe
as $$
  select case
    when roll = 10 then 'no_effect'
    when fact.kind in ('squad', 'wt') and not fact.reduced and roll + fact.second <= value then 'eliminated'
    when roll + fact.first <= value or fact.hurt then case when fact.kind in ('gun', 'satt') or fact.reduced then 'eliminated' when fact.kind = 'decoy' then 'suppressed' else 'reduced' end
    when fact.kind = 'satt' then 'no_effect'
    -- what the counter does not tell may still not matter
    when roll <= value and fact.kind <> 'decoy' and fact.first is null then null
    when roll <= value or fact.touched then 'suppressed'
    else 'no_effect'
  end
  from (
    select
      target ->> 'kind' as kind,
      (target ->> 'reduced')::boolean as reduced,
      (target -> 'casualties' ->> 0)::integer as first,
      (target -> 'casualties' ->> 1)::integer as second,
      -- 6.1, 32.0: a 1 suppresses at least, next to the target it Reduces, and Guns are lost
      roll = 1 and (
        target ->> 'class' = 'artillery' and target ->> 'kind' = 'gun' and not (target ->> 'concealed')::boolean
        or target ->> 'class' <> 'artillery' and (target ->> 'adjacent')::boolean and (target ->> 'in_range')::boolean
      ) as hurt,
      roll = 1 and (target ->> 'class' = 'artillery' or (target ->> 'in_range')::boolean) as touched
  ) as fact
$$;

comment on function bob._soft_result(jsonb, integer, integer) is
'What a roll does to infantry or a Gun at an adjusted FP: no_effect, suppressed, reduced, eliminated; null where its counter does not tell (6.1, 6.2, 20.2, 32.0).';

create or replace function bob._hard_result(state positions.state, target jsonb, roll integer)
returns text
language sql stable
as $$
  select case
    when roll = 10 then 'no_effect'
    -- 20.11: a bracketed casualty number knows neither Suppression nor UK
    when target ->> 'number' is not null then case when roll + (target ->> 'number')::integer <= fact.value then 'destroyed' else 'no_effect' end
    when fact.uk and (roll = fact.value and state.readings ->> 'bob-16' = 'a' or roll = fact.value + 1) then 'unconfirmed_kill'
    when roll <= fact.value then 'destroyed'
    else 'no_effect'
  end
  from (
    select
      (target ->> 'value')::integer as value,
      bob._in_force(state, 'unconfirmed_kills') and target ->> 'arm' in ('v_gun', 'satw', 'artillery') as uk
  ) as fact
$$;

comment on function bob._hard_result(positions.state, jsonb, integer) is
'What a roll does to a Vehicle: no_effect, unconfirmed_kill or destroyed (20.6, 20.11, 61.2, bob-16).';

create or replace function bob._result_rule(target jsonb, word text, roll integer, value integer)
returns text
language sql immutable parallel safe
return case
  when (target ->> 'vehicle')::boolean then case
    when word = 'unconfirmed_kill' then '61.2'
    when target ->> 'number' is not null then case when (target ->> 'unarmored')::boolean then '23.0' else '20.11' end
    when target ->> 'arm' = 'artillery' then '32.0'
    else '20.6'
  end
  -- a 10 is nothing, and a 1 at least something, whatever the FP
  when roll = 10 then '6.1'
  when roll = 1 and word is distinct from bob._soft_result(target || '{"class": "", "adjacent": false, "in_range": false}', value, roll)
    then case when target ->> 'class' = 'artillery' then '32.0' else '6.1' end
  when word = 'eliminated' and target ->> 'kind' = 'gun' then '20.2'
  when word = 'reduced' or word = 'eliminated' and (target ->> 'reduced')::boolean then '8.0'
  else '6.2'
end;

comment on function bob._result_rule(jsonb, text, integer, integer) is
'The rule by which a roll does to a target what it does (6.1, 6.2, 8.0, 20.2, 20.6, 20.11, 23.0, 32.0, 61.2).';

create or replace function bob.fire_results(
  position_id bigint, targets jsonb, roll integer, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 2
as $$
#variable_conflict use_variable
declare
  state positions.state;
  target jsonb;
  word text;
  value integer;
  reveals boolean;
  afloat boolean;
begin
  select * into state from positions.state(position_id, conditions, policy);
  for target in select * from jsonb_array_elements(targets) loop
    value := (target ->> 'value')::integer;
    reveals := false;
    if (target ->> 'vehicle')::boolean then
      word := bob._hard_result(state, target, roll);
    else
      word := bob._soft_result(target, value, roll);
      -- 43.0: a hidden fortification that would change the result is shown, and counts
      reveals := coalesce((target ->> 'hidden')::boolean and word <> 'no_effect', false);
      if reveals then
        value := least(value, (target ->> 'revealed_value')::integer);
        word := bob._soft_result(target, value, roll);
      end if;
    end if;
    -- 21.5: at sea nobody in a Landing Craft is Suppressed
    afloat := word = 'suppressed' and bob._afloat(state, bob._counter(state, target ->> 'unit'));
    if afloat then
      word := 'no_effect';
    end if;
    return next row(
      case when reveals then '43.0' when afloat then '21.5' else bob._result_rule(target, word, roll, value) end, null, null,
      coalesce(word, 'unknown'), case when word is null then 'counter' else format('%s against %s', roll, value) || case when reveals then ', the fortification shown' when afloat then ', at sea' else '' end end,
      case
        when (target ->> 'vehicle')::boolean and bob._in_force(state, 'unconfirmed_kills') and roll = value and target ->> 'number' is null then 'bob-16'
      end,
      target ->> 'unit', null, jsonb_build_object('result', word, 'value', value, 'reveals', reveals)
    )::rulings.ledger_step;
  end loop;
end
$$;

comment on function bob.fire_results(bigint, jsonb, integer, jsonb, jsonb) is
'What one roll does to each target of an attack, as bob.fire has told them (6.2, 20.6, 43.0).';
