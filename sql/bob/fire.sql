-- needs: bob/may_fire.sql
-- Fire in bob (Band of Brothers): the FP of an attack and what changes it, target by target: 5.2, 6.0 to 6.2, 9.0, 10.0, 20.5, 31.0, 34.0, 37.0, 41.0 to 43.0, 58.3.
--
-- Four steps: Normal or Prof FP; what changes it, up to the Normal FP (9.0); long range (6.0); then what
-- terrain and situation do for each target. The last row has the sums.

create or replace function bob._column(arm text)
returns text
language sql immutable parallel safe
return case arm when 'canister' then 'v_gun' else arm end;

comment on function bob._column(text) is
'The column of the Player Aid Card for an arm.';

create or replace function bob._proficient(shot bob.shot)
returns boolean
language sql immutable parallel safe
return shot.manner in ('op_fire', 'final_op_fire', 'assault_fire') and shot.arm in ('infantry', 'mortar')
and (shot.firer).kind in ('squad', 'wt');

comment on function bob._proficient(bob.shot) is
'Whether an attack uses Prof FP (2.1).';

create or replace function bob._printed(shot bob.shot, proficient boolean)
returns integer
language sql immutable parallel safe
return case
  when shot.arm = 'flame' then ((shot.firer).attributes ->> 'flame')::integer
  when shot.arm = 'canister' then ((shot.firer).attributes ->> 'canister')::integer
  when (shot.firer).kind in ('gun', 'vehicle', 'carrier')
    then bob._nth((shot.firer).attributes -> 'fp', case when shot.at_vehicle then 1 else 2 end)
  else bob._nth(bob._shown((shot.firer).attributes, 'fp'), case when proficient then 2 else 1 end)
end;

comment on function bob._printed(bob.shot, boolean) is
'The FP that the counter prints for an attack (2.1, 20.4, 34.0, 37.0); null where it is not told.';

create or replace function bob._prof_fp_steps(shot bob.shot, fireteam boolean)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  -- 9.0, 5.2, 6.0, 58.3: what changes the FP itself
  select entry.rule, null, (shot.firer).label, to_char(entry.value, 'SG9'), entry.note, entry.point, (shot.firer).code, 2 * entry.value, null::jsonb
  from (select shot.manner in ('op_fire', 'final_op_fire') as reacts) as fact
  cross join lateral (
    values
    (1, fact.reacts and (shot.aim).adjacent, '9.0', 1, 'the target is adjacent', (shot.aim).point),
    (2, fact.reacts and bob._flag(shot.firer, 'op_fire'), '9.0', 1, 'it is marked Op Fire', null),
    (3, shot.turned, '6.0', -1, 'it turned to fire', null),
    (4, shot.manner = 'assault_fire' and fireteam, '58.3', -2, 'a Fireteam fires and moves on', null),
    (5, shot.cp = 'fp', '3.0', 1, 'a CP', null)
  ) as entry (n, speaks, rule, value, note, point)
  where entry.speaks and (shot.firer).kind in ('squad', 'wt') and shot.arm in ('infantry', 'mortar')
  order by entry.n
$$;

comment on function bob._prof_fp_steps(bob.shot, boolean) is
'What changes Normal or Prof FP before all else, a row each.';

create or replace function bob._fp_steps(state positions.state, shot bob.shot, fireteam boolean)
returns setof rulings.ledger_step
language plpgsql stable rows 4
as $$
#variable_conflict use_variable
declare
  proficient boolean := bob._proficient(shot);
  fp integer := bob._printed(shot, proficient);
  normal integer := bob._printed(shot, false);
  changes rulings.ledger_step[] := array(select step from bob._prof_fp_steps(shot, fireteam) as step);
  change integer := coalesce((select sum(step.halves) / 2 from unnest(changes) as step), 0);
  long boolean := shot.arm = 'infantry' and (shot.aim).away > shot.far;
  point text := case when long and cardinality(changes) > 0 then 'bob-36' end;
