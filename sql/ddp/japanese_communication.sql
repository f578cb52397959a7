-- needs: lattice/cells.sql, ddp/control.sql, ddp/spots.sql, ddp/ways.sql
-- Japanese communication in ddp (D-Day at Peleliu): 11.2, 11.21, 18.36.

create or replace function ddp._japanese_hindrances(state positions.state, holders ddp.occupant[])
returns table (label text, n integer, rule text, why text)
language sql stable parallel safe rows 300
as $$
  select unit.label, 1, '11.2', format('%s stands there', unit.code)
  from ddp._us_units(state) as unit
  union all
  select
    hex.label,
    2,
    '11.2',
    case when hex.terrain = 'swamp' then 'swamp without a road' else format('water (%s)', hex.terrain) end
  from public.hex
  where hex.map_id = state.map_id
    and hex.terrain in ('shallow', 'sea', 'swamp')
    and not ddp._ridge(state.conditions)
    and not (
      hex.terrain = 'swamp'
      and exists (
        select
        from public.path
        cross join unnest(path.qs, path.rs) as passed (q, r)
        where path.map_id = state.map_id and path.kind = 'road' and passed.q = hex.q and passed.r = hex.r
      )
    )
  union all
  select beach.label, 2, '11.2', 'a US landing beach hex'
  from ddp._landing_beaches(state.map_id) as beach
  where not ddp._ridge(state.conditions)
  union all
  select hex.label, 3, '11.1', format('%s controls it', hex.by)
  from ddp._controlled(state) as hex
  -- 11.21: a Japanese unit frees its own hex
  where (hex.q, hex.r) not in (select held.q, held.r from unnest(holders) as held where not held.fortification)
$$;

comment on function ddp._japanese_hindrances(positions.state, ddp.occupant[]) is
'Everything that bars hexes to Japanese communication paths, by priority (11.2, 11.21).';

create or replace function ddp._japanese_bars(state positions.state)
returns table (label text, rule text, why text)
language sql stable parallel safe rows 300
as $$
  select distinct on (barred.label)
    barred.label,
    barred.rule,
    barred.why
  from ddp._japanese_hindrances(state, array(select held from ddp._occupants(state) as held)) as barred
  order by barred.label, barred.n, barred.why
$$;

comment on function ddp._japanese_bars(positions.state) is
'The hexes that no Japanese communication path enters, each with the first reason (11.2, 11.21).';

create or replace function ddp._japanese_grid(state positions.state, holders ddp.occupant[])
returns ddp.grid
language plpgsql stable parallel safe
as $$
begin
  return ddp._grid(state.map_id, array(select bar.label from ddp._japanese_hindrances(state, holders) as bar));
end
$$;

comment on function ddp._japanese_grid(positions.state, ddp.occupant[]) is
'The map as a Japanese communication path sees it.';

create or replace function ddp._held_places(state positions.state, holders ddp.occupant[])
returns table (place text, q integer, r integer, label text, zone boolean)
language sql stable parallel safe rows 40
as $$
  select
    held.place,
    held.q,
    held.r,
    held.label,
    exists (
      select
      from public.map_feature as area
      inner join public.map_feature_hex as cell on cell.feature = area.id
      where area.map_id = state.map_id
        and area.kind = 'zone'
        and area.code = 'Japanese Zone'
        and cell.q = held.q
        and cell.r = held.r
    )
  from unnest(holders) as held
  where held.place is not null
    -- 13.43: a provisional position is one for a counterattack alone
    and not held.provisional
  group by held.place, held.q, held.r, held.label
$$;

comment on function ddp._held_places(positions.state, ddp.occupant[]) is
'The Japanese-occupied position hexes, and which of them lie in the Japanese Zone (11.2).';

drop type if exists ddp.link cascade;
create type ddp.link as (
  place text,
  way text array
);

comment on type ddp.link is
'Another occupied position and a shortest communication path to it.';

create or replace function ddp._links(
  state positions.state, holders ddp.occupant[], grid ddp.grid, own text, starts integer[]
)
returns setof ddp.link
language plpgsql stable parallel safe rows 20
as $$
#variable_conflict use_column
declare
  back integer[] := ddp._spread(grid, starts);
