-- needs: bob/move.sql, bob/rout.sql, bob/sights.sql
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
