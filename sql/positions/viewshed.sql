-- needs: positions/place.sql, lattice/cells.sql, maps/edits.sql, rulings/step.sql
-- What sight has found out: what a hex sees, by its ruleset's `fan`, and lines that were asked; kept until an edit.
--
-- No stale answer survives. Whoever fills the cache holds a shared lock on the map until
-- it commits, whoever edits a map or position an exclusive one: so an edit either waits
-- and then drops the row, or is seen by the one who fills. A position that its own transaction
-- has made, as a what-if does, nobody else sees: its edits wait for nobody. Under a stricter isolation
-- than READ COMMITTED the answer is computed but not kept, and nothing is edited: whoever
-- does not see what others have kept since cannot drop it.

create or replace function positions.viewshed(position_id bigint, "from" text, radius integer default null)
returns table (q integer, r integer, label text, range integer)
language plpgsql volatile rows 100
set plan_cache_mode = force_generic_plan
as $$
declare
  place record;
  fan record;
  reach integer := coalesce(viewshed.radius, 24);
begin
  -- One look-up by the name that was asked: a unit may see otherwise than its hex.
  -- Who has looked as far as can be seen has seen what is nearer.
  select kept.qs, kept.rs, kept.labels, kept.ranges
  into fan
  from public.viewshed as kept
  where kept.position_id = viewshed.position_id
    and kept.viewer = viewshed."from"
    and kept.radius in (reach, 24)
  order by kept.radius
  limit 1;
  if found then
    return query
    select seen.*
    from unnest(fan.qs, fan.rs, fan.labels, fan.ranges) as seen (q, r, label, range)
    where seen.range <= reach;
    return;
  end if;
  select
    position.map_id,
    position.ruleset,
    viewer.q,
    viewer.r
  into place
  from public.position
  cross join lateral positions.place(viewshed.position_id, viewshed."from") as viewer
  where position.id = viewshed.position_id;
  if place.q is null then
    raise exception 'no hex or unit % on the map of this position', viewshed."from" using errcode = 'no_data_found';
  end if;
  if current_setting('transaction_isolation') = 'read committed' then
    perform pg_advisory_xact_lock_shared(maps._lock_key(place.map_id));
  end if;
  execute format(
    'select coalesce(array_agg(fan.q), ''{}'') as qs, coalesce(array_agg(fan.r), ''{}'') as rs,'
    ' coalesce(array_agg(fan.label), ''{}'') as labels, coalesce(array_agg(fan.range), ''{}'') as ranges'
    ' from %I.fan($1, $2, $3) as fan', place.ruleset
  )
  into fan
  using viewshed.position_id, viewshed."from", reach;
  if current_setting('transaction_isolation') = 'read committed'
    and current_setting('transaction_read_only') = 'off' then
    insert into public.viewshed (position_id, viewer, radius, q, r, map_id, qs, rs, labels, ranges)
    values (
      viewshed.position_id, viewshed."from", reach, place.q, place.r, place.map_id,
      fan.qs, fan.rs, fan.labels, fan.ranges
    )
    on conflict do nothing;
  end if;
  return query
  select * from unnest(fan.qs, fan.rs, fan.labels, fan.ranges);
end
$$;

comment on function positions.viewshed(bigint, text, integer) is
'What a hex or unit of a position sees, from the cache where it is there; the same rows as its ruleset''s fan.';

create or replace function positions._each_fan(position_id bigint, viewers text[], radius integer)
returns table (viewer text, q integer, r integer, qs integer[], rs integer[], labels text[], ranges integer[])
language plpgsql stable rows 100
set plan_cache_mode = force_generic_plan
as $$
begin
  return query execute format(
    'select who.name, place.q, place.r, seen.*'
    ' from unnest($2) as who (name)'
    ' cross join lateral positions.place($1, who.name) as place'
    ' cross join lateral ('
    'select coalesce(array_agg(fan.q), ''{}''), coalesce(array_agg(fan.r), ''{}''),'
    ' coalesce(array_agg(fan.label), ''{}''), coalesce(array_agg(fan.range), ''{}'')'
    ' from %I.fan($1, who.name, $3) as fan'
    ') as seen'
    ' where place.q is not null',
    (select position.ruleset from public.position where position.id = _each_fan.position_id)
  )
  using _each_fan.position_id, _each_fan.viewers, _each_fan.radius;
end
$$;

comment on function positions._each_fan(bigint, text[], integer) is
'What each of many hexes and units sees, one after the other: the rows of their ruleset''s fan as lists.';

