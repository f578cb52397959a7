-- needs: bob/facing.sql, bob/los.sql
-- Cover in bob (Band of Brothers): what the ground does to fire at a unit, by where the fire comes from: 6.2, 21.5, 40.0 to 48.0, 51.0 to 54.6.
--
-- An aim is the line of a shot with all that bears on it. A row of cover is what one thing adds to the FP, by
-- the column of the Player Aid Card: infantry, mortar, v_gun, artillery or aircraft.

drop type if exists bob.aim cascade;
create type bob.aim as (
  start bob.sight_end,
  target bob.sight_end,
  away integer,
  adjacent boolean,
  point text,
  visible boolean,
  dark boolean,
  hindrance integer,
  hindering boolean,
  smoke text,
  sides integer array,
  corners integer array,
  lane text
);

comment on type bob.aim is
'A shot from one end to another: how far, how well seen, over which sides of the target''s hex, out of which fortification.';
comment on column bob.aim.dark is 'Night or deluge is what hides the target, and nothing on the ground';
comment on column bob.aim.hindering is 'Hindering Terrain is in the way, whether it counts or not (46.0)';
comment on column bob.aim.sides is 'Directions of the sides of the target''s hex that the line crosses; corners: with those met at an end';
comment on column bob.aim.lane is 'The fortification with Fire Lanes that the firer is in (43.0)';

create or replace function bob._aim(state positions.state, "from" text, "to" text, looks boolean)
returns bob.aim
language plpgsql stable
as $$
#variable_conflict use_variable
declare
  aim bob.aim;
  met bob.neighbour;
begin
  aim.start := (select place from bob._end(state.position_id, "from") as place);
  aim.target := (select place from bob._end(state.position_id, "to") as place);
  if (aim.start).q is null or (aim.target).q is null then
    raise exception 'one of % and % is not on the map', "from", "to" using errcode = 'no_data_found';
  end if;
  aim.away := lattice.distance((aim.start).q, (aim.start).r, (aim.target).q, (aim.target).r);
  met := bob._neighbour(state, aim.start, aim.target, true);
  aim.adjacent := coalesce(met.adjacent, false);
  aim.point := met.point;
  -- 40.2: two levels of one hex are one hex apart
  aim.away := case when aim.away = 0 and aim.adjacent then 1 else aim.away end;
  select
    array_agg(distinct side.direction) filter (where line.crossed or line.kind = 'side'),
    array_agg(distinct side.direction)
  into aim.sides, aim.corners
  from lattice.line((aim.start).q, (aim.start).r, (aim.target).q, (aim.target).r) as line
  cross join lateral (
    select case
      when (line.q1, line.r1) = ((aim.target).q, (aim.target).r)
        then lattice.direction(line.q2 - line.q1, line.r2 - line.r1)
      else lattice.direction(line.q1 - line.q2, line.r1 - line.r2)
    end as direction
  ) as side
  where line.of_target and line.kind in ('side', 'end');
  if looks then
    select
      bool_or(step.effect = 'visible') or case when bool_or(step.effect = 'unknown') then null else false end,
      coalesce(bool_and(step.rule in ('50.2', '55.2')) filter (where step.effect = 'blocks'), false),
      max(step.hindrance) filter (where step.effect in ('visible', 'blocked', 'unknown')),
      coalesce(bool_or(step.rule in ('46.0', '46.1', '43.7') and step.effect in ('1', '0', 'passes') and step.note not like '%own hex%'), false),
      case
        when bool_or(step.rule = '48.0' and step.effect = '-1') then 'smoke'
        when bool_or(step.rule = '48.0') then 'dispersed_smoke'
      end
    into aim.visible, aim.dark, aim.hindrance, aim.hindering, aim.smoke
    from bob.los(state.position_id, "from", "to", state.conditions, state.readings) as step;
  end if;
  return aim;
end
$$;

comment on function bob._aim(positions.state, text, text, boolean) is
'The line of a shot from one hex or unit at another; looks: also whether it is seen, through what.';

create or replace function bob._lane(state positions.state, firer positions.counter)
returns text
language plpgsql stable parallel safe
as $$
#variable_conflict use_column
begin
  return (
    select fort.kind
    from bob._fortification(state, firer.q, firer.r, bob._storey(firer)) as fort
    where firer.kind in ('squad', 'wt', 'gun')
      and not bob._flag(firer, 'entered')
      and not firer.attributes ? 'moving'
      and bob._in_force(state, 'fire_lanes')
      -- 43.0: in the Pacific foxholes, bunkers and caves always have them
      and (
        coalesce(state.conditions -> 'rules' ? 'fire_lanes', false)
        or fort.kind in ('foxhole', 'trench', 'bunker', 'cave', 'small_cave')
      )
  );
