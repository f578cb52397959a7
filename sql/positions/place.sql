-- needs: lattice/cells.sql
-- Where something named in a question stands: a hex by its label, or a unit by its id.
--
-- A word that is both, as where a squad is called A3, names neither: `hex:A3` and `unit:A3` say
-- which is meant, and are good for any other place too.

create or replace function positions._is_both(name text)
returns boolean
language plpgsql immutable parallel safe
as $$
begin
  raise exception '% is a unit and a hex here; write unit:% or hex:%', name, name, name
    using errcode = 'ambiguous_parameter';
end
$$;

comment on function positions._is_both(text) is
'Refuse a word that names a unit and a hex: nothing is guessed.';

create or replace function positions.spoken(name text)
returns text
language sql immutable parallel safe
return case
  when name like 'hex:%' then substr(name, 5)
  when name like 'unit:%' then substr(name, 6)
  else name
end;

comment on function positions.spoken(text) is
'A name of a question as a ruling speaks of it: without the word before it that says which is meant.';

create or replace function positions.place(position_id bigint, name text)
returns table (q integer, r integer, unit bigint, side text, attributes jsonb)
language sql stable parallel safe rows 1
as $$
  select
    coalesce(unit.q, hex.q),
    coalesce(unit.r, hex.r),
    unit.id,
    unit.side,
    coalesce(unit.attributes, '{}')
  from public.position
  -- a key that is null is looked up nowhere
  left join public.unit
    on unit.position_id = position.id
      and unit.code = case
        when place.name not like 'hex:%' then positions.spoken(place.name)
      end
  left join public.hex
    on hex.map_id = position.map_id
      and hex.label = case
        when place.name not like 'unit:%' then positions.spoken(place.name)
      end
  where position.id = place.position_id
    and case
      when unit.id is null then hex.q is not null
      -- told of the row, so that nothing is judged before it is there
      when hex.q is not null then positions._is_both(unit.code)
      else true
    end
$$;

comment on function positions.place(bigint, text) is
'The hex that a label or a unit''s id names in a position; no row where it names nothing, an error where it names both.';

create or replace function positions.named(position_id bigint, words text[], labels text[])
returns table (word text, unit boolean, unit_q integer, unit_r integer, hex boolean)
language sql stable parallel safe rows 2
as $$
  select
    asked.word,
    unit.id is not null,
    coalesce(unit.q, beach.q),
    coalesce(unit.r, beach.r),
    hex.q is not null
  from public.position
  cross join unnest(named.words, named.labels) as asked (word, label)
  left join public.unit on unit.position_id = position.id and unit.code = asked.word
  -- who is on the way ashore is counted at its beach
  left join public.hex as beach
    on beach.map_id = position.map_id and beach.label = unit.attributes -> 'zone' ->> 'beach'
  left join public.hex on hex.map_id = position.map_id and hex.label = asked.label
  where position.id = named.position_id
$$;

comment on function positions.named(bigint, text[], text[]) is
'Of some words, each with the label that it may be: whether it is a unit and where that is, whether it is a hex.';

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

create or replace function positions.hexes_named(position_id bigint, names text[])
returns table (label text, side text, sides text[])
language sql stable rows 10
as $$
  select
    hex.label,
    place.side,
    array(
      select distinct standing.side
      from public.unit as standing
      where standing.position_id = position.id and standing.q = hex.q and standing.r = hex.r
      order by standing.side
    )
  from public.position
  cross join unnest(hexes_named.names) with ordinality as asked (name, n)
  cross join lateral positions.place(position.id, asked.name) as place
  inner join public.hex on hex.map_id = position.map_id and hex.q = place.q and hex.r = place.r
  where position.id = hexes_named.position_id
  order by asked.n
$$;

comment on function positions.hexes_named(bigint, text[]) is
'The hexes that labels or units name, in their order: each with the side of the unit that was named, and the sides that stand in it.';
