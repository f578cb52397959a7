-- needs: positions/board.sql
-- What a procedure changes, as rows: the only way in which a game's position is written.
--
-- A change is {unit, set} (set null takes the unit away), {marker, by: 1 or -1}, {track: [path], set} or
-- {condition, set}; each comes back with what was there, in `was`, so that it can be taken back.

create or replace function games._unit_tree(code text, side text, kind text, label text, attributes jsonb)
returns jsonb
language sql immutable parallel safe
return attributes || jsonb_strip_nulls(jsonb_build_object('side', side, 'kind', kind, 'at', label));

comment on function games._unit_tree(text, text, text, text, jsonb) is
'A unit as one object: what its counter says, its side and kind, and where it stands.';

create or replace function games._apply_unit(position_id bigint, map_id bigint, change jsonb)
returns jsonb
language plpgsql
as $$
declare
  told jsonb := nullif(change -> 'set', 'null');
  there record;
  was jsonb;
  tree jsonb;
  place record;
begin
  select
    unit.id,
    unit.attributes || jsonb_strip_nulls(jsonb_build_object('side', unit.side, 'kind', unit.kind, 'at', hex.label)) as tree
  into there
  from public.unit
  left join public.hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r
  where unit.position_id = _apply_unit.position_id
    and unit.code = change ->> 'unit';
  if found then
    was := there.tree;
  elsif told is null or not told ? 'side' then
    raise exception 'there is no unit %', change ->> 'unit' using errcode = 'no_data_found';
  end if;
  if told is null then
    delete from public.unit where unit.id = there.id;
    return change || jsonb_build_object('set', null, 'was', was);
  end if;
  tree := jsonb_strip_nulls(coalesce(was, '{}') || told);
  select hex.q, hex.r into place
  from public.hex
  where hex.map_id = _apply_unit.map_id
    and hex.label = tree ->> 'at';
  if not found and tree ? 'at' then
    raise exception 'there is no hex % on this map', tree ->> 'at' using errcode = 'no_data_found';
  end if;
  if was is null then
    insert into public.unit (position_id, map_id, code, side, kind, q, r, attributes)
    values (
      _apply_unit.position_id, _apply_unit.map_id, change ->> 'unit', tree ->> 'side', tree ->> 'kind',
      place.q, place.r, tree - array['side', 'kind', 'at']
    );
    return change || '{"was": null}';
  end if;
  update public.unit
  set
    side = tree ->> 'side',
    kind = tree ->> 'kind',
    q = place.q,
    r = place.r,
    attributes = tree - array['side', 'kind', 'at']
  where unit.id = there.id;
  return change
  || jsonb_build_object(
    'was',
    (select jsonb_object_agg(said.key, was -> said.key) from jsonb_object_keys(told) as said (key))
  );
end
$$;

comment on function games._apply_unit(bigint, bigint, jsonb) is
'One change of a unit: what it says now of the keys that are told; a null takes a key away.';

create or replace function games._apply_marker(position_id bigint, map_id bigint, change jsonb)
returns jsonb
language plpgsql
as $$
declare
  told jsonb := change -> 'marker';
  place record;
  gone bigint;
begin
  select hex.q, hex.r into place
  from public.hex
  where hex.map_id = _apply_marker.map_id
    and hex.label = told ->> 'at';
  if not found and told ? 'at' then
    raise exception 'there is no hex % on this map', told ->> 'at' using errcode = 'no_data_found';
  end if;
  if (change ->> 'by')::integer > 0 then
    insert into public.marker (position_id, map_id, q, r, kind, value, facing, attributes)
    values (
      _apply_marker.position_id, _apply_marker.map_id, place.q, place.r, told ->> 'kind',
      (told ->> 'value')::integer, (told ->> 'facing')::smallint, told - array['kind', 'at', 'value', 'facing']
    );
    return change;
  end if;
  -- of several that are meant, the one of which the least is left unsaid
  delete from public.marker
  where marker.id = (
    select lying.id
    from public.marker as lying
    where lying.position_id = _apply_marker.position_id
      and lying.q is not distinct from place.q
      and lying.r is not distinct from place.r
      and lying.kind = told ->> 'kind'
      and games._marker_tree(lying.kind, null, lying.value, lying.facing, lying.attributes) @> (told - 'at')
    order by lying.value is not null, lying.attributes <> '{}', lying.id
    limit 1
  )
  returning
    marker.id,
    games._marker_tree(marker.kind, told ->> 'at', marker.value, marker.facing, marker.attributes)
  into gone, told;
  if gone is null then
    raise exception 'there is no % marker in %', change -> 'marker' ->> 'kind', change -> 'marker' ->> 'at'
    using errcode = 'no_data_found';
  end if;
  return change || jsonb_build_object('marker', told);
