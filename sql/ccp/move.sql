-- needs: ccp/zones.sql
-- Moving and advancing in ccp: 14.2, 18.2, 3.3.1.2, 4, 5.1, O22, O29, A41, A43, T81.2 to T99, F102.1, F104 to F107.
--
-- A step's cost has parts: what is entered (terrain, or the path, bridge or trench along which it
-- is entered), night, and levels uphill. A unit may spend, at every step, its movement as it is in
-- the hex that it leaves, less what it has spent; a leader adds to it where he stands, and all the
-- way where he goes along. `ccp._entries` tells the parts, for one way or for all steps of a region,
-- so that ccp.move and ccp.reach cannot disagree.

create or replace function ccp._move_readings(policy jsonb)
returns table (wire text, mines text, trench text, op_fire text, bridge text, first_strike text)
language sql stable parallel safe rows 1
as $$
  select
    coalesce(policy ->> 'ccp-5', ruleset.presets ->> 'ccp-5'),
    coalesce(policy ->> 'ccp-11', ruleset.presets ->> 'ccp-11'),
    coalesce(policy ->> 'ccp-17', ruleset.presets ->> 'ccp-17'),
    coalesce(policy ->> 'ccp-19', ruleset.presets ->> 'ccp-19'),
    coalesce(policy ->> 'ccp-24', ruleset.presets ->> 'ccp-24'),
    coalesce(policy ->> 'ccp-30', ruleset.presets ->> 'ccp-30')
  from public.ruleset
  where ruleset.code = 'ccp'
$$;

comment on function ccp._move_readings(jsonb) is
'The readings in force for the contested points that movement turns on.';

create or replace function ccp._movers(position_id bigint, unit text, options jsonb, policy jsonb)
returns table (
  id bigint,
  code text,
  side text,
  kind text,
  q integer,
  r integer,
  label text,
  attributes jsonb,
  follows boolean,
  command integer,
  broken_leader text,
  -- movement of its own, in halves, before command; null: the counter does not tell
  halves integer
)
language plpgsql stable rows 4
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  select
    stat.id,
    stat.code,
    stat.side,
    stat.kind,
    stat.q,
    stat.r,
    stat.label,
    stat.attributes,
    stat.follows,
    stat.command,
    stat.broken_leader,
    (2 * (stat.attributes ->> 'movement')::numeric)::integer
    + 2 * stat.status
    + 2 * coalesce((stat.attributes -> 'weapon' ->> 'movement')::integer, 0)
  from ccp._stats(_movers.position_id, _movers.policy) as stat
  where stat.code = _movers.unit
    or stat.code in (select jsonb_array_elements_text(_movers.options -> 'with'));
end
$$;

comment on function ccp._movers(bigint, text, jsonb, jsonb) is
'The unit that moves and those that go with it, each with its movement before command (O29, 4, 5.1).';

create or replace function ccp._party(
  position_id bigint, unit text, options jsonb, conditions jsonb, policy jsonb
)
returns table (
  map_id bigint,
  side text,
  q integer,
  r integer,
  label text,
  ids bigint[],
  figures integer,
  -- one that does not begin in the same hex
  apart text,
  -- whose movement is not told, and which leader's command
  untold text,
  untold_command text,
  -- least movement of squads and teams, and of those whom nobody leads
  squads integer,
  leaders integer,
  -- command of the leaders who go along, in halves
  carried integer,
  -- points that the question tells, in halves
  told integer,
  night boolean,
  in_cave boolean
)
language plpgsql stable rows 1
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  first record;
  other record;
begin
  perform ccp._on_map(_party.position_id, _party.unit);
  select * into first from positions._counter(_party.position_id, _party.unit);
  for other in
    select named.code
    from jsonb_array_elements_text(_party.options -> 'with') as named (code)
  loop
    perform ccp._on_map(_party.position_id, other.code);
    if (select counter.side from positions._counter(_party.position_id, other.code) as counter) <> first.side then
      raise exception '% is no friend of % and cannot move along', other.code, _party.unit
        using errcode = 'no_data_found';
    end if;
  end loop;
  return query
  select
    position.map_id,
    first.side,
    first.q,
    first.r,
    first.label,
    array_agg(mover.id order by mover.id),
    sum(ccp._figures(mover.kind))::integer,
    min(mover.code) filter (where mover.q <> first.q or mover.r <> first.r),
    min(mover.code) filter (where mover.halves is null),
    min(mover.code) filter (where mover.kind in ('leader', 'hero') and mover.command is null),
    min(mover.halves) filter (where mover.follows),
    min(mover.halves) filter (where not mover.follows),
    2 * coalesce(sum(mover.command), 0)::integer,
    (2 * (_party.options ->> 'points')::numeric)::integer,
    coalesce((coalesce(_party.conditions, position.conditions) ->> 'night')::boolean, false),
    bool_or(mover.side = 'japan' and coalesce((mover.attributes ->> 'in_cave')::boolean, false))
  from public.position
  cross join ccp._movers(_party.position_id, _party.unit, _party.options, _party.policy) as mover
  where position.id = _party.position_id
  group by position.id;
end
$$;

comment on function ccp._party(bigint, text, jsonb, jsonb, jsonb) is
'Those who move together as one (O29.2): where from, and what bounds their movement.';

create or replace function ccp._allowance(
  told integer, untold text, squads integer, leaders integer, carried integer, led integer
)
returns integer
language sql immutable parallel safe
return case
  when told is not null then told
  when untold is not null then null
  else greatest(0, least(squads + carried + led, leaders))
end;

comment on function ccp._allowance(integer, text, integer, integer, integer, integer) is
'Halves that a party has in all where leaders who stay there add `led`: the slowest decides (O29.2, 3.3.1.2).';

create or replace function ccp._posts(position_id bigint, side text, movers bigint[], policy jsonb)
returns table (q integer, r integer, led integer, untold text, broken text)
language plpgsql stable rows 4
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  select
    stat.q,
    stat.r,
    2 * coalesce(sum(stat.command), 0)::integer,
    min(stat.code) filter (where stat.command is null),
    min(stat.code) filter (where (stat.attributes ->> 'broken')::boolean)
  from ccp._stats(_posts.position_id, _posts.policy) as stat
  where stat.side = _posts.side
    and stat.kind in ('leader', 'hero')
    and not stat.id = any(_posts.movers)
  group by stat.q, stat.r;
end
$$;

comment on function ccp._posts(bigint, text, bigint[], jsonb) is
'Where leaders stay who do not go along, and what they add there to squads and teams, in halves (3.3.1.2).';

create or replace function ccp._other_terrain(map_id bigint, q integer, r integer, features text[])
returns table (code text, halves integer, rule text)
language plpgsql stable rows 1
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  select
    min(found.code),
    min(effect.halves),
    min(effect.rule)
  from (
    select unnest(_other_terrain.features) as code
    union
    select area.terrain
    from public.terrain_area as area
    where area.map_id = _other_terrain.map_id
      and cardinality(_other_terrain.features) = 0
      and area.terrain <> 'bridge'
      and public.st_relate(area.geom, lattice.hex(_other_terrain.q, _other_terrain.r), 'T********')
  ) as found
  inner join public.terrain_effect as effect
    on effect.ruleset = 'ccp'
      and effect.feature = 'terrain'
      and effect.code = found.code
      and effect.aspect = 'cost'
  having count(distinct effect.halves) = 1 and count(effect.halves) = count(*);