begin
  if fp is null then
    return next row('2.1', null, (shot.firer).label, 'unknown', 'counter', null, (shot.firer).code, null, '{"fp": null}')::rulings.ledger_step;
    return;
  end if;
  return next row(
    bob._fp_rule(shot), null, (shot.firer).label, fp::text, bob._fp_name(shot, proficient), null, (shot.firer).code, 2 * fp, null
  )::rulings.ledger_step;
  if long and state.readings ->> 'bob-36' = 'b' then
    fp := fp / 2;
    return next row('6.0', null, (shot.firer).label, 'halves', format('beyond its Range of %s', shot.far), point, (shot.firer).code, 2 * fp, null)::rulings.ledger_step;
  end if;
  return query select * from unnest(changes);
  if proficient and fp + change > normal then
    if shot.cp = 'fp' and fp + change - 1 >= normal then
      return next row('9.0', null, (shot.firer).label, 'forbids', 'a CP does not raise Prof FP above Normal FP', null, (shot.firer).code, null, null)::rulings.ledger_step;
    end if;
    return next row('9.0', null, (shot.firer).label, 'capped', format('never above the Normal FP of %s', normal), null, (shot.firer).code, 2 * normal, null)::rulings.ledger_step;
    change := normal - fp;
  end if;
  if not proficient and shot.cp = 'fp' then
    return next row('3.0', null, (shot.firer).label, 'forbids', 'a CP raises Prof FP alone', null, (shot.firer).code, null, null)::rulings.ledger_step;
  end if;
  fp := fp + change;
  if long and state.readings ->> 'bob-36' <> 'b' then
    fp := fp / 2;
    return next row('6.0', null, (shot.firer).label, 'halves', format('beyond its Range of %s', shot.far), point, (shot.firer).code, 2 * fp, null)::rulings.ledger_step;
  elsif shot.arm = 'flame' and (shot.aim).away = 2 then
    fp := (fp + 1) / 2;
    return next row('34.0', null, (shot.firer).label, 'halves', 'flame at two hexes, rounded up', null, (shot.firer).code, 2 * fp, null)::rulings.ledger_step;
  elsif shot.arm = 'v_gun' and not shot.at_vehicle and bob._flag(shot.firer, 'dot') and (shot.aim).away > 12
    and coalesce(state.conditions ->> 'module', 'desert') = 'desert' then
    fp := fp / 2;
    return next row('20.5', null, (shot.firer).label, 'halves', 'a small gun at more than 12 hexes in the desert', null, (shot.firer).code, 2 * fp, null)::rulings.ledger_step;
  end if;
  return next row('6.2', null, (shot.firer).label, fp::text, 'FP before terrain and situation', null, (shot.firer).code, 2 * fp, jsonb_build_object('fp', fp))::rulings.ledger_step;
end
$$;

comment on function bob._fp_steps(positions.state, bob.shot, boolean) is
'The FP of an attack before terrain and situation, step by step; the last row has it (6.0, 9.0, bob-36).';

create or replace function bob._fp_name(shot bob.shot, proficient boolean)
returns text
language sql immutable parallel safe
return case
  when shot.arm = 'flame' then 'flamethrower'
  when shot.arm = 'canister' then 'canister'
  when (shot.firer).kind in ('gun', 'vehicle', 'carrier') then case when shot.at_vehicle then 'FP against Vehicles' else 'FP against infantry and Guns' end
  when proficient then 'Prof FP'
  else 'Normal FP'
end;

comment on function bob._fp_name(bob.shot, boolean) is
'Which number of a counter an attack begins with.';

create or replace function bob._fp_rule(shot bob.shot)
returns text
language sql immutable parallel safe
return case
  when shot.arm = 'flame' then '34.0'
  when shot.arm = 'canister' then '37.0'
  when shot.arm = 'mortar' and (shot.firer).kind = 'gun' then '38.0'
  when (shot.firer).kind in ('gun', 'vehicle', 'carrier') then '20.4'
  else '2.1'
end;

comment on function bob._fp_rule(bob.shot) is
'The rule that says which number of a counter an attack begins with.';

create or replace function bob._situation(n integer, key text, arm text, note text, times integer, read jsonb)
returns setof bob.cover_row
language sql stable parallel safe rows 1
as $$
  select item.n, item.rule, item.value * times, item.note, item.point, 'situation', item.chart
  from bob._cell_row(_situation.n, 'pac_situation', _situation.key, bob._column(_situation.arm), 'situation', _situation.note, null, _situation.read) as item
