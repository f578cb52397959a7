-- needs: bob/fire.sql
-- Prof Checks of Guns and Vehicles, and their fire at Vehicles, in bob (Band of Brothers): 20.3 to 20.7, 20.11, 23.0, 34.0, 46.0 to 48.0, 50.2, 54.1, 54.2, 55.2.

create or replace function bob._prof_row(n integer, key text, note text, times integer, read jsonb, point text default null)
returns setof bob.cover_row
language sql stable parallel safe rows 1
as $$
  select item.n, item.rule, item.value * times, item.note, item.point, 'prof', item.chart
  from bob._cell_row(_prof_row.n, 'pac_prof', _prof_row.key, 'value', 'prof', _prof_row.note, _prof_row.point, _prof_row.read) as item
$$;

comment on function bob._prof_row(integer, text, text, integer, jsonb, text) is
'A row of the Prof chart, as often as it counts.';

create or replace function bob._band(chart text, away integer)
returns text
language sql stable parallel safe
as $$
  select nearest.row_key
  from charts.cells('bob', _band.chart) as nearest
  inner join charts.cells('bob', _band.chart) as farthest
    on farthest.row_key = nearest.row_key and farthest.column_key = 'to'
  where nearest.column_key = 'from'
    and nearest.row_key like 'range/%'
    and nearest.value ~ '^[0-9]+$'
    and nearest.value::integer <= _band.away
    and (farthest.value !~ '^[0-9]+$' or farthest.value is null or farthest.value::integer >= _band.away)
  order by nearest.value::integer desc
  limit 1
$$;

comment on function bob._band(text, integer) is
'The row of a chart whose band of range holds a distance; null where no such band is told.';

create or replace function bob._prof_rows(state positions.state, shot bob.shot)
returns setof bob.cover_row
language sql stable rows 4
as $$
  select * from bob._prof_row(1, 'op_fire', 'Op Fire', 1, shot.read)
  where shot.manner = 'op_fire' or (shot.manner = 'final_op_fire' and state.readings ->> 'bob-11' = 'b')
  union all
  select * from bob._prof_row(2, 'final_op_fire', 'Final Op Fire', 1, shot.read, 'bob-11') where shot.manner = 'final_op_fire'
  union all
  select * from bob._prof_row(3, 'moved', 'it moved to a new hex', 1, shot.read)
  where coalesce(((shot.firer).attributes -> 'moving' ->> 'hexes')::integer, 0) > 0 or (shot.manner = 'assault_fire')
  union all
  select * from bob._prof_row(4, 'turned', 'it turned to fire', 1, shot.read) where shot.turned
  union all
  select * from bob._prof_row(5, 'target_higher', 'the target is higher', 1, shot.read)
  where (shot.aim).target.level > (shot.aim).start.level
  union all
  select * from bob._prof_row(6, coalesce(bob._band('pac_prof', (shot.aim).away), 'range'), format('%s hexes away', (shot.aim).away), 1, shot.read)
  where bob._band('pac_prof', (shot.aim).away) is not null
  union all
  -- examples at 2, 3 and 6 hexes know of none; what lies beyond 11 is on the card
  select 6, '20.4', null::integer, format('%s hexes away', (shot.aim).away), null, 'prof', 'pac_prof'
  where bob._band('pac_prof', (shot.aim).away) is null and (shot.aim).away > 11 and bob._told(shot.read, 'pac_prof', 'range') is null
  union all
  select 6, '20.4', bob._told(shot.read, 'pac_prof', 'range'), format('%s hexes away, as read off the card', (shot.aim).away), null, 'prof', null
  where bob._band('pac_prof', (shot.aim).away) is null and (shot.aim).away > 11 and bob._told(shot.read, 'pac_prof', 'range') is not null
  union all
  select * from bob._prof_row(7, 'move_counter', 'the target has a Move counter', 1, shot.read)
  where shot.at_vehicle and bob._flag(shot.vehicle, 'move_counter')
  union all
  select * from bob._prof_row(8, (shot.aim).smoke, replace((shot.aim).smoke, '_', ' ') || ' on the line', 1, shot.read)
  where (shot.aim).smoke is not null and shot.arm <> 'mortar'
  union all
  select * from bob._prof_row(9, 'hindrance', format('%s Hindrance(s)', (shot.aim).hindrance), (shot.aim).hindrance, shot.read)
  where (shot.aim).hindrance > 0 and shot.arm <> 'mortar'
  union all
  select * from bob._prof_row(10, 'wall', 'the Vehicle is directly behind a wall', 1, shot.read)
  where shot.at_vehicle and exists (
    select from bob._side_cover(state, shot.aim, shot.vehicle, 'v_gun', false, null, '{}') as item where item.note ~ 'wall|dike|roadblock'
  )
  union all
  select * from bob._prof_row(11, 'small_feature', 'behind a small terrain feature', 1, shot.read)
  where bob._behind_feature(state, shot.aim, shot.manner)
  union all
  select * from bob._prof_row(12, 'ridge', 'on a ridge, fired at from level ground', 1, shot.read)
  where (shot.aim).start.level = 0 and bob._has(state, (shot.aim).target, 'ridge') and not bob._has(state, (shot.aim).start, 'ridge')
  union all
  select * from bob._prof_row(13, 'night', 'night, a hex each to four', least((shot.aim).away, 4), shot.read)
  where state.conditions ? 'night'
  union all
  -- bob-22: a limit of four is idle, since nobody fires farther than three hexes
  select * from bob._prof_row(
    14, 'monsoon', 'deluge, a hex each',
    case when state.readings ->> 'bob-22' = 'b' then least((shot.aim).away, 4) else (shot.aim).away end, shot.read, 'bob-22'
  )
  where state.conditions ->> 'weather' = 'monsoon'
