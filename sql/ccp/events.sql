-- needs: ccp/cover.sql, ccp/orders.sql
-- Whom and where events, Snipers and placements may choose: 1.9.4, E49 to E80, O28.2, 13.1.2, 17.4.

drop type if exists ccp.plot cascade;
create type ccp.plot as (
  q integer,
  r integer,
  label text,
  terrain text,
  water boolean,
  blaze boolean,
  fortification text,
  smoke integer,
  cover integer
);

comment on type ccp.plot is
'A hex as events see it: water, blaze, the fortification and the smoke in it, and its Cover with whoever is there.';

create or replace function ccp._plots(state positions.state)
returns setof ccp.plot
language sql stable rows 150
as $$
  with marked as materialized (
    select
      marker.q,
      marker.r,
      bool_or(marker.kind = 'blaze') as blaze,
      min(fort.kind) as fortification,
      max(marker.value) filter (where marker.kind = 'smoke') as smoke,
      max(fort.cover) filter (where fort.kind <> 'cave') as cover
    from public.marker
    left join ccp._fortifications() as fort on fort.kind = marker.kind
    where marker.position_id = state.position_id
    group by marker.q, marker.r
  ),
  crowd as materialized (
    select
      unit.q,
      unit.r,
      greatest(0, sum(ccp._figures(unit.kind)) - 7)::integer as excess
    from public.unit
    where unit.position_id = state.position_id
    group by unit.q, unit.r
  )
  select
    hex.q,
    hex.r,
    hex.label,
    hex.terrain,
    ccp._is_water(hex.terrain),
    coalesce(marked.blaze, false) or hex.terrain = 'blaze',
    marked.fortification,
    marked.smoke,
    coalesce(greatest(effect.halves / 2, marked.cover), 0) - coalesce(crowd.excess, 0)
  from public.hex
  left join public.terrain_effect as effect
    on effect.ruleset = 'ccp'
      and effect.feature = 'terrain'
      and effect.code = hex.terrain
      and effect.aspect = 'cover'
  left join marked on marked.q = hex.q and marked.r = hex.r
  left join crowd on crowd.q = hex.q and crowd.r = hex.r
  where hex.map_id = state.map_id
$$;

comment on function ccp._plots(positions.state) is
'Every hex of the map with what an event asks of it (E49 to E80).';

create or replace function ccp.hex_now(position_id bigint, hex text, conditions jsonb default null)
returns setof ccp.plot
language sql stable rows 1
as $$
  select ground.*
  from positions.state(hex_now.position_id, hex_now.conditions) as state
  cross join lateral ccp._plots(state) as ground
  where ground.label = hex_now.hex
$$;

comment on function ccp.hex_now(bigint, text, jsonb) is
'One hex as events see it.';

create or replace function ccp._piece_cover(state positions.state, stat ccp.stat, ground ccp.plot)
returns integer
language sql stable
as $$
  select
    case
      when stat.side = 'japan' and (stat.attributes ->> 'in_cave')::boolean and ground.fortification = 'cave'
        then greatest(ground.cover, fort.cover)
      else ground.cover
    end
  from ccp._fortifications() as fort
  where fort.kind = 'cave'
$$;

comment on function ccp._piece_cover(positions.state, ccp.stat, ccp.plot) is
'The Cover that a unit has where it is; inside a cave the cave''s (F102.2.3).';

create or replace function ccp._suppressible(state positions.state, side text)
returns setof bigint
language sql stable rows 4
as $$
  select distinct seen.id
  from ccp._stats(state) as gunner
  inner join ccp._arms(state) as arm on arm.unit = gunner.id and arm.arm = 'weapon'
  cross join lateral ccp._seen_enemies(state, gunner) as seen
  where gunner.side = _suppressible.side
    and (gunner.attributes -> 'weapon' ->> 'machine_gun')::boolean
    and not coalesce((gunner.attributes -> 'weapon' ->> 'broken')::boolean, false)
    and not coalesce((gunner.attributes ->> 'broken')::boolean, false)
    and not coalesce((gunner.attributes ->> 'suppressed')::boolean, false)
    and seen.away between arm.nearest and arm.farthest
$$;

comment on function ccp._suppressible(positions.state, text) is
'Enemies in sight and current range of a functioning machine gun; water and wire do not matter to it (E77).';