$$;

comment on function bob._situation(integer, text, text, text, integer, jsonb) is
'A row of the Situations chart, as often as it counts.';

create or replace function bob._is_flanked(state positions.state, shot bob.shot, target positions.counter)
returns boolean
language plpgsql stable
as $$
#variable_conflict use_column
begin
  return case
    when target.kind not in ('squad', 'wt') or bob._faceless(state, target) is not null or target.code = any(shot.movers) then false
    when target.attributes ->> 'facing' is null then false
    when (shot.firer).q = target.q and (shot.firer).r = target.r then false
    else not bob._is_front(
      (target.attributes ->> 'facing')::integer, (shot.firer).q - target.q, (shot.firer).r - target.r, state.readings ->> 'bob-34'
    )
  end;
end
$$;

comment on function bob._is_flanked(positions.state, bob.shot, positions.counter) is
'Whether a shot comes from the flank of a Squad or WT (2.2, 6.2); null where bob-34 leaves it open.';

create or replace function bob._conceal_row(state positions.state, shot bob.shot, target positions.counter)
returns setof bob.cover_row
language plpgsql stable rows 1
as $$
#variable_conflict use_variable
declare
  shown integer := coalesce((target.attributes ->> 'concealed')::integer, 0);
  resting boolean := shown = 1 and bob._japanese(target) and not target.code = any(shot.movers);
begin
  if shown = 0 then
    return;
  elsif shot.arm = 'canister' then
    return next row(20, '37.0', 0, 'canister takes its Concealment off first', null, 'lost', null)::bob.cover_row;
  elsif bob._is_exposed(state, target, case when shot.manner = 'assault_fire' then (shot.firer).code end) then
    return next row(20, '15.0', 0, 'it has lost its Concealment before the shot', null, 'lost', null)::bob.cover_row;
  else
    return query
    select item.n, item.rule, item.value, item.note, case when resting then 'bob-2' end, item.kind, item.chart
    from bob._situation(
      20, case when shown = 2 or (resting and state.readings ->> 'bob-2' = 'b') then 'concealed_japanese' else 'concealed' end,
      case shot.arm when 'flame' then 'infantry' else shot.arm end, 'the target is Concealed', 1, '{}'
    ) as item;
  end if;
end
$$;

comment on function bob._conceal_row(positions.state, bob.shot, positions.counter) is
'What the Concealment of a target does to a shot, or that it is lost before it (15.0, 37.0, 59.2, bob-2).';

create or replace function bob._satw_known(shot bob.shot, target positions.counter)
returns text
language sql immutable parallel safe
-- 33.0: within the range of the weapon, which at one hex it surely is
return case
  when (shot.firer).attributes -> 'satw' ->> 'name' not in ('bazooka', 'panzerschreck', 'piat') or not (shot.firer).attributes ? 'satw' then 'no'
  when bob._is_concealed(target) then 'no'
  when (shot.aim).away = 1 or (shot.aim).away <= ((shot.firer).attributes -> 'satw' ->> 'range')::integer then 'yes'
  when (shot.firer).attributes -> 'satw' ->> 'range' is null then 'unknown'
  else 'no'
end;

comment on function bob._satw_known(bob.shot, positions.counter) is
'Whether a bazooka, Panzerschreck or PIAT serves against a Gun, WT or Pillbox: yes, no, or unknown without its range (33.0).';

