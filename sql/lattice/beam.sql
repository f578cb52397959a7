-- needs: lattice/ray.sql
-- Lines by the hexes that they pass: what lattice.trace tells line by line, for every hex within 8 of a start.
--
-- For whoever looks at all hexes around at once. A line is known by its target, so the lines that pass a hex are a set of
-- hexes (lattice.hex_bit): `lattice.beam` has a row for each hex. `lattice.passage` has one for each hex of each line, for
-- who wants to know where the line comes into it.

create or replace function lattice.place_set(place integer)
returns bit
language sql immutable parallel safe
return set_bit(b'0'::bit(289), place, 1);

comment on function lattice.place_set(integer) is
'The set of one hex, by its place in a set (lattice.hex_bit).';

create or replace function lattice.places_set(places integer[])
returns bit
language plpgsql immutable parallel safe
as $$
declare
  hexes bit(289) := b'0'::bit(289);
  place integer;
begin
  foreach place in array places loop
    hexes := set_bit(hexes, place, 1);
  end loop;
  return hexes;
end
$$;

comment on function lattice.places_set(integer[]) is
'The set of some hexes, by their places in a set.';

create or replace function lattice.build_passage()
returns bigint
language sql volatile
as $$
  with filled as (
    insert into lattice.passage (q, r, dq, dr, place, spine, touch, near, far, enter, leave, den)
    select
      hex.q,
      hex.r,
      piece.dq,
      piece.dr,
      lattice.hex_bit(piece.dq, piece.dr),
      piece.kind = 'spine',
      piece.kind = 'touch',
      -- a line leaves the hex that it begins in at 1/most of its way, and enters the last one as much before its end
      piece.kind <> 'touch' and piece.enter * piece.most = piece.den,
      piece.kind <> 'touch' and (piece.den - piece.leave) * piece.most = piece.den,
      piece.enter,
      piece.leave,
      piece.den
    from (
      select
        trace.*,
        greatest(abs(2 * trace.dq + trace.dr), abs(trace.dq + 2 * trace.dr), abs(trace.dq - trace.dr)) as most
      from lattice.trace
      where trace.kind in ('hex', 'spine', 'touch')
        and lattice.distance(0, 0, trace.dq, trace.dr) <= 8
    ) as piece
    -- of a spine both hexes
    cross join lateral (select piece.q1, piece.r1 union select piece.q2, piece.r2) as hex (q, r)
    order by hex.q, hex.r, piece.dq, piece.dr
    returning 1
  )
  select count(*) from filled
$$;

comment on function lattice.build_passage() is
'Fill lattice.passage from lattice.trace; used by the migration that makes the table.';

create or replace function lattice.build_beam()
returns bigint
language sql volatile
as $$
  with filled as (
    insert into lattice.beam (q, r, away, place, through, met, passed, near, far, dot)
    select
      hex.q,
      hex.r,
      hex.away,
      lattice.hex_bit(hex.q, hex.r),
      coalesce(bit_or(line.one) filter (where not passage.touch and not passage.spine), b'0'::bit(289)),
      coalesce(bit_or(line.one), b'0'::bit(289)),
      coalesce(bit_or(line.one) filter (where not passage.touch), b'0'::bit(289)),
      coalesce(bit_or(line.one) filter (where passage.near), b'0'::bit(289)),
      coalesce(bit_or(line.one) filter (where passage.far), b'0'::bit(289)),
      coalesce(bit_or(line.one) filter (where passage.q * passage.dr = passage.r * passage.dq), b'0'::bit(289))
    from (
      select disc.dq as q, disc.dr as r, lattice.distance(0, 0, disc.dq, disc.dr) as away
      from lattice.disc(0, 0, 8) as disc
    ) as hex
    left join lattice.passage on passage.q = hex.q and passage.r = hex.r
    left join lateral lattice.place_set(passage.place) as line (one) on true
    group by hex.q, hex.r, hex.away
    order by hex.q, hex.r
    returning 1
  )
  select count(*) from filled
$$;

comment on function lattice.build_beam() is
'Fill lattice.beam from lattice.passage; used by the migration that makes the table.';
