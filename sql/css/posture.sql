-- needs: css/costs.sql, css/passage.sql
-- A change of posture in place in css (Guam): 6.0, 6.2.1, 8.7.5, 9.6.3, 24.2, 27.0.

create or replace function css._deploy_bars(mover css.mover, terrain text)
returns setof rulings.step
language sql stable rows 1
as $$
  select bar.rule, null, mover.label, 'forbids', bar.note, null
  from (
    values
    (
      '6.2.1',
      mover.mobility in ('wheeled', 'tracked') and terrain in ('town', 'buildings') and not mover.inside,
      format('a %s unit does not deploy in %s', mover.mobility, terrain)
    ),
    (
      '6.2.1',
      exists (
        select
        from public.path
        cross join lateral unnest(path.qs, path.rs) as link (q, r)
        where path.map_id = mover.map_id
          and path.kind = 'causeway'
          and (link.q, link.r) = (mover.q, mover.r)
      ),
      'nobody deploys on a causeway'
    ),
    (
      '8.7.5',
      exists (
        select
        from public.unit as gun
        where gun.position_id = mover.position_id
          and gun.code = any(mover.codes)
          and gun.attributes #>> '{fire,type}' = 'indirect'
      )
      and exists (
        select
        from lattice.neighbours(mover.q, mover.r) as beside
        where css._held_by(mover.position_id, mover.enemy, beside.nq, beside.nr)
      ),
      'with an enemy beside it an indirect unit stays in column'
    ),
    (
      '9.6.3',
      mover.side = 'japan' and exists (
        select
        from public.marker
        where marker.position_id = mover.position_id
          and marker.q = mover.q
          and marker.r = mover.r
          and marker.kind = 'gyokusai'
      ),
      'under a gyokusai marker nobody deploys again'
    )
  ) as bar (rule, holds, note)
  where bar.holds
$$;

comment on function css._deploy_bars(css.mover, text) is
'Where a unit may not deploy: in towns, on causeways, beside enemies, under a Gyokusai marker (6.2.1, 8.7.5, 9.6.3).';

create or replace function css._gun_steps(mover css.mover)
returns setof rulings.step
language sql stable rows 1
as $$
  -- 8.7.5, 27.0: a japanese gun that has come to be in column stays so
  select
    '27.0',
    null,
    mover.label,
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
  from public.unit as gun
  where gun.position_id = mover.position_id
    and gun.code = any(mover.codes)
    and mover.side = 'japan'
    and gun.kind = 'artillery'
    and gun.attributes ->> 'posture' = 'column'
$$;

comment on function css._gun_steps(css.mover) is
'Japanese guns in column, which do not deploy again (8.7.5, 27.0).';

create or replace function css._posture_change(mover css.mover)
returns setof rulings.move_step
language plpgsql stable rows 3
as $$
declare
  posture constant text := mover.options ->> 'posture';
  bars rulings.step[] := '{}';
  terrain text;
  verdict text;
begin
  select css._ground_at(mover.position_id, hex.terrain, hex.features, hex.q, hex.r)
  into terrain
  from public.hex
  where hex.map_id = mover.map_id and hex.q = mover.q and hex.r = mover.r;
  if posture = 'deployed' then
    bars := array(
      select bar from css._deploy_bars(mover, terrain) as bar
      union all
      select bar from css._gun_steps(mover) as bar
    );
  elsif mover.kind = 'ambush' then
    bars := array[
      row('24.2', null, mover.label, 'forbids', 'an ambush unit is always deployed', null)::rulings.step
    ];
  end if;
  return query
  select bar.*, null::integer, null::integer, null::text
  from unnest(bars) as bar;
  verdict := case
    when exists (select from unnest(bars) as bar where bar.effect = 'forbids') then 'illegal'
    when exists (select from unnest(bars) as bar where bar.effect = 'unknown') then 'unknown'
    else 'legal'
  end;
  if verdict = 'legal'
    and posture = 'deployed'
    and terrain = 'mangrove_swamp'
    and not mover.inside
    and css._dg_at(mover.position_id, mover.q, mover.r, mover.inside) < 2 then
    return next row(
      '6.2.1', null, mover.label, 'places dg', 'deploying in a mangrove swamp is at least DG2', null, 4, null, null
    )::rulings.move_step;
  end if;
  return next row(
    '6.0',
    null,
    mover.label,
    verdict,
    coalesce(
      (
        select bar.note
        from unnest(bars) with ordinality as bar
        where bar.effect <> 'passes'
        order by bar.effect <> 'forbids', bar.ordinality
        limit 1
      ),
      format('it changes to %s', posture)
    ),
    null,
    0,
    null,
    null
  )::rulings.move_step;
end
$$;

comment on function css._posture_change(css.mover) is
'A change of posture in place: where a unit may not deploy, and what deploying costs it (6.0, 6.2.1, 8.7.5).';
