-- needs: lattice/cells.sql
-- Where something named in a question stands: a hex by its label, or a unit by its id.

create or replace function positions.place(position_id bigint, name text)
returns table (q integer, r integer, unit bigint, side text, attributes jsonb)
language sql stable parallel safe rows 1
as $$
  select
    unit.q,
    unit.r,
    unit.id,
    unit.side,
    unit.attributes
  from public.unit
  where unit.position_id = place.position_id
    and unit.code = place.name
  union all
  select
    hex.q,
    hex.r,
    null,
    null,
    '{}'
  from public.position
  inner join public.hex on hex.map_id = position.map_id
  where position.id = place.position_id
    and hex.label = place.name
    and not exists (
      select from public.unit where unit.position_id = place.position_id and unit.code = place.name
    )
$$;

comment on function positions.place(bigint, text) is
'The hex that a label or a unit''s id names in a position; no row where it names nothing.';

create or replace function positions.cell_label(
  map_id bigint, q1 integer, r1 integer, q2 integer, r2 integer
)
returns text
language sql stable parallel safe
as $$
  select string_agg(hex.label, '|' order by hex.label)
  from public.hex
  where hex.map_id = cell_label.map_id
    and (hex.q, hex.r) in ((cell_label.q1, cell_label.r1), (cell_label.q2, cell_label.r2))
$$;

comment on function positions.cell_label(bigint, integer, integer, integer, integer) is
'How a ruling names a place: a hex by its label, a hexside by both, the lower first.';

create or replace function positions.trace_label(
  map_id bigint, q1 integer, r1 integer, q2 integer, r2 integer, n integer
)
returns text
language plpgsql stable parallel safe
as $$
begin
  return (
    select positions.cell_label(
      trace_label.map_id,
      trace_label.q1 + trace.q1,
      trace_label.r1 + trace.r1,
      trace_label.q1 + trace.q2,
      trace_label.r1 + trace.r2
    )
    from lattice.trace
    where trace.dq = trace_label.q2 - trace_label.q1
      and trace.dr = trace_label.r2 - trace_label.r1
      and trace.n = trace_label.n
  );
end
$$;

comment on function positions.trace_label(bigint, integer, integer, integer, integer, integer) is
'How a ruling names the n-th cell of the trace between two hexes.';
