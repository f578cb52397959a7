-- needs: lattice/cells.sql, ddp/fields.sql, ddp/move.sql, ddp/spots.sql, rulings/step.sql
-- US withdrawal and relief on a night of Bloody Nose Ridge in ddp (D-Day at Peleliu): 18.37; Japanese reorganization: 18.21.

create or replace function ddp._battalion(code text)
returns text
language sql immutable parallel safe
return substring(code from '([0-9]+/[0-9]+)$');

comment on function ddp._battalion(text) is
'The battalion of a unit: the last two numbers of its designation (18.37).';

create or replace function ddp.relief(
  position_id bigint, battalion text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 6
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  state positions.state;
  turn integer;
  gone positions.counter[];
  due jsonb;
  next_space integer;
  bars rulings.ledger_step[];
begin
  select * into state from positions.state(relief.position_id, relief.conditions, relief.policy);
  turn := (state.conditions ->> 'turn')::integer;
  gone := array(
    select unit from ddp._us_units(state) as unit
    where ddp._battalion(unit.code) = relief.battalion and unit.kind is distinct from 'garrison'
    order by unit.code
  );
  select coalesce(jsonb_agg(unit.code order by unit.code), '[]') into due
  from public.unit
  where unit.position_id = relief.position_id and unit.side = 'us' and unit.q is null
    and (unit.attributes ->> 'arrives')::integer = turn;
  -- the next night space in which nobody waits
  select min(night.n) into next_space
  from unnest(array[4, 8, 12, 16]) as night (n)
  where night.n > turn
    and not exists (
      select from public.unit
      where unit.position_id = relief.position_id and unit.side = 'us' and (unit.attributes ->> 'arrives')::integer = night.n
    );
  bars := array(
    select row(bar.rule, null, null, 'forbids', bar.note, null, null, null, null)::rulings.ledger_step
    from (
      values
      (1, not ddp._night(state.conditions), '18.37', 'relief is of the night turns of Bloody Nose Ridge'),
      (2, jsonb_array_length(due) = 0, '18.37', 'nobody waits in the space of this turn'),
      (
        4,
        coalesce(state.conditions ->> 'phase' = 'night' and (state.conditions ->> 'drawn')::integer >= 1, false),
        '18.21',
        'relief comes before the Japanese reorganize'
      ),
      (
        3,
        relief.battalion is not null and cardinality(gone) = 0,
        '18.37',
        format('no unit of battalion %s is on the map', relief.battalion)
      )
    ) as bar (n, holds, rule, note)
    where bar.holds
    order by bar.n
  );
  return query select * from unnest(bars);
  return query
  select
    '18.37', null::text, unit.label, 'withdraws', format('%s leaves the map', unit.code), null::text, unit.code, null::integer, null::jsonb
  from unnest(gone) as unit
  where cardinality(bars) = 0;
  return query
  select
    '18.37', null::text, null::text,
    case when cardinality(bars) > 0 then 'refused' when relief.battalion is null then 'stays' else 'relief' end,
    coalesce(
      (select string_agg(bar.note, '; ') from unnest(bars) as bar),
      case
        when relief.battalion is null then 'nobody is withdrawn: the units that wait go on to the next empty night'
        else format('battalion %s is withdrawn', relief.battalion)
      end
    ),
    null::text, null::text, null::integer,
    jsonb_build_object(
      'allowed', cardinality(bars) = 0,
      'withdrawn', (select coalesce(jsonb_agg(unit.code order by unit.code), '[]') from unnest(gone) as unit),
      'due', due,
      'space', next_space,
      'open', (
        select coalesce(jsonb_agg(distinct hex.label), '[]')
        from public.hex
        where hex.map_id = state.map_id
          and hex.terrain not in ('shallow', 'sea')
          and exists (
            select from unnest(gone) as unit where lattice.distance(unit.q, unit.r, hex.q, hex.r) <= 2
          )
          and not exists (select from ddp._occupants(state) as held where held.q = hex.q and held.r = hex.r)
          and (
            exists (select from unnest(gone) as unit where unit.q = hex.q and unit.r = hex.r)
            or not exists (
              select from ddp._field_dots(state, 'us_communication') as dot where dot.q = hex.q and dot.r = hex.r
            )
          )
      )
    );
end
$$;

comment on function ddp.relief(bigint, text, jsonb, jsonb) is
'Who is withdrawn and who comes, where they may be placed, and in which space the withdrawn wait (18.37): the verdict last.';

create or replace function ddp.reorganization(
  position_id bigint, colors text[], conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 6
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  state positions.state;
begin
  select * into state from positions.state(reorganization.position_id, reorganization.conditions, reorganization.policy);
  return query
  select
    '18.21', null::text, held.label, 'returns',
    format('%s in %s, %s', held.code, held.place, held.color),
    null::text, held.code, null::integer,
    jsonb_build_object(
      'code', held.code, 'label', held.label, 'fortification', held.fortification, 'depth', held.attributes ? 'depth'
    )
  from ddp._occupants(state) as held
  inner join public.hex on hex.map_id = state.map_id and held.q = hex.q and held.r = hex.r
  where held.color = any(reorganization.colors)
    and hex.terrain = 'mountain'
    and exists (
      select from ddp._occupants(state) as works where works.q = held.q and works.r = held.r and works.fortification
    )
    and (not held.fortification or held.attributes ? 'depth')
  order by held.label, held.fortification, held.code;
end
$$;

comment on function ddp.reorganization(bigint, text[], jsonb, jsonb) is
'The Japanese units and depth markers that leave fortified mountain positions of the colours on a card by night (18.21).';
