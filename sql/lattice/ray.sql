-- needs: lattice/cells.sql
-- Lines as sets of cells: what lattice.trace tells row by row, as bits over the cells around the start.
--
-- For whoever looks at all hexes around at once. A set of hexes is a bit string of 17 by 17,
-- one of hexsides of 33 by 33 doubled cells, the start in the middle. Which hexes stop a line
-- is worked out once, as a set; whether they stop this line is then one operation.

create or replace function lattice.hex_bit(dq integer, dr integer)
returns integer
language sql immutable parallel safe
return 17 * dq + dr + 144;

comment on function lattice.hex_bit(integer, integer) is
'The place of a hex in a set of the hexes within 8 of a start, by its displacement.';

create or replace function lattice.side_bit(x integer, y integer)
returns integer
language sql immutable parallel safe
return 33 * x + y + 544;

comment on function lattice.side_bit(integer, integer) is
'The place of a hexside in a set of those within 8 of a start, by its doubled displacement.';

create or replace function lattice.hex_set(dq integer, dr integer)
returns bit
language sql immutable parallel safe
return set_bit(b'0'::bit(289), lattice.hex_bit(dq, dr), 1);

comment on function lattice.hex_set(integer, integer) is
'The set of one hex.';

create or replace function lattice.side_set(x integer, y integer)
returns bit
language sql immutable parallel safe
return set_bit(b'0'::bit(1089), lattice.side_bit(x, y), 1);

comment on function lattice.side_set(integer, integer) is
'The set of one hexside.';

create or replace function lattice.ring_set()
returns bit
language sql immutable parallel safe
return lattice.hex_set(0, -1) | lattice.hex_set(1, -1) | lattice.hex_set(1, 0)
| lattice.hex_set(0, 1) | lattice.hex_set(-1, 1) | lattice.hex_set(-1, 0);

comment on function lattice.ring_set() is
'The set of the six hexes next to the start.';

create or replace function lattice.build_ray()
returns bigint
language sql volatile
as $$
  with cell as (
    select
      trace.*,
      lattice.hex_set(trace.q1, trace.r1) as hex,
      lattice.side_set(trace.x, trace.y) as side,
      trace.of_start or trace.of_target as of_end
    from lattice.trace
    where lattice.distance(0, 0, trace.dq, trace.dr) <= 8
  ),
  filled as (
    insert into lattice.ray (
      dq, dr, away, place, hexes, beside_target, across, along, spine1, spine2, touched, grazed, leaving, arriving,
      grazed_leaving
    )
    select
      cell.dq,
      cell.dr,
      lattice.distance(0, 0, cell.dq, cell.dr),
      lattice.hex_bit(cell.dq, cell.dr),
      coalesce(bit_or(cell.hex) filter (where cell.kind = 'hex'), b'0'::bit(289)),
      coalesce(
        bit_or(cell.hex) filter (
          where cell.kind in ('hex', 'touch') and lattice.distance(cell.q1, cell.r1, cell.dq, cell.dr) = 1
        ),
        b'0'::bit(289)
      ),
      coalesce(bit_or(cell.side) filter (where cell.crossed and not cell.of_end), b'0'::bit(1089)),
      bit_or(cell.side) filter (where cell.kind = 'spine'),
      array_agg(lattice.hex_bit(cell.q1, cell.r1) order by cell.n) filter (where cell.kind = 'spine'),
      array_agg(lattice.hex_bit(cell.q2, cell.r2) order by cell.n) filter (where cell.kind = 'spine'),
      bit_or(cell.hex) filter (where cell.kind = 'touch'),
      bit_or(cell.side) filter (where cell.kind = 'end' and not cell.crossed and not cell.of_end),
      coalesce(bit_or(cell.side) filter (where cell.crossed and cell.of_start), b'0'::bit(1089)),
      coalesce(bit_or(cell.side) filter (where cell.crossed and cell.of_target), b'0'::bit(1089)),
      bit_or(cell.side) filter (where cell.kind = 'end' and not cell.crossed and cell.of_start)
    from cell
    group by cell.dq, cell.dr
    order by cell.dq, cell.dr
    returning 1
  )
  select count(*) from filled
$$;

comment on function lattice.build_ray() is
'Fill lattice.ray from lattice.trace; used by the migration that makes the table.';
