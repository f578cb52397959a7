-- needs: bob/pieces.sql, positions/place.sql, rulings/step.sql
-- Areas of Control, control of hexes and the Rout Edge in bob (Band of Brothers): 16.1, 18.0, 65.3, bob-52.

create or replace function bob._row(q integer, r integer)
returns integer
language sql immutable parallel safe
return floor((2 * r + q + 1) / 2.0)::integer;

comment on function bob._row(integer, integer) is
'The zig-zag row of a hex: A7, B6 and C7 are of one row (65.3).';

create or replace function bob._edge_hexes(state positions.state, side text)
returns table (q integer, r integer)
language sql stable rows 20
as $$
  with edge as (
    select state.conditions -> 'rout_edge' -> _edge_hexes.side as told
  ),
  placed as materialized (
    select
      hex.q,
      hex.r,
      hex.label,
      bob._row(hex.q, hex.r) as line,
      min(2 * hex.r + hex.q) over (partition by hex.q) as top,
      max(2 * hex.r + hex.q) over (partition by hex.q) as bottom,
      min(hex.q) over () as left_q,
      max(hex.q) over () as right_q
    from public.hex
    where hex.map_id = state.map_id
  )
  select
    placed.q,
    placed.r
  from placed
  cross join edge
  where case
    when jsonb_typeof(edge.told) = 'array' then edge.told ? placed.label
    when edge.told #>> '{}' = 'north' then 2 * placed.r + placed.q = placed.top
    when edge.told #>> '{}' = 'south' then 2 * placed.r + placed.q = placed.bottom
    when edge.told #>> '{}' = 'west' then placed.q = placed.left_q
    when edge.told #>> '{}' = 'east' then placed.q = placed.right_q
    else false
  end
$$;

comment on function bob._edge_hexes(positions.state, text) is
'The hexes of a side''s Rout Edge, as the conditions name it; none where they do not.';

create or replace function bob._edge_distances(state positions.state, side text)
returns table (q integer, r integer, label text, away integer)
language sql stable rows 200
as $$
  with edge as materialized (
    select * from bob._edge_hexes(state, _edge_distances.side)
  ),
  told as (
    select
      state.conditions -> 'rout_edge' -> _edge_distances.side #>> '{}' as way,
      -- bob-52 b, and an edge by its hexes: hexes to the nearest of them
      state.readings ->> 'bob-52' = 'b'
      or jsonb_typeof(state.conditions -> 'rout_edge' -> _edge_distances.side) = 'array' as by_hexes
  ),
  ends as (
    select
      min(bob._row(hex.q, hex.r)) as top,
      max(bob._row(hex.q, hex.r)) as bottom,
      min(hex.q) as left_q,
      max(hex.q) as right_q
    from public.hex
    where hex.map_id = state.map_id
  )
  select
    hex.q,
    hex.r,
    hex.label,
    case
      when told.by_hexes then (
        select min(lattice.distance(hex.q, hex.r, edge.q, edge.r)) from edge
      )
      when told.way = 'north' then bob._row(hex.q, hex.r) - ends.top
      when told.way = 'south' then ends.bottom - bob._row(hex.q, hex.r)
      when told.way = 'west' then hex.q - ends.left_q
      when told.way = 'east' then ends.right_q - hex.q
    end
  from public.hex
  cross join told
  cross join ends
  where hex.map_id = state.map_id
    and told.way is not null
$$;

comment on function bob._edge_distances(positions.state, text) is
'How far every hex is from a side''s Rout Edge, in rows or in hexes (bob-52); no row where the edge is not told.';

create or replace function bob._edge_distance(state positions.state, side text, q integer, r integer)
returns integer
language sql stable
as $$
  select found.away
  from bob._edge_distances(state, _edge_distance.side) as found
  where found.q = _edge_distance.q and found.r = _edge_distance.r
$$;

comment on function bob._edge_distance(positions.state, text, integer, integer) is
'How far a hex is from a side''s Rout Edge; null where the edge is not told.';