$$;

comment on function bob._prof_rows(positions.state, bob.shot) is
'What makes a shot of a Gun or Vehicle difficult, a row each; without any there is no Prof Check (20.4).';

create or replace function bob._prof_steps(state positions.state, shot bob.shot)
returns setof rulings.ledger_step
language plpgsql stable rows 4
as $$
#variable_conflict use_variable
declare
  item bob.cover_row[] := array(select one from bob._prof_rows(state, shot) as one order by one.n);
  rating integer := ((shot.firer).attributes ->> 'prof')::integer;
begin
  if cardinality(item) = 0 then
    return next row('20.4', null, (shot.firer).label, 'none', 'nothing makes the shot difficult: no Prof Check', null, (shot.firer).code, null, '{"prof": null, "checks": false}')::rulings.ledger_step;
    return;
  end if;
  return query
  select one.rule, null::text, (shot.firer).label, coalesce('prof ' || to_char(one.value, 'SG99FM'), 'unknown'), coalesce(one.chart, one.note), one.point, (shot.firer).code, 2 * one.value, null::jsonb
  from unnest(item) as one;
  if rating is null then
    return next row('20.4', null, (shot.firer).label, 'unknown', 'counter', null, (shot.firer).code, null, null)::rulings.ledger_step;
  end if;
  return next (
    select row(
      '20.4', null, (shot.firer).label, 'prof', 'the Prof Rating that it rolls against', null, (shot.firer).code, null,
      jsonb_build_object('checks', true, 'prof', case when bool_and(one.value is not null) then rating + sum(one.value) end)
    )::rulings.ledger_step
    from unnest(item) as one
  );
end
$$;

comment on function bob._prof_steps(positions.state, bob.shot) is
'Whether a Gun or Vehicle must pass a Prof Check, and at what; the last row has it (20.4).';

create or replace function bob._armor_against(shot bob.shot)
returns integer
language sql immutable parallel safe
return case
  when (shot.vehicle).attributes ? 'unarmored' then 0
  when (shot.vehicle).attributes ->> 'facing' is null and ((shot.vehicle).attributes -> 'armor' ->> 0) = ((shot.vehicle).attributes -> 'armor' ->> 1)
    then ((shot.vehicle).attributes -> 'armor' ->> 0)::integer
  when (shot.vehicle).attributes ->> 'facing' is not null then bob._nth(
    (shot.vehicle).attributes -> 'armor',
    case bob._aspect(((shot.vehicle).attributes ->> 'facing')::integer, (shot.firer).q - (shot.vehicle).q, (shot.firer).r - (shot.vehicle).r)
      when 'front' then 1 else 2 end
  )
end;

comment on function bob._armor_against(bob.shot) is
'The armor that a shot meets; null where facing or counter is not told (20.6).';

