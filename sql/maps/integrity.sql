-- needs: lattice/cells.sql
-- What no constraint of a single row can say: features lie on their map.
--
-- A hexside touches at least one hex of its map (the rim has a hex on one side only),
-- and a path runs over hexes of its map. Checked once per statement, over the rows it
-- changed, so that a map of ten thousand hexes comes in by COPY without delay.

create or replace function maps._has_hex(map_id bigint, q integer, r integer)
returns boolean
language plpgsql stable strict parallel safe
as $$
begin
  -- A lookup by key, whatever the planner thinks of the table: rows just copied in have
  -- no statistics yet, and a join would then walk all hexes of the map for each feature.
  perform
  from public.hex
  where hex.map_id = _has_hex.map_id
    and hex.q = _has_hex.q
    and hex.r = _has_hex.r;
  return found;
end
$$;

comment on function maps._has_hex(bigint, integer, integer) is
'Whether a map has a hex.';

create or replace function maps._check_hexsides()
returns trigger
language plpgsql
as $$
declare
  astray record;
begin
  select
    side.x,
    side.y,
    side.kind
  into astray
  from changed as side,
    lateral lattice.side_hexes(side.x, side.y) as beside
  where not maps._has_hex(side.map_id, beside.q1, beside.r1)
  and not maps._has_hex(side.map_id, beside.q2, beside.r2)
  limit 1;
  if found then
    raise exception 'the % on the hexside (%, %) touches no hex of its map', astray.kind, astray.x, astray.y
      using errcode = 'check_violation', table = 'hexside', constraint = 'hexside_on_map';
  end if;
  return null;
end
$$;

comment on function maps._check_hexsides() is
'Trigger: every hexside feature touches a hex of its map.';

create or replace function maps._check_paths()
returns trigger
language plpgsql
as $$
declare
  astray record;
begin
  select
    path.kind,
    step.q,
    step.r
  into astray
  from changed as path,
    lateral unnest(path.qs, path.rs) as step (q, r)
  where not maps._has_hex(path.map_id, step.q, step.r)
  limit 1;
  if found then
    raise exception 'the % leaves its map at the hex (%, %)', astray.kind, astray.q, astray.r
      using errcode = 'check_violation', table = 'path', constraint = 'path_on_map';
  end if;
  return null;
end
$$;

comment on function maps._check_paths() is
'Trigger: every path runs over hexes of its map.';

create or replace function maps._check_hexes_left()
returns trigger
language plpgsql
as $$
declare
  astray record;
begin
  with lost as materialized (
    select
      left_behind.map_id,
      left_behind.q,
      left_behind.r
    from (
      select
        gone.map_id,
        gone.q,
        gone.r
      from gone
      -- a map that is deleted as a whole takes its features along: none of its hexes is looked up
      inner join public.map on map.id = gone.map_id
      offset 0
    ) as left_behind
    where not maps._has_hex(left_behind.map_id, left_behind.q, left_behind.r)
  ),
  astray_feature as (
    select
      'hexside' as feature,
      side.kind
    from lost
    cross join lateral lattice.neighbours(lost.q, lost.r) as beside
    inner join public.hexside as side
      on side.map_id = lost.map_id
        and side.x = lost.q + beside.nq
        and side.y = lost.r + beside.nr
    where not maps._has_hex(lost.map_id, beside.nq, beside.nr)
    union all
    select
      'path' as feature,
      path.kind
    from lost
    inner join public.path on path.map_id = lost.map_id
    cross join lateral unnest(path.qs, path.rs) as step (q, r)
    where step.q = lost.q
      and step.r = lost.r
  )
  select
    feature,
    kind
  into astray
  from astray_feature
  limit 1;
  if found then
    raise exception 'a % (%) still lies on a hex that was taken away', astray.feature, astray.kind
      using errcode = 'check_violation', table = 'hex', constraint = 'hex_in_use';
  end if;
  return null;
end
$$;

comment on function maps._check_hexes_left() is
'Trigger: a hex under a path or beside a hexside feature stays, unless its map goes.';

create or replace trigger hexside_on_map_insert
after insert on public.hexside
referencing new table as changed
for each statement execute function maps._check_hexsides();

create or replace trigger hexside_on_map_update
after update on public.hexside
referencing new table as changed
for each statement execute function maps._check_hexsides();

create or replace trigger path_on_map_insert
after insert on public.path
referencing new table as changed
for each statement execute function maps._check_paths();

create or replace trigger path_on_map_update
after update on public.path
referencing new table as changed
for each statement execute function maps._check_paths();

create or replace trigger hex_in_use_delete
after delete on public.hex
referencing old table as gone
for each statement execute function maps._check_hexes_left();

create or replace trigger hex_in_use_update
after update on public.hex
referencing old table as gone
for each statement execute function maps._check_hexes_left();