end
$$;

comment on function ccp._other_terrain(bigint, integer, integer, text[]) is
'What lies in a bridge hex beside the bridge, as its features or else its artwork tell; no row where that is open.';

-- These two are asked for a way or for a whole region; their plans are made once a session.
create or replace function ccp._ground(
  position_id bigint, map_id bigint, side text, night boolean, qs integer[], rs integer[]
)
returns table (
  i integer,
  q integer,
  r integer,
  label text,
  terrain text,
  level integer,
  rule text,
  -- what entering costs where nothing but the terrain counts; null: not told
  halves integer,
  -- added at night
  dark integer,
  -- prohibited, or all points
  word text,
  enemy text,
  -- what the bridge in it costs along the bridge; null: there is none
  bridge integer,
  trench boolean,
  strongpoint boolean,
  wire boolean,
  mines boolean
)
language plpgsql stable rows 100
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  with marked as materialized (
    select
      marker.q,
      marker.r,
      bool_or(marker.kind = 'trench') as trench,
      bool_or(marker.kind in ('bunker', 'pillbox')) as strongpoint,
      bool_or(marker.kind = 'wire') as wire,
      bool_or(marker.kind = 'mines') as mines,
      bool_or(marker.kind = 'blaze') as blaze
    from public.marker
    where marker.position_id = _ground.position_id
    group by marker.q, marker.r
  ),
  held as materialized (
    select
      unit.q,
      unit.r,
      min(unit.code) as enemy
    from public.unit
    where unit.position_id = _ground.position_id
      and unit.side <> _ground.side
      and unit.kind <> 'aircraft'
    group by unit.q, unit.r
  ),
  cost as materialized (
    select
      effect.code,
      effect.halves,
      effect.word,
      effect.rule
    from public.terrain_effect as effect
    where effect.ruleset = 'ccp'
      and effect.feature = 'terrain'
      and effect.aspect = 'cost'
  ),
  -- T84: beside its bridge a hex is what else lies in it
  other as materialized (
    select
      hex.q,
      hex.r,
      found.*
    from public.hex
    cross join lateral ccp._other_terrain(_ground.map_id, hex.q, hex.r, hex.features) as found
    where hex.map_id = _ground.map_id
      and hex.terrain = 'bridge'
      and (hex.q, hex.r) in (select * from unnest(_ground.qs, _ground.rs))
  )
  select
    place.i::integer,
    place.q,
    place.r,
    hex.label,
    coalesce(other.code, hex.terrain),
    hex.level::integer,
    case when hex.terrain = 'bridge' then coalesce(other.rule, cost.rule) else cost.rule end,
    case when hex.terrain = 'bridge' then other.halves else cost.halves end,
    -- 18.2: a Type costs one more
    case when _ground.night then 2 else 0 end,
    case when marked.blaze then 'prohibited' else cost.word end,
    held.enemy,
    case when hex.terrain = 'bridge' then cost.halves end,
    coalesce(marked.trench, false),
    coalesce(marked.strongpoint, false),
    coalesce(marked.wire, false),
    coalesce(marked.mines, false)
  from unnest(_ground.qs, _ground.rs) with ordinality as place (q, r, i)
  left join public.hex on hex.map_id = _ground.map_id and hex.q = place.q and hex.r = place.r
  left join cost on cost.code = hex.terrain
  left join marked on marked.q = place.q and marked.r = place.r
  left join held on held.q = place.q and held.r = place.r
  left join other on other.q = place.q and other.r = place.r;
end
$$;

comment on function ccp._ground(bigint, bigint, text, boolean, integer[], integer[]) is
'What hexes cost to enter by their terrain alone, and what a mover meets in them; one off the map has no label.';

create or replace function ccp._crossings(map_id bigint, q integer, r integer, radius integer)
returns table (x integer, y integer, kind text, rule text, halves integer, unseen integer)
language plpgsql stable rows 20
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  select distinct on (pair.x, pair.y)
    pair.x,
    pair.y,
    cost.code,
    cost.rule,
    cost.halves,
    cost.unseen
  from (
    select
      path.kind,
      hex.q + lead(hex.q) over along as x,
      hex.r + lead(hex.r) over along as y
    from public.path
    cross join lateral unnest(path.qs, path.rs) with ordinality as hex (q, r, n)
    where path.map_id = _crossings.map_id
      and path.geom operator(public.&&) public.st_expand(
        lattice.center(_crossings.q, _crossings.r), 3 * _crossings.radius
      )
    window along as (partition by path.id order by hex.n)
  ) as pair
  inner join (
    -- of a path's two costs the lesser holds where no enemy sees the hex (T94)
    select
      effect.code,
      min(effect.rule) as rule,
      max(effect.halves) as halves,
      min(effect.halves) as unseen
    from public.terrain_effect as effect
    where effect.ruleset = 'ccp'
      and effect.feature = 'path'
      and effect.aspect = 'cost'
    group by effect.code
  ) as cost on cost.code = pair.kind
  where pair.x is not null
    and lattice.distance(2 * _crossings.q, 2 * _crossings.r, pair.x, pair.y) <= 2 * _crossings.radius + 1
  order by pair.x, pair.y, cost.halves, cost.unseen;
end
$$;

comment on function ccp._crossings(bigint, integer, integer, integer) is
'The hexsides near a hex that a path crosses, each with the cheapest path over it and its cost, seen and unseen.';

create or replace function ccp._entries(
  position_id bigint,
  map_id bigint,
  side text,
  night boolean,
  trench_reading text,
  bridge_reading text,
  fqs integer[],
  frs integer[],
  tqs integer[],
  trs integer[]
)
returns table (
  i integer,
  -- along what it is entered: trench, a kind of path, bridge, or terrain
  way text,
  terrain text,
  rule text,
  -- null: not told
  halves integer,
  -- where no enemy sees the hex
  unseen integer,
  dark integer,
  uphill integer,
  -- prohibited, or all points
  word text,
  enemy text,
  out_of_wire boolean,
  into_wire boolean,
  out_of_mines boolean,
  into_mines boolean,
  point text
)
language plpgsql stable rows 100
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  with crossing as materialized (
    select crossing.*
    from (
      select max(lattice.distance(_entries.fqs[1], _entries.frs[1], goal.q, goal.r)) as radius
      from unnest(_entries.tqs, _entries.trs) as goal (q, r)
    ) as far
    cross join lateral ccp._crossings(_entries.map_id, _entries.fqs[1], _entries.frs[1], far.radius) as crossing
  ),
  start as materialized (
    select *
    from ccp._ground(
      _entries.position_id, _entries.map_id, _entries.side, _entries.night, _entries.fqs, _entries.frs
    )
  ),
  goal as materialized (
    select *
    from ccp._ground(
      _entries.position_id, _entries.map_id, _entries.side, _entries.night, _entries.tqs, _entries.trs
    )
  )
  select
    goal.i,
    along.way,
    goal.terrain,
    cost.rule,
    cost.halves,
    cost.unseen,
    case along.way
      when 'terrain' then goal.dark
      when 'trench' then case when _entries.trench_reading = 'c' then goal.dark else 0 end
      when 'bridge' then case when _entries.bridge_reading = 'a' then goal.dark else 0 end
      -- 18.2: a path is a Feature, which night does not touch
      else 0
    end,
    -- T89.1, but never along a trench (F106.2)
    case when along.way = 'trench' then 0 else 2 * greatest(0, goal.level - start.level) end,
    goal.word,
    goal.enemy,
    start.wire,
    goal.wire,
    start.mines,
    goal.mines,
    case
      when along.way = 'trench' and (_entries.night or crossing.unseen < crossing.halves) then 'ccp-17'
      when along.way = 'bridge' and _entries.night then 'ccp-24'
    end
  from goal
  inner join start on start.i = goal.i
  left join crossing on crossing.x = start.q + goal.q and crossing.y = start.r + goal.r
  cross join lateral (
    select
      case
        when (start.trench and (goal.trench or goal.strongpoint)) or (start.strongpoint and goal.trench)
          then 'trench'
        when crossing.kind is not null and goal.word is null then crossing.kind
        -- T84: a bridge over several hexes is crossed from one to the next
        when start.bridge is not null and goal.bridge is not null then 'bridge'
        else 'terrain'
      end as way
  ) as along
  cross join lateral (
    select
      case along.way
        when 'trench' then 'F106.2'
        when 'terrain' then goal.rule
        when 'bridge' then 'T84'
        else crossing.rule
      end as rule,
      case along.way
        when 'trench' then 2
        when 'terrain' then goal.halves
        when 'bridge' then goal.bridge
        else crossing.halves
      end as halves,
      case
        when along.way = 'trench'
          then case when _entries.trench_reading = 'b' then least(2, crossing.unseen) end
        when along.way not in ('bridge', 'terrain') then crossing.unseen
      end as unseen
  ) as cost;
