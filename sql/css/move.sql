-- needs: css/walk.sql
-- Moves in css (Guam): by movement points (6.0), and without: landing (22.1), the advance after an assault (9.4),
-- artillery that shifts by night (27.0), a change of posture (6.0).

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

create or replace function css._step_changes(
  position_id bigint,
  side text,
  codes text[],
  now jsonb,
  readings jsonb,
  aq integer,
  ar integer,
  bq integer,
  br integer,
  here text,
  there text,
  inside boolean,
  was integer,
  dgs jsonb
)
returns table (
  rule text,
  at text,
  effect text,
  note text,
  point text,
  halves integer,
  disorder integer,
  changed jsonb,
  held text
)
language sql stable rows 3
as $$
  select
    change.rule,
    change.at,
    change.effect,
    change.note,
    case when change.effect = 'stops' then change.point end,
    change.halves,
    change.disorder,
    change.changed,
    change.held
  from css._passage(
    _step_changes.position_id, _step_changes.side, codes, now, readings, aq, ar, bq, br, here, there, inside, null, 0,
    0, was, dgs
  ) as change
  where change.effect is null or change.effect not in ('half', 'unknown', 'passes')
$$;

comment on function css._step_changes(
  bigint, text, text[], jsonb, jsonb, integer, integer, integer, integer, text, text, boolean, integer, jsonb
) is
'What happens with a step that costs no points: css._passage without what lowers points; the last row is no effect.';

create or replace function css._advance_bars(
  position_id bigint,
  side text,
  mobility text,
  units integer,
  codes text[],
  tank boolean,
  readings jsonb,
  inside boolean,
  aq integer,
  ar integer,
  bq integer,
  br integer
)
returns table (rule text, effect text, note text, point text)
language sql stable rows 1
as $$
  select '6.3', 'forbids', 'from a cave only the hex above it is assaulted', null
  where inside and (aq, ar) <> (bq, br)
  union all
  select '6.3', 'forbids', 'nobody assaults into a cave', null
  where not inside and (aq, ar) = (bq, br)
  union all
  select bar.*
  from css._step_bars(
    _advance_bars.position_id, _advance_bars.side, mobility, units, codes, inside, aq, ar, bq, br, true
  ) as bar
  where not inside or (aq, ar) = (bq, br)
  union all
  -- 9.3: who cannot enter does not assault; what is not carried stays behind or is lost
  select part.rule, part.effect, part.note, part.point
  from css._best_way(
    _advance_bars.position_id, aq, ar, bq, br, mobility, false, tank, readings, false, false, 0, _advance_bars.side
  ) as part
  where part.effect <> 'cost' and (aq, ar) <> (bq, br)
$$;

comment on function css._advance_bars(
  bigint, text, text, integer, text[], boolean, jsonb, boolean, integer, integer, integer, integer
) is
'What keeps a unit from a hex that was assaulted (6.3, 9.3).';