end
$$;

comment on function games._apply_marker(bigint, bigint, jsonb) is
'One marker put down, or one taken up: told whole, so that it can be put back.';

create or replace function games._marker_tree(kind text, label text, value integer, facing smallint, attributes jsonb)
returns jsonb
language sql immutable parallel safe
return attributes
|| jsonb_strip_nulls(jsonb_build_object('kind', kind, 'at', label, 'value', value, 'facing', facing));

comment on function games._marker_tree(text, text, integer, smallint, jsonb) is
'A marker as one object.';

create or replace function games._status_changes(position_id bigint, change jsonb)
returns setof jsonb
language sql stable
as $$
  select
    jsonb_build_object(
      'marker', games._marker_tree(marker.kind, hex.label, marker.value, marker.facing, marker.attributes), 'by', -1
    )
  from public.marker
  inner join public.hex on hex.map_id = marker.map_id and hex.q = marker.q and hex.r = marker.r
  where marker.position_id = _status_changes.position_id
    and hex.label = change ->> 'at'
    and marker.kind = change ->> 'status'
    and coalesce((marker.attributes -> 'in_cave')::boolean, false) = coalesce((change -> 'in_cave')::boolean, false)
  union all
  select
    jsonb_build_object(
      'marker',
      jsonb_strip_nulls(
        jsonb_build_object(
          'kind', change -> 'status',
          'at', change -> 'at',
          'value', case when jsonb_typeof(change -> 'set') = 'number' then change -> 'set' end,
          'in_cave', case when (change -> 'in_cave')::boolean then true end
        )
      ),
      'by', 1
    )
  where change -> 'set' not in ('0', 'false', 'null')
$$;

comment on function games._status_changes(bigint, jsonb) is
'What a hex is to be, {status: dg, at, in_cave, set: 2}, as markers taken up and put down (css 10.0).';

create or replace function games._with(tree jsonb, path text[], told jsonb)
returns jsonb
language plpgsql immutable parallel safe
as $$
declare
  branch jsonb := told;
begin
  if cardinality(path) > 1 then
    branch := nullif(games._with(coalesce(tree -> path[1], '{}'), path[2:], told), '{}');
  end if;
  return case
    when branch is null or branch = 'null' then tree - path[1]
    else tree || jsonb_build_object(path[1], branch)
  end;
end
$$;

comment on function games._with(jsonb, text[], jsonb) is
'A tree with another value at a path, whose branches grow and fall as they are needed; a null takes the key away.';

create or replace function games.apply(position_id bigint, changes jsonb)
returns jsonb
language plpgsql
as $$
declare
  -- whose guard is lifted already: a procedure within another
  lifted text := current_setting('sightline.applying', true);
  there record;
  new_tracks jsonb;
  new_conditions jsonb;
  path text[];
  change jsonb;
  made jsonb[] := '{}';
