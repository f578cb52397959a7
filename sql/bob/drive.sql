-- needs: bob/move.sql, positions/wave.sql
-- How far a Vehicle gets in bob (Band of Brothers): forward or in reverse by where it faces, turning within its hex: 20.3.
--
-- A cell of the search is a hex with a corner faced and, in a deluge, the hexes entered so far (55.2).

create or replace function bob._turning(mover bob.mover)
returns integer
language sql stable
return (bob._card('vehicle', mover.read) -> 'turning' ->> 'halves')::integer;

comment on function bob._turning(bob.mover) is
'Halves that a Vehicle pays for each corner that it turns by; null where the card does not tell (20.3).';

create or replace function bob._drives(mover bob.mover)
returns boolean
language sql immutable parallel safe
return mover.vehicle and mover.facing is not null;

comment on function bob._drives(bob.mover) is
'Whether it matters where a mover faces on its way.';

create or replace function bob._drive_edges(mover bob.mover, grounds bob.ground[], legs bob.leg[])
returns table (start integer, goal integer, price integer)
language sql stable rows 1000
as $$
  with numbered as (
    select ground.q, ground.r, ground.n::integer as n
    from unnest(grounds) with ordinality
      as ground (
        q, r, label, terrain, features, level, enemy, enemy_gun, enemy_vehicle, lurking, wire, breach, dug, trench, mines, n
      )
  )
  -- 20.3: into one of its two front hexes, or in reverse of the two behind
  select
    ((layer.n * cardinality(grounds)) + here.n - 1) * 6 + corner.n,
    (((layer.n + case when mover.most is null then 0 else 1 end) * cardinality(grounds)) + there.n - 1) * 6 + corner.n,
    leg.price
  from unnest(legs) as leg
  inner join numbered as here on here.q = leg.fq and here.r = leg.fr
  inner join numbered as there on there.q = leg.tq and there.r = leg.tr
  cross join generate_series(1, 6) as corner (n)
  cross join generate_series(0, greatest(coalesce(mover.most, 1) - 1, 0)) as layer (n)
  where leg.shut is null
    and leg.price is not null
    and coalesce(mover.most, 1) > 0
    and (leg.direction - corner.n + case mover.manner when 'reverse' then 9 else 6 end) % 6 in (0, 1)
  union all
  select
    ((layer.n * cardinality(grounds)) + here.n - 1) * 6 + corner.n,
    ((layer.n * cardinality(grounds)) + here.n - 1) * 6 + (corner.n + turn.by_corners) % 6 + 1,
    turning.price
  from (select bob._turning(mover) as price) as turning
  cross join numbered as here
  cross join generate_series(1, 6) as corner (n)
  cross join (values (0), (4)) as turn (by_corners)
  cross join generate_series(0, coalesce(mover.most, 0)) as layer (n)
  where turning.price is not null
$$;

comment on function bob._drive_edges(bob.mover, bob.ground[], bob.leg[]) is
'Steps of a Vehicle between cells: from hex to hex as it faces, from corner to corner within a hex.';

create or replace function bob._drive(mover bob.mover, grounds bob.ground[], legs bob.leg[])
returns table (n integer, halves integer, path integer[], turns jsonb)
language plpgsql stable rows 100
as $$
#variable_conflict use_column
declare
  hexes integer := cardinality(_drive.grounds);
  cells integer := 6 * hexes * (1 + coalesce(mover.most, 0));
  starts integer[];
  goals integer[];
  prices integer[];
  origin integer;
begin
  select (6 * (place.n - 1) + mover.facing)::integer into origin
  from generate_subscripts(_drive.grounds, 1) as place (n)
  where (_drive.grounds[place.n]).q = mover.q and (_drive.grounds[place.n]).r = mover.r;
  select
    array_agg(edge.start order by edge.start, edge.goal),
    array_agg(edge.goal order by edge.start, edge.goal),
    array_agg(edge.price order by edge.start, edge.goal)
  into starts, goals, prices
  from bob._drive_edges(mover, _drive.grounds, _drive.legs) as edge;
  return query
  with recursive found as materialized (
    select wave.n, wave.halves, wave.previous, (wave.n - 1) / 6 % hexes + 1 as hex, (wave.n - 1) % 6 + 1 as corner
    from positions._wave(
      origin, mover.spent, coalesce(mover.halves, 0), starts, goals, prices, array_fill(false, array[cells]), cells
    ) as wave
  ),
  gone as (
    select found.n, found.halves, found.hex, array[]::integer[] as path, '{}'::jsonb as turns
    from found
    where found.n = origin
    union all
    select
      found.n,
      found.halves,
      found.hex,
      gone.path || case when found.hex <> gone.hex then array[found.hex] else '{}' end,
      gone.turns || case
        when found.hex = gone.hex then jsonb_build_object((_drive.grounds[found.hex]).label, found.corner)
        else '{}'
      end
    from gone
    inner join found on found.previous = gone.n
  )
  select distinct on (gone.hex) gone.hex, gone.halves, gone.path, gone.turns
  from gone
  order by gone.hex, gone.halves, gone.n;
end
$$;

comment on function bob._drive(bob.mover, bob.ground[], bob.leg[]) is
'The hexes of a region, by their number in it, that a Vehicle can get to: for how much, by which way, turning where (20.3).';
