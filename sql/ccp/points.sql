-- needs: positions/place.sql, positions/state.sql, rulings/step.sql, charts/cells.sql
-- Victory Points in ccp: of units that are eliminated, of exits, of objectives: 3.3.2, 14.1 to 14.3, 2.4.

create or replace function ccp._chits(state positions.state, with_secret boolean default false)
returns table (letter text, facts jsonb)
language sql stable rows 3
as $$
  select chit.facts ->> 'letter', chit.facts
  from jsonb_array_elements(state.conditions -> 'chits' -> 'open') as chit (facts)
  union all
  select chit.facts ->> 'letter', chit.facts
  from jsonb_each(state.conditions -> 'chits' -> 'secret') as held (side, chits)
  cross join lateral jsonb_array_elements(
    case when jsonb_typeof(held.chits) = 'array' then held.chits else '[]' end
  ) as chit (facts)
  where with_secret
$$;

comment on function ccp._chits(positions.state, boolean) is
'The objective chits in play: the open ones, and with them the secret ones of both sides (14.3.4).';

create or replace function ccp._unit_point_steps(state positions.state, unit positions.counter)
returns setof rulings.ledger_step
language sql stable rows 3
as $$
  with worth as (
    select
      kind.code,
      max(cell.value) filter (where cell.column_key = 'points')::integer as points,
      bool_or(cell.column_key = 'plus_command' and cell.value = 'true') as plus_command
    from (
      -- 3.3.3, 3.3.4: Scout and Sogeki Hei are leaders without a number
      select case when unit.kind in ('scout', 'sogeki_hei') then 'leader' else unit.kind end as code
    ) as kind
    inner join charts.cells('ccp', 'elimination_points') as cell on cell.row_key = kind.code
    group by kind.code
  )
  select fact.rule, null, unit.label, fact.effect, format('%s: %s', unit.code, fact.note), fact.point, unit.code,
    2 * fact.value, null::jsonb
  from worth
  cross join lateral (
    values
    (
      1, true, '14.1', worth.points::text, format('a %s', replace(unit.kind, '_', ' ')), null, worth.points
    ),
    (
      2, unit.kind = 'leader' and worth.plus_command and unit.attributes ? 'command', '14.1',
      '+' || (unit.attributes ->> 'command'), 'the command of its unbroken side', null,
      (unit.attributes ->> 'command')::integer
    ),
    (
      3, unit.kind = 'leader' and not unit.attributes ? 'command', '14.1', 'unknown', 'its command number', null, null
    )
  ) as fact (n, holds, rule, effect, note, point, value)
  where fact.holds
  union all
  select '14.3.3', null, unit.label,
    case when counts.so then '+' || (chit.facts ->> 'elimination') else '0' end,
    format('chit %s: each elimination', chit.letter), case when unit.kind = 'hero' then 'ccp-22' end, unit.code,
    case when counts.so then 2 * (chit.facts ->> 'elimination')::integer else 0 end, null
  from ccp._chits(state) as chit
  cross join lateral (select unit.kind <> 'hero' or state.readings ->> 'ccp-22' = 'b' as so) as counts
  where chit.facts ? 'elimination' and chit.facts ->> 'elimination' is not null
$$;

comment on function ccp._unit_point_steps(positions.state, positions.counter) is
'What the opponent is awarded for a unit that is eliminated (14.1, 14.3.3, ccp-22).';

create or replace function ccp._objective_point_steps(state positions.state, objective integer, with_secret boolean)
returns setof rulings.ledger_step
language sql stable rows 3
as $$
  select '14.3.3', null::text, null::text, '+' || worth.points,
    format('chit %s: %s', chit.letter, case when chit.facts ? 'each' then 'each objective' else 'objective ' || objective end),
    null::text, null::text, 2 * worth.points, null::jsonb
  from ccp._chits(state, with_secret) as chit
  cross join lateral (
    select coalesce(
      (chit.facts ->> 'each')::integer,
      case when (chit.facts ->> 'objective')::integer = objective then (chit.facts ->> 'value')::integer end
    ) as points
  ) as worth
  where worth.points is not null
$$;

