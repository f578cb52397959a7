-- needs: lattice/cells.sql, ddp/overnight.sql, ddp/spots.sql, rulings/step.sql
-- US control in ddp (D-Day at Peleliu): 11.1, 11.11, 11.21, 16.0.

drop type if exists ddp.controller cascade;
create type ddp.controller as (
  code text,
  kind text,
  q integer,
  r integer,
  label text,
  steps integer,
  mixed boolean,
  overnight boolean,
  pair integer,
  reach integer,
  why text
);

comment on type ddp.controller is
'A US unit and how far it controls: 1 its own hex and the six around, 0 its own alone, -1 none, null not told.';
comment on column ddp.controller.pair is 'Steps of the two strongest infantry, infantry/HQ or engineer units of its hex; null where it is not one of two';

create or replace function ddp._paired(kind text)
returns boolean
language sql immutable parallel safe
return coalesce(kind in ('infantry', 'heavy_infantry', 'infantry_hq', 'engineer'), false);

comment on function ddp._paired(text) is
'Whether a unit counts in a stack that controls around it: infantry, infantry/HQ, engineers (11.1).';

create or replace function ddp._controllers(state positions.state)
returns setof ddp.controller
language sql stable parallel safe rows 40
as $$
  with ours as materialized (
    select
      unit.code,
      unit.kind,
      unit.q,
      unit.r,
      unit.label,
      (unit.attributes ->> 'steps')::integer as steps
    from ddp._us_units(state) as unit
    where unit.kind is distinct from 'hero'
  ),

  ranked as (
    select
      ours.*,
      row_number() over (partition by ours.q, ours.r, ddp._paired(ours.kind) order by ours.steps desc nulls first) as n,
      count(*) over (partition by ours.q, ours.r, ddp._paired(ours.kind)) as stacked
    from ours
  ),

  pairs as (
    select
      ranked.q,
      ranked.r,
      case when bool_and(ranked.steps is not null) then sum(ranked.steps)::integer end as steps
    from ranked
    where ddp._paired(ranked.kind) and ranked.n <= 2 and ranked.stacked > 1
    group by ranked.q, ranked.r
  )

  select
    ranked.code,
    ranked.kind,
    ranked.q,
    ranked.r,
    ranked.label,
    ranked.steps,
    judged.mixed,
    ddp._overnight(state.conditions),
    case when ddp._paired(ranked.kind) then pairs.steps end,
    case
      when judged.mixed then -1
      when ranked.kind is null then null
      when ddp._overnight(state.conditions) then 0
      when ranked.kind in ('tank', 'amphibious_tank') then 1
      when ranked.kind in ('infantry', 'heavy_infantry') and ranked.steps >= 3 then 1
      when ddp._paired(ranked.kind) and pairs.steps >= 3 then 1
      when ranked.kind in ('infantry', 'heavy_infantry') and ranked.steps is null then null
      when ddp._paired(ranked.kind) and pairs.q is not null and pairs.steps is null then null
      else 0
    end,
    case
      when judged.mixed then 'in a hex with a Japanese unit it controls nothing'
      when ddp._overnight(state.conditions) then 'overnight its own hex alone'
      when ranked.kind in ('tank', 'amphibious_tank') then 'a tank: its hex and the six around it'
      when ranked.kind in ('infantry', 'heavy_infantry') and ranked.steps >= 3
        then format('infantry of %s steps: its hex and the six around it', ranked.steps)
      when ddp._paired(ranked.kind) and pairs.steps >= 3
        then format('two stacked units with %s steps together: the hex and the six around it', pairs.steps)
      else 'its own hex alone'
    end
  from ranked
  left join pairs on ranked.q = pairs.q and ranked.r = pairs.r
  cross join lateral (
    select exists (
      select
      from public.unit as enemy
      where enemy.position_id = state.position_id
        and enemy.side = 'japan'
        and enemy.q = ranked.q
        and enemy.r = ranked.r
    ) as mixed
  ) as judged
$$;

comment on function ddp._controllers(positions.state) is
'Every US unit with how far it controls (11.1, 11.11, 16.0).';

create or replace function ddp._controlled(state positions.state)
returns table (by text, q integer, r integer, label text)
language sql stable parallel safe rows 200
as $$
  select
    one.code,
    hex.q,
    hex.r,
    hex.label
  from ddp._controllers(state) as one
  cross join lateral (
    select one.q, one.r
    union all
    select beside.nq, beside.nr from lattice.neighbours(one.q, one.r) as beside where one.reach > 0
  ) as cell
  inner join public.hex on hex.map_id = state.map_id and hex.q = cell.q and hex.r = cell.r
  where one.reach >= 0
$$;

comment on function ddp._controlled(positions.state) is
'Every hex that a US unit controls, by unit (11.1).';

create or replace function ddp.control(
  position_id bigint, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 20
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  state positions.state;
begin
  select * into state from positions.state(control.position_id, control.conditions, control.policy);
  return query
  select
    case when one.mixed then '11.11' when one.overnight then '16.0' else '11.1' end,
    null::text,
    one.label,
    case
      when one.reach is null then 'unknown'
      when one.reach < 0 then 'controls nothing'
      when one.reach = 0 then 'controls its hex'
      else 'controls seven hexes'
    end,
    case
      when one.reach is null then format('kind and steps of %s', one.code)
      else format('%s: %s', one.code, one.why)
    end,
    null::text,
    one.code,
    null::integer,
    null::jsonb
  from ddp._controllers(state) as one
  order by one.label, one.code;
  return query
  with hex as materialized (
    select one.* from ddp._controlled(state) as one
  ),

  held as materialized (
    select one.*
    from ddp._occupants(state) as one
    where not one.fortification and (one.q, one.r) in (select hex.q, hex.r from hex)
  )

  select
    '11.21',
    null::text,
    held.label,
    'negates',
    format('%s frees its hex for Japanese communication', held.code),
    null::text,
    held.code,
    null::integer,
    null::jsonb
  from (select held.* from held order by held.label, held.code) as held
  union all
  select
    '11.1',
    null::text,
    null::text,
    'control',
    format('%s hexes in all', (select count(distinct hex.label) from hex)),
    null::text,
    null::text,
    null::integer,
    jsonb_build_object(
      'hexes', coalesce((select jsonb_agg(distinct hex.label) from hex), '[]'),
      'by',
      coalesce(
        (
          select jsonb_object_agg(mine.by, mine.labels)
          from (
            select
              hex.by,
              jsonb_agg(hex.label order by hex.label) as labels
            from hex
            group by hex.by
          ) as mine
        ),
        '{}'
      ),
      'negated', coalesce((select jsonb_agg(distinct held.label) from held), '[]')
    );
end
$$;

comment on function ddp.control(bigint, jsonb, jsonb) is
'The hexes that US units control, by unit, and those that a Japanese unit frees again (11.1, 11.11, 11.21): the verdict last.';
