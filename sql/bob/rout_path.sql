-- needs: bob/rout.sql, bob/sights.sql
-- The ways of a routing unit in bob (Band of Brothers): 11.0, and of a Declared Retreat (5.3).
--
-- A step may not lead next to an enemy not in Melee, nor closer to any enemy that the unit sees or has seen on its way.
-- So what a search has to know is the hex and whom the unit has seen: states are ordered by cost, and one that costs
-- no less and has seen all that another has is dropped.

drop type if exists bob.flight cascade;
create type bob.flight as (
  cells integer array,
  costs integer array,
  seen bigint array,
  hexes integer array,
  previous integer array,
  sights boolean array
);

comment on type bob.flight is
'States of a search for a way out: hex, halves spent, enemies seen (a bit each), hexes entered, and the state before.';
comment on column bob.flight.sights is 'For each hex and enemy whether they see each other; null where it was not asked';

create or replace function bob._flight_sights(
  state positions.state, grounds bob.ground[], foes bob.piece[], origin integer, limit_halves integer,
  starts integer[], goals integer[], prices integer[]
)
returns boolean[]
language plpgsql stable
as $$
declare
  near integer[];
  qs integer[];
  rs integer[];
  foe_qs integer[];
  foe_rs integer[];
  foe_count integer := cardinality(foes);
  plain boolean[];
  sights boolean[] := array_fill(null::boolean, array[greatest(cardinality(grounds) * foe_count, 1)]);
begin
  -- what costs too much, whoever sees it, is not looked at
  select array_agg(wave.n), array_agg((grounds[wave.n]).q), array_agg((grounds[wave.n]).r)
  into near, qs, rs
  from positions._wave(
    origin, 0, coalesce(limit_halves, 0), starts, goals, prices, array_fill(false, array[cardinality(grounds)]), cardinality(grounds)
  ) as wave;
  select array_agg(foe.q order by foe.n), array_agg(foe.r order by foe.n)
  into foe_qs, foe_rs
  from (
    select
      found.n,
      -- one that is not on the ground sees otherwise
      case when found.location = 'ground' then found.q end as q,
      case when found.location = 'ground' then found.r end as r
    from unnest(foes) with ordinality
      as found (id, code, side, nation, kind, q, r, label, location, infantry, gun, vehicle, decoy, mounted, melee, concealed, attributes, n)
  ) as foe;
  if foe_count = 0 then
    return sights;
  end if;
  plain := bob._sights(state, qs, rs, foe_qs, foe_rs);
  for i in 1 .. cardinality(near) loop
    for j in 1 .. foe_count loop
      sights[(near[i] - 1) * foe_count + j] := plain[(i - 1) * foe_count + j];
    end loop;
  end loop;
  return sights;
end
$$;

comment on function bob._flight_sights(
  positions.state, bob.ground[], bob.piece[], integer, integer, integer[], integer[], integer[]
) is
'For each hex of a region and each enemy what is plain of their line of sight, where a way can lead.';

drop type if exists bob.flight_net cascade;
create type bob.flight_net as (
  origin integer,
  away integer array,
  starts integer array,
  goals integer array,
  prices integer array
);

comment on type bob.flight_net is
'The hexes about a routing unit by number, and the steps that a Rout may take between them.';
comment on column bob.flight_net.away is 'How far each enemy is from each hex: hex by hex, within it enemy by enemy';

create or replace function bob._beset(state positions.state, grounds bob.ground[], foes bob.piece[])
returns boolean[]
language sql stable
as $$
  select array_agg(
    ground.enemy or ground.enemy_vehicle or exists (
      select
      from unnest(foes) as foe
      where not foe.melee
        and lattice.distance(ground.q, ground.r, foe.q, foe.r) = 1
        and bob._neighbouring(state, ground.q, ground.r, foe.q, foe.r)
    )
    order by ground.n
  )
  from unnest(grounds) with ordinality
    as ground (q, r, label, terrain, features, level, enemy, enemy_gun, enemy_vehicle, lurking, wire, breach, dug, trench, mines, n)
