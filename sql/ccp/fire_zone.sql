-- needs: ccp/arms.sql, ccp/los.sql
-- Fire reach in ccp: 3.1.2, 5, 16, 19.1, F107, O27.1.3, O27.2.2, O27.2.5, O27.3, O27.3.2.
--
-- A hex is in the zone of an arm (a unit, or the weapon that it carries) within its range and
-- in sight, if it is no melee hex and Hindrance leaves the arm, firing alone, at least 1 FP.
-- Where only that last is missing the hex is told as hindered: a Fire Group or an action
-- could still fire there. A mortar also fires where an unbroken Scout sees for it.

drop type if exists ccp.eye cascade;
create type ccp.eye as (
  unit bigint,
  arm text,
  viewer bigint,
  q integer,
  r integer,
  spotter text
);

comment on type ccp.eye is
'Who looks for an arm: the unit itself, or a Scout who spots for its mortar.';

drop type if exists ccp.target cascade;
create type ccp.target as (
  by text,
  arm text,
  name text,
  q integer,
  r integer,
  label text,
  away integer,
  in_melee boolean,
  weak_by text,
  weak text,
  height integer,
  spotted boolean,
  spotter text
);

comment on type ccp.target is
'A hex that an arm reaches and sees: why it is no target, or its FP makes no shot there, and who spots it.';
comment on column ccp.target.height is 'What height adds to its FP, where that decides whether any is left';

drop type if exists ccp.zone_step cascade;
create type ccp.zone_step as (
  stage integer,
  by text,
  arm text,
  q integer,
  r integer,
  label text,
  range integer,
  rule text,
  at text,
  effect text,
  note text,
  point text
);

comment on type ccp.zone_step is
'A hex of a fire zone in stage 0, and the rules that made it in those after.';

create or replace function ccp._eyes(stats ccp.stat[], arms ccp.arm[])
returns setof ccp.eye
language sql immutable parallel safe rows 10
as $$
  select
    arm.unit,
    arm.arm,
    arm.unit,
    arm.q,
    arm.r,
    null
  from unnest(arms) as arm
  where arm.barred is null
  union all
  -- O27.1.2, O27.1.3: neither mortar nor Scout is in a melee hex, and the Scout is unbroken
  select
    arm.unit,
    arm.arm,
    scout.id,
    scout.q,
    scout.r,
    scout.code
  from unnest(arms) as arm
  inner join unnest(stats) as scout
    on scout.side = arm.side
      and scout.kind = 'scout'
      and not scout.melee
      and not coalesce((scout.attributes ->> 'broken')::boolean, false)
      and scout.id <> arm.unit
  where arm.mortar
    and arm.barred is null
$$;

comment on function ccp._eyes(ccp.stat[], ccp.arm[]) is
'Whose sight an arm fires by: its own, and for a mortar that of every Scout who may spot (O27.1.2, O27.1.3).';

create or replace function ccp._zone_lines(state positions.state, arms ccp.arm[], eyes ccp.eye[])
returns table (
  viewer bigint, q integer, r integer, rule text, at text, effect text, point text, hindrance integer
)
language sql stable rows 500
as $$
  with wanted as materialized (
    select distinct
      eye.viewer,
      eye.q as vq,
      eye.r as vr,
      hex.q,
      hex.r
    from unnest(eyes) as eye
    inner join unnest(arms) as arm on arm.unit = eye.unit and arm.arm = eye.arm
    inner join public.hex
      on hex.map_id = state.map_id
        and lattice.distance(arm.q, arm.r, hex.q, hex.r) between arm.nearest and arm.farthest
        and (hex.q <> eye.q or hex.r <> eye.r)
  ),
  goal as materialized (
    select
      wanted.viewer,
      wanted.vq,
      wanted.vr,
      array_agg(wanted.q order by wanted.q, wanted.r) as qs,
      array_agg(wanted.r order by wanted.q, wanted.r) as rs
    from wanted
    group by wanted.viewer, wanted.vq, wanted.vr
  )
  select
    goal.viewer,
    goal.qs[step.i],
    goal.rs[step.i],
    step.rule,
    step.at,
    step.effect,
    step.point,
    step.hindrance
  from goal
  cross join lateral ccp._line_steps(
    row(state, goal.vq, goal.vr, goal.viewer, goal.qs, goal.rs, null)::ccp.sighting
  ) as step
$$;

comment on function ccp._zone_lines(positions.state, ccp.arm[], ccp.eye[]) is
'Every rule that speaks on the lines from those who look to the hexes within range of the arms that they look for.';

create or replace function ccp._shot(arm ccp.arm, level integer, hindrance integer)
returns table (weak_by text, weak text, height integer)
language sql stable parallel safe rows 1
as $$
  select
    weak.rule,
    weak.note,
    case
      when (weak.rule is null) is distinct from (arm.fp > _shot.hindrance) and not arm.ordnance then height.change
    end
  -- T89.2: a higher target costs 1 FP, a lower one gives 1
  from (select sign(arm.level - _shot.level)::integer as change) as height
  left join lateral ccp._too_weak(arm.fp + height.change, _shot.hindrance) as weak on not arm.ordnance
