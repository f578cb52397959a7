-- needs: bob/move.sql, bob/rout.sql, bob/sights.sql, bob/support.sql, bob/placement.sql, bob/anti_tank.sql
-- Who may fire at a moving unit in bob (Band of Brothers): 5.1, 6.1, 9.0, 10.0, 10.1, 20.7, 43.6, 50.2.
--
-- What the fire then does is for op_fire and final_op_fire to say; here only who may speak up, hex by hex.

create or replace function bob._longest(piece bob.piece, dark boolean)
returns integer
language sql immutable parallel safe
return case
  -- at night infantry fires within its Range, Guns and Vehicles to 10 hexes (50.2)
  when piece.gun or piece.vehicle then case when dark then 10 else 99 end
  when jsonb_typeof(piece.attributes -> 'range') = 'array' then coalesce((piece.attributes -> 'range' ->> 1)::integer, 99)
  when dark or (piece.attributes ->> 'grenade_discharger')::boolean then coalesce((piece.attributes ->> 'range')::integer, 99)
  else 2 * coalesce((piece.attributes ->> 'range')::integer, 99)
end;

comment on function bob._longest(bob.piece, boolean) is
'How far a unit may fire at all (6.0, 31.0, 50.2, 59.3).';

create or replace function bob._shooters(
  state positions.state, pieces bob.piece[], mover bob.piece, q integer, r integer, label text
)
returns table (who text, kind text, rule text, note text)
language plpgsql stable rows 4
as $$
#variable_conflict use_column
declare
  dark boolean := jsonb_typeof(state.conditions -> 'night') = 'object';
  enemy bob.piece;
  away integer;
  j integer := 0;
  sights boolean[];
  friends boolean := exists (
    select from unnest(pieces) as friend
    where friend.side = mover.side and friend.code <> mover.code and friend.q = mover.q and friend.r = mover.r
      and (friend.infantry or friend.gun)
  );
begin
  select bob._sights(
    state, array[_shooters.q], array[_shooters.r],
    array_agg(case when piece.location = 'ground' then piece.q end order by piece.n),
    array_agg(case when piece.location = 'ground' then piece.r end order by piece.n)
  )
  into sights
  from unnest(pieces) with ordinality
    as piece (id, code, side, nation, kind, q, r, label, location, infantry, gun, vehicle, decoy, mounted, melee, concealed, attributes, n);
  foreach enemy in array pieces loop
    j := j + 1;
    continue when enemy.side = mover.side or enemy.decoy or enemy.kind = 'satt' or not enemy.attributes ? 'fp';
    continue when enemy.mounted and not (bob._flag(enemy, 'fires_mounted') or bob._flag(enemy, 'ss') or bob._flag(enemy, 'panzer_grenadier') or enemy.kind = 'wt');
    -- 6.1: not with an enemy in its own location; 5.1: unless he withdraws and nobody is left
    continue when exists (
      select from unnest(pieces) as other
      where other.side <> enemy.side and other.q = enemy.q and other.r = enemy.r and other.location = enemy.location
        and not other.mounted and other.code <> mover.code
    );
    continue when enemy.q = mover.q and enemy.r = mover.r and friends;
    away := lattice.distance(enemy.q, enemy.r, _shooters.q, _shooters.r);
    continue when away = 0 or away > bob._longest(enemy, dark) or bob._too_dark(state, away);
    if bob._flag(enemy, 'used') then
      -- 10.0: next to it only, or for a Command Point within its Range
      continue when away > 1 or not bob._neighbouring(state, enemy.q, enemy.r, _shooters.q, _shooters.r);
      continue when jsonb_typeof(enemy.attributes -> 'sustained') = 'array'
        and not enemy.attributes -> 'sustained' ? _shooters.label;
    end if;
    continue when not coalesce(sights[j], bob._seen(state, 'unit:' || enemy.code, 'hex:' || _shooters.label));
    who := enemy.code;
    kind := case when bob._flag(enemy, 'used') then 'final_op_fire' else 'op_fire' end;
    rule := case when bob._flag(enemy, 'used') then '10.0' else '9.0' end;
    note := format('%s may fire at it in %s', enemy.code, _shooters.label);
    return next;
  end loop;
end
$$;

comment on function bob._shooters(positions.state, bob.piece[], bob.piece, integer, integer, text) is
'Enemies that may fire at a unit moving in a hex: by Op Fire, or next to it by Final Op Fire (9.0, 10.0).';

create or replace function bob.opportunities(
  position_id bigint, unit text, path text[], conditions jsonb default null, policy jsonb default null
)
returns setof rulings.move_step
language plpgsql stable rows 10
as $$
declare
  state positions.state;
  -- by their names, so that a game that is read back tells them in the same order
  pieces bob.piece[] := array(select piece from bob._pieces(opportunities.position_id) as piece order by piece.code);
  mover bob.piece;
  place record;
  entered integer := 0;
  way text[] := opportunities.path;