$$;

comment on function bob._beset(positions.state, bob.ground[], bob.piece[]) is
'Of each hex whether an enemy is there, or one not in Melee next to it: no Rout enters it (11.0).';

create or replace function bob._flight_net(
  state positions.state, mover bob.mover, grounds bob.ground[], legs bob.leg[], foes bob.piece[]
)
returns bob.flight_net
language plpgsql stable
as $$
declare
  net bob.flight_net;
  beset boolean[] := bob._beset(state, grounds, foes);
begin
  select array_agg(lattice.distance(ground.q, ground.r, foe.q, foe.r) order by ground.n, foe.n)
  into net.away
  from unnest(grounds) with ordinality
    as ground (q, r, label, terrain, features, level, enemy, enemy_gun, enemy_vehicle, lurking, wire, breach, dug, trench, mines, n)
  cross join unnest(foes) with ordinality
    as foe (id, code, side, nation, kind, q, r, label, location, infantry, gun, vehicle, decoy, mounted, melee, concealed, attributes, n);
  net.origin := (
    select max(place.n) from generate_subscripts(grounds, 1) as place (n)
    where (grounds[place.n]).q = mover.q and (grounds[place.n]).r = mover.r
  );
  with numbered as (
    select ground.q, ground.r, ground.n::integer as n
    from unnest(grounds) with ordinality
      as ground (q, r, label, terrain, features, level, enemy, enemy_gun, enemy_vehicle, lurking, wire, breach, dug, trench, mines, n)
  )
  select
    array_agg(start.n order by start.n, there.n),
    array_agg(there.n order by start.n, there.n),
    array_agg(leg.price order by start.n, there.n)
  into net.starts, net.goals, net.prices
  from unnest(legs) as leg
  inner join numbered as start on start.q = leg.fq and start.r = leg.fr
  inner join numbered as there on there.q = leg.tq and there.r = leg.tr
  where leg.shut is null
    and leg.price is not null
    and not beset[there.n]
    and (not leg.whole or start.n = net.origin);
  return net;
end
$$;

comment on function bob._flight_net(positions.state, bob.mover, bob.ground[], bob.leg[], bob.piece[]) is
'What a Rout is searched on: how far the enemies are from each hex, and every step that is open (11.0).';

create or replace function bob._flee(
  state positions.state, mover bob.mover, grounds bob.ground[], legs bob.leg[], foes bob.piece[], limit_halves integer
)
returns bob.flight
language plpgsql stable
as $$
declare
  net bob.flight_net := bob._flight_net(state, mover, grounds, legs, foes);
  starts integer[] := net.starts;
  goals integer[] := net.goals;
  prices integer[] := net.prices;
  away integer[] := net.away;
  origin integer := net.origin;
  first_leg integer[] := array_fill(0, array[cardinality(grounds) + 1]);
  foe_count integer := cardinality(foes);
  now integer := 0;
  n integer := 1;
  cell integer;
  goal integer;
  price integer;
  mask bigint;
  closer boolean;
  place integer;
  sights boolean[];
  flight bob.flight;
  j integer;
