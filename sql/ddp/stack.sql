-- needs: positions/place.sql, ddp/spots.sql, rulings/step.sql
-- Stacking of US units in ddp (D-Day at Peleliu): 5.2, 6.35, 7.5, 7.51, 7.52.

create or replace function ddp._stacks(kind text)
returns boolean
language sql immutable parallel safe
return coalesce(kind not in ('regimental_hq', 'command_post', 'hero', 'garrison'), true);

comment on function ddp._stacks(text) is
'Whether a US unit counts toward the limit of two in a hex (7.51).';

create or replace function ddp.stack(
  position_id bigint, hex text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 4
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  state positions.state;
  spot record;
begin
  select * into state from positions.state(stack.position_id, stack.conditions, stack.policy);
  select place.q, place.r, hex.label into spot
  from positions.place(stack.position_id, stack.hex) as place
  inner join public.hex on hex.map_id = state.map_id and place.q = hex.q and place.r = hex.r;
  return query
  select
    case when ddp._stacks(unit.kind) then '7.5' else '7.51' end,
    null::text,
    unit.label,
    case when ddp._stacks(unit.kind) then 'counts' else 'does not count' end,
    format('%s, %s', unit.code, coalesce(replace(unit.kind, '_', ' '), 'of a kind that is not told')),
    null::text,
    unit.code,
    case when ddp._stacks(unit.kind) then 2 else 0 end,
    null::jsonb
  from ddp._us_units(state) as unit
  where unit.q = spot.q and unit.r = spot.r
  order by unit.code;
  return query
  select
    case when coalesce(sum((unit.attributes ->> 'steps')::integer), 0) >= 7 then '6.35' else '7.5' end,
    null::text,
    spot.label,
    case when count(*) filter (where ddp._stacks(unit.kind)) > 2 then 'over' else 'within' end,
    format(
      '%s of 2 units, %s steps',
      count(*) filter (where ddp._stacks(unit.kind)),
      coalesce(sum((unit.attributes ->> 'steps')::integer), 0)
    ),
    -- whatever the heading of 7.52 says
    case when count(*) filter (where ddp._stacks(unit.kind)) > 2 then 'ddp-23' end,
    null::text,
    null::integer,
    jsonb_build_object(
      'units', count(*) filter (where ddp._stacks(unit.kind)),
      'limit', 2,
      'over', greatest(count(*) filter (where ddp._stacks(unit.kind)) - 2, 0),
      'steps', coalesce(sum((unit.attributes ->> 'steps')::integer), 0),
      'concentrated', coalesce(sum((unit.attributes ->> 'steps')::integer), 0) >= 7
    )
  from ddp._us_units(state) as unit
  where unit.q = spot.q and unit.r = spot.r;
end
$$;

comment on function ddp.stack(bigint, text, jsonb, jsonb) is
'Who of the US units in a hex counts toward the limit of two, how many are over it, and whether they are a concentrated target (7.5, 6.35).';