comment on function ccp._objective_point_steps(positions.state, integer, boolean) is
'What an objective is worth to its controller by the chits in play (14.3.3).';

create or replace function ccp._exit_point(state positions.state, exit text)
returns setof public.map_feature
language sql stable rows 1
as $$
  select place.*
  from public.map_feature as place
  where place.map_id = state.map_id
    and place.kind = 'exit'
    and (
      place.code = exit
      or exists (
        select
        from public.map_feature_hex as lies
        inner join public.hex on hex.map_id = lies.map_id and hex.q = lies.q and hex.r = lies.r
        where lies.feature = place.id and hex.label = exit
      )
    )
  order by place.code = exit desc, place.id
  limit 1
$$;

comment on function ccp._exit_point(positions.state, text) is
'The Exit Point of a name, or in a hex (2.4).';

create or replace function ccp._exit_point_steps(state positions.state, exit text, unit positions.counter)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  select '14.2.2', null::text, null::text, coalesce(place.attributes ->> 'value', 'unknown'),
    case
      when place.attributes ? 'value' then format('Exit Point %s', place.code)
      else format('the value of Exit Point %s', place.code)
    end,
    null::text, unit.code, 2 * (place.attributes ->> 'value')::integer, null::jsonb
  from ccp._exit_point(state, exit) as place
  where unit.kind is null or unit.kind <> 'hero'
  union all
  select '3.3.2', null, null, '0', 'a Hero earns nothing by leaving', null, unit.code, 0, null
  where unit.kind = 'hero'
  union all
  select '14.3.3', null, null, case when counts.so then '+' || (chit.facts ->> 'exit') else '0' end,
    format('chit %s: each exit', chit.letter), case when unit.kind = 'hero' then 'ccp-22' end, unit.code,
    case when counts.so then 2 * (chit.facts ->> 'exit')::integer else 0 end, null
  from ccp._chits(state) as chit
  cross join lateral (
    select coalesce(unit.kind <> 'hero', true) or state.readings ->> 'ccp-22' = 'b' as so
  ) as counts
  where chit.facts ->> 'exit' is not null
$$;

comment on function ccp._exit_point_steps(positions.state, text, positions.counter) is
'What leaving by an Exit Point is worth, to a unit where one is told (14.2.2, 14.3.3, 3.3.2, ccp-22).';

create or replace function ccp.points(
  position_id bigint,
  unit text default null,
  objective integer default null,
  exit text default null,
  with_secret boolean default false,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 4
as $$
#variable_conflict use_variable
declare
  state positions.state;
  asked positions.counter;
  steps rulings.ledger_step[];
  known boolean;
begin
  select * into state from positions.state(points.position_id, points.conditions, points.policy);
  if points.unit is not null then
    asked := positions._asked_counter(points.position_id, points.unit);
  end if;
  if points.exit is not null and not exists (select from ccp._exit_point(state, points.exit)) then
    raise exception 'there is no Exit Point % on this map', points.exit using errcode = 'no_data_found';
  end if;
  if points.exit is not null then
    steps := array(select row(step.*)::rulings.ledger_step from ccp._exit_point_steps(state, points.exit, asked) as step);
  elsif points.objective is not null then
    steps := array(
      select row(step.*)::rulings.ledger_step
      from ccp._objective_point_steps(state, points.objective, points.with_secret) as step
    );
  else
    steps := array(select row(step.*)::rulings.ledger_step from ccp._unit_point_steps(state, asked) as step);
  end if;
  known := not exists (select from unnest(steps) as step where step.effect = 'unknown');
  return query select * from unnest(steps);
  return query
  select '14', null::text, asked.label, coalesce(worth.value::text, 'unknown'),
    case when known then 'Victory Points' else 'what it is worth' end, null::text, asked.code,
    2 * worth.value, jsonb_build_object('value', worth.value)
  from (
    select case when known then coalesce(sum(step.halves), 0)::integer / 2 end as value from unnest(steps) as step
  ) as worth;
end
$$;

comment on function ccp.points(bigint, text, integer, text, boolean, jsonb, jsonb) is
'What a unit is worth when it is eliminated, an objective to its controller, or an Exit Point (14.1, 14.2.2, 14.3.3).';