begin
  for i in reverse coalesce(cardinality(starts), 0) .. 1 loop
    first_leg[starts[i]] := i;
  end loop;
  sights := bob._flight_sights(state, grounds, foes, origin, limit_halves, starts, goals, prices);
  flight.sights := sights;
  flight.cells := array[origin];
  flight.costs := array[0];
  flight.seen := array[0::bigint];
  flight.hexes := array[0];
  flight.previous := array[0];
  while now < n loop
    -- the cheapest state that was not looked at: they are kept in order
    now := now + 1;
    cell := flight.cells[now];
    continue when first_leg[cell] = 0 or (now > 1 and ((grounds[cell]).wire or mover.wired));
    -- 55.2: no more than two hexes in a deluge
    continue when flight.hexes[now] >= mover.most;
    continue when flight.costs[now] + (
      select min(leg.price) from unnest(starts, prices) as leg (start, price) where leg.start = cell
    ) > limit_halves;
    -- whom it sees here it has seen from now on
    mask := flight.seen[now];
    for j in 1 .. foe_count loop
      if mask & (1::bigint << (j - 1)) = 0 then
        place := (cell - 1) * foe_count + j;
        if sights[place] is null then
          sights[place] := bob._seen(state, 'hex:' || (grounds[cell]).label, 'unit:' || (foes[j]).code);
        end if;
        if sights[place] then
          mask := mask | (1::bigint << (j - 1));
        end if;
      end if;
    end loop;
    for i in first_leg[cell] .. cardinality(starts) loop
      exit when starts[i] <> cell;
      goal := goals[i];
      price := flight.costs[now] + prices[i];
      continue when price > limit_halves;
      closer := false;
      for j in 1 .. foe_count loop
        closer := closer or (
          mask & (1::bigint << (j - 1)) <> 0
          and away[(goal - 1) * foe_count + j] < away[(cell - 1) * foe_count + j]
        );
      end loop;
      continue when closer;
      continue when exists (
        select
        from unnest(flight.cells, flight.costs, flight.seen, flight.hexes) as other (cell, cost, seen, hexes)
        where other.cell = goal
          and other.cost <= price
          and other.seen & ~mask = 0
          and (mover.most is null or other.hexes <= flight.hexes[now] + 1)
      );
      -- in its place by cost
      j := n;
      while j > now and flight.costs[j] > price loop
        j := j - 1;
      end loop;
      flight.cells := flight.cells[:j] || goal || flight.cells[j + 1:];
      flight.costs := flight.costs[:j] || price || flight.costs[j + 1:];
      flight.seen := flight.seen[:j] || mask || flight.seen[j + 1:];
      flight.hexes := flight.hexes[:j] || flight.hexes[now] + 1 || flight.hexes[j + 1:];
      flight.previous := flight.previous[:j] || now || flight.previous[j + 1:];
      n := n + 1;
    end loop;
  end loop;
  if not bob._lit(state) then
    flight.sights := sights;
  end if;
  return flight;
end
$$;

comment on function bob._flee(
  positions.state, bob.mover, bob.ground[], bob.leg[], bob.piece[], integer
) is
'Every hex that a routing unit can get to within a number of halves, by the rules of each step (11.0).';

create or replace function bob._own_sights(flight bob.flight, n integer, foes integer)
returns boolean[]
language sql immutable parallel safe
return flight.sights[(flight.cells[n] - 1) * foes + 1:flight.cells[n] * foes];

comment on function bob._own_sights(bob.flight, integer, integer) is
'Which enemies see the hex of a state, as far as it is known.';

create or replace function bob._refuge(
  state positions.state, ground bob.ground, foes bob.piece[], sights boolean[]
)
returns text
language plpgsql stable
as $$
declare
  shelter text := bob._sheltered(state, ground.q, ground.r, ground.label, ground.terrain);
begin
  if shelter is not null then
    return shelter;
  end if;
  for j in 1 .. cardinality(foes) loop
    continue when not sights[j];
    continue when bob._screened(
      state, ground.q, ground.r, ground.level, foes[j],
      (select bob._level(hex.terrain, hex.level) from public.hex
      where hex.map_id = state.map_id and hex.q = (foes[j]).q and hex.r = (foes[j]).r)
    ) is not null;
    if coalesce(sights[j], bob._seen(state, 'unit:' || (foes[j]).code, 'hex:' || ground.label)) then
      return null;
    end if;
  end loop;
  return 'unseen';
end
$$;

comment on function bob._refuge(positions.state, bob.ground, bob.piece[], boolean[]) is
'Why a hex is one to rout to: Beneficial against every enemy that sees it, or seen by none; null where it is not (11.0).';

drop type if exists bob.rout cascade;
create type bob.rout as (
  labels text array,
  costs integer array,
  shelters text array,
  toward text,
  edge boolean,
  eliminated boolean,
  untold text,
  note text
);

