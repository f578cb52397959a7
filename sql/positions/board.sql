-- needs: positions/place.sql, positions/viewshed.sql, rules/errata.sql
-- What questions are put to: a saved position, or a map by its bare position, on which nothing stands.

create or replace function positions.board(name text, kind text default null, words text[] default '{}')
returns table (
  kind text,
  position_id bigint,
  map_id bigint,
  title text,
  ruleset text,
  map text,
  scheme jsonb,
  conditions jsonb,
  policy jsonb,
  errata jsonb,
  names jsonb
)
language sql stable parallel safe rows 1
as $$
  select
    found.kind,
    position.id,
    map.id,
    case when found.kind = 'map' then map.title else coalesce(nullif(position.title, ''), position.name) end,
    position.ruleset,
    map.name,
    map.scheme,
    position.conditions,
    position.policy,
    rules.in_force(position.ruleset),
    (
      select jsonb_agg(jsonb_build_array(named.word, named.unit, named.unit_q, named.unit_r, named.hex))
      from positions.named(position.id, board.words, board.words) as named
    )
  from (
    select 'position' as kind, saved.id
    from public.position as saved
    where saved.name = board.name
    union all
    select 'map', bare.id
    from public.map as named
    inner join public.position as bare on bare.map_id = named.id and bare.bare
    where named.name = board.name
  ) as found
  inner join public.position on position.id = found.id
  inner join public.map on map.id = position.map_id
  where found.kind = coalesce(board.kind, found.kind)
  -- of two with one name, the position
  order by found.kind desc
  limit 1
$$;

comment on function positions.board(text, text, text[]) is
'The saved position or map of a name, with all that a question needs to know of it, and of some words as positions.named'
' tells it; no row where there is none.';

create or replace function positions._bare()
returns trigger
language plpgsql
as $$
begin
  insert into public.position (map_id, ruleset, bare) values (new.id, new.ruleset, true);
  return null;
end
$$;

comment on function positions._bare() is
'Trigger: every map has a position on which nothing stands, so that the map itself can be asked.';

create or replace trigger bare_position
after insert on public.map
for each row execute function positions._bare();

create or replace function positions.copy(position_id bigint)
returns bigint
language plpgsql volatile
as $$
declare
  made bigint;
begin
  insert into public.position (map_id, ruleset, title, conditions, policy, tracks)
  select position.map_id, position.ruleset, position.title, position.conditions, position.policy, position.tracks
  from public.position
  where position.id = copy.position_id
  returning position.id into made;
  if made is null then
    raise exception 'there is no position %', copy.position_id using errcode = 'no_data_found';
  end if;
  perform positions._note_own(made);
  insert into public.unit (position_id, map_id, q, r, code, side, kind, attributes)
  select made, unit.map_id, unit.q, unit.r, unit.code, unit.side, unit.kind, unit.attributes
  from public.unit
  where unit.position_id = copy.position_id
  order by unit.id;
  insert into public.marker (position_id, map_id, q, r, kind, value, facing, attributes)
  select made, marker.map_id, marker.q, marker.r, marker.kind, marker.value, marker.facing, marker.attributes
  from public.marker
  where marker.position_id = copy.position_id
  order by marker.id;
  return made;
end
$$;

comment on function positions.copy(bigint) is
'A nameless copy of a position with its units and markers: for a what-if, to be undone with its savepoint.';
