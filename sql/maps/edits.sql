-- What everything that is kept for a map builds on: who edits takes turns, and what was edited is told.
--
-- Kept are the viewsheds (positions/viewshed.sql) and the ground of css maps (css/ground.sql).
-- Whoever fills a cache holds a shared lock on the map until it commits, whoever edits the
-- map or a position on it an exclusive one.

create or replace function maps._lock_key(map_id bigint)
returns bigint
language sql immutable parallel safe
return (x'51671e'::bigint << 32) + map_id;

comment on function maps._lock_key(bigint) is
'The key of the advisory lock that readers who fill a cache and editors of a map share.';

create or replace function maps._lock(map_id bigint)
returns void
language plpgsql volatile
as $$
begin
  -- whoever does not see what others have kept since cannot drop it
  if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
    raise exception 'maps and positions are edited under READ COMMITTED only'
      using errcode = 'invalid_transaction_state',
      hint = 'Begin the transaction without an isolation level, or with READ COMMITTED.';
  end if;
  perform pg_advisory_xact_lock(maps._lock_key(map_id));
end
$$;

comment on function maps._lock(bigint) is
'Wait until nobody else edits a map or fills its caches, and keep others from it until the transaction ends.';

create or replace function maps._few(map_id bigint, edited integer)
returns boolean
language plpgsql stable
as $$
begin
  return edited <= (
    select coalesce(sum(kept.count), 0) / 30
    from public.map_count as kept
    where kept.map_id = _few.map_id
      and kept.part = 'terrain'
  );
end
$$;

comment on function maps._few(bigint, integer) is
'Whether so many hexes are few of a map: sooner looked up one by one than by reading the whole map.';

create or replace function maps._changed_rows(operation text, query text)
returns text
language sql immutable parallel safe
return case operation
  when 'INSERT' then format(query, 'new_rows')
  when 'DELETE' then format(query, 'old_rows')
  else format(query, 'old_rows') || ' union all ' || format(query, 'new_rows')
end;

comment on function maps._changed_rows(text, text) is
'For a trigger: a query of the rows that a statement changed, as they were and as they are.';

create or replace function maps._watch(watched text, name text, handler text, query text)
returns void
language plpgsql volatile
as $$
declare
  event record;
begin
  for event in
    values
    ('insert', 'referencing new table as new_rows'),
    ('update', 'referencing old table as old_rows new table as new_rows'),
    ('delete', 'referencing old table as old_rows'),
    ('truncate', '')
  loop
    execute format(
      'create or replace trigger %s_%s after %s on public.%I %s for each statement execute function %s(%L)',
      name, event.column1, event.column1, watched, event.column2, handler, query
    );
  end loop;
end
$$;

comment on function maps._watch(text, text, text, text) is
'Have a trigger function called after every edit of a table, with a query for maps._changed_rows.';
