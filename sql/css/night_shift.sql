-- needs: css/costs.sql, css/passage.sql, css/fire_zone.sql
-- Artillery that shifts by night in css (Guam): 4.0, 6.3, 27.0, printed under 26.0.

create or replace function css._night_shift_bars(mover css.mover)
returns setof rulings.step
language sql stable rows 1
as $$
  select held.rule, null, mover.label, 'forbids', held.note, null
  from css._holds(mover.position_id, mover.q, mover.r, mover.inside) as held
  union all
  select '4.0', null, mover.label, 'forbids', 'the day of a tropical storm is skipped', null
  where mover.conditions ->> 'weather' = 'tropical_storm'
  union all
  select bar.rule, null, mover.label, bar.effect, bar.note, null
  from positions.counter(mover.position_id, mover.unit) as counter
  cross join lateral (
    values
    (
      '27.0',
      counter.side <> 'japan' or counter.kind <> 'artillery',
      'forbids',
      'only japanese artillery shifts by night'
    ),
    (
      '27.0',
      counter.attributes #>> '{fire,type}' is distinct from 'indirect',
      case when counter.attributes ? 'fire' then 'forbids' else 'unknown' end,
      format('whether %s fires indirectly', mover.unit)
    ),
    (
      '27.0',
      css._allowance(counter.attributes) is distinct from 0,
      case when css._allowance(counter.attributes) is not null then 'forbids' else 'unknown' end,
      case
        when css._allowance(counter.attributes) is not null then 'it can move, and does so as others do'
        else format('the movement allowance of %s', mover.unit)
      end
    ),
    (
      '27.0',
      mover.conditions ->> 'time' is distinct from 'night' or (mover.conditions ->> 'night')::integer = 1,
      'forbids',
      'in the second night turn only'
    ),
    (
      '27.0',
      mover.conditions ->> 'time' = 'night' and not mover.conditions ? 'night',
      'unknown',
      'which night turn it is'
    ),
    (
      '27.0',
      exists (
        select
        from css.side_zone(mover.position_id, 'us', mover.conditions, mover.policy) as zone
        where (zone.q, zone.r) = (counter.q, counter.r)
      ),
      'forbids',
      'it stands in an American fire zone'
    ),
    ('6.3', mover.inside, 'forbids', 'only a column comes out of a cave')
  ) as bar (rule, holds, effect, note)
  where bar.holds
$$;

comment on function css._night_shift_bars(css.mover) is
'What keeps a gun from shifting by night (27.0).';

create or replace function css._night_leg_bars(mover css.mover, leg css.leg, held text)
returns setof rulings.step
language sql stable rows 1
as $$
  select '27.0', null, leg.next_label, 'forbids', 'two hexes and no more', null
  where leg.n > 2
  union all
  select '27.0', null, leg.next_label, 'forbids', held, null
  where held is not null
  union all
  select bar.*
  from css._step_bars(mover, leg) as bar
  union all
  select part.rule, null, leg.next_label, part.effect, part.note, part.point
  from css._best_way(mover, leg, false) as part
  where part.effect <> 'cost'
  union all
  select '27.0', null, leg.next_label, 'forbids', 'in an American fire zone', null
  from css.side_zone(mover.position_id, 'us', mover.conditions, mover.policy) as zone
  where (zone.q, zone.r) = (leg.next_q, leg.next_r)
  limit 1
$$;

comment on function css._night_leg_bars(css.mover, css.leg, text) is
'The first thing that keeps a gun from a hex by night: it goes where legs go, and under no American fire (27.0).';

create or replace function css._night_shift(asked css.mover, qs integer[], rs integer[])
returns setof rulings.move_step
language plpgsql stable rows 4
as $$
declare
  mover css.mover := asked;
  legs css.leg[] := array(select leg from css._legs(mover, qs, rs) as leg);
  leg css.leg := row(0, null, null, null, false, mover.q, mover.r, mover.label, false)::css.leg;
  step rulings.move_step;
  standing css.standing;
  passage css.passage;
  verdict text := 'legal';
  why text := 'artillery shifts by night, without going into column';
begin
  for step in select bar.*, null::integer, null::integer, null::text from css._night_shift_bars(mover) as bar loop
    verdict := case when step.effect = 'forbids' or verdict = 'illegal' then 'illegal' else 'unknown' end;
    why := step.note;
    return next step;
  end loop;
  -- every hex is one that a Leg Unit enters
  mover.mobility := 'leg';
  mover.heavy := false;
  mover.tank := false;
  mover.off_road := false;
  mover.tax := 0;
  standing.disorder := css._dg_at(mover.position_id, mover.q, mover.r, false);
  standing.changed := '{}';
  for n in 1..cardinality(legs) loop
    exit when verdict <> 'legal';
    leg := legs[n];
    leg.inside := false;
    leg.next_inside := (leg.q, leg.r) = (leg.next_q, leg.next_r);
    for step in
      select bar.*, null::integer, null::integer, null::text
      from css._night_leg_bars(mover, leg, standing.held) as bar
    loop
      verdict := case when step.effect = 'forbids' or verdict = 'illegal' then 'illegal' else 'unknown' end;
      why := step.note;
      return next step;
    end loop;
    exit when verdict <> 'legal';
    passage := css._free_passage(mover, leg, standing);
    standing := passage.standing;
    return query select * from unnest(passage.steps);
  end loop;
  if verdict = 'legal' then
    leg.next_inside := false;
    for step in select * from css._arrival_steps(mover, leg, standing) loop
      verdict := case step.effect when 'forbids' then 'illegal' when 'unknown' then 'unknown' else verdict end;
      why := case when verdict <> 'legal' then step.note else why end;
      return next step;
    end loop;
  end if;
  return next row('27.0', null, leg.next_label, verdict, why, null, 0, null, null)::rulings.move_step;
end
$$;

comment on function css._night_shift(css.mover, integer[], integer[]) is
'Japanese artillery that shifts two hexes in the second night turn (27.0, printed under 26.0).';
