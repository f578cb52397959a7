-- A search by least cost over numbered cells, for every game that asks where a unit can go.

create or replace function positions._wave(
  origin integer, spent integer, allowance integer, starts integer[], goals integer[], prices integer[], last boolean[], cells integer
)
returns table (n integer, halves integer, previous integer)
language plpgsql immutable rows 100
as $$
#variable_conflict use_variable
declare
  far constant integer := 1000000;
  least_cost integer[] := array_fill(far, array[cells]);
  came_from integer[] := array_fill(0, array[cells]);
  first_leg integer[] := array_fill(0, array[cells + 1]);
  done boolean[] := array_fill(false, array[cells]);
  fresh boolean;
  cell integer;
  price integer;
begin
  -- legs are sorted by their start: those of a cell lie between two marks
  for i in reverse coalesce(cardinality(starts), 0) .. 1 loop
    first_leg[starts[i]] := i;
  end loop;
  least_cost[origin] := spent;
  for now in spent .. allowance loop
    -- again where a step was free
    loop
      fresh := false;
      foreach cell in array array_positions(least_cost, now) loop
        continue when done[cell];
        done[cell] := true;
        fresh := true;
        continue when first_leg[cell] = 0 or (last[cell] and cell <> origin);
        for i in first_leg[cell] .. cardinality(starts) loop
          exit when starts[i] <> cell;
          price := now + prices[i];
          if price <= allowance and price < least_cost[goals[i]] then
            least_cost[goals[i]] := price;
            came_from[goals[i]] := cell;
          end if;
        end loop;
      end loop;
      exit when not fresh;
    end loop;
  end loop;
  return query
  select
    found.n::integer,
    found.halves,
    nullif(came_from[found.n], 0)
  from unnest(least_cost) with ordinality as found (halves, n)
  where found.halves < far;
end
$$;

comment on function positions._wave(integer, integer, integer, integer[], integer[], integer[], boolean[], integer) is
'Least cost from a cell to every cell within the allowance, and the cell before it; in a last cell a way ends.';
