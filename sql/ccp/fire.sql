-- needs: ccp/arms.sql, ccp/control.sql, ccp/morale.sql, ccp/numbers.sql
-- Fire attacks in ccp: who may fire at which hex, and with how much: O27, 3.3.4, 5, 16.3, 19.1, A35 to A48, T89.2, F102.2.2, F107.3.
--
-- The ledger's last row has the FP of the attack and all that its rolls want to know, or what stands against it.

drop type if exists ccp.piece cascade;
create type ccp.piece as (
  name text,
  n integer,
  arm ccp.arm,
  kind text,
  said jsonb,
  weapon jsonb,
  viewer bigint,
  vq integer,
  vr integer,
  away integer,
  sees_hex boolean,
  sees_inside boolean,
  hindrance integer
);

comment on type ccp.piece is
'A unit or a weapon that fires: with what, by whose eyes, how far, and what it sees there.';
comment on column ccp.piece.sees_hex is 'Whether it has a line of sight to the hex, and so to those outside a cave';
comment on column ccp.piece.sees_inside is 'Whether it sees those inside the cave; null where nobody is';

drop type if exists ccp.shot cascade;
create type ccp.shot as (
  state positions.state,
  manner text,
  side text,
  q integer,
  r integer,
  label text,
  terrain text,
  level integer,
  pieces ccp.piece array,
  enemies ccp.stat array,
  melee boolean,
  fort text,
  barred_smoke text,
  actions text array,
  smoke boolean,
  spotter text,
  target text,
  x text,
  movers text array,
  left_from text
);

comment on type ccp.shot is
'A fire attack as it is declared: by which pieces, on which hex, with which actions; manner is fire or op_fire.';

create or replace function ccp._piece_name(state positions.state, name text)
returns table (code text, arm text)
language plpgsql stable rows 1
as $$
#variable_conflict use_column
declare
  holders text[];
begin
  return query
  select unit.code, 'unit' from public.unit where unit.position_id = state.position_id and unit.code = name;
  if found then
    return;
  end if;
  -- of several units that carry such a weapon none is meant more than another
  holders := array(
    select unit.code
    from public.unit
    where unit.position_id = state.position_id
      and jsonb_typeof(unit.attributes -> 'weapon') = 'object'
      and (
        name in (unit.code || ':weapon', unit.code || ':' || (unit.attributes -> 'weapon' ->> 'name'))
        or (unit.q is not null and name = unit.attributes -> 'weapon' ->> 'name')
      )
    order by unit.code
  );
  if cardinality(holders) = 1 then
    return query select holders[1], 'weapon';
  elsif cardinality(holders) > 1 then
    raise exception '% is carried by %; name the one that is meant, as "%:weapon"', name,
      array_to_string(holders, ' and '), holders[1] using errcode = 'no_data_found';
  else
    raise exception '% is no piece of this position; a unit is named by its id, its weapon as %', name,
      '"' || split_part(name, ':', 1) || ':weapon"' using errcode = 'no_data_found';
  end if;
end
$$;

comment on function ccp._piece_name(positions.state, text) is
'The unit that a piece is or belongs to: `Squad` fires itself, `Squad:weapon` is what it carries, as `Squad:MG`, or `MG`
where no other unit on the map has one (5.1).';

create or replace function ccp.pieces_named(position_id bigint, names text[])
returns table (name text, code text, arm text)
language sql stable rows 4
as $$
  select
    case piece.arm when 'unit' then piece.code else piece.code || ':weapon' end,
    piece.code,
    piece.arm
  from positions.state(pieces_named.position_id) as state
  cross join unnest(pieces_named.names) with ordinality as wanted (name, n)
  cross join lateral ccp._piece_name(state, wanted.name) as piece
  order by wanted.n
$$;

comment on function ccp.pieces_named(bigint, text[]) is
'Pieces as somebody names them, each by the one name that it has everywhere: `Squad` or `Squad:weapon` (5.1).';

