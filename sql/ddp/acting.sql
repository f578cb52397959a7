-- needs: ddp/fields.sql, ddp/free_action.sql, ddp/spots.sql, rulings/step.sql
-- What an action costs, and what it leaves behind, in ddp (D-Day at Peleliu): 7.0, 7.1, 7.2, 7.21, 7.6, 18.33, 18.34.

create or replace function ddp._acting_bars(unit positions.counter)
returns setof rulings.ledger_step
language sql stable rows 1
as $$
  select
    bar.rule,
    null,
    unit.label,
    'forbids',
    format(bar.note, unit.code),
    null,
    unit.code,
    null::integer,
    null::jsonb
  from (
    values
    (1, unit.side <> 'us', '7.0', '%s is Japanese: the rules move it'),
    (2, unit.q is null, '7.0', '%s is not on the map'),
    (3, not ddp._acts(unit.kind), '14.41', '%s performs no actions'),
    (4, ddp._flag(unit.attributes, 'disrupted'), '7.6', '%s is disrupted: all that it may do is lose the marker'),
    (5, ddp._flag(unit.attributes, 'acted'), '7.2', '%s has performed its action of this turn')
  ) as bar (n, holds, rule, note)
  where bar.holds
  order by bar.n
$$;

comment on function ddp._acting_bars(positions.counter) is
'Why a unit may perform no action (7.2, 7.6, 14.41).';

create or replace function ddp.acting(
  position_id bigint, units text[], preserves boolean default false, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 8
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  state positions.state;
  actors positions.counter[] := array(
    select positions._asked_counter(acting.position_id, one.code) from unnest(acting.units) as one (code)
  );
  bars rulings.ledger_step[];
  free text[];
  cost integer;
  spent integer;
begin
  select * into state from positions.state(acting.position_id, acting.conditions, acting.policy);
  spent := coalesce((state.conditions ->> 'actions')::integer, 0);
  bars := array(select bar from unnest(actors) as unit cross join lateral ddp._acting_bars(unit) as bar);
  return query select * from unnest(bars);
  return query
  select
    ground.rule,
    null::text,
    unit.label,
    case when ground.holds then 'free' else 'not free' end,
    format('%s: %s', unit.code, ground.note),
    ground.point,
    unit.code,
    null::integer,
    null::jsonb
  from unnest(actors) as unit
  cross join lateral ddp._free_grounds(state, unit, acting.preserves) as ground
  where cardinality(bars) = 0
  order by unit.code, ground.rule, ground.note;
  free := array(
    select unit.code
    from unnest(actors) as unit
    where exists (select from ddp._free_grounds(state, unit, acting.preserves) as ground where ground.holds)
    order by unit.code
  );
  -- 7.21: two units of a stack that do the same are one action
  select coalesce(sum(stack.actions), 0) into cost
  from (
    select (count(*) + 1) / 2 as actions
    from unnest(actors) as unit
    where unit.code <> all(free)
    group by unit.q, unit.r
  ) as stack;
  return query
  select
    '7.21',
    null::text,
    unit.label,
    'one action',
    format('%s, one of the two actions of the turn', string_agg(unit.code, ' and ' order by unit.code)),
    null::text,
    null::text,
    null::integer,
    null::jsonb
  from unnest(actors) as unit
  where unit.code <> all(free) and cardinality(bars) = 0
  group by unit.q, unit.r, unit.label
  order by unit.label;
  return query
  select
    case when cardinality(bars) > 0 then (bars[1]).rule else '7.0' end,
    null::text,
    null::text,
    case when cardinality(bars) = 0 and spent + cost <= 2 then 'may act' else 'may not act' end,
    case
      when cardinality(bars) > 0 then (select string_agg(bar.note, '; ') from unnest(bars) as bar)
      when spent + cost > 2 then format('it takes %s of the two actions of the turn, and %s are spent', cost, spent)
      when cost = 0 then 'all act for free'
      else format('%s of the two actions of the turn', cost)
    end,
    null::text,
    null::text,
    2 * cost,
    jsonb_build_object('may', cardinality(bars) = 0 and spent + cost <= 2, 'actions', cost, 'free', free);
end
$$;

comment on function ddp.acting(bigint, text[], boolean, jsonb, jsonb) is
'Whether US units may perform an action together, who does so for free, and how many of the two actions of the turn it takes. The verdict last.';

create or replace function ddp.acted_under_fire(
  position_id bigint, units text[], passed text[], conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 2
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  state positions.state;
begin
  select * into state from positions.state(acted_under_fire.position_id, acted_under_fire.conditions, acted_under_fire.policy);
  return query
  with ground as materialized (
    select dot.label, 'in the intense field of fire of ' || dot.place as why, true as field
    from ddp._field_dots(state, 'move') as dot
    where dot.grade = 'intense'
    union all
    select held.label, 'in a hex with ' || held.code, false
    from ddp._occupants(state) as held
  )

  select
    '18.34',
    null::text,
    unit.label,
    case when bool_or(ends.here or state.readings ->> 'ddp-35' = 'b') then 'action under fire' else 'none' end,
    format('%s acted %s', unit.code, min(ground.why)),
    case when not bool_or(ends.here) then 'ddp-35' end,
    unit.code,
    null::integer,
    null::jsonb
  from ddp._us_units(state) as unit
  inner join ground on unit.label = ground.label or (ground.field and ground.label = any(acted_under_fire.passed))
  cross join lateral (select unit.label = ground.label as here) as ends
  where ddp._ridge(state.conditions)
    and unit.code = any(acted_under_fire.units)
  group by unit.code, unit.label
  order by unit.code;
end
$$;

comment on function ddp.acted_under_fire(bigint, text[], text[], jsonb, jsonb) is
'Who of the units that acted gains an Action Under Fire marker on Bloody Nose Ridge, by where the action ended or what it passed (18.34, ddp-35).';