create or replace function ccp._choosable(state positions.state, what text, side text, stat ccp.stat)
returns boolean
language sql stable
as $$
  select
    case what
      when 'battle_harden' then stat.side = _choosable.side and not is_.veteran
      when 'bushido' then stat.side = 'japan' and is_.broken
      when 'deploy' then stat.side = _choosable.side and stat.kind = 'squad'
      when 'kia' then is_.broken
      when 'medic' then is_.broken
      when 'stealth' then stat.side = _choosable.side
      when 'scrounge' then stat.side = _choosable.side and stat.attributes -> 'weapon' is null
      when 'suppressing_fire' then stat.side <> _choosable.side and not is_.suppressed
        and stat.id in (select found from ccp._suppressible(state, _choosable.side) as found)
      when 'prisoners_of_war' then stat.side = _choosable.side and is_.broken and exists (
        select
        from ccp._stats(state) as enemy
        where enemy.side <> stat.side
          and enemy.kind <> 'aircraft'
          and lattice.distance(enemy.q, enemy.r, stat.q, stat.r) <= 1
      )
      when 'interdiction' then not is_.suppressed and exists (
        select
        from ccp._plots(state) as ground
        where ground.q = stat.q
          and ground.r = stat.r
          and ccp._piece_cover(state, stat, ground) < 1
      )
    end
  from (
    select
      coalesce((stat.attributes ->> 'broken')::boolean, false) as broken,
      coalesce((stat.attributes ->> 'suppressed')::boolean, false) as suppressed,
      coalesce((stat.attributes ->> 'veteran')::boolean, false) as veteran
  ) as is_
$$;

comment on function ccp._choosable(positions.state, text, text, ccp.stat) is
'Whether an event may choose a unit on the map (E51, E55, E56, E62, E64, E66, E68, E71, E75, E77).';

create or replace function ccp.event_units(
  position_id bigint, what text, side text, conditions jsonb default null, policy jsonb default null
)
returns table (code text, side text, label text)
language sql stable rows 8
as $$
  select
    stat.code,
    stat.side,
    stat.label
  from positions.state(event_units.position_id, event_units.conditions, event_units.policy) as state
  cross join lateral ccp._stats(state) as stat
  where stat.kind <> 'aircraft'
    and ccp._choosable(state, event_units.what, event_units.side, stat)
  order by stat.code
$$;

comment on function ccp.event_units(bigint, text, text, jsonb, jsonb) is
'The units on the map that the event of a side may choose; none: that part of it is impossible (E49).';

create or replace function ccp.units_near(position_id bigint, hex text, range integer)
returns table (code text, side text, label text, away integer)
language sql stable rows 4
as $$
  select
    unit.code,
    unit.side,
    place.label,
    lattice.distance(place.q, place.r, goal.q, goal.r)
  from public.position
  inner join public.hex as goal on goal.map_id = position.map_id and goal.label = units_near.hex
  inner join public.unit on unit.position_id = position.id and unit.kind <> 'aircraft'
  inner join public.hex as place on place.map_id = unit.map_id and place.q = unit.q and place.r = unit.r
  where position.id = units_near.position_id
    and lattice.distance(place.q, place.r, goal.q, goal.r) <= units_near.range
  order by unit.code
$$;

comment on function ccp.units_near(bigint, text, integer) is
'Units of both sides within so many hexes of a hex, such as a Sniper may choose (1.9.4).';

create or replace function ccp.hexes_near(
  position_id bigint, hex text, lowest integer, highest integer, conditions jsonb default null
)
returns setof ccp.plot
language sql stable rows 7
as $$
  select ground.*
  from positions.state(hexes_near.position_id, hexes_near.conditions) as state
  inner join public.hex as goal on goal.map_id = state.map_id and goal.label = hexes_near.hex
  cross join lateral ccp._plots(state) as ground
  where lattice.distance(ground.q, ground.r, goal.q, goal.r) between hexes_near.lowest and hexes_near.highest
  order by ground.label
$$;

comment on function ccp.hexes_near(bigint, text, integer, integer, jsonb) is
'The hexes of the map within these distances of a hex, as events see them.';

create or replace function ccp.hex_toward(position_id bigint, hex text, direction integer, conditions jsonb default null)
returns setof ccp.plot
language sql stable rows 1
as $$
  select ground.*
  from positions.state(hex_toward.position_id, hex_toward.conditions) as state
  inner join public.hex as start on start.map_id = state.map_id and start.label = hex_toward.hex
  inner join lattice.neighbours(start.q, start.r) as step on step.direction = hex_toward.direction
  cross join lateral ccp._plots(state) as ground
  where ground.q = step.nq
    and ground.r = step.nr
$$;

comment on function ccp.hex_toward(bigint, text, integer, jsonb) is
'The hex beside a hex in a direction of the compass; no row off the map (2.2).';

create or replace function ccp.lines_of(position_id bigint, hex text)
returns table (label text)
language sql stable rows 24
as $$
  select hex.label
  from public.position
  inner join public.hex on hex.map_id = position.map_id
  where position.id = lines_of.position_id
    and (
      substring(hex.label from '^[A-Z]+') = substring(lines_of.hex from '^[A-Z]+')
      or substring(hex.label from '[0-9]+$') = substring(lines_of.hex from '[0-9]+$')
    )
  order by hex.label
