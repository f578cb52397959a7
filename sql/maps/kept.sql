-- needs: maps/edits.sql, maps/integrity.sql
-- What is kept of every map, so that nobody counts its rows to look at it: its version, its bounds, how much of
-- each kind is on it.
--
-- Every edit of a map brings `public.map_summary` and `public.map_count` up to date within its own statement, by the
-- rows that it changed. The view `maps.counted` tells what the counts must be. Two editors of a map take turns.

create or replace view maps.counted as
select counted.map_id, counted.part, counted.word, count(*)::integer as count
from (
  select hex.map_id, 'terrain' as part, hex.terrain as word
  from public.hex
  union all
  select hex.map_id, 'level', hex.level::text
  from public.hex
  union all
  select hexside.map_id, 'hexside', hexside.kind
  from public.hexside
  union all
  select path.map_id, 'path', path.kind
  from public.path
  union all
  select terrain_area.map_id, 'area', terrain_area.terrain
  from public.terrain_area
  union all
  select crest.map_id, 'crest', crest.level::text
  from public.crest
  union all
  select map_feature.map_id, 'place', map_feature.kind
  from public.map_feature
) as counted
group by counted.map_id, counted.part, counted.word;

comment on view maps.counted is
'How much of each kind is on each map, counted row by row; map_count keeps it.';
comment on column maps.counted.map_id is 'The map';
comment on column maps.counted.part is 'terrain and level of hexes, hexside, path, area, crest, place';
comment on column maps.counted.word is 'The kind';
comment on column maps.counted.count is 'How many';

create or replace view maps.bounded as
select
  hex.map_id,
  min(hex.q) as q_low,
  max(hex.q) as q_high,
  min(2 * hex.r + hex.q) as y_low,
  max(2 * hex.r + hex.q) as y_high
from public.hex
group by hex.map_id;

comment on view maps.bounded is
'How far the centres of the hexes of each map reach, looked up row by row; map_summary keeps it.';
comment on column maps.bounded.map_id is 'The map';
comment on column maps.bounded.q_low is 'Least axial column';
comment on column maps.bounded.q_high is 'Greatest axial column';
comment on column maps.bounded.y_low is 'Least lattice row of a centre, 2 r + q';
comment on column maps.bounded.y_high is 'Greatest lattice row of a centre';

create or replace function maps._keep_bounds(map_id bigint)
returns void
language plpgsql volatile
as $$
begin
  update public.map_summary as kept
  set (q_low, q_high, y_low, y_high) = (
    select min(hex.q), max(hex.q), min(2 * hex.r + hex.q), max(2 * hex.r + hex.q)
    from public.hex
    where hex.map_id = _keep_bounds.map_id
  )
  where kept.map_id = _keep_bounds.map_id;
end
$$;

comment on function maps._keep_bounds(bigint) is
'Look the bounds of a map up anew: a hex at its rim is gone.';

create or replace function maps._keep_all()
returns void
language plpgsql volatile
as $$
begin
  delete from public.map_count;
  insert into public.map_count (map_id, part, word, count)
  select counted.map_id, counted.part, counted.word, counted.count
  from maps.counted
  order by counted.map_id, counted.part, counted.word;
  delete from public.map_summary;
  insert into public.map_summary (map_id, q_low, q_high, y_low, y_high)
  select map.id, bounded.q_low, bounded.q_high, bounded.y_low, bounded.y_high
  from public.map
  left join maps.bounded on bounded.map_id = map.id
  order by map.id;
end
$$;

comment on function maps._keep_all() is
'Count all maps anew; every one gets another version.';

create or replace function maps._extend_bounds()
returns trigger
language plpgsql
as $$
begin
  update public.map_summary as kept
  set
    q_low = least(kept.q_low, more.q_low),
    q_high = greatest(kept.q_high, more.q_high),
    y_low = least(kept.y_low, more.y_low),
    y_high = greatest(kept.y_high, more.y_high)
  from (
    select
      map_id, min(q) as q_low, max(q) as q_high, min(2 * r + q) as y_low, max(2 * r + q) as y_high
    from new_rows
    group by map_id
  ) as more
  where kept.map_id = more.map_id;
  return null;
end
$$;

comment on function maps._extend_bounds() is
'Trigger: hexes that come may lie farther out than any before.';

