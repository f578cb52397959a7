-- needs: charts/cells.sql, fpb/stack.sql
-- Where the Japanese are set up in fpb (Forgotten Pacific Battles), by die or freely: 5.3, 18.1, 18.4, 19.0.

create or replace function fpb._placement_faces(state positions.state, row_key text)
returns table (die integer, label text, mapped boolean, held text)
language sql stable rows 6
as $$
  select
    cell.column_key::integer,
    cell.value,
    hex.label is not null,
    (
      select min(unit.code)
      from public.unit
      where unit.position_id = state.position_id and unit.side = 'japan' and unit.q = hex.q and unit.r = hex.r
    )
  from charts.cells('fpb', 'random_placement') as cell
  left join public.hex on hex.map_id = state.map_id and hex.label = cell.value
  where cell.row_key = _placement_faces.row_key and cell.column_key ~ '^[1-6]$'
  order by cell.column_key
$$;

comment on function fpb._placement_faces(positions.state, text) is
'The six hexes of a row of the placement table, and the Japanese unit that holds each already (19.0).';

create or replace function fpb.placement(
  position_id bigint, row_key text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 8
as $$
#variable_conflict use_variable
declare
  state positions.state;
  free integer;
  unit jsonb;
begin
  select * into state from positions.state(position_id, conditions, policy);
  select jsonb_object_agg(cell.column_key, cell.value) into unit
  from charts.cells('fpb', 'random_placement') as cell
  where cell.row_key = row_key and cell.column_key !~ '^[1-6]$' and cell.value is distinct from '-';
  if unit is null then
    raise exception 'the placement table has no row %', row_key using errcode = 'no_data_found';
  end if;
  select count(*) into free from fpb._placement_faces(state, row_key) as face where face.held is null;
  return query
  select
    '19.0', null, face.label,
    case when face.held is null then 'free' else 'rolled again' end,
    case when face.held is null then format('a roll of %s', face.die) else format('a roll of %s: %s is there', face.die, face.held) end,
    null, face.held, null::integer, null::jsonb
  from fpb._placement_faces(state, row_key) as face;
  return next row(
    '19.0', null, null, 'placed by die', format('%s of six rolls place it', free), null, null, null,
    jsonb_build_object(
      'unit', unit,
      'faces', (
        select jsonb_object_agg(face.die, jsonb_build_object('at', face.label, 'free', face.held is null, 'mapped', face.mapped))
        from fpb._placement_faces(state, row_key) as face
      ),
      'odds', (
        select jsonb_object_agg(each.label, format('%s/%s', each.n / gcd(each.n, free), free / gcd(each.n, free)))
        from (
          select face.label, count(*)::integer as n
          from fpb._placement_faces(state, row_key) as face where face.held is null group by face.label
        ) as each
      ),
      'counter', (
        select min(counter.code)
        from public.unit as counter
        where counter.position_id = position_id
          and counter.side = 'japan'
          and counter.q is null
          and counter.attributes ->> 'status' is distinct from 'eliminated'
          and coalesce(counter.attributes ->> 'island', split_part(row_key, '/', 1)) = split_part(row_key, '/', 1)
          and counter.attributes @> jsonb_build_object(
            'attack', (unit ->> 'attack')::integer, 'defense', (unit ->> 'defense')::integer
          )
          and (counter.attributes ->> 'movement')::numeric = (unit ->> 'movement')::numeric
          and (not unit ? 'identifier' or counter.attributes ->> 'identifier' = unit ->> 'identifier')
      )
    )
  )::rulings.ledger_step;
end
$$;

comment on function fpb.placement(bigint, text, jsonb, jsonb) is
'A row of the placement table: each hex with who holds it already, the odds of the others; the verdict last.';

create or replace function fpb.deployment(
  position_id bigint, unit text, at text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  select entry.rule, null, hex.label, entry.effect, entry.note, null, counter.code, null::integer, null::jsonb
  from positions.state(deployment.position_id, deployment.conditions, deployment.policy) as state
  cross join lateral positions._asked_counter(state.position_id, deployment.unit) as counter
  inner join public.hex on hex.map_id = state.map_id and hex.label = deployment.at
  cross join lateral (
    values
    (1, counter.side <> 'japan', '18.4', 'forbids', 'the Japanese are deployed so'),
    (2, counter.q is not null, '18.4', 'forbids', 'it is on the map'),
    (
      3, not coalesce((state.conditions ->> 'free_deployment')::boolean, false) or state.conditions ->> 'mode' = 'solitaire',
      '18.4', 'forbids', 'it is placed by die: two players may agree on free deployment'
    ),
    (4, state.conditions ->> 'phase' is not null, '18.4', 'forbids', 'the game has begun'),
    (5, fpb._all_sea(hex.terrain, hex.features), '18.4', 'forbids', 'an all-sea hex is prohibited'),
    (
      6, counter.attributes ->> 'island' <> state.conditions ->> 'island', '18.1', 'forbids',
      format('it belongs to %s', initcap(counter.attributes ->> 'island'))
    ),
    (
      7, exists (
        select from public.unit as other
        where other.position_id = state.position_id and other.side = 'japan' and other.q = hex.q and other.r = hex.r
      ), '5.3', 'forbids', 'a Japanese unit is there'
    ),
    (8, true, '18.4', 'deployed', 'its owner wrote it down')
  ) as entry (n, speaks, rule, effect, note)
  where entry.speaks
  order by entry.n
$$;

comment on function fpb.deployment(bigint, text, text, jsonb, jsonb) is
'What stands against a freely deployed Japanese unit in a hex (5.3, 18.4); the last row has no objection.';

create or replace function fpb.placement_rows(position_id bigint, island text)
returns table (number integer, code text)
language sql stable rows 5
as $$
  with printed as (
    select
      cell.row_key,
      max(cell.value::integer) filter (where cell.column_key = 'attack') as attack,
      max(cell.value::integer) filter (where cell.column_key = 'defense') as defense,
      max(cell.value::numeric) filter (where cell.column_key = 'movement') as movement,
      max(nullif(cell.value, '-')) filter (where cell.column_key = 'identifier') as identifier
    from charts.cells('fpb', 'random_placement') as cell
    where split_part(cell.row_key, '/', 1) = placement_rows.island
      and cell.column_key in ('attack', 'defense', 'movement', 'identifier')
    group by cell.row_key
  ),
  numbered as (
    select
      split_part(printed.row_key, '/', 2)::integer as number,
      printed.*,
      row_number() over (
        partition by printed.attack, printed.defense, printed.movement, printed.identifier
        order by split_part(printed.row_key, '/', 2)::integer
      ) as n
    from printed
  ),
  counter as (
    select
      unit.code,
      unit.q,
      (unit.attributes ->> 'attack')::integer as attack,
      (unit.attributes ->> 'defense')::integer as defense,
      (unit.attributes ->> 'movement')::numeric as movement,
      unit.attributes ->> 'identifier' as identifier,
      row_number() over (
        partition by
          unit.attributes ->> 'attack', unit.attributes ->> 'defense', unit.attributes ->> 'movement',
          unit.attributes ->> 'identifier'
        order by unit.code
      ) as n
    from public.unit
    where unit.position_id = placement_rows.position_id
      and unit.side = 'japan'
      and coalesce(unit.attributes ->> 'island', placement_rows.island) = placement_rows.island
  )
  select numbered.number, counter.code
  from numbered
  inner join counter
    on counter.attack = numbered.attack
      and counter.defense = numbered.defense
      and counter.movement = numbered.movement
      and counter.identifier is not distinct from numbered.identifier
      -- of equals the first row is the first counter's
      and counter.n = numbered.n
  where counter.q is null
  order by numbered.number
$$;

comment on function fpb.placement_rows(bigint, text) is
'Rows of the placement table whose unit is still off the map, each with that unit (19.0).';