create or replace function bob._situation_rows(state positions.state, shot bob.shot, target positions.counter, works text)
returns setof bob.cover_row
language sql stable rows 4
as $$
  select 10, item.rule, item.value, item.note, case when shot.arm in ('v_gun', 'canister') then 'bob-20' else (shot.aim).point end, item.kind, item.chart
  from bob._situation(10, 'adjacent', case when state.readings ->> 'bob-20' = 'b' then 'infantry' else shot.arm end, 'the target is adjacent', 1, shot.read) as item
  where (shot.aim).adjacent
  union all
  select 10, '47.4', 0, 'a cliff lies between: not adjacent', (shot.aim).point, 'situation', null
  where (shot.aim).point is not null and not (shot.aim).adjacent
  union all
  select 11, item.rule, item.value, item.note, case when bob._ahead((target.attributes ->> 'facing')::integer, (shot.firer).q - target.q, (shot.firer).r - target.r) = 0 then 'bob-34' end, item.kind, item.chart
  from bob._situation(11, 'flank', shot.arm, 'from its flank', 1, shot.read) as item
  where bob._is_flanked(state, shot, target)
  union all
  select 11, '2.2', case when bob._is_flanked(state, shot, target) is null then null else 0 end, 'on the line between its front and flank', 'bob-34', 'situation',
    case when bob._is_flanked(state, shot, target) is null then 'infantry_facing' end
  where bob._is_flanked(state, shot, target) is distinct from true
    and target.kind in ('squad', 'wt') and bob._faceless(state, target) is null and not target.code = any(shot.movers)
    and shot.arm in ('infantry', 'v_gun', 'canister')
    and bob._ahead((target.attributes ->> 'facing')::integer, (shot.firer).q - target.q, (shot.firer).r - target.r) = 0
  union all
  select 11, '2.2', 0, bob._faceless(state, target) || ': it has no flank', null, 'situation', null
  where target.kind in ('squad', 'wt') and bob._faceless(state, target) is not null and target.attributes ->> 'facing' is not null
    and bob._in_force(state, 'facing') and shot.arm in ('infantry', 'v_gun', 'canister')
    and bob._is_front((target.attributes ->> 'facing')::integer, (shot.firer).q - target.q, (shot.firer).r - target.r, state.readings ->> 'bob-34') is false
  union all
  select * from bob._situation(12, 'hindrance', shot.arm, format('%s Hindrance(s)', (shot.aim).hindrance), (shot.aim).hindrance, shot.read)
  where (shot.aim).hindrance > 0 and shot.arm = 'infantry'
  union all
  select * from bob._situation(13, (shot.aim).smoke, shot.arm, replace((shot.aim).smoke, '_', ' ') || ' on the line', 1, shot.read)
  where (shot.aim).smoke is not null and shot.arm in ('infantry', 'mortar')
  union all
  select * from bob._situation(14, 'final_op_fire', shot.arm, 'Final Op Fire', 1, shot.read)
  where shot.manner = 'final_op_fire' and (shot.firer).kind in ('squad', 'wt')
  union all
  select * from bob._situation(15, 'from_wire', shot.arm, 'it fires from Wire', 1, shot.read)
  where (shot.firer).kind in ('squad', 'wt') and exists (
    select from public.marker
    where marker.position_id = state.position_id and marker.kind = 'wire' and marker.q = (shot.firer).q and marker.r = (shot.firer).r
  )
  union all
  select * from bob._situation(16, 'directed_fire', 'mortar', 'Directed Fire', 1, shot.read) where shot.directed
  union all
  select 17, '33.0', case bob._satw_known(shot, target) when 'yes' then 1 end,
    'its anti-tank weapon against a Gun, WT or Pillbox', null, 'situation', case bob._satw_known(shot, target) when 'unknown' then 'satw_values' end
  where (target.kind in ('gun', 'wt') or works in ('pillbox', 'bunker')) and shot.arm = 'infantry' and bob._satw_known(shot, target) <> 'no'
$$;

comment on function bob._situation_rows(positions.state, bob.shot, positions.counter, text) is
'What the situation adds to a shot at one target, a row each: adjacent, flank, Hindrance, smoke, Final Op Fire, Wire, spotter, SATW.';

create or replace function bob._open_key(state positions.state, away integer)
returns text
language plpgsql immutable parallel safe
as $$
#variable_conflict use_column
begin
  return case
    when state.conditions ->> 'weather' = 'monsoon' then 'monsoon/' || least(away, 3)
    when state.conditions ? 'night' then 'night/' || least(away, 3)
    when away >= 5 then 'open/5'
    else 'open/' || least(away, 3)
  end;
end
$$;

