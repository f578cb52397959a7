-- needs: css/fan.sql, positions/state.sql, positions/viewshed.sql
-- Fire zones in css (Guam): 2.0, 6.3, 7.1.2, 7.2, 8.1, 8.3.6, 8.7, 8.7.2, 8.7.7, 10.2.1, 17.0, 22.3.1.
--
-- `css._armed` tells of every unit how far it fires as things stand, and what makes it so;
-- zones, their reasons and the triggers of opportunity fire are told from its rows. A hex
-- is in a zone if it is that near and seen. Adjacent hexes are always seen (7.1.2), so only
-- units that fire farther, or out of a cave, look around themselves: into the viewshed cache
-- where the question is about the position as it stands, else by css.fan.

create or replace function css._shown(attributes jsonb)
returns jsonb
language sql immutable parallel safe
return case
  when attributes ->> 'posture' = 'column' and jsonb_typeof(attributes -> 'column') = 'object'
    then attributes || jsonb_strip_nulls(attributes -> 'column')
  else attributes
end;

comment on function css._shown(jsonb) is
'What a counter says on the side on which it lies: in Column the numbers of its Column side, where they differ.';

create or replace function css._is_unit(kind text)
returns boolean
language sql immutable parallel safe
return coalesce(kind not in ('leader', 'hero', 'support_weapon', 'truck'), true);

comment on function css._is_unit(text) is
'Whether a counter is a Unit; Leaders, Heroes, Support Weapons and trucks are Markers (2.0).';

create or replace function css._fire_side(kind text, posture text, fire jsonb)
returns text
language sql immutable parallel safe
return case
  when not css._is_unit(kind) then 'marker'
  when fire is null then 'untold'
  -- 8.7: artillery that fires Small Arms shows the Column side of an indirect unit
  when fire ->> 'type' = 'indirect' or (kind = 'artillery' and fire ->> 'type' = 'small_arms') then
    case
      when posture is null and fire ->> 'type' = 'indirect' then 'indirect, posture untold'
      when posture = 'deployed' and fire ->> 'type' = 'indirect' then 'indirect, deployed'
      when fire ->> 'type' = 'indirect' then 'indirect, column, range untold'
      else 'indirect, column'
    end
  else 'direct'
end;

comment on function css._fire_side(text, text, jsonb) is
'Which kind of fire a counter shows: direct; indirect with its posture; none, being a marker; or untold.';

create or replace function css._printed_reach(fire_side text, range integer, reading text)
returns integer
language sql immutable parallel safe
return case
  when fire_side in ('marker', 'indirect, deployed') then 0
  when fire_side = 'direct' then range
  when fire_side = 'untold' then null
  -- css-47: an indirect unit in Column
  when reading = 'c' then 0
  when fire_side = 'indirect, posture untold' then null
  when reading = 'a' then 1
  when fire_side = 'indirect, column' then range
end;

comment on function css._printed_reach(text, integer, text) is
'How far a unit fires by its counter alone: 0 has no Fire Zone, null is not told.';

drop type if exists css.armed cascade;
create type css.armed as (
  code text,
  side text,
  map_id bigint,
  q integer,
  r integer,
  label text,
  in_cave boolean,
  posture text,
  fire_side text,
  range integer,
  ready integer,
  reach integer,
  most integer,
  suppressed boolean,
  concentrated boolean,
  barraged boolean,
  bombarded boolean,
  beset_by text,
  over_cave boolean
);

comment on type css.armed is
'A unit that may fire: where it stands, how far it fires, and what makes it so.';
comment on column css.armed.fire_side is 'The kind of fire that its counter shows: css._fire_side';
comment on column css.armed.range is 'How far it fires by its counter (8.1)';
comment on column css.armed.ready is
'How far it fires, if no marker forbids it to fire; 0 is not at all, null is not told';
comment on column css.armed.reach is 'How far it fires as things stand';
comment on column css.armed.most is 'How far it may fire, where `ready` is not told';
comment on column css.armed.beset_by is 'An enemy unit beside it (7.2)';
comment on column css.armed.over_cave is 'Whether an enemy is inside the cave on which it stands (6.3)';