$$;

comment on function ccp.lines_of(bigint, text) is
'The hexes of the same letter or the same number as a random hex, where an aircraft may be placed (E50).';

create or replace function ccp.friendly_hexes(position_id bigint, side text, conditions jsonb default null)
returns table (label text)
language sql stable rows 8
as $$
  with held as materialized (
    select
      unit.q,
      unit.r,
      bool_or(unit.side = friendly_hexes.side) as own,
      bool_or(unit.side <> friendly_hexes.side) as enemy
    from public.unit
    where unit.position_id = friendly_hexes.position_id
      and unit.kind <> 'aircraft'
      and unit.q is not null
    group by unit.q, unit.r
  ),
  objective as materialized (
    select
      at.q,
      at.r,
      coalesce(
        state.conditions -> 'control' ->> (place.attributes ->> 'number'), place.attributes ->> 'control'
      ) as control
    from positions.state(friendly_hexes.position_id, friendly_hexes.conditions) as state
    inner join public.map_feature as place on place.map_id = state.map_id and place.kind = 'objective'
    inner join public.map_feature_hex as at on at.feature = place.id
  )
  select distinct hex.label
  from positions.state(friendly_hexes.position_id, friendly_hexes.conditions) as state
  cross join lateral ccp._plots(state) as hex
  left join held on held.q = hex.q and held.r = hex.r
  left join objective on objective.q = hex.q and objective.r = hex.r
  where not hex.blaze
    and (held.own or (objective.control = friendly_hexes.side and not coalesce(held.enemy, false)))
  order by hex.label
$$;

comment on function ccp.friendly_hexes(bigint, text, jsonb) is
'Hexes with a unit of a side, and objectives that it holds and no enemy is in: where a Hero may be placed (glossary, E61).';

create or replace function ccp.phosphorus_hexes(position_id bigint, side text, conditions jsonb default null)
returns table (label text)
language sql stable rows 8
as $$
  select distinct ground.label
  from positions.state(phosphorus_hexes.position_id, phosphorus_hexes.conditions) as state
  inner join public.unit as squad
    on squad.position_id = state.position_id
      and squad.side = phosphorus_hexes.side
      and squad.kind = 'squad'
      and not coalesce((squad.attributes ->> 'broken')::boolean, false)
  cross join lateral ccp._plots(state) as ground
  where lattice.distance(squad.q, squad.r, ground.q, ground.r) = 1
    and not ground.water
    and not ground.blaze
  order by ground.label
$$;

comment on function ccp.phosphorus_hexes(bigint, text, jsonb) is
'Hexes beside an own unbroken squad, neither water nor blaze (E80).';

create or replace function ccp.zone_hexes(position_id bigint, attribute text, side text, conditions jsonb default null)
returns setof ccp.plot
language sql stable rows 10
as $$
  select distinct ground.*
  from positions.state(zone_hexes.position_id, zone_hexes.conditions) as state
  inner join public.map_feature as place
    on place.map_id = state.map_id
      and place.attributes ->> zone_hexes.attribute = zone_hexes.side
  inner join public.map_feature_hex as at on at.feature = place.id
  inner join lateral ccp._plots(state) as ground on ground.q = at.q and ground.r = at.r
  order by 3
$$;

comment on function ccp.zone_hexes(bigint, text, text, jsonb) is
'The hexes of a side''s friendly map edge (`edge`) or of its set-up area (`setup`), where the map marks them.';

create or replace function ccp.nearest_pieces(position_id bigint, hex text, what text)
returns table (code text, away integer)
language sql stable rows 2
as $$
  with piece as materialized (
    select
      unit.code,
      lattice.distance(unit.q, unit.r, goal.q, goal.r) as away
    from public.position
    inner join public.hex as goal on goal.map_id = position.map_id and goal.label = nearest_pieces.hex
    inner join public.unit on unit.position_id = position.id and unit.q is not null and unit.kind <> 'aircraft'
    where position.id = nearest_pieces.position_id
      and case nearest_pieces.what
        when 'shell_shock' then true
        when 'jam' then unit.side = 'japan' and unit.attributes -> 'weapon' is not null
        when 'malfunction' then unit.attributes -> 'weapon' is not null
          and not coalesce((unit.attributes -> 'weapon' ->> 'broken')::boolean, false)
      end
  )
  select
    piece.code,
    piece.away
  from piece
  where piece.away = (select min(near.away) from piece as near)
  order by piece.code
$$;

comment on function ccp.nearest_pieces(bigint, text, text) is
'The units, or the holders of the weapons, nearest to a random hex; several: who drew the event chooses (E63, E65, E72).';