end
$$;

comment on function bob._lane(positions.state, positions.counter) is
'The fortification with Fire Lanes that a unit fires from; null where there is none (43.0).';

drop type if exists bob.cover_row cascade;
create type bob.cover_row as (
  n integer,
  rule text,
  value integer,
  note text,
  point text,
  kind text,
  chart text
);

comment on type bob.cover_row is
'What one thing about the ground adds to the FP of a shot; with a chart and no value: what that does not tell.';
comment on column bob.cover_row.kind is 'terrain, building, fortification, hexside, elevation, carrier';

create or replace function bob._ground(state positions.state, q integer, r integer)
returns text
language plpgsql stable parallel safe
as $$
#variable_conflict use_column
begin
  return (
    select case
      when hex.terrain in ('river', 'canal') and ('bridge' = any(hex.features) or exists (
        select from public.path
        where path.map_id = state.map_id and path.kind in ('road', 'dike_road')
          and public.st_intersects(path.geom, lattice.center(hex.q, hex.r))
      )) then 'road'
      when hex.terrain = 'river' and 'shallow' = any(hex.features) then 'river/shallow'
      -- 45.2, 45.3, 45.4: in the open as far as fire goes
      when hex.terrain in ('sandbar', 'stream', 'gully') then 'open_ground'
      else hex.terrain
    end
    from public.hex
    where hex.map_id = state.map_id and hex.q = _ground.q and hex.r = _ground.r
  );
end
$$;

comment on function bob._ground(positions.state, integer, integer) is
'The row of the Terrain chart that a hex has for fire.';

create or replace function bob._is_open(ground text)
returns boolean
language sql immutable parallel safe
return ground in ('open_ground', 'road', 'river/shallow', 'surf', 'ocean');

comment on function bob._is_open(text) is
'Whether ground is Open Ground as far as moving there goes (41.0, 42.0, 45.1 to 45.6).';

create or replace function bob._cell_row(n integer, chart text, key text, column_key text, kind text, note text, point text default null, read jsonb default '{}')
returns setof bob.cover_row
language sql stable parallel safe rows 1
as $$
  select
    _cell_row.n,
    cell.rule,
    cell.value::integer,
    _cell_row.note,
    _cell_row.point,
    _cell_row.kind,
    case when cell.value is null then _cell_row.chart end
  from bob._pac(_cell_row.chart, _cell_row.key, _cell_row.column_key, _cell_row.read) as cell
  -- "-": it has no effect there
  where cell.value is null or cell.value ~ '^[-+]?[0-9]+$'
$$;

comment on function bob._cell_row(integer, text, text, text, text, text, text, jsonb) is
'A row of cover from a cell of the Player Aid Card.';

create or replace function bob._carrier_cover(state positions.state, aim bob.aim, unit positions.counter)
returns setof bob.cover_row
language sql stable rows 1
as $$
  select
    1,
    case when bob._flag(ridden, 'universal') then '60.2' when ridden.kind = 'vehicle' then '22.0' else '21.5' end,
    case
      when ridden.kind = 'vehicle' or ridden.attributes ? 'unarmored' then 0
      when aim.adjacent or (aim.away = 2 and (aim.start).level > (aim.target).level) then 0
      when bob._flag(ridden, 'universal') then -1
      else -2
    end,
    case
      when ridden.kind = 'vehicle' then 'Tank Riders have no cover'
      when ridden.attributes ? 'unarmored' then 'an unarmored Carrier gives no cover'
      when aim.adjacent then 'a Carrier gives no cover against adjacent fire'
      when aim.away = 2 and (aim.start).level > (aim.target).level then 'nor from two hexes away and higher'
      when bob._flag(ridden, 'universal') then 'a passenger of a Universal Carrier'
      else 'a passenger of a Carrier'
    end,
    null,
    'carrier',
    null
  from bob._counters(state) as ridden
  where ridden.code = unit.attributes ->> 'in'
$$;

comment on function bob._carrier_cover(positions.state, bob.aim, positions.counter) is
'The cover of a passenger: that of its Carrier alone (21.5, 22.0, 23.0, 60.2).';

create or replace function bob._works(state positions.state, aim bob.aim, unit positions.counter, moving boolean)
returns text
language plpgsql stable
as $$
#variable_conflict use_column
begin
  return (
    select fort.kind
    from bob._fortification(
      state, (aim.target).q, (aim.target).r,
      case when unit.id is not null then bob._storey(unit) when (aim.target).in_cave then 'cave' when (aim.target).upper then 'upper' else 'ground' end
    ) as fort
    -- 43.0: not for who moves in or out, nor for who came in where others are
    where not moving and not coalesce(bob._flag(unit, 'entered'), false)
  );
