-- needs: bob/conceal.sql, bob/command_points.sql
-- A shot in bob (Band of Brothers) as it is declared: who fires with what at whom, along which line: 5.2, 6.0, 9.0, 10.0, 20.4, 31.0, 34.0, 37.0, 50.2.

drop type if exists bob.shot cascade;
create type bob.shot as (
  firer positions.counter,
  manner text,
  arm text,
  directed boolean,
  aim bob.aim,
  storey text,
  at_vehicle boolean,
  vehicle positions.counter,
  targets positions.counter array,
  movers text array,
  assumed boolean,
  facing integer,
  turned boolean,
  front boolean,
  cp text,
  near integer,
  far integer,
  limit_ integer,
  ground text,
  works text,
  read jsonb
);

comment on type bob.shot is
'An attack by fire as it is declared.';
comment on column bob.shot.manner is 'fire, assault_fire, op_fire, final_op_fire or muzzle_flash';
comment on column bob.shot.arm is 'infantry, mortar, v_gun, flame or canister';
comment on column bob.shot.assumed is 'Nobody in the target hex is told to move, and the target of Op Fire is taken to';
comment on column bob.shot.front is 'Whether the target is in front; null where that is left open';
comment on column bob.shot.limit_ is 'The farthest range at which it may fire at all';
comment on column bob.shot.ground is 'The ground that the firer stands on; works: its fortification';

create or replace function bob._arm(unit positions.counter, weapon text)
returns text
language sql immutable parallel safe
return case
  when weapon in ('flame', 'canister') then weapon
  when weapon = 'as_mortar' or (weapon = 'directed' and bob._flag(unit, 'as_mortar')) then 'mortar'
  when unit.kind in ('gun', 'vehicle', 'carrier') then 'v_gun'
  when bob._mortar(unit) then 'mortar'
  else 'infantry'
end;

comment on function bob._arm(positions.counter, text) is
'By which column of the Player Aid Card a unit fires, with the weapon that it names (31.0, 34.0, 37.0, 38.0, 59.3).';

create or replace function bob._limit(state positions.state, unit positions.counter, arm text, far integer)
returns integer
language sql immutable parallel safe
return case
  when arm = 'flame' then 2
  when arm = 'canister' then 3
  when state.conditions ->> 'weather' = 'monsoon' then 3
  -- 50.2
  when state.conditions ? 'night' and arm = 'v_gun' then least(coalesce(far, 10), 10)
  when state.conditions ? 'night' or arm in ('mortar', 'v_gun') then far
  else 2 * far
end;

comment on function bob._limit(positions.state, positions.counter, text, integer) is
'How far a unit may fire at all: twice its Range, if it may use long range (6.0, 31.0, 34.0, 37.0, 50.2, 55.2); null is any distance.';

create or replace function bob._aimed(state positions.state, firer positions.counter, at text, arm text)
returns bob.shot
language plpgsql stable
as $$
#variable_conflict use_variable
declare
  shot bob.shot;
  place record;
  named positions.counter;
  here positions.counter[];
  other positions.counter;
  craft positions.counter;
begin
  select * into place from positions.place(state.position_id, at);
  select counter.* into named from bob._counters(state) as counter where counter.id = place.unit;
  if place.unit is not null and named.q is null then
    raise exception 'the target % is not on the map', positions.spoken(at) using errcode = 'no_data_found';
  end if;
  here := array(
    select counter from bob._counters(state) as counter
    where counter.q = coalesce(named.q, place.q) and counter.r = coalesce(named.r, place.r) and counter.side <> firer.side
    order by counter.code collate "C"
  );
  -- a location: that of the unit named, else the ground, else the only one where somebody is
  shot.storey := coalesce(
    bob._storey(named),
    (select bob._storey(one) from unnest(here) as one order by bob._storey(one) <> 'ground', bob._storey(one) limit 1),
    'ground'
  );
  shot.targets := array(
    select one from unnest(here) as one
    where bob._soft(one)
      -- 40.2, 45.4: bursting shells reach both levels of a building and of a bridge
      and (bob._storey(one) = shot.storey or (arm = 'mortar' and shot.storey <> 'cave' and bob._storey(one) <> 'cave'))
    order by one.code collate "C"
  );
  select one.* into other from unnest(here) as one
  where one.kind in ('vehicle', 'carrier') order by one.id <> coalesce(named.id, one.id), one.code collate "C" limit 1;
  -- 21.5: Guns and Vehicles attack the Carrier, infantry its passengers
  if arm in ('v_gun', 'flame') and named.id is not null and bob._mounted(named) and firer.kind in ('gun', 'vehicle', 'carrier') then
    select one.* into named from unnest(here) as one where one.code = named.attributes ->> 'in';
  end if;
  -- 23.0: small arms at who rides on an unarmored Vehicle are at the Vehicle as well
  if firer.kind not in ('gun', 'vehicle', 'carrier') and arm <> 'flame' then
    select one.* into craft from unnest(here) as one
    join unnest(shot.targets) as rider on rider.attributes ->> 'in' = one.code and rider.id = coalesce(named.id, rider.id)
    where one.attributes ? 'unarmored' order by one.code collate "C" limit 1;
    named := case when craft.id is null then named else craft end;
  end if;
  shot.vehicle := case when named.kind in ('vehicle', 'carrier') then named when named.id is null then other end;
  shot.at_vehicle := coalesce(
    named.kind = 'vehicle'
    or (named.kind = 'carrier' and (arm in ('v_gun', 'flame') or named.attributes ? 'unarmored' or cardinality(shot.targets) = 0))
    or (
      named.id is null and other.id is not null
      and not exists (
        select from unnest(shot.targets) as one where not (bob._mounted(one) and firer.kind in ('gun', 'vehicle', 'carrier'))
      )
    ),
    false
  );
  return shot;