create or replace function css._fire_marks(position_id bigint)
returns table (q integer, r integer, suppressed boolean, suppressed_inside boolean, concentrated boolean)
language sql stable rows 10
as $$
  select
    marker.q,
    marker.r,
    -- 6.3: inside a cave is a place of its own
    bool_or(marker.kind = 'suppressed' and not inside.a_cave),
    bool_or(marker.kind = 'suppressed' and inside.a_cave),
    bool_or(marker.kind = 'concentrated_fire')
  from public.marker
  cross join lateral (
    select coalesce((marker.attributes ->> 'in_cave')::boolean, false) as a_cave
  ) as inside
  where marker.position_id = _fire_marks.position_id
    and marker.kind in ('suppressed', 'concentrated_fire')
  group by marker.q, marker.r
$$;

comment on function css._fire_marks(bigint) is
'Hexes whose units are Suppressed (10.2.1), outside or inside of the cave there, or have used Concentrated Fire (8.3.6).';

create or replace function css._beset_hexes(position_id bigint, moving text[])
returns table (q integer, r integer, side text, enemy text, over_cave boolean)
language sql stable rows 100
as $$
  select
    enemy.q + step.dq,
    enemy.r + step.dr,
    enemy.side,
    min(enemy.code),
    bool_or(step.dq = 0 and step.dr = 0 and (enemy.attributes ->> 'in_cave')::boolean)
  from public.unit as enemy
  cross join (
    values (0, 0), (0, -1), (1, -1), (1, 0), (0, 1), (-1, 1), (-1, 0)
  ) as step (dq, dr)
  where enemy.position_id = _beset_hexes.position_id
    and enemy.q is not null
    and css._is_unit(enemy.kind)
    and enemy.code <> all(_beset_hexes.moving)
  group by 1, 2, 3
$$;

comment on function css._beset_hexes(bigint, text[]) is
'Every hex beside units of a side, their own included (who is inside a cave may have enemies on top of it); those that are moving beset nobody.';

create or replace function css._armed(
  position_id bigint, side text, unit text, moving text[], readings jsonb
)
returns setof css.armed
language sql stable rows 50
as $$
  with marked as materialized (
    select * from css._fire_marks(_armed.position_id)
  ),
  beside as materialized (
    select * from css._beset_hexes(_armed.position_id, _armed.moving)
  )
  select
    counter.code,
    counter.side,
    counter.map_id,
    counter.q,
    counter.r,
    hex.label,
    here.in_cave,
    counter.attributes ->> 'posture',
    here.fire_side,
    here.range,
    shot.ready,
    case when here.suppressed or marked.concentrated then 0 else shot.ready end,
    shot.most,
    here.suppressed,
    coalesce(marked.concentrated, false),
    here.barraged,
    coalesce(css._spot(counter.q, counter.r) = any(mark.bombarded), false),
    beside.enemy,
    coalesce(beside.over_cave, false)
  from public.unit as counter
  cross join css._marked(_armed.position_id) as mark
  left join public.hex on hex.map_id = counter.map_id and hex.q = counter.q and hex.r = counter.r
  left join marked on marked.q = counter.q and marked.r = counter.r
  -- 3.2: as the side shows on which it lies
  cross join lateral (select css._shown(counter.attributes) -> 'fire' as fire offset 0) as shown
  cross join lateral (
    select
      coalesce((counter.attributes ->> 'in_cave')::boolean, false) as in_cave,
      css._fire_side(counter.kind, counter.attributes ->> 'posture', shown.fire) as fire_side,
      -- 8.1: no range on the counter is a range of one
      coalesce((shown.fire ->> 'range')::integer, 1) as range,
      coalesce(css._spot(counter.q, counter.r) = any(mark.barraged), false) as barraged,
      coalesce(
        case
          when (counter.attributes ->> 'in_cave')::boolean then marked.suppressed_inside
          else marked.suppressed
        end,
        false
      )
      -- css-78: a marker of its own
      or coalesce((counter.attributes ->> 'suppressed')::boolean, false) as suppressed
    -- worked out once a unit, not where it is used
    offset 0
  ) as here
  left join beside on beside.q = counter.q and beside.r = counter.r and beside.side <> counter.side
  cross join lateral (
    select
      case
        when counter.q is null then 0
        when printed.reach is null then null
        else least(printed.reach, limits.one)
      end as ready,
      -- 7.1.2: nothing is seen farther than 8; css-47 a: an indirect unit has one hex, or none
      coalesce(
        limits.one,
        case
          when here.fire_side = 'indirect, posture untold' and _armed.readings ->> 'css-47' = 'a' then 1
          else 8
        end
      ) as most
    from (
      select css._printed_reach(here.fire_side, here.range, _armed.readings ->> 'css-47') as reach
    ) as printed
    cross join (
      select case when here.barraged or beside.enemy is not null then 1 end as one
    ) as limits
  ) as shot
  where counter.position_id = _armed.position_id
    and (_armed.side is null or counter.side = _armed.side)
    and (_armed.unit is null or counter.code = _armed.unit)
