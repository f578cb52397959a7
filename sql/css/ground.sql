-- needs: lattice/cells.sql, maps/edits.sql
-- The ground as sight asks for it: a narrow row for each hex of a css map, kept by triggers.
--
-- A line of sight meets a dozen cells. What it asks of each stands in three tables, one row
-- for a hex, one for its terrain and one for every feature on each of its sides; in
-- `public.css_ground` it is one row, found at once. The view `css.ground` tells what that
-- table must hold, and every edit of a hex, a hexside or a kind of terrain brings the rows
-- it touches up to date within its own statement.

create or replace function css._ground(terrain text, features text[])
returns text
language sql immutable parallel safe
return case when 'cave' = any(features) then 'rocky' else terrain end;

comment on function css._ground(text, text[]) is
'The terrain whose effects a hex has: outside of its cave a cave hex is rocky (6.3).';

create or replace function css._in_cave_hex(map_id bigint, q integer, r integer)
returns boolean
-- not in SQL: a query in a scalar function is planned at every call
language plpgsql stable parallel safe
as $$
begin
  return (
    select 'cave' = any(hex.features)
    from public.hex
    where hex.map_id = _in_cave_hex.map_id
      and hex.q = _in_cave_hex.q
      and hex.r = _in_cave_hex.r
  );
end
$$;

comment on function css._in_cave_hex(bigint, integer, integer) is
'Whether a hex has a cave.';

-- What a hex is to a line of sight, or its ground in itself, is a number; these are the names of its bits. Every name
-- is worked out when a plan is made and stands in it as a number.
create or replace function css._bit(name text)
returns integer
language sql immutable parallel safe
return case name
  -- the six that stop a line: under a barrage (8.7.2)
  when 'barrage' then 1
  -- higher than both ends (7.1.2), as high as the higher one (7.1.2 a), a blind spot beside the lower (7.1.2 b)
  when 'above_both' then 2
  when 'level_with_higher' then 4
  when 'blind_spot' then 8
  -- higher than the lower end, where that alone is enough (css-43)
  when 'above_lower' then 16
  -- blocking terrain (7.1.1 a)
  when 'blocking' then 32
  when 'stops' then 63
  -- it burns (8.8.1)
  when 'burns' then 64
  -- brush or rice paddy (7.1.1 c)
  when 'brush' then 128
  -- what it does to sight is not printed
  when 'unprinted' then 256
  -- css-12
  when 'rice_paddy' then 512
  -- it hides nothing from higher ground (7.1.2 e)
  when 'hides_level' then 1024
  -- seen over from above a steep slope (6.2.2)
  when 'overlooked' then 2048
  -- it rises above the lower end, which css-43 may take for enough
  when 'rises' then 4096
  -- css-54
  when 'sugar_cane' then 8192
  -- low cover, to who looks down (css-44)
  when 'low_cover' then 16384
end;

comment on function css._bit(text) is
'The number of something that a hex can be to a line of sight, by name; null is no such name.';

create or replace function css._has(bits integer, name text)
returns boolean
language sql immutable parallel safe
return bits & css._bit(name) <> 0;

comment on function css._has(integer, text) is
'Whether a hex is that to a line of sight; of `stops`, whether it is one of the six that stop the line.';

create or replace function css._sight(printed text, terrain text)
returns integer
language sql immutable parallel safe
return case
  when printed is null then css._bit('unprinted')
  -- 7.1.1 a and 7.1.1 c; on lower ground 7.1.2 e
  when printed = 'blocks' then css._bit('blocking') + css._bit('hides_level')
  when printed = 'blocks_at_second' then css._bit('brush') + css._bit('hides_level')
  else 0
end
+ case terrain when 'rice_paddy' then css._bit('rice_paddy') when 'sugar_cane' then css._bit('sugar_cane') else 0 end
-- 6.2.2: what is seen over from above a steep slope
+ case when terrain in ('brush', 'rocky', 'sugar_cane') then css._bit('low_cover') else 0 end;

comment on function css._sight(text, text) is
'What the ground of a hex does to sight as printed, as bits of css._bit.';

create or replace function css._wall(kind text)
returns integer
language sql immutable parallel safe
return case kind when 'slope' then 1 when 'steep_slope' then 2 when 'ridge' then 4 when 'cliff' then 8 else 0 end;

comment on function css._wall(text) is
'The bit of a feature of a hexside that may stop a line of sight (6.2.2); 0 for one that never does.';

create or replace function css._walls(walls integer, direction integer)
returns integer
language sql immutable parallel safe
return (walls >> (4 * direction)) & 15;

comment on function css._walls(integer, integer) is
'Of the walls of a hex, those on its side in a direction: the bits of css._wall.';

