-- needs: ccp/arms.sql, ccp/los.sql
-- Fire reach in ccp: 3.1.2, 5, 16, 19.1, F107, O27.1.3, O27.2.2, O27.2.5, O27.3, O27.3.2.
--
-- A hex is in the zone of an arm (a unit, or the weapon that it carries) within its range and
-- in sight, if it is no melee hex and Hindrance leaves the arm, firing alone, at least 1 FP.
-- Where only that last is missing the hex is told as hindered: a Fire Group or an action
-- could still fire there. A mortar also fires where an unbroken Scout sees for it.

create or replace function ccp._zone(
  position_id bigint, unit text, side text, conditions jsonb, policy jsonb
)
returns table (
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
)
language sql stable rows 200
as $$
  with stat as materialized (
    select stat.*
    from positions.state(_zone.position_id, _zone.conditions, _zone.policy) as state
    cross join lateral ccp._stats(state) as stat
  ),
  arm as materialized (
    select arm.*
    from positions.state(_zone.position_id, _zone.conditions, _zone.policy) as state
    cross join lateral ccp._arms(state) as arm
    where arm.by = _zone.unit or arm.side = _zone.side
  ),
  ground as materialized (
    select
      hex.q,
      hex.r,
      hex.label,
      hex.level::integer as level
    from public.position
    inner join public.hex on hex.map_id = position.map_id
    where position.id = _zone.position_id
  ),
  melee as materialized (
    select distinct
      stat.q,
      stat.r
    from stat
    where stat.melee
  ),
  -- O27.1.2, O27.1.3: neither mortar nor Scout is in a melee hex, and the Scout is unbroken
  eye as materialized (
    select
      arm.unit,
      arm.arm,
      arm.unit as viewer,
      arm.q,
      arm.r,
      null::text as spotter
    from arm
    where arm.barred is null
    union all
    select
      arm.unit,
      arm.arm,
      scout.id,
      scout.q,
      scout.r,
      scout.code
    from arm
    inner join stat as scout
      on scout.side = arm.side
        and scout.kind = 'scout'
        and not scout.melee
        and not coalesce((scout.attributes ->> 'broken')::boolean, false)
        and scout.id <> arm.unit
    where arm.mortar
      and arm.barred is null
  ),
  wanted as materialized (
    select distinct
      eye.viewer,
      eye.q as vq,
      eye.r as vr,
      ground.q,
      ground.r
    from eye
    inner join arm on arm.unit = eye.unit and arm.arm = eye.arm
    inner join ground
      on lattice.distance(arm.q, arm.r, ground.q, ground.r) between arm.nearest and arm.farthest
        and (ground.q <> eye.q or ground.r <> eye.r)
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
  ),
  told as materialized (
    select
      goal.viewer,
      goal.qs[step.i] as q,
      goal.rs[step.i] as r,
      step.rule,
      step.at,
      step.effect,
      step.point,
      step.hindrance
    from positions.state(_zone.position_id, _zone.conditions, _zone.policy) as state
    cross join goal
    cross join lateral ccp._line_steps(
      row(state, goal.vq, goal.vr, goal.viewer, goal.qs, goal.rs, null)::ccp.sighting
    ) as step
  ),
  -- its own sight or a Scout's, whichever is hindered less
  seen as materialized (
    select
      eye.unit,
      eye.arm,
      told.q,
      told.r,
      min(told.hindrance) as hindrance,
      bool_and(eye.spotter is not null) as spotted,
      min(eye.spotter) as spotter
    from eye
    inner join told on told.viewer = eye.viewer and told.effect = 'visible'
    group by eye.unit, eye.arm, told.q, told.r
  ),
  judged as materialized (
    select
      arm.by,
      arm.arm,
      arm.name,
      ground.q as tq,
      ground.r as tr,
      ground.label as target,
      place.away,
      seen.spotted,
      seen.spotter,
      melee.q is not null as in_melee,
      weak.rule as weak_by,
      weak.note as weak,
      case
        when (weak.rule is null) is distinct from (arm.fp > seen.hindrance) and not arm.ordnance then height.change
      end as height
    from seen
    inner join arm on arm.unit = seen.unit and arm.arm = seen.arm
    inner join ground on ground.q = seen.q and ground.r = seen.r
    cross join lateral (select lattice.distance(arm.q, arm.r, ground.q, ground.r) as away) as place
    left join melee on melee.q = ground.q and melee.r = ground.r
    -- T89.2: a higher target costs 1 FP, a lower one gives 1
    cross join lateral (select sign(arm.level - ground.level)::integer as change) as height
    left join lateral ccp._too_weak(arm.fp + height.change, seen.hindrance) as weak on not arm.ordnance
    where place.away between arm.nearest and arm.farthest
  )
  select
    0,
    judged.by,
    judged.arm,
    judged.tq,
    judged.tr,
    judged.target,
    judged.away,
    null,
    null,
    null,
    null,
    null
  from judged
  where not judged.in_melee
    and judged.weak is null
  union all
  select
    1,
    arm.by,
    arm.arm,
    null,
    null,
    null,
    fact.n,
    fact.rule,
    arm.label,
    fact.effect,
    format('%s: %s', arm.name, fact.note),
    fact.point
  from arm
  inner join stat on stat.id = arm.unit
  cross join lateral (
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
    (
      arm.barred is null and arm.arm = 'unit' and coalesce((stat.attributes ->> 'veteran')::boolean, false), 4,
      '4.1.2', '+1', 'a veteran', null
    ),
    (
      arm.barred is null and arm.arm = 'unit' and coalesce((stat.attributes ->> 'suppressed')::boolean, false), 5,
      '4.2.2', '-1', 'suppressed', null
    ),
    (arm.barred is null and arm.wire, 6, 'F107.1', '-1', 'in wire', null)
  ) as fact (holds, n, rule, effect, note, point)
  where fact.holds
  union all
  select
    2,
    null,
    null,
    null,
    null,
    null,
    -count(*)::integer,
    told.rule,
    told.at,
    case told.effect when 'blocks' then 'hides' else told.effect end,
    format(
      '%s %s%s', count(*),
      case when told.effect = 'blocks' then 'hidden hex' else 'line' end,
      case when count(*) > 1 then case when told.effect = 'blocks' then 'es' else 's' end end
    ),
    told.point
  from told
  where told.effect in ('blocks', 'assumed') or told.point is not null
  group by told.rule, told.at, told.effect, told.point
  union all
  select
    3,
    judged.by,
    judged.arm,
    null,
    null,
    null,
    judged.away,
    fact.rule,
    judged.target,
    fact.effect,
    format('%s: %s', judged.name, fact.note),
    null
  from judged
  cross join lateral (
    values
    (judged.in_melee, '19.1', 'forbids', 'a melee hex is no target'),
    (
      judged.weak is not null and not judged.in_melee, judged.weak_by, 'hindered', judged.weak
    ),
    (
      judged.height <> 0 and not judged.in_melee, 'T89.2', to_char(judged.height, 'FMSG9'),
      'height, which decides whether it has FP left'
    ),
    (
      judged.spotted and not judged.in_melee, 'O27.2.5', 'spots',
      format('seen by the Scout %s, who spots for it', judged.spotter)
    )
  ) as fact (holds, rule, effect, note)
  where fact.holds
$$;

comment on function ccp._zone(bigint, text, text, jsonb, jsonb) is
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
  from ccp._zone(
    fire_zone.position_id, fire_zone.unit, null, fire_zone.conditions, fire_zone.policy
  ) as zone
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
  from ccp._zone(
    fire_zone_reasons.position_id, fire_zone_reasons.unit, null, fire_zone_reasons.conditions,
    fire_zone_reasons.policy
  ) as zone
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
  from ccp._zone(side_zone.position_id, null, side_zone.side, side_zone.conditions, side_zone.policy) as zone
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
  from ccp._zone(
    side_zone_reasons.position_id, null, side_zone_reasons.side, side_zone_reasons.conditions,
    side_zone_reasons.policy
  ) as zone
  where zone.stage > 0
  order by
    zone.stage, zone.by, zone.arm, zone.range, zone.rule, zone.at, zone.note, zone.effect, zone.point
$$;

comment on function ccp.side_zone_reasons(bigint, text, jsonb, jsonb) is
'The rules that shape the fire reach of a side''s units.';