comment on type bob.rout is
'Where a routing unit may end, what it is heading for, and whether it is lost.';

create or replace function bob._rout_way(flight bob.flight, target integer, allowance integer)
returns integer
language plpgsql immutable
as $$
declare
  now integer := target;
begin
  while now > 1 and flight.costs[now] > allowance loop
    now := flight.previous[now];
  end loop;
  return now;
end
$$;

comment on function bob._rout_way(bob.flight, integer, integer) is
'How far along the way to a state the allowance leads.';

create or replace function bob._rout_to_edge(
  state positions.state, pieces bob.piece[], mover bob.mover, grounds bob.ground[], flight bob.flight, way bob.rout
)
returns bob.rout
language plpgsql stable
as $$
declare
  best integer;
  ends integer;
  allowance integer := mover.halves;
  edges text[];
begin
  way.edge := true;
  edges := array(
    select hex.label
    from bob._edge_hexes(state, mover.side) as edge
    inner join public.hex on hex.map_id = state.map_id and hex.q = edge.q and hex.r = edge.r
  );
  for i in 1 .. cardinality(flight.cells) loop
    exit when best is not null and flight.costs[i] > best;
    continue when not (grounds[flight.cells[i]]).label = any(edges);
    best := flight.costs[i];
    -- a point is left to leave the board with
    if best + 2 <= allowance then
      way.labels := '{}';
      way.costs := '{}';
      way.shelters := '{}';
      way.eliminated := true;
      way.note := 'it routs off the board';
      return way;
    end if;
    ends := bob._rout_way(flight, i, allowance);
    if ends > 1 then
      way.labels := way.labels || (grounds[flight.cells[ends]]).label;
      way.costs := way.costs || flight.costs[ends];
      way.shelters := way.shelters || 'edge'::text;
    end if;
  end loop;
  if best is null then
    -- the edge cannot be reached, or is not told: any hex to which all its points take it
    if cardinality(edges) = 0 then
      way.untold := concat_ws(', ', way.untold, 'the Rout Edge of ' || mover.side);
    end if;
    select
      array_agg(last.label order by last.cost desc, last.label),
      array_agg(last.cost order by last.cost desc, last.label),
      array_agg('away'::text)
    into way.labels, way.costs, way.shelters
    from (
      select distinct on (gone.cell) (grounds[gone.cell]).label as label, gone.cost
      from unnest(flight.cells, flight.costs) as gone (cell, cost)
      where gone.cost between 1 and allowance
        and gone.cell <> flight.cells[1]
        and bob._may_end(state, pieces, mover, grounds[gone.cell])
      order by gone.cell, gone.cost
    ) as last;
  end if;
  way.labels := coalesce(way.labels, '{}');
  way.eliminated := cardinality(way.labels) = 0;
  return way;
end
$$;

comment on function bob._rout_to_edge(
  positions.state, bob.piece[], bob.mover, bob.ground[], bob.flight, bob.rout
) is
'Where a unit ends that finds no cover at all: on the way to its Rout Edge by the fewest points, off the board, or lost (11.0).';

create or replace function bob._rout(state positions.state, pieces bob.piece[], mover bob.mover)
returns bob.rout
language plpgsql stable
as $$
declare
  grounds bob.ground[];
  legs bob.leg[];
  foes bob.piece[];
  flight bob.flight;
  found bob.rout;
  shelter text;
  best integer;
  ends integer;
  allowance integer := mover.halves;
  times integer;