create or replace function css._advance(
  position_id bigint, unit text, qs integer[], rs integer[], options jsonb, conditions jsonb, policy jsonb
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
language plpgsql stable rows 4
as $$
#variable_conflict use_variable
declare
  mover record;
  verdict text := 'legal';
  why text := 'into the hex that was assaulted; it draws no fire';
  there text;
  disorder integer;
  changed jsonb;
  held text;
begin
  select * into mover from css._mover(position_id, unit, options, conditions, policy);
  if cardinality(qs) <> 2 then
    raise exception 'an advance goes one hex' using errcode = 'no_data_found';
  end if;
  select hex.label into there
  from public.hex
  where hex.map_id = mover.map_id and hex.q = qs[2] and hex.r = rs[2];
  at := there;
  for rule, effect, note, point in
    select * from css._advance_bars(
      position_id, mover.side, mover.mobility, mover.units, mover.codes, mover.tank, mover.readings, mover.inside,
      qs[1], rs[1], qs[2], rs[2]
    )
  loop
    verdict := case when effect = 'forbids' or verdict = 'illegal' then 'illegal' else 'unknown' end;
    why := note;
    return next;
  end loop;
  if verdict = 'legal' then
    return query
    select shot.rule, shot.clause, shot.at, shot.effect, shot.note, shot.point, null::integer, null::integer, shot.by
    from css._triggers(position_id, unit, qs, rs, options, conditions, policy) as shot
    union all
    select gone.rule, null, gone.at, gone.effect, gone.note, null, null, null, gone.by
    from css._left_alone(
      position_id, mover.side, mover.codes, mover.q, mover.r, mover.label, mover.inside
    ) as gone
    where not mover.inside;
    for rule, at, effect, note, point, halves, disorder, changed, held in
      select * from css._step_changes(
        position_id, mover.side, mover.codes, mover.now, mover.readings, qs[1], rs[1], qs[2], rs[2], mover.label,
        there, mover.inside, css._dg_at(position_id, mover.q, mover.r, mover.inside), '{}'
      )
    loop
      exit when effect is null;
      return next;
    end loop;
    point := null;
    for rule, at, effect, note, halves in
      select * from css._arrival(
        position_id, mover.side, mover.service, mover.codes, qs[2], rs[2], there, false, disorder, changed
      )
    loop
      verdict := case effect when 'forbids' then 'illegal' when 'unknown' then 'unknown' else verdict end;
      why := case when verdict <> 'legal' then note else why end;
      return next;
    end loop;
    halves := null;
    at := there;
  end if;
  if verdict = 'legal' and mover.weapons > 0 then
    for note in
      select hexside.kind
      from public.hexside
      where hexside.map_id = mover.map_id
        and hexside.x = qs[1] + qs[2]
        and hexside.y = rs[1] + rs[2]
        and hexside.kind in ('steep_slope', 'ridge')
    loop
      rule := '6.2.2';
      effect := 'removes';
      point := 'css-40';
      note := case
        when mover.readings ->> 'css-40' = 'b' then 'its support weapon stays behind'
        when mover.side = 'japan' and note = 'steep_slope' then 'its support weapon leaves the game'
        else 'its support weapon goes to the Reallocating box'
      end;
      why := note;
      return next;
    end loop;
  end if;
  rule := '9.4';
  effect := verdict;
  note := why;
  point := null;
  halves := 0;
  return next;
end
$$;

comment on function css._advance(bigint, text, integer[], integer[], jsonb, jsonb, jsonb) is
'The advance into a hex that was assaulted: no points, no opportunity fire (8.6, 9.4).';

create or replace function css._creep_bars(position_id bigint, unit text, now jsonb, policy jsonb)
returns table (rule text, effect text, note text)
language sql stable rows 1
as $$
  select
    held.rule,
    'forbids',
    held.note
  from positions.counter(_creep_bars.position_id, _creep_bars.unit) as counter
  cross join lateral css._holds(
    _creep_bars.position_id, counter.q, counter.r, coalesce((counter.attributes ->> 'in_cave')::boolean, false)
  ) as held
  union all
  select '4.0', 'forbids', 'the day of a tropical storm is skipped'
  where now ->> 'weather' = 'tropical_storm'
  union all
  select
    bar.rule,
    bar.effect,
    bar.note
  from positions.counter(_creep_bars.position_id, _creep_bars.unit) as counter
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
      format('whether %s fires indirectly', _creep_bars.unit)
    ),
    (
      '27.0',
      (counter.attributes ->> 'movement')::numeric is distinct from 0,
      case when counter.attributes ? 'movement' then 'forbids' else 'unknown' end,
      case
        when counter.attributes ? 'movement' then 'it can move, and does so as others do'
        else format('the movement allowance of %s', _creep_bars.unit)
      end
    ),
    (
      '27.0',
      now ->> 'time' is distinct from 'night' or (now ->> 'night')::integer = 1,
      'forbids',
      'in the second night turn only'
    ),
    ('27.0', now ->> 'time' = 'night' and not now ? 'night', 'unknown', 'which night turn it is'),
    (
      '27.0',
      exists (
        select
        from css.side_zone(_creep_bars.position_id, 'us', now, policy) as zone
        where (zone.q, zone.r) = (counter.q, counter.r)
      ),
      'forbids',
      'it stands in an American fire zone'
    ),
    (
      '6.3',
      coalesce((counter.attributes ->> 'in_cave')::boolean, false),
      'forbids',
      'only a column comes out of a cave'
    )
  ) as bar (rule, holds, effect, note)
  where bar.holds