create or replace function ccp._pieces(
  state positions.state, by text[], q integer, r integer, spotter text, inside bigint
)
returns setof ccp.piece
language plpgsql stable rows 5
as $$
#variable_conflict use_column
begin
  return query
  with armed as materialized (
    select row(found.*)::ccp.arm as facts from ccp._arms(state) as found
  ),
  scout as materialized (
    select unit.id, unit.q, unit.r
    from public.unit
    where unit.position_id = state.position_id and unit.code = _pieces.spotter
  ),
  named as materialized (
    select wanted.name, wanted.n, found.code, found.arm
    from unnest(_pieces.by) with ordinality as wanted (name, n)
    cross join lateral ccp._piece_name(state, wanted.name) as found
  ),
  piece as materialized (
    select
      named.name,
      named.n::integer as n,
      armed.facts as arm,
      unit.kind,
      unit.attributes as said,
      case when named.arm = 'weapon' then unit.attributes -> 'weapon' end as weapon,
      coalesce(scout.id, unit.id) as viewer,
      coalesce(scout.q, unit.q) as vq,
      coalesce(scout.r, unit.r) as vr,
      scout.id is not null as spotted,
      unit.id as own,
      unit.q as uq,
      unit.r as ur,
      lattice.distance(unit.q, unit.r, _pieces.q, _pieces.r) as away
    from named
    inner join public.unit on unit.position_id = state.position_id and unit.code = named.code
    left join armed on (armed.facts).unit = unit.id and (armed.facts).arm = named.arm
    left join scout on named.arm = 'weapon'
  )
  select
    piece.name,
    piece.n,
    piece.arm,
    piece.kind,
    piece.said,
    piece.weapon,
    piece.viewer,
    piece.vq,
    piece.vr,
    piece.away,
    outside.visible,
    case when piece.spotted and state.readings ->> 'ccp-47' = 'b' then mortar.downslope else within.visible end,
    coalesce(outside.hindrance, within.hindrance)
  from piece
  left join lateral (
    select bool_or(step.effect = 'visible') as visible,
      max(step.hindrance) filter (where step.effect = 'visible') as hindrance
    from ccp._sights(
      row(state, piece.vq, piece.vr, piece.viewer, array[_pieces.q], array[_pieces.r], null)::ccp.sighting
    ) as step
    where step.stage = 4
  ) as outside on piece.vq is not null and (piece.vq <> _pieces.q or piece.vr <> _pieces.r)
  left join lateral (
    select bool_or(step.effect = 'visible') as visible,
      max(step.hindrance) filter (where step.effect = 'visible') as hindrance
    from ccp._sights(
      row(state, piece.vq, piece.vr, piece.viewer, array[_pieces.q], array[_pieces.r], _pieces.inside)::ccp.sighting
    ) as step
    where step.stage = 4
  ) as within
    on _pieces.inside is not null and piece.vq is not null and (piece.vq <> _pieces.q or piece.vr <> _pieces.r)
  left join lateral (
    -- whatever else is in the way of the mortar itself, its line meets the cave from one slope
    select not bool_or(step.effect = 'blocks' and step.rule like 'F102%') as downslope
    from ccp._sights(
      row(state, piece.uq, piece.ur, piece.own, array[_pieces.q], array[_pieces.r], _pieces.inside)::ccp.sighting
    ) as step
  ) as mortar on piece.spotted and _pieces.inside is not null and piece.uq is not null
  order by piece.n;
end
$$;

comment on function ccp._pieces(positions.state, text[], integer, integer, text, bigint) is
'The pieces that fire at a hex, each with its numbers and what it sees there, or what the spotter does (O27.2.5).';

create or replace function ccp._shot(state positions.state, manner text, by text[], at text, said jsonb)
returns ccp.shot
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  shot ccp.shot;
  place record;
  inside bigint;
begin
  select hex.q, hex.r, hex.label, hex.terrain, hex.level::integer as level into place
  from positions.place(state.position_id, at) as found
  inner join public.hex on hex.map_id = state.map_id and hex.q = found.q and hex.r = found.r;
  if not found then
    raise exception 'no hex or unit % on the map of this position', at using errcode = 'no_data_found';
  end if;
  shot.state := state;
  shot.manner := manner;
  shot.q := place.q;
  shot.r := place.r;
  shot.label := place.label;
  shot.terrain := place.terrain;
  shot.level := place.level;
  shot.actions := array(select jsonb_array_elements_text(coalesce(said -> 'actions', '[]')));
  shot.movers := array(select jsonb_array_elements_text(coalesce(said -> 'movers', '[]')));
  shot.smoke := coalesce((said ->> 'smoke')::boolean, false);
  shot.spotter := said ->> 'spotter';
  shot.target := said ->> 'target';
  shot.x := said ->> 'x';
  shot.left_from := said ->> 'from';
  shot.side := (
    select unit.side
    from ccp._piece_name(state, by[1]) as piece
    inner join public.unit on unit.position_id = state.position_id and unit.code = piece.code
  );
  shot.enemies := array(
    select row(stat.*)::ccp.stat
    from ccp._stats(state) as stat
    inner join public.unit on unit.id = stat.id
    where stat.q = place.q and stat.r = place.r and stat.side <> shot.side and stat.kind <> 'aircraft'
    order by unit.id
  );
  shot.melee := exists (
    select from ccp._stats(state) as stat where stat.q = place.q and stat.r = place.r and stat.melee
  );
  select marker.kind into shot.fort
  from public.marker
  inner join ccp._fortifications() as fort on fort.kind = marker.kind
  where marker.position_id = state.position_id and marker.q = place.q and marker.r = place.r
  order by marker.id
  limit 1;
  shot.barred_smoke := case
    when ccp._is_water(place.terrain) then 'no smoke is placed in water terrain'
    when place.terrain = 'blaze' or exists (
      select from public.marker
      where marker.position_id = state.position_id and marker.kind = 'blaze' and marker.q = place.q and marker.r = place.r
    ) then 'no smoke is placed where a blaze is'
  end;
  inside := (select min(enemy.id) from unnest(shot.enemies) as enemy where ccp._is_inside(enemy));
  shot.pieces := array(
    select row(piece.*)::ccp.piece from ccp._pieces(state, by, place.q, place.r, shot.spotter, inside) as piece
  );
  return shot;
