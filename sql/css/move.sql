-- needs: css/passage.sql, css/op_fire.sql, css/landing.sql, css/advance.sql, css/night_shift.sql, css/posture.sql
-- The move by movement points in css (Guam): 6.0, 6.2.1, 6.3; whoever moves otherwise is sent to the chapter of that.

create or replace function css._toll(
  position_id bigint,
  side text,
  mobility text,
  heavy boolean,
  tank boolean,
  readings jsonb,
  trail boolean,
  off_road boolean,
  tax integer,
  inside boolean,
  purse integer,
  aq integer,
  ar integer,
  bq integer,
  br integer,
  label text
)
returns table (way text, rule text, at text, effect text, note text, point text, halves integer)
language sql stable rows 3
as $$
  with part as materialized (
    select
      'cave' as way,
      '6.3' as rule,
      _toll.label as at,
      'cost' as effect,
      case when inside then 'out of the cave' else 'into the cave' end as note,
      null as point,
      2 as halves
    where (aq, ar) = (bq, br)
    union all
    select 'cave', '6.3', _toll.label, 'cost', 'from cave to cave, with all it has', null, purse
    where inside and (aq, ar) <> (bq, br)
    union all
    select way.*
    from css._best_way(
      _toll.position_id, aq, ar, bq, br, mobility, heavy, tank, readings, trail, off_road, tax, _toll.side
    ) as way
    where not inside and (aq, ar) <> (bq, br)
  )
  select part.*
  from part
  union all
  select
    null,
    '6.0',
    _toll.label,
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

comment on function css._toll(
  bigint, text, text, boolean, boolean, jsonb, boolean, boolean, integer, boolean, integer, integer, integer,
  integer, integer, text
) is
'What a step costs, part by part: from hex to hex, through the mouth of a cave, or from cave to cave (6.3); and
whether that is more than there is.';

create or replace function css._walk(
  position_id bigint,
  unit text,
  qs integer[],
  rs integer[],
  trail boolean,
  options jsonb,
  conditions jsonb,
  policy jsonb
)
returns table (
  rule text,
  clause text,
  at text,
  effect text,
  note text,
  point text,
  halves integer,
  remaining integer,
  by text
)
language plpgsql stable rows 20
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  mover record;
  triggers jsonb;
  verdict text := 'legal';
  why text;
  spent integer := 0;
  purse integer;
  sure boolean := true;
  held text;
  inside boolean;
  disorder integer;
  -- DG of places that the way has changed, by label
  changed jsonb := '{}';
  certain boolean;
  cost integer;
  chosen text;
  here text;
  there text;