$$;

comment on function ccp._shot(ccp.arm, integer, integer) is
'Why the FP of an arm makes no shot at ground of a level through a Hindrance, null where it does; and what height did to
it where that decides (O27.3.2, T89.2).';

create or replace function ccp._arm_steps(arm ccp.arm)
returns setof ccp.zone_step
language sql stable parallel safe rows 2
as $$
  select
    1,
    arm.by,
    arm.arm,
    null::integer,
    null::integer,
    null,
    fact.n,
    fact.rule,
    arm.label,
    fact.effect,
    format('%s: %s', arm.name, fact.note),
    fact.point
  from (
    values
    (arm.barred is not null, 0, arm.barred_by, 'forbids', arm.barred, null),
    (
      arm.barred is null and arm.printed is null, 1, case arm.arm when 'unit' then '3.1.2' else '5.1' end, 'unknown',
      'its range', null
    ),
    (
      arm.barred is null and arm.printed is not null, 1, case arm.arm when 'unit' then '3.1.2' else '5.1' end,
      arm.printed::text, 'the range of its counter', null
    ),
    (
      arm.barred is null and arm.nearest > 1, 2, 'O27.2.2', arm.nearest::text, 'its least range', null
    ),
    (
      arm.barred is null and arm.led <> 0, 3, case arm.arm when 'unit' then '3.3.1.2' else '3.3.1.3' end,
      to_char(arm.led, 'SG9'), 'command of leaders in its hex', null
    ),
    (
      arm.barred is null and arm.broken_leader is not null, 3,
      'O27.3.4', 'command', format('what %s, a broken leader, still commands', arm.broken_leader), 'ccp-29'
    ),
    (
      arm.barred is null and arm.untold is not null, 3,
      '3.3.1.2', 'unknown', format('the command number of %s', arm.untold), null
    ),
    (arm.barred is null and arm.veteran, 4, '4.1.2', '+1', 'a veteran', null),
    (arm.barred is null and arm.suppressed, 5, '4.2.2', '-1', 'suppressed', null),
    (arm.barred is null and arm.wire, 6, 'F107.1', '-1', 'in wire', null)
  ) as fact (holds, n, rule, effect, note, point)
  where fact.holds
$$;

comment on function ccp._arm_steps(ccp.arm) is
'How far an arm fires and what changed it, or what bars it (3.1.2, 3.3.1, 4, 5.1, O27.2.2, F107.1).';

create or replace function ccp._target_steps(target ccp.target)
returns setof ccp.zone_step
language sql stable parallel safe rows 1
as $$
  select
    0,
    target.by,
    target.arm,
    target.q,
    target.r,
    target.label,
    target.away,
    null,
    null,
    null,
    null,
    null
  where not target.in_melee
    and target.weak is null
  union all
  select
    3,
    target.by,
    target.arm,
    null,
    null,
    null,
    target.away,
    fact.rule,
    target.label,
    fact.effect,
    format('%s: %s', target.name, fact.note),
    null
  from (
    values
    (target.in_melee, '19.1', 'forbids', 'a melee hex is no target'),
    (
      target.weak is not null and not target.in_melee, target.weak_by, 'hindered', target.weak
    ),
    (
      target.height <> 0 and not target.in_melee, 'T89.2', to_char(target.height, 'FMSG9'),
      'height, which decides whether it has FP left'
    ),
    (
      target.spotted and not target.in_melee, 'O27.2.5', 'spots',
      format('seen by the Scout %s, who spots for it', target.spotter)
    )
  ) as fact (holds, rule, effect, note)
  where fact.holds
$$;

comment on function ccp._target_steps(ccp.target) is
'A hex of a zone, or why it is none though it is seen (19.1, O27.2.5, O27.3.2, T89.2).';

create or replace function ccp._zone(state positions.state, unit text, side text)
returns setof ccp.zone_step
language plpgsql stable rows 200
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  stats ccp.stat[] := array(select stat from ccp._stats(state) as stat);
  arms ccp.arm[] := array(
    select row(piece.*)::ccp.arm from ccp._arms(state) as piece where piece.by = _zone.unit or piece.side = _zone.side
  );
  eyes ccp.eye[] := array(select eye from ccp._eyes(stats, arms) as eye);