end
$$;

comment on function ccp._entries(
  bigint, bigint, text, boolean, text, text, integer[], integer[], integer[], integer[]
) is
'What entering a hex from the one beside it costs and meets, part by part, for many such steps at once.';

create or replace function ccp._watched(
  position_id bigint, side text, qs integer[], rs integer[], conditions jsonb, policy jsonb
)
returns table (q integer, r integer, watcher text, points text[])
language plpgsql stable rows 10
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  eye record;
  line record;
  open_qs integer[] := _watched.qs;
  open_rs integer[] := _watched.rs;
  dark_qs integer[];
  dark_rs integer[];
begin
  -- units in one hex see alike, but for those inside its cave; the nearest are asked first
  for eye in
    select distinct on (near.away, stat.q, stat.r, stat.in_cave)
      stat.id,
      stat.code,
      stat.q,
      stat.r
    from (
      select
        stat.*,
        coalesce((stat.attributes ->> 'in_cave')::boolean, false) as in_cave
      from ccp._stats(_watched.position_id, _watched.policy) as stat
      where stat.side <> _watched.side
        and stat.kind <> 'aircraft'
    ) as stat
    cross join lateral (
      select min(lattice.distance(stat.q, stat.r, hex.q, hex.r)) as away
      from unnest(_watched.qs, _watched.rs) as hex (q, r)
    ) as near
    order by near.away, stat.q, stat.r, stat.in_cave, stat.code
  loop
    exit when cardinality(open_qs) = 0;
    dark_qs := '{}';
    dark_rs := '{}';
    for line in
      select
        told.i,
        bool_or(told.effect = 'visible') as visible,
        array_agg(distinct told.point) filter (where told.point is not null) as points
      from ccp._told(
        _watched.position_id, eye.q, eye.r, eye.id, open_qs, open_rs, null,
        _watched.conditions, _watched.policy
      ) as told
      group by told.i
    loop
      q := open_qs[line.i];
      r := open_rs[line.i];
      watcher := case when line.visible then eye.code end;
      points := line.points;
      return next;
      if not line.visible then
        dark_qs := dark_qs || q;
        dark_rs := dark_rs || r;
      end if;
    end loop;
    open_qs := dark_qs;
    open_rs := dark_rs;
  end loop;
end
$$;

comment on function ccp._watched(bigint, text, integer[], integer[], jsonb, jsonb) is
'Which hexes an enemy of a side sees: a row a line that was tried, by whom if it is open, and the points it touches.';

create or replace function ccp._op_fire(
  position_id bigint, side text, qs integer[], rs integer[], conditions jsonb, policy jsonb
)
returns table (q integer, r integer, by text, effect text, note text, points text[])
language sql stable rows 10
as $$
  with arm as materialized (
    select arm.*
    from ccp._arms(_op_fire.position_id, _op_fire.policy) as arm
    where arm.side <> _op_fire.side
      and not arm.ordnance
      and arm.barred is null
  ),
  goal as materialized (
    select
      hex.q,
      hex.r,
      hex.level::integer as level
    from public.position
    cross join unnest(_op_fire.qs, _op_fire.rs) as wanted (q, r)
    inner join public.hex on hex.map_id = position.map_id and hex.q = wanted.q and hex.r = wanted.r
    where position.id = _op_fire.position_id
  ),
  wanted as materialized (
    select
      arm.unit,
      arm.by,
      arm.q as fq,
      arm.r as fr,
      goal.q,
      goal.r,
      lattice.distance(arm.q, arm.r, goal.q, goal.r) as away,
      -- O27.3.1.2: a unit and its weapon fire together as X + Y; T89.2: height counts
      max(arm.fp) + count(*) - 1 + max(sign(arm.level - goal.level)) as strength,
      bool_or(arm.fp is null) as untold,
      string_agg(arm.name, ' and ' order by arm.arm) as with_what
    from arm
    inner join goal on lattice.distance(arm.q, arm.r, goal.q, goal.r) between arm.nearest and arm.farthest
    group by arm.unit, arm.by, arm.q, arm.r, goal.q, goal.r
  ),
  eye as materialized (
    select
      wanted.unit,
      wanted.fq,
      wanted.fr,
      array_agg(wanted.q order by wanted.q, wanted.r) as qs,
      array_agg(wanted.r order by wanted.q, wanted.r) as rs
    from wanted
    group by wanted.unit, wanted.fq, wanted.fr
  ),
  line as materialized (
    select
      eye.unit,
      eye.qs[told.i] as q,
      eye.rs[told.i] as r,
      max(told.hindrance) filter (where told.effect = 'visible') as hindrance,
      bool_or(told.effect = 'visible') as visible,
      array_agg(distinct told.point) filter (where told.point is not null) as points
    from eye
    cross join lateral ccp._told(
      _op_fire.position_id, eye.fq, eye.fr, eye.unit, eye.qs, eye.rs, null, _op_fire.conditions, _op_fire.policy
    ) as told
    group by eye.unit, eye.qs[told.i], eye.rs[told.i]
  )
  select
    wanted.q,
    wanted.r,
    wanted.by,
    case
      when not line.visible then 'hidden'
      when not wanted.untold and wanted.strength <= line.hindrance then 'hindered'
      else 'opportunity fire'
    end,
    case
      when not line.visible then format('out of sight of %s', wanted.by)
      when not wanted.untold and wanted.strength <= line.hindrance
        then format(
          'a Hindrance of %s leaves %s none of its %s FP: only in a Fire Group, or by an action',
          line.hindrance, wanted.with_what, wanted.strength
        )
      else format(
        '%s at range %s%s', wanted.with_what, wanted.away,
        case when line.hindrance > 0 then format(', hindered by %s', line.hindrance) end
      )
    end,
    line.points
  from wanted
  inner join line on line.unit = wanted.unit and line.q = wanted.q and line.r = wanted.r
  -- out of sight is told only where it could be read otherwise
  where line.visible or line.points is not null
  union all
  select
    null,
    null,
    arm.by,
    'unknown',
    format('the range of %s', arm.name),
    null
  from arm
  where arm.farthest is null
