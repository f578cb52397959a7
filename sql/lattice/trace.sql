-- needs: lattice/cells.sql
-- What a straight line from centre to centre passes, decided by PostGIS on the lattice; beyond 24 hexes by whole numbers.
--
-- Rows of a trace, all between the two end hexes, (x, y) being doubled cells:
--   hex    passed through its inside
--   spine  a hexside that the line runs along
--   side   a hexside crossed at one inner point
--   touch  a hex met in a single point
--   end    a hexside met only at one of its ends
-- (q1, r1) and (q2, r2) are the two hexes of a hexside; of a hex, twice itself. `crossed`
-- tells of a hexside whether the line goes from one of its hexes into the other there,
-- be it through an inner point or through its end; `of_start` and `of_target` whether it
-- is a side of an end hex.
-- `direction` is of a hexside the one from its first hex to its second; of a hex, where the
-- line comes from, if it comes over an inner point of a side. That side is one that
-- `leads_in`: who asks the hex what is on the side it is entered by can pass it over.
-- `enter` and `leave` are numerators over `den` (0 at the start, `den` at the target):
-- exact rational positions along the line.

create or replace function lattice._span(
  dq integer, dr integer, x integer, y integer, out enter bigint, out leave bigint, out den bigint
)
language sql immutable strict parallel safe
begin atomic
  -- Around its centre a hex is |2q+r| ≤ 1, |q+2r| ≤ 1 and |q−r| ≤ 1, each band between
  -- two opposite sides; a hexside is what its two hexes' bands have in common. Along the
  -- line the three grow with f. All is doubled, so that hexsides have whole numbers too.
  with step as (
    select
      abs(x % 2) as ex,
      case when x % 2 = 0 then abs(y % 2) else -abs(y % 2) end as ey
  ),
  band as (
    select
      (2 * dq + dr)::bigint as f,
      2 * x + y as middle,
      2 - abs(2 * step.ex + step.ey) as half
    from step
    union all
    select
      dq + 2 * dr,
      x + 2 * y,
      2 - abs(step.ex + 2 * step.ey)
    from step
    union all
    select
      dq - dr,
      x - y,
      2 - abs(step.ex - step.ey)
    from step
  ),
  common as (
    select
      2 * lcm(
        lcm(
          coalesce(nullif(abs(2 * dq + dr), 0), 1)::bigint, coalesce(nullif(abs(dq + 2 * dr), 0), 1)::bigint
        ),
        coalesce(nullif(abs(dq - dr), 0), 1)::bigint
      ) as den
  )
  select
    max((band.middle - sign(band.f)::bigint * band.half) * (common.den / (2 * band.f))),
    min((band.middle + sign(band.f)::bigint * band.half) * (common.den / (2 * band.f))),
    min(common.den)
  from band, common
  where band.f <> 0;
end;

comment on function lattice._span(integer, integer, integer, integer) is
'Where the line from (0, 0) to (dq, dr) enters and leaves the doubled cell (x, y).';

