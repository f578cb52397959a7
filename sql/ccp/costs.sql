-- needs: ccp/party.sql
-- What a ccp step costs and meets: 18.2, O29, T81.2 to T99, F106.2.
--
-- A step's cost has parts: what is entered (terrain, or the path, bridge or trench along which it is
-- entered), night, and levels uphill. `ccp._entries` tells them for one way or for all steps of a
-- region, so that ccp.move and ccp.reach cannot disagree.

drop type if exists ccp.ground cascade;
create type ccp.ground as (
  i integer,
  q integer,
  r integer,
  label text,
  terrain text,
  level integer,
  rule text,
  halves integer,
  dark integer,
  word text,
  enemy text,
  bridge integer,
  trench boolean,
  strongpoint boolean,
  wire boolean,
  mines boolean
);

comment on type ccp.ground is
'What a hex costs to enter by its terrain alone, and what a mover meets in it.';
comment on column ccp.ground.halves is 'What entering costs where nothing but the terrain counts; null: not told';
comment on column ccp.ground.dark is 'Added at night';
comment on column ccp.ground.word is 'prohibited, or all points; of a bridge hex, from its side';
comment on column ccp.ground.bridge is 'What the bridge in it costs along the bridge; null: there is none';

drop type if exists ccp.entry cascade;
create type ccp.entry as (
  i integer,
  way text,
  terrain text,
  rule text,
  halves integer,
  unseen integer,
  dark integer,
  uphill integer,
  word text,
  enemy text,
  bridge boolean,
  out_of_wire boolean,
  into_wire boolean,
  out_of_mines boolean,
  into_mines boolean,
  point text
);

comment on type ccp.entry is
'What entering a hex from the one beside it costs and meets, part by part.';
comment on column ccp.entry.way is 'Along what it is entered: trench, a kind of path, bridge, or terrain';
comment on column ccp.entry.halves is 'The cost of what is entered; null: not told; unseen: where no enemy sees the hex';
comment on column ccp.entry.word is 'prohibited, or all points';
comment on column ccp.entry.bridge is 'Whether a bridge is there, along it or not';

create or replace function ccp._other_terrain(map_id bigint, q integer, r integer, features text[])
returns table (code text, halves integer, word text, rule text)
language plpgsql stable rows 1
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  select
    min(found.code),
    min(effect.halves),
    min(effect.word),
    min(effect.rule)
  from (
    select unnest(_other_terrain.features) as code
    union
    select area.terrain
    from public.hex
    inner join public.terrain_area as area
      on area.map_id = hex.map_id
        and area.geom operator(public.&&) hex.geom
        and public.st_relate(area.geom, hex.geom, 'T********')
    where hex.map_id = _other_terrain.map_id
      and hex.q = _other_terrain.q
      and hex.r = _other_terrain.r
      and cardinality(_other_terrain.features) = 0
      and area.terrain <> 'bridge'
  ) as found
  inner join public.terrain_effect as effect
    on effect.ruleset = 'ccp'
      and effect.feature = 'terrain'
      and effect.code = found.code
      and effect.aspect = 'cost'
  having count(distinct (effect.halves, effect.word)) = 1
    and bool_and(effect.halves is not null or effect.word is not null);
end
$$;

comment on function ccp._other_terrain(bigint, integer, integer, text[]) is
'What lies in a bridge hex beside the bridge, as its features or else its artwork tell; no row where that is open.';