$$;

comment on function ccp._op_fire(bigint, text, integer[], integer[], jsonb, jsonb) is
'Who of the other side could fire at a unit that enters these hexes, with what and why not (A41, O27.3.2).';

create or replace function ccp._allowance_told(position_id bigint, unit text, options jsonb, policy jsonb)
returns table (n integer, rule text, at text, effect text, note text, point text, halves integer)
language sql stable rows 6
as $$
  select
    row_number() over (order by mover.code <> _allowance_told.unit, mover.code, fact.n)::integer,
    fact.rule,
    mover.label,
    fact.effect,
    fact.note,
    fact.point,
    fact.halves
  from ccp._movers(
    _allowance_told.position_id, _allowance_told.unit, _allowance_told.options, _allowance_told.policy
  ) as mover
  cross join lateral (
    select
      mover.attributes -> 'weapon' as weapon,
      (mover.attributes -> 'weapon' ->> 'movement')::integer as burden,
      (2 * (mover.attributes ->> 'movement')::numeric)::integer as movement
  ) as counter
  left join lateral (
    select string_agg(leader.code, ', ' order by leader.code) as codes,
      sum(leader.command)::integer as command
    from ccp._stats(_allowance_told.position_id, _allowance_told.policy) as leader
    where leader.side = mover.side
      and leader.q = mover.q
      and leader.r = mover.r
      and leader.kind in ('leader', 'hero')
      and leader.command > 0
  ) as led on mover.follows
  cross join lateral (
    values
    (
      counter.movement is null, 1, '3.1.3', 'unknown', format('the movement of %s', mover.code), null,
      null::integer
    ),
    (
      counter.movement is not null, 1, '3.1.3', trim_scale(counter.movement / 2.0)::text,
      format('%s: the movement of its counter', mover.code), null, counter.movement
    ),
    (
      coalesce((mover.attributes ->> 'veteran')::boolean, false), 2, '4.1.2', '+1',
      format('%s: a veteran', mover.code), null, 2
    ),
    (
      coalesce((mover.attributes ->> 'suppressed')::boolean, false), 3, '4.2.2', '-1',
      format('%s: suppressed', mover.code), null, -2
    ),
    (
      coalesce(counter.burden, 0) <> 0, 4, '5.1', to_char(counter.burden, 'FMSG9'),
      format('%s carries %s', mover.code, counter.weapon ->> 'name'), null, 2 * counter.burden
    ),
    (
      led.command > 0, 5, '3.3.1.2', to_char(led.command, 'FMSG9'),
      format('%s: command of %s in its hex', mover.code, led.codes), null, 2 * led.command
    ),
    (
      mover.broken_leader is not null, 6, 'O27.3.4', 'command',
      format('what %s, a broken leader, still commands', mover.broken_leader), 'ccp-29', null
    )
  ) as fact (holds, n, rule, effect, note, point, halves)
  where fact.holds
    and _allowance_told.options ->> 'points' is null
  union all
  select
    1,
    'O29',
    counter.label,
    trim_scale((_allowance_told.options ->> 'points')::numeric)::text,
    'the points that the question gives it',
    null,
    (2 * (_allowance_told.options ->> 'points')::numeric)::integer
  from positions._counter(_allowance_told.position_id, _allowance_told.unit) as counter
  where _allowance_told.options ->> 'points' is not null
$$;

comment on function ccp._allowance_told(bigint, text, jsonb, jsonb) is
'What movement each mover has where it begins, and every rule that changed it.';

create or replace function ccp._exit(map_id bigint, q integer, r integer, side text)
returns table (effect text, note text)
language sql stable rows 1
as $$
  select
    case
      when count(place.id) = 0 then 'forbids'
      when bool_or(place.attributes ->> 'side' = _exit.side) then 'allows'
      when bool_or(place.attributes ->> 'side' is null) then 'unknown'
      else 'forbids'
    end,
    case
      when count(place.id) = 0 then 'there is no Exit Point here'
      when bool_or(place.attributes ->> 'side' = _exit.side)
        then format('by Exit Point %s%s', min(place.code), ', worth ' || min(place.attributes ->> 'value'))
      when bool_or(place.attributes ->> 'side' is null)
        then format('the side that may leave by Exit Point %s', min(place.code))
      else format('Exit Point %s is on its own map edge', min(place.code))
    end
  from public.map_feature_hex as at
  inner join public.map_feature as place on place.id = at.feature and place.kind = 'exit'
  where at.map_id = _exit.map_id
    and at.q = _exit.q
    and at.r = _exit.r
    and at.role = 'at'
$$;

comment on function ccp._exit(bigint, integer, integer, text) is
'Whether a side may leave the map from a hex, and by which Exit Point (14.2.1).';

create or replace function ccp._route(position_id bigint, unit text, path text[])
returns table (i integer, fq integer, fr integer, start text, tq integer, tr integer, label text)
language plpgsql stable rows 10
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  origin record;
  lost text;
begin
  select * into origin from positions._counter(_route.position_id, _route.unit);
  select min(step.label)
  into lost
  from unnest(_route.path) as step (label)
  inner join public.position on position.id = _route.position_id
  left join public.hex on hex.map_id = position.map_id and hex.label = step.label
  where hex.q is null;
  if lost is not null then
    raise exception 'there is no hex % on this map', lost using errcode = 'no_data_found';
  end if;
  return query
  select
    row_number() over (order by step.n)::integer,
    lag(step.q, 1, origin.q) over (order by step.n),
    lag(step.r, 1, origin.r) over (order by step.n),
    lag(step.label, 1, origin.label) over (order by step.n),
    step.q,
    step.r,
    step.label
  from (
    select
      step.n,
      hex.q,
      hex.r,
      hex.label
    from unnest(_route.path) with ordinality as step (label, n)
    inner join public.position on position.id = _route.position_id
    inner join public.hex on hex.map_id = position.map_id and hex.label = step.label
    -- its own hex may come first
    where step.n > 1 or hex.label <> origin.label
  ) as step;
end
$$;

comment on function ccp._route(bigint, text, text[]) is
'A way as steps, each from a hex to the next; the unit''s own hex may be left out at its beginning.';

create or replace function ccp._hidden(position_id bigint, options jsonb)
returns table (kind text, rule text, q integer, r integer, label text, placed boolean)
language sql stable rows 2
as $$
  select
    asked.kind,
    asked.rule,
    hex.q,
    hex.r,
    hex.label,
    not ccp._is_water(hex.terrain)
    and not exists (
      select
      from public.marker
      where marker.position_id = _hidden.position_id
        and marker.q = hex.q
        and marker.r = hex.r
        and marker.kind in (select fort.kind from ccp._fortifications() as fort)
    )
  from (values ('wire', 'hidden_wire', 'A43.7'), ('mines', 'hidden_mines', 'A43.2')) as asked (kind, word, rule)
  cross join lateral jsonb_array_elements_text(_hidden.options -> asked.word) as named (label)
  inner join public.position on position.id = _hidden.position_id
  inner join public.hex on hex.map_id = position.map_id and hex.label = named.label