$$;

comment on function css._armed(bigint, text, text, text[], jsonb) is
'How far the units of a side (or one unit) fire, and why; those that are moving beset nobody.';

create or replace function css._naval_zones(
  position_id bigint, side text, unit text, readings jsonb, conditions jsonb, policy jsonb
)
returns table (by text, run text, q integer, r integer, label text, range integer, sight text)
language plpgsql stable rows 4
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  -- most positions have none: ask no more than that
  if not exists (
    select
    from public.unit as landing
    where landing.position_id = _naval_zones.position_id
      and landing.q is null
      and landing.attributes -> 'zone' ->> 'run' in ('final_run_in', 'approach')
  ) then
    return;
  end if;
  return query
  select
    armed.code,
    zone.run,
    beach.q,
    beach.r,
    beach.label,
    counted.range,
    case
      -- css-64: at its beach hex (22.3.1), or always (7.1.2)
      when _naval_zones.readings ->> 'css-64' = 'b' then 'visible'
      else (
        select los.effect
        from css.los(
          _naval_zones.position_id, 'unit:' || armed.code, 'hex:' || beach.label, _naval_zones.conditions, _naval_zones.policy
        ) as los
        where los.effect in ('visible', 'blocked', 'unknown')
        order by los.effect = 'unknown'
        limit 1
      )
    end
  from (
    select distinct
      landing.map_id,
      landing.side,
      landing.attributes -> 'zone' ->> 'beach' as beach,
      landing.attributes -> 'zone' ->> 'run' as run
    from public.unit as landing
    where landing.position_id = _naval_zones.position_id
      and landing.q is null
      and landing.attributes -> 'zone' ->> 'run' in ('final_run_in', 'approach')
  ) as zone
  inner join public.hex as beach on beach.map_id = zone.map_id and beach.label = zone.beach
  inner join css._armed(
    _naval_zones.position_id, _naval_zones.side, _naval_zones.unit, '{}', _naval_zones.readings
  ) as armed on armed.side <> zone.side
  cross join lateral (
    select
      lattice.distance(armed.q, armed.r, beach.q, beach.r)
      + css._naval_hexes(zone.run) as range
  ) as counted
  where counted.range <= armed.reach;
end
$$;

comment on function css._naval_zones(bigint, text, text, jsonb, jsonb, jsonb) is
'Naval zones of the enemy within range, and whether they are seen: visible, blocked or unknown (22.3.1).';

drop type if exists css.zone_hex cascade;
create type css.zone_hex as (
  by text,
  arm text,
  q integer,
  r integer,
  label text,
  range integer
);