create or replace function lattice._literal(dq integer, dr integer)
returns table (
  kind text,
  x integer,
  y integer,
  q1 integer,
  r1 integer,
  q2 integer,
  r2 integer,
  crossed boolean,
  of_start boolean,
  of_target boolean,
  enter bigint,
  leave bigint,
  den bigint
)
language sql immutable strict parallel safe rows 60
begin atomic
  with ray as (
    select public.st_makeline(lattice.center(0, 0), lattice.center(dq, dr)) as line
  ),
  cell as (
    select
      across.x,
      down.y,
      across.x % 2 = 0 and down.y % 2 = 0 as is_hex
    from generate_series(least(0, 2 * dq) - 2, greatest(0, 2 * dq) + 2) as across (x),
      -- of each column the strip alone, or a long line would look at the square of its length;
      -- a column along the line (dq is 0, the quotients are null) is within it as a whole
      lateral (
        select
          (dr::bigint * across.x - 4 * lattice.distance(0, 0, dq, dr)) / nullif(dq, 0) as one,
          (dr::bigint * across.x + 4 * lattice.distance(0, 0, dq, dr)) / nullif(dq, 0) as other
      ) as strip,
      generate_series(
        greatest(least(0, 2 * dr) - 2, least(strip.one, strip.other) - 1)::integer,
        least(greatest(0, 2 * dr) + 2, greatest(strip.one, strip.other) + 1)::integer
      ) as down (y)
    -- a strip wider than any cell the line can meet
    where abs(dq::bigint * down.y - dr::bigint * across.x)
      <= 4 * lattice.distance(0, 0, dq, dr)
      and (across.x, down.y) not in ((0, 0), (2 * dq, 2 * dr))
  ),
  met as (
    select
      cell.x,
      cell.y,
      cell.is_hex,
      public.st_relate(ray.line, shape.geom) as matrix
    from ray, cell,
      lateral (
        select
          case
            when cell.is_hex then lattice.hex(cell.x / 2, cell.y / 2)
            else lattice.hexside(cell.x, cell.y)
          end as geom
      ) as shape
    where public.st_intersects(ray.line, shape.geom)
  ),
  named as (
    select
      met.x,
      met.y,
      case
        when met.is_hex and met.matrix like '1%' then 'hex'
        when met.is_hex and met.matrix like 'F0%' then 'touch'
        when met.is_hex then null
        when met.matrix like '1%' then 'spine'
        when met.matrix like '0%' then 'side'
        else 'end'
      end as kind
    from met
  ),
  passed as (
    select
      named.x,
      named.y
    from named
    where named.kind = 'hex'
    union all
    values (0, 0), (2 * dq, 2 * dr)
  ),
  placed as (
    select
      named.kind,
      named.x,
      named.y,
      coalesce(side.q1, named.x / 2) as q1,
      coalesce(side.r1, named.y / 2) as r1,
      coalesce(side.q2, named.x / 2) as q2,
      coalesce(side.r2, named.y / 2) as r2
    from named
    left join lateral lattice.side_hexes(named.x, named.y) as side on true
    where named.kind is not null
  )
  select
    placed.kind,
    placed.x,
    placed.y,
    placed.q1,
    placed.r1,
    placed.q2,
    placed.r2,
    placed.kind in ('side', 'end')
    and (2 * placed.q1, 2 * placed.r1) in (select passed.x, passed.y from passed)
    and (2 * placed.q2, 2 * placed.r2) in (select passed.x, passed.y from passed),
    (placed.q1, placed.r1) = (0, 0) or (placed.q2, placed.r2) = (0, 0),
    (placed.q1, placed.r1) = (dq, dr) or (placed.q2, placed.r2) = (dq, dr),
    span.enter,
    span.leave,
    span.den
  from placed, lateral lattice._span(dq, dr, placed.x, placed.y) as span;
end;

comment on function lattice._literal(integer, integer) is
'The trace of a displacement as the literal spatial query: ST_Relate of the line with every cell near it.';

create or replace function lattice._reckoned(dq integer, dr integer)
returns table (
  kind text,
  x integer,
  y integer,
  q1 integer,
  r1 integer,
  q2 integer,
  r2 integer,
  crossed boolean,
  of_start boolean,
  of_target boolean,
  enter bigint,
  leave bigint,
  den bigint
)
language plpgsql immutable strict parallel safe rows 60
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  -- how the three bands of a hex, |2q+r|, |q+2r| and |q−r| ≤ 1, grow along the line; doubled, as all here
  a bigint := 2 * _reckoned.dq + _reckoned.dr;
  b bigint := _reckoned.dq + 2 * _reckoned.dr;
  c bigint := _reckoned.dq - _reckoned.dr;
  common bigint := 2 * lcm(lcm(coalesce(nullif(abs(a), 0), 1), coalesce(nullif(abs(b), 0), 1)), coalesce(nullif(abs(c), 0), 1));
  strip integer := 2 * lattice.distance(0, 0, _reckoned.dq, _reckoned.dr);
