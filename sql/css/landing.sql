-- needs: css/passage.sql, css/op_fire.sql
-- Landing on a beach in css (Guam): 4.0, 10.2.3, 17.0, 22.0, 22.1.

create or replace function css._landing_bars(mover css.mover, beach public.hex, qs integer[], rs integer[])
returns setof rulings.step
language sql stable rows 1
as $$
  select bar.rule, null, mover.zone ->> 'beach', 'forbids', bar.note, bar.point
  from (
    values
    (
      '22.1',
      mover.zone ->> 'run' <> 'final_run_in',
      'from zone to zone first: only the final run-in reaches a beach',
      null
    ),
    (
      '22.1',
      (cardinality(qs), qs[1], rs[1]) is distinct from (1, beach.q, beach.r),
      'it lands on the beach of its zone and stops there',
      null
    ),
    ('22.1', css._held_by(mover.position_id, 'japan', beach.q, beach.r), 'the enemy holds the beach', null),
    ('22.0', mover.weapons > 0, 'no support weapon is in a naval zone', null),
    (
      '22.1',
      exists (
        select
        from public.unit as along
        where along.position_id = mover.position_id
          and along.code = any(mover.codes)
          and along.attributes -> 'zone' is distinct from mover.zone
      ),
      'all who land together come out of one zone',
      null
    ),
    (
      '17.0',
      mover.conditions ->> 'time' = 'night' and mover.readings ->> 'css-28' = 'b',
      'nobody lands at night',
      'css-28'
    ),
    ('4.0', mover.conditions ->> 'weather' = 'tropical_storm', 'the day of a tropical storm is skipped', null)
  ) as bar (rule, holds, note, point)
  where bar.holds
$$;

comment on function css._landing_bars(css.mover, public.hex, integer[], integer[]) is
'What keeps a unit from landing (4.0, 17.0, 22.0, 22.1).';

create or replace function css._beach_steps(mover css.mover, beach public.hex)
returns setof rulings.move_step
language plpgsql stable rows 2
as $$
declare
  step rulings.move_step;
  hit constant integer := coalesce((mover.options -> 'hits' ->> beach.label)::integer, 0);
begin
  step.at := mover.zone ->> 'beach';
  if hit > 4 then
    step.rule := '10.2.3';
    step.effect := 'eliminates';
    step.note := format('%s over DG4: as many units are lost', hit - 4);
    return next step;
  end if;
  if least(hit, 4) > css._dg_at(mover.position_id, beach.q, beach.r, false) then
    step.rule := '22.1';
    step.effect := 'places dg';
    step.note := 'the worse of beach and landing force';
    step.halves := 2 * least(hit, 4);
    return next step;
  end if;
  return query
  select entered.rule, null::text, step.at, entered.effect, entered.note, entered.point, null::integer, null::integer, null::text
  from css._entered_steps(
    mover, row(1, null, null, null, false, beach.q, beach.r, beach.label, false)::css.leg, null
  ) as entered
  -- it spends no points there, and stops anyway
  where entered.effect = 'roll';
end
$$;

comment on function css._beach_steps(css.mover, public.hex) is
'What the fire on those who land, and the markers of the beach, do to them (10.2.3, 22.1, 23.0).';

create or replace function css._landing(mover css.mover, qs integer[], rs integer[])
returns setof rulings.move_step
language plpgsql stable rows 6
as $$
declare
  beach public.hex;
  legs css.leg[] := array(select leg from css._legs(mover, qs, rs) as leg);
  bars rulings.step[];
begin
  select * into beach from public.hex where hex.map_id = mover.map_id and hex.label = mover.zone ->> 'beach';
  bars := array(select bar from css._landing_bars(mover, beach, qs, rs) as bar);
  return query
  select bar.*, null::integer, null::integer, null::text
  from unnest(bars) as bar;
  if cardinality(bars) = 0 then
    return query
    select shot.*
    from unnest(legs) as leg
    cross join lateral css._op_fire_steps(
      mover, leg, array(select gunner from css._gunners(mover, legs) as gunner)
    ) as shot;
  end if;
  if mover.conditions ->> 'time' = 'night' and mover.readings ->> 'css-28' = 'a' then
    return next row(
      '17.0', null, mover.zone ->> 'beach', 'passes', 'the chit is drawn at night too', 'css-28', null, null, null
    )::rulings.move_step;
  end if;
  if cardinality(bars) = 0 then
    return query select * from css._beach_steps(mover, beach);
  end if;
  return next row(
    '22.1',
    null,
    mover.zone ->> 'beach',
    case when cardinality(bars) > 0 then 'illegal' else 'legal' end,
    coalesce(bars[1].note, 'it lands and stops there'),
    null,
    0,
    null,
    null
  )::rulings.move_step;
end
$$;

comment on function css._landing(css.mover, integer[], integer[]) is
'Landing from the Final Run-In Zone on its beach hex (22.1).';