create or replace function css._on_any_side(kind text)
returns integer
language sql immutable parallel safe
return css._wall(kind) * x'1111110'::integer;

comment on function css._on_any_side(text) is
'The walls of a hex that would have one feature on all six sides.';

create or replace view css.ground as
select
  hex.map_id,
  hex.q,
  hex.r,
  hex.label,
  hex.level,
  css._ground(hex.terrain, hex.features) as terrain,
  css._sight(terrain.sight, css._ground(hex.terrain, hex.features)) as sight,
  coalesce(side.walls, 0) as walls
from public.hex
left join public.terrain
  on hex.ruleset = terrain.ruleset and css._ground(hex.terrain, hex.features) = terrain.code
left join (
  select
    hexside.map_id,
    own.q,
    own.r,
    bit_or(css._wall(hexside.kind) << (4 * lattice.direction(hexside.x - 2 * own.q, hexside.y - 2 * own.r))) as walls
  from public.hexside
  cross join lateral lattice.side_hexes(hexside.x, hexside.y) as beside
  cross join lateral (values (beside.q1, beside.r1), (beside.q2, beside.r2)) as own (q, r)
  where css._wall(hexside.kind) <> 0
  group by hexside.map_id, own.q, own.r
) as side
  on hex.map_id = side.map_id and hex.q = side.q and hex.r = side.r
where hex.ruleset = 'css';

comment on view css.ground is
'What sight asks of the hexes of css maps, worked out from hexes, hexsides and terrain; css_ground keeps it.';
comment on column css.ground.map_id is 'The map';
comment on column css.ground.q is 'Axial column';
comment on column css.ground.r is 'Axial row';
comment on column css.ground.label is 'Printed number';
comment on column css.ground.level is 'Elevation level';
comment on column css.ground.terrain is 'The terrain whose effects it has: a cave hex is rocky (6.3)';
comment on column css.ground.sight is 'What its ground does to a line of sight, as bits of css._bit';
comment on column css.ground.walls is 'What on its sides may stop one, four bits a side: css._walls';

create or replace function css._walls_on(map_id bigint, x integer, y integer)
returns integer
language plpgsql stable
as $$
begin
  return (
    select bit_or(css._wall(hexside.kind))
    from public.hexside
    where hexside.map_id = _walls_on.map_id
      and hexside.x = _walls_on.x
      and hexside.y = _walls_on.y
  );
end
$$;

comment on function css._walls_on(bigint, integer, integer) is
'What on one hexside may stop a line of sight, as bits of css._wall.';

create or replace function css._ground_at(map_id bigint, q integer, r integer)
returns setof css.ground
language plpgsql stable
as $$
begin
  return query
  select
    hex.map_id,
    hex.q,
    hex.r,
    hex.label,
    hex.level,
    css._ground(hex.terrain, hex.features),
    css._sight(
      (
        select terrain.sight
        from public.terrain
        where terrain.ruleset = 'css'
          and terrain.code = css._ground(hex.terrain, hex.features)
      ),
      css._ground(hex.terrain, hex.features)
    ),
    (
      select
        coalesce(
          bit_or(
            css._walls_on(hex.map_id, hex.q + beside.nq, hex.r + beside.nr)
            << (4 * lattice.direction(beside.nq - hex.q, beside.nr - hex.r))
          ),
          0
        )
      from lattice.neighbours(hex.q, hex.r) as beside
    )
  from public.hex
  where hex.map_id = _ground_at.map_id
    and hex.q = _ground_at.q
    and hex.r = _ground_at.r
    and hex.ruleset = 'css';
end
$$;

comment on function css._ground_at(bigint, integer, integer) is
'The row of css.ground of one hex, found by keys alone.';

-- By keys, whatever the planner thinks of the tables: a plan that was made for a tiny map would read a large one whole.
create or replace function css._refresh_few(map_id bigint, qs integer[], rs integer[])
returns void
language plpgsql volatile
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  edited record;
begin
  for edited in
    select distinct hex.q, hex.r
    from unnest(_refresh_few.qs, _refresh_few.rs) as hex (q, r)
    order by hex.q, hex.r
  loop
    delete from public.css_ground as kept
    where kept.map_id = _refresh_few.map_id
      and kept.q = edited.q
      and kept.r = edited.r;
    insert into public.css_ground (map_id, q, r, label, level, terrain, sight, walls)
    select ground.*
    from css._ground_at(_refresh_few.map_id, edited.q, edited.r) as ground;
  end loop;
end
$$;

comment on function css._refresh_few(bigint, integer[], integer[]) is
'Work the ground of a few hexes of a map out anew; what the rest of the map holds costs nothing.';