create or replace function bob._vehicle_rows(state positions.state, shot bob.shot, fp_chart boolean)
returns setof bob.cover_row
language sql stable rows 3
as $$
  select 1, '20.6', -bob._armor_against(shot), format('armor of its %s',
    coalesce(bob._aspect(((shot.vehicle).attributes ->> 'facing')::integer, (shot.firer).q - (shot.vehicle).q, (shot.firer).r - (shot.vehicle).r), 'sides')), null, 'armor',
    case when bob._armor_against(shot) is null then case when (shot.vehicle).attributes ? 'armor' then format('the facing of %s', (shot.vehicle).code) else 'counter' end end
  union all
  select 2, coalesce(cell.rule, '20.6'), cell.value::integer, format('%s hexes away', (shot.aim).away), null, 'range', case when cell.value is null then 'pac_vs_vehicle' end
  from bob._pac('pac_vs_vehicle', coalesce(bob._band('pac_vs_vehicle', (shot.aim).away), 'range/2'), 'value',
    case when bob._band('pac_vs_vehicle', (shot.aim).away) is null then '{}' else shot.read end) as cell
  where bob._band('pac_vs_vehicle', (shot.aim).away) is not null
  union all
  select 2, '20.6', bob._told(shot.read, 'pac_vs_vehicle', 'range'),
    format('%s hexes away', (shot.aim).away), null, 'range', case when bob._told(shot.read, 'pac_vs_vehicle', 'range') is null then 'pac_vs_vehicle' end
  where bob._band('pac_vs_vehicle', (shot.aim).away) is null
  union all
  select item.n, item.rule, item.value, item.note, item.point, 'elevation', item.chart
  from bob._cell_row(
    3, 'pac_vs_vehicle', case when (shot.aim).target.level > (shot.aim).start.level then 'target_higher' else 'target_lower' end, 'value', 'elevation',
    'firer and target are at different levels', null, shot.read
  ) as item
  where (shot.aim).target.level <> (shot.aim).start.level
$$;

comment on function bob._vehicle_rows(positions.state, bob.shot, boolean) is
'What is taken from or added to FP against a Vehicle: armor, range, elevation (20.6).';

create or replace function bob._small_arms_rows(state positions.state, shot bob.shot)
returns setof bob.cover_row
language sql stable rows 3
as $$
  -- 20.11, 23.0: as if at infantry in the open that stands still; no terrain counts
  select item.*
  from bob._situation_rows(state, shot, shot.vehicle, null) as item
  where item.n in (10, 12, 13, 14, 15, 16)
$$;

comment on function bob._small_arms_rows(positions.state, bob.shot) is
'What the situation adds to small arms at a Vehicle''s rear or at an unarmored one (20.11, 23.0).';

create or replace function bob._vehicle_steps(state positions.state, shot bob.shot, fp integer, against text)
returns setof rulings.ledger_step
language plpgsql stable rows 4
as $$
#variable_conflict use_variable
declare
  item bob.cover_row[];
  number integer;
  small boolean := shot.arm in ('infantry', 'mortar') or coalesce(against, '') = 'casualty';
begin
  if small then
    item := array(select one from bob._small_arms_rows(state, shot) as one where shot.arm in ('infantry', 'mortar'));
    number := coalesce((shot.vehicle).attributes ->> 'unarmored', (shot.vehicle).attributes ->> 'rear_casualty')::integer;
  elsif shot.arm = 'flame' then
    item := array(
      select row(1, '34.0', 2, 'the Vehicle is open-topped', null, 'armor', null)::bob.cover_row where bob._flag(shot.vehicle, 'open_topped')
    );
  else
    item := array(select one from bob._vehicle_rows(state, shot, true) as one);
  end if;
  return query
  select one.rule, null::text, (shot.vehicle).label, case when one.value is null then 'unknown' else to_char(one.value, 'SG99FM') end, coalesce(one.chart, one.note), one.point, (shot.vehicle).code, 2 * one.value, null::jsonb
  from unnest(item) as one
  order by one.n;
  return next (
    select row(
      case when small and (shot.vehicle).attributes ? 'unarmored' then '23.0' when small then '20.11' else '20.6' end, null, (shot.vehicle).label, 'number', 'what the roll is compared with', null, (shot.vehicle).code, null,
      jsonb_build_object('value', fp + case when coalesce(bool_and(one.value is not null), true) then coalesce(sum(one.value), 0) end, 'number', number)
    )::rulings.ledger_step
    from unnest(item) as one
  );
end
$$;

comment on function bob._vehicle_steps(positions.state, bob.shot, integer, text) is
'The attack number against a Vehicle; the last row has it, and the bracketed casualty number where that counts (20.6, 20.11, 23.0, 34.0).';
