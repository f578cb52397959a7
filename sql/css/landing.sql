-- needs: css/passage.sql, css/op_fire.sql
-- Landing on a beach in css (Guam): 22.0, 22.1.

create or replace function css._landing(
  position_id bigint, unit text, qs integer[], rs integer[], options jsonb, conditions jsonb, policy jsonb
)
returns setof rulings.move_step
language sql stable rows 6
as $$
  with mover as materialized (
    select
      landing.*,
      landing.zone ->> 'beach' as beach,
      hex.q as bq,
      hex.r as br,
      css._dg_at(_landing.position_id, hex.q, hex.r, false) as disorder,
      coalesce((_landing.options -> 'hits' ->> hex.label)::integer, 0) as hit
    from css._mover(
      _landing.position_id, _landing.unit, _landing.options, _landing.conditions, _landing.policy
    ) as landing
    left join public.hex on hex.map_id = landing.map_id and hex.label = landing.zone ->> 'beach'
  ),
  bar as materialized (
    select
      bar.rule,
      bar.note,
      bar.point
    from mover
    cross join lateral (
      values
      (
        '22.1',
        mover.zone ->> 'run' <> 'final_run_in',
        'from zone to zone first: only the final run-in reaches a beach',
        null
      ),
      (
        '22.1',
        (cardinality(qs), qs[1], rs[1]) is distinct from (1, mover.bq, mover.br),
        'it lands on the beach of its zone and stops there',
        null
      ),
      ('22.1', css._held_by(_landing.position_id, 'japan', mover.bq, mover.br), 'the enemy holds the beach', null),
      ('22.0', mover.weapons > 0, 'no support weapon is in a naval zone', null),
      (
        '22.1',
        exists (
          select
          from public.unit as along
          where along.position_id = _landing.position_id
            and along.code = any(mover.codes)
            and along.attributes -> 'zone' is distinct from mover.zone
        ),
        'all who land together come out of one zone',
        null
      ),
      (
        '17.0',
        mover.now ->> 'time' = 'night' and mover.readings ->> 'css-28' = 'b',
        'nobody lands at night',
        'css-28'
      ),
      ('4.0', mover.now ->> 'weather' = 'tropical_storm', 'the day of a tropical storm is skipped', null)
    ) as bar (rule, holds, note, point)
    where bar.holds
  )
  select
    bar.rule,
    null,
    mover.beach,
    'forbids',
    bar.note,
    bar.point,
    null::integer,
    null::integer,
    null
  from mover
  cross join bar
  union all
  select
    shot.rule,
    shot.clause,
    shot.at,
    shot.effect,
    shot.note,
    shot.point,
    null,
    null,
    shot.by
  from mover
  cross join lateral css._triggers(
    _landing.position_id, _landing.unit, qs, rs, _landing.options, _landing.conditions, _landing.policy
  ) as shot
  where not exists (select from bar)
  union all
  select '17.0', null, mover.beach, 'passes', 'the chit is drawn at night too', 'css-28', null, null, null
  from mover
  where mover.now ->> 'time' = 'night' and mover.readings ->> 'css-28' = 'a'
  union all
  select
    '10.2.3',
    null,
    mover.beach,
    'eliminates',
    format('%s over DG4: as many units are lost', mover.hit - 4),
    null,
    null,
    null,
    null
  from mover
  where mover.hit > 4 and not exists (select from bar)
  union all
  select
    '22.1',
    null,
    mover.beach,
    'places dg',
    'the worse of beach and landing force',
    null,
    2 * least(mover.hit, 4),
    null,
    null
  from mover
  where least(mover.hit, 4) > mover.disorder and not exists (select from bar)
  union all
  select entered.rule, null, mover.beach, entered.effect, entered.note, entered.point, null, null, null
  from mover
  cross join lateral css._entered(
    _landing.position_id, mover.side, mover.bq, mover.br, false, false, null, mover.now, mover.readings
  ) as entered
  -- it spends no points there, and stops anyway
  where entered.effect = 'roll' and not exists (select from bar)
  union all
  select
    '22.1',
    null,
    mover.beach,
    case when exists (select from bar) then 'illegal' else 'legal' end,
    coalesce((select bar.note from bar limit 1), 'it lands and stops there'),
    null,
    0,
    null,
    null
  from mover
$$;

comment on function css._landing(bigint, text, integer[], integer[], jsonb, jsonb, jsonb) is
'Landing from the Final Run-In Zone on its beach hex (22.1).';