$$;

comment on function ccp._hidden(bigint, jsonb) is
'Wire and mines that are revealed as the hex is entered, and whether they may be placed there (A43.2, A43.3, A43.7).';

-- The rows of a move, in SQL: what each step costs and meets, where the way fails, who may fire.
create or replace function ccp._march(
  position_id bigint, unit text, path text[], options jsonb, conditions jsonb, policy jsonb
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
language sql stable rows 20
as $$
  with party as materialized (
    select
      party.*,
      reading.*
    from ccp._party(_march.position_id, _march.unit, _march.options, _march.conditions, _march.policy) as party
    inner join public.position on position.id = _march.position_id
    cross join lateral ccp._move_readings(coalesce(_march.policy, position.policy)) as reading
  ),
  post as materialized (
    select post.*
    from party
    cross join lateral ccp._posts(_march.position_id, party.side, party.ids, _march.policy) as post
    where party.squads is not null
  ),
  hidden as materialized (
    select * from ccp._hidden(_march.position_id, _march.options)
  ),
  route as materialized (
    select * from ccp._route(_march.position_id, _march.unit, _march.path)
  ),
  -- leaving the map is a step without a hex (14.2.1)
  stage as materialized (
    select
      route.*,
      false as leaves
    from route
    union all
    select
      coalesce(goal.i, 0) + 1,
      coalesce(goal.tq, party.q),
      coalesce(goal.tr, party.r),
      coalesce(goal.label, party.label),
      null,
      null,
      coalesce(goal.label, party.label),
      true
    from party
    left join lateral (select * from route order by route.i desc limit 1) as goal on true
    where (_march.options ->> 'exit')::boolean
  ),
  entry as materialized (
    select entry.*
    from party
    cross join lateral (
      select
        array_agg(route.fq order by route.i) as fqs,
        array_agg(route.fr order by route.i) as frs,
        array_agg(route.tq order by route.i) as tqs,
        array_agg(route.tr order by route.i) as trs
      from route
    ) as way
    cross join lateral ccp._entries(
      _march.position_id, party.map_id, party.side, party.night, party.trench, party.bridge,
      way.fqs, way.frs, way.tqs, way.trs
    ) as entry
  ),
  watched as materialized (
    select
      watched.q,
      watched.r,
      min(watched.watcher) as watcher,
      array_agg(distinct touched.point) filter (where touched.point is not null) as points
    from party
    cross join lateral (
      select
        array_agg(route.tq) as qs,
        array_agg(route.tr) as rs
      from route
      inner join entry on entry.i = route.i
      where entry.unseen < entry.halves
    ) as road
    cross join lateral ccp._watched(
      _march.position_id, party.side, road.qs, road.rs, _march.conditions, _march.policy
    ) as watched
    left join lateral unnest(watched.points) as touched (point) on true
    group by watched.q, watched.r
  ),
  priced as materialized (
    select
      stage.*,
      entry.way,
      entry.terrain,
      entry.rule,
      entry.halves,
      entry.dark,
      entry.uphill,
      entry.enemy,
      entry.out_of_mines or was_mines.q is not null as out_of_mines,
      entry.into_mines,
      entry.point,
      entry.unseen < entry.halves and watched.watcher is null as unseen,
      case when entry.unseen < entry.halves then watched.watcher end as watcher,
      watched.points,
      not stage.leaves and lattice.distance(stage.fq, stage.fr, stage.tq, stage.tr) <> 1 as far,
      entry.word,
      ccp._allowance(
        party.told, party.untold, party.squads, party.leaders, party.carried, coalesce(post.led, 0)
      ) as has,
      case when party.squads is not null and party.told is null then coalesce(post.untold, party.untold_command) end
        as doubtful,
      case
        when entry.word = 'all' then null
        when stage.leaves then 2
        when entry.unseen < entry.halves and watched.watcher is null then entry.unseen
        else entry.halves
      end
      + coalesce(entry.dark + entry.uphill, 0) as price,
      wire.q is not null as wired,
      mines.q is not null as mined,
      out.effect as exit_effect,
      out.note as exit_note,
      case
        when stage.leaves then null
        when entry.word = 'all' then 'T99'
        when entry.into_wire then 'F107.2'
        when wire.q is not null and party.wire = 'a' then 'A43.7'
        when entry.out_of_wire or (party.wire = 'b' and was_wire.q is not null) then 'F107.2'
      end as ends,
      case
        when entry.word = 'all' then 'all points are lost in the water'
        when entry.into_wire then 'all points are lost in the wire'
        when wire.q is not null and party.wire = 'a' then 'wire is placed here: the move is over'
        else 'out of wire it stops in the first hex'
      end as ends_note
    from stage
    cross join party
    left join entry on entry.i = stage.i and not stage.leaves
    left join watched on watched.q = stage.tq and watched.r = stage.tr
    left join post on post.q = stage.fq and post.r = stage.fr
    left join hidden as wire on wire.kind = 'wire' and wire.placed and wire.q = stage.tq and wire.r = stage.tr
    left join hidden as mines on mines.kind = 'mines' and mines.placed and mines.q = stage.tq and mines.r = stage.tr
    left join hidden as was_mines
      on was_mines.kind = 'mines' and was_mines.placed and was_mines.q = stage.fq and was_mines.r = stage.fr
        and stage.i > 1
    left join hidden as was_wire
      on was_wire.kind = 'wire' and was_wire.placed and was_wire.q = stage.fq and was_wire.r = stage.fr and stage.i > 1
    left join lateral ccp._exit(party.map_id, stage.fq, stage.fr, party.side) as out on stage.leaves
  ),
  counted as materialized (
    select
      priced.*,
      case when priced.word = 'all' then priced.has else priced.price end as total,
      coalesce(
        sum(case when priced.word = 'all' then priced.has else priced.price end)
          over (order by priced.i rows between unbounded preceding and 1 preceding),
        0
      )::integer as spent,
      lag(priced.ends) over (order by priced.i) as ended,
      lag(priced.ends_note) over (order by priced.i) as ended_note
    from priced
  ),
  judged as materialized (
    select
      counted.*,
      counted.spent + counted.price > counted.has as dear,
      coalesce(counted.far, false)
      or counted.ended is not null
      or coalesce(counted.word = 'prohibited', false)
      or counted.enemy is not null
      or coalesce(counted.word = 'all' and (counted.i > 1 or counted.has = 0), false)
      or (counted.i = 1 and party.apart is not null)
      or coalesce(counted.exit_effect = 'forbids', false)
      or (
        counted.doubtful is null
        and coalesce(counted.spent + counted.price > counted.has, false)
      ) as fails,
      counted.has is null
      or counted.total is null
      or coalesce(counted.exit_effect = 'unknown', false)
      or (
        counted.doubtful is not null
        and coalesce(counted.spent + counted.price > counted.has, false)
      ) as open
    from counted
    cross join party
  ),
  finish as materialized (
    select
      min(judged.i) filter (where judged.fails) as fails,
      min(judged.i) filter (where judged.open) as opens,
      coalesce(min(judged.i) filter (where judged.fails or judged.open), max(judged.i) + 1) as stop
    from judged
  ),
  -- where it stands when it is over
  rest as materialized (
    select
      coalesce(done.i, 0) as i,
      coalesce(done.tq, party.q) as q,
      coalesce(done.tr, party.r) as r,
      coalesce(done.label, party.label) as label,
      coalesce(done.leaves, false) as left_map,
      coalesce(done.spent + done.total, 0) as spent,
      case
        when done.leaves or done.ends is not null then 0
        when allowance.halves is not null
          then greatest(0, allowance.halves - coalesce(done.spent + done.total, 0))
      end as remaining
    from party
    cross join finish
    left join judged as done on done.i = finish.stop - 1
    left join post
      on post.q = coalesce(done.tq, party.q)
        and post.r = coalesce(done.tr, party.r)
    cross join lateral (
      select
        ccp._allowance(
          party.told, party.untold, party.squads, party.leaders, party.carried, coalesce(post.led, 0)
        ) as halves
    ) as allowance
  ),
  fired as materialized (
    select fired.*
    from party
    cross join finish
    cross join lateral (
      select
        array_agg(hex.q) as qs,
        array_agg(hex.r) as rs
      from (
        select
          judged.tq as q,
          judged.tr as r
        from judged
        where judged.i < finish.stop
          and not judged.leaves
          and judged.way <> 'trench'
        union
        select
          judged.fq,
          judged.fr
        from judged
        where judged.i < finish.stop
          and judged.leaves
          and party.op_fire = 'b'
      ) as hex
    ) as entered
    cross join lateral ccp._op_fire(
      _march.position_id, party.side, entered.qs, entered.rs, _march.conditions, _march.policy
    ) as fired
    where entered.qs is not null
  ),
  told as (
    select
      0 as i,
      allowance.n as m,
      allowance.rule,
      allowance.at,
      allowance.effect,
      allowance.note,
      allowance.point,
      allowance.halves,
      null::text as by
    from ccp._allowance_told(_march.position_id, _march.unit, _march.options, _march.policy) as allowance
    union all
    select
      0,
      99,
      'F102.1.1',
      party.label,
      'leaves cave',
      'it comes out of the cave as the order begins, at no cost and under no fire',
      null,
      null,
      null
    from party
    where party.in_cave
    union all
    select
      judged.i,
      fact.m,
      fact.rule,
      coalesce(fact.at, judged.label),
      fact.effect,
      fact.note,
      fact.point,
      fact.halves,
      null
    from judged
    cross join party
    cross join finish
    left join post on post.q = judged.tq and post.r = judged.tr
    left join post as left_post on left_post.q = judged.fq and left_post.r = judged.fr
    cross join lateral (
      values
      (
        judged.out_of_mines and judged.i < finish.stop, 1, 'F104.1', judged.start, 'roll',
        'mines attack those who leave; hit or not, they are placed in the next hex', null, null
      ),
      -- what it costs
      (
        judged.word is null and not judged.far and not judged.leaves and judged.halves is not null, 2,
        judged.rule, null, 'cost',
        case
          when judged.unseen then format('along the %s, where no enemy sees it', judged.way)
          when judged.watcher is not null then format('along the %s, seen by %s', judged.way, judged.watcher)
          when judged.way = 'trench' then 'between trench and trench, bunker or pillbox'
          when judged.way = 'bridge' then 'over the bridge'
          when judged.way = 'terrain' then replace(judged.terrain, '_', ' ')
          else format('along the %s', judged.way)
        end,
        judged.point,
        judged.price - judged.dark - judged.uphill
      ),
      (
        judged.word is null and not judged.far and not judged.leaves and judged.halves is null, 2, judged.rule,
        null, 'unknown', format('the other terrain in the bridge hex %s', judged.label), null, null
      ),
      (
        judged.dark <> 0 and judged.word is null and not judged.far, 3, '18.2', null, 'cost', 'at night',
        judged.point, judged.dark
      ),
      (
        judged.uphill <> 0 and judged.word is null and not judged.far, 4, 'T89.1', null, 'cost',
        format('%s up', case when judged.uphill = 2 then 'a level' else judged.uphill / 2 || ' levels' end), null,
        judged.uphill
      ),
      (
        judged.word = 'all' and judged.i = 1 and not judged.far and judged.has is not null, 2, 'T99', null, 'cost',
        'water barrier: all its points', null, judged.has
      ),
      (judged.leaves, 2, '14.2.2', null, 'cost', 'leaving the map', null, 2),
      (
        judged.leaves and judged.exit_effect = 'allows', 5, '14.2.1', null, 'allows', judged.exit_note, null, null
      ),
      -- what forbids it
      (
        judged.i = 1 and party.apart is not null, 6, 'O29.2', party.label, 'forbids',
        format('%s does not begin in this hex and cannot move along', party.apart), null, null
      ),
      (judged.far, 6, 'O29.1', null, 'forbids', format('not adjacent to %s', judged.start), null, null),
      (
        judged.ended is not null, 6, judged.ended, judged.start, 'forbids',
        format('the move ended here: %s', judged.ended_note), case judged.ended when 'A43.7' then 'ccp-5' end, null
      ),
      (judged.word = 'prohibited', 6, 'O29.4', null, 'forbids', 'a blaze is impassable', null, null),
      (
        judged.enemy is not null, 6, 'O29.4', null, 'forbids',
        format('enemy-occupied: %s', judged.enemy), null, null
      ),
      (
        judged.word = 'all' and judged.i > 1, 6, 'T99', null, 'forbids',
        'a water barrier is entered only as the first and last hex of a move', null, null
      ),
      (
        judged.word = 'all' and judged.i = 1 and judged.has = 0, 6, 'O29.1', null, 'forbids', 'it has no points', null,
        null
      ),
      (
        judged.exit_effect = 'forbids', 6, '14.2.1', null, 'forbids', judged.exit_note, null, null
      ),
      (judged.exit_effect = 'unknown', 6, '14.2.1', null, 'unknown', judged.exit_note, null, null),
      (
        judged.dear and judged.word is null and judged.doubtful is null, 7, 'O29.1', null, 'forbids',
        format(
          'it costs %s and %s is left',
          trim_scale(judged.price / 2.0), trim_scale(greatest(0, judged.has - judged.spent) / 2.0)
        ),
        null, null
      ),
      (
        judged.dear and judged.word is null and judged.doubtful is not null, 7, '3.3.1.2', null, 'unknown',
        format('the command number of %s', judged.doubtful), null, null
      ),
      -- what it does
      (
        judged.ends is not null and judged.i < finish.stop, 8, judged.ends, null, 'stops', judged.ends_note,
        case when judged.wired then 'ccp-5' end, null
      ),
      (
        judged.wired and party.wire = 'b' and judged.i < finish.stop, 8, 'A43.7', null, 'places wire',
        'wire is placed here; it may still leave with what it has', 'ccp-5', null
      ),
      (
        coalesce(post.led, 0) <> coalesce(left_post.led, 0) and party.squads is not null and party.told is null
        and judged.i < finish.stop and not judged.leaves, 9, '3.3.1.2', null,
        to_char((coalesce(post.led, 0) - coalesce(left_post.led, 0)) / 2, 'FMSG9'),
        'command of the leaders who stay in the hex, against the hex before', null, null
      ),
      (
        post.broken is not null and judged.i < finish.stop and not judged.leaves, 9, 'O27.3.4', null, 'command',
        format('what %s, a broken leader, still commands', post.broken), 'ccp-29', null
      ),
      (
        judged.way = 'trench' and judged.i < finish.stop, 11, 'F106.2', null, 'no opportunity fire',
        'it came through the trench', null, null
      ),
      (
        judged.leaves and judged.i < finish.stop and party.op_fire = 'a', 11, 'A41.1', null, 'no opportunity fire',
        'it enters no hex as it leaves the map', 'ccp-19', null
      )
    ) as fact (holds, m, rule, at, effect, note, point, halves)
    where fact.holds
      and judged.i <= finish.stop
    union all
    -- sight that a road's cost hangs on, where it could be read otherwise
    select
      judged.i,
      2,
      'T94',
      judged.label,
      case when judged.watcher is null then 'unseen' else 'seen' end,
      'a line of sight to this hex could be read otherwise',
      touched.point,
      null,
      null
    from judged
    cross join finish
    cross join lateral unnest(judged.points) as touched (point)
    where judged.i <= finish.stop
    union all
    -- F104.1: one roll for all who enter together, however many a Hidden action finds (ccp-11)
    select
      judged.i,
      case when party.first_strike = 'b' then 13 else 10 end,
      case when judged.mined then 'A43.2' else 'F104.1' end,
      judged.label,
      'roll',
      'mines attack those who enter',
      case
        when judged.mined and cardinality(party.ids) > 1 then 'ccp-11'
        when exists (select from fired where fired.q = judged.tq and fired.r = judged.tr) then 'ccp-30'
      end,
      null,
      null
    from judged
    cross join party
    cross join finish
    cross join lateral generate_series(
      1, case when judged.mined and party.mines = 'b' then cardinality(party.ids) else 1 end
    )
    where judged.i < finish.stop
      and (judged.into_mines or judged.mined)
    union all
    select
      judged.i,
      8,
      hidden.rule,
      hidden.label,
      'not placed',
      format('no %s is placed in water or beside another fortification', hidden.kind),
      null,
      null,
      null
    from hidden
    inner join judged on judged.tq = hidden.q and judged.tr = hidden.r
    cross join finish
    where not hidden.placed
      and judged.i < finish.stop
    union all
    select
      judged.i,
      12,
      case fired.effect when 'hindered' then 'O27.3.2' when 'hidden' then 'O27.1.1' else 'A41.1' end,
      judged.label,
      fired.effect,
      fired.note,
      touched.point,
      null,
      fired.by
    from fired
    inner join judged on not judged.leaves and judged.tq = fired.q and judged.tr = fired.r and judged.way <> 'trench'
    cross join finish
    left join lateral unnest(fired.points) with ordinality as touched (point, n) on touched.n = 1
    where judged.i < finish.stop
    union all
    select
      judged.i,
      12,
      case fired.effect when 'opportunity fire' then 'A41.2' else 'O27.3.2' end,
      judged.label,
      fired.effect,
      fired.note,
      'ccp-19',
      null,
      fired.by
    from fired
    inner join judged on judged.leaves and judged.fq = fired.q and judged.fr = fired.r
    cross join finish
    cross join party
    where judged.i < finish.stop
      and party.op_fire = 'b'
    union all
    select
      1000,
      1,
      '3.1.2',
      rest.label,
      'unknown',
      fired.note,
      null,
      null,
      fired.by
    from fired
    cross join rest
    where fired.q is null
    union all
    select
      1000,
      fact.m,
      fact.rule,
      rest.label,
      fact.effect,
      fact.note,
      null,
      null,
      null
    from rest
    cross join party
    cross join finish
    cross join lateral (
      select
        party.figures + coalesce(sum(ccp._figures(stat.kind)), 0) as figures,
        exists (
          select
          from public.marker
          where marker.position_id = _march.position_id
            and marker.q = rest.q
            and marker.r = rest.r
            and marker.kind = 'cave'
        ) as cave
      from ccp._stats(_march.position_id, _march.policy) as stat
      where stat.q = rest.q
        and stat.r = rest.r
        and not stat.id = any(party.ids)
    ) as hex
    cross join lateral (
      values
      (
        hex.figures > 7, 2, '15.2.2', 'overstacked',
        format('%s soldier figures, %s too many: the Cover of the hex is that much less', hex.figures, hex.figures - 7)
      ),
      (
        hex.cave and party.side = 'japan', 3, 'F102.1.1', 'may enter cave',
        'as the order ends it may go inside, at no cost and under no fire'
      )
    ) as fact (holds, m, rule, effect, note)
    where fact.holds
      and rest.i > 0
      and not rest.left_map
      and finish.fails is null
      and finish.opens is null
  ),
  verdict as (
    select
      case when count(judged.i) = 0 then 'O20.3' else 'O29' end as rule,
      coalesce(min(judged.label) filter (where judged.i = finish.stop), min(rest.label)) as at,
      case
        when count(judged.i) = 0 or finish.stop = finish.fails then 'illegal'
        when finish.stop = finish.opens then 'unknown'
        else 'legal'
      end as effect,
      case
        when count(judged.i) = 0 then 'a move enters at least one hex'
        when finish.stop = finish.fails and finish.stop = 1 then 'it cannot take the first step'
        when finish.stop = finish.fails then format('it gets no farther than %s', min(rest.label))
        when finish.stop = finish.opens then 'what is not told would decide it'
        when bool_or(rest.left_map) then 'it leaves the map'
        else 'the whole way'
      end as note,
      min(rest.spent) as halves,
      min(rest.remaining) as remaining
    from finish
    cross join rest
    left join judged on true
    group by finish.stop, finish.fails, finish.opens
  )
  select
    line.rule,
    null::text,
    line.at,
    line.effect,
    line.note,
    line.point,
    line.halves,
    line.remaining,
    line.by
  from (
    select
      told.i,
      told.m,
      told.rule,
      told.at,
      told.effect,
      told.note,
      told.point,
      told.halves,
      null::integer as remaining,
      told.by
    from told
    union all
    select
      1001,
      0,
      verdict.rule,
      verdict.at,
      verdict.effect,
      verdict.note,
      null,
      verdict.halves,
      verdict.remaining,
      null
    from verdict
  ) as line
  order by line.i, line.m, line.at, line.by, line.rule
$$;

comment on function ccp._march(bigint, text, text[], jsonb, jsonb, jsonb) is
'A Move order along a way: every rule that speaks, in the order of the way, the verdict last (O29).';

create or replace function ccp._advance_goals(position_id bigint, map_id bigint, q integer, r integer, side text)
returns table (q integer, r integer, label text, tunnel boolean, blaze boolean, enemy text, mines boolean)
language sql stable rows 8
as $$
  with marked as materialized (
    select
      marker.q,
      marker.r,
      bool_or(marker.kind = 'cave') as cave,
      bool_or(marker.kind = 'blaze') as blaze,
      bool_or(marker.kind = 'mines') as mines
    from public.marker
    where marker.position_id = _advance_goals.position_id
    group by marker.q, marker.r
  )
  select
    hex.q,
    hex.r,
    hex.label,
    place.away > 1,
    coalesce(marked.blaze, false) or hex.terrain = 'blaze',
    held.enemy,
    coalesce(marked.mines, false)
  from public.hex
  cross join lateral (
    select lattice.distance(_advance_goals.q, _advance_goals.r, hex.q, hex.r) as away
  ) as place
  left join marked on marked.q = hex.q and marked.r = hex.r
  left join lateral (
    select min(unit.code) as enemy
    from public.unit
    where unit.position_id = _advance_goals.position_id
      and unit.q = hex.q
      and unit.r = hex.r
      and unit.side <> _advance_goals.side
      and unit.kind <> 'aircraft'
  ) as held on true
  where hex.map_id = _advance_goals.map_id
    and (
      place.away = 1
      -- F102.3; it may have gone inside as the order began (F102.1.1)
      or (
        place.away > 1
        and marked.cave
        and _advance_goals.side = 'japan'
        and exists (
          select
          from marked as own
          where own.q = _advance_goals.q
            and own.r = _advance_goals.r
            and own.cave
        )
      )
    )
$$;

comment on function ccp._advance_goals(bigint, bigint, integer, integer, text) is
'The hexes beside a hex, and for the Japanese in a cave hex every other cave: where an Advance could go (O22, F102.3).';

create or replace function ccp._advance(
  position_id bigint, unit text, path text[], options jsonb, conditions jsonb, policy jsonb
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
language sql stable rows 8
as $$
  with party as materialized (
    select * from ccp._party(_advance.position_id, _advance.unit, _advance.options, _advance.conditions, _advance.policy)
  ),
  hidden as materialized (
    select * from ccp._hidden(_advance.position_id, _advance.options)
  ),
  step as materialized (
    select
      route.i,
      route.label,
      goal.q,
      goal.r,
      goal.tunnel,
      goal.blaze,
      goal.enemy,
      goal.mines,
      false as leaves,
      null::text as exit_effect,
      null::text as exit_note
    from party
    cross join ccp._route(_advance.position_id, _advance.unit, _advance.path) as route
    left join lateral ccp._advance_goals(
      _advance.position_id, party.map_id, party.q, party.r, party.side
    ) as goal on goal.q = route.tq and goal.r = route.tr
    union all
    select
      1 + (select count(*) from ccp._route(_advance.position_id, _advance.unit, _advance.path))::integer,
      party.label,
      null,
      null,
      false,
      false,
      null,
      false,
      true,
      out.effect,
      out.note
    from party
    cross join lateral ccp._exit(party.map_id, party.q, party.r, party.side) as out
    where (_advance.options ->> 'exit')::boolean
  ),
  judged as materialized (
    select
      step.*,
      party.apart,
      party.label as start,
      step.i > 1
      or (step.q is null and not step.leaves)
      or step.blaze
      or coalesce(step.exit_effect = 'forbids', false)
      or party.apart is not null as fails,
      coalesce(step.exit_effect = 'unknown', false) as open
    from step
    cross join party
  ),
  told as (
    select
      judged.i,
      fact.m,
      fact.rule,
      coalesce(fact.at, judged.label) as at,
      fact.effect,
      fact.note,
      fact.point
    from judged
    cross join party
    left join hidden as mines on mines.kind = 'mines' and mines.placed and mines.q = judged.q and mines.r = judged.r
    cross join lateral (
      values
      (
        judged.i = 1 and not judged.fails, 1, 'O22.1', null, 'advances',
        'one hex, whatever it costs and whoever is there; no Op Fire', null
      ),
      (
        judged.i = 1 and judged.tunnel and not judged.fails, 2, 'F102.3', null, 'tunnel',
        'from inside its cave straight to another', null
      ),
      (
        judged.i = 1 and not judged.fails and exists (
          select
          from public.marker
          where marker.position_id = _advance.position_id
            and marker.kind = 'mines'
            and marker.q = party.q
            and marker.r = party.r
        ), 3, 'F104.1', party.label, 'roll',
        'mines attack those who leave; hit or not, they are placed in the next hex', null
      ),
      (judged.i > 1, 4, 'O22.1', null, 'forbids', 'an Advance goes one hex and stops', null),
      (
        judged.i = 1 and judged.q is null and not judged.leaves, 4, 'O22.1', null, 'forbids',
        format('not adjacent to %s, and no way from cave to cave', judged.start), null
      ),
      (judged.blaze, 4, 'O22.3', null, 'forbids', 'a blaze is impassable', null),
      (
        judged.apart is not null and judged.i = 1, 4, 'O22.1', party.label, 'forbids',
        format('%s is not in this hex', judged.apart), null
      ),
      (judged.exit_effect is not null, 4, '14.2.1', null, judged.exit_effect, judged.exit_note, null),
      (
        (judged.mines or mines.q is not null) and not judged.fails, 5,
        case when mines.q is not null then 'A43.2' else 'F104.1' end, null, 'roll', 'mines attack those who enter',
        case when mines.q is not null and cardinality(party.ids) > 1 then 'ccp-11' end
      ),
      (
        judged.enemy is not null and not judged.fails, 6, '19.1', null, 'melee',
        format('units of both sides are now in the hex, %s among them', judged.enemy), null
      )
    ) as fact (holds, m, rule, at, effect, note, point)
    where fact.holds
      and judged.i <= coalesce((select min(judged.i) from judged where judged.fails or judged.open), judged.i)
  ),
  finish as (
    select
      min(judged.i) filter (where judged.fails) as fails,
      min(judged.i) filter (where judged.open) as opens,
      count(*) as steps
    from judged
  )
  select
    line.rule,
    null::text,
    line.at,
    line.effect,
    line.note,
    line.point,
    case when line.i = 1001 then 0 end,
    null::integer,
    null::text
  from (
    select
      told.*
    from told
    union all
    select
      1001,
      0,
      case when finish.steps = 0 then 'O20.3' else 'O22.1' end,
      coalesce(halt.label, party.label),
      case
        when finish.steps = 0 or finish.fails is not null then 'illegal'
        when finish.opens is not null then 'unknown'
        else 'legal'
      end,
      case
        when finish.steps = 0 then 'an Advance enters one hex'
        when finish.fails is not null then 'it cannot advance there'
        when finish.opens is not null then 'what is not told would decide it'
        when halt.leaves then 'it leaves the map'
        else 'it advances'
      end,
      null
    from finish
    cross join party
    left join judged as halt on halt.i = coalesce(finish.fails, finish.opens, finish.steps)
  ) as line
  order by line.i, line.m, line.rule
$$;

comment on function ccp._advance(bigint, text, text[], jsonb, jsonb, jsonb) is
'An Advance order: every rule that speaks, the verdict last (O22).';

create or replace function ccp.move(
  position_id bigint,
  unit text,
  path text[],
  options jsonb default null,
  conditions jsonb default null,
  policy jsonb default null
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
#variable_conflict use_column
begin
  if move.options ->> 'as' = 'advance' then
    return query
    select *
    from ccp._advance(move.position_id, move.unit, move.path, move.options, move.conditions, move.policy);
  else
    return query
    select *
    from ccp._march(move.position_id, move.unit, move.path, move.options, move.conditions, move.policy);
  end if;
end
$$;

comment on function ccp.move(bigint, text, text[], jsonb, jsonb, jsonb) is
'A Move or an Advance along a way: a row for every rule that speaks, costs in halves of a point, the verdict last.';
