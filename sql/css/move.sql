-- needs: css/costs.sql, css/passage.sql, css/op_fire.sql, css/landing.sql, css/advance.sql, css/night_shift.sql
-- needs: css/posture.sql
-- The move by movement points in css (Guam): 6.0, 6.2.1, 6.3; who moves otherwise is sent to the chapter of that.
--
-- `css._ordinary_move` goes leg by leg: what bars a leg (`css._step_bars`), what it costs (`css._toll`), who fires
-- (`css._op_fire_steps`), what happens with it (`css._passage`), and at the end `css._arrival_steps`.

create or replace function css._toll(mover css.mover, leg css.leg, trail boolean, purse integer)
returns setof css.cost
language sql stable rows 3
as $$
  with part as materialized (
    select
      'cave' as way,
      '6.3' as rule,
      leg.next_label as at,
      'cost' as effect,
      case when leg.inside then 'out of the cave' else 'into the cave' end as note,
      null as point,
      2 as halves
    where leg.inside <> leg.next_inside
    union all
    select 'cave', '6.3', leg.next_label, 'cost', 'from cave to cave, with all it has', null, purse
    where leg.inside and leg.next_inside
    union all
    select way.*
    from css._best_way(mover, leg, trail) as way
    where not leg.inside and not leg.next_inside
  )
  select part.*
  from part
  union all
  select
    null,
    '6.0',
    leg.next_label,
    'forbids',
    case
      when purse = 0 then 'no movement points are left'
      else format(
        'not enough movement points: %s needed, %s left', trim_scale(sum(part.halves) / 2.0), trim_scale(purse / 2.0)
      )
    end,
    null,
    null
  from part
  having bool_and(part.effect = 'cost') and (sum(part.halves) > purse or purse = 0)
$$;

comment on function css._toll(css.mover, css.leg, boolean, integer) is
'What a leg costs, part by part: from hex to hex, through the mouth of a cave, or from cave to cave (6.3); and'
' whether that is more than there is.';

create or replace function css._paid(standing css.standing, toll css.cost[])
returns css.standing
language plpgsql stable
as $$
declare
  after css.standing := standing;
  part css.cost;
  cost integer := 0;
begin
  foreach part in array toll loop
    cost := cost + coalesce(part.halves, 0);
    if part.effect = 'forbids' and after.verdict <> 'illegal' then
      after.verdict := 'illegal';
      after.why := part.note;
    elsif part.effect = 'unknown' and after.verdict = 'legal' then
      after.verdict := 'unknown';
      after.why := format('not known: %s', part.note);
    end if;
  end loop;
  if after.verdict = 'legal' and not after.sure then
    after.verdict := 'unknown';
    after.why := 'what it may spend is not known';
  end if;
  if after.verdict = 'legal' then
    after.purse := after.purse - cost;
    after.spent := after.spent + cost;
  end if;
  return after;
end
$$;

comment on function css._paid(css.standing, css.cost[]) is
'How a mover stands that has paid for a leg, or cannot.';

create or replace function css._leg_passage(
  mover css.mover, leg css.leg, before css.standing, trail boolean, gunners css.gunner[]
)
returns css.passage
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
declare
  standing css.standing := before;
  steps rulings.move_step[];
  toll css.cost[];
  passage css.passage;
begin
  steps := array(
    select row(bar.*, null, null, null)::rulings.move_step
    from css._step_bars(mover, leg) as bar
  );
  if cardinality(steps) > 0 or standing.held is not null then
    standing.verdict := 'illegal';
    standing.why := coalesce(steps[1].note, standing.held);
    return row(steps, standing)::css.passage;
  end if;
  toll := array(select part from css._toll(mover, leg, trail, standing.purse) as part);
  steps := array(
    select row(
      part.rule, null, part.at, part.effect, part.note, part.point, part.halves, null, null
    )::rulings.move_step
    from unnest(toll) as part
  );
  standing := css._paid(standing, toll);
  if standing.verdict <> 'legal' then
    return row(steps, standing)::css.passage;
  end if;
  -- 6.0: fire falls on it in the hex it leaves, when the points are spent
  if cardinality(gunners) > 0 then
    steps := steps || array(select step from css._op_fire_steps(mover, leg, gunners) as step);
  end if;
  -- in the hex it comes from, once it is out of it
  if leg.n = 1 and leg.inside = leg.next_inside then
    steps := steps || array(select step from css._left_alone_steps(mover) as step);
  end if;
  passage := css._passage(mover, leg, standing, toll[1].way);
  passage.steps := steps || passage.steps;
  return passage;