begin
  return query
  with cell as (
    select
      across.x,
      down.y,
      abs(across.x % 2) as ex,
      case when across.x % 2 = 0 then abs(down.y % 2) else -abs(down.y % 2) end as ey
    from generate_series(least(0, 2 * _reckoned.dq) - 2, greatest(0, 2 * _reckoned.dq) + 2) as across (x)
    cross join lateral (
      select
        (_reckoned.dr::bigint * across.x - strip) / nullif(_reckoned.dq, 0) as one,
        (_reckoned.dr::bigint * across.x + strip) / nullif(_reckoned.dq, 0) as other
    ) as bound
    cross join lateral generate_series(
      greatest(least(0, 2 * _reckoned.dr) - 2, least(bound.one, bound.other) - 1)::integer,
      least(greatest(0, 2 * _reckoned.dr) + 2, greatest(bound.one, bound.other) + 1)::integer
    ) as down (y)
    where (across.x, down.y) not in ((0, 0), (2 * _reckoned.dq, 2 * _reckoned.dr))
  ),
  band as (
    select
      cell.x,
      cell.y,
      cell.ex = 0 and cell.ey = 0 as is_hex,
      cell.ex,
      cell.ey,
      2 * cell.x + cell.y as m1,
      cell.x + 2 * cell.y as m2,
      cell.x - cell.y as m3,
      2 - abs(2 * cell.ex + cell.ey) as h1,
      2 - abs(cell.ex + 2 * cell.ey) as h2,
      2 - abs(cell.ex - cell.ey) as h3
    from cell
    offset 0
  ),
  met as (
    select
      band.*,
      greatest(
        (band.m1 - sign(a)::bigint * band.h1) * (common / nullif(2 * a, 0)),
        (band.m2 - sign(b)::bigint * band.h2) * (common / nullif(2 * b, 0)),
        (band.m3 - sign(c)::bigint * band.h3) * (common / nullif(2 * c, 0))
      ) as enter,
      least(
        (band.m1 + sign(a)::bigint * band.h1) * (common / nullif(2 * a, 0)),
        (band.m2 + sign(b)::bigint * band.h2) * (common / nullif(2 * b, 0)),
        (band.m3 + sign(c)::bigint * band.h3) * (common / nullif(2 * c, 0))
      ) as leave,
      -- along a band it is within it, or on its rim
      (a <> 0 or abs(band.m1) <= band.h1) and (b <> 0 or abs(band.m2) <= band.h2) and (c <> 0 or abs(band.m3) <= band.h3) as near,
      (a <> 0 or abs(band.m1) < band.h1) and (b <> 0 or abs(band.m2) < band.h2) and (c <> 0 or abs(band.m3) < band.h3) as inside
    from band
    offset 0
  ),
  named as materialized (
    select
      met.x,
      met.y,
      met.enter,
      met.leave,
      case
        when met.is_hex and met.enter = met.leave then 'touch'
        when met.is_hex then case when met.inside then 'hex' end
        when met.enter < met.leave then 'spine'
        -- at an end of the side the two bands across it end, too
        when (met.h1 = 0 or abs(a * met.enter * 2 - met.m1 * common) < met.h1 * common)
          and (met.h2 = 0 or abs(b * met.enter * 2 - met.m2 * common) < met.h2 * common)
          and (met.h3 = 0 or abs(c * met.enter * 2 - met.m3 * common) < met.h3 * common)
          then 'side'
        else 'end'
      end as kind,
      (met.x - met.ex) / 2 as q1,
      (met.y - met.ey) / 2 as r1,
      (met.x + met.ex) / 2 as q2,
      (met.y + met.ey) / 2 as r2
    from met
    where met.near
      and met.enter <= met.leave
      and met.leave >= 0
      and met.enter <= common
  ),
  passed as materialized (
    select named.q1 as q, named.r1 as r from named where named.kind = 'hex'
    union all
    values (0, 0), (_reckoned.dq, _reckoned.dr)
  )
  select
    named.kind,
    named.x,
    named.y,
    named.q1,
    named.r1,
    named.q2,
    named.r2,
    named.kind in ('side', 'end')
    and (named.q1, named.r1) in (select passed.q, passed.r from passed)
    and (named.q2, named.r2) in (select passed.q, passed.r from passed),
    (named.q1, named.r1) = (0, 0) or (named.q2, named.r2) = (0, 0),
    (named.q1, named.r1) = (_reckoned.dq, _reckoned.dr) or (named.q2, named.r2) = (_reckoned.dq, _reckoned.dr),
    named.enter,
    named.leave,
    common
  from named
  where named.kind is not null;