create or replace function positions.survey(position_id bigint, viewers text[])
returns table (added bigint, seen bigint)
language plpgsql volatile rows 1
as $$
#variable_conflict use_column
declare
  place public.position;
  missing text[];
begin
  select * into place from public.position where position.id = survey.position_id;
  added := 0;
  if current_setting('transaction_isolation') = 'read committed'
    and current_setting('transaction_read_only') = 'off' then
    perform pg_advisory_xact_lock_shared(maps._lock_key(place.map_id));
    missing := array(
      select name.name
      from unnest(survey.viewers) as name (name)
      where not exists (
        select from public.viewshed as kept
        where kept.position_id = survey.position_id and kept.viewer = name.name and kept.radius = 24
      )
    );
    execute format(
      'insert into public.viewshed (position_id, viewer, radius, q, r, map_id, qs, rs, labels, ranges)'
      ' select $1, fan.viewer, $3, fan.q, fan.r, $4, fan.qs, fan.rs, fan.labels, fan.ranges'
      ' from %s($1, $2, $3) as fan'
      -- in one order, so that two surveys never wait for each other
      ' order by fan.viewer collate "C"'
      ' on conflict do nothing',
      -- a game may know how to look for many at once
      coalesce(to_regproc(format('%I._fans', place.ruleset)), 'positions._each_fan'::regproc)
    )
    using survey.position_id, missing, 24, place.map_id;
    get diagnostics added = row_count;
  end if;
  seen := (
    select coalesce(sum(cardinality(kept.qs)), 0)
    from public.viewshed as kept
    where kept.position_id = survey.position_id and kept.viewer = any(survey.viewers) and kept.radius = 24
  );
  return next;
end
$$;

comment on function positions.survey(bigint, text[]) is
'Keep what each of many hexes and units sees as far as can be seen, where it is not kept yet: how many are new, and how many hexes they all see.';

create or replace function positions._line_slot("from" text, "to" text)
returns smallint
language sql immutable parallel safe
return (hashtext("from" || '>' || "to") & 4095)::smallint;

comment on function positions._line_slot(text, text) is
'Where a line is kept: a position has 4,096 slots, so that no number of questions fills the disk.';

create or replace function positions.line(position_id bigint, "from" text, "to" text)
returns setof rulings.sight_step
language plpgsql volatile rows 8
set plan_cache_mode = force_generic_plan
as $$
declare
  kept public.kept_line;
  place record;
begin
  select * into kept
  from public.kept_line as asked
  where asked.position_id = line.position_id
    and asked.slot = positions._line_slot(line."from", line."to")
    and asked.viewer = line."from"
    and asked.target = line."to";
  if kept.rules is null then
    select
      position.map_id,
      position.ruleset,
      start.q,
      start.r,
      lattice.distance(start.q, start.r, target.q, target.r) as away
    into place
    from public.position
    left join lateral positions.place(line.position_id, line."from") as start on true
    left join lateral positions.place(line.position_id, line."to") as target on true
    where position.id = line.position_id;
    if current_setting('transaction_isolation') = 'read committed' then
      perform pg_advisory_xact_lock_shared(maps._lock_key(place.map_id));
    end if;
    execute format(
      'select array_agg(step.rule) as rules, array_agg(step.clause) as clauses, array_agg(step.at) as places,'
      ' array_agg(step.effect) as effects, array_agg(step.note) as notes, array_agg(step.point) as points,'
      ' array_agg(step.range) as ranges, array_agg(step.hindrance) as hindrances from %I.los($1, $2, $3) as step',
      place.ruleset
    )
    into kept.rules, kept.clauses, kept.places, kept.effects, kept.notes, kept.points, kept.ranges, kept.hindrances
    using line.position_id, line."from", line."to";
    if current_setting('transaction_isolation') = 'read committed'
      and current_setting('transaction_read_only') = 'off'
      -- who is at sea is seen at a beach (css 22.3.1), whose edits nobody watches for this line
      and place.away is not null then
      delete from public.kept_line as other
      where other.position_id = line.position_id
        and other.slot = positions._line_slot(line."from", line."to");
      insert into public.kept_line (
        position_id, slot, viewer, target, map_id, q, r, away,
        rules, clauses, places, effects, notes, points, ranges, hindrances
      )
      values (
        line.position_id, positions._line_slot(line."from", line."to"), line."from", line."to", place.map_id, place.q, place.r,
        place.away, kept.rules, kept.clauses, kept.places, kept.effects, kept.notes, kept.points, kept.ranges, kept.hindrances
      )
      on conflict do nothing;
    end if;
  end if;
  return query
  select *
  from unnest(
    kept.rules, kept.clauses, kept.places, kept.effects, kept.notes, kept.points, kept.ranges, kept.hindrances
  );