begin
  select position.map_id, position.tracks, position.conditions
  into there
  from public.position
  where position.id = apply.position_id;
  if not found then
    raise exception 'there is no position %', apply.position_id using errcode = 'no_data_found';
  end if;
  new_tracks := there.tracks;
  new_conditions := there.conditions;
  perform set_config('sightline.applying', apply.position_id::text, true);
  for n in 0 .. jsonb_array_length(apply.changes) - 1 loop
    change := apply.changes -> n;
    if change ? 'status' then
      made := made || array(
        select games._apply_marker(apply.position_id, there.map_id, told)
        from unnest(array(select games._status_changes(apply.position_id, change))) as told
      );
    elsif change ? 'unit' then
      made := made || games._apply_unit(apply.position_id, there.map_id, change);
    elsif change ? 'marker' then
      made := made || games._apply_marker(apply.position_id, there.map_id, change);
    elsif change ? 'track' then
      path := array(select jsonb_array_elements_text(change -> 'track'));
      made := made || (change || jsonb_build_object('was', new_tracks #> path));
      new_tracks := games._with(new_tracks, path, change -> 'set');
    else
      path := array[change ->> 'condition'];
      made := made || (change || jsonb_build_object('was', new_conditions #> path));
      new_conditions := games._with(new_conditions, path, change -> 'set');
    end if;
  end loop;
  -- once, and not at all where nothing has changed: every version of a row is in the way until its transaction ends
  if (new_tracks, new_conditions) is distinct from (there.tracks, there.conditions) then
    update public.position
    set
      tracks = new_tracks,
      conditions = new_conditions
    where position.id = apply.position_id;
  end if;
  perform set_config('sightline.applying', coalesce(lifted, ''), true);
  return to_jsonb(made);
end
$$;

comment on function games.apply(bigint, jsonb) is
'Make changes to a position, in order; each comes back with what was there before it. Nothing else writes a game''s position.';

create or replace function games.tree(position_id bigint)
returns jsonb
language sql stable
as $$
  select jsonb_build_object(
    'units',
    coalesce(
      (
        select jsonb_object_agg(
          unit.code, games._unit_tree(unit.code, unit.side, unit.kind, hex.label, unit.attributes)
        )
        from public.unit
        left join public.hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r
        where unit.position_id = position.id
      ),
      '{}'
    ),
    'markers',
    coalesce(
      (
        select jsonb_agg(lying.tree order by lying.tree::text)
        from (
          select games._marker_tree(marker.kind, hex.label, marker.value, marker.facing, marker.attributes) as tree
          from public.marker
          left join public.hex on hex.map_id = marker.map_id and hex.q = marker.q and hex.r = marker.r
          where marker.position_id = position.id
        ) as lying
      ),
      '[]'
    ),
    'conditions', position.conditions,
    'tracks', position.tracks
  )
  from public.position
  where position.id = tree.position_id
$$;

comment on function games.tree(bigint) is
'All that can change in a position, as one object: units by id, markers, conditions, tracks.';

create or replace function games.digest(position_id bigint)
returns text
language plpgsql stable
as $$
declare
  told text;
begin
  select concat_ws(
    E'\x1d',
    position.conditions::text,
    position.tracks::text,
    (
      select string_agg(
        concat_ws(
          E'\x1f', unit.code, unit.side, coalesce(unit.kind, ''), coalesce(unit.q::text, ''), coalesce(unit.r::text, ''),
          unit.attributes::text
        ),
        E'\x1e' order by unit.code collate "C"
      )
      from public.unit
      where unit.position_id = position.id
    ),
    (
      select string_agg(lying.told, E'\x1e' order by lying.told collate "C")
      from (
        select concat_ws(
          E'\x1f', marker.kind, coalesce(marker.q::text, ''), coalesce(marker.r::text, ''), coalesce(marker.value::text, ''),
          coalesce(marker.facing::text, ''), marker.attributes::text
        ) as told
        from public.marker
        where marker.position_id = position.id
      ) as lying
    )
  ) into told
  from public.position
  where position.id = digest.position_id;
  return encode(sha256(convert_to(told, 'UTF8')), 'hex');
end
$$;

comment on function games.digest(bigint) is
'SHA-256 of all that can change in a position: two positions on one map with the same digest are the same.';
