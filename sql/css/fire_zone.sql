-- needs: css/fan.sql, positions/viewshed.sql
-- Fire zones in css (Guam): 2.0, 6.3, 7.1.2, 7.2, 8.1, 8.3.6, 8.7, 8.7.2, 8.7.7, 10.2.1, 17.0, 22.3.1.
--
-- `css._armed` tells of every unit how far it fires as things stand, and what makes it so;
-- zones, their reasons and the triggers of opportunity fire are told from its rows. A hex
-- is in a zone if it is that near and seen. Adjacent hexes are always seen (7.1.2), so only
-- units that fire farther, or out of a cave, look around themselves: into the viewshed cache
-- where the question is about the position as it stands, else by css.fan.

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

create or replace function css._armed(
  position_id bigint, side text, unit text, moving text[], readings jsonb
)
returns table (
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
  -- how far it fires, if no marker forbids it to fire; 0 not at all, null untold
  ready integer,
  -- how far it fires as things stand
  reach integer,
  -- how far it may fire, where ready is untold
  most integer,
  suppressed boolean,
  concentrated boolean,
  barraged boolean,
  bombarded boolean,
  -- an enemy unit beside it
  beset_by text,
  -- an enemy inside the cave on which it stands
  over_cave boolean
)
language sql stable rows 50
as $$
  with marked as materialized (
    select
      marker.q,
      marker.r,
      -- 6.3: inside a cave is a place of its own
      bool_or(marker.kind = 'suppressed' and not inside.a_cave) as suppressed,
      bool_or(marker.kind = 'suppressed' and inside.a_cave) as suppressed_inside,
      bool_or(marker.kind = 'concentrated_fire') as concentrated
    from public.marker
    cross join lateral (
      select coalesce((marker.attributes ->> 'in_cave')::boolean, false) as a_cave
    ) as inside
    where marker.position_id = _armed.position_id
      and marker.kind in ('suppressed', 'concentrated_fire')
    group by marker.q, marker.r
  ),
  -- every hex beside an enemy, its own included: who is inside a cave may have enemies on top of it
  beside as materialized (
    select
      enemy.q + step.dq as q,
      enemy.r + step.dr as r,
      enemy.side,
      min(enemy.code) as enemy,
      bool_or(step.dq = 0 and step.dr = 0 and (enemy.attributes ->> 'in_cave')::boolean) as over_cave
    from public.unit as enemy
    cross join (
      values (0, 0), (0, -1), (1, -1), (1, 0), (0, 1), (-1, 1), (-1, 0)
    ) as step (dq, dr)
    where enemy.position_id = _armed.position_id
      and enemy.q is not null
      and css._is_unit(enemy.kind)
      and enemy.code <> all(_armed.moving)
    group by 1, 2, 3
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
  cross join lateral (
    select
      coalesce((counter.attributes ->> 'in_cave')::boolean, false) as in_cave,
      css._fire_side(
        counter.kind, counter.attributes ->> 'posture', counter.attributes -> 'fire'
      ) as fire_side,
      -- 8.1: no range on the counter is a range of one
      coalesce((counter.attributes -> 'fire' ->> 'range')::integer, 1) as range,
      coalesce(css._spot(counter.q, counter.r) = any(mark.barraged), false) as barraged,
      coalesce(
        case
          when (counter.attributes ->> 'in_cave')::boolean then marked.suppressed_inside
          else marked.suppressed
        end,
        false
      ) as suppressed
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

-- The plan takes longer to make than to run: it is made once a session.
create or replace function css._zone(
  position_id bigint, side text, unit text, conditions jsonb, policy jsonb
)
returns table (by text, arm text, q integer, r integer, label text, range integer)
language plpgsql stable rows 1000
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  readings jsonb;
  as_it_stands boolean;
begin
  select
    positions.readings(position.id, _zone.policy),
    coalesce(_zone.conditions, position.conditions) = position.conditions
    and coalesce(_zone.policy, position.policy) = position.policy
  into readings, as_it_stands
  from public.position
  where position.id = _zone.position_id;
  return query
  with armed as materialized (
    select
      armed.*,
      -- 6.3: out of a cave not every adjacent hex is seen
      armed.reach > 1 or armed.in_cave as looks,
      -- 7.1.2: nothing is seen farther
      least(armed.reach, 8) as radius
    from css._armed(_zone.position_id, _zone.side, _zone.unit, '{}', readings) as armed
    where armed.reach > 0
  )
  select
    armed.code,
    'unit',
    hex.q,
    hex.r,
    hex.label,
    1
  from armed
  cross join (
    values (0, -1), (1, -1), (1, 0), (0, 1), (-1, 1), (-1, 0)
  ) as step (dq, dr)
  inner join public.hex
    on hex.map_id = armed.map_id and hex.q = armed.q + step.dq and hex.r = armed.r + step.dr
  where not armed.looks
  union all
  -- 6.3: who is in a cave and who stands on it are one hex apart
  select
    armed.code,
    'unit',
    armed.q,
    armed.r,
    armed.label,
    1
  from armed
  where armed.in_cave or armed.over_cave
  union all
  select
    armed.code,
    'unit',
    seen.q,
    seen.r,
    seen.label,
    seen.range
  from armed
  inner join public.viewshed as kept
    on kept.position_id = _zone.position_id
      and kept.viewer = 'unit:' || armed.code
      and kept.radius = armed.radius
  cross join lateral unnest(kept.qs, kept.rs, kept.labels, kept.ranges) as seen (q, r, label, range)
  where as_it_stands
    and armed.looks
  union all
  select
    armed.code,
    'unit',
    seen.q,
    seen.r,
    seen.label,
    seen.range
  from armed
  cross join lateral positions.viewshed(_zone.position_id, 'unit:' || armed.code, armed.radius) as seen
  where as_it_stands
    and armed.looks
    and not exists (
      select
      from public.viewshed as kept
      where kept.position_id = _zone.position_id
        and kept.viewer = 'unit:' || armed.code
        and kept.radius = armed.radius
    )
  union all
  select
    armed.code,
    'unit',
    seen.q,
    seen.r,
    seen.label,
    seen.range
  from armed
  cross join lateral css.fan(
    _zone.position_id, 'unit:' || armed.code, armed.radius, _zone.conditions, _zone.policy
  ) as seen
  where not as_it_stands
    and armed.looks
  union all
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
returns table (by text, arm text, q integer, r integer, label text, range integer)
language sql stable rows 1000
as $$
  select *
  from css._zone(
    side_zone.position_id, coalesce(side_zone.side, ''), null, side_zone.conditions, side_zone.policy
  )
$$;

comment on function css.side_zone(bigint, text, jsonb, jsonb) is
'The Fire Zones of all units of a side: a row for each unit and hex; arm is unit, or the naval zone off that beach.';

create or replace function css._asked_unit(position_id bigint, unit text)
returns text
language plpgsql stable
as $$
begin
  if not exists (
    select
    from public.unit as counter
    where counter.position_id = _asked_unit.position_id
      and counter.code = _asked_unit.unit
  ) then
    raise exception 'there is no unit % in this position', _asked_unit.unit using errcode = 'no_data_found';
  end if;
  return _asked_unit.unit;
end
$$;

comment on function css._asked_unit(bigint, text) is
'The unit that was asked about, or an error that says that there is none.';

create or replace function css.fire_zone(
  position_id bigint, unit text, conditions jsonb default null, policy jsonb default null
)
returns table (by text, arm text, q integer, r integer, label text, range integer)
language sql stable rows 50
as $$
  select *
  from css._zone(
    fire_zone.position_id,
    null,
    css._asked_unit(fire_zone.position_id, fire_zone.unit),
    fire_zone.conditions,
    fire_zone.policy
  )
$$;

comment on function css.fire_zone(bigint, text, jsonb, jsonb) is
'Every hex that a unit could fire into; arm is unit, or the naval zone off that beach hex (final_run_in, approach).';

create or replace function css._zone_reasons(
  position_id bigint, side text, unit text, conditions jsonb, policy jsonb
)
returns setof rulings.step
language sql stable rows 10
as $$
  with state as materialized (
    select
      positions.readings(position.id, _zone_reasons.policy) as readings,
      coalesce(_zone_reasons.conditions, position.conditions) as now
    from public.position
    where position.id = _zone_reasons.position_id
  ),
  armed as materialized (
    select
      armed.*,
      state.now,
      armed.fire_side <> 'marker' as is_unit
    from state
    cross join lateral css._armed(
      _zone_reasons.position_id, _zone_reasons.side, _zone_reasons.unit, '{}', state.readings
    ) as armed
  ),
  told as (
    select
      armed.code,
      spoken.n,
      spoken.rule,
      null::text as clause,
      armed.label as at,
      spoken.effect,
      case spoken.effect
        when 'unknown' then format(spoken.note, armed.code)
        else armed.code || ': ' || spoken.note
      end as note,
      spoken.point
    from armed
    cross join lateral (
      values
      (1, armed.q is null, '7.2', 'no zone', 'it is not on the map', null),
      (2, armed.fire_side = 'marker', '2.0', 'no zone', 'a Marker, not a Unit', null),
      (
        3, armed.fire_side = 'direct', '8.1', 'range',
        format('fires %s, by its counter', css._hexes(armed.range)),
        null
      ),
      (4, armed.fire_side = 'indirect, deployed', '8.7', 'no zone', 'Deployed for Indirect Fire', null),
      (
        5, armed.fire_side like 'indirect, column%' and armed.ready is not null, '7.2',
        case armed.ready when 0 then 'no zone' else 'range' end,
        case armed.ready
          when 0 then 'an indirect unit has none, in Column neither'
          else 'an indirect unit in Column fires ' || css._hexes(armed.ready)
        end,
        'css-47'
      ),
      (6, armed.suppressed and armed.is_unit, '10.2.1', 'no zone', 'Suppressed units cannot fire', null),
      (7, armed.concentrated and armed.is_unit, '8.3.6', 'no zone', 'it has used Concentrated Fire', null),
      (
        8, armed.barraged and armed.is_unit, case when armed.bombarded then '8.7.7' else '8.7.2' end, 'one hex',
        case when armed.bombarded then 'under a Bombardment' else 'under a Barrage' end, null
      ),
      (9, armed.beset_by is not null and armed.is_unit, '7.2', 'one hex', armed.beset_by || ' is adjacent', null),
      (
        10, css._visibility(armed.now, false) < armed.reach, css._visibility_rule(armed.now), 'visibility',
        css._hexes(css._visibility(armed.now, false)) || ' can be seen now', null
      ),
      (
        11, armed.reach > 0 and (armed.in_cave or armed.over_cave), '6.3', 'own hex',
        'inside of a cave and on top of it are one hex apart', null
      ),
      (
        12, armed.reach is null, '7.2', 'unknown',
        case armed.fire_side
          when 'untold' then 'the fire that the counter of %s prints'
          when 'indirect, posture untold' then 'the posture of %s'
          else 'the range of the Small Arms on the Column side of %s'
        end,
        case when armed.fire_side like 'indirect%' then 'css-47' end
      )
    ) as spoken (n, speaks, rule, effect, note, point)
    where spoken.speaks
    union all
    -- of one unit every place that hides something, of a side the rules alone
    select
      armed.code,
      13,
      hidden.rule,
      hidden.clause,
      case when _zone_reasons.unit is not null then hidden.at end,
      hidden.effect,
      case
        when hidden.effect = 'unknown' then format('what hides %s from %s', min(hidden.at), armed.code)
        when _zone_reasons.unit is not null then armed.code || ': ' || min(hidden.note)
        else format('%s: at %s', armed.code, case count(*) when 1 then min(hidden.at) else count(*) || ' places' end)
      end,
      hidden.point
    from armed
    cross join lateral css.fan_reasons(
      _zone_reasons.position_id, 'unit:' || armed.code, armed.reach, _zone_reasons.conditions, _zone_reasons.policy
    ) as hidden
    where (armed.reach > 1 or (armed.in_cave and armed.reach > 0))
      -- of what is not printed, only the lines that it leaves open
      and (hidden.effect <> 'unknown' or hidden.rule = '7.1.1')
      and hidden.effect <> 'visibility'
    group by
      armed.code, hidden.rule, hidden.clause, hidden.effect, hidden.point,
      case when _zone_reasons.unit is not null then hidden.at end
    union all
    select
      naval.by,
      14,
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
    from state
    cross join lateral css._naval_zones(
      _zone_reasons.position_id, _zone_reasons.side, _zone_reasons.unit, state.readings,
      _zone_reasons.conditions, _zone_reasons.policy
    ) as naval
  )
  select
    told.rule,
    told.clause,
    told.at,
    told.effect,
    told.note,
    told.point
  from told
  order by told.code, told.n, told.rule, told.clause, told.at
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