end
$$;

comment on function positions.line(bigint, text, text) is
'A line of sight in a position as it stands, from what is kept where it was asked before; the rows of its ruleset''s los.';

create or replace function positions.viewers(position_id bigint)
returns table (name text, is_unit boolean)
language sql stable rows 1000
as $$
  -- off the map too: a hex is told apart from any unit of its name
  with counter as (
    select unit.code, unit.id, unit.q is not null as looks
    from public.unit
    where unit.position_id = viewers.position_id
  ),
  ground as (
    select hex.label, hex.q, hex.r
    from public.position
    inner join public.hex on hex.map_id = position.map_id
    where position.id = viewers.position_id
  )
  (
    select
      case when exists (select from ground where ground.label = counter.code) then 'unit:' else '' end || counter.code,
      true
    from counter
    where counter.looks
    order by counter.id
  )
  union all
  (
    select
      case when exists (select from counter where counter.code = ground.label) then 'hex:' else '' end || ground.label,
      false
    from ground
    -- what is near one another in a row: a survey looks for many at once
    order by ground.q >> 6, ground.r >> 6, ground.q, ground.r
  )
$$;

comment on function positions.viewers(bigint) is
'Every unit on the map and every hex of a position, by the name that a question has for it.';

create or replace function positions.viewshed_reasons(
  position_id bigint, "from" text, radius integer default null
)
returns setof rulings.step
language plpgsql volatile rows 10
set plan_cache_mode = force_generic_plan
as $$
declare
  place record;
  fan record;
  found_reasons jsonb;
  reach integer := coalesce(viewshed_reasons.radius, 24);
begin
  select kept.reasons
  into found_reasons
  from public.viewshed as kept
  where kept.position_id = viewshed_reasons.position_id
    and kept.viewer = viewshed_reasons."from"
    and kept.radius = reach;
  if found_reasons is null then
    select position.map_id, position.ruleset, viewer.q, viewer.r
    into place
    from public.position
    left join lateral positions.place(viewshed_reasons.position_id, viewshed_reasons."from") as viewer on true
    where position.id = viewshed_reasons.position_id;
    if current_setting('transaction_isolation') = 'read committed' then
      perform pg_advisory_xact_lock_shared(maps._lock_key(place.map_id));
    end if;
    select
      coalesce(array_agg(seen.q), '{}') as qs,
      coalesce(array_agg(seen.r), '{}') as rs,
      coalesce(array_agg(seen.label), '{}') as labels,
      coalesce(array_agg(seen.range), '{}') as ranges
    into fan
    from positions.viewshed(
      viewshed_reasons.position_id, viewshed_reasons."from", viewshed_reasons.radius
    ) as seen;
    execute format(
      'select coalesce(jsonb_agg(to_jsonb(step)), ''[]'') from %I.fan_reasons($1, $2, $3) as step', place.ruleset
    )
    into found_reasons
    using viewshed_reasons.position_id, viewshed_reasons."from", reach;
    if current_setting('transaction_isolation') = 'read committed'
      and current_setting('transaction_read_only') = 'off' then
      -- where the fan as far as can be seen is kept, a nearer one has no row yet
      insert into public.viewshed (position_id, viewer, radius, q, r, map_id, qs, rs, labels, ranges, reasons)
      values (
        viewshed_reasons.position_id, viewshed_reasons."from", reach, place.q, place.r, place.map_id,
        fan.qs, fan.rs, fan.labels, fan.ranges, found_reasons
      )
      on conflict on constraint viewshed_pkey do update set reasons = excluded.reasons;
    end if;
  end if;
  return query
  select * from jsonb_populate_recordset(null::rulings.step, found_reasons);
end
$$;

comment on function positions.viewshed_reasons(bigint, text, integer) is
'Why a hex or unit of a position sees no more, from the cache where it is there; the rows of its ruleset''s fan_reasons.';

create or replace function positions._note_own(position_id bigint)
returns void
language plpgsql volatile
as $$
begin
  perform set_config(
    'sightline.own_positions',
    concat_ws(',', nullif(current_setting('sightline.own_positions', true), ''), _note_own.position_id),
    true
  );