end
$$;

comment on function bob._works(positions.state, bob.aim, positions.counter, boolean) is
'The fortification that covers a unit; null where there is none or it moves (43.0).';

create or replace function bob._ground_cover(
  state positions.state, aim bob.aim, unit positions.counter, column_key text, moving boolean, works text, read jsonb
)
returns setof bob.cover_row
language plpgsql stable rows 2
as $$
#variable_conflict use_variable
declare
  ground text := bob._ground(state, (aim.target).q, (aim.target).r);
  on_path boolean := moving and coalesce((unit.attributes -> 'moving' ->> 'on_path')::boolean, false);
  key text := coalesce(works, ground);
  kind text := case when works is not null then 'fortification' when ground like '%building' or ground = 'hut' then 'building' else 'terrain' end;
begin
  if works in ('cave', 'small_cave') and aim.adjacent then
    return next row(2, '43.4', 0, 'a cave gives nothing against its front hexes', null, 'fortification', null)::bob.cover_row;
  elsif works is null and ground = 'swamp' and moving then
    return next row(2, '52.0', 0, 'who moves in a swamp has no benefit of it', null, 'terrain', null)::bob.cover_row;
  elsif works is null and on_path and not bob._is_open(ground) and (aim.adjacent or state.readings ->> 'bob-15' = 'b') then
    return next row(
      2, '53.0', 0, 'on a path the terrain is no benefit' || case when aim.adjacent then ' against adjacent fire' else '' end,
      case when not aim.adjacent then 'bob-15' end, 'terrain', null
    )::bob.cover_row;
  else
    return query
    select *
    from bob._cell_row(
      2, 'pac_terrain', case key when 'trench' then 'foxhole' else key end, column_key, kind,
      format('%s in %s', replace(split_part(key, '/', 1), '_', ' '), (aim.target).label),
      case when works = 'cave' then 'bob-51' when works is null and on_path and not bob._is_open(ground) then 'bob-15' end,
      read
    ) as item
    where not (coalesce(bob._mounted(unit), false) and ground in ('surf', 'ocean'));
  end if;
end
$$;

comment on function bob._ground_cover(positions.state, bob.aim, positions.counter, text, boolean, text, jsonb) is
'What the terrain of the hex, or the fortification in its place, does to fire (40.0 to 45.6, 51.0 to 53.0).';

create or replace function bob._woods_cover(state positions.state, aim bob.aim, column_key text, works text, read jsonb)
returns setof bob.cover_row
language sql stable rows 1
as $$
  -- 45.3: woods drawn beside a stream
  select item.*
  from public.hex
  cross join lateral bob._cell_row(2, 'pac_terrain', 'woods', column_key, 'terrain', format('woods by the stream in %s', hex.label), null, read) as item
  where hex.map_id = state.map_id
    and hex.q = (aim.target).q
    and hex.r = (aim.target).r
    and hex.terrain = 'stream'
    and works is null
    and exists (
      select
      from bob._artwork(state.map_id, 'woods', hex.geom) as drawn
      inner join public.terrain_area as art on art.map_id = state.map_id and art.n = drawn.n
      where column_key in ('fire_mortar', 'fire_artillery')
        or public.st_intersects(
          art.geom,
          public.st_intersection(
            hex.geom,
            public.st_makeline(lattice.center((aim.start).q, (aim.start).r), lattice.center((aim.target).q, (aim.target).r))
          )
        )
    )
$$;

comment on function bob._woods_cover(positions.state, bob.aim, text, text, jsonb) is
'Woods in a stream hex: against direct fire where the line crosses them, against bursting shells always (45.3).';