-- These are asked for a way or for a whole region; their plans are made once a session.
create or replace function ccp._ground(party ccp.party, qs integer[], rs integer[])
returns setof ccp.ground
language plpgsql stable rows 100
set plan_cache_mode = force_generic_plan
set enable_nestloop = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  map bigint := (party.state).map_id;
  dark integer := case when party.night then 2 else 0 end;
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
    where marker.position_id = (party.state).position_id
    group by marker.q, marker.r
  ),
  held as materialized (
    select
      unit.q,
      unit.r,
      min(unit.code) as enemy
    from public.unit
    where unit.position_id = (party.state).position_id
      and unit.side <> party.side
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
  -- looked up one by one, however many the map has
  place as materialized (
    select place.i, place.q, place.r, hex.label, hex.terrain, hex.level, hex.features
    from unnest(_ground.qs, _ground.rs) with ordinality as place (q, r, i)
    left join lateral (
      select hex.label, hex.terrain, hex.level, hex.features
      from public.hex
      where hex.map_id = map and hex.q = place.q and hex.r = place.r
      offset 0
    ) as hex on true
  ),
  -- T84: beside its bridge a hex is what else lies in it
  other as materialized (
    select
      hex.i,
      found.*
    from place as hex
    cross join lateral ccp._other_terrain(map, hex.q, hex.r, hex.features) as found
    where hex.terrain = 'bridge'
  )
  select
    place.i::integer,
    place.q,
    place.r,
    place.label,
    coalesce(other.code, place.terrain),
    place.level::integer,
    case when place.terrain = 'bridge' then coalesce(other.rule, cost.rule) else cost.rule end,
    case when place.terrain = 'bridge' then other.halves else cost.halves end,
    -- 18.2: a Type costs one more
    dark,
    case when marked.blaze then 'prohibited' else coalesce(other.word, cost.word) end,
    held.enemy,
    case when place.terrain = 'bridge' then cost.halves end,
    coalesce(marked.trench, false),
    coalesce(marked.strongpoint, false),
    coalesce(marked.wire, false),
    coalesce(marked.mines, false)
  from place
  left join cost on cost.code = place.terrain
  left join marked on marked.q = place.q and marked.r = place.r
  left join held on held.q = place.q and held.r = place.r
  -- by its place in the way: a bridge may be entered twice
  left join other on other.i = place.i;
end
$$;

comment on function ccp._ground(ccp.party, integer[], integer[]) is
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
  party ccp.party, fqs integer[], frs integer[], tqs integer[], trs integer[]
)
returns setof ccp.entry
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
    cross join lateral ccp._crossings(
      (party.state).map_id, _entries.fqs[1], _entries.frs[1], far.radius
    ) as crossing
  ),
  start as materialized (
    select * from ccp._ground(party, _entries.fqs, _entries.frs)
  ),
  goal as materialized (
    select * from ccp._ground(party, _entries.tqs, _entries.trs)
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
      when 'trench' then case when party.trench = 'c' then goal.dark else 0 end
      when 'bridge' then case when party.bridge = 'a' then goal.dark else 0 end
      -- 18.2: a path is a Feature, which night does not touch
      else 0
    end,
    -- T89.1, but never along a trench (F106.2)
    case when along.way = 'trench' then 0 else 2 * greatest(0, goal.level - start.level) end,
    -- who comes along the bridge stays dry
    case when along.way = 'terrain' or goal.bridge is null or goal.word = 'prohibited' then goal.word end,
    goal.enemy,
    goal.bridge is not null,
    start.wire,
    goal.wire,
    start.mines,
    goal.mines,
    case
      when along.way = 'trench' and (party.night or crossing.unseen < crossing.halves) then 'ccp-17'
      when along.way = 'bridge' and party.night then 'ccp-24'
    end
  from goal
  inner join start on start.i = goal.i
  left join crossing on crossing.x = start.q + goal.q and crossing.y = start.r + goal.r
  cross join lateral (
    select
      case
        when (start.trench and (goal.trench or goal.strongpoint)) or (start.strongpoint and goal.trench)
          then 'trench'
        when crossing.kind is not null and (goal.word is null or goal.bridge is not null) then crossing.kind
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
          then case when party.trench = 'b' then least(2, crossing.unseen) end
        when along.way not in ('bridge', 'terrain') then crossing.unseen
      end as unseen
  ) as cost;
end
$$;

comment on function ccp._entries(ccp.party, integer[], integer[], integer[], integer[]) is
'What entering a hex from the one beside it costs and meets, part by part, for many such steps at once.';