begin
  return query
  with line as materialized (
    select * from ccp._zone_lines(state, arms, eyes)
  ),
  -- its own sight or a Scout's, whichever is hindered less
  seen as materialized (
    select
      eye.unit,
      eye.arm,
      line.q,
      line.r,
      min(line.hindrance) as hindrance,
      bool_and(eye.spotter is not null) as spotted,
      min(eye.spotter) as spotter
    from unnest(eyes) as eye
    inner join line on line.viewer = eye.viewer and line.effect = 'visible'
    group by eye.unit, eye.arm, line.q, line.r
  ),
  target as materialized (
    select
      piece.by,
      piece.arm,
      piece.name,
      hex.q,
      hex.r,
      hex.label,
      place.away,
      exists (
        select from unnest(stats) as stat where stat.melee and stat.q = hex.q and stat.r = hex.r
      ) as in_melee,
      shot.weak_by,
      shot.weak,
      shot.height,
      seen.spotted,
      seen.spotter
    from seen
    inner join unnest(arms) as piece on piece.unit = seen.unit and piece.arm = seen.arm
    inner join public.hex on hex.map_id = state.map_id and hex.q = seen.q and hex.r = seen.r
    cross join lateral (select lattice.distance(piece.q, piece.r, hex.q, hex.r) as away) as place
    cross join lateral ccp._shot(piece, hex.level::integer, seen.hindrance) as shot
    where place.away between piece.nearest and piece.farthest
  )
  select step.*
  from target
  cross join lateral ccp._target_steps(target::ccp.target) as step
  union all
  select step.*
  from unnest(arms) as piece
  cross join lateral ccp._arm_steps(piece) as step
  union all
  select
    2,
    null,
    null,
    null,
    null,
    null,
    -count(*)::integer,
    line.rule,
    line.at,
    case line.effect when 'blocks' then 'hides' else line.effect end,
    format(
      '%s %s%s', count(*),
      case when line.effect = 'blocks' then 'hidden hex' else 'line' end,
      case when count(*) > 1 then case when line.effect = 'blocks' then 'es' else 's' end end
    ),
    line.point
  from line
  where line.effect in ('blocks', 'assumed') or line.point is not null
  group by line.rule, line.at, line.effect, line.point;
end
$$;

comment on function ccp._zone(positions.state, text, text) is
'The fire reach of a unit, or of all units of a side: hexes in stage 0, the rules that made them in those after.';

create or replace function ccp.fire_zone(
  position_id bigint, unit text, conditions jsonb default null, policy jsonb default null
)
returns table (by text, arm text, q integer, r integer, label text, range integer)
language plpgsql stable rows 60
as $$
#variable_conflict use_column
begin
  perform ccp._on_map(fire_zone.position_id, fire_zone.unit);
  return query
  select
    zone.by,
    zone.arm,
    zone.q,
    zone.r,
    zone.label,
    zone.range
  from positions.state(fire_zone.position_id, fire_zone.conditions, fire_zone.policy) as state
  cross join lateral ccp._zone(state, fire_zone.unit, null) as zone
  where zone.stage = 0
  order by zone.arm, zone.range, zone.q, zone.r;
end
$$;

comment on function ccp.fire_zone(bigint, text, jsonb, jsonb) is
'Every hex that a unit (arm unit) or its weapon (arm weapon) could fire at, with its range.';

create or replace function ccp.fire_zone_reasons(
  position_id bigint, unit text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.step
language plpgsql stable rows 30
as $$
#variable_conflict use_column
begin
  perform ccp._on_map(fire_zone_reasons.position_id, fire_zone_reasons.unit);
  return query
  select
    zone.rule,
    null::text,
    zone.at,
    zone.effect,
    zone.note,
    zone.point
  from positions.state(
    fire_zone_reasons.position_id, fire_zone_reasons.conditions, fire_zone_reasons.policy
  ) as state
  cross join lateral ccp._zone(state, fire_zone_reasons.unit, null) as zone
  where zone.stage > 0
  order by zone.stage, zone.arm, zone.range, zone.rule, zone.at, zone.note, zone.effect, zone.point;
end
$$;

comment on function ccp.fire_zone_reasons(bigint, text, jsonb, jsonb) is
'The rules that shape a unit''s fire reach: its range and what changed it, what hides hexes, what bars or hinders fire.';

create or replace function ccp.side_zone(
  position_id bigint, side text, conditions jsonb default null, policy jsonb default null
)
returns table (by text, arm text, q integer, r integer, label text, range integer)
language sql stable rows 300
as $$
  select
    zone.by,
    zone.arm,
    zone.q,
    zone.r,
    zone.label,
    zone.range
  from positions.state(side_zone.position_id, side_zone.conditions, side_zone.policy) as state
  cross join lateral ccp._zone(state, null, side_zone.side) as zone
  where zone.stage = 0
  order by zone.by, zone.arm, zone.range, zone.q, zone.r
$$;

comment on function ccp.side_zone(bigint, text, jsonb, jsonb) is
'The fire reach of every unit of a side: the rows of ccp.fire_zone for all of them.';

create or replace function ccp.side_zone_reasons(
  position_id bigint, side text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.step
language sql stable rows 100
as $$
  select
    zone.rule,
    null::text,
    zone.at,
    zone.effect,
    zone.note,
    zone.point
  from positions.state(
    side_zone_reasons.position_id, side_zone_reasons.conditions, side_zone_reasons.policy
  ) as state
  cross join lateral ccp._zone(state, null, side_zone_reasons.side) as zone
  where zone.stage > 0
  order by
    zone.stage, zone.by, zone.arm, zone.range, zone.rule, zone.at, zone.note, zone.effect, zone.point
$$;

comment on function ccp.side_zone_reasons(bigint, text, jsonb, jsonb) is
'The rules that shape the fire reach of a side''s units.';