end
$$;

comment on function bob._aimed(positions.state, positions.counter, text, text) is
'Whom fire at a hex or unit is at: infantry and Guns of a location, or a Vehicle (6.1, 20.10, 21.5).';

create or replace function bob._shot(
  state positions.state, by text, at text, manner text, weapon text, facing integer, cp text, read jsonb
)
returns bob.shot
language plpgsql stable
as $$
#variable_conflict use_variable
declare
  firer positions.counter := bob._counter(state, by);
  arm text := bob._arm(firer, weapon);
  shot bob.shot := bob._aimed(state, firer, at, arm);
  first positions.counter := case when shot.at_vehicle then shot.vehicle else shot.targets[1] end;
begin
  if firer.q is null then
    raise exception '% is not on the map', by using errcode = 'no_data_found';
  end if;
  shot.firer := firer;
  shot.manner := manner;
  shot.arm := arm;
  shot.directed := weapon is not distinct from 'directed';
  shot.read := coalesce(read, '{}');
  shot.cp := cp;
  shot.aim := bob._aim(
    state, bob._place_name(firer),
    case when first.id is null then case when at like 'unit:%' or at like 'hex:%' then at else 'hex:' || at end else bob._place_name(first) end,
    true
  );
  shot.aim.lane := bob._lane(state, firer);
  shot.ground := bob._ground(state, firer.q, firer.r);
  shot.works := (
    select fort.kind from bob._fortification(state, firer.q, firer.r, bob._storey(firer)) as fort
    where not bob._flag(firer, 'entered') and not firer.attributes ? 'moving'
  );
  shot.near := bob._near(bob._shown(firer.attributes, 'range'));
  shot.far := case arm when 'flame' then 2 when 'canister' then 3 else bob._far(bob._shown(firer.attributes, 'range')) end;
  shot.limit_ := bob._limit(state, firer, arm, shot.far);
  return bob._turned(state, bob._moved(state, shot, at), facing);
end
$$;

comment on function bob._shot(positions.state, text, text, text, text, integer, text, jsonb) is
'An attack by fire as it is declared: who, at whom, how, with what, turned where.';

create or replace function bob._moved(state positions.state, shot bob.shot, at text)
returns bob.shot
language plpgsql stable
as $$
declare
  all_of_them positions.counter[] := case when shot.at_vehicle then array[shot.vehicle] else shot.targets end;
begin
  shot.movers := array(select one.code from unnest(all_of_them) as one where one.attributes ? 'moving');
  shot.assumed := shot.manner in ('op_fire', 'final_op_fire') and cardinality(shot.movers) = 0
    -- 20.4: a Gun only ever turns, and that is no movement
    and exists (
      select from unnest(all_of_them) as one
      where one.kind <> 'gun'
        and (cardinality(all_of_them) = 1 or (one.code = positions.spoken(at) and at not like 'hex:%'))
    );
  if shot.assumed then
    -- Op Fire is at who moves: the one that is named, or the only one there
    shot.movers := array(
      select one.code from unnest(all_of_them) as one
      where cardinality(all_of_them) = 1 or one.code = positions.spoken(at)
    );
  end if;
  return shot;
end
$$;

comment on function bob._moved(positions.state, bob.shot, text) is
'The same shot, with those of its targets that are moving (9.0).';

create or replace function bob._turned(state positions.state, shot bob.shot, facing integer)
returns bob.shot
language plpgsql stable
as $$
#variable_conflict use_variable
declare
  firer positions.counter := shot.firer;
  faces integer := (firer.attributes ->> 'facing')::integer;
  heavy boolean := firer.kind in ('gun', 'vehicle', 'carrier');
  dq integer := (shot.aim).target.q - firer.q;
  dr integer := (shot.aim).target.r - firer.r;
begin
  shot.facing := coalesce(facing, faces);
  shot.turned := facing is not null and faces is not null and facing <> faces
    -- 2.2, 5.2: who has no facing turns for nothing
    and bob._faceless(state, firer) is null
    and not (bob._pillbox(shot) and not heavy and state.readings ->> 'bob-10' = 'a');
  shot.front := case
    when not heavy and not bob._in_force(state, 'facing') then true
    when shot.facing is null or (dq = 0 and dr = 0) then true
    when heavy then bob._in_arc(shot.facing, dq, dr, state.readings ->> 'bob-35')
    when bob._faceless(state, firer) is not null then true
    when bob._pillbox(shot) and state.readings ->> 'bob-10' = 'a' then true
    else bob._is_front(shot.facing, dq, dr, state.readings ->> 'bob-34')
  end;
  return shot;
end
$$;

comment on function bob._turned(positions.state, bob.shot, integer) is
'The same shot, with whether its firer turns for it and has the target in front (2.2, 6.0, 20.4, bob-10, bob-34, bob-35).';

create or replace function bob._pillbox(shot bob.shot)
returns boolean
language sql immutable parallel safe
return coalesce(shot.works in ('pillbox', 'bunker'), false);

comment on function bob._pillbox(bob.shot) is
'Whether the firer is in a Pillbox or Bunker (43.3).';