end
$$;

comment on function ccp._shot(positions.state, text, text[], text, jsonb) is
'A fire attack as it is declared; `said` has actions, smoke, spotter, target, x, movers and from.';

create or replace function ccp._is_ordnance(shot ccp.shot)
returns boolean
language sql immutable parallel safe
return ((shot.pieces[1]).arm).ordnance;

comment on function ccp._is_ordnance(ccp.shot) is
'Whether it is a shot of ordnance, which must hit first and is always alone (5.5, O27.2, O27.3.1.1).';

create or replace function ccp._has_outside(shot ccp.shot)
returns boolean
language sql immutable parallel safe
return exists (
  select
  from unnest(shot.enemies) as enemy
  where not ccp._is_inside(enemy)
);

comment on function ccp._has_outside(ccp.shot) is
'Whether an enemy in the target hex is outside a cave.';

create or replace function ccp._piece_bars(shot ccp.shot)
returns setof rulings.ledger_step
language sql stable rows 3
as $$
  select entry.rule, null, shot.label, 'forbids', format('%s %s', piece.name, entry.note), null, piece.name,
    null::integer, null::jsonb
  from unnest(shot.pieces) as piece
  cross join lateral (
    values
    (1, (piece.arm).unit is null, 'O27.1.1', 'is not on the map'),
    (
      2, (piece.arm).side <> shot.side, 'O27.3.1', 'is of the other side'
    ),
    (
      3, (piece.arm).barred is not null, (piece.arm).barred_by, 'cannot fire: ' || (piece.arm).barred
    ),
    (
      4, shot.manner = 'op_fire' and (piece.arm).ordnance, 'A41.3', 'is ordnance, which conducts no Op Fire'
    ),
    (
      5,
      piece.kind <> 'hero' and piece.said ->> 'activated' <> shot.manner,
      'O20.2', format('was activated for another order in this turn: %s', piece.said ->> 'activated')
    ),
    (
      6,
      piece.said ->> 'activated' = 'fire' and piece.kind <> 'hero'
      and piece.said -> 'fired' ? (piece.arm).arm and shot.manner = 'fire',
      'O27.3', 'has taken its shot'
    ),
    (
      7, (piece.arm).barred is null and piece.away > (piece.arm).farthest,
      case when (piece.arm).ordnance then 'O27.2.2' else 'O27.3' end,
      format('reaches %s hexes, and the hex is %s away', (piece.arm).farthest, piece.away)
    ),
    (
      8, (piece.arm).barred is null and piece.away < (piece.arm).nearest, 'O27.2.2',
      format('fires from %s hexes on, and the hex is %s away', (piece.arm).nearest, piece.away)
    ),
    (
      9,
      (piece.arm).barred is null
      and not coalesce(
        case when shot.smoke or ccp._has_outside(shot) then piece.sees_hex end or piece.sees_inside, false
      )
      and (shot.smoke or cardinality(shot.enemies) > 0),
      'O27.3.1',
      case when shot.smoke then 'has no line of sight to the hex' else 'sees no enemy unit in the hex' end
    ),
    (
      10,
      shot.spotter is null and shot.manner = 'fire' and not (piece.arm).ordnance and shot.smoke, 'O27.2.1',
      'fires no smoke'
    ),
    (
      11, shot.smoke and not coalesce((piece.weapon ->> 'smoke')::boolean, false) and (piece.arm).ordnance, 'O27.2.1',
      'fires no smoke'
    )
  ) as entry (n, holds, rule, note)
  where entry.holds
  order by piece.n, entry.n
$$;

comment on function ccp._piece_bars(ccp.shot) is
'What keeps a piece out of the attack (O20.2, O27.1 to O27.3, A41.3, 3.2.3, 4.2.2, 5.4, 19.1, F107.3).';

create or replace function ccp._is_chain(shot ccp.shot)
returns boolean
language sql stable
as $$
  with recursive spot as (
    select distinct (piece.arm).q as q, (piece.arm).r as r from unnest(shot.pieces) as piece
  ),
  chain as (
    (select spot.q, spot.r from spot order by spot.q, spot.r limit 1)
    union
    select spot.q, spot.r
    from chain
    inner join spot on lattice.distance(chain.q, chain.r, spot.q, spot.r) <= 1
  )
  select (select count(*) from chain) = (select count(*) from spot)
$$;

comment on function ccp._is_chain(ccp.shot) is
'Whether the hexes of a Fire Group hang together (O27.3.1).';