end
$$;

comment on function positions._note_own(bigint) is
'Note that this transaction has made a position: until it commits nobody else sees it. Undone with its savepoint.';

create or replace function positions._lock(map_id bigint, position_id bigint)
returns void
language plpgsql volatile
as $$
begin
  -- a what-if keeps nobody waiting: what others do not see, they neither edit nor keep
  if not coalesce(
    _lock.position_id::text = any(string_to_array(current_setting('sightline.own_positions', true), ',')), false
  ) then
    perform maps._lock(_lock.map_id);
  end if;
end
$$;

comment on function positions._lock(bigint, bigint) is
'maps._lock for the edit of a position, or of the map under all of them; not for a position that only we can see.';

create or replace function positions._drop_lines(map_id bigint, position_id bigint, qs integer[], rs integer[])
returns void
language plpgsql volatile
as $$
begin
  perform positions._lock(_drop_lines.map_id, _drop_lines.position_id);
  delete from public.kept_line as kept
  where kept.map_id = _drop_lines.map_id
    and (
      -- a ridge or a building may join hexes far off: an edit of the map drops all
      _drop_lines.position_id is null
      or (
        kept.position_id = _drop_lines.position_id
        and (
          _drop_lines.qs is null
          or exists (
            select
            from unnest(_drop_lines.qs, _drop_lines.rs) as edited (q, r)
            -- ccp 7.2: a light shines two hexes far
            where edited.q is null or lattice.distance(kept.q, kept.r, edited.q, edited.r) <= kept.away + 2
          )
        )
      )
    );
end
$$;

comment on function positions._drop_lines(bigint, bigint, integer[], integer[]) is
'Drop the lines of sight that are kept near some hexes of one position, or all of them on a map.';

create or replace function positions._drop_viewsheds(map_id bigint, position_id bigint, qs integer[], rs integer[])
returns void
language plpgsql volatile
as $$
begin
  perform positions._lock(_drop_viewsheds.map_id, _drop_viewsheds.position_id);
  perform positions._drop_lines(
    _drop_viewsheds.map_id, _drop_viewsheds.position_id, _drop_viewsheds.qs, _drop_viewsheds.rs
  );
  delete from public.viewshed as kept
  where kept.map_id = _drop_viewsheds.map_id
    and (_drop_viewsheds.position_id is null or kept.position_id = _drop_viewsheds.position_id)
    and (
      _drop_viewsheds.qs is null
      or exists (
        select
        from unnest(_drop_viewsheds.qs, _drop_viewsheds.rs) as edited (q, r)
        -- what lies beyond the radius, but for the sides of its rim, cannot matter
        where edited.q is null or lattice.distance(kept.q, kept.r, edited.q, edited.r) <= kept.radius + 1
      )
    );
end
$$;

comment on function positions._drop_viewsheds(bigint, bigint, integer[], integer[]) is
'Drop what was cached near some hexes of a map, or everywhere, for one position or for all on the map.';

create or replace function positions._hides_nothing()
returns text[]
language sql immutable parallel safe
-- css 8.3.6, 9.2, 10.0, 10.2.1
return array['dg', 'suppressed', 'concentrated_fire', 'sustained_fire', 'no_opportunity_fire', 'prepared_assault'];

comment on function positions._hides_nothing() is
'Kinds of marker that bear on no line of sight in any game.';

create or replace function positions._after_edit()
returns trigger
language plpgsql
as $$
declare
  edit record;
begin
  if tg_op = 'TRUNCATE' then
    delete from public.viewshed;
    delete from public.kept_line;
    return null;
  end if;
  for edit in execute format(
    'select map_id, position_id, array_agg(q) as qs, array_agg(r) as rs from (%s) as changed group by 1, 2',
    maps._changed_rows(tg_op, tg_argv[0])
  )
  loop
    if cardinality(edit.qs) > 1000 then
      -- to compare each of these with each viewshed would take longer than to find the viewsheds anew
      perform positions._drop_viewsheds(edit.map_id, edit.position_id, null, null);
    else
      perform positions._drop_viewsheds(edit.map_id, edit.position_id, edit.qs, edit.rs);
    end if;
  end loop;
  return null;
end
$$;

comment on function positions._after_edit() is
'Trigger: drop the viewsheds around changed hexes, hexsides, artwork or markers.';

