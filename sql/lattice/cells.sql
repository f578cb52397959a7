-- The lattice: hexes and hexsides as integers, and their exact geometry.
--
-- A hex is axial (q, r); its centre lies at (3q, 2r + q), its corners at (±2, 0) and
-- (±1, ±1) around that, y downward. On the doubled lattice a hex is the cell (2q, 2r)
-- and the hexside between two neighbours is the cell halfway: the sum of their
-- coordinates, odd in x or in y. Directions are 1 (up) to 6, clockwise.

create or replace function lattice.distance(q1 integer, r1 integer, q2 integer, r2 integer)
returns integer
language sql immutable parallel safe
return greatest(abs(q1 - q2), abs(r1 - r2), abs(q1 + r1 - q2 - r2));

comment on function lattice.distance(integer, integer, integer, integer) is
'Hexes from one hex to another: adjacent is 1.';

create or replace function lattice.center(q integer, r integer)
returns public.geometry
language sql immutable strict parallel safe
return public.st_makepoint(3 * q, 2 * r + q);

comment on function lattice.center(integer, integer) is
'The centre of a hex on the integer lattice.';

create or replace function lattice.hex(q integer, r integer)
returns public.geometry
language sql immutable strict parallel safe
-- one hex, moved: a fortieth of the time that it takes to draw one from its corners
return public.st_affine(
  'POLYGON ((2 0, 1 1, -1 1, -2 0, -1 -1, 1 -1, 2 0))'::public.geometry, 1, 0, 0, 1, 3 * q, 2 * r + q
);

comment on function lattice.hex(integer, integer) is
'The polygon of a hex on the integer lattice.';

create or replace function lattice.hexside(x integer, y integer)
returns public.geometry
language sql immutable strict parallel safe
return case
  when x % 2 = 0 and y % 2 = 0 then null
  when x % 2 = 0 then public.st_makeline(
    public.st_makepoint((3 * x - 2) / 2, (x + 2 * y) / 2),
    public.st_makepoint((3 * x + 2) / 2, (x + 2 * y) / 2)
  )
  when y % 2 = 0 then public.st_makeline(
    public.st_makepoint((3 * x + 1) / 2, (x + 2 * y - 1) / 2),
    public.st_makepoint((3 * x - 1) / 2, (x + 2 * y + 1) / 2)
  )
  else public.st_makeline(
    public.st_makepoint((3 * x - 1) / 2, (x + 2 * y - 1) / 2),
    public.st_makepoint((3 * x + 1) / 2, (x + 2 * y + 1) / 2)
  )
end;

comment on function lattice.hexside(integer, integer) is
'The line of the hexside that is the doubled cell (x, y); null where that cell is a hex.';

create or replace function lattice.side_hexes(x integer, y integer)
returns table (q1 integer, r1 integer, q2 integer, r2 integer)
language sql immutable parallel safe rows 1
begin atomic
  select
    (x - ex) / 2,
    (y - ey) / 2,
    (x + ex) / 2,
    (y + ey) / 2
  from (
    select
      abs(x % 2) as ex,
      case when x % 2 = 0 then abs(y % 2) else -abs(y % 2) end as ey
  ) as step
  where x % 2 <> 0 or y % 2 <> 0;
end;

comment on function lattice.side_hexes(integer, integer) is
'The two hexes that share the hexside (x, y).';

create or replace function lattice.neighbours(q integer, r integer)
returns table (direction integer, nq integer, nr integer)
language sql immutable parallel safe rows 6
begin atomic
  select
    step.direction,
    q + step.dq,
    r + step.dr
  from (
    values (1, 0, -1), (2, 1, -1), (3, 1, 0), (4, 0, 1), (5, -1, 1), (6, -1, 0)
  ) as step (direction, dq, dr);
end;

comment on function lattice.neighbours(integer, integer) is
'The six adjacent hexes with their direction, 1 (up) to 6 clockwise.';

create or replace function lattice.direction(dq integer, dr integer)
returns integer
language sql immutable parallel safe
return case
  when dq = 0 then case dr when -1 then 1 when 1 then 4 end
  when dq = 1 then case dr when -1 then 2 when 0 then 3 end
  when dq = -1 then case dr when 1 then 5 when 0 then 6 end
end;

comment on function lattice.direction(integer, integer) is
'The direction of an adjacent hex, 1 (up) to 6 clockwise; null where it is not adjacent.';

create or replace function lattice.step_q(direction integer)
returns integer
language sql immutable parallel safe
return (array[0, 1, 1, 0, -1, -1])[direction];

comment on function lattice.step_q(integer) is
'How q changes by a step in a direction.';

create or replace function lattice.step_r(direction integer)
returns integer
language sql immutable parallel safe
return (array[-1, -1, 0, 1, 1, 0])[direction];

comment on function lattice.step_r(integer) is
'How r changes by a step in a direction.';

create or replace function lattice.opposite(direction integer)
returns integer
language sql immutable parallel safe
return (direction + 2) % 6 + 1;

comment on function lattice.opposite(integer) is
'The direction back.';

create or replace function lattice.disc(q integer, r integer, radius integer)
returns table (dq integer, dr integer, hq integer, hr integer)
language sql immutable parallel safe rows 200
begin atomic
  select
    cell.dq,
    cell.dr,
    q + cell.dq,
    r + cell.dr
  from (
    select
      across.dq,
      down.dr
    from generate_series(-radius, radius) as across (dq),
      generate_series(
        greatest(-radius, -radius - across.dq), least(radius, radius - across.dq)
      ) as down (dr)
  ) as cell;
end;

comment on function lattice.disc(integer, integer, integer) is
'All hexes within a distance, the centre included, with their displacement.';

create or replace function lattice.ring(q integer, r integer, radius integer)
returns table (dq integer, dr integer, hq integer, hr integer)
language sql immutable parallel safe rows 48
begin atomic
  select
    cell.dq,
    cell.dr,
    cell.hq,
    cell.hr
  from lattice.disc(q, r, radius) as cell
  where lattice.distance(0, 0, cell.dq, cell.dr) = radius;
end;

comment on function lattice.ring(integer, integer, integer) is
'All hexes at just this distance.';

create or replace function lattice.is_chain(qs integer[], rs integer[])
returns boolean
language sql immutable strict parallel safe
return cardinality(qs) = cardinality(rs)
and cardinality(qs) > 1
and not exists (
  select
  from generate_series(2, cardinality(qs)) as step (n)
  where lattice.distance(qs[step.n - 1], rs[step.n - 1], qs[step.n], rs[step.n]) <> 1
);

comment on function lattice.is_chain(integer[], integer[]) is
'Whether hexes follow one another, each adjacent to the one before.';

create or replace function lattice.chain(qs integer[], rs integer[])
returns public.geometry
language sql immutable strict parallel safe
return (
  select public.st_makeline(lattice.center(hex.q, hex.r) order by hex.n)
  from unnest(qs, rs) with ordinality as hex (q, r, n)
);

comment on function lattice.chain(integer[], integer[]) is
'The line through the centres of a chain of hexes.';

create or replace function lattice.is_snapped(geom public.geometry)
returns boolean
language sql immutable strict parallel safe
return public.st_equals(geom, public.st_snaptogrid(geom, 1.0 / 1024))
and public.st_orderingequals(geom, public.st_snaptogrid(geom, 1.0 / 1024));

comment on function lattice.is_snapped(public.geometry) is
'Whether every point of drawn artwork lies on the grid of 1/1024 lattice unit.';
