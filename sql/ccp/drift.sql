-- needs: positions/place.sql, positions/state.sql, rulings/step.sql, lattice/cells.sql
-- Where a ccp spotting round errs to, and what is nearest to a hex: O24.3.2, E63, E65, E72.

create or replace function ccp.drift(
  position_id bigint, at text, hit boolean, white integer, coloured integer
)
returns setof rulings.ledger_step
language plpgsql stable rows 4
as $$
#variable_conflict use_variable
declare
  place record;
  cell record;
  map_of bigint;
  q integer;
  r integer;
  way text[] := '{}';
  -- O24.3.2.1: a hex by each die; O24.3.2.2: the second is how far it goes in the direction of the first
  steps integer[] := case when hit then array[white, coloured] else array_fill(white, array[coloured]) end;
  step integer;
  off boolean := false;
begin
  select position.map_id into map_of from public.position where position.id = drift.position_id;
  select * into place from positions.place(drift.position_id, drift.at);
  if place.q is null then
    raise exception 'there is no hex % on the map of this position', drift.at using errcode = 'no_data_found';
  end if;
  q := place.q;
  r := place.r;
  foreach step in array steps loop
    q := q + lattice.step_q(step);
    r := r + lattice.step_r(step);
    select hex.label into cell from public.hex where hex.map_id = map_of and hex.q = q and hex.r = r;
    off := not found;
    exit when off;
    way := way || cell.label;
    return next row(
      case when hit then 'O24.3.2.1' else 'O24.3.2.2' end, null, cell.label, 'drifts', format('in direction %s', step), null,
      null, null, null
    )::rulings.ledger_step;
  end loop;
  return next row(
    case when off then 'O24.3.2.3' when hit then 'O24.3.2.1' else 'O24.3.2.2' end, null,
    case when off then null else way[cardinality(way)] end, case when off then 'off the map' else 'lands' end,
    case when off then 'it leaves the map, and is gone with no effect' else 'the spotting round is here in the end' end,
    null, null, null,
    jsonb_build_object('path', way, 'sr', case when not off then way[cardinality(way)] end)
  )::rulings.ledger_step;
end
$$;

comment on function ccp.drift(bigint, text, boolean, integer, integer) is
'The way of a spotting round by white and coloured die: minor drift after a hit, major after a miss; off the map at any
step, it is gone (O24.3.2).';

create or replace function ccp.closest(position_id bigint, hex text, what text, filter jsonb)
returns setof rulings.ledger_step
language plpgsql stable rows 2
as $$
#variable_conflict use_variable
declare
  place record;
  nearest record;
begin
  select * into place from positions.place(closest.position_id, closest.hex);
  if place.q is null then
    raise exception 'there is no hex % on the map of this position', closest.hex using errcode = 'no_data_found';
  end if;
  select found.away, array_agg(found.code order by found.code) as codes into nearest
  from (
    select
      unit.code,
      lattice.distance(unit.q, unit.r, place.q, place.r) as away,
      min(lattice.distance(unit.q, unit.r, place.q, place.r)) over () as least
    from public.unit
    where unit.position_id = closest.position_id
      and unit.q is not null
      and unit.kind <> 'aircraft'
      and (closest.what = 'unit' or jsonb_typeof(unit.attributes -> 'weapon') = 'object')
      and not exists (
        select
        from jsonb_each(closest.filter) as wanted (key, value)
        where coalesce(
          case
            when wanted.key = 'side' then to_jsonb(unit.side)
            when wanted.key = 'kind' then to_jsonb(unit.kind)
            when closest.what = 'weapon' and wanted.key in ('broken', 'name', 'mortar', 'machine_gun', 'ordnance')
              then unit.attributes -> 'weapon' -> wanted.key
            else unit.attributes -> wanted.key
          end,
          case when jsonb_typeof(wanted.value) = 'boolean' then 'false'::jsonb end
        ) is distinct from wanted.value
      )
  ) as found
  where found.away = found.least
  group by found.away;
  return next row(
    case closest.what when 'weapon' then 'E65' else 'E72' end, null, null,
    case when nearest.codes is null then 'none' when cardinality(nearest.codes) > 1 then 'tie' else 'closest' end,
    case
      when nearest.codes is null then 'there is none such on the map'
      when cardinality(nearest.codes) > 1 then format('several are %s away; who reads the card chooses', nearest.away)
      else format('%s, %s away', nearest.codes[1], nearest.away)
    end,
    null, null, null,
    jsonb_build_object(
      'ids', coalesce(to_jsonb(nearest.codes), '[]'), 'range', nearest.away,
      'tie', coalesce(cardinality(nearest.codes) > 1, false)
    )
  )::rulings.ledger_step;
end
$$;

comment on function ccp.closest(bigint, text, text, jsonb) is
'The units, or the units with weapons, nearest to a hex of those that a filter leaves (E63, E65, E72).';