end
$$;

comment on function css._leg_passage(css.mover, css.leg, css.standing, boolean, css.gunner[]) is
'A leg of a move by points: what bars it, costs, draws and changes.';

create or replace function css._setting_out(mover css.mover, steps rulings.move_step[])
returns css.standing
language plpgsql stable
as $$
declare
  standing css.standing;
  step rulings.move_step;
begin
  standing.verdict := 'legal';
  standing.spent := 0;
  standing.sure := true;
  standing.disorder := css._dg_at(mover.position_id, mover.q, mover.r, mover.inside);
  standing.changed := '{}';
  foreach step in array steps loop
    standing.purse := coalesce(step.remaining, standing.purse);
    standing.sure := standing.sure and step.effect <> 'unknown';
    if step.effect = 'forbids' and standing.verdict <> 'illegal' then
      standing.verdict := 'illegal';
      standing.why := step.note;
    end if;
  end loop;
  if standing.verdict = 'legal' and (mover.movement is null or mover.mobility is null) then
    standing.verdict := 'unknown';
    standing.why := 'what it may spend is not known';
  end if;
  return standing;
end
$$;

comment on function css._setting_out(css.mover, rulings.move_step[]) is
'How a mover stands before its first leg, by the steps that tell its allowance.';

create or replace function css._ordinary_move(mover css.mover, qs integer[], rs integer[], trail boolean)
returns setof rulings.move_step
language plpgsql stable rows 20
set plan_cache_mode = force_generic_plan
as $$
declare
  legs css.leg[] := array(select leg from css._legs(mover, qs, rs) as leg);
  leg css.leg := legs[1];
  gunners css.gunner[];
  step rulings.move_step;
  steps rulings.move_step[] := array(select told from css._allowance_steps(mover, trail) as told);
  standing css.standing := css._setting_out(mover, steps);
  passage css.passage;
begin
  return query select * from unnest(steps);
  if standing.verdict = 'legal' then
    gunners := array(select gunner from css._gunners(mover, legs) as gunner);
  end if;
  for n in 1..cardinality(legs) loop
    exit when standing.verdict <> 'legal';
    leg := legs[n];
    passage := css._leg_passage(mover, leg, standing, trail, gunners);
    standing := passage.standing;
    return query select * from unnest(passage.steps);
  end loop;
  if standing.verdict = 'legal' then
    for step in select * from css._arrival_steps(mover, leg, standing) loop
      return next step;
      if step.effect in ('forbids', 'unknown') then
        standing.verdict := case step.effect when 'forbids' then 'illegal' else 'unknown' end;
        standing.why := step.note;
        exit;
      end if;
    end loop;
  end if;
  return next row(
    '6.0',
    null,
    leg.next_label,
    standing.verdict,
    coalesce(standing.why, case when trail then 'on the trail all the way' else 'the points suffice' end),
    null,
    standing.spent,
    case when standing.sure then standing.purse end,
    null
  )::rulings.move_step;
end
$$;

comment on function css._ordinary_move(css.mover, integer[], integer[], boolean) is
'A way gone hex by hex, with what every step costs, draws and changes; the verdict last.';

create or replace function css._on_trail(map_id bigint, qs integer[], rs integer[])
returns boolean
language sql stable
as $$
  select cardinality(qs) > 1 and not exists (
    select
    from generate_series(1, cardinality(qs) - 1) as step (n)
    where not exists (
      select
      from public.path
      cross join lateral generate_series(1, cardinality(path.qs) - 1) as link (n)
      where path.map_id = _on_trail.map_id
        and path.kind = 'trail'
        and lattice.distance(
          _on_trail.qs[step.n], _on_trail.rs[step.n], _on_trail.qs[step.n + 1], _on_trail.rs[step.n + 1]
        ) = 1
        and path.qs[link.n] + path.qs[link.n + 1] = _on_trail.qs[step.n] + _on_trail.qs[step.n + 1]
        and path.rs[link.n] + path.rs[link.n + 1] = _on_trail.rs[step.n] + _on_trail.rs[step.n + 1]
    )
  )