create or replace function ccp._group_bars(shot ccp.shot)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  select entry.rule, null, shot.label, 'forbids', entry.note, null, null, null::integer, null::jsonb
  from (
    values
    (
      1,
      (select count(*) > count(distinct piece.name) from unnest(shot.pieces) as piece),
      'O27.3', 'a piece is named twice: each takes one shot'
    ),
    (
      2,
      cardinality(shot.pieces) > 1 and exists (select from unnest(shot.pieces) as piece where (piece.arm).ordnance),
      'O27.3.1.1', 'ordnance fires alone'
    ),
    (3, not ccp._is_chain(shot), 'O27.3.1', 'the hexes of the Fire Group are no chain'),
    (
      4,
      exists (
        select
        from unnest(shot.pieces) as piece
        cross join unnest(shot.pieces) as other
        inner join ccp._stats(shot.state) as stat on stat.id = (piece.arm).unit and stat.wire
        where (piece.arm).q <> (other.arm).q or (piece.arm).r <> (other.arm).r
      ),
      'F107.3', 'who is in wire fires with its own hex alone'
    ),
    (
      5, shot.x is not null and not exists (select from unnest(shot.pieces) as piece where piece.name = shot.x),
      'O27.3.1.2', format('%s does not fire in this attack', shot.x)
    ),
    (
      6,
      shot.manner = 'fire' and (shot.state).conditions ->> 'active' <> shot.side,
      'O20.1', 'a Fire order is given in the own turn'
    ),
    (
      7,
      shot.manner = 'op_fire' and (shot.state).conditions ->> 'active' = shot.side,
      'A41.1', 'Op Fire comes in the opponent''s Move order'
    ),
    (
      8,
      shot.spotter is not null and not coalesce((shot.pieces[1].weapon ->> 'mortar')::boolean, false),
      'O27.2.5', 'a Scout spots for mortars alone'
    ),
    (
      9,
      shot.spotter is not null and not exists (
        select
        from ccp._stats(shot.state) as scout
        where scout.code = shot.spotter and scout.kind = 'scout' and scout.side = shot.side and not scout.melee
          and not coalesce((scout.attributes ->> 'broken')::boolean, false)
      ),
      'O27.1.3', format('%s is no unbroken Scout of that side out of melee', shot.spotter)
    )
  ) as entry (n, holds, rule, note)
  where entry.holds
  order by entry.n
$$;

comment on function ccp._group_bars(ccp.shot) is
'What keeps pieces from firing together, or this side from firing now (O20.1, O27.1.3, O27.2.5, O27.3.1, A41.1, F107.3).';

create or replace function ccp._target_bars(shot ccp.shot)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  select entry.rule, null, shot.label, 'forbids', entry.note, entry.point, null, null::integer, null::jsonb
  from (
    values
    (1, shot.melee, '19.1', 'a melee hex is no target of fire', null),
    (
      2, cardinality(shot.enemies) = 0 and not shot.smoke and not shot.melee, 'O27.3',
      'there is no enemy unit in the hex', null
    ),
    (3, shot.smoke and shot.barred_smoke is not null, 'O27.2.1', shot.barred_smoke, null),
    (
      4,
      shot.target is not null and not exists (
        select from unnest(shot.enemies) as enemy where enemy.code = shot.target
      ),
      '3.3.4', format('%s is no enemy unit in the hex', shot.target), null
    ),
    (
      5,
      shot.target is not null and exists (
        select
        from unnest(shot.enemies) as enemy
        where enemy.code = shot.target and (enemy.attributes ->> 'broken')::boolean
      ) and exists (
        select
        from unnest(shot.enemies) as enemy
        where not coalesce((enemy.attributes ->> 'broken')::boolean, false)
      ),
      '3.3.4', 'a broken unit is not chosen while an unbroken one is there', null
    ),
    (
      6,
      shot.target is not null and not ccp._is_ordnance(shot),
      '3.3.4', 'only a Sogeki Hei picks one unit', null
    ),
    (
      7,
      shot.manner = 'op_fire' and exists (
        select
        from unnest(shot.movers) as mover (code)
        where not exists (select from unnest(shot.enemies) as enemy where enemy.code = mover.code)
      ),
      'A41.1', 'a mover that is named is not in the hex', null
    ),
    (
      8,
      shot.manner = 'op_fire' and exists (
        select
        from unnest(shot.enemies) as enemy
        where enemy.attributes ->> 'activated' = 'advance'
          and (enemy.code = any(shot.movers) or cardinality(shot.movers) = 0)
      ),
      'O22.1', 'nobody fires at units that advance', null
    ),
    (
      9,
      shot.manner = 'op_fire' and shot.left_from is not null and shot.fort in ('trench', 'bunker', 'pillbox')
      and exists (
        select
        from public.hex
        inner join public.marker
          on marker.position_id = (shot.state).position_id and marker.q = hex.q and marker.r = hex.r
        where hex.map_id = (shot.state).map_id and hex.label = shot.left_from
          and (
            marker.kind = 'trench' or (marker.kind in ('bunker', 'pillbox') and shot.fort = 'trench')
          )
      ),
      'F106.2', 'who moves from trench to trench, bunker or pillbox draws no Op Fire', null
    )
  ) as entry (n, holds, rule, note, point)
  where entry.holds
  order by entry.n