begin
  return query
  select distinct on (found.place)
    found.place,
    found.way
  from (
    select
      other.place,
      ddp._way(grid, back, ddp._cell(grid, other.q, other.r)) as way
    from ddp._held_places(state, holders) as other
    where other.place is distinct from own
      and back[ddp._cell(grid, other.q, other.r)] > 0
      and (other.zone or not ddp._ridge(state.conditions))
  ) as found
  order by found.place, cardinality(found.way), found.way;
end
$$;

comment on function ddp._links(positions.state, ddp.occupant[], ddp.grid, text, integer[]) is
'The other occupied positions that paths from these cells reach; on Bloody Nose Ridge those in the Japanese Zone (11.2, 18.36).';

create or replace function ddp._in_zone(map_id bigint, q integer, r integer)
returns boolean
language plpgsql stable parallel safe
as $$
begin
  return exists (
    select
    from public.map_feature as area
    inner join public.map_feature_hex as cell on area.id = cell.feature
    where area.map_id = _in_zone.map_id
      and area.kind = 'zone'
      and area.code = 'Japanese Zone'
      and cell.q = _in_zone.q
      and cell.r = _in_zone.r
  );
end
$$;

comment on function ddp._in_zone(bigint, integer, integer) is
'Whether a hex lies in the Japanese Zone of Bloody Nose Ridge (18.36).';

create or replace function ddp._japanese_communication(state positions.state, spots ddp.spot[], holders ddp.occupant[])
returns table (
  place text, id text, q integer, r integer, label text, occupied boolean, in_communication boolean, reaches text[]
)
language plpgsql stable parallel safe rows 40
as $$
#variable_conflict use_column
declare
  grid ddp.grid := ddp._cells(
    state.map_id, array(select bar.label from ddp._japanese_hindrances(state, holders) as bar)
  );
  none varbit := grid.cells & ~grid.cells;
  parts varbit[] := ddp._parts(grid);
  ridge boolean := ddp._ridge(state.conditions);
  ours text[] := array(select unit.label from ddp._us_units(state) as unit);
begin
  return query
  with held as materialized (
    select
      one.place,
      one.q,
      one.r,
      one.zone,
      ddp._cell(grid, one.q, one.r) as cell
    from ddp._held_places(state, holders) as one
  ),

  spot as materialized (
    select
      one.*,
      exists (select from held where held.q = one.q and held.r = one.r) as occupied,
      -- the parts of the map that a path from here enters
      (
        select bit_or(part.cells)
        from unnest(parts) as part (cells)
        where part.cells & ddp._with_neighbours(set_bit(none, ddp._cell(grid, one.q, one.r) - 1, 1), grid.width) <> none
      ) as near
    from unnest(spots) as one
    where not one.provisional
  ),

  traced as (
    select
      spot.*,
      array(
        select distinct held.place
        from held
        where get_bit(spot.near, held.cell - 1) = 1
          and held.place <> spot.place
          and (held.zone or not ridge)
          -- a hex that US units alone hold is nobody's to trace from
          and (spot.occupied or spot.label <> all(ours))
        order by held.place
      ) as found
    from spot
  )

  select
    traced.place,
    traced.id,
    traced.q,
    traced.r,
    traced.label,
    traced.occupied,
    case
      when not ridge then cardinality(traced.found) >= 2
      else (traced.occupied and ddp._in_zone(state.map_id, traced.q, traced.r)) or cardinality(traced.found) > 0
    end,
    traced.found
  from traced
  order by traced.label;
end
$$;

comment on function ddp._japanese_communication(positions.state, ddp.spot[], ddp.occupant[]) is
'Every position hex: who is there, whether it is in Japanese communication, and which positions it reaches (11.2, 18.36), where
position hexes and their occupants are known.';

create or replace function ddp._japanese_communication(state positions.state)
returns table (
  place text, id text, q integer, r integer, label text, occupied boolean, in_communication boolean, reaches text[]
)
language plpgsql stable parallel safe rows 40
as $$
#variable_conflict use_column
declare
  spots ddp.spot[] := array(select spot from ddp._spots(state.map_id) as spot);
begin
  return query
  select one.*
  from ddp._japanese_communication(state, spots, array(select held from ddp._occupants(state, spots) as held)) as one;
end
$$;

comment on function ddp._japanese_communication(positions.state) is
'Every position hex: who is there, whether it is in Japanese communication, and which positions it reaches (11.2, 18.36).';