create or replace function bob._area_of_control(state positions.state, side text)
returns table (q integer, r integer, label text, friends integer, foes integer, held boolean)
language sql stable rows 100
as $$
  with away as materialized (
    select * from bob._edge_distances(state, _area_of_control.side)
  ),
  unit as materialized (
    select
      piece.side = _area_of_control.side as ours,
      away.away
    from bob._pieces(state.position_id) as piece
    inner join away on away.q = piece.q and away.r = piece.r
    where not piece.mounted
  ),
  counted as (
    select
      away.q,
      away.r,
      away.label,
      (select count(*) from unit where unit.ours and unit.away > away.away)::integer as friends,
      (select count(*) from unit where not unit.ours and unit.away < away.away)::integer as foes
    from away
  )
  select
    counted.*,
    -- 16.1: two of one's own farther off, or the only one left; not two enemies nearer
    (counted.friends >= 2 or (counted.friends = 1 and (select count(*) from unit where unit.ours) = 1))
    and counted.foes < 2
  from counted
$$;

comment on function bob._area_of_control(positions.state, text) is
'Every hex with the units that count for and against a side''s Area of Control, and whether it is in it (16.1).';

create or replace function bob.area_of_control(
  position_id bigint, side text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 4
as $$
declare
  state positions.state;
  hexes jsonb;
  refused integer;
  told boolean;
begin
  select * into state from positions.state(area_of_control.position_id, area_of_control.conditions, area_of_control.policy);
  told := coalesce(state.conditions -> 'rout_edge' ? area_of_control.side, false);
  select
    coalesce(jsonb_agg(area.label order by area.q, area.r) filter (where area.held), '[]'),
    count(*) filter (where not area.held and area.foes >= 2)
  into hexes, refused
  from bob._area_of_control(state, area_of_control.side) as area;
  if not told then
    return next row(
      '16.1', null, null, 'unknown', 'the Rout Edge of ' || area_of_control.side, null, null, null, null
    )::rulings.ledger_step;
  else
    return next row(
      '16.1', null, null, 'counts', 'nearer to the Rout Edge than two units of its own, or than the only one left',
      'bob-52', null, null, null
    )::rulings.ledger_step;
    if refused > 0 then
      return next row(
        '16.1', null, null, 'excludes',
        format('%s with two or more enemy units nearer to that edge', case refused when 1 then '1 hex' else refused || ' hexes' end),
        null, null, null, null
      )::rulings.ledger_step;
    end if;
  end if;
  return next row(
    '16.1', null, null, case when told then 'counted' else 'unknown' end,
    case when told then format('%s hexes', jsonb_array_length(hexes)) else 'the Rout Edge is not told' end, null, null, null,
    jsonb_build_object('hexes', case when told then hexes end)
  )::rulings.ledger_step;
end
$$;

comment on function bob.area_of_control(bigint, text, jsonb, jsonb) is
'The hexes of a side''s Area of Control, and why; the verdict last.';

create or replace function bob._controller(position_id bigint, pieces bob.piece[], q integer, r integer, label text)
returns table (side text, rule text, note text)
language sql stable rows 1
as $$
  select fact.side, '18.0', fact.note
  from (
    select 1 as n, min(piece.side) as side, 'it is alone in the hex' as note
    from unnest(pieces) as piece
    where piece.q = _controller.q and piece.r = _controller.r
    having count(distinct piece.side) = 1
    union all
    select 2, position.tracks -> 'hexes' -> _controller.label ->> 'controlled_by', 'it was last there alone'
    from public.position
    where position.id = _controller.position_id
    union all
    select 3, marker.attributes ->> 'side', 'its Victory marker says so'
    from public.marker
    where marker.position_id = _controller.position_id
      and marker.kind = 'victory'
      and marker.q = _controller.q
      and marker.r = _controller.r
  ) as fact
  where fact.side is not null
  order by fact.n
  limit 1
$$;

comment on function bob._controller(bigint, bob.piece[], integer, integer, text) is
'Who controls a hex: who is alone in it, else who last was, else whom its Victory marker names (18.0).';

create or replace function bob.control(
  position_id bigint, hex text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language sql stable rows 1
as $$
  select
    '18.0',
    null,
    cell.label,
    case when held.side is null then 'nobody' else 'controls' end,
    coalesce(held.note, 'nobody has been alone in it'),
    null,
    null,
    null::integer,
    jsonb_build_object('side', held.side)
  from public.position
  cross join lateral positions.place(control.position_id, control.hex) as place
  inner join public.hex as cell on cell.map_id = position.map_id and cell.q = place.q and cell.r = place.r
  left join lateral bob._controller(
    control.position_id, array(select piece from bob._pieces(control.position_id) as piece), cell.q, cell.r, cell.label
  ) as held on true
  where position.id = control.position_id
$$;

comment on function bob.control(bigint, text, jsonb, jsonb) is
'Which side controls a hex; the verdict is its only row.';