comment on type css.zone_hex is
'A hex in a Fire Zone, and whose.';
comment on column css.zone_hex.arm is 'unit; or the naval zone off that beach hex, final_run_in or approach (22.3.1)';

create or replace function css._as_it_stands(position_id bigint, conditions jsonb, policy jsonb)
returns boolean
language plpgsql stable
as $$
begin
  return (
    select
      coalesce(_as_it_stands.conditions, position.conditions) = position.conditions
      and coalesce(_as_it_stands.policy, position.policy) = position.policy
    from public.position
    where position.id = _as_it_stands.position_id
  );
end
$$;

comment on function css._as_it_stands(bigint, jsonb, jsonb) is
'Whether a position is asked about under its own conditions and policy: what was seen is then in the viewshed cache.';

create or replace function css._looks(armed css.armed)
returns boolean
language sql immutable parallel safe
-- 6.3: out of a cave not every adjacent hex is seen
return armed.reach > 1 or (armed.in_cave and armed.reach > 0);

comment on function css._looks(css.armed) is
'Whether a unit must look around itself: it fires farther than to adjacent hexes, which are always seen (7.1.2), or out of a cave.';

create or replace function css._near_zone(armed css.armed[])
returns setof css.zone_hex
language sql stable rows 100
as $$
  select
    unit.code,
    'unit',
    hex.q,
    hex.r,
    hex.label,
    1
  from unnest(armed) as unit
  cross join (
    values (0, -1), (1, -1), (1, 0), (0, 1), (-1, 1), (-1, 0)
  ) as step (dq, dr)
  inner join public.hex
    on hex.map_id = unit.map_id and hex.q = unit.q + step.dq and hex.r = unit.r + step.dr
  where not css._looks(unit)
  union all
  -- 6.3: who is in a cave and who stands on it are one hex apart
  select
    unit.code,
    'unit',
    unit.q,
    unit.r,
    unit.label,
    1
  from unnest(armed) as unit
  where unit.in_cave or unit.over_cave
$$;

comment on function css._near_zone(css.armed[]) is
'Hexes in the Fire Zones of units that nobody need look at: those beside who fires no farther, and its own over or under a cave.';

-- What is kept is read at once for all units; only who is not in the cache looks, one by one.
create or replace function css._kept_zone(position_id bigint, armed css.armed[])
returns setof css.zone_hex
language sql stable rows 1000
as $$
  select
    unit.code,
    'unit',
    seen.q,
    seen.r,
    seen.label,
    seen.range
  from unnest(armed) as unit
  inner join public.viewshed as kept
    on kept.position_id = _kept_zone.position_id
      and kept.viewer = 'unit:' || unit.code
      -- 7.1.2: nothing is seen farther
      and kept.radius = least(unit.reach, 8)
  cross join lateral unnest(kept.qs, kept.rs, kept.labels, kept.ranges) as seen (q, r, label, range)
  where css._looks(unit)
  union all
  select
    unit.code,
    'unit',
    seen.q,
    seen.r,
    seen.label,
    seen.range
  from unnest(armed) as unit
  cross join lateral positions.viewshed(_kept_zone.position_id, 'unit:' || unit.code, least(unit.reach, 8)) as seen
  where css._looks(unit)
    and not exists (
      select
      from public.viewshed as kept
      where kept.position_id = _kept_zone.position_id
        and kept.viewer = 'unit:' || unit.code
        and kept.radius = least(unit.reach, 8)
    )
$$;

comment on function css._kept_zone(bigint, css.armed[]) is
'Hexes that units see as far as they fire, as things stand: from the viewshed cache.';

-- The plan takes longer to make than to run: it is made once a session.
create or replace function css._zone(
  position_id bigint, side text, unit text, conditions jsonb, policy jsonb
)
returns setof css.zone_hex
language plpgsql stable rows 1000
set plan_cache_mode = force_generic_plan
as $$
declare
  readings jsonb := positions.readings(_zone.position_id, _zone.policy);
  armed css.armed[] := array(
    select counter
    from css._armed(_zone.position_id, _zone.side, _zone.unit, '{}', readings) as counter
    where counter.reach > 0
  );
