-- needs: ccp/points.sql
-- Who holds a ccp hex alone, and what hangs on it: melee markers, objectives, bunkers and pillboxes: 14.3.1, 14.3.2, 14.3.4, 19.1, F101, F105.

create or replace function ccp._sides_in(state positions.state, hexes jsonb)
returns text[]
language sql stable
as $$
  select coalesce(array_agg(distinct unit.side order by unit.side), '{}')
  from jsonb_to_recordset(hexes) as place (q integer, r integer)
  inner join public.unit
    on unit.position_id = state.position_id and unit.q = place.q and unit.r = place.r and unit.kind <> 'aircraft'
$$;

comment on function ccp._sides_in(positions.state, jsonb) is
'The sides that have units in some hexes.';

create or replace function ccp._objectives(state positions.state)
returns table (number integer, code text, labels text[], hexes jsonb, holder text, sides text[])
language sql stable rows 5
as $$
  select
    found.number,
    found.code,
    found.labels,
    found.hexes,
    coalesce(state.conditions -> 'control' ->> found.number::text, found.control),
    ccp._sides_in(state, found.hexes)
  from (
    select
      (place.attributes ->> 'number')::integer as number,
      place.code,
      place.attributes ->> 'control' as control,
      array_agg(hex.label order by hex.label) as labels,
      jsonb_agg(jsonb_build_object('q', hex.q, 'r', hex.r)) as hexes
    from public.map_feature as place
    inner join public.map_feature_hex as lies on lies.feature = place.id and lies.role = 'at'
    inner join public.hex on hex.map_id = lies.map_id and hex.q = lies.q and hex.r = lies.r
    where place.map_id = state.map_id
      and place.kind = 'objective'
      and place.attributes ? 'number'
    group by place.id, place.code, place.attributes
  ) as found
$$;

comment on function ccp._objectives(positions.state) is
'The objectives of the map: their hexes, who has held each last, and which sides are in it now (14.3.1, 14.3.2).';

create or replace function ccp.control(
  position_id bigint, objective integer, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 2
as $$
declare
  state positions.state;
  goal record;
  side text;
begin
  select * into state from positions.state(control.position_id, control.conditions, control.policy);
  select * into goal from ccp._objectives(state) as found where found.number = control.objective;
  if not found then
    raise exception 'there is no objective % on this map', control.objective using errcode = 'no_data_found';
  end if;
  side := case when cardinality(goal.sides) = 1 then goal.sides[1] else goal.holder end;
  return next row(
    case when cardinality(goal.labels) > 1 then '14.3.2' else '14.3.1' end, null, goal.labels[1],
    case cardinality(goal.sides) when 0 then 'empty' when 1 then 'alone' else 'shared' end,
    case cardinality(goal.sides)
      when 0 then 'nobody is there: who held it last keeps it'
      when 1 then format('units of %s alone are there', goal.sides[1])
      else 'units of both sides are there: who held it last keeps it'
    end,
    null, null, null, null
  )::rulings.ledger_step;
  return next row(
    '14.3.1', null, goal.labels[1], coalesce(side, 'nobody'), format('control of objective %s', control.objective), null,
    null, null, jsonb_build_object('control', side, 'hexes', goal.labels)
  )::rulings.ledger_step;
end
$$;

comment on function ccp.control(bigint, integer, jsonb, jsonb) is
'Who controls an objective: the last to have had it, with every hex of its building, to himself (14.3.1, 14.3.2).';

create or replace function ccp.settled(
  position_id bigint, label text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 3
as $$
#variable_conflict use_column
declare
  state positions.state;
  place record;
  sides text[];
  melee boolean;
begin
  select * into state from positions.state(settled.position_id, settled.conditions, settled.policy);
  select hex.q, hex.r into place from public.hex where hex.map_id = state.map_id and hex.label = settled.label;
  sides := ccp._sides_in(state, jsonb_build_array(jsonb_build_object('q', place.q, 'r', place.r)));
  melee := exists (
    select from public.marker
    where marker.position_id = state.position_id and marker.kind = 'melee' and marker.q = place.q and marker.r = place.r
  );
  if melee <> (cardinality(sides) = 2) then
    return next row(
      '19.1', null, label, case when melee then 'no melee' else 'melee' end,
      case when melee then 'units of both sides are no longer here' else 'units of both sides are here' end, null, null,
      null, jsonb_build_object('melee', case when melee then 'removed' else 'added' end)
    )::rulings.ledger_step;
  end if;
  return query
  select case marker.kind when 'bunker' then 'F101' else 'F105' end, null::text, label, 'held',
    format('%s has the %s to itself', sides[1], marker.kind), null::text, null::text, null::integer,
    jsonb_build_object('fort', marker.kind, 'held', sides[1], 'was', marker.attributes ->> 'held')
  from public.marker
  where marker.position_id = state.position_id and marker.q = place.q and marker.r = place.r
    and marker.kind in ('bunker', 'pillbox')
    and cardinality(sides) = 1
    and marker.attributes ->> 'held' is distinct from sides[1];
  return query
  select '14.3.1', null::text, label, 'control', format('%s takes objective %s', goal.sides[1], goal.number), null::text,
    null::text, null::integer,
    jsonb_build_object(
      'objective', goal.number, 'control', goal.sides[1], 'was', goal.holder,
      'value', (
        select coalesce(sum(step.halves), 0)::integer / 2 from ccp._objective_point_steps(state, goal.number, false) as step
      )
    )
  from ccp._objectives(state) as goal
  where label = any(goal.labels)
    and cardinality(goal.sides) = 1
    and goal.holder is distinct from goal.sides[1]
  order by goal.number;
end
$$;

comment on function ccp.settled(bigint, text, jsonb, jsonb) is
'What changes in a hex that somebody has entered or left: melee marker, who last had a bunker or pillbox alone, control of
an objective with its points (14.3.1, 14.3.4, 19.1, F101, F105). No row: nothing.';