comment on function bob._open_key(positions.state, integer) is
'The row of the Situations chart for a unit moving in Open Ground (41.0, 50.2, 55.2).';

create or replace function bob._not_open(state positions.state, shot bob.shot, target positions.counter, cover bob.cover_row[])
returns text
language plpgsql stable
as $$
#variable_conflict use_column
begin
  -- 41.0, 42.0, 43.2, 46.0, 48.0, 52.0, 53.0: why a mover does not move in Open Ground; null where it does
  return (
    select case
      when not bob._is_open(bob._ground(state, target.q, target.r)) then 'the hex is not Open Ground'
      when bob._mounted(target) then 'passengers never move in Open Ground'
      when exists (select from unnest(cover) as item where bob._benefits(item)) then 'it has Beneficial Terrain'
      when shot.arm <> 'mortar' and (shot.aim).hindering then 'Hindering Terrain is in the way'
      when (shot.aim).smoke is not null then 'there is smoke on the line'
      when exists (
        select from bob._fortification(state, target.q, target.r, 'ground') as fort
        inner join public.hex as left_hex on left_hex.map_id = state.map_id and left_hex.label = target.attributes -> 'moving' ->> 'from'
        inner join bob._fortification(state, left_hex.q, left_hex.r, 'ground') as before on 'trench' in (fort.kind, before.kind)
        where fort.kind in ('trench', 'pillbox', 'bunker') and before.kind in ('trench', 'pillbox', 'bunker')
      ) then 'it moves along a Trench'
    end
  );
end
$$;

comment on function bob._not_open(positions.state, bob.shot, positions.counter, bob.cover_row[]) is
'Why a mover is not considered moving in Open Ground; null where it is.';

create or replace function bob._open_rows(state positions.state, shot bob.shot, target positions.counter, cover bob.cover_row[])
returns setof bob.cover_row
language plpgsql stable rows 2
as $$
#variable_conflict use_variable
declare
  why text := bob._not_open(state, shot, target, cover);
  key text := bob._open_key(state, (shot.aim).away);
  contested boolean := shot.arm = 'infantry' and key like 'open/%' and key <> 'open/2' and (shot.aim).away <= 4;
begin
  if not target.code = any(shot.movers) or target.kind not in ('squad', 'wt', 'decoy', 'satt')
    or shot.manner not in ('op_fire', 'final_op_fire') or shot.arm not in ('infantry', 'mortar', 'canister') then
    return;
  end if;
  if shot.arm = 'canister' and (why is null or (shot.aim).lane is not null and (shot.aim).adjacent) then
    return query select * from bob._situation(18, 'canister', 'canister', 'canister at infantry moving in the open or in a Fire Lane', 1, shot.read);
  end if;
  if why is not null then
    return next row(19, case when why like 'Hindering%' then '46.0' when why like '%smoke%' then '48.0' else '41.0' end, 0, 'not moving in Open Ground: ' || why, null, 'situation', null)::bob.cover_row;
    return;
  end if;
  return query
  select 19, ground.rule, 0, ground.note, null::text, 'situation', null::text
  from public.hex
  cross join lateral (
    values
    ('45.2', 'a Sandbar is Open Ground', hex.terrain = 'sandbar'),
    (
      '42.0', 'a Road is Open Ground', exists (
        select from public.path
        where path.map_id = state.map_id and path.kind = 'road' and public.st_intersects(path.geom, lattice.center(hex.q, hex.r))
      )
    )
  ) as ground (rule, note, holds)
  where hex.map_id = state.map_id and hex.q = target.q and hex.r = target.r and ground.holds;
  if contested and state.readings ->> 'bob-37' = 'b' then
    return next row(19, '41.0', 4, 'moving in Open Ground, as at 2 hexes', 'bob-37', 'situation', null)::bob.cover_row;
  else
    return query
    select item.n, item.rule, item.value, item.note, case when contested then 'bob-37' end, item.kind, item.chart
    from bob._situation(19, key, shot.arm, format('moving in Open Ground %s hexes away', (shot.aim).away), 1, shot.read) as item;
  end if;
end
$$;

comment on function bob._open_rows(positions.state, bob.shot, positions.counter, bob.cover_row[]) is
'What a target adds to a shot by moving in Open Ground, and canister on top of it (37.0, 41.0, bob-37).';