begin
  found.labels := '{}';
  found.costs := '{}';
  found.shelters := '{}';
  found.edge := false;
  found.eliminated := false;
  foes := array(
    select foe from unnest(pieces) as foe
    where foe.side <> mover.side and not foe.mounted
    order by lattice.distance(foe.q, foe.r, mover.q, mover.r), foe.id
    limit 60
  );
  -- first within its allowance, then over the whole map
  grounds := array(select ground from bob._region(state, pieces, mover, bob._radius(mover)) as ground);
  legs := array(select leg from bob._legs(state, mover, grounds) as leg);
  found.untold := (
    select string_agg(distinct leg.untold, ', ') from unnest(legs) as leg where leg.shut is null and leg.untold is not null
  );
  flight := bob._flee(state, mover, grounds, legs, foes, allowance);
  if cardinality(flight.cells) < 2 then
    found.eliminated := true;
    found.note := 'no hex that it may enter';
    return found;
  end if;
  for i in 2 .. cardinality(flight.cells) loop
    continue when flight.cells[i] = any(flight.cells[:i - 1]);
    continue when not bob._may_end(state, pieces, mover, grounds[flight.cells[i]]);
    shelter := bob._refuge(state, grounds[flight.cells[i]], foes, bob._own_sights(flight, i, cardinality(foes)));
    if shelter is not null then
      found.labels := found.labels || (grounds[flight.cells[i]]).label;
      found.costs := found.costs || flight.costs[i];
      found.shelters := found.shelters || shelter;
    end if;
  end loop;
  if cardinality(found.labels) > 0 then
    return found;
  end if;
  -- 11.0: none within reach, so all its points toward one; looked for near by first
  foreach times in array array[2, null] loop
    grounds := array(select ground from bob._region(state, pieces, mover, bob._radius(mover) * times) as ground);
    legs := array(select leg from bob._legs(state, mover, grounds) as leg);
    flight := bob._flee(state, mover, grounds, legs, foes, coalesce(allowance * times, 400));
    for i in 2 .. cardinality(flight.cells) loop
      exit when best is not null and flight.costs[i] > best;
      continue when flight.cells[i] = any(flight.cells[:i - 1]);
      continue when not bob._may_end(state, pieces, mover, grounds[flight.cells[i]]);
      shelter := bob._refuge(state, grounds[flight.cells[i]], foes, bob._own_sights(flight, i, cardinality(foes)));
      continue when shelter is null;
      best := coalesce(best, flight.costs[i]);
      ends := bob._rout_way(flight, i, allowance);
      found.toward := coalesce(found.toward, (grounds[flight.cells[i]]).label);
      if ends > 1 and not (grounds[flight.cells[ends]]).label = any(found.labels) then
        found.labels := found.labels || (grounds[flight.cells[ends]]).label;
        found.costs := found.costs || flight.costs[ends];
        found.shelters := found.shelters || 'toward'::text;
      end if;
    end loop;
    exit when best is not null;
  end loop;
  if best is not null then
    found.eliminated := cardinality(found.labels) = 0;
    return found;
  end if;
  -- 11.0: no such hex at all
  return bob._rout_to_edge(state, pieces, mover, grounds, flight, found);
end
$$;

comment on function bob._rout(positions.state, bob.piece[], bob.mover) is
'Where a unit routs: cover or an unseen hex within its points, else toward one, else to the Rout Edge, else it is lost (11.0).';