begin
  select * into mover from css._mover(position_id, unit, options, conditions, policy);
  for rule, clause, at, effect, note, point, halves, remaining in
    select * from css._setting_out(position_id, unit, trail, options, conditions, policy)
  loop
    purse := coalesce(remaining, purse);
    sure := sure and effect <> 'unknown';
    if effect = 'forbids' and verdict <> 'illegal' then
      verdict := 'illegal';
      why := note;
    end if;
    return next;
  end loop;
  if verdict = 'legal' and (mover.movement is null or mover.mobility is null) then
    verdict := 'unknown';
    why := 'what it may spend is not known';
  end if;
  here := mover.label;
  select hex.label into there
  from public.hex
  where hex.map_id = mover.map_id and hex.q = qs[2] and hex.r = rs[2];
  inside := mover.inside;
  disorder := css._dg_at(position_id, mover.q, mover.r, inside);
  select jsonb_agg(to_jsonb(shot)) into triggers
  from css._triggers(position_id, unit, qs, rs, options, conditions, policy) as shot;

  for n in 1..cardinality(qs) - 1 loop
    exit when verdict <> 'legal';
    select hex.label into there
    from public.hex
    where hex.map_id = mover.map_id and hex.q = qs[n + 1] and hex.r = rs[n + 1];
    clause := null;
    at := there;
    "by" := null;
    remaining := null;
    halves := null;
    cost := 0;

    -- what keeps it from the step
    for rule, effect, note, point in
      select * from css._step_bars(
        position_id, mover.side, mover.mobility, mover.units, mover.codes, inside,
        qs[n], rs[n], qs[n + 1], rs[n + 1], n = 1
      )
    loop
      verdict := 'illegal';
      why := coalesce(why, note);
      return next;
    end loop;
    if held is not null and verdict = 'legal' then
      verdict := 'illegal';
      why := held;
    end if;
    exit when verdict <> 'legal';

    -- what it costs
    for chosen, rule, at, effect, note, point, halves in
      select * from css._toll(
        position_id, mover.side, mover.mobility, mover.heavy, mover.tank, mover.readings, trail, mover.off_road,
        mover.tax, inside, purse, qs[n], rs[n], qs[n + 1], rs[n + 1], there
      )
    loop
      cost := cost + coalesce(halves, 0);
      if effect = 'forbids' and verdict <> 'illegal' then
        verdict := 'illegal';
        why := note;
      elsif effect = 'unknown' and verdict = 'legal' then
        verdict := 'unknown';
        why := format('not known: %s', note);
      end if;
      return next;
    end loop;
    if verdict = 'legal' and not sure then
      verdict := 'unknown';
      why := 'what it may spend is not known';
    end if;
    exit when verdict <> 'legal';
    halves := null;
    purse := purse - cost;
    spent := spent + cost;

    -- 6.0: fire falls on it in the hex it leaves, when the points are spent
    for rule, clause, at, effect, note, point, "by" in
      select shot.rule, shot.clause, shot.at, shot.effect, shot.note, shot.point, shot.by
      from jsonb_to_recordset(coalesce(triggers, '[]')) as shot (
        n integer, rule text, clause text, at text, effect text, note text, point text, by text
      )
      where shot.n = n
    loop
      return next;
    end loop;
    clause := null;
    point := null;
    for rule, at, effect, note, "by" in
      select *
      from css._left_alone(position_id, mover.side, mover.codes, mover.q, mover.r, here, inside)
      -- in the hex it comes from, once it is out of it
      where n = 1 and here <> there
    loop
      return next;
    end loop;
    "by" := null;
    for rule, at, effect, note, point, halves, remaining, purse, disorder, changed, certain, held in
      select * from css._passage(
        position_id, mover.side, mover.codes, mover.now, mover.readings, qs[n], rs[n], qs[n + 1], rs[n + 1],
        here, there, inside, chosen, coalesce((options -> 'hits' ->> here)::integer, 0), purse, disorder, changed
      )
    loop
      exit when effect is null;
      return next;
    end loop;
    sure := sure and certain;
    inside := inside <> (here = there);
    here := there;
  end loop;

  point := null;
  remaining := null;
  if verdict = 'legal' then
    for rule, at, effect, note, halves in
      select * from css._arrival(
        position_id, mover.side, mover.service, mover.codes, qs[cardinality(qs)], rs[cardinality(rs)],
        css._place(here, inside), inside, disorder, changed
      )
    loop
      verdict := case effect when 'forbids' then 'illegal' when 'unknown' then 'unknown' else verdict end;
      why := case when verdict <> 'legal' then coalesce(why, note) end;
      return next;
      exit when verdict <> 'legal';
    end loop;
  end if;
  rule := '6.0';
  at := coalesce(there, here);
  effect := verdict;
  note := coalesce(why, case when trail then 'on the trail all the way' else 'the points suffice' end);
  halves := spent;
  remaining := case when sure then purse end;
  return next;
end
$$;

comment on function css._walk(
  bigint, text, integer[], integer[], boolean, jsonb, jsonb, jsonb
) is
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

create or replace function css._keeps_to_trail(
  position_id bigint, unit text, qs integer[], rs integer[], options jsonb, conditions jsonb, policy jsonb
)
returns boolean
language sql stable
as $$
  select (array_agg(went.trail order by went.legal desc, went.far desc, went.halves, went.trail desc))[1]
  from (
    select
      tried.trail,
      bool_or(walk.effect = 'legal') as legal,
      case
        when not bool_or(walk.effect = 'legal')
          then count(*) filter (where walk.effect = 'cost' and walk.rule = '6.2.1')
      end as far,
      max(walk.halves) filter (where walk.effect = 'legal') as halves
    from (values (false), (true)) as tried (trail)
    cross join lateral css._walk(position_id, unit, qs, rs, tried.trail, options, conditions, policy) as walk
    group by tried.trail
  ) as went
$$;

comment on function css._keeps_to_trail(bigint, text, integer[], integer[], jsonb, jsonb, jsonb) is
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
  mover record;
  named record;
begin
  select * into mover from css._mover(position_id, unit, options, conditions, policy);
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
    return query select * from css._landing(position_id, unit, named.qs, named.rs, options, conditions, policy);
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
    return query select * from css._advance(position_id, unit, named.qs, named.rs, options, conditions, policy);
  elsif mover.manner = 'night_shift' then
    return query select * from css._creep(position_id, unit, named.qs, named.rs, options, conditions, policy);
  elsif cardinality(named.qs) > 1 then
    return query
    select *
    from css._walk(
      position_id, unit, named.qs, named.rs,
      not mover.off_road
      and not mover.inside
      and css._on_trail(mover.map_id, named.qs, named.rs)
      and css._keeps_to_trail(position_id, unit, named.qs, named.rs, options, conditions, policy),
      options, conditions, policy
    );
  elsif options ->> 'posture' is not null then
    return query select * from css._turn(position_id, unit, options, conditions, policy);
  else
    raise exception 'the way ends where it starts: name a hex to go to' using errcode = 'no_data_found';
  end if;
end
$$;

comment on function css.move(bigint, text, text[], jsonb, jsonb, jsonb) is
'A move hex by hex: every part of its cost, what stops, strikes or draws fire on the way; the verdict last.';