create or replace function bob._side_cover(
  state positions.state, aim bob.aim, unit positions.counter, column_key text, moving boolean, works text, read jsonb
)
returns setof bob.cover_row
language sql stable rows 1
as $$
  select
    item.n,
    item.rule,
    case when lost.so then 0 else item.value end,
    case when lost.so then format('no benefit of the %s across from an adjacent firer, moving', met.kind) else item.note end,
    case when met.kind = 'hedgerow' and column_key not in ('infantry', 'v_gun') then 'bob-27' end,
    'hexside',
    case when not lost.so then item.chart end
  from (
    select distinct on (1) 1, hexside.kind
    from unnest(aim.sides) as side (direction)
    inner join public.hexside
      on hexside.map_id = state.map_id
        and hexside.x = 2 * (aim.target).q + lattice.step_q(side.direction)
        and hexside.y = 2 * (aim.target).r + lattice.step_r(side.direction)
    where hexside.kind in ('hedgerow', 'wall', 'roadblock')
      and (hexside.kind <> 'roadblock' or not bob._is_cleared(state, hexside.x, hexside.y))
    union all
    select 1, 'dike_road'
    where exists (
      select from jsonb_array_elements(unit.attributes -> 'behind') as covered (direction)
      where covered.direction::integer = any(aim.sides)
    )
    order by 1, 2
  ) as met (one, kind)
  cross join lateral (
    select *
    from bob._cell_row(
      3, 'pac_hexside', met.kind,
      -- bob-27 b: a hedgerow that takes only a plus away
      case when met.kind = 'hedgerow' and state.readings ->> 'bob-27' = 'b' then 'fire_infantry' else 'fire_' || column_key end,
      'hexside', format('directly behind a %s', replace(met.kind, '_', ' ')), null, read
    )
  ) as item
  cross join lateral (select moving and aim.away = 1 and met.kind <> 'dike_road' as so) as lost
  where works is null
    and (item.value is distinct from 0 or met.kind = 'hedgerow')
$$;

comment on function bob._side_cover(positions.state, bob.aim, positions.counter, text, boolean, text, jsonb) is
'A hedgerow, wall, roadblock or dike road that a unit is directly behind (44.0, 46.1, 43.7, bob-27).';

create or replace function bob._rise_cover(state positions.state, aim bob.aim, column_key text, manner text, read jsonb)
returns setof bob.cover_row
language sql stable rows 1
as $$
  select item.*
  from bob._cell_row(
    4, 'pac_situation', case when (aim.target).level > (aim.start).level then 'target_higher' else 'target_lower' end, column_key,
    'elevation', case when (aim.target).level > (aim.start).level then 'the target is higher' else 'the target is lower' end, null, read
  ) as item
  where (aim.target).level <> (aim.start).level and column_key <> 'aircraft' and item.value is distinct from 0
  union all
  select item.*
  from bob._cell_row(5, 'pac_hexside', 'ridge', 'fire_infantry', 'hexside', 'on a ridge, fired at from level ground') as item
  where column_key = 'infantry'
    and (aim.start).level = 0
    and bob._has(state, aim.target, 'ridge')
    and not bob._has(state, aim.start, 'ridge')
  union all
  select 6, '54.1', -1, 'behind a small terrain feature', null, 'hexside', null
  where column_key = 'infantry' and bob._behind_feature(state, aim, manner)
$$;

comment on function bob._rise_cover(positions.state, bob.aim, text, text, jsonb) is
'What elevation, ridges and small features do to fire (47.3, 54.1, 54.2).';

create or replace function bob._has(state positions.state, place bob.sight_end, feature text)
returns boolean
language plpgsql stable parallel safe
as $$
#variable_conflict use_column
begin
  return exists (
    select from public.hex
    where hex.map_id = state.map_id and hex.q = place.q and hex.r = place.r and _has.feature = any(hex.features)
  );
end
$$;

comment on function bob._has(positions.state, bob.sight_end, text) is
'Whether a hex has a feature printed in it.';

create or replace function bob._behind_feature(state positions.state, aim bob.aim, manner text)
returns boolean
language plpgsql stable parallel safe
as $$
#variable_conflict use_column
begin
  return (
    select manner not in ('op_fire', 'final_op_fire')
      and (aim.start).level <= (aim.target).level
      and not (aim.away <= 10 and bob._has(state, aim.start, 'ridge'))
      and exists (
        select
        from public.marker
        where marker.position_id = state.position_id
          and marker.kind = 'small_feature'
          and marker.q = (aim.target).q
          and marker.r = (aim.target).r
          and marker.facing = any(aim.corners)
      )
  );
end
$$;

comment on function bob._behind_feature(positions.state, bob.aim, text) is
'Whether a small terrain feature covers a unit against a shot (54.1).';

create or replace function bob._cover_rows(
  state positions.state, aim bob.aim, unit positions.counter, column_key text, moving boolean, manner text,
  revealed boolean, read jsonb
)
returns setof bob.cover_row
language plpgsql stable rows 3
as $$
#variable_conflict use_variable
declare
  works text := case when revealed then bob._works(state, aim, unit, moving) end;
  lane boolean := moving and aim.lane is not null and aim.adjacent;