$$;

comment on function ccp._target_bars(ccp.shot) is
'Why the hex is no target (19.1, 3.3.4, A41.1, F106.2, O22.1, O27.2.1, O27.3, O29.3).';

create or replace function ccp._sight_steps(shot ccp.shot)
returns setof rulings.ledger_step
language sql stable rows 10
as $$
  select step.rule, null::text, step.at, step.effect, step.note, step.point, null::text, null::integer, null::jsonb
  from (
    select distinct on (piece.viewer) piece.* from unnest(shot.pieces) as piece order by piece.viewer, piece.n
  ) as piece
  cross join lateral ccp._sights(
    row(
      shot.state, piece.vq, piece.vr, piece.viewer, array[shot.q], array[shot.r],
      case
        when not ccp._has_outside(shot)
          then (select min(enemy.id) from unnest(shot.enemies) as enemy where ccp._is_inside(enemy))
      end
    )::ccp.sighting
  ) as step
  where piece.vq is not null and (piece.vq <> shot.q or piece.vr <> shot.r)
  order by piece.n, step.stage, step.n, step.effect = 'assumed', step.rule, step.note
$$;

comment on function ccp._sight_steps(ccp.shot) is
'Every rule that speaks on the lines of sight of an attack.';

create or replace function ccp._lead(shot ccp.shot)
returns ccp.piece
language sql stable
as $$
  select row(piece.*)::ccp.piece
  from unnest(shot.pieces) as piece
  where shot.x is null or piece.name = shot.x
  order by (piece.arm).fp desc nulls last, piece.n
  limit 1
$$;

comment on function ccp._lead(ccp.shot) is
'The piece that gives X: the one that the firer picks, the best if none is (O27.3.1.2).';

create or replace function ccp._fp_steps(shot ccp.shot)
returns setof rulings.ledger_step
language sql stable rows 6
as $$
  select entry.rule, null, entry.at, entry.effect, entry.note, entry.point, entry.by, 2 * entry.value, null::jsonb
  from (
    select (lead.arm).*, lead.name as piece, lead.weapon, lead.said
    from ccp._lead(shot) as lead
  ) as lead
  cross join (
    select
      count(*) - 1 as others,
      max(coalesce(piece.hindrance, 0)) as hindrance,
      bool_or((piece.arm).level < shot.level) as below,
      bool_or((piece.arm).level > shot.level) as above
    from unnest(shot.pieces) as piece
  ) as pack
  cross join lateral (
    values
    (
      1, lead.fp is null, case lead.arm when 'unit' then '3.1.1' else '5.1' end, lead.label, 'unknown',
      format('the FP of %s', lead.piece), null, lead.piece, null
    ),
    (
      1, lead.fp is not null, case lead.arm when 'unit' then '3.1.1' else '5.1' end, lead.label,
      (lead.fp - lead.led - lead.veteran::integer + lead.suppressed::integer + lead.wire::integer)::text,
      format('%s: the FP of its counter', lead.piece), null, lead.piece,
      lead.fp - lead.led - lead.veteran::integer + lead.suppressed::integer + lead.wire::integer
    ),
    (
      2, lead.led <> 0, case lead.arm when 'unit' then '3.3.1.2' else '3.3.1.3' end, lead.label,
      to_char(lead.led, 'FMSG9'), 'command of leaders in its hex', null, lead.piece, lead.led
    ),
    (
      2, lead.broken_leader is not null, 'O27.3.4', lead.label, 'command',
      format('what %s, a broken leader, still commands', lead.broken_leader), 'ccp-29', lead.piece, null
    ),
    (
      2, lead.untold is not null, '3.3.1.2', lead.label, 'unknown', format('the command number of %s', lead.untold), null,
      lead.piece, null
    ),
    (3, lead.veteran, '4.1.2', lead.label, '+1', 'a veteran', null, lead.piece, 1),
    (4, lead.suppressed, '4.2.2', lead.label, '-1', 'suppressed', null, lead.piece, -1),
    (5, lead.wire, 'F107.1', lead.label, '-1', 'in wire', null, lead.piece, -1),
    (
      6, pack.others > 0, 'O27.3.1.2', shot.label, '+' || pack.others, 'a point for each other piece of the group', null,
      null, pack.others::integer
    ),
    (
      7, pack.hindrance > 0 and not lead.ordnance, 'O27.3.2', shot.label, (-pack.hindrance)::text,
      'the largest Hindrance of all lines', null, null, -pack.hindrance
    ),
    (8, pack.below, 'T89.2', shot.label, '-1', 'the target is higher than a firing piece', null, null, -1),
    (9, pack.above, 'T89.2', shot.label, '+1', 'the target is lower than a firing piece', null, null, 1)
  ) as entry (n, holds, rule, at, effect, note, point, by, value)
  where entry.holds
  order by entry.n
$$;

comment on function ccp._fp_steps(ccp.shot) is
'What makes the FP of an attack but actions: X with what changes it, Y, Hindrance, height (O27.3.1.2, O27.3.2, 16.3.2.1,
T89.2).';