$$;

comment on function css._on_trail(bigint, integer[], integer[]) is
'Whether every step of a way follows a trail (6.2.1).';

create or replace function css._keeps_to_trail(mover css.mover, qs integer[], rs integer[])
returns boolean
language sql stable
as $$
  select (array_agg(went.trail order by went.legal desc, went.far desc, went.halves, went.trail desc))[1]
  from (
    select
      tried.trail,
      bool_or(step.effect = 'legal') as legal,
      case
        when not bool_or(step.effect = 'legal')
          then count(*) filter (where step.effect = 'cost' and step.rule = '6.2.1')
      end as far,
      max(step.halves) filter (where step.effect = 'legal') as halves
    from (values (false), (true)) as tried (trail)
    cross join lateral css._ordinary_move(mover, qs, rs, tried.trail) as step
    group by tried.trail
  ) as went
$$;

comment on function css._keeps_to_trail(css.mover, integer[], integer[]) is
'Whether a unit better follows a trail all the way, for two points more, than decline it where the ground is cheap.';

create or replace function css.move(
  position_id bigint,
  unit text,
  path text[],
  options jsonb default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.move_step
language plpgsql stable rows 20
as $$
#variable_conflict use_variable
declare
  mover css.mover := css._mover(position_id, unit, options, conditions, policy);
  named record;
begin
  select
    array_agg(hex.q order by way.n) as qs,
    array_agg(hex.r order by way.n) as rs,
    array_agg(way.label order by way.n) filter (where hex.label is null) as lost
  into named
  from unnest(path) with ordinality as way (label, n)
  left join public.hex on hex.map_id = mover.map_id and hex.label = way.label;
  if named.lost is not null then
    raise exception 'there is no hex % on the map', named.lost[1] using errcode = 'no_data_found';
  end if;
  if exists (
    select
    from jsonb_object_keys(options -> 'hits') as shot (label)
    where shot.label <> all(path) and shot.label is distinct from mover.label
  ) then
    raise exception 'hits names a hex that is not on the way' using errcode = 'no_data_found';
  elsif mover.zone is null and options -> 'hits' ? path[cardinality(path)]
    and path[cardinality(path)] <> all(path[:cardinality(path) - 1] || mover.label) then
    raise exception 'hits names %, where the way ends: it is fired at in the hexes that it leaves',
      path[cardinality(path)] using errcode = 'no_data_found';
  elsif options ? 'hits' and mover.manner <> 'move' then
    raise exception 'nobody fires at an advance or a shift by night: it has no hits' using errcode = 'no_data_found';
  end if;
  if mover.zone is not null then
    return query select * from css._landing(mover, named.qs, named.rs);
    return;
  elsif mover.q is null then
    raise exception 'the unit % is not on the map', unit using errcode = 'no_data_found';
  end if;
  -- the hex it stands in may come first
  if (named.qs[1], named.rs[1]) <> (mover.q, mover.r) then
    named.qs := array_prepend(mover.q, named.qs);
    named.rs := array_prepend(mover.r, named.rs);
  end if;
  if mover.manner = 'advance' then
    return query select * from css._advance(mover, named.qs, named.rs);
  elsif mover.manner = 'night_shift' then
    return query select * from css._night_shift(mover, named.qs, named.rs);
  elsif cardinality(named.qs) > 1 then
    return query
    select *
    from css._ordinary_move(
      mover, named.qs, named.rs,
      not mover.off_road
      and not mover.inside
      and css._on_trail(mover.map_id, named.qs, named.rs)
      and css._keeps_to_trail(mover, named.qs, named.rs)
    );
  elsif options ->> 'posture' is not null then
    return query select * from css._posture_change(mover);
  else
    raise exception 'the way ends where it starts: name a hex to go to' using errcode = 'no_data_found';
  end if;
end
$$;

comment on function css.move(bigint, text, text[], jsonb, jsonb, jsonb) is
'A move hex by hex: every part of its cost, what stops, strikes or draws fire on the way; the verdict last.';
