-- needs: lattice/cells.sql
-- Fields of fire in ddp (D-Day at Peleliu): 6.2, 6.23.
--
-- A position on the map has a printed field, its fire dots; who holds the position fires into it.

create or replace function ddp._field_of_fire(position_id bigint, q integer, r integer)
returns table (place text, unit text, label text, disrupted boolean)
language sql stable rows 2
as $$
  select
    place.code,
    enemy.code,
    hex.label,
    state.disrupted
  from public.position
  inner join public.map_feature as place on place.map_id = position.map_id and place.kind = 'position'
  inner join public.map_feature_hex as spot on spot.feature = place.id and spot.role = 'at'
  inner join public.unit as enemy
    on enemy.position_id = position.id
      and enemy.side = 'japan'
      and enemy.q = spot.q
      and enemy.r = spot.r
  inner join public.hex on hex.map_id = position.map_id and hex.q = spot.q and hex.r = spot.r
  cross join lateral (
    select
      coalesce((enemy.attributes ->> 'disrupted')::boolean, false) as disrupted,
      coalesce((enemy.attributes ->> 'tank')::boolean, false) as tank
  ) as state
  cross join lateral (
    select
      bool_or(dot.q = _field_of_fire.q and dot.r = _field_of_fire.r) as printed,
      -- 6.23: a tank adds the hexes adjacent to the printed field
      bool_or(lattice.distance(dot.q, dot.r, _field_of_fire.q, _field_of_fire.r) = 1) as beside
    from public.map_feature_hex as dot
    where dot.feature = place.id
      and dot.role in ('intense', 'steady')
  ) as dots
  where position.id = _field_of_fire.position_id
    and (dots.printed or (dots.beside and state.tank))
$$;

comment on function ddp._field_of_fire(bigint, integer, integer) is
'The Japanese units into whose field of fire a hex falls, disrupted ones as well (6.2, 6.23).';