create or replace function bob.rout_path(
  position_id bigint, unit text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 6
as $$
declare
  state positions.state;
  pieces bob.piece[] := array(select piece from bob._pieces(rout_path.position_id) as piece);
  mover bob.mover;
  found bob.rout;
begin
  select * into state from positions.state(rout_path.position_id, rout_path.conditions, rout_path.policy);
  mover := bob._mover(state, pieces, rout_path.unit, 'rout', false, false);
  -- 11.1: whoever it leaves behind is no longer in Melee, and it would move next to them
  if exists (select from unnest(pieces) as piece where piece.code = rout_path.unit and bob._alone_in_melee(pieces, piece)) then
    return next row(
      '11.1', null, mover.label, 'eliminated', 'no friend holds the Melee as it leaves', null, null, null,
      '{"destinations": [], "halves": {}, "toward": null, "edge": false, "eliminated": true}'
    )::rulings.ledger_step;
    return;
  end if;
  mover.spent := 0;
  found := bob._rout(state, pieces, mover);
  return next row(
    '11.0', null, mover.label, 'allowance', 'its normal movement allowance', null, null, mover.halves, null
  )::rulings.ledger_step;
  return next row(
    '11.0', null, null, 'bars', 'next to an enemy not in Melee; closer to an enemy that it sees or has seen', null, null, null, null
  )::rulings.ledger_step;
  return query
  select
    '11.0', null, ends.label,
    case when ends.shelter in ('toward', 'edge', 'away') then ends.shelter else 'shelters' end,
    case ends.shelter
      when 'unseen' then 'outside the sight of every enemy'
      when 'toward' then 'all its points toward ' || found.toward
      when 'edge' then 'toward the Rout Edge by the fewest points'
      when 'away' then 'no cover and no way to the Rout Edge'
      else replace(ends.shelter, '_', ' ') || ' is Beneficial Terrain'
    end,
    case when ends.shelter = 'hill' then 'bob-50' end, null, ends.cost, null::jsonb
  from unnest(found.labels, found.costs, found.shelters) as ends (label, cost, shelter)
  order by ends.cost, ends.label;
  if found.untold is not null then
    return next row('5.0', null, null, 'unknown', found.untold, null, null, null, null)::rulings.ledger_step;
  end if;
  return next row(
    '11.0', null, mover.label, case when found.eliminated then 'eliminated' else 'routs' end,
    coalesce(found.note, case when found.eliminated then 'it cannot Rout as the rules want' else 'it routs' end),
    case when (select bool_or((piece.attributes ? 'range')) from unnest(pieces) as piece) and exists (
      select from public.hex where hex.map_id = state.map_id and hex.level > 0
    ) then 'bob-50' end,
    null, null,
    jsonb_build_object(
      'destinations', to_jsonb(found.labels),
      'halves', (
        select coalesce(jsonb_object_agg(ends.label, ends.cost), '{}')
        from unnest(found.labels, found.costs) as ends (label, cost)
      ),
      'toward', found.toward,
      'edge', found.edge,
      'eliminated', found.eliminated
    )
  )::rulings.ledger_step;
end
$$;

comment on function bob.rout_path(bigint, text, jsonb, jsonb) is
'Where a unit may Rout to, for how many points and why; the verdict last.';

create or replace function bob._retreat_steps(
  state positions.state, pieces bob.piece[], mover bob.mover, path text[]
)
returns setof rulings.move_step
language plpgsql stable rows 1
as $$
declare
  found bob.rout;
begin
  if mover.manner <> 'retreat' then
    return;
  end if;
  found := bob._rout(state, pieces, mover);
  if not coalesce(path[cardinality(path)] = any(found.labels), false) then
    return next row(
      '5.3', null, path[cardinality(path)], 'forbids', 'a Declared Retreat goes where a Rout would go', null, null, null, null
    )::rulings.move_step;
  end if;
end
$$;

comment on function bob._retreat_steps(positions.state, bob.piece[], bob.mover, text[]) is
'Whether a Declared Retreat ends where a Rout would (5.3, 11.0).';

create or replace function bob._charge_targets(state positions.state, pieces bob.piece[], mover bob.mover)
returns table (label text, away integer)
language sql stable rows 3
as $$
  select distinct goal.label, goal.away
  from (
    select
      hex.q,
      hex.r,
      hex.label,
      lattice.distance(hex.q, hex.r, mover.q, mover.r) as away,
      min(lattice.distance(hex.q, hex.r, mover.q, mover.r)) over () as nearest
    from public.hex
    where hex.map_id = state.map_id
      and (
        exists (
          select from unnest(pieces) as enemy
          where enemy.side <> mover.side and enemy.q = hex.q and enemy.r = hex.r and not enemy.mounted
        )
        or exists (
          select from public.marker
          where marker.position_id = state.position_id
            and marker.kind = 'victory'
            and marker.q = hex.q
            and marker.r = hex.r
            and marker.attributes ->> 'side' <> mover.side
        )
      )
      -- 59.6: not fully stacked with Japanese, and never Infantry with a Vehicle
      and (
        select count(*) from unnest(pieces) as friend
        where friend.side = mover.side and friend.q = hex.q and friend.r = hex.r and (friend.infantry or friend.gun)
          and friend.code <> mover.code
      ) < 2
      and not (
        bob._foes(pieces, mover.side, hex.q, hex.r, 'ground')
        and exists (
          select from unnest(pieces) as enemy
          where enemy.side <> mover.side and enemy.vehicle and enemy.q = hex.q and enemy.r = hex.r
        )
      )
  ) as goal
  where goal.away = goal.nearest
$$;

comment on function bob._charge_targets(positions.state, bob.piece[], bob.mover) is
'The nearest hexes, counted in hexes, that a Banzai Charge goes for (59.6).';

create or replace function bob._from_goals(state positions.state, goals text[], label text)
returns integer
language sql stable
as $$
  select min(lattice.distance(here.q, here.r, goal.q, goal.r))
  from public.hex as here
  inner join public.hex as goal on goal.map_id = here.map_id and goal.label = any(goals)
  where here.map_id = state.map_id and here.label = _from_goals.label
$$;

comment on function bob._from_goals(positions.state, text[], text) is
'How many hexes a hex is from the nearest that a charge goes for.';

create or replace function bob._charge_steps(
  state positions.state, pieces bob.piece[], mover bob.mover, path text[]
)
returns setof rulings.move_step
language plpgsql stable rows 1
as $$
declare
  goals text[];
  reached record;
  outing bob.outing;
  grounds bob.ground[];
  legs bob.leg[];
begin
  if mover.manner <> 'banzai' then
    return;
  end if;
  goals := array(select target.label from bob._charge_targets(state, pieces, mover) as target order by 1);
  if cardinality(goals) = 0 then
    return;
  end if;
  grounds := array(select ground from bob._region(state, pieces, mover, bob._radius(mover)) as ground);
  legs := array(select leg from bob._legs(state, mover, grounds) as leg);
  select
    min(way.halves) filter (where (grounds[way.n]).label = any(goals)) as cost,
    min(way.halves) filter (where (grounds[way.n]).label = path[cardinality(path)]) as own
  into reached
  from bob._spread(mover, grounds, legs) as way;
  if reached.cost is not null then
    if not coalesce(path[cardinality(path)] = any(goals), false) then
      return next row(
        '59.6', null, path[cardinality(path)], 'forbids',
        format('a charge goes for the nearest: %s', array_to_string(goals, ', ')), null, null, null, null
      )::rulings.move_step;
    elsif reached.own is distinct from (
      select sum(leg.price)
      from unnest(array[mover.label] || path, path) as pair (here, there)
      inner join unnest(grounds) as start on start.label = pair.here
      inner join unnest(grounds) as goal on goal.label = pair.there
      inner join unnest(legs) as leg on leg.fq = start.q and leg.fr = start.r and leg.tq = goal.q and leg.tr = goal.r
    )::integer then
      return next row(
        '59.6', null, path[cardinality(path)], 'forbids', 'a charge takes the way of the fewest points', null, null, null, null
      )::rulings.move_step;
    end if;
  elsif not exists (select from unnest(legs) as leg where leg.shut is null and leg.price is null)
    and bob._from_goals(state, goals, path[cardinality(path)]) > (
      select min(bob._from_goals(state, goals, (grounds[way.n]).label))
      from bob._spread(mover, grounds, legs) as way
      where bob._may_end(state, pieces, mover, grounds[way.n])
    ) then
    return next row(
      '59.6', null, path[cardinality(path)], 'forbids',
      format('a charge that cannot get there goes as close as it can to %s', array_to_string(goals, ', ')),
      null, null, null, null
    )::rulings.move_step;
  end if;
end
$$;

comment on function bob._charge_steps(positions.state, bob.piece[], bob.mover, text[]) is
'Whether a Banzai Charge goes into the nearest enemy or Victory hex by the fewest points (59.6).';
