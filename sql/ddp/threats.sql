-- needs: ddp/fields.sql, ddp/los.sql, rulings/step.sql
-- Who can hurt whoever is in a hex, in ddp: Japanese positions by their fields of fire (6.2, 6.23), US units by ranged fire (8.1).

create or replace function ddp._field_threats(state positions.state, hexes text[])
returns setof rulings.ledger_step
language sql stable rows 10
as $$
  select
    case when dot.grade = 'extended' then '6.23' else field.rule end,
    null::text,
    dot.label,
    'fires',
    format('%s fires into %s: %s', field.place, dot.label, case dot.grade when 'extended' then 'beside a tank''s field' else dot.grade || ' fire' end),
    point.point,
    coalesce(holder.code, field.place),
    null::integer,
    jsonb_build_object('with', dot.grade || ' fire', 'range', lattice.distance(field.q, field.r, dot.q, dot.r))
  from ddp._fields(state, 'fire') as field
  cross join lateral ddp._dots_of(state, field, 'fire') as dot
  left join lateral (
    select unit.code
    from public.unit
    where unit.position_id = state.position_id and unit.side = 'japan' and unit.q = field.q and unit.r = field.r
    order by unit.code collate "C"
    limit 1
  ) as holder on true
  left join lateral unnest(field.points) as point (point) on true
  where field.active and dot.label = any(hexes)
  order by array_position(hexes, dot.label), field.place, dot.grade, point.point
$$;

comment on function ddp._field_threats(positions.state, text[]) is
'The positions that fire into some hexes now, each by who holds it and by the grade of its dot.';

create or replace function ddp._ranged_threats(state positions.state, hexes text[])
returns setof rulings.ledger_step
language sql stable rows 10
as $$
  select
    verdict.rule,
    null::text,
    asked.label,
    case verdict.effect when 'visible' then 'fires' else 'unknown' end,
    case verdict.effect
      when 'visible' then format('%s may fire at %s, at range %s', unit.code, asked.label, verdict.range)
      else verdict.note
    end,
    verdict.point,
    unit.code,
    null::integer,
    jsonb_build_object('with', case when verdict.range > 1 then 'ranged fire' else 'fire from beside it' end, 'range', verdict.range)
  from public.unit
  cross join unnest(hexes) with ordinality as asked (label, n)
  cross join lateral (
    select step.*
    from ddp.los(
      state.position_id, 'unit:' || unit.code, 'hex:' || asked.label, state.conditions, state.readings
    ) with ordinality as step (rule, clause, at, effect, note, point, range, hindrance, m)
    order by step.m desc
    limit 1
  ) as verdict
  where unit.position_id = state.position_id
    and unit.side = 'us'
    and unit.q is not null
    and verdict.effect in ('visible', 'unknown')
    and verdict.range > 0
  order by asked.n, verdict.range, unit.code collate "C"
$$;

comment on function ddp._ranged_threats(positions.state, text[]) is
'The US units that may fire at some hexes (8.1), and those of which that is not told.';

create or replace function ddp.threats(
  position_id bigint, hexes text[], side text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language sql stable rows 20
as $$
  select step.*
  from positions.state(threats.position_id, threats.conditions, threats.policy) as state
  cross join lateral ddp._field_threats(state, threats.hexes) as step
  where threats.side = 'us'
  union all
  select step.*
  from positions.state(threats.position_id, threats.conditions, threats.policy) as state
  cross join lateral ddp._ranged_threats(state, threats.hexes) as step
  where threats.side = 'japan'
$$;

comment on function ddp.threats(bigint, text[], text, jsonb, jsonb) is
'Every enemy of a side that can fire into one of some hexes (effect fires, by whom, facts: with what, at which range).';