create or replace function maps._draw_in_bounds()
returns trigger
language plpgsql
as $$
begin
  perform maps._keep_bounds(shrunk.map_id)
  from (
    select distinct rim.map_id
    from (
      select
        gone.map_id,
        gone.q,
        gone.r
      from old_rows as gone
      inner join public.map_summary as kept on kept.map_id = gone.map_id
      -- of a map that is deleted as a whole nothing is looked up
      inner join public.map on map.id = gone.map_id
      where gone.q in (kept.q_low, kept.q_high)
        or 2 * gone.r + gone.q in (kept.y_low, kept.y_high)
      offset 0
    ) as rim
    where not maps._has_hex(rim.map_id, rim.q, rim.r)
  ) as shrunk;
  return null;
end
$$;

comment on function maps._draw_in_bounds() is
'Trigger: where hexes at the rim go, the bounds may come nearer.';

create or replace function maps._after_edit()
returns trigger
language plpgsql
as $$
declare
  kinds text := tg_argv[0];
  signed text := case tg_op
    when 'INSERT' then format('select changed.*, 1 as n from (%s) as changed', format(kinds, 'new_rows'))
    when 'DELETE' then format('select changed.*, -1 as n from (%s) as changed', format(kinds, 'old_rows'))
    else format(
      'select changed.*, -1 as n from (%s) as changed union all select changed.*, 1 as n from (%s) as changed',
      format(kinds, 'old_rows'), format(kinds, 'new_rows')
    )
  end;
begin
  if tg_op = 'TRUNCATE' then
    perform maps._keep_all();
    return null;
  end if;
  -- a map that is deleted as a whole takes what is kept of it along
  execute format(
    'select maps._lock(edited.map_id) from ('
    ' select distinct signed.map_id from (%s) as signed inner join public.map on map.id = signed.map_id order by 1'
    ') as edited', signed
  );
  execute format(
    'with signed as materialized ('
    ' select signed.map_id, signed.part, signed.word, sum(signed.n)::integer as n'
    ' from (%s) as signed inner join public.map on map.id = signed.map_id group by 1, 2, 3'
    '), counted as ('
    ' insert into public.map_count as kept (map_id, part, word, count)'
    ' select signed.map_id, signed.part, signed.word, signed.n from signed'
    ' where signed.n <> 0 and signed.part is not null'
    ' on conflict (map_id, part, word) do update set count = kept.count + excluded.count'
    ') update public.map_summary as kept set version = default'
    ' where kept.map_id in (select signed.map_id from signed)', signed
  );
  delete from public.map_count as kept
  where kept.count = 0;
  return null;
end
$$;

comment on function maps._after_edit() is
'Trigger: count what a statement brought and took, and give the maps it changed another version.';

create or replace function maps._after_map_edit()
returns trigger
language plpgsql
as $$
begin
  if tg_op = 'INSERT' then
    insert into public.map_summary (map_id) values (new.id);
  else
    update public.map_summary as kept set version = default where kept.map_id = new.id;
  end if;
  return null;
end
$$;

comment on function maps._after_map_edit() is
'Trigger: a new map is kept account of, and one with another title or place has another version.';

create or replace trigger kept_map
after insert or update on public.map
for each row execute function maps._after_map_edit();

select maps._watch(watched.name, 'kept', 'maps._after_edit', watched.query)
from (
  values
  (
    'hex',
    'select edited.map_id, counted.part, counted.word from %s as edited,'
    ' lateral (values (''terrain'', edited.terrain), (''level'', edited.level::text)) as counted (part, word)'
  ),
  ('hexside', 'select map_id, ''hexside'' as part, kind as word from %s'),
  ('path', 'select map_id, ''path'' as part, kind as word from %s'),
  ('terrain_area', 'select map_id, ''area'' as part, terrain as word from %s'),
  ('crest', 'select map_id, ''crest'' as part, level::text as word from %s'),
  ('map_feature', 'select map_id, ''place'' as part, kind as word from %s'),
  -- of these there is no number, yet an edit is another version
  ('map_feature_hex', 'select map_id, null::text as part, null::text as word from %s')
) as watched (name, query);

create or replace trigger kept_more_insert
after insert on public.hex
referencing new table as new_rows
for each statement execute function maps._extend_bounds();

create or replace trigger kept_more_update
after update on public.hex
referencing new table as new_rows
for each statement execute function maps._extend_bounds();

create or replace trigger kept_to_less_update
after update on public.hex
referencing old table as old_rows
for each statement execute function maps._draw_in_bounds();

create or replace trigger kept_to_less_delete
after delete on public.hex
referencing old table as old_rows
for each statement execute function maps._draw_in_bounds();

-- What an earlier version's triggers counted is not trusted.
select maps._keep_all();

analyze public.map_count, public.map_summary;