create or replace function bob._target_rows(state positions.state, shot bob.shot, target positions.counter, revealed boolean)
returns setof bob.cover_row
language plpgsql stable rows 6
as $$
#variable_conflict use_variable
declare
  moving boolean := target.code = any(shot.movers);
  works text := bob._works(state, shot.aim, target, moving);
  cover bob.cover_row[];
begin
  if shot.arm = 'flame' then
    -- 34.0: nothing else counts
    return query
    select * from bob._conceal_row(state, shot, target)
    union all
    select * from bob._situation(14, 'final_op_fire', 'infantry', 'Final Op Fire', 1, '{}')
    where shot.manner = 'final_op_fire' and (shot.firer).kind in ('squad', 'wt');
    return;
  end if;
  cover := array(
    select item from bob._cover_rows(state, shot.aim, target, bob._column(shot.arm), moving, shot.manner, revealed, shot.read) as item
  );
  return query
  select * from unnest(cover)
  union all
  select * from bob._situation_rows(state, shot, target, works)
  union all
  select * from bob._open_rows(state, shot, target, cover)
  union all
  select * from bob._conceal_row(state, shot, target);
end
$$;

comment on function bob._target_rows(positions.state, bob.shot, positions.counter, boolean) is
'All that terrain and situation do to a shot at one target, a row each.';

create or replace function bob._value(state positions.state, shot bob.shot, target positions.counter, fp integer, item bob.cover_row[])
returns integer
language plpgsql stable
as $$
#variable_conflict use_column
begin
  return (
    select case
      when bool_or(one.n is not null and one.value is null) then null
      -- 43.4: a cave lowers FP to no less than 1 (bob-51)
      when cave.kind = 'small_cave' or (cave.kind = 'cave' and state.readings ->> 'bob-51' = 'a')
        then greatest(least(1, fp + coalesce(sum(one.value) filter (where one.kind <> 'fortification'), 0)), fp + coalesce(sum(one.value), 0))
      else fp + coalesce(sum(one.value), 0)
    end::integer
    from (select bob._works(state, shot.aim, target, target.code = any(shot.movers)) as kind) as cave
    left join unnest(item) as one on true
    group by cave.kind
  );
end
$$;

comment on function bob._value(positions.state, bob.shot, positions.counter, integer, bob.cover_row[]) is
'The adjusted FP against one target; null where a chart would have to tell (6.2, 43.4, bob-51).';

create or replace function bob._shields_gun(state positions.state, class text, works text)
returns boolean
language sql immutable parallel safe
return coalesce(
  class = 'artillery'
  and (works in ('foxhole', 'trench', 'sangar') or (works in ('pillbox', 'bunker') and state.readings ->> 'bob-9' = 'a')), false
);

comment on function bob._shields_gun(positions.state, text, text) is
'Whether a fortification takes one off the casualty number of a Gun: against Artillery (43.0, bob-9).';

create or replace function bob._casualties(state positions.state, unit positions.counter, class text, works text)
returns integer[]
language plpgsql stable
as $$
#variable_conflict use_column
begin
  return case unit.kind
    when 'decoy' then null
    when 'satt' then array[coalesce(bob._nth(unit.attributes -> 'casualty', 1), 2)]
    when 'gun' then array[
      case when works in ('pillbox', 'bunker') then case class when 'heavy' then 5 else 6 end
        else bob._nth(unit.attributes -> 'casualty', case class when 'heavy' then 2 else 1 end) end
      - bob._shields_gun(state, class, works)::integer
    ]
    else case
      when bob._flag(unit, 'reduced') then array[bob._nth(bob._shown(unit.attributes, 'casualty'), 1)]
      else array[bob._nth(unit.attributes -> 'casualty', 1), bob._nth(unit.attributes -> 'casualty', 2)]
    end
  end;
end
$$;

comment on function bob._casualties(positions.state, positions.counter, text, text) is
'The casualty numbers that count against a unit: first and second of a full-strength one, the only one of others (6.2, 20.2, 43.0, 43.3, 59.4, bob-9).';
