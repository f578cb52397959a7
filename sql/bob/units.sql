-- needs: positions/state.sql, rulings/step.sql, charts/cells.sql
-- Counters of bob (Band of Brothers) as play sees them: which side of a counter is up, who is where with whom, what is in force: 2.0, 2.1, 12.0, 21.0.

create or replace function bob._flag(unit positions.counter, key text)
returns boolean
language sql immutable parallel safe
return coalesce((unit.attributes ->> key)::boolean, false);

comment on function bob._flag(positions.counter, text) is
'Whether a counter says yes to something.';

create or replace function bob._shown(attributes jsonb, key text)
returns jsonb
language sql immutable parallel safe
return case
  when (attributes ->> 'reduced')::boolean then coalesce(attributes -> 'back' -> key, attributes -> key)
  else attributes -> key
end;

comment on function bob._shown(jsonb, text) is
'What the side of a counter that is up says: of a Reduced unit its back, as far as that is told (2.0).';

create or replace function bob._nth(numbers jsonb, n integer)
returns integer
language sql immutable parallel safe
return case jsonb_typeof(numbers)
  when 'array' then coalesce(numbers ->> (n - 1), numbers ->> 0)::integer
  when 'number' then numbers::integer
end;

comment on function bob._nth(jsonb, integer) is
'One of the numbers on a counter; where it has a single one, that.';

create or replace function bob._near(range jsonb)
returns integer
language sql immutable parallel safe
return case when jsonb_typeof(range) = 'array' then (range ->> 0)::integer else 0 end;

comment on function bob._near(jsonb) is
'The least range of a weapon; 0 where it has none (31.0).';

create or replace function bob._far(range jsonb)
returns integer
language sql immutable parallel safe
return case jsonb_typeof(range) when 'array' then (range ->> 1)::integer when 'number' then range::integer end;

comment on function bob._far(jsonb) is
'The range of a weapon; null where it has no limit or none is told (2.1, 31.0).';

create or replace function bob._counters(state positions.state)
returns setof positions.counter
language sql stable parallel safe rows 20
as $$
  select
    unit.position_id,
    unit.map_id,
    unit.id,
    unit.code,
    unit.side,
    unit.kind,
    hex.q,
    hex.r,
    hex.label,
    unit.attributes
  from public.unit
  left join public.unit as carrier
    on carrier.position_id = unit.position_id and carrier.code = unit.attributes ->> 'in'
  inner join public.hex
    on hex.map_id = unit.map_id
      and hex.q = coalesce(carrier.q, unit.q)
      and hex.r = coalesce(carrier.r, unit.r)
  where unit.position_id = state.position_id
    and unit.kind not in ('artillery', 'aircraft', 'illumination')
$$;

comment on function bob._counters(positions.state) is
'The units on the map, a passenger in the hex of its Carrier; assets are no units (4.0).';

create or replace function bob._counter(state positions.state, code text)
returns positions.counter
language plpgsql stable parallel safe
as $$
declare
  standing positions.counter;
begin
  select counter.* into standing from bob._counters(state) as counter where counter.code = _counter.code;
  if standing.code is null then
    return positions._asked_counter(state.position_id, _counter.code);
  end if;
  return standing;
end
$$;

comment on function bob._counter(positions.state, text) is
'A unit of that id, a passenger where its Carrier is; an error where there is none.';

create or replace function bob._mounted(unit positions.counter)
returns boolean
language sql immutable parallel safe
return unit.attributes ? 'in';

comment on function bob._mounted(positions.counter) is
'Whether a unit rides in a Carrier or on a tank (21.0, 22.0).';

create or replace function bob._on_foot(unit positions.counter)
returns boolean
language sql immutable parallel safe
return unit.kind in ('squad', 'wt', 'decoy');

comment on function bob._on_foot(positions.counter) is
'Whether a unit is infantry, which a Decoy is taken for (15.0).';

create or replace function bob._soft(unit positions.counter)
returns boolean
language sql immutable parallel safe
return unit.kind in ('squad', 'wt', 'decoy', 'gun', 'satt');

comment on function bob._soft(positions.counter) is
'Whether fire at a location affects it: infantry and Guns, not Vehicles (6.1).';

create or replace function bob._storey(unit positions.counter)
returns text
language sql immutable parallel safe
return case
  when bob._flag(unit, 'upper_level') then 'upper'
  when bob._flag(unit, 'in_cave') then 'cave'
  when bob._flag(unit, 'under_bridge') then 'under'
  else 'ground'
end;

comment on function bob._storey(positions.counter) is
'Which location of its hex a unit is in (2.0): on the ground, upstairs, in a cave, under a bridge.';

create or replace function bob._together(one positions.counter, other positions.counter)
returns boolean
language sql immutable parallel safe
return one.q = other.q and one.r = other.r and bob._storey(one) = bob._storey(other);

comment on function bob._together(positions.counter, positions.counter) is
'Whether two units are in one location.';