begin
  return query
  select * from css._near_zone(armed);
  if css._as_it_stands(_zone.position_id, _zone.conditions, _zone.policy) then
    return query
    select * from css._kept_zone(_zone.position_id, armed);
  else
    return query
    select
      looking.code,
      'unit',
      seen.*
    from unnest(armed) as looking
    cross join lateral css.fan(
      _zone.position_id, 'unit:' || looking.code, least(looking.reach, 8), _zone.conditions, _zone.policy
    ) as seen
    where css._looks(looking);
  end if;
  return query
  select
    naval.by,
    naval.run,
    naval.q,
    naval.r,
    naval.label,
    naval.range
  from css._naval_zones(_zone.position_id, _zone.side, _zone.unit, readings, _zone.conditions, _zone.policy) as naval
  where naval.sight = 'visible';
end
$$;

comment on function css._zone(bigint, text, text, jsonb, jsonb) is
'The Fire Zones of a side or of one unit: a row for each unit and hex.';

create or replace function css.side_zone(
  position_id bigint, side text, conditions jsonb default null, policy jsonb default null
)
returns setof css.zone_hex
language sql stable rows 1000
as $$
  select *
  from css._zone(
    side_zone.position_id, coalesce(side_zone.side, ''), null, side_zone.conditions, side_zone.policy
  )
$$;

comment on function css.side_zone(bigint, text, jsonb, jsonb) is
'The Fire Zones of all units of a side: a row for each unit and hex; arm is unit, or the naval zone off that beach.';

create or replace function css.fire_zone(
  position_id bigint, unit text, conditions jsonb default null, policy jsonb default null
)
returns setof css.zone_hex
language sql stable rows 50
as $$
  select *
  from css._zone(
    fire_zone.position_id,
    null,
    (positions._asked_counter(fire_zone.position_id, fire_zone.unit)).code,
    fire_zone.conditions,
    fire_zone.policy
  )
$$;

comment on function css.fire_zone(bigint, text, jsonb, jsonb) is
'Every hex that a unit could fire into; arm is unit, or the naval zone off that beach hex (final_run_in, approach).';

drop type if exists css.zone_step cascade;
create type css.zone_step as (
  code text,
  n integer,
  step rulings.step
);

comment on type css.zone_step is
'A step about the Fire Zone of a unit; the steps of a zone are told in the order of n.';

create or replace function css._counter_steps(armed css.armed[], conditions jsonb)
returns setof css.zone_step
language sql immutable rows 10
as $$
  select
    unit.code,
    spoken.n,
    row(
      spoken.rule,
      null,
      unit.label,
      spoken.effect,
      case spoken.effect
        when 'unknown' then format(spoken.note, unit.code)
        else unit.code || ': ' || spoken.note
      end,
      spoken.point
    )::rulings.step
  from unnest(armed) as unit
  cross join lateral (select unit.fire_side <> 'marker' as is_one) as fires
  cross join lateral (
    values
    (1, unit.q is null, '7.2', 'no zone', 'it is not on the map', null),
    (2, not fires.is_one, '2.0', 'no zone', 'a Marker, not a Unit', null),
    (
      3, unit.fire_side = 'direct', '8.1', 'range',
      format('fires %s, by its counter', css._hexes(unit.range)),
      null
    ),
    (4, unit.fire_side = 'indirect, deployed', '8.7', 'no zone', 'Deployed for Indirect Fire', null),
    (
      5, unit.fire_side like 'indirect, column%' and unit.ready is not null, '7.2',
      case unit.ready when 0 then 'no zone' else 'range' end,
      case unit.ready
        when 0 then 'an indirect unit has none, in Column neither'
        else 'an indirect unit in Column fires ' || css._hexes(unit.ready)
      end,
      'css-47'
    ),
    (6, unit.suppressed and fires.is_one, '10.2.1', 'no zone', 'Suppressed units cannot fire', null),
    (7, unit.concentrated and fires.is_one, '8.3.6', 'no zone', 'it has used Concentrated Fire', null),
    (
      8, unit.barraged and fires.is_one, case when unit.bombarded then '8.7.7' else '8.7.2' end, 'one hex',
      case when unit.bombarded then 'under a Bombardment' else 'under a Barrage' end, null
    ),
    (9, unit.beset_by is not null and fires.is_one, '7.2', 'one hex', unit.beset_by || ' is adjacent', null),
    (
      10, css._visibility(_counter_steps.conditions, false) < unit.reach,
      css._visibility_rule(_counter_steps.conditions), 'visibility',
      css._hexes(css._visibility(_counter_steps.conditions, false)) || ' can be seen now', null
    ),
    (
      11, unit.reach > 0 and (unit.in_cave or unit.over_cave), '6.3', 'own hex',
      'inside of a cave and on top of it are one hex apart', null
    ),
    (
      12, unit.reach is null, '7.2', 'unknown',
      case unit.fire_side
        when 'untold' then 'the fire that the counter of %s prints'
        when 'indirect, posture untold' then 'the posture of %s'
        else 'the range of the Small Arms on the Column side of %s'
      end,
      case when unit.fire_side like 'indirect%' then 'css-47' end
    )
  ) as spoken (n, speaks, rule, effect, note, point)
  where spoken.speaks
