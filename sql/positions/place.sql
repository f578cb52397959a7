-- needs: lattice/cells.sql
-- Where something named in a question stands: a hex by its label, or a unit by its id.

create or replace function positions.place(position_id bigint, name text)
returns table (q integer, r integer, unit bigint, side text, attributes jsonb)
language sql stable parallel safe rows 1
as $$
  -- a unit is found before a hex of the same name; a key that is null is looked up nowhere
  select
    coalesce(unit.q, hex.q),
    coalesce(unit.r, hex.r),
    unit.id,
    unit.side,
    coalesce(unit.attributes, '{}')
  from public.position
  left join public.unit on unit.position_id = position.id and unit.code = place.name
  left join public.hex
    on hex.map_id = position.map_id
      and hex.label = case when unit.id is null then place.name end
  where position.id = place.position_id
    and (unit.id is not null or hex.q is not null)
$$;

comment on function positions.place(bigint, text) is
'The hex that a label or a unit''s id names in a position; no row where it names nothing.';

-- A label is runs of capital letters or digits. Within a run 9 comes before 10 and Z before AA:
-- the shorter first. Boards come in the order in which the map lists them, as in db/labels.py.
create or replace function positions._label_order(label text, boards jsonb)
returns text
language plpgsql immutable parallel safe
as $$
begin
  return (
    select lpad(coalesce(max(board.n), 0)::text, 6, '0')
    from jsonb_array_elements(boards) with ordinality as board (facts, n)
    where board.facts ->> 'board' = split_part(label, '-', 1)
  ) || (
    select string_agg(lpad(found.run[1], 6, '0'), '' order by found.n)
    from regexp_matches(label, '[A-Z]+|[0-9]+', 'g') with ordinality as found (run, n)
  );
end
$$;

comment on function positions._label_order(text, jsonb) is
'What the labels of a map are sorted by, byte by byte.';

create or replace function positions._label_shape(label text)
returns text
language sql immutable parallel safe
return translate(label, '123456789BCDEFGHIJKLMNOPQRSTUVWXYZ', '000000000AAAAAAAAAAAAAAAAAAAAAAAAA');

comment on function positions._label_shape(text) is
'A label with all digits alike and all letters alike: two of one shape are sorted as they are.';

create or replace function positions.side_label(one text, two text, boards jsonb default '[]')
returns text
language sql immutable parallel safe
return case
  when one is null then two
  when two is null or one = two then one
  when
    case
      when boards = '[]' and positions._label_shape(one) = positions._label_shape(two)
        then one < two collate "C"
      else
        positions._label_order(one, boards) < positions._label_order(two, boards) collate "C"
    end
    then one || '|' || two
  else two || '|' || one
end;

comment on function positions.side_label(text, text, jsonb) is
'A hexside by the labels of its hexes, the lower first; a hex, or a side of the rim, by its one label.';

create or replace function positions.cell_label(
  map_id bigint, q1 integer, r1 integer, q2 integer, r2 integer
)
returns text
language sql stable parallel safe
as $$
  select positions.side_label(one.label, two.label, map.scheme -> 'boards')
  from public.map
  left join public.hex as one
    on one.map_id = map.id and one.q = cell_label.q1 and one.r = cell_label.r1
  left join public.hex as two
    on two.map_id = map.id and two.q = cell_label.q2 and two.r = cell_label.r2
  where map.id = cell_label.map_id
$$;

comment on function positions.cell_label(bigint, integer, integer, integer, integer) is
'How a ruling names a place: a hex by its label, a hexside by both, the lower first.';
