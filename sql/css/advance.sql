-- needs: css/costs.sql, css/passage.sql, css/op_fire.sql
-- The advance after an assault in css (Guam): 6.2.2, 6.3, 8.6, 9.3, 9.4.

create or replace function css._advance_bars(mover css.mover, leg css.leg)
returns setof rulings.step
language sql stable rows 1
as $$
  select '6.3', null, leg.next_label, 'forbids', 'from a cave only the hex above it is assaulted', null
  where leg.inside and (leg.q, leg.r) <> (leg.next_q, leg.next_r)
  union all
  select '6.3', null, leg.next_label, 'forbids', 'nobody assaults into a cave', null
  where not leg.inside and (leg.q, leg.r) = (leg.next_q, leg.next_r)
  union all
  select bar.*
  from css._step_bars(mover, leg) as bar
  where not leg.inside or (leg.q, leg.r) = (leg.next_q, leg.next_r)
  union all
  select part.rule, null, leg.next_label, part.effect, part.note, part.point
  from css._best_way(mover, leg, false) as part
  where part.effect <> 'cost' and (leg.q, leg.r) <> (leg.next_q, leg.next_r)
$$;

comment on function css._advance_bars(css.mover, css.leg) is
'What keeps a unit from a hex that was assaulted (6.3, 9.3).';

create or replace function css._stranded_steps(mover css.mover, leg css.leg)
returns setof rulings.move_step
language sql stable rows 1
as $$
  select
    '6.2.2',
    null,
    leg.next_label,
    'removes',
    case
      when mover.readings ->> 'css-40' = 'b' then 'its support weapon stays behind'
      when mover.side = 'japan' and hexside.kind = 'steep_slope' then 'its support weapon leaves the game'
      else 'its support weapon goes to the Reallocating box'
    end,
    'css-40',
    null::integer,
    null::integer,
    null
  from public.hexside
  where hexside.map_id = mover.map_id
    and hexside.x = leg.q + leg.next_q
    and hexside.y = leg.r + leg.next_r
    and hexside.kind in ('steep_slope', 'ridge')
    and mover.weapons > 0
$$;

comment on function css._stranded_steps(css.mover, css.leg) is
'The Support Weapon that is not carried over a steep slope or ridge into the hex that was assaulted (6.2.2).';

create or replace function css._advance(asked css.mover, qs integer[], rs integer[])
returns setof rulings.move_step
language plpgsql stable rows 4
as $$
declare
  mover css.mover := asked;
  leg css.leg;
  step rulings.move_step;
  passage css.passage;
  verdict text := 'legal';
  why text := 'into the hex that was assaulted; it draws no fire';
begin
  if cardinality(qs) <> 2 then
    raise exception 'an advance goes one hex' using errcode = 'no_data_found';
  end if;
  select * into leg from css._legs(mover, qs, rs);
  -- 9.3: who cannot enter does not assault; what is not carried stays behind or is lost, and no points are spent
  mover.heavy := false;
  mover.off_road := false;
  mover.tax := 0;
  for step in select bar.*, null::integer, null::integer, null::text from css._advance_bars(mover, leg) as bar loop
    verdict := case when step.effect = 'forbids' or verdict = 'illegal' then 'illegal' else 'unknown' end;
    why := step.note;
    return next step;
  end loop;
  if verdict = 'legal' then
    return query select * from css._op_fire_steps(mover, leg, null);
    if not mover.inside then
      return query select * from css._left_alone_steps(mover);
    end if;
    passage := css._free_passage(
      mover, leg,
      row(
        verdict, null, 0, 0, true, null, css._dg_at(mover.position_id, mover.q, mover.r, mover.inside), '{}'
      )::css.standing
    );
    return query select * from unnest(passage.steps);
    for step in select * from css._arrival_steps(mover, leg, passage.standing) loop
      verdict := case step.effect when 'forbids' then 'illegal' when 'unknown' then 'unknown' else verdict end;
      why := case when verdict <> 'legal' then step.note else why end;
      return next step;
    end loop;
  end if;
  if verdict = 'legal' then
    for step in select * from css._stranded_steps(mover, leg) loop
      why := step.note;
      return next step;
    end loop;
  end if;
  return next row('9.4', null, leg.next_label, verdict, why, null, 0, null, null)::rulings.move_step;
end
$$;

comment on function css._advance(css.mover, integer[], integer[]) is
'The advance into a hex that was assaulted: no points, no opportunity fire (8.6, 9.4).';
