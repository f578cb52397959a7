-- needs: css/passage.sql
-- A change of posture in place in css (Guam): 6.0, 6.2.1, 8.7.5, 9.6.3, 24.2, 27.0.

create or replace function css._turn(position_id bigint, unit text, options jsonb, conditions jsonb, policy jsonb)
returns setof rulings.move_step
language sql stable rows 3
as $$
  with mover as materialized (
    select
      turning.*,
      css._ground_at(_turn.position_id, hex.terrain, hex.features, hex.q, hex.r) as terrain,
      css._dg_at(_turn.position_id, turning.q, turning.r, turning.inside) as disorder,
      _turn.options ->> 'posture' = 'deployed' as deploys
    from css._mover(_turn.position_id, _turn.unit, _turn.options, _turn.conditions, _turn.policy) as turning
    inner join public.hex on hex.map_id = turning.map_id and hex.q = turning.q and hex.r = turning.r
  ),
  bar as materialized (
    select
      bar.rule,
      'forbids' as effect,
      bar.note,
      null as point
    from mover
    cross join lateral (
      values
      (
        '6.2.1',
        mover.deploys and mover.mobility in ('wheeled', 'tracked') and mover.terrain in ('town', 'buildings')
        and not mover.inside,
        format('a %s unit does not deploy in %s', mover.mobility, mover.terrain)
      ),
      (
        '6.2.1',
        mover.deploys and exists (
          select
          from public.path
          cross join lateral unnest(path.qs, path.rs) as link (q, r)
          where path.map_id = mover.map_id
            and path.kind = 'causeway'
            and (link.q, link.r) = (mover.q, mover.r)
        ),
        'nobody deploys on a causeway'
      ),
      ('24.2', not mover.deploys and mover.kind = 'ambush', 'an ambush unit is always deployed'),
      (
        '8.7.5',
        mover.deploys
        and exists (
          select
          from public.unit as gun
          where gun.position_id = _turn.position_id
            and gun.code = any(mover.codes)
            and gun.attributes #>> '{fire,type}' = 'indirect'
        )
        and exists (
          select
          from lattice.neighbours(mover.q, mover.r) as beside
          where css._held_by(
            _turn.position_id, case mover.side when 'us' then 'japan' else 'us' end, beside.nq, beside.nr
          )
        ),
        'with an enemy beside it an indirect unit stays in column'
      ),
      (
        '9.6.3',
        mover.deploys and mover.side = 'japan' and exists (
          select
          from public.marker
          where marker.position_id = _turn.position_id
            and marker.q = mover.q
            and marker.r = mover.r
            and marker.kind = 'gyokusai'
        ),
        'under a gyokusai marker nobody deploys again'
      )
    ) as bar (rule, holds, note)
    where bar.holds
    union all
    -- 8.7.5, 27.0: a japanese gun that has come to be in column stays so
    select
      '27.0',
      case
        when mover.readings ->> 'css-16' = 'a' or gun.attributes #>> '{fire,type}' = 'indirect' then 'forbids'
        when gun.attributes #>> '{fire,type}' is null then 'unknown'
        else 'passes'
      end,
      case
        when mover.readings ->> 'css-16' = 'b' and gun.attributes #>> '{fire,type}' is null
          then format('whether %s fires indirectly', gun.code)
        when mover.readings ->> 'css-16' = 'b' and gun.attributes #>> '{fire,type}' <> 'indirect'
          then 'a gun that fires directly deploys again'
        else 'a japanese gun in column never deploys again'
      end,
      'css-16'
    from mover
    inner join public.unit as gun on gun.position_id = _turn.position_id and gun.code = any(mover.codes)
    where mover.deploys
      and mover.side = 'japan'
      and gun.kind = 'artillery'
      and gun.attributes ->> 'posture' = 'column'
  ),
  said as materialized (
    select
      case
        when bool_or(bar.effect = 'forbids') then 'illegal' when bool_or(bar.effect = 'unknown') then 'unknown'
        else 'legal'
      end as verdict,
      (array_agg(bar.note order by bar.effect <> 'forbids') filter (where bar.effect <> 'passes'))[1] as why
    from bar
  )
  select bar.rule, null, mover.label, bar.effect, bar.note, bar.point, null::integer, null::integer, null
  from mover
  cross join bar
  union all
  select
    '6.2.1', null, mover.label, 'places dg', 'deploying in a mangrove swamp is at least DG2', null, 4, null, null
  from mover
  cross join said
  where mover.deploys
    and mover.terrain = 'mangrove_swamp'
    and not mover.inside
    and mover.disorder < 2
    and said.verdict = 'legal'
  union all
  select
    '6.0',
    null,
    mover.label,
    said.verdict,
    coalesce(said.why, format('it changes to %s', _turn.options ->> 'posture')),
    null,
    0,
    null,
    null
  from mover
  cross join said
$$;

comment on function css._turn(bigint, text, jsonb, jsonb, jsonb) is
'A change of posture in place: where a unit may not deploy, and what deploying costs it (6.0, 6.2.1, 8.7.5).';