create or replace function ccp._is_defender(state positions.state, side text)
returns boolean
language sql immutable parallel safe
return state.conditions -> 'posture' ->> side = 'defender';

comment on function ccp._is_defender(positions.state, text) is
'Whether a side has the Posture of Defender; null where no Posture is told (17.3).';

create or replace function ccp._is_crest(state positions.state, q integer, r integer)
returns boolean
language sql stable
as $$
  select exists (
    select
    from public.crest
    where crest.map_id = state.map_id
      and crest.geom operator(public.&&) lattice.hex(_is_crest.q, _is_crest.r)
      and public.st_relate(crest.geom, lattice.hex(_is_crest.q, _is_crest.r), 'T********')
  ) or exists (
    -- undrawn, it runs along the side of the higher hex
    select
    from public.hex as here
    cross join lateral lattice.neighbours(here.q, here.r) as side
    inner join public.hex as next on next.map_id = here.map_id and next.q = side.nq and next.r = side.nr
    where here.map_id = state.map_id and here.q = _is_crest.q and here.r = _is_crest.r and next.level < here.level
  )
$$;

comment on function ccp._is_crest(positions.state, integer, integer) is
'Whether a hex shows more than one level, and so is a Crest hex (T89.3.1).';

create or replace function ccp._action_facts(shot ccp.shot)
returns table (name text, rule text, title text, may boolean, why text, value integer, point text)
language sql stable rows 12
as $$
  select fact.*
  from (
    select
      cardinality(shot.pieces) as pieces,
      exists (
        select
        from unnest(shot.enemies) as enemy
        where enemy.attributes ->> 'activated' = 'move' or enemy.code = any(shot.movers)
      ) as moving,
      exists (select from unnest(shot.pieces) as piece where piece.away = 1) as near,
      not exists (select from unnest(shot.pieces) as piece where piece.away <> 1) as all_near,
      exists (
        select from unnest(shot.pieces) as piece where piece.weapon is null and piece.kind in ('squad', 'team')
      ) as marksmen,
      exists (
        select
        from unnest(shot.pieces) as piece
        where coalesce((piece.weapon ->> 'printed_fp')::integer, (piece.weapon ->> 'fp')::integer) >= 5
      ) as heavy,
      exists (
        select
        from unnest(shot.pieces) as piece
        where (piece.weapon ->> 'machine_gun')::boolean or (piece.weapon ->> 'mortar')::boolean
      ) as sustained,
      case shot.side when 'japan' then 'allied' else 'japan' end as foe,
      ccp._is_crest(shot.state, shot.q, shot.r) as crest
  ) as has
  cross join lateral (
    values
    (
      'bore_sighting', 'A35', 'Bore Sighting', ccp._is_defender(shot.state, shot.side) and has.heavy,
      case
        when not ccp._is_defender(shot.state, shot.side) then 'only the Defender plays it'
        else 'no weapon with a printed FP of 5 or more fires'
      end, 2, null
    ),
    ('crossfire', 'A37', 'Crossfire', has.moving, 'it wants a Moving target', 2, null),
    ('enfilade', 'A39', 'Enfilade', has.pieces > 1, 'it wants a Fire Group', has.pieces - 1, null),
    ('hand_grenades', 'A42', 'Hand Grenades', has.near, 'no piece is beside the hex', 2, null),
    ('marksmanship', 'A45', 'Marksmanship', has.marksmen, 'no squad or team itself fires', 2, null),
    (
      'sustained_fire', 'A48', 'Sustained Fire', has.sustained, 'no machine gun or mortar fires', 2, null
    ),
    (
      'explosive_charge', 'A40', 'Explosive Charge',
      shot.fort is not null
      and case when (shot.state).readings ->> 'ccp-20' = 'b' then has.near else has.all_near end,
      case when shot.fort is null then 'there is no fortification' else 'the pieces are not beside the hex' end, null,
      case when has.near <> has.all_near then 'ccp-20' end
    ),
    ('light_wounds', 'A44', 'Light Wounds', true, null, null, null),
    (
      'hidden_cave', 'A43.1', 'Hidden Cave',
      ccp._is_defender(shot.state, has.foe) and shot.fort is null and not ccp._is_water(shot.terrain) and has.crest,
      case
        when not ccp._is_defender(shot.state, has.foe) then 'only the Defender plays it'
        when shot.fort is not null then 'the hex has a fortification'
        when ccp._is_water(shot.terrain) then 'the hex is water terrain'
        else 'the hex is no Crest hex'
      end, null, null
    ),
    (
      'hidden_pillbox', 'A43.4', 'Hidden Pillbox',
      ccp._is_defender(shot.state, has.foe) and shot.fort is null and not ccp._is_water(shot.terrain),
      case
        when not ccp._is_defender(shot.state, has.foe) then 'only the Defender plays it'
        when shot.fort is not null then 'the hex has a fortification'
        else 'the hex is water terrain'
      end, null, null
    ),
    (
      'hidden_trenchline', 'A43.5', 'Hidden Trenchline',
      ccp._is_defender(shot.state, has.foe) and shot.fort is null and not ccp._is_water(shot.terrain),
      case
        when not ccp._is_defender(shot.state, has.foe) then 'only the Defender plays it'
        when shot.fort is not null then 'the hex has a fortification'
        else 'the hex is water terrain'
      end, null, null
    )
  ) as fact (name, rule, title, may, why, value, point)