$$;

comment on function css._counter_steps(css.armed[], jsonb) is
'What makes units fire as far as they do: counters, markers, enemies beside them, how far is seen now.';

create or replace function css._sight_reasons(
  position_id bigint, armed css.armed, conditions jsonb, policy jsonb, as_it_stands boolean
)
returns setof rulings.step
language plpgsql stable rows 10
as $$
declare
  viewer text := 'unit:' || armed.code;
  -- 7.1.2: nothing is seen farther
  radius integer := least(armed.reach, 8);
begin
  if as_it_stands then
    return query
    select * from positions.viewshed_reasons(_sight_reasons.position_id, viewer, radius);
  else
    return query
    select *
    from css.fan_reasons(
      _sight_reasons.position_id, viewer, radius, _sight_reasons.conditions, _sight_reasons.policy
    );
  end if;
end
$$;

comment on function css._sight_reasons(bigint, css.armed, jsonb, jsonb, boolean) is
'What hides hexes from a unit, as far as it fires; as things stand from the viewshed cache.';

create or replace function css._hidden_steps(
  position_id bigint, armed css.armed[], conditions jsonb, policy jsonb, by_place boolean
)
returns setof css.zone_step
language sql stable rows 10
as $$
  select
    unit.code,
    13,
    row(
      hidden.rule,
      hidden.clause,
      case when _hidden_steps.by_place then hidden.at end,
      hidden.effect,
      case
        when hidden.effect = 'unknown' then format('what hides %s from %s', min(hidden.at), unit.code)
        when _hidden_steps.by_place then unit.code || ': ' || min(hidden.note)
        else format('%s: at %s', unit.code, case count(*) when 1 then min(hidden.at) else count(*) || ' places' end)
      end,
      hidden.point
    )::rulings.step
  from (
    select css._as_it_stands(_hidden_steps.position_id, _hidden_steps.conditions, _hidden_steps.policy) as as_it_stands
  ) as asked
  cross join unnest(armed) as unit
  cross join lateral css._sight_reasons(
    _hidden_steps.position_id, unit, _hidden_steps.conditions, _hidden_steps.policy, asked.as_it_stands
  ) as hidden
  where css._looks(unit)
    -- of what is not printed, only the lines that it leaves open
    and (hidden.effect <> 'unknown' or hidden.rule = '7.1.1')
    and hidden.effect <> 'visibility'
  group by
    unit.code, hidden.rule, hidden.clause, hidden.effect, hidden.point,
    case when _hidden_steps.by_place then hidden.at end