end
$$;

comment on function lattice._reckoned(integer, integer) is
'The trace of a displacement by whole numbers alone, for lines longer than those that lattice.trace has; as _literal.';

create or replace function lattice._reckoned_hexes(dq integer, dr integer)
returns table (kind text, q integer, r integer, enter bigint, leave bigint, den bigint)
language plpgsql immutable strict parallel safe rows 40
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  -- as in lattice._reckoned, but not doubled
  a bigint := 2 * _reckoned_hexes.dq + _reckoned_hexes.dr;
  b bigint := _reckoned_hexes.dq + 2 * _reckoned_hexes.dr;
  c bigint := _reckoned_hexes.dq - _reckoned_hexes.dr;
  common bigint := 2 * lcm(lcm(coalesce(nullif(abs(a), 0), 1), coalesce(nullif(abs(b), 0), 1)), coalesce(nullif(abs(c), 0), 1));
  per_a bigint := common / nullif(a, 0);
  per_b bigint := common / nullif(b, 0);
  per_c bigint := common / nullif(c, 0);
  -- the hexes that a line meets are within one of it, along the axis that it goes least far along
  steep boolean := abs(_reckoned_hexes.dr) > abs(_reckoned_hexes.dq);
  long integer := case when steep then _reckoned_hexes.dr else _reckoned_hexes.dq end;
  short integer := case when steep then _reckoned_hexes.dq else _reckoned_hexes.dr end;
begin
  return query
  select
    case when met.enter = met.leave then 'touch' when met.inside then 'hex' else 'spine' end,
    met.q,
    met.r,
    met.enter,
    met.leave,
    common
  from (
    select
      place.q,
      place.r,
      greatest(
        (2 * place.q + place.r - sign(a)::bigint) * per_a,
        (place.q + 2 * place.r - sign(b)::bigint) * per_b,
        (place.q - place.r - sign(c)::bigint) * per_c
      ) as enter,
      least(
        (2 * place.q + place.r + sign(a)::bigint) * per_a,
        (place.q + 2 * place.r + sign(b)::bigint) * per_b,
        (place.q - place.r + sign(c)::bigint) * per_c
      ) as leave,
      (a <> 0 or abs(2 * place.q + place.r) <= 1)
      and (b <> 0 or abs(place.q + 2 * place.r) <= 1)
      and (c <> 0 or abs(place.q - place.r) <= 1) as near,
      (a <> 0 or abs(2 * place.q + place.r) < 1)
      and (b <> 0 or abs(place.q + 2 * place.r) < 1)
      and (c <> 0 or abs(place.q - place.r) < 1) as inside
    from (
      select
        case when steep then beside.n else along.n end as q,
        case when steep then along.n else beside.n end as r
      from generate_series(least(0, long) - 1, greatest(0, long) + 1) as along (n)
      cross join lateral generate_series(
        floor(short * along.n::numeric / long)::integer - 1, ceil(short * along.n::numeric / long)::integer + 1
      ) as beside (n)
    ) as place
    where (place.q, place.r) not in ((0, 0), (_reckoned_hexes.dq, _reckoned_hexes.dr))
    offset 0
  ) as met
  where met.near
    and met.enter <= met.leave
    and met.leave >= 0
    and met.enter <= common;