create or replace function bob._in_melee(state positions.state, unit positions.counter)
returns boolean
language plpgsql stable parallel safe
as $$
#variable_conflict use_column
begin
  return (
    select bob._soft(unit) and not bob._mounted(unit) and exists (
      select
      from bob._counters(state) as enemy
      where enemy.side <> unit.side
        and bob._together(enemy, unit)
        and bob._soft(enemy)
        and not bob._mounted(enemy)
        -- 12.0: two Guns do not fight
        and (bob._on_foot(enemy) or bob._on_foot(unit))
    )
  );
end
$$;

comment on function bob._in_melee(positions.state, positions.counter) is
'Whether a unit is in the location of an enemy that it fights hand to hand (12.0).';

create or replace function bob._japanese(unit positions.counter)
returns boolean
language sql immutable parallel safe
return coalesce(unit.attributes ->> 'nation', unit.side) = 'japan';

comment on function bob._japanese(positions.counter) is
'Whether a unit is Japanese: by its nation, else by its side.';

create or replace function bob._mortar(unit positions.counter)
returns boolean
language sql immutable parallel safe
return unit.attributes ->> 'type' = 'mortar' or bob._flag(unit, 'grenade_discharger');

comment on function bob._mortar(positions.counter) is
'Whether a unit fires as a Mortar: a mortar WT, a grenade discharger Squad (31.0, 59.3).';

create or replace function bob._in_force(state positions.state, rule text)
returns boolean
language sql immutable parallel safe
return coalesce(state.conditions -> 'rules' ? rule, false)
or (
  state.conditions ->> 'module' is not distinct from 'pacific'
  and rule in ('facing', 'combat_events', 'fire_lanes', 'fortification_concealment')
)
-- where nobody says which rules are played, a facing that is told counts
or (rule = 'facing' and not coalesce(state.conditions ? 'rules', false));

comment on function bob._in_force(positions.state, text) is
'Whether an optional rule is played: by the scenario, or as all Pacific ones have it (2.2, 17.0, 43.0).';

create or replace function bob._of_side(state positions.state, side text, key text)
returns jsonb
language plpgsql stable parallel safe
as $$
#variable_conflict use_column
begin
  return (
    select coalesce(position.tracks -> _of_side.side -> _of_side.key, state.conditions -> _of_side.key -> _of_side.side)
    from public.position
    where position.id = state.position_id
  );
end
$$;

comment on function bob._of_side(positions.state, text, text) is
'What is kept of a side: its track, else what the conditions say.';

create or replace function bob._fortification(state positions.state, q integer, r integer, storey text)
returns setof public.marker
language sql stable parallel safe rows 1
as $$
  select marker.*
  from public.marker
  where marker.position_id = state.position_id
    and marker.q = _fortification.q
    and marker.r = _fortification.r
    and case _fortification.storey
      when 'cave' then marker.kind in ('small_cave', 'cave')
      when 'ground' then marker.kind in ('foxhole', 'trench', 'pillbox', 'bunker', 'sangar', 'fortified')
      else false
    end
  -- a small cave may have a cave marker beside it that tells its facing
  order by marker.kind <> 'small_cave', marker.id
  limit 1
$$;

comment on function bob._fortification(positions.state, integer, integer, text) is
'The fortification of a location (43.0).';

create or replace function bob._pac(chart text, row_key text, column_key text, read jsonb default '{}')
returns setof charts.cell_in_force
language plpgsql stable parallel safe rows 1
as $$
declare
  cell charts.cell_in_force;
  told jsonb := read -> chart;
begin
  select known.value, known.source, known.rule into cell.value, cell.source, cell.rule
  from charts.cell('bob', _pac.chart, _pac.row_key, _pac.column_key) as known;
  if not found then
    -- the card has no such cell: it does nothing there
    cell.value := '-';
  end if;
  if jsonb_typeof(told) = 'object' then
    told := told -> row_key;
  end if;
  if jsonb_typeof(told) = 'object' then
    told := told -> column_key;
  end if;
  if cell.value is null and jsonb_typeof(told) in ('number', 'string') then
    cell.value := told #>> '{}';
    cell.source := 'read';
  end if;
  cell.chart := _pac.chart;
  cell.row_key := _pac.row_key;
  cell.column_key := _pac.column_key;
  return next cell;
end
$$;

comment on function bob._pac(text, text, text, jsonb) is
'A cell of the Player Aid Card: as printed or filled in, else as it was read for this ruling; a value of null is not told.';

create or replace function bob._told(read jsonb, chart text, key text)
returns integer
language plpgsql immutable parallel safe
as $$
declare
  said jsonb := read -> chart;
begin
  if jsonb_typeof(said) = 'object' then
    said := said -> key;
  end if;
  return case when jsonb_typeof(said) = 'number' then said::integer end;
end
$$;

comment on function bob._told(jsonb, text, text) is
'A number that was read off a chart for this ruling: told plainly, or by its row; null where it was not.';