$$;

comment on function css._creep_bars(bigint, text, jsonb, jsonb) is
'What keeps a gun from shifting by night (27.0).';

create or replace function css._creep(
  position_id bigint, unit text, qs integer[], rs integer[], options jsonb, conditions jsonb, policy jsonb
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
language plpgsql stable rows 4
as $$
#variable_conflict use_variable
declare
  mover record;
  verdict text := 'legal';
  why text := 'artillery shifts by night, without going into column';
  here text;
  there text;
  disorder integer;
  changed jsonb := '{}';
  held text;
begin
  select * into mover from css._mover(position_id, unit, options, conditions, policy);
  at := mover.label;
  for rule, effect, note in select * from css._creep_bars(position_id, unit, mover.now, policy) loop
    verdict := case when effect = 'forbids' or verdict = 'illegal' then 'illegal' else 'unknown' end;
    why := note;
    return next;
  end loop;
  there := mover.label;
  disorder := css._dg_at(position_id, mover.q, mover.r, false);
  for n in 2..cardinality(qs) loop
    exit when verdict <> 'legal';
    here := there;
    select hex.label into there
    from public.hex
    where hex.map_id = mover.map_id and hex.q = qs[n] and hex.r = rs[n];
    at := there;
    for rule, effect, note, point in
      select '27.0', 'forbids', 'two hexes and no more', null::text
      where n > 3
      union all
      select '27.0', 'forbids', held, null
      where held is not null
      union all
      select * from css._step_bars(
        position_id, mover.side, 'leg', mover.units, mover.codes, false,
        qs[n - 1], rs[n - 1], qs[n], rs[n], n = 2
      )
      union all
      select part.rule, part.effect, part.note, part.point
      from css._best_way(
        position_id, qs[n - 1], rs[n - 1], qs[n], rs[n], 'leg', false, false,
        mover.readings, false, false, 0, mover.side
      ) as part
      where part.effect <> 'cost'
      union all
      select '27.0', 'forbids', 'in an American fire zone', null::text
      from css.side_zone(position_id, 'us', mover.now, policy) as zone
      where (zone.q, zone.r) = (qs[n], rs[n])
      limit 1
    loop
      verdict := case when effect = 'forbids' or verdict = 'illegal' then 'illegal' else 'unknown' end;
      why := note;
      return next;
    end loop;
    exit when verdict <> 'legal';
    for rule, at, effect, note, point, halves, disorder, changed, held in
      select * from css._step_changes(
        position_id, mover.side, mover.codes, mover.now, mover.readings, qs[n - 1], rs[n - 1], qs[n], rs[n],
        here, there, false, disorder, changed
      )
    loop
      exit when effect is null;
      return next;
    end loop;
    halves := null;
  end loop;
  point := null;
  if verdict = 'legal' then
    for rule, at, effect, note, halves in
      select * from css._arrival(
        position_id, mover.side, mover.service, mover.codes, qs[cardinality(qs)], rs[cardinality(rs)], there, false,
        disorder, changed
      )
    loop
      verdict := case effect when 'forbids' then 'illegal' when 'unknown' then 'unknown' else verdict end;
      why := case when verdict <> 'legal' then note else why end;
      return next;
    end loop;
  end if;
  at := there;
  rule := '27.0';
  effect := verdict;
  note := why;
  point := null;
  halves := 0;
  return next;
end
$$;

comment on function css._creep(bigint, text, integer[], integer[], jsonb, jsonb, jsonb) is
'Japanese artillery that shifts two hexes in the second night turn (27.0, printed under 26.0).';

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