end
$$;

comment on function lattice._reckoned_hexes(integer, integer) is
'The hexes that a line passes, meets in a corner or runs along (a spine, both its hexes), between its ends; by whole numbers.';

create or replace function lattice._kind_order(kind text)
returns integer
language sql immutable strict parallel safe
return array_position(array['side', 'end', 'touch', 'spine', 'hex'], kind);

comment on function lattice._kind_order(text) is
'Which of several cells that a line meets at the same point is told first.';

create or replace function lattice.build_trace(radius integer)
returns bigint
language sql volatile strict
as $$
  -- One sextant by whole numbers, which a test compares with the literal query, the other five by rotation:
  -- (q, r) → (−r, q + r).
  with recursive sextant as (
    select
      0 as turn,
      step.dq,
      step.dr,
      cell.*
    from lattice.disc(0, 0, radius) as step,
      lateral lattice._reckoned(step.dq, step.dr) as cell
    where step.dq > 0 and step.dr >= 0
    union all
    select
      turn + 1,
      -dr,
      dq + dr,
      kind,
      -y,
      x + y,
      -r1,
      q1 + r1,
      -r2,
      q2 + r2,
      crossed,
      of_start,
      of_target,
      enter,
      leave,
      den
    from sextant
    where turn < 5
  ),
  filled as (
    insert into lattice.trace (dq, dr, n, kind, x, y, q1, r1, q2, r2, crossed, of_start, of_target, enter, leave, den)
    select
      dq,
      dr,
      row_number() over (
        partition by dq, dr
        order by enter, leave, lattice._kind_order(kind), x, y
      ),
      kind,
      x,
      y,
      least(q1, q2),
      case when (q1, r1) <= (q2, r2) then r1 else r2 end,
      greatest(q1, q2),
      case when (q1, r1) <= (q2, r2) then r2 else r1 end,
      crossed,
      of_start,
      of_target,
      enter,
      leave,
      den
    from sextant
    returning 1
  )
  select count(*) from filled
$$;

comment on function lattice.build_trace(integer) is
'Fill lattice.trace with every displacement up to a range; used by the migration that makes the table. Another adds the directions.';

create or replace function lattice.line(q1 integer, r1 integer, q2 integer, r2 integer)
returns table (
  n bigint,
  kind text,
  x integer,
  y integer,
  q1 integer,
  r1 integer,
  q2 integer,
  r2 integer,
  crossed boolean,
  of_start boolean,
  of_target boolean,
  enter bigint,
  leave bigint,
  den bigint
)
language sql stable parallel safe rows 30
as $$
  select
    trace.n,
    trace.kind,
    2 * line.q1 + trace.x,
    2 * line.r1 + trace.y,
    line.q1 + trace.q1,
    line.r1 + trace.r1,
    line.q1 + trace.q2,
    line.r1 + trace.r2,
    trace.crossed,
    trace.of_start,
    trace.of_target,
    trace.enter,
    trace.leave,
    trace.den
  from lattice.trace
  where trace.dq = line.q2 - line.q1
    and trace.dr = line.r2 - line.r1
  union all
  select
    row_number() over (
      order by cell.enter, cell.leave, lattice._kind_order(cell.kind), cell.x, cell.y
    ),
    cell.kind,
    2 * line.q1 + cell.x,
    2 * line.r1 + cell.y,
    line.q1 + cell.q1,
    line.r1 + cell.r1,
    line.q1 + cell.q2,
    line.r1 + cell.r2,
    cell.crossed,
    cell.of_start,
    cell.of_target,
    cell.enter,
    cell.leave,
    cell.den
  from lattice._reckoned(line.q2 - line.q1, line.r2 - line.r1) as cell
  where lattice.distance(line.q1, line.r1, line.q2, line.r2) > 24
  order by 1
$$;

comment on function lattice.line(integer, integer, integer, integer) is
'What the line from centre to centre passes between its two ends, in order of entry: hex, spine, side, touch, end.';