create or replace function positions._after_state_edit()
returns trigger
language plpgsql
as $$
begin
  if (old.policy, old.map_id) is distinct from (new.policy, new.map_id)
    or (
      -- css 7.1.2, 17.0: time and weather tell how far is seen; who is Active, and what was done, hides nothing
      case
        when new.ruleset <> 'css' then old.conditions <> new.conditions
        else
          (old.conditions -> 'time', old.conditions -> 'weather')
          is distinct from (new.conditions -> 'time', new.conditions -> 'weather')
      end
    ) then
    perform positions._drop_viewsheds(old.map_id, old.id, null, null);
  elsif old.tracks -> 'hexes' is distinct from new.tracks -> 'hexes' then
    -- bob 43.7: a Roadblock that is cleared no longer hinders
    perform positions._drop_lines(old.map_id, old.id, null, null);
  end if;
  return null;
end
$$;

comment on function positions._after_state_edit() is
'Trigger: drop a position''s viewsheds when its policy or conditions that bear on sight change.';

create or replace function positions._after_unit_edit()
returns trigger
language plpgsql
as $$
begin
  if tg_op <> 'INSERT' then
    perform positions._lock(old.map_id, old.position_id);
  end if;
  if tg_op <> 'DELETE' then
    perform positions._lock(new.map_id, new.position_id);
  end if;
  delete from public.viewshed as kept
  where kept.position_id in (old.position_id, new.position_id)
    and positions.spoken(kept.viewer) in (old.code, new.code);
  delete from public.kept_line as kept
  where kept.position_id in (old.position_id, new.position_id)
    and (
      positions.spoken(kept.viewer) in (old.code, new.code) or positions.spoken(kept.target) in (old.code, new.code)
    );
  return null;
end
$$;

comment on function positions._after_unit_edit() is
'Trigger: drop what a unit was found to see when its counter changes.';

create or replace trigger viewshed_unit
after insert or update or delete on public.unit
for each row execute function positions._after_unit_edit();

select maps._watch(watched.name, 'viewshed', 'positions._after_edit', watched.query)
from (
  values
  ('hex', 'select map_id, null::bigint as position_id, q, r from %s'),
  ('hexside', 'select map_id, null::bigint as position_id, x / 2 as q, y / 2 as r from %s'),
  ('terrain_area', 'select map_id, null::bigint as position_id, null::integer as q, null::integer as r from %s'),
  ('crest', 'select map_id, null::bigint as position_id, null::integer as q, null::integer as r from %s'),
  -- markers on the state of units, which come and go all the time, hide nothing in any game
  (
    'marker',
    'select map_id, position_id, q, r from %s where kind <> all(positions._hides_nothing())'
  )
) as watched (name, query);

create or replace function positions._after_path_edit()
returns trigger
language plpgsql
as $$
declare
  edit record;
begin
  if tg_op = 'TRUNCATE' then
    delete from public.kept_line;
    return null;
  end if;
  for edit in execute format('select distinct map_id from (%s) as changed', maps._changed_rows(tg_op, tg_argv[0])) loop
    perform positions._drop_lines(edit.map_id, null, null, null);
  end loop;
  return null;
end
$$;

comment on function positions._after_path_edit() is
'Trigger: drop the lines that are kept where paths change; a dike road may hinder them (bob 46.1), though it hides nothing.';

select maps._watch('path', 'kept_line', 'positions._after_path_edit', 'select map_id from %s');

create or replace function positions._after_ruleset_edit()
returns trigger
language plpgsql
as $$
begin
  perform positions._drop_viewsheds(map.id, null, null, null)
  from public.map
  where map.ruleset in (select to_jsonb(changed) ->> tg_argv[0] from new_rows as changed);
  return null;
end
$$;

comment on function positions._after_ruleset_edit() is
'Trigger: drop all viewsheds of a game when what its terrain does, or how it is read, changes.';

create or replace trigger viewshed_terrain
after update on public.terrain
referencing new table as new_rows
for each statement execute function positions._after_ruleset_edit('ruleset');

create or replace trigger viewshed_effect
after update on public.terrain_effect
referencing new table as new_rows
for each statement execute function positions._after_ruleset_edit('ruleset');

create or replace trigger viewshed_presets
after update on public.ruleset
referencing new table as new_rows
for each statement execute function positions._after_ruleset_edit('code');

create or replace trigger viewshed_state
after update on public.position
for each row execute function positions._after_state_edit();

-- What an earlier version's functions found out is not trusted.
delete from public.viewshed;
delete from public.kept_line;
