-- needs: bob/morale.sql
-- Command Points in bob (Band of Brothers): who may spend one on what: 3.0, 3.1, 20.0, 32.0, 63.1.

create or replace function bob._points_left(state positions.state, side text, unit positions.counter)
returns integer
language sql stable parallel safe
as $$
  -- 3.1: of its own company, where CPs belong to companies; bonus CPs of an event serve anybody
  select case
    when pool.company is not null then pool.company
    when jsonb_typeof(pool.all_of_them) = 'number' then pool.all_of_them::integer
    when jsonb_typeof(pool.all_of_them) = 'object' then (
      select sum(share.n::integer)::integer from jsonb_each_text(pool.all_of_them) as share (company, n)
    )
  end
  from (
    select
      bob._of_side(state, _points_left.side, 'cps') as all_of_them,
      case
        when unit.attributes ? 'company' then coalesce(
          (
            select (position.tracks -> 'companies' -> (unit.attributes ->> 'company') ->> 'cps')::integer
            from public.position where position.id = state.position_id
          ),
          (bob._of_side(state, _points_left.side, 'cps') -> (unit.attributes ->> 'company'))::integer,
          (state.conditions -> 'cps' -> 'company' -> (unit.attributes ->> 'company'))::integer
        )
      end as company
  ) as pool
$$;

comment on function bob._points_left(positions.state, text, positions.counter) is
'The CPs that a unit may use; null where nobody says how many there are (3.0, 3.1).';

create or replace function bob._point_forbids(state positions.state, unit positions.counter, purpose text)
returns setof rulings.ledger_step
language sql stable rows 1
as $$
  select entry.rule, null, unit.label, 'forbids', entry.note, entry.point, unit.code, null::integer, null::jsonb
  from (
    values
    (1, coalesce(bob._points_left(state, unit.side, unit), 1) + coalesce(bob._of_side(state, unit.side, 'bonus_cps')::integer, 0) < 1, '3.0', 'its side has no CP left', null),
    (
      2, bob._flag(unit, 'cp') and not (purpose = 'melee' and state.readings ->> 'bob-29' = 'b'),
      '3.0', 'one CP a unit and turn', case when purpose = 'melee' then 'bob-29' end
    ),
    (
      3, unit.kind in ('gun', 'vehicle', 'carrier') and purpose <> 'first',
      '20.0', 'no CP on a Gun or Vehicle but to act first', null
    ),
    (
      4, unit.kind in ('artillery', 'aircraft', 'illumination') and purpose <> 'first',
      '32.0', 'no CP on an asset but to act first', null
    ),
    (5, bob._is_out_of_command(state, unit), '63.1', 'it is Out of Command', null),
    (6, bob._mounted(unit) and purpose = 'mp', '5.4', 'only unmounted infantry gains a Movement Point', null),
    (7, bob._charging(state, unit) and purpose = 'mp', '59.6', 'who charges gains no Movement Point by a CP', null),
    (8, unit.kind = 'decoy' and purpose in ('fp', 'melee', 'range'), '15.0', 'a Decoy does not fight', null),
    (
      9, purpose = 'first' and unit.side = state.conditions ->> 'first',
      '3.0', 'it is the second player who may act first by a CP', null
    )
  ) as entry (n, speaks, rule, note, point)
  where entry.speaks
  order by entry.n
$$;

comment on function bob._point_forbids(positions.state, positions.counter, text) is
'What stands against spending a CP on a unit (3.0, 3.1, 20.0, 32.0, 63.1).';

create or replace function bob._company_pool(state positions.state, unit positions.counter)
returns boolean
language sql stable parallel safe
return unit.attributes ? 'company' and (
  jsonb_typeof(bob._of_side(state, unit.side, 'cps')) = 'object' or coalesce(state.conditions -> 'cps' -> 'company' ? (unit.attributes ->> 'company'), false)
);

comment on function bob._company_pool(positions.state, positions.counter) is
'Whether the CPs that a unit uses belong to its company (3.1).';

create or replace function bob.command_point(
  position_id bigint, unit text, purpose text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 2
as $$
#variable_conflict use_variable
declare
  state positions.state;
  asked positions.counter;
  steps rulings.ledger_step[];
  held integer;
begin
  select * into state from positions.state(position_id, conditions, policy);
  asked := bob._counter(state, unit);
  held := bob._points_left(state, asked.side, asked);
  steps := array(select step from bob._point_forbids(state, asked, purpose) as step);
  return query select * from unnest(steps);
  return next row(
    case when bob._company_pool(state, asked) then '3.1' else '3.0' end, null, asked.label,
    case when cardinality(steps) = 0 then 'allowed' else 'refused' end,
    coalesce(steps[1].note, case when held is null then 'a CP may be spent' else format('a CP may be spent; %s left after it', greatest(held - 1, 0)) end), null, asked.code, null,
    jsonb_build_object(
      'allowed', cardinality(steps) = 0, 'why', steps[1].note, 'rule', steps[1].rule,
      'left', case when cardinality(steps) = 0 then greatest(held - 1, 0) else held end, 'held', held,
      'bonus', bob._of_side(state, asked.side, 'bonus_cps'), 'side', asked.side,
      'company', case when bob._company_pool(state, asked) then asked.attributes ->> 'company' end
    )
  )::rulings.ledger_step;
end
$$;

comment on function bob.command_point(bigint, text, text, jsonb, jsonb) is
'Whether a CP may be spent on a unit for a purpose (reroll, first, range, melee, fp, mp), and how many are left.';