$$;

comment on function css._hidden_steps(bigint, css.armed[], jsonb, jsonb, boolean) is
'What hides hexes from units within range: every place, or of each rule in how many.';

create or replace function css._naval_zone_steps(
  position_id bigint, side text, unit text, readings jsonb, conditions jsonb, policy jsonb
)
returns setof css.zone_step
language sql stable rows 1
as $$
  select
    naval.by,
    14,
    row(
      '22.3.1',
      null,
      naval.label,
      case naval.sight when 'visible' then 'in zone' when 'blocked' then 'hides' else 'unknown' end,
      case
        when naval.sight = 'unknown' then format('whether %s sees the beach %s', naval.by, naval.label)
        else format(
          '%s: the %s off this beach is %s away%s', naval.by, replace(naval.run, '_', ' '), css._hexes(naval.range),
          case when naval.sight = 'blocked' then ', but the beach is not seen' end
        )
      end,
      'css-64'
    )::rulings.step
  from css._naval_zones(
    _naval_zone_steps.position_id, _naval_zone_steps.side, _naval_zone_steps.unit, _naval_zone_steps.readings,
    _naval_zone_steps.conditions, _naval_zone_steps.policy
  ) as naval
$$;

comment on function css._naval_zone_steps(bigint, text, text, jsonb, jsonb, jsonb) is
'Which naval zones within range can be fired into (22.3.1).';

-- The plan takes longer to make than to run: it is made once a session.
create or replace function css._zone_reasons(
  position_id bigint, side text, unit text, conditions jsonb, policy jsonb
)
returns setof rulings.step
language plpgsql stable rows 10
set plan_cache_mode = force_generic_plan
as $$
declare
  state positions.state;
  armed css.armed[];
begin
  select * into state
  from positions.state(_zone_reasons.position_id, _zone_reasons.conditions, _zone_reasons.policy);
  armed := array(
    select counter
    from css._armed(_zone_reasons.position_id, _zone_reasons.side, _zone_reasons.unit, '{}', state.readings) as counter
  );
  return query
  select (reason.step).*
  from (
    select * from css._counter_steps(armed, state.conditions)
    union all
    select *
    from css._hidden_steps(
      _zone_reasons.position_id, armed, _zone_reasons.conditions, _zone_reasons.policy, _zone_reasons.unit is not null
    )
    union all
    select *
    from css._naval_zone_steps(
      _zone_reasons.position_id, _zone_reasons.side, _zone_reasons.unit, state.readings, _zone_reasons.conditions,
      _zone_reasons.policy
    )
  ) as reason
  order by
    reason.code, reason.n, (reason.step).rule, (reason.step).clause, (reason.step).at, (reason.step).effect,
    (reason.step).point, (reason.step).note;
end
$$;

comment on function css._zone_reasons(bigint, text, text, jsonb, jsonb) is
'What makes the Fire Zones of a side or of one unit: counters, markers, enemies beside, what hides hexes.';

create or replace function css.fire_zone_reasons(
  position_id bigint, unit text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.step
language sql stable rows 10
as $$
  select *
  from css._zone_reasons(
    fire_zone_reasons.position_id, null, fire_zone_reasons.unit, fire_zone_reasons.conditions,
    fire_zone_reasons.policy
  )
$$;

comment on function css.fire_zone_reasons(bigint, text, jsonb, jsonb) is
'What makes a unit''s Fire Zone what it is: a row for every rule that speaks.';

create or replace function css.side_zone_reasons(
  position_id bigint, side text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.step
language sql stable rows 100
as $$
  select *
  from css._zone_reasons(
    side_zone_reasons.position_id, coalesce(side_zone_reasons.side, ''), null, side_zone_reasons.conditions,
    side_zone_reasons.policy
  )
$$;

comment on function css.side_zone_reasons(bigint, text, jsonb, jsonb) is
'What makes the Fire Zones of a side what they are: a row for every unit and rule that speaks.';