begin
  select * into state from positions.state(opportunities.position_id, opportunities.conditions, opportunities.policy);
  select * into mover from unnest(pieces) as piece where piece.code = opportunities.unit;
  if way[1] = mover.label then
    way := way[2:];
  end if;
  for place in
    select hex.q, hex.r, hex.label
    from unnest(way) with ordinality as step (label, n)
    inner join public.hex on hex.map_id = state.map_id and hex.label = step.label
    order by step.n
  loop
    entered := entered + 1;
    if exists (
      select from unnest(pieces) as enemy
      where enemy.side <> mover.side and enemy.q = place.q and enemy.r = place.r and (enemy.infantry or enemy.gun)
        and not enemy.mounted
    ) then
      -- 9.0: nobody fires into a Melee; on its first step the fire falls where it began
      exit when entered > 1;
      place.q := mover.q;
      place.r := mover.r;
      place.label := mover.label;
    end if;
    return query
    select
      shooter.rule, null, place.label, 'opportunity fire', shooter.note,
      case when place.label = mover.label then 'bob-18' end, null::integer, null::integer, shooter.who
    from bob._shooters(state, pieces, mover, place.q, place.r, place.label) as shooter;
  end loop;
end
$$;

comment on function bob.opportunities(bigint, text, text[], jsonb, jsonb) is
'Every enemy that may fire at a unit along its way, and in which hex (9.0, 10.0).';

create or replace function bob._cups(state positions.state)
returns table (side text, next text)
language sql stable rows 1
as $$
  select held.side, cup.units ->> 0
  from public.position
  cross join lateral (
    select jsonb_object_keys(case when jsonb_typeof(state.conditions -> 'fow') = 'object' then state.conditions -> 'fow' else '{}' end) as side
    union
    select track.key
    from jsonb_each(coalesce(position.tracks, '{}')) as track
    where jsonb_typeof(track.value) = 'object' and track.value ? 'fow'
  ) as held
  cross join lateral (
    select
      coalesce(position.tracks -> held.side -> 'fow', state.conditions -> 'fow' -> held.side) as units,
      state.conditions -> 'fow' -> 'drawn' as drawn
  ) as cup
  where position.id = state.position_id
    and held.side <> 'drawn'
    and jsonb_typeof(cup.units) = 'array'
    and jsonb_array_length(cup.units) > 0
    -- 16.2: one a turn
    and (position.tracks -> held.side ->> 'fow_drawn')::integer is distinct from coalesce((state.conditions ->> 'turn')::integer, 1)
    and not coalesce(cup.drawn in ('true', to_jsonb(held.side)) or cup.drawn ? held.side, false)
$$;

comment on function bob._cups(positions.state) is
'The FOW cups from which a unit may be drawn this turn, with one that is in it (16.2).';

create or replace function bob.fow_spots(
  position_id bigint, mover text, unit text, conditions jsonb default null, policy jsonb default null
)
returns table (label text)
language sql stable rows 3
as $$
  select hex.label
  from positions.state(fow_spots.position_id, fow_spots.conditions, fow_spots.policy) as state
  cross join lateral bob._counter(state, fow_spots.mover) as enemy
  inner join public.unit as fresh on fresh.position_id = state.position_id and fresh.code = fow_spots.unit
  inner join public.hex
    on hex.map_id = state.map_id and lattice.distance(hex.q, hex.r, enemy.q, enemy.r) between 1 and 2
  where (
    select told.effect = 'allowed'
    from bob.placement(
      state.position_id, fresh.code, fresh.side, coalesce(fresh.kind, 'squad'), coalesce(fresh.attributes ->> 'nation', fresh.side),
      hex.label, 'fow_reaction', '{}', null, state.conditions, state.readings
    ) as told
    where told.facts ? 'allowed'
  )
  order by lattice.distance(hex.q, hex.r, enemy.q, enemy.r), hex.label
$$;

comment on function bob.fow_spots(bigint, text, text, jsonb, jsonb) is
'The hexes in which a unit of the FOW cup may appear before an enemy that has just entered a hex (16.2).';

create or replace function bob.flashes(
  position_id bigint, unit text, conditions jsonb default null, policy jsonb default null
)
returns table (by text, side text)
language sql stable rows 2
as $$
  select one.code, one.side
  from positions.state(flashes.position_id, flashes.conditions, flashes.policy) as state
  cross join lateral bob._end(state.position_id, 'unit:' || flashes.unit) as firer
  inner join public.unit as own on own.position_id = state.position_id and own.code = flashes.unit
  cross join lateral bob._pieces(state.position_id) as one
  where jsonb_typeof(state.conditions -> 'night') = 'object'
    and state.conditions ->> 'weather' is distinct from 'monsoon'
    and not firer.lit
    and one.side <> own.side
    and one.attributes ? 'fp'
    and not one.decoy
    and not one.mounted
    and not bob._flag(one, 'used')
    and not bob._flag(one, 'op_fire')
    and lattice.distance(one.q, one.r, firer.q, firer.r) > (state.conditions -> 'night' ->> 'visibility')::integer
    and lattice.distance(one.q, one.r, firer.q, firer.r) <= bob._longest(one, true)
  order by one.code collate "C"
