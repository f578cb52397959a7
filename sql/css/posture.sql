-- needs: css/costs.sql, css/passage.sql, css/activation.sql
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
    and coalesce((gun.attributes ->> 'gun')::boolean, gun.kind = 'artillery')
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

create or replace function css.posture(
  position_id bigint, unit text, posture text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 3
as $$
#variable_conflict use_variable
declare
  state positions.state;
  asked positions.counter := positions._asked_counter(position_id, unit);
  beset boolean;
  wanted text;
  acted integer;
  changed boolean;
  bar record;
begin
  select * into state from positions.state(position_id, conditions, policy);
  beset := css._is_beset(asked);
  wanted := coalesce(posture, case when beset then 'column' end);
  acted := coalesce((state.conditions -> 'acted' ->> unit)::integer, 0);
  changed := coalesce(state.conditions -> 'changed' ? unit, false);
  for bar in
    select *
    from (
      values
      ('6.0', asked.q is null, 'it is not on the map', null),
      ('6.0', wanted is null, 'nothing forces it to change', null),
      (
        '6.0', asked.attributes ->> 'posture' = wanted,
        format('it is %s already', case wanted when 'column' then 'in Column' else 'Deployed' end), null
      ),
      (
        '6.0', not css._is_active(state, asked), 'only Active Units change between Column and Deployed', null
      ),
      (
        '6.0',
        (acted > 0 or changed or css._is_second(state.conditions, unit))
        and state.readings ->> 'css-79' = 'a' and not (beset and wanted = 'column'),
        'it changes before its first Action, once', 'css-79'
      ),
      ('15.0', asked.attributes ? 'loaded_in' and wanted = 'deployed', 'what a truck carries is in Column', null),
      (
        '8.7.5', asked.attributes ->> 'column' = 'none' and wanted = 'column' and not (beset),
        'it has no Column side', null
      )
    ) as bars (rule, holds, note, point)
    where bars.holds
  loop
    return next css._entry(bar.rule, null, 'forbids', bar.note, unit, null, bar.point, asked.label);
    return next css._sum(bar.rule, 'refused', bar.note, '{}', asked.label);
    return;
  end loop;
  if (acted > 0 or changed or css._is_second(state.conditions, unit)) and state.readings ->> 'css-79' = 'b' then
    return next css._entry('6.0', null, 'passes', 'before each Action', unit, null, 'css-79', asked.label);
  end if;
  if beset and wanted = 'column' then
    return next css._entry(
      '8.7.5', null, case when asked.attributes ->> 'column' = 'none' then 'eliminates' else 'forces' end,
      'an enemy stands beside an Active indirect unit', unit, null, null, asked.label
    );
  end if;
  return next css._sum(
    '6.0', wanted, format('it changes to %s', wanted),
    jsonb_build_object(
      'at', asked.label,
      'inside', coalesce((asked.attributes ->> 'in_cave')::boolean, false),
      'posture', wanted,
      'forced', beset and wanted = 'column',
      'eliminated', beset and wanted = 'column' and asked.attributes ->> 'column' = 'none',
      'changed', coalesce(state.conditions -> 'changed', '[]')
    ),
    asked.label
  );
end
$$;

comment on function css.posture(bigint, text, text, jsonb, jsonb) is
'Whether a unit may change its posture now, or has to; where it may deploy is judged by css.move (6.0, 8.7.5, css-79).';