-- Hashed, whatever the planner thinks of the tables: where it takes a large map for a tiny one (which it was when
-- last analyzed, or when a plan was made), it would walk the map once for each hex. So the map is read once.
create or replace function css._refresh_many(map_id bigint, qs integer[], rs integer[])
returns void
language plpgsql volatile
set enable_nestloop = off
set enable_mergejoin = off
as $$
begin
  delete from public.css_ground as kept
  using unnest(_refresh_many.qs, _refresh_many.rs) as edited (q, r)
  where kept.map_id = _refresh_many.map_id
    and kept.q = edited.q
    and kept.r = edited.r;
  insert into public.css_ground (map_id, q, r, label, level, terrain, sight, walls)
  select ground.*
  from (select distinct hex.q, hex.r from unnest(_refresh_many.qs, _refresh_many.rs) as hex (q, r)) as edited
  inner join css.ground
    on ground.map_id = _refresh_many.map_id and ground.q = edited.q and ground.r = edited.r
  -- neighbours side by side on disk
  order by edited.q, edited.r;
end
$$;

comment on function css._refresh_many(bigint, integer[], integer[]) is
'Work the ground of many hexes of a map out anew, by reading the map once.';

create or replace function css._refresh_ground(map_id bigint, qs integer[], rs integer[])
returns void
language plpgsql volatile
as $$
begin
  perform maps._lock(_refresh_ground.map_id);
  if not exists (select from public.map where map.id = _refresh_ground.map_id) then
    -- deleted as a whole
    delete from public.css_ground as kept
    where kept.map_id = _refresh_ground.map_id;
  elsif maps._few(_refresh_ground.map_id, cardinality(_refresh_ground.qs)) then
    perform css._refresh_few(_refresh_ground.map_id, _refresh_ground.qs, _refresh_ground.rs);
  else
    perform css._refresh_many(_refresh_ground.map_id, _refresh_ground.qs, _refresh_ground.rs);
  end if;
end
$$;

comment on function css._refresh_ground(bigint, integer[], integer[]) is
'Work the ground of some hexes of a map out anew.';

create or replace function css._rebuild_ground()
returns void
language plpgsql volatile
as $$
begin
  delete from public.css_ground;
  insert into public.css_ground (map_id, q, r, label, level, terrain, sight, walls)
  select ground.*
  from css.ground
  order by ground.map_id, ground.q, ground.r;
end
$$;

comment on function css._rebuild_ground() is
'Work the ground of all css maps out anew.';

create or replace function css._after_edit()
returns trigger
language plpgsql
as $$
declare
  edit record;
begin
  if tg_op = 'TRUNCATE' then
    perform css._rebuild_ground();
    return null;
  end if;
  for edit in execute format(
    'select map_id, array_agg(q) as qs, array_agg(r) as rs from (%s) as changed group by map_id',
    maps._changed_rows(tg_op, tg_argv[0])
  )
  loop
    perform css._refresh_ground(edit.map_id, edit.qs, edit.rs);
  end loop;
  return null;
end
$$;

comment on function css._after_edit() is
'Trigger: bring the ground of changed hexes, or beside changed hexsides, up to date.';

create or replace function css._after_terrain_edit()
returns trigger
language plpgsql
as $$
begin
  if not exists (select from new_rows where new_rows.ruleset = 'css') then
    return null;
  end if;
  -- Wait for who edits a map or brings one in: what they worked out from the old terrain is then seen here.
  -- Maps come before the table, as in every other edit, so that two who wait never wait for each other.
  perform maps._lock(map.id)
  from (select map.id from public.map where map.ruleset = 'css' order by map.id) as map;
  lock table public.css_ground in share row exclusive mode;
  update public.css_ground as kept
  set sight = css._sight(changed.sight, changed.code)
  from new_rows as changed
  where changed.ruleset = 'css'
    and kept.terrain = changed.code
    and kept.sight <> css._sight(changed.sight, changed.code);
  return null;
end
$$;

comment on function css._after_terrain_edit() is
'Trigger: bring the ground up to date when a kind of terrain does something else to sight.';

select maps._watch(watched.name, 'css_ground', 'css._after_edit', watched.query)
from (
  values
  ('hex', 'select map_id, q, r from %s where ruleset = ''css'''),
  (
    'hexside',
    'select side.map_id, hex.q, hex.r from %s as side, lattice.side_hexes(side.x, side.y) as beside,'
    ' lateral (values (beside.q1, beside.r1), (beside.q2, beside.r2)) as hex (q, r) where side.ruleset = ''css'''
  )
) as watched (name, query);

create or replace trigger css_ground_sight
after update on public.terrain
referencing new table as new_rows
for each statement execute function css._after_terrain_edit();

-- What an earlier version's functions worked out is not trusted.
truncate public.css_ground;

select css._rebuild_ground();

analyze public.css_ground;