$$;

comment on function bob.flashes(bigint, text, jsonb, jsonb) is
'Who might answer the flash of a unit that has fired in the dark: Unused, and not within sight of it (50.2).';

create or replace function bob.assault_targets(
  position_id bigint, unit text, conditions jsonb default null, policy jsonb default null
)
returns table (fire text, at text)
language sql stable rows 3
as $$
  select distinct way.fire, enemy.label
  from positions.state(assault_targets.position_id, assault_targets.conditions, assault_targets.policy) as state
  cross join lateral (select array(select piece from bob._pieces(state.position_id) as piece) as all_of_them) as told
  cross join lateral unnest(told.all_of_them) as own
  cross join lateral unnest(told.all_of_them) as enemy
  cross join lateral (select lattice.distance(own.q, own.r, enemy.q, enemy.r) as hexes) as away
  cross join lateral (
    select 'assault_fire' as fire
    where away.hexes between 1 and bob._longest(own, jsonb_typeof(state.conditions -> 'night') = 'object')
      and bob._too_dark(state, away.hexes) is not true
    union all
    -- 36.0: into an adjacent hex
    select 'satchel_charge'
    where away.hexes = 1
      and bob._flag(own, 'satchel')
      and (
        select last.facts ->> 'allowed' = 'true'
        from bob.satchel_charge(state.position_id, own.code, enemy.label, state.conditions, state.readings) as last
        where last.facts ? 'allowed'
      )
  ) as way
  where own.code = assault_targets.unit
    and enemy.side <> own.side
  order by enemy.label, way.fire
$$;

comment on function bob.assault_targets(bigint, text, jsonb, jsonb) is
'At which hexes a mover might Assault Fire or place a charge where it is (5.2, 36.0); its ledger tells whether it may.';

create or replace function bob.interruptions(
  position_id bigint, unit text, conditions jsonb default null, policy jsonb default null
)
returns table (fire text, by text, at text, side text)
language plpgsql stable rows 3
as $$
#variable_conflict use_column
declare
  state positions.state;
  mover positions.counter;
  hexes integer;
begin
  select * into state from positions.state(interruptions.position_id, interruptions.conditions, interruptions.policy);
  mover := bob._counter(state, interruptions.unit);
  hexes := coalesce((mover.attributes -> 'moving' ->> 'hexes')::integer, 0);
  if mover.q is null then
    return;
  end if;
  -- 32.0: not before its second hex, and so that the mover is struck
  return query
  select 'indirect_fire', battery.code, hex.label, battery.side
  from public.unit as battery
  inner join public.hex
    on hex.map_id = state.map_id and lattice.distance(hex.q, hex.r, mover.q, mover.r) <= 1
  where battery.position_id = state.position_id
    and battery.kind = 'artillery'
    and battery.side <> mover.side
    and hexes > 1
    and not coalesce((battery.attributes ->> 'used')::boolean, false)
    and battery.attributes ->> 'status' is null
    and (
      select told.facts ->> 'allowed' = 'true'
      from bob.indirect_fire(state.position_id, battery.code, hex.label, 'op_fire', null, state.conditions, state.readings) as told
      where told.facts ? 'allowed'
    )
  order by battery.code collate "C", lattice.distance(hex.q, hex.r, mover.q, mover.r), hex.label;
  -- 59.4: one team a Vehicle, hex and turn
  return query
  select 'satt', null, null, owner.side
  from (
    select near.side
    from bob._counters(state) as near
    where bob._japanese(near)
      and near.side <> mover.side
      and near.kind not in ('vehicle', 'carrier')
      and lattice.distance(near.q, near.r, mover.q, mover.r) <= 3
    order by near.code collate "C"
    limit 1
  ) as owner
  where mover.kind in ('vehicle', 'carrier')
    and coalesce(bob._of_side(state, owner.side, 'satt')::text::integer, 0) > 0
    and not coalesce(mover.attributes -> 'satt_at' ? mover.label, false)
    and bob._ground(state, mover.q, mover.r) not in ('surf', 'ocean', 'river', 'canal')
    and not exists (
      select from bob._counters(state) as other
      where other.side = mover.side and other.id <> mover.id and other.q = mover.q and other.r = mover.r
        and other.attributes ->> 'in' is distinct from mover.code
    );
  -- 16.2: a unit of the cup
  return query
  select 'fow', cup.side, null, cup.side
  from bob._cups(state) as cup
  where cup.side <> mover.side
    and hexes > 0
    and exists (select from bob.fow_spots(state.position_id, mover.code, cup.next, state.conditions, state.readings));
end
$$;

comment on function bob.interruptions(bigint, text, jsonb, jsonb) is
'What else than the fire of units may interrupt a mover where it is: Artillery, a suicide team, a unit of the FOW cup (16.2, 32.0, 59.4).';
