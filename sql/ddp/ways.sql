-- needs: positions/state.sql
-- Ways over the hexes of a map, found breadth first: communication of both sides in ddp (11.2, 11.3).
--
-- The map is a rectangle of cells, a margin of one around it, numbered from 1 row by row; so a step to one of
-- the six neighbours adds a fixed number. A way may begin in a cell that is closed: it never enters one.

drop type if exists ddp.grid cascade;
create type ddp.grid as (
  q0 integer,
  r0 integer,
  width integer,
  open boolean array,
  labels text array
);

comment on type ddp.grid is
'A map as cells: which may be entered, and their labels; null where there is no hex.';

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

create or replace function ddp._parts(grid ddp.grid)
returns integer[]
language plpgsql immutable parallel safe
as $$
declare
  open boolean[] := grid.open;
  steps integer[] := array[-grid.width, 1 - grid.width, 1, grid.width, grid.width - 1, -1];
  parts integer[] := array_fill(0, array[cardinality(open)]);
  stack integer[];
  height integer;
  cell integer;
  step integer;
  n integer := 0;
begin
  for start in 1 .. cardinality(open) loop
    if open[start] and parts[start] = 0 then
      n := n + 1;
      parts[start] := n;
      stack := array_fill(0, array[cardinality(open)]);
      stack[1] := start;
      height := 1;
      while height > 0 loop
        cell := stack[height];
        height := height - 1;
        foreach step in array steps loop
          if open[cell + step] and parts[cell + step] = 0 then
            parts[cell + step] := n;
            height := height + 1;
            stack[height] := cell + step;
          end if;
        end loop;
      end loop;
    end if;
  end loop;
  return parts;
end
$$;

comment on function ddp._parts(ddp.grid) is
'For every open cell the number of the part of the map to which open cells join it; 0 for a closed one.';
