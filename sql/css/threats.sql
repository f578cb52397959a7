-- needs: css/fire_zone.sql, rulings/step.sql
-- Who can hurt whoever is in a hex, in css: every enemy into whose Fire Zone it falls (7.2).

create or replace function css.threats(
  position_id bigint, hexes text[], side text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language sql stable rows 20
as $$
  with enemy as materialized (
    select distinct unit.side
    from public.unit
    where unit.position_id = threats.position_id and unit.side <> threats.side
  ),

  told as (
    select
      1 as part,
      array_position(threats.hexes, zone.label) as n,
      zone.range,
      '7.2' as rule,
      zone.label as at,
      'fires' as effect,
      format('%s sees %s and reaches it with %s at range %s', zone.by, zone.label, arm.words, zone.range) as note,
      null as point,
      zone.by,
      jsonb_build_object('with', arm.words, 'range', zone.range) as facts
    from enemy
    cross join lateral css.side_zone(threats.position_id, enemy.side, threats.conditions, threats.policy) as zone
    inner join public.unit on unit.position_id = threats.position_id and unit.code = zone.by
    cross join lateral (
      select concat_ws(' ', replace(unit.attributes #>> '{fire,type}', '_', ' '), unit.attributes #>> '{fire,value}') as words
    ) as arm
    where zone.arm = 'unit' and zone.label = any(threats.hexes)
    union all
    -- whose fire is not told
    select
      2, coalesce(array_position(threats.hexes, reason.at), 0), 0,
      reason.rule, reason.at, reason.effect, reason.note, reason.point, null, null
    from enemy
    cross join lateral css.side_zone_reasons(
      threats.position_id, enemy.side, threats.conditions, threats.policy
    ) as reason
    where reason.effect = 'unknown'
  )

  select
    told.rule,
    null::text,
    told.at,
    told.effect,
    told.note,
    told.point,
    told.by,
    null::integer,
    told.facts
  from told
  order by told.part, told.n, told.range, told.by, told.rule, told.at, told.note, told.point
$$;

comment on function css.threats(bigint, text[], text, jsonb, jsonb) is
'Every enemy of a side that can fire into one of some hexes (effect fires, by whom, facts: with what, at which range), and what is not told.';