begin
  if bob._mounted(unit) then
    return query select * from bob._carrier_cover(state, aim, unit);
    return;
  end if;
  return query
  select
    item.n,
    item.rule,
    case when lost.so then 0 else item.value end,
    case when lost.so then format('%s: no benefit in a Fire Lane of the %s', item.note, aim.lane) else item.note end,
    item.point,
    item.kind,
    case when not lost.so then item.chart end
  from (
    select * from bob._ground_cover(state, aim, unit, 'fire_' || column_key, moving, works, read)
    union all
    select * from bob._woods_cover(state, aim, 'fire_' || column_key, works, read)
    union all
    select * from bob._side_cover(state, aim, unit, column_key, moving, works, read)
    union all
    select * from bob._rise_cover(state, aim, column_key, manner, read)
  ) as item
  -- 43.0: all but elevation, buildings and Carriers
  cross join lateral (
    select lane and item.kind in ('terrain', 'hexside', 'fortification') and coalesce(item.value, -1) < 0 as so
  ) as lost
  order by item.n, item.rule, item.note;
end
$$;

comment on function bob._cover_rows(positions.state, bob.aim, positions.counter, text, boolean, text, boolean, jsonb) is
'All that the ground does to a shot at a unit, a row each; revealed: with a fortification that the firer may not know of.';

create or replace function bob._benefits(item bob.cover_row)
returns boolean
language sql immutable parallel safe
-- 6.2: Orchards, too; woods, whose number is not printed, are no Open Ground (45.3)
return item.value < 0 or item.note like 'orchard%' or (item.value is null and item.note like 'woods%')
or item.note like '%Fire Lane%';

comment on function bob._benefits(bob.cover_row) is
'Whether a row of cover makes Beneficial Terrain, or would but for a Fire Lane (6.2, 43.0).';

create or replace function bob._is_beneficial(state positions.state, at text, "from" text)
returns boolean
language sql stable
as $$
  select coalesce(bool_or(bob._benefits(item)), false)
  from bob._cover_rows(
    state, bob._aim(state, _is_beneficial."from", _is_beneficial.at, false), null, 'infantry', false, 'fire', true, '{}'
  ) as item
$$;

comment on function bob._is_beneficial(positions.state, text, text) is
'Whether a hex is Beneficial Terrain against direct fire from another (6.2).';

create or replace function bob.cover(
  position_id bigint, at text, "from" text, by text default 'infantry', moving boolean default false,
  read jsonb default '{}', conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 4
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  state positions.state;
  aim bob.aim;
  unit positions.counter;
  firer positions.counter;
  item bob.cover_row[];
  open_hex boolean;
begin
  select * into state from positions.state(position_id, conditions, policy);
  aim := bob._aim(state, "from", at, false);
  select counter.* into unit from bob._counters(state) as counter where counter.code = positions.spoken(at) and at not like 'hex:%';
  select counter.* into firer from bob._counters(state) as counter where counter.code = positions.spoken("from") and "from" not like 'hex:%';
  aim.lane := case when firer.id is not null then bob._lane(state, firer) end;
  moving := coalesce(moving, false) or coalesce(unit.attributes ? 'moving', false);
  item := array(select one from bob._cover_rows(state, aim, unit, by, moving, case when moving then 'op_fire' else 'fire' end, true, read) as one);
  open_hex := bob._is_open(bob._ground(state, (aim.target).q, (aim.target).r)) and not coalesce(bob._mounted(unit), false)
    and bob._works(state, aim, unit, moving) is null;
  return query
  select
    one.rule, null::text, (aim.target).label, coalesce(to_char(one.value, 'SG99FM'), 'unknown'),
    case when one.value is null then one.chart else one.note end, one.point, null::text, 2 * one.value, null::jsonb
  from unnest(item) as one;
  return next (
    select row(
      '6.2', null, (aim.target).label, case when count(*) filter (where one.value is null) > 0 then 'untold' else coalesce(sum(one.value), 0)::text end,
      case when coalesce(bool_or(bob._benefits(one)), false) then 'Beneficial Terrain' else 'no Beneficial Terrain' end, null, null, null,
      jsonb_build_object(
        'value', case when count(*) filter (where one.value is null) = 0 then coalesce(sum(one.value), 0) end,
        'beneficial', coalesce(bool_or(bob._benefits(one) and one.note not like '%Fire Lane%'), false),
        'open_ground', open_hex and not coalesce(bool_or(bob._benefits(one)), false)
      )
    )::rulings.ledger_step
    from unnest(item) as one
  );
end
$$;

comment on function bob.cover(bigint, text, text, text, boolean, jsonb, jsonb, jsonb) is
'What the ground does to fire at a hex or unit from another, by kind of fire: value, whether it is Beneficial, whether Open Ground.';
