-- needs: positions/state.sql
-- Ways over the hexes of a map, found breadth first: communication of both sides in ddp (11.2, 11.3).
--
-- The map is a rectangle of cells, a margin of one around it, numbered from 1 row by row; so a step to one of
-- the six neighbours adds a fixed number. A way may begin in a cell that is closed: it never enters one.
-- Where only the ends of a way matter, a bit for each cell does, and all of them step at once.

drop type if exists ddp.grid cascade;
create type ddp.grid as (
  q0 integer,
  r0 integer,
  width integer,
  open boolean array,
  labels text array,
  cells varbit
);

comment on type ddp.grid is
'A map as cells: which may be entered, and their labels, null where there is no hex; or the open ones as bits.';

create or replace function ddp._cell(grid ddp.grid, q integer, r integer)
returns integer
language sql immutable parallel safe
return (r - grid.r0 + 1) * grid.width + (q - grid.q0 + 1) + 1;

comment on function ddp._cell(ddp.grid, integer, integer) is
'The number of the cell of a hex.';

create or replace function ddp._grid(map_id bigint, closed text[])
returns ddp.grid
language plpgsql stable parallel safe
as $$
#variable_conflict use_column
declare
  grid ddp.grid;
begin
  select
    min(hex.q),
    min(hex.r),
    max(hex.q) - min(hex.q) + 3
  into grid.q0, grid.r0, grid.width
  from public.hex
  where hex.map_id = _grid.map_id;
  select
    array_agg(cell.open),
    array_agg(cell.label)
  into grid.open, grid.labels
  from (
    select
      hex.label is not null and shut.label is null as open,
      hex.label
    from generate_series(grid.q0 - 1, grid.q0 + grid.width - 2) as across (q)
    cross join generate_series(
      grid.r0 - 1, (select max(hex.r) + 1 from public.hex where hex.map_id = _grid.map_id)
    ) as down (r)
    left join public.hex on hex.map_id = _grid.map_id and hex.q = across.q and hex.r = down.r
    left join (select distinct bar.label from unnest(closed) as bar (label)) as shut on shut.label = hex.label
    order by down.r, across.q
  ) as cell;
  return grid;
end
$$;

comment on function ddp._grid(bigint, text[]) is
'The cells of a map, of which those with these labels are closed.';

create or replace function ddp._spread(grid ddp.grid, starts integer[])
returns integer[]
language plpgsql immutable parallel safe
as $$
declare
  open boolean[] := grid.open;
  steps integer[] := array[-grid.width, 1 - grid.width, 1, grid.width, grid.width - 1, -1];
  back integer[] := array_fill(0, array[cardinality(open)]);
  queue integer[] := starts;
  head integer := 1;
  cell integer;
  beside integer;
  step integer;
begin
  foreach cell in array starts loop
    back[cell] := -1;
  end loop;
  while head <= cardinality(queue) loop
    cell := queue[head];
    head := head + 1;
    foreach step in array steps loop
      beside := cell + step;
      if open[beside] and back[beside] = 0 then
        back[beside] := cell;
        queue := queue || beside;
      end if;
    end loop;
  end loop;
  return back;
end
$$;

comment on function ddp._spread(ddp.grid, integer[]) is
'For every cell the one before it on a shortest way from the starts; -1 at a start, 0 where none leads.';

create or replace function ddp._way(grid ddp.grid, back integer[], cell integer)
returns text[]
language plpgsql immutable parallel safe
as $$
declare
  way text[] := '{}';
  at integer := cell;
begin
  while at > 0 loop
    way := grid.labels[at] || way;
    at := back[at];
  end loop;
  return way;
end
$$;

comment on function ddp._way(ddp.grid, integer[], integer) is
'The way that was found to a cell, both ends included.';

create or replace function ddp._cells(map_id bigint, closed text[])
returns ddp.grid
language plpgsql stable parallel safe
as $$
#variable_conflict use_column
declare
  grid ddp.grid;
  height integer;
  none varbit;
begin
  select
    min(hex.q),
    min(hex.r),
    max(hex.q) - min(hex.q) + 3,
    max(hex.r) - min(hex.r) + 3
  into grid.q0, grid.r0, grid.width, height
  from public.hex
  where hex.map_id = _cells.map_id;
  none := repeat('0', grid.width * height)::varbit;
  grid.cells := (
    select bit_or(set_bit(none, (hex.r - grid.r0 + 1) * grid.width + hex.q - grid.q0 + 1, 1))
    from public.hex
    where hex.map_id = _cells.map_id
      and not exists (select from unnest(closed) as bar (label) where bar.label = hex.label)
  );
  grid.cells := coalesce(grid.cells, none);
  return grid;
end
$$;

comment on function ddp._cells(bigint, text[]) is
'The cells of a map as bits, of which those with these labels are closed.';

create or replace function ddp._with_neighbours(cells varbit, width integer)
returns varbit
language sql immutable parallel safe
-- the margin around the map is closed, so that no step leads around its edge
return cells | (cells << 1) | (cells >> 1) | (cells << width) | (cells >> width)
| (cells << (width - 1)) | (cells >> (width - 1));

comment on function ddp._with_neighbours(varbit, integer) is
'Cells and those one step away.';

create or replace function ddp._flooded(grid ddp.grid, starts varbit)
returns varbit
language plpgsql immutable parallel safe
as $$
declare
  part varbit;
  grown varbit := starts;
begin
  loop
    part := grown;
    grown := ddp._with_neighbours(part, grid.width) & grid.cells;
    exit when grown = part;
  end loop;
  return part;
end
$$;

comment on function ddp._flooded(ddp.grid, varbit) is
'The open cells that ways from open cells lead to, these included.';

create or replace function ddp._parts(grid ddp.grid)
returns varbit[]
language plpgsql immutable parallel safe
as $$
declare
  none varbit := grid.cells & ~grid.cells;
  rest varbit := grid.cells;
  part varbit;
  parts varbit[] := '{}';
begin
  while rest <> none loop
    part := ddp._flooded(grid, set_bit(none, position(B'1' in rest) - 1, 1));
    parts := parts || part;
    rest := rest & ~part;
  end loop;
  return parts;
end
$$;

comment on function ddp._parts(ddp.grid) is
'The parts of the map that open cells join together.';