$$;

comment on function ccp._action_facts(ccp.shot) is
'Every action that may be played in a fire attack: whether its condition holds, and what it adds (A35 to A48).';

create or replace function ccp._action_steps(shot ccp.shot)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  select coalesce(fact.rule, 'A32'), null, shot.label,
    case
      when fact.name is null or not fact.may then 'forbids'
      when fact.may is null then 'unknown'
      when fact.value is null then 'played'
      else to_char(fact.value, 'FMSG9')
    end,
    case
      when fact.name is null then format('%s is no action of a fire attack', played.name)
      when fact.may is null then 'the Posture of the side that plays ' || fact.title
      when not fact.may then format('%s cannot be played: %s', fact.title, fact.why)
      else fact.title
    end,
    fact.point, null, case when fact.may then 2 * fact.value end, null::jsonb
  from unnest(shot.actions) with ordinality as played (name, n)
  left join ccp._action_facts(shot) as fact on fact.name = played.name
  order by played.n
$$;

comment on function ccp._action_steps(ccp.shot) is
'The actions that are played, each copy for itself (A32).';

create or replace function ccp._total_steps(state positions.state, label text, source text)
returns setof rulings.ledger_step
language sql stable rows 1
as $$
  select effect.rule, null::text, _total_steps.label, to_char(effect.halves / 2, 'FMSG9'),
    format('to the Attack Total of %s into %s', replace(_total_steps.source, '_', ' '), replace(hex.terrain, '_', ' ')),
    null::text, null::text, effect.halves, null::jsonb
  from public.hex
  inner join public.terrain_effect as effect
    on effect.ruleset = 'ccp' and effect.feature = 'terrain' and effect.code = hex.terrain and effect.aspect = 'fire'
  where hex.map_id = state.map_id
    and hex.label = _total_steps.label
    -- T82: ordnance weapons, radios and dive bombers; T91, T97: mortars and artillery
    and case
      when effect.halves < 0 then _total_steps.source in ('mortar', 'ordnance', 'artillery', 'dive_bomber')
      else _total_steps.source in ('mortar', 'artillery')
    end
$$;

comment on function ccp._total_steps(positions.state, text, text) is
'What the terrain of a hex does to the Attack Total of a mortar, other ordnance, artillery or a dive bomber (T82, T91, T97).';

create or replace function ccp._targets(shot ccp.shot)
returns text[]
language sql stable
as $$
  select coalesce(array_agg(enemy.code order by found.n), '{}')
  from unnest(shot.enemies) with ordinality
    as found (
      id, code, side, kind, q, r, label, terrain, level, attributes, follows, command, led, untold, broken_leader,
      broken_command, status, wire, melee, n
    )
  inner join unnest(shot.enemies) as enemy on enemy.id = found.id
  cross join lateral (
    select
      bool_and(coalesce(piece.sees_inside, false)) as by_all,
      bool_or(coalesce(piece.sees_inside, false)) as by_one
    from unnest(shot.pieces) as piece
  ) as seen
  where not ccp._is_inside(enemy)
    or case when (shot.state).readings ->> 'ccp-36' = 'b' then seen.by_one else seen.by_all end
$$;

comment on function ccp._targets(ccp.shot) is
'The units that must roll: all in the hex, but none inside a cave to which a piece is upslope (O27.3.4, F102.2.2, ccp-36).';

create or replace function ccp._source(shot ccp.shot)
returns text
language sql stable
return case
  when (shot.pieces[1].weapon ->> 'mortar')::boolean then 'mortar'
  when shot.pieces[1].weapon is not null and ccp._is_ordnance(shot) then 'ordnance'
  when exists (
    select
    from unnest(shot.pieces) as piece
    where (piece.weapon ->> 'flamethrower')::boolean
  ) then 'flamethrower'
  else 'fire'
end;

comment on function ccp._source(ccp.shot) is
'What is fired, as Cover and terrain ask: mortar, ordnance, flamethrower or fire.';

