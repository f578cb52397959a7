-- needs: fpb/zoc.sql
-- Japanese cave complexes in fpb (Forgotten Pacific Battles): who is fortified, 14.0, 8.2.3.

create or replace function fpb._builder_steps(state positions.state, unit positions.counter)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  select
    '14.0',
    null,
    builder.label,
    case when far.away <= far.radius then 'in radius' else 'out of radius' end,
    format('%s is %s hexes away and builds for %s', builder.code, far.away, far.radius),
    null,
    builder.code,
    2 * far.radius,
    null::jsonb
  from fpb._units(state) as builder
  cross join lateral (
    select
      lattice.distance(builder.q, builder.r, unit.q, unit.r) as away,
      -- 14.0 prints its allowance too
      coalesce(floor((builder.attributes ->> 'movement')::numeric)::integer, 8) as radius
  ) as far
  where builder.side = 'japan'
    and builder.kind = 'engineer'
    and builder.q is not null
    and unit.q is not null
    and unit.side = 'japan'
  order by far.away, builder.code
$$;

comment on function fpb._builder_steps(positions.state, positions.counter) is
'How far each Japanese engineer is, against the hexes of its movement allowance; nothing between them counts (14.0).';

create or replace function fpb._fortified_steps(
  state positions.state, unit positions.counter, builders rulings.ledger_step[]
)
returns setof rulings.ledger_step
language sql stable rows 4
as $$
  select
    entry.rule,
    null,
    unit.label,
    entry.effect,
    entry.note,
    null,
    null,
    null::integer,
    null::jsonb
  from (select coalesce(state.conditions ->> 'island', unit.attributes ->> 'island') as name) as island
  cross join lateral (
    values
    (1, unit.q is null, '14.0', 'not fortified', 'it is off the map'),
    (2, unit.side = 'us', '14.0', 'not fortified', 'caves are for Japanese units'),
    (3, unit.side = 'japan' and island.name <> 'guam', '14.0', 'not fortified', 'there are caves on Guam alone'),
    (
      4,
      island.name is null and exists (select from unnest(builders) as builder where builder.effect = 'in radius'),
      '14.0', 'unknown', 'the island'
    ),
    (
      5,
      exists (
        select
        from public.marker
        where marker.position_id = state.position_id
          and marker.kind = 'fortification'
          and marker.q = unit.q
          and marker.r = unit.r
      ),
      '8.2.3', 'fortified', 'a fortification is in its hex'
    ),
    (
      6,
      unit.side = 'japan' and unit.q is not null and cardinality(builders) = 0,
      '14.0', 'not fortified', 'no Japanese engineer is on the map'
    )
  ) as entry (n, speaks, rule, effect, note)
  where entry.speaks
  order by entry.n
$$;

comment on function fpb._fortified_steps(positions.state, positions.counter, rulings.ledger_step[]) is
'What beside the engineers says whether a unit is fortified: side, island, a fortification in the hex (14.0, 8.2.3).';

create or replace function fpb.fortified(
  position_id bigint, unit text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 4
as $$
#variable_conflict use_variable
declare
  state positions.state;
  asked positions.counter;
  builders rulings.ledger_step[];
  others rulings.ledger_step[];
  near text[];
  verdict text;
begin
  select * into state from positions.state(position_id, conditions, policy);
  asked := positions._asked_counter(position_id, unit);
  builders := array(select step from fpb._builder_steps(state, asked) as step);
  others := array(select step from fpb._fortified_steps(state, asked, builders) as step);
  near := array(
    select step.by from unnest(builders) as step where step.effect = 'in radius' order by step.by
  );
  select
    case
      when bool_or(step.effect = 'fortified') then 'fortified'
      when bool_or(step.effect = 'not fortified') then 'not fortified'
      when bool_or(step.effect = 'unknown') then 'unknown'
    end
  into verdict
  from unnest(others) as step;
  verdict := coalesce(verdict, case when cardinality(near) > 0 then 'fortified' else 'not fortified' end);
  return query select * from unnest(builders);
  return query select * from unnest(others);
  return next row(
    '14.0',
    null,
    asked.label,
    verdict,
    case when verdict = 'fortified' then 'its defense is doubled, markers against it are halved' else 'as printed' end,
    null,
    null,
    null,
    jsonb_build_object(
      'fortified', case verdict when 'fortified' then true when 'not fortified' then false end,
      'by', case when coalesce(state.conditions ->> 'island', asked.attributes ->> 'island') = 'guam' then near else '{}' end
    )
  )::rulings.ledger_step;
end
$$;

comment on function fpb.fortified(bigint, text, jsonb, jsonb) is
'Whether a unit is fortified, and by which Japanese engineers; the verdict last (14.0).';