create or replace function ccp.fire(
  position_id bigint,
  manner text,
  by text[],
  at text,
  said jsonb default '{}',
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 20
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  state positions.state;
  shot ccp.shot;
  steps rulings.ledger_step[];
  fp rulings.ledger_step[];
  total rulings.ledger_step[];
  targets text[];
  value integer;
  ordnance boolean;
  hindrance integer;
  away integer;
  known boolean;
  barred text;
begin
  select * into state from positions.state(fire.position_id, fire.conditions, fire.policy);
  shot := ccp._shot(state, fire.manner, fire.by, fire.at, fire.said);
  ordnance := coalesce(ccp._is_ordnance(shot), false);
  steps := array(select row(step.*)::rulings.ledger_step from ccp._piece_bars(shot) as step)
    || array(select row(step.*)::rulings.ledger_step from ccp._group_bars(shot) as step)
    || array(select row(step.*)::rulings.ledger_step from ccp._target_bars(shot) as step)
    || array(select row(step.*)::rulings.ledger_step from ccp._sight_steps(shot) as step);
  fp := array(select row(step.*)::rulings.ledger_step from ccp._fp_steps(shot) as step)
    || array(select row(step.*)::rulings.ledger_step from ccp._action_steps(shot) as step);
  if shot.smoke then
    fp := '{}';
  end if;
  total := array(
    select row(step.*)::rulings.ledger_step from ccp._total_steps(state, shot.label, ccp._source(shot)) as step
  );
  targets := ccp._targets(shot);
  select max(coalesce(piece.hindrance, 0)), max(piece.away) into hindrance, away from unnest(shot.pieces) as piece;
  known := not exists (select from unnest(fp) as step where step.effect = 'unknown');
  value := (select coalesce(sum(step.halves), 0)::integer / 2 from unnest(fp) as step);
  barred := (select step.note from unnest(steps || fp) as step where step.effect = 'forbids' limit 1);
  if barred is null and known and value < 1 and not shot.smoke then
    barred := 'less than 1 FP is left for the attack';
    fp := fp || row(
      case when hindrance > 0 and not ordnance then 'O27.3.2' else '16.3.2.2' end, null, shot.label, 'forbids',
      barred, null, null, null, null
    )::rulings.ledger_step;
  end if;
  if not shot.smoke and barred is null and targets <> array(select enemy.code from unnest(shot.enemies) as enemy) then
    steps := steps || row(
      'F102.2.2', null, shot.label, 'immune', 'those inside the cave do not roll', null, null, null, null
    )::rulings.ledger_step;
  end if;
  if cardinality(shot.pieces) > 1 and (
    select bool_or(coalesce(piece.sees_inside, false)) <> bool_and(coalesce(piece.sees_inside, false))
    from unnest(shot.pieces) as piece
  ) then
    steps := steps || row(
      'F102.2.2', null, shot.label, 'slopes', 'the group fires at the cave from both of its slopes', 'ccp-36', null, null,
      null
    )::rulings.ledger_step;
  end if;
  if shot.spotter is not null and exists (select from unnest(shot.enemies) as enemy where ccp._is_inside(enemy)) then
    steps := steps || row(
      'F102.2.1', null, shot.label, 'slope', 'the mortar fires at the cave by the sight of its Scout', 'ccp-47', null, null,
      null
    )::rulings.ledger_step;
  end if;
  return query select * from unnest(steps || fp || total);
  return query
  select 'O27.3', null::text, shot.label,
    case when barred is not null then 'refused' when not known then 'unknown' else 'may fire' end,
    coalesce(barred, case when known then format('%s FP', value) else 'the FP of the attack' end), null::text, null::text,
    2 * value,
    jsonb_build_object(
      'allowed', case when barred is not null then 'false'::jsonb when known then 'true' else 'null' end,
      'why', barred,
      'side', shot.side,
      'hex', shot.label,
      'range', away,
      'hindrance', hindrance,
      'value', case when known and not shot.smoke then value end,
      -- 16.3.1, O27.2.4: Hindrance is taken off the Targeting roll, not off the attack
      'at_least', case when ordnance then away + hindrance + 1 end,
      'to_total', (select coalesce(sum(step.halves), 0)::integer / 2 from unnest(total) as step),
      'multiplied', coalesce(shot.pieces[1].kind = 'sogeki_hei' and shot.pieces[1].weapon is null, false),
      'source', ccp._source(shot),
      'targets', to_jsonb(targets),
      'inside', (
        select coalesce(jsonb_agg(enemy.code), '[]') from unnest(shot.enemies) as enemy where ccp._is_inside(enemy)
      ),
      'fort', shot.fort,
      'sustained', (
        select coalesce(jsonb_agg((piece.arm).by order by piece.n), '[]')
        from unnest(shot.pieces) as piece
        where (piece.weapon ->> 'machine_gun')::boolean or (piece.weapon ->> 'mortar')::boolean
      ),
      'modifiers', (
        select coalesce(
          jsonb_agg(jsonb_build_object('rule', step.rule, 'value', step.halves / 2, 'note', step.note) order by step.n), '[]'
        )
        from unnest(fp || total) with ordinality
          as step (rule, clause, at, effect, note, point, by, halves, facts, n)
        where step.halves is not null
      )
    );
end
$$;

comment on function ccp.fire(bigint, text, text[], text, jsonb, jsonb, jsonb) is
'Who may fire at a hex and with how much FP, for a Fire order or Op Fire: a row a rule, the verdict last with range,
Hindrance, what a Targeting roll must be, the FP, and who must roll against it (O27, A41).';
